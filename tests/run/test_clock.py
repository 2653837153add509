"""Budgets: never more tests than allowed, and compiling is not the run's time."""

from __future__ import annotations

import time

import numpy as np
import pytest

import anypag as ap
from anypag._kernels.patience import njit, numba
from anypag.run.clock import Clock

SAMPLE = np.random.default_rng(0).normal(size=(200, 40)) + np.random.default_rng(1).normal(size=(200, 1))


def test_the_clock_stands_still_while_something_is_compiled() -> None:
    numba()
    began, clock = time.monotonic(), Clock()
    time.sleep(0.05)
    assert 0.05 <= clock.seconds <= time.monotonic() - began

    @njit()
    def fresh(x: float) -> float:
        return x * 3 + 1

    before, began = clock.seconds, time.monotonic()
    fresh(2.0)
    took = time.monotonic() - began
    assert clock.seconds - before < took / 2


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("most", [1, 100, 779, 780, 781, 5000])
def test_no_more_tests_on_data_than_allowed(most: int, threads: int) -> None:
    result = ap.learn(SAMPLE, method="icd", max_tests=most, threads=threads)
    assert result.problem.test.evaluated <= most
    assert result.stopped == "tests" and result.n_tests <= most
    assert len(result.history) == 0 if most < 780 else result.history
    assert result.problem.test.limit is None


def test_a_budget_that_suffices_changes_nothing() -> None:
    small = SAMPLE[:, :8]
    whole = ap.learn(small, method="icd")
    again = ap.learn(small, method="icd", max_tests=whole.problem.test.evaluated)
    assert again.complete and (again.pag, again.n_tests) == (whole.pag, whole.n_tests)


def test_the_time_budget_counts_from_the_call() -> None:
    slow = ap.from_callable(lambda x, y, z: 0.5, ["a", "b", "c"])
    result = ap.learn(slow, method="icd", time_budget=1e-9)
    assert result.stopped == "time" and not result.history
