from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import anypag as ap
from anypag.run.engine import Search
from anypag.search.progress import Pace
from conftest import Clock

SAMPLE = ap.simulate.random_system(12, 2.5, seed=3).linear_gaussian(300, seed=3)


class Slow:
    """A test that takes large batches and works on each for long."""

    exact, batch = False, 10_000

    def __init__(self, spend: Callable[[int], None]) -> None:
        self._test = Search(SAMPLE).problem.bound_test
        self._spend = spend
        self.names = self._test.names
        self.sizes: list[int] = []

    def pvalues(self, queries: ap.Queries) -> npt.NDArray[np.float64]:
        self.sizes.append(len(queries))
        self._spend(len(queries))
        return self._test.pvalues(queries)

    def strength(self, queries: ap.Queries) -> npt.NDArray[np.float64]:
        return np.asarray(self._test.strength(queries))  # type: ignore[attr-defined]


def test_the_answers_are_those_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ap.learn(SAMPLE, method="icd")
    monkeypatch.setattr("anypag.search.progress.SECONDS_BETWEEN_TICKS", 1e-7)  # every chunk is too slow: one question
    pieces = ap.learn(SAMPLE, method="icd")
    assert pieces.pag == whole.pag and dict(pieces.sepsets) == dict(whole.sepsets)
    assert [item.info for item in pieces.history] == [item.info for item in whole.history]


def test_slow_batches_are_taken_in_pieces() -> None:
    slow = Slow(lambda n_queries: time.sleep(0.002 * n_queries))
    assert ap.learn(slow, method="icd").pag == ap.learn(SAMPLE, method="icd").pag
    assert slow.sizes[0] <= 64 and max(slow.sizes[1:]) <= 55  # 0.1 s are 50 questions


def test_a_deadline_is_seen_in_the_middle_of_a_batch(clock: Clock) -> None:
    def spend(n_queries: int) -> None:
        clock.ahead += 3600

    slow = Slow(spend)
    result = ap.learn(slow, r0=1, time_budget=3600)
    assert result.stopped == "time" and not result.history
    assert sum(slow.sizes) == 64  # the first piece of the batch, and no more


def test_no_questions_are_no_work() -> None:
    test = Search(SAMPLE).problem.test
    assert len(Pace(10).answers(test.pvalues, ap.Queries([], [], np.empty((0, 2))), lambda: None)) == 0
