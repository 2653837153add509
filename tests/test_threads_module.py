"""Threads that wait for work: order kept, every item once, and alive in a child process."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag.threads import each, runs


@given(st.integers(0, 5000), st.integers(1, 700))
def test_runs_cover_everything_once(n: int, most: int) -> None:
    cut = runs(n, most)
    assert [k for run in cut for k in range(run.start, run.stop)] == list(range(n))
    lengths = [run.stop - run.start for run in cut]
    assert max(lengths, default=0) <= most and max(lengths, default=0) - min(lengths, default=0) <= 1


@given(st.lists(st.integers(), max_size=50), st.integers(1, 4))
def test_each_keeps_the_order(items: list[int], threads: int) -> None:
    assert each(lambda item: item + 1, items, threads) == [item + 1 for item in items]


def test_the_work_is_done_by_as_many_threads_as_said() -> None:
    meeting = threading.Barrier(3, timeout=10)  # broken unless three come at the same time
    each(lambda _: meeting.wait(), [0, 1, 2], 3)


def test_what_is_raised_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        each(lambda item: 1 // item, [1, 0, 2], 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer Pythons warn of forks with threads: that is the point
def test_a_child_process_has_threads_of_its_own() -> None:
    assert each(abs, [-1, -2], 2) == [1, 2]
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # rather than to wait forever for threads that are not there
        os._exit(0 if each(abs, [-1, -2], 2) == [1, 2] else 1)
    assert os.waitpid(child, 0)[1] == 0, sys.platform
