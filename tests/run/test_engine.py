"""Runs: one step after the other, stopped at any moment, always with the graph of the last finished iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from anypag import CITest, Oracle, Queries, Result, from_callable, iterate, learn, n_oracle
from anypag.catalogue import TEST_METHODS
from anypag.choices import Choices
from anypag.ci.base import PValues
from anypag.ci.gaussian import FisherZ
from anypag.ci.wrappers import Counted
from anypag.errors import CITestError
from anypag.run.engine import Search
from anypag.search.progress import Progress
from anypag.search.state import State, StepInfo
from conftest import Clock
from search_examples import TEN, random_system, wrong_claims

Question = tuple[int, int, tuple[int, ...]]


@pytest.fixture(autouse=True)
def whole_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many calls a run makes must not depend on how slow the machine is."""
    monkeypatch.setattr("anypag.search.progress.SECONDS_BETWEEN_TICKS", 1e9)


class Interrupted:
    """An oracle that raises at a certain call."""

    exact, batch = True, 16

    def __init__(self, call: int, error: BaseException) -> None:
        self._oracle, self._call, self._error = Oracle(TEN), call, error
        self.names = self._oracle.names
        self.calls = 0

    def pvalues(self, queries: Queries) -> PValues:
        self.calls += 1
        if self.calls == self._call:
            raise self._error
        return self._oracle.pvalues(queries)


def one_by_one(calls: list[Question]) -> CITest:
    """An oracle where every question costs; they are written down."""
    oracle = Oracle(TEN)

    def p(x: int, y: int, z: tuple[int, ...]) -> float:
        calls.append((min(x, y), max(x, y), tuple(sorted(z))))
        return float(oracle.pvalues(Queries.one(x, y, z))[0])

    return from_callable(p, oracle.names)


def n_calls(method: str) -> int:
    test = Interrupted(-1, RuntimeError())
    learn(test, method=method)
    return test.calls


def same_state(a: State, b: State) -> bool:
    """Equal in every array."""

    def same(x: Any, y: Any) -> bool:
        if isinstance(x, np.ndarray):
            return np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
        if is_dataclass(x):
            return all(same(getattr(x, f.name), getattr(y, f.name)) for f in fields(x) if f.compare)
        return bool(x == y)

    settled = (replace(state, evidence=state.evidence.with_notes()) for state in (a, b))
    return same(*settled)


def check_prefix(result: Result, whole: Result) -> None:
    """A stopped run is the beginning of the whole one, exactly."""
    k = len(result.history)
    assert k < len(whole.history)
    assert not result.complete
    assert [item.pag for item in result.history] == [item.pag for item in whole.history[:k]]
    assert [item.info for item in result.history] == [item.info for item in whole.history[:k]]
    search = Search(Interrupted(-1, RuntimeError()), Choices(method=result.method))
    states = [search.start, *(state for state, _ in search.steps())]
    assert same_state(result.state, states[k])


@pytest.mark.parametrize("method", TEST_METHODS)
def test_learn_is_a_loop_over_iterate(method: str) -> None:
    result = learn(Oracle(TEN), method=method)
    steps = list(iterate(Oracle(TEN), method=method))
    assert [info for _, info in steps] == [item.info for item in result.history]
    assert [state.pag for state, _ in steps] == [item.pag for item in result.history]
    assert same_state(steps[-1][0], result.state)
    assert result.pag == steps[-1][0].pag


@pytest.mark.parametrize("method", TEST_METHODS)
def test_states_are_values(method: str) -> None:
    """A state that was held while the search went on is what it was."""
    held = []
    for state, _ in iterate(Oracle(TEN), method=method):
        held.append((state, state.pag, state.marks.copy(), state.sepsets.known()))
    assert len({id(state) for state, *_ in held}) == len(held)
    for state, pag, marks, known in held:
        assert state.pag == pag
        assert np.array_equal(state.marks, marks)
        assert np.array_equal(state.sepsets.known(), known)


@pytest.mark.parametrize("method", TEST_METHODS)
@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_ctrl_c_gives_the_last_finished_iteration(method: str, part: float) -> None:
    call = 1 + int(part * (n_calls(method) - 1))
    result = learn(Interrupted(call, KeyboardInterrupt()), method=method)
    assert result.stopped == "interrupt"
    check_prefix(result, learn(Interrupted(-1, RuntimeError()), method=method))


@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.9])
def test_an_exception_in_the_test_comes_with_the_result_so_far(part: float) -> None:
    call = 1 + int(part * (n_calls("icd") - 1))
    with pytest.raises(CITestError, match="The test raised ZeroDivisionError: oops") as caught:
        learn(Interrupted(call, ZeroDivisionError("oops")), method="icd")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.result is not None
    assert caught.value.result.stopped == "error"
    check_prefix(caught.value.result, learn(Interrupted(-1, RuntimeError()), method="icd"))


def test_an_answer_that_is_no_p_value_comes_with_the_result_so_far() -> None:
    def p(x: str, y: str, z: tuple[str, ...]) -> float:
        return float("nan") if len(z) == 1 else 0.0

    with pytest.raises(CITestError, match=r"between 0 and 1; the test answered nan for A ⟂ B \| \{C\}") as caught:
        learn(from_callable(p, ["A", "B", "C"], called_with="names"))
    assert caught.value.result is not None
    assert [item.r for item in caught.value.result.history] == [0]


def test_a_deadline_ends_the_run_with_the_last_iteration(clock: Clock) -> None:
    def slow(x: int, y: int, z: tuple[int, ...]) -> float:
        clock.ahead += 60 if z else 0
        return 0.0

    result = learn(from_callable(slow, list("ABCDEFGH")), time_budget=3600)
    assert result.stopped == "time"
    assert not result.complete
    assert [item.r for item in result.history] == [0]
    assert len(result.pag.edges()) == 28


def test_a_budget_of_tests_counts_those_of_all_iterations() -> None:
    whole = learn(one_by_one([]), method="icd")
    total = np.cumsum([item.info.n_tests for item in whole.history])
    for budget in set(range(1, whole.n_tests, 97)) - set(total.tolist()):
        result = learn(one_by_one([]), method="icd", max_tests=budget)
        assert result.stopped == "tests"
        assert len(result.history) == np.count_nonzero(total < budget)


def test_a_budget_larger_than_the_run_changes_nothing() -> None:
    whole = learn(Oracle(TEN))
    result = learn(Oracle(TEN), max_tests=whole.n_tests + 1, time_budget=1000)
    assert (result.complete, result.stopped, result.pag) == (True, None, whole.pag)


def test_single_questions_are_counted_exactly() -> None:
    """A test that is asked one by one is asked no more often than the budget allows, and never the same twice."""
    calls: list[Question] = []
    result = learn(one_by_one(calls), method="icd", max_tests=100)
    assert result.stopped == "tests"
    assert len(calls) == len(set(calls)) == 100


def test_a_stop_predicate_sees_every_iteration() -> None:
    seen: list[tuple[int, int]] = []

    def stop(state: State, info: StepInfo) -> bool:
        seen.append((state.r, info.n_edges))
        return info.r == 2

    result = learn(Oracle(TEN), stop=stop)
    assert [r for r, _ in seen] == [0, 1, 2]
    assert (result.stopped, result.complete, result.r) == ("stop", False, 2)
    assert len(result.pag.edges()) == seen[-1][1]


@pytest.mark.parametrize("stop", [None, lambda state, info: True])
def test_results_hold_on_to_no_scratch_tables(stop: Any) -> None:
    result = learn(Oracle(TEN), stop=stop)
    assert result.history and result.problem.scratch.tables is None


def test_nobody_is_asked_to_stop_after_the_end() -> None:
    last = learn(Oracle(TEN)).r
    result = learn(Oracle(TEN), stop=lambda state, info: info.r == last)
    assert (result.complete, result.stopped) == (True, None)


@pytest.mark.parametrize("method", TEST_METHODS)
@pytest.mark.parametrize("max_r", [0, 1, 2])
def test_a_capped_run_is_not_complete(method: str, max_r: int) -> None:
    sizes = set()

    class Watched(Oracle):
        def pvalues(self, queries: Queries) -> PValues:
            sizes.add(queries.r)
            return super().pvalues(queries)

    result = learn(Watched(TEN), method=method, max_r=max_r)
    assert (result.complete, result.stopped) == (False, "max_r")
    assert max(sizes) == result.r == max_r


@pytest.mark.parametrize("method", TEST_METHODS)
def test_a_cap_that_was_not_needed_leaves_the_run_complete(method: str) -> None:
    system = random_system(np.random.default_rng(4), 8)
    whole = learn(system.oracle(), method=method)
    for max_r in range(whole.r, 8):
        capped = learn(system.oracle(), method=method, max_r=max_r)
        if capped.complete:
            assert capped.stopped is None
            assert capped.pag == whole.pag
    assert learn(system.oracle(), method=method, max_r=6).complete


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [0, 1, 2])
def test_with_an_n_oracle_nothing_claimed_is_wrong(seed: int, n: int) -> None:
    """An n-oracle calls everything dependent beyond n: the result is sound, and that of a run capped at n."""
    system = random_system(np.random.default_rng(seed), 9)
    result = learn(n_oracle(system.oracle(), n))
    assert wrong_claims(result.pag, system) == []
    assert result.pag == learn(system.oracle(), max_r=n).pag


@pytest.mark.parametrize("method", TEST_METHODS)
def test_the_history_adds_up(method: str) -> None:
    result = learn(Oracle(TEN), method=method)
    n = len(result.pag)
    assert sum(item.info.removed for item in result.history) == n * (n - 1) // 2 - len(result.pag.edges())
    assert all(item.info.n_edges == len(item.pag.edges()) for item in result.history)
    assert all(0 <= item.info.n_open <= item.info.n_edges for item in result.history)
    assert result.n_tests == sum(result.tests.values()) == sum(item.info.n_tests for item in result.history)
    assert all(item.seconds >= 0 for item in result.history)
    assert all(item.info.n_evaluated >= item.info.n_tests for item in result.history)


def test_open_edges_are_those_that_had_candidates_and_are_left() -> None:
    """An edge that a check removed is not open any more."""
    phase = [""]
    tried: set[frozenset[str]] = set()

    class Watched(Oracle):
        def pvalues(self, queries: Queries) -> PValues:
            if phase[0] == "candidates":
                tried.update(
                    frozenset((self.names[x], self.names[y])) for x, y in zip(queries.x, queries.y, strict=True)
                )
            return super().pvalues(queries)

    for state, info in iterate(Watched(TEN), method="icd", tick=lambda progress: phase.__setitem__(0, progress.phase)):
        left = tried & {frozenset((edge.a, edge.b)) for edge in state.pag.edges()}
        assert info.n_open == len(left)
        tried.clear()


def test_a_search_keeps_the_budgets_of_its_choices() -> None:
    data = random_system(np.random.default_rng(1), 6).linear_gaussian(200, seed=1)
    result = Search(data, Choices(method="icd", max_tests=1)).run()
    assert (result.stopped, result.n_tests) == ("tests", 0)
    result = Search(data, Choices(method="icd", stop=lambda state, info: True)).run()
    assert (result.stopped, len(result.history)) == ("stop", 1)


def test_evaluations_are_those_of_the_counted_test() -> None:
    test = Counted(Oracle(TEN))
    result = learn(test, method="icd")
    assert sum(item.info.n_evaluated for item in result.history) == test.evaluated


@pytest.mark.parametrize("batch", [1, 2, 7, 4096])
@pytest.mark.parametrize("method", TEST_METHODS)
def test_the_size_of_a_batch_changes_nothing_but_the_batches(method: str, batch: int) -> None:
    sizes = []

    class Batched(Oracle):
        def pvalues(self, queries: Queries) -> PValues:
            sizes.append(len(queries))
            return super().pvalues(queries)

    test = Batched(TEN)
    test.batch = batch
    result, usual = learn(test, method=method), learn(Oracle(TEN), method=method)
    assert result.pag == usual.pag
    if (method, batch) != ("icd", 1):  # where every test costs, ICD tests one side of an edge (`by_tests.one_side`)
        assert [item.info.tests for item in result.history] == [item.info.tests for item in usual.history]
    assert result.n_tests <= usual.n_tests
    assert min(sizes) > 0
    assert max(sizes) <= batch


def test_a_tick_comes_before_every_batch() -> None:
    seen: list[Progress] = []
    learn(Oracle(TEN), progress=seen.append)
    assert {progress.phase for progress in seen} >= {"candidates", "checks"}
    assert all(0 <= progress.done <= progress.total for progress in seen)
    assert [progress.r for progress in seen] == sorted(progress.r for progress in seen)


def test_a_bar_goes_to_the_terminal_and_not_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert learn(Oracle(TEN), progress=True).complete
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("seed", range(12))
def test_kept_p_is_the_largest_p_of_all_tests_that_kept_the_edge(seed: int) -> None:
    """The checks' tests too."""
    largest: dict[frozenset[str], float] = {}

    class Watched(FisherZ):
        def pvalues(self, queries: Queries) -> PValues:
            p = super().pvalues(queries)
            for x, y, value in zip(queries.x, queries.y, p, strict=True):
                pair = frozenset((self.names[x], self.names[y]))
                largest[pair] = max(largest.get(pair, 0.0), float(value))
            return p

    system = random_system(np.random.default_rng(seed), 12)
    result = learn(Watched(system.linear_gaussian(200, seed=seed)), method="icd", max_sets=0)
    for edge in result.pag.edges():
        assert result.kept_p(edge.a, edge.b) == largest[frozenset((edge.a, edge.b))]
        assert result.kept_p(edge.a, edge.b) <= result.choices.alpha
    for a, b in result.sepsets:
        assert result.sepsets[a, b].p > result.choices.alpha


def test_a_result_reads_well() -> None:
    result = learn(Oracle(TEN), max_r=1)
    assert "max_r" in str(result)
    assert str(result.pag) in str(result)
    assert ("X", "nobody") not in result.sepsets
    assert len(result.sepsets) == len(list(result.sepsets))


@pytest.mark.parametrize("method", TEST_METHODS)
def test_two_variables_are_enough(method: str) -> None:
    for p, text in ((1.0, "A\nB"), (0.0, "A o-o B")):
        make: Callable[..., float] = lambda x, y, z, p=p: p  # noqa: E731
        test: CITest = from_callable(make, ["A", "B"])
        result = learn(test, method=method)
        assert (str(result.pag), result.complete, result.n_tests) == (text, True, 1)
