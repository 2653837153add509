"""Questions answered by other processes: the same to the bit, and errors that reach the user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from slow_tests import AlwaysKilling, OneAtATime, Raising, rows

import anypag as ap
from anypag.checkpoint.checkpoint import state_parts
from anypag.ci.base import Queries
from anypag.ci.wrappers import Dispatched, Parcel, opened
from anypag.errors import CITestError


def parts_of(result: ap.Result) -> dict[str, Any]:
    facts, arrays = state_parts(result.state)
    tests = [(item.info.r, dict(item.info.tests), item.info.n_edges) for item in result.history]
    return {**facts, **arrays, "tests": tests}


def assert_same(one: ap.Result, two: ap.Result) -> None:
    first, second = parts_of(one), parts_of(two)
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


@pytest.mark.parametrize("sepset", ["first", "largest-p"])
@pytest.mark.parametrize("method", ["icd", "fci"])
def test_two_processes_give_the_same_to_the_bit(tmp_path: Path, method: str, sepset: Any) -> None:
    values, names = rows()
    one = ap.learn(OneAtATime(values, names), method=method, sepset=sepset)
    two = ap.learn(OneAtATime(values, names, str(tmp_path)), method=method, sepset=sepset, n_jobs=2)
    assert_same(one, two)
    assert {file.name for file in tmp_path.iterdir()} - {str(os.getpid())}


def test_iterations_are_those_of_one_process(tmp_path: Path) -> None:
    values, names = rows()
    one = list(ap.iterate(OneAtATime(values, names), method="icd"))
    two = list(ap.iterate(OneAtATime(values, names, str(tmp_path)), method="icd", n_jobs=2))
    assert [state.pag for state, _ in one] == [state.pag for state, _ in two]
    assert [info.tests for _, info in one] == [info.tests for _, info in two]
    assert {file.name for file in tmp_path.iterdir()} - {str(os.getpid())}


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_the_surrounding_configuration_is_followed(tmp_path: Path, backend: str) -> None:
    values, names = rows()
    with joblib.parallel_config(backend=backend, n_jobs=2):
        two = ap.learn(OneAtATime(values, names, str(tmp_path)), method="icd")
    assert_same(ap.learn(OneAtATime(values, names), method="icd"), two)
    assert (str(os.getpid()) in {file.name for file in tmp_path.iterdir()}) == (backend == "threading")


def test_what_is_evaluated_ahead_of_need_is_counted_apart() -> None:
    values, names = rows()
    one, two = (ap.learn(OneAtATime(values, names), method="icd", sepset="first", n_jobs=jobs) for jobs in (1, 2))
    evaluated = [sum(item.info.n_evaluated for item in result.history) for result in (one, two)]
    assert one.tests == two.tests and evaluated[0] <= evaluated[1]


def test_a_test_that_raises_on_a_worker_says_what_and_where() -> None:
    values, names = rows()
    with pytest.raises(CITestError) as caught:
        ap.learn(Raising(values, names), method="icd", n_jobs=2)
    assert "The test raised RuntimeError: the kernel is singular (asked for V" in str(caught.value)
    assert str(caught.value).endswith("| {V2})")
    assert caught.value.result is not None and caught.value.result.r == 0


def test_workers_that_die_end_the_run_with_what_was_asked(tmp_path: Path) -> None:
    values, names = rows()
    with pytest.raises(CITestError, match=r"The workers of joblib .* failed .* of size 1 \(the first: V") as caught:
        ap.learn(AlwaysKilling(values, names, str(tmp_path)), method="icd", n_jobs=2)
    assert caught.value.result is not None and caught.value.result.r == 0


def test_a_block_follows_from_what_a_question_costs() -> None:
    values, names = rows()
    slow, quick = OneAtATime(values, names, seconds=0.13), OneAtATime(values, names)
    question = Queries([0, 0], [1, 2], np.empty((2, 0)))
    blocks = []
    for test in (slow, quick):
        sent = Dispatched(test, 2)
        assert sent.block == 4
        with joblib.parallel_config(backend="threading"):
            np.testing.assert_array_equal(sent.pvalues(question), OneAtATime(values, names).pvalues(question))
        blocks.append(sent.block)
    assert blocks[0] == 4 < blocks[1]
    assert len(Dispatched(quick, 2).pvalues(question.take(slice(0)))) == 0


class OnItsWay:
    """What a cluster hands out for data that are on its workers."""

    def result(self) -> Parcel[int]:
        return Parcel(3)


def test_a_parcel_that_is_elsewhere_is_fetched() -> None:
    """joblib works in this process where a cluster is down to one worker."""
    assert opened(OnItsWay()) == opened(Parcel(3)) == 3
