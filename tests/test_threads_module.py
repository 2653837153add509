"""Threads that wait for work: order kept, every item once, and alive in a child process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import ThreadpoolController

import anypag as ap
from anypag.ci import additive
from anypag.data.audit.checklist import Check, Seen
from anypag.data.findings import Finding
from anypag.data.moments import StandardRows, moments_of
from anypag.data.table import as_table
from anypag.effects.estimate.draws import LinearColumns
from anypag.threads import _blas, _limit, map_in_threads, single_blas, slices


@given(st.integers(0, 5000), st.integers(1, 700))
def test_slices_cover_everything_once(n: int, most: int) -> None:
    cut = slices(n, most)
    assert [k for run in cut for k in range(run.start, run.stop)] == list(range(n))
    lengths = [run.stop - run.start for run in cut]
    assert max(lengths, default=0) <= most and max(lengths, default=0) - min(lengths, default=0) <= 1


@given(st.lists(st.integers(), max_size=50), st.integers(1, 4))
def test_the_order_is_kept(items: list[int], threads: int) -> None:
    assert map_in_threads(lambda item: item + 1, items, threads) == [item + 1 for item in items]


def test_the_work_is_done_by_as_many_threads_as_said() -> None:
    meeting = threading.Barrier(3, timeout=60)  # broken unless three come at the same time
    map_in_threads(lambda _: meeting.wait(), [0, 1, 2], 3)


def test_what_is_raised_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        map_in_threads(lambda item: 1 // item, [1, 0, 2], 2)


@pytest.mark.usefixtures("two_threads")
def test_tests_and_effects_multiply_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that is made by itself, for a resample too, and the draws of an effect: no run is around them."""
    data = ap.simulate.random_system(4, 2.0, seed=1).linear_gaussian(200, seed=1)
    seen: list[set[int]] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def multiply(*given: Any) -> Any:
            seen.append(blas_threads())
            return function(*given)

        return multiply

    for place, name in ((additive, "_products"), (LinearColumns, "_covariance_drawn")):
        monkeypatch.setattr(place, name, watched(getattr(place, name)))
    ap.Additive(data)
    ap.bootstrap(data, method="icd", n=2, test="additive")
    assert len(seen) >= 3 and set().union(*seen) == {1}
    seen.clear()
    LinearColumns.of(as_table(data)).drawn(np.zeros((2, 4, 4), np.uint8), np.arange(2), np.array([0]), np.array([1]))
    assert seen == [{1}, {1}] and blas_threads() == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer Pythons warn of forks with threads: that is the point
def test_a_child_process_has_threads_of_its_own() -> None:
    assert map_in_threads(abs, [-1, -2], 2) == [1, 2]
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # rather than to wait forever for threads that are not there
        os._exit(0 if map_in_threads(abs, [-1, -2], 2) == [1, 2] else 1)
    assert os.waitpid(child, 0)[1] == 0, sys.platform


def test_the_first_error_comes_out_and_is_told_at_once() -> None:
    """What others raise because they were told to stop is not what went wrong."""
    told, begun = threading.Event(), threading.Barrier(2, timeout=60)

    def work(item: int) -> None:
        begun.wait()
        if item == 0:
            raise ZeroDivisionError
        assert told.wait(60)
        raise KeyError("stopped")

    with pytest.raises(ZeroDivisionError):
        map_in_threads(work, [0, 1], 2, on_error=told.set)


def test_nothing_is_begun_after_an_error() -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        raise ValueError

    with pytest.raises(ValueError):
        map_in_threads(work, list(range(100)), 2)
    assert len(begun) <= 2


def test_one_who_waits_looks_up() -> None:
    looked, here = threading.Event(), threading.get_ident()
    both = threading.Barrier(2, timeout=60)

    def work(item: int) -> None:
        both.wait()
        if threading.get_ident() != here:
            assert looked.wait(60)

    map_in_threads(work, [0, 1], 2, meanwhile=looked.set)


def test_what_is_raised_while_waiting_ends_the_work() -> None:
    over, here = threading.Event(), threading.get_ident()
    both = threading.Barrier(2, timeout=60)

    def work(item: int) -> None:
        both.wait()
        if threading.get_ident() != here:
            assert over.wait(60)

    def meanwhile() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(work, [0, 1], 2, meanwhile=meanwhile, on_error=over.set)


def test_nested_and_concurrent_use_does_not_wait_for_strangers() -> None:
    nested = map_in_threads(lambda i: map_in_threads(lambda j: i * j, [1, 2, 3], 2), [1, 2, 3], 2)
    assert nested == [[1, 2, 3], [2, 4, 6], [3, 6, 9]]
    release, busy = threading.Event(), threading.Barrier(3, timeout=60)

    def slow(item: int) -> None:
        busy.wait()
        assert release.wait(60)

    stranger = threading.Thread(target=map_in_threads, args=(slow, [0, 1], 2))
    stranger.start()
    busy.wait()  # both of its threads are at work, one of them the only one of the pool
    assert map_in_threads(abs, [-1, -2, -3], 2) == [1, 2, 3]
    release.set()
    stranger.join()


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()}


@pytest.fixture
def two_threads() -> Iterator[None]:
    pytest.importorskip("scipy.linalg")  # brings a library of its own
    before = [(library, library.num_threads) for library in _blas(True)]
    _limit([(library, 2) for library, _ in before])
    yield
    _limit(before)


@pytest.mark.usefixtures("two_threads")
def test_linear_algebra_has_one_thread_inside_and_its_own_number_afterwards() -> None:
    with pytest.raises(KeyError), single_blas, single_blas:
        assert blas_threads() == {1}
        raise KeyError
    assert blas_threads() == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.usefixtures("two_threads")
def test_a_child_process_made_inside_has_the_threads_from_before() -> None:
    with single_blas:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            seen = [blas_threads()]
            single_blas.__exit__()  # the child leaves the block too
            with single_blas:
                seen.append(blas_threads())
            os._exit(0 if [*seen, blas_threads()] == [{2}, {1}, {2}] else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_threads")
def test_searches_at_the_same_time_restore_the_threads_of_linear_algebra() -> None:
    data = ap.simulate.random_system(12, 2.0, seed=1).linear_gaussian(200, seed=1)
    seen: list[set[int]] = []

    def search(k: int) -> None:
        heard = iter(range(3 + k))

        def tick(_: object) -> None:
            seen.append(blas_threads())
            if next(heard, None) is None:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            ap.learn(data, progress=tick)

    others = [threading.Thread(target=search, args=(k,)) for k in range(4)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert seen and all(one == {1} for one in seen)
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_threads")
def test_moments_of_a_table_keep_linear_algebra_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []

    def in_threads(function: Callable[[Any], Any], items: Sequence[Any], threads: int) -> list[Any]:
        seen.append(blas_threads())
        return map_in_threads(function, items, threads)

    monkeypatch.setattr("anypag.data.moments.map_in_threads", in_threads)
    moments_of(np.random.default_rng(0).normal(size=(50, 4)), "abcd")
    assert seen[1] == {1}  # the products; nothing else needs linear algebra
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    "bind", [ap.audit, ap.FisherZ, ap.DegenerateGaussian, ap.Additive], ids=lambda bind: bind.__name__
)
def test_an_audit_keeps_linear_algebra_to_one_thread(
    bind: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[int]] = []

    def look(_: Seen) -> list[Finding]:
        seen.append(blas_threads())
        return []

    monkeypatch.setattr("anypag.data.audit.checklist.CHECKS", (Check("a look at linear algebra", look),))
    bind(np.random.default_rng(0).normal(size=(50, 4)))
    assert seen == [{1}]
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_threads")
def test_moments_of_resamples_keep_linear_algebra_to_one_thread() -> None:
    seen: list[set[int]] = []

    class Rows(np.ndarray):
        """Rows that look at linear algebra when they are multiplied."""

        def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
            if ufunc is np.matmul and np.ndim(inputs[0]) == 2:
                seen.append(blas_threads())
            return getattr(ufunc, method)(*(np.asarray(one) for one in inputs), **options)

    rows = StandardRows.of("abcd", np.random.default_rng(0).normal(size=(50, 4)))
    replace(rows, values=rows.values.view(Rows)).moments(np.ones(50, np.int64))
    assert seen == [{1}]
    assert blas_threads() == {2}
