"""`threads` at the door: the same result to the bit, a run that can be stopped, and no option that does nothing."""

from __future__ import annotations

import pkgutil
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anypag import FisherZ, GSquared, Queries, Result, from_callable, iterate, learn
from anypag.checkpoint.checkpoint import state_parts
from anypag.choices import Choices
from anypag.ci.base import CITest, PValues
from anypag.errors import ParameterError
from anypag.run.engine import Search
from anypag.search.progress import Progress
from conftest import Clock
from search_examples import random_system

SYSTEM = random_system(np.random.default_rng(8), 20)
TESTS: dict[str, CITest] = {
    "gaussian": FisherZ(SYSTEM.linear_gaussian(300, seed=1)),
    "discrete": GSquared(SYSTEM.discrete(300, seed=1)),
    "oracle": SYSTEM.oracle(),
}
MANY = FisherZ(random_system(np.random.default_rng(8), 40).linear_gaussian(300, seed=1))
"""Enough edges left after r = 0 for two threads to share."""


def arrays_of(result: Result) -> dict[str, Any]:
    _, arrays = state_parts(result.state)
    return arrays | {
        "order": result.problem.nodes.order,
        "strength": result.problem.strength.table,
        "place": result.problem.strength.place,
        "counts": np.array([[item.info.n_tests, item.info.n_edges, item.info.n_open] for item in result.history]),
    }


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("method", ["icd", "fci", "anytime-fci", "rfci"])
def test_two_threads_give_the_same_to_the_bit(name: str, method: str) -> None:
    one, two = (arrays_of(learn(TESTS[name], method=method, max_r=3, threads=k)) for k in (1, 2))
    for part, array in one.items():
        np.testing.assert_array_equal(array, two[part], err_msg=part)


@pytest.mark.parametrize("method", ["bayes", "boss"])
@pytest.mark.parametrize("name", ["gaussian", "discrete"])
def test_searches_by_scores_are_the_same_in_threads(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.search.by_scores.boss.FEWEST_IN_THREADS", 1)
    monkeypatch.setattr("anypag.search.by_scores.chain.LEAST_STEPS", 1)
    one, *others = (learn(TESTS[name], method=method, effort=0.1, threads=k) for k in (1, 2, 3))
    expected = arrays_of(one)
    for other in others:
        assert [item.pag for item in one.history] == [item.pag for item in other.history]
        found = arrays_of(other)
        assert found.keys() == expected.keys()
        for part, array in expected.items():
            np.testing.assert_array_equal(array, found[part], err_msg=part)


def test_orders_are_swept_and_chains_cooled_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every state of the search, resumed with another number of threads, leads to the next one."""
    monkeypatch.setattr("anypag.search.by_scores.boss.FEWEST_IN_THREADS", 1)
    at_work = set[str]()
    for name in ("orders._swept", "chain.cooled"):
        place = f"anypag.search.by_scores.{name}"
        work = pkgutil.resolve_name(place)

        def noted(*given: Any, name: str = name, work: Any = work) -> Any:
            at_work.add(f"{name} {threading.get_ident() == home}")
            time.sleep(0.01)  # so that each thread takes a part
            return work(*given)

        monkeypatch.setattr(place, noted)
    home, choices = threading.get_ident(), Choices(method="bayes", effort=0.1, threads=3)
    before = None
    alone = Search(TESTS["gaussian"], replace(choices, threads=1))
    for state, _ in alone.steps():
        if before is not None:
            problem = replace(alone.problem, choices=replace(alone.problem.choices, threads=3))
            resumed, _ = next(Search(TESTS["gaussian"], choices, problem=problem).steps(before))
            np.testing.assert_array_equal(resumed.marks, state.marks)
        before = state
    assert "orders._swept False" in at_work
    assert "chain.cooled False" in at_work


def test_iterate_takes_threads_too() -> None:
    test = TESTS["gaussian"]
    *_, (state, _) = iterate(test, method="icd", threads=2)
    assert state.pag == learn(test, method="icd").pag


def do_nothing() -> None:
    pass


class Slow:
    """A test whose every batch with one member in its sets takes a while; `meanwhile` is called in each of these."""

    def __init__(self, test: CITest, meanwhile: Callable[[], None] = do_nothing) -> None:
        self.names, self.exact, self.batch = test.names, False, 64
        self.calls = 0
        self._test, self._meanwhile = test, meanwhile

    def pvalues(self, queries: Queries) -> PValues:
        self.calls += 1
        if queries.r == 1:
            self._meanwhile()
            time.sleep(0.02)
        return self._test.pvalues(queries)


def test_a_deadline_ends_a_threaded_step_with_the_last_correct_graph(clock: Clock) -> None:
    def an_hour() -> None:
        clock.ahead += 3600

    result = learn(Slow(MANY, an_hour), method="icd", threads=2, time_budget=3600)
    assert (result.stopped, result.complete, [item.r for item in result.history]) == ("time", False, [0])
    assert result.pag == learn(MANY, max_r=0).pag


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_threaded_step_at_once() -> None:
    """The signal reaches the thread that waits; the others stop before their next batch."""
    main, pressed = threading.get_ident(), threading.Event()
    calls_before: list[int] = []

    def press_once() -> None:
        """From a thread beside the caller's."""
        if threading.get_ident() != main and not pressed.is_set():
            pressed.set()
            calls_before.append(test.calls)
            signal.pthread_kill(main, signal.SIGINT)

    test = Slow(MANY, press_once)
    result = learn(test, method="icd", threads=2)
    assert (result.stopped, [item.r for item in result.history]) == ("interrupt", [0])
    whole = Slow(MANY)
    learn(whole, threads=2, max_r=1)
    assert test.calls - calls_before[0] < (whole.calls - calls_before[0]) // 4, "most batches were never begun"
    calls = test.calls
    time.sleep(0.1)
    assert test.calls == calls, "nobody works on"


def test_only_the_caller_s_thread_ticks() -> None:
    """A progress bar or a checkpoint's file need not fear threads."""
    seen: set[int] = set()
    phases: list[str] = []

    def tick(progress: Progress) -> None:
        seen.add(threading.get_ident())
        phases.append(progress.phase)

    learn(Slow(TESTS["gaussian"]), threads=2, max_r=1, progress=tick)
    assert seen == {threading.get_ident()}
    assert "candidates" in phases


def test_zero_is_one_thread_per_core() -> None:
    assert Search(TESTS["gaussian"], Choices(method="icd", threads=0)).problem.threads >= 1


@pytest.mark.parametrize(
    ("test", "options", "message"),
    [
        (TESTS["gaussian"], {"threads": -1}, "'threads' must be a whole number, 0 for one thread per core; got -1"),
        (TESTS["gaussian"], {"threads": 1.5}, "'threads' must be a whole number, 0 for one thread per core; got 1.5"),
        (TESTS["gaussian"], {"threads": 2, "method": "icd-paper"}, "left out: method 'icd-paper' does not use it"),
        (
            from_callable(lambda x, y, z: 0.5, ["A", "B", "C"]),
            {"threads": 2},
            "left out: the test takes one question at a time",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(test: CITest, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        learn(test, **options)


def test_a_checkpoint_knows_nothing_of_threads(tmp_path: Path) -> None:
    test, file = TESTS["gaussian"], tmp_path / "run.checkpoint"
    learn(test, method="icd", checkpoint=file, stop=lambda state, info: info.r == 0)
    result = learn(test, method="icd", checkpoint=file, resume=True, threads=2)
    assert result.complete and [item.r for item in result.history][:2] == [0, 1]
    assert result.pag == learn(test, method="icd").pag
