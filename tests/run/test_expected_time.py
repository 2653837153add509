"""A run says beforehand, about, how long a phase will take: by counts, and by the pace it has measured."""

from __future__ import annotations

import numpy as np
import pytest

import anypag as ap
from anypag.choices import Choices
from anypag.run.clock import Clock
from anypag.run.engine import Search
from anypag.run.watcher import Estimated
from anypag.search import progress
from anypag.search.by_tests.candidates import Candidates, PDSep, pdsep_pools
from anypag.search.progress import Progress


class Hours(Clock):
    """A clock that goes as told."""

    def __init__(self) -> None:
        self.now = 0.0

    @property
    def seconds(self) -> float:
        return self.now


def told(ticks: list[tuple[float, Progress]]) -> list[float | None]:
    """What a tick is told at these times."""
    clock, heard = Hours(), list[float | None]()
    estimated = Estimated(lambda at: heard.append(at.seconds_left), clock)
    for now, at in ticks:
        clock.now = now
        estimated(at)
    return heard


def test_what_is_left_goes_by_the_pace_so_far() -> None:
    stretches = [(10.0 * k, Progress(-1, "cooling", k, 20, 0)) for k in range(4)]
    assert told(stretches) == [None, 190.0, 180.0, 170.0]
    again = [(30.0 + 5.0 * k, Progress(-1, "cooling", k, 20, 0)) for k in range(3)]  # another chain, twice as fast
    assert told(stretches + again)[4:] == [None, 95.0, 90.0]


def test_counted_tests_go_by_the_pace_of_the_phase_before() -> None:
    before = [(float(k), Progress(2, "candidates", 0, 9, 0, 100 * k, n_expected=300)) for k in range(4)]
    upfront = (3.1, Progress(3, "candidates", 0, 9, 0, 0, n_expected=60_000))
    slower = (13.1, Progress(3, "candidates", 1, 9, 0, 500, n_expected=60_000))
    assert told([*before, upfront, slower])[3:] == [0.0, 600.0, 59_500 / 50]
    assert upfront[1]._replace(seconds_left=600.0).said == "r = 3, candidates: about 10 minutes left"


def test_short_phases_say_where_they_are_only() -> None:
    assert Progress(-1, "orders", 1, 10, 0, seconds_left=19.0).said == "orders"


@pytest.mark.parametrize("r", [1, 2, 3])
def test_candidate_sets_are_counted_as_they_come(r: int) -> None:
    data = ap.simulate.random_system(12, 4.0, seed=3).linear_gaussian(300, seed=3)
    search = Search(data, Choices(method="icd"))
    state = next(iter(search.steps()))[0]
    x, y = state.edges()
    pools = pdsep_pools(state, search.problem, x, y, PDSep(r, True, max_sets=-1))
    candidates = Candidates(x, y, r, pools, pools.n_large(r) > 0)
    expected, count = candidates.n_sets, 0
    while candidates.left:
        count += len(candidates.take(50)[0])
    assert count == expected > 0


@pytest.mark.parametrize("method", ["icd", "boss", "bayes"])
def test_a_callback_hears_it(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.run.watcher.SECONDS_TO_MEASURE", 0.0)
    monkeypatch.setattr(progress, "LONG", 0.0)
    monkeypatch.setattr("anypag.search.by_tests.tested_edges.FIRST_SETS", 64)  # what fits into the first call is short
    data = ap.simulate.random_system(14, 4.0, seed=3).linear_gaussian(300, seed=3)
    heard = list[Progress]()
    ap.learn(data, method=method, progress=heard.append)
    known = [at for at in heard if at.seconds_left]
    assert known and all("about" in at.said and np.isfinite(at.seconds_left or 0.0) for at in known)
