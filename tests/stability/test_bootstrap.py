"""`bootstrap` against the slow loop over `learn`, and what ends it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.arrays import Counts
from anypag.ci.base import PValues
from anypag.errors import AnypagError, CheckpointError, DataError, ParameterError
from anypag.graphs.marks import Mark
from anypag.run.replicates import Plan
from anypag.search.progress import Progress
from naive_stability import cause_frequency, mark_frequency

SYSTEM = ap.simulate.random_system(7, 2.5, seed=4)
GAUSSIAN = SYSTEM.linear_gaussian(160, seed=1)
DISCRETE = SYSTEM.discrete(240, seed=1)
MIXED = {name: np.sign(GAUSSIAN[name]) > 0 if k % 2 else GAUSSIAN[name] for k, name in enumerate(GAUSSIAN)}


def slow_loop(data: Any, n: int, resample: Any, seed: int, **choices: Any) -> list[ap.PAG]:
    """`learn` on tables whose rows were taken one by one."""
    graphs = []
    columns = {name: np.asarray(data[name]) for name in data}
    n_rows = len(next(iter(columns.values())))
    for k in range(n):
        taken = np.repeat(np.arange(n_rows), Plan(n, resample, seed).counts(k, n_rows))
        rows = {name: column[taken] for name, column in columns.items()}
        graphs.append(ap.learn(rows, **{"method": "icd", **choices}).pag)
    return graphs


@pytest.mark.parametrize("resample", ["half", "bootstrap"])
@pytest.mark.parametrize(
    ("data", "test"), [(GAUSSIAN, "fisherz"), (DISCRETE, "permutation"), (MIXED, "mixed")], ids=str
)
def test_frequencies_are_those_of_the_slow_loop(data: Any, test: str, resample: Any) -> None:
    kinds: Any = {"kinds": {name: "discrete" for k, name in enumerate(MIXED) if k % 2}} if test == "mixed" else {}
    kinds["method"] = "icd"
    s = ap.bootstrap(data, n=6, seed=5, resample=resample, test=test, alpha=0.05, **kinds)
    graphs = slow_loop(data, 6, resample, 5, test=test, alpha=0.05, **kinds)
    assert list(s.graphs) == graphs and s.n == 6 and not s.failures
    for shares, mark in ((s.arrowhead, Mark.ARROW), (s.tail, Mark.TAIL), (s.circle, Mark.CIRCLE)):
        np.testing.assert_array_equal(shares, mark_frequency(graphs, mark))
    np.testing.assert_array_equal(s.causes, cause_frequency(graphs, claimed=True))
    np.testing.assert_array_equal(s.not_causes, cause_frequency(graphs, claimed=False))
    assert s.result.pag == ap.learn(data, test=test, alpha=0.05, **kinds).pag


@pytest.mark.parametrize("method", [pytest.param("bayes", marks=pytest.mark.slow), "boss", "gfci", "fci", "rfci"])
@pytest.mark.parametrize("data", [GAUSSIAN, SYSTEM.discrete(240, seed=1, levels=3)], ids=["numbers", "levels"])
def test_every_method_can_be_resampled(method: str, data: Any) -> None:
    """Scores too are made from weights: the graphs are those of the slow loop."""
    short: Any = {"effort": 0.2} if method in {"bayes", "boss", "gfci"} else {}
    s = ap.bootstrap(data, n=3, seed=5, resample="bootstrap", method=method, **short)
    assert list(s.graphs) == slow_loop(data, 3, "bootstrap", 5, method=method, **short)
    assert s.n == 3


@pytest.mark.parametrize("missing", ["drop", "pairwise"])
def test_gaps_are_resampled_with_their_rows(missing: Any) -> None:
    rows = np.array(GAUSSIAN.rows)
    rows[::17, 2] = np.nan
    data = dict(zip(GAUSSIAN.names, rows.T, strict=True))
    s = ap.bootstrap(data, method="icd", n=4, seed=2, resample="bootstrap", missing=missing)
    assert list(s.graphs) == slow_loop(data, 4, "bootstrap", 2, missing=missing)


def test_ranks_are_those_of_the_resample() -> None:
    s = ap.bootstrap(GAUSSIAN, method="icd", n=4, seed=2, transform="normal-scores")
    assert list(s.graphs) == slow_loop(GAUSSIAN, 4, "bootstrap", 2, transform="normal-scores")


def test_what_is_known_holds_in_every_resample() -> None:
    first, *others = GAUSSIAN.names
    known = ap.Knowledge(tiers=[[first], others])
    s = ap.bootstrap(GAUSSIAN, method="icd", n=4, seed=2, knowledge=known)
    assert list(s.graphs) == slow_loop(GAUSSIAN, 4, "bootstrap", 2, knowledge=known)
    assert not s.causes[1:, 0].any()


def test_an_exact_test_gives_0_and_1() -> None:
    s = ap.bootstrap(SYSTEM.oracle(), n=3)
    for shares in (s.adjacency, s.arrowhead, s.tail, s.circle, s.causes, s.not_causes):
        assert set(np.unique(shares)) <= {0.0, 1.0}
    assert s.result.pag == s.graphs[2]


def test_knowledge_holds_in_every_resample() -> None:
    start = ap.learn(SYSTEM.oracle(), max_r=0).pag
    s = ap.bootstrap(GAUSSIAN, n=3, initial=start)
    assert not s.adjacency[start.marks == 0].any()


class Halved:
    """A user's test with rows of its own."""

    names = ("A", "B", "C")
    n = 40

    def __init__(self, counts: Counts | None = None) -> None:
        self.rows = self.n if counts is None else int(counts.sum())

    def pvalues(self, queries: ap.Queries) -> PValues:
        return np.full(len(queries), 0.5 if self.rows < 30 and 2 in queries.x.tolist() + queries.y.tolist() else 0.0)

    def resampled(self, counts: Counts) -> Halved:
        return Halved(counts)


def test_a_test_of_ones_own_says_how_it_is_resampled() -> None:
    s = ap.bootstrap(Halved(), method="icd", n=2, resample="half")
    assert len(s.result.pag.edges()) == 3 and s.adjacency.sum() == 2


def test_a_resample_that_fails_is_counted_and_named() -> None:
    columns = {name: np.array(GAUSSIAN[name]) for name in GAUSSIAN.names[:3]}
    columns["rare"] = np.zeros(160)
    columns["rare"][:2] = [1.0, 2.0]
    s = ap.bootstrap(columns, method="icd", n=12, seed=1, resample="half", test="fisherz")
    assert s.failures and s.n == 12 - len(s.failures) == len(s.graphs)
    assert {failure.why for failure in s.failures} == {
        "Column 'rare' is constant. Drop it: a constant is independent of everything."
    }
    assert f"{len(s.failures)} failed" in s.summary()
    assert list(s.graphs) == [
        graph for k, graph in enumerate(_or_none(columns, 12)) if k not in {failure.k for failure in s.failures}
    ]


def _or_none(columns: Any, n: int) -> list[ap.PAG | None]:
    found: list[ap.PAG | None] = []
    for k in range(n):
        taken = np.repeat(np.arange(160), Plan(n, "half", 1).counts(k, 160))
        try:
            found.append(
                ap.learn({name: column[taken] for name, column in columns.items()}, method="icd", test="fisherz").pag
            )
        except DataError:
            found.append(None)
    return found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 1}, "The option 'n' must be a whole number, 2 or more; got 1."),
        ({"resample": "third"}, "The option 'resample' must be 'bootstrap' or 'half'; got 'third'."),
        ({"seed": -3}, "The option 'seed' must be a whole number from 0 on; got -3."),
        ({"n_jobs": 0}, "The option 'n_jobs' must be None or a whole number that is not 0"),
        ({"alpha": 3}, "The option 'alpha' must be"),
        ({"test": lambda x, y, z: 0.5}, "Resamples need rows"),
        ({"names": ["a", "a"]}, "Column names must differ"),
    ],
)
def test_bad_input_is_one_sentence_before_anything_runs(arguments: dict[str, Any], sentence: str) -> None:
    def never(progress: Progress) -> None:
        raise AssertionError("nothing may run")

    data = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(AnypagError) as caught:
        ap.bootstrap(data, **arguments, progress=never)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("resample", "rows"), [("half", 13), ("bootstrap", 9)])
def test_a_resample_needs_more_rows_than_variables(resample: Any, rows: int) -> None:
    data = np.random.default_rng(0).normal(size=(rows, 6))
    with pytest.raises(DataError, match="A resample must have more rows than there are variables"):
        ap.bootstrap(data, method="icd", resample=resample)
    assert ap.bootstrap(np.random.default_rng(0).normal(size=(14, 6)), method="icd", n=2, resample=resample).n == 2


def test_an_interrupt_ends_with_what_is_done() -> None:
    def interrupt(progress: Progress) -> None:
        if progress.phase == "resamples" and progress.done == 3:
            raise KeyboardInterrupt

    s = ap.bootstrap(GAUSSIAN, method="icd", n=10, progress=interrupt)
    assert (s.n, s.asked, s.stopped) == (3, 10, "interrupt")
    assert list(s.graphs) == list(ap.bootstrap(GAUSSIAN, method="icd", n=10).graphs[:3])


def test_a_budget_of_tests_ends_with_what_is_done() -> None:
    whole = ap.learn(GAUSSIAN, method="icd").n_tests
    s = ap.bootstrap(GAUSSIAN, method="icd", n=50, max_tests=6 * whole)
    assert s.stopped == "tests" and 1 <= s.n < 50
    assert ap.bootstrap(GAUSSIAN, method="icd", n=5, max_tests=1).n == 0


def test_a_budget_of_time_ends_with_what_is_done() -> None:
    s = ap.bootstrap(GAUSSIAN, method="icd", n=100_000, time_budget=0.3)
    assert s.stopped == "time" and 0 < s.n < 100_000


def test_a_checkpoint_resumes_and_goes_on_to_more(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.phase == "resamples" and progress.done == 4:
            raise KeyboardInterrupt

    file, whole = tmp_path / "run", ap.bootstrap(GAUSSIAN, method="icd", n=12, seed=3)
    ap.bootstrap(GAUSSIAN, method="icd", n=6, seed=3, checkpoint=file, progress=interrupt)
    done: list[int] = []
    again = ap.bootstrap(
        GAUSSIAN, method="icd", n=12, seed=3, checkpoint=file, resume=True, progress=lambda step: done.append(step.done)
    )
    assert again.graphs == whole.graphs and [k for k in done if k > 4 and k <= 12][-1] == 12
    with pytest.raises(CheckpointError, match="already exists"):
        ap.bootstrap(GAUSSIAN, method="icd", n=12, seed=3, checkpoint=file)
    with pytest.raises(CheckpointError, match="seed: 3 then, 4 now"):
        ap.bootstrap(GAUSSIAN, method="icd", n=12, seed=4, checkpoint=file, resume=True)
    with pytest.raises(CheckpointError, match="belongs to another run"):
        ap.learn(GAUSSIAN, method="icd", checkpoint=file, resume=True)


def test_two_workers_give_the_same_to_the_bit() -> None:
    one, two = (ap.bootstrap(GAUSSIAN, method="icd", n=6, seed=1, n_jobs=jobs) for jobs in (None, 2))
    assert one.graphs == two.graphs
    np.testing.assert_array_equal(one.causes, two.causes)


def test_n_jobs_without_resamples_is_refused_for_compiled_tests() -> None:
    with pytest.raises(ParameterError, match="'n_jobs' must be left out"):
        ap.learn(GAUSSIAN, method="icd", n_jobs=2)
