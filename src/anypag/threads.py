"""Threads for work that releases the global interpreter lock (compiled loops, linear algebra), and turns of kernels.

The threads are started once and reused: starting them takes longer than a small step of a search. Callers split sums in
the same way for any number of threads and merge the pieces in order, so results are identical to the bit.

Long kernels run in short calls (turns), so that a run can act on a signal or its deadline in between. Such a kernel
subtracts its work, in units of about a nanosecond, from the number in its last argument, `room`. When nothing is left
of this number, the kernel keeps its progress in its other arguments and returns False. It is called until it returns
True. The result depends neither on where the turns end nor on a clock. `look` is called between turns; it can raise.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from threading import Event, Lock, get_ident
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Item = TypeVar("Item")
Made = TypeVar("Made")

SECONDS_BETWEEN_CALLS = 0.05  # how often `meanwhile` is called while the calling thread waits for the others
ROOM = 30_000_000  # the work of one turn, in units of about a nanosecond; it takes 0.03 to 0.1 seconds
Look = Callable[[], None]  # called between turns; an exception in it ends the work


@cache
def _workers(count: int) -> ThreadPoolExecutor:
    """The pool with this number of threads; every call returns the same one."""
    return ThreadPoolExecutor(count, thread_name_prefix="anypag")


class _SingleBlas:
    """A context in which BLAS uses one thread. The threads of BLAS would go on spinning after each matrix product and
    occupy the cores: on a busy machine a search of 35 columns then takes ten times as long. The first thread that
    enters the context sets the limit, and the last thread that leaves it restores the former numbers of BLAS threads.
    """

    _before: Sequence[tuple[Any, int]] = ()

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start with no thread in the context. If a fork occurred inside the context, restore BLAS's thread numbers."""
        _limit(self._before)
        self._lock, self._n_inside, self._before = Lock(), 0, ()

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._before = [(library, library.num_threads) for library in _blas("scipy.linalg" in sys.modules)]
                _limit([(library, 1) for library, _ in self._before])
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside = max(0, self._n_inside - 1)  # a process forked in the context leaves it without entering
            if self._n_inside == 0:
                _limit(self._before)
                self._before = ()


def _limit(libraries: Sequence[tuple[Any, int]]) -> None:
    for library, count in libraries:
        library.set_num_threads(count)
        getattr(library, "clear_controlling_thread", do_nothing)()  # so that any thread may change the number again


@cache
def _blas(with_scipy: bool) -> list[Any]:
    """The loaded BLAS libraries. Importing scipy may load one more, so they are looked up again after that."""
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


single_blas = _SingleBlas()

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_workers.cache_clear)  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=single_blas.begin)


def do_nothing() -> None:
    """Do nothing."""


def map_in_threads(
    function: Callable[[Item], Made],
    items: Sequence[Item],
    threads: int,
    *,
    meanwhile: Callable[[], None] = do_nothing,
    on_error: Callable[[], None] = do_nothing,
) -> list[Made]:
    """`function(item)` for every item, in order. The calling thread is one of the `threads` and works too; while it
    waits for the others, it calls `meanwhile` again and again. After an exception, `on_error` is called, the other
    threads finish their current items, and the first exception is raised.
    """
    if threads == 1 or len(items) == 1:
        try:
            return [function(item) for item in items]
        except BaseException:
            on_error()
            raise
    work = _Work(function, items, on_error)
    others: list[Future[None]] = []
    with single_blas:
        try:
            for _ in items[1:threads]:
                others.append(_workers(threads - 1).submit(work.run))
            work.run()
            while wait(_begun(others), SECONDS_BETWEEN_CALLS).not_done:
                meanwhile()
        except BaseException as error:  # from `meanwhile`, or a signal
            work.fail(error)
        wait(_begun(others))
    if work.errors:
        raise work.errors[0]
    return [work.made[k] for k in range(len(items))]


class InCaller:
    """A callback. In the thread that made it, it calls `look`; in others, it raises CancelledError once `end` ran."""

    def __init__(self, look: Callable[..., None]) -> None:
        self._look, self._caller, self._is_over = look, get_ident(), Event()
        self.end = self._is_over.set

    def __call__(self, *told: Any) -> None:
        if get_ident() == self._caller:
            self._look(*told)
        elif self._is_over.is_set():
            raise CancelledError


def _begun(others: list[Future[None]]) -> list[Future[None]]:
    """The calls that have started. Calls that still wait for a thread are cancelled: no item is left for them."""
    return [other for other in others if not other.cancel()]


class _Work(Generic[Item, Made]):
    """The waiting items, the results so far, and the errors."""

    def __init__(self, function: Callable[[Item], Made], items: Sequence[Item], on_error: Callable[[], None]) -> None:
        self._function, self._on_error, self._items = function, on_error, list(enumerate(items))
        self._waiting = iter(self._items)  # shared by the threads: each takes the next item
        self.made: dict[int, Made] = {}
        self.errors: list[BaseException] = []

    def run(self) -> None:
        for k, item in self._waiting:
            try:
                self.made[k] = self._function(item)
            except BaseException as error:
                self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.errors.append(error)
        self._items.clear()
        self._on_error()


def threads_for(work: int, threads: int, least: int = 1_000_000) -> int:
    """The number of threads to use for an amount of work, so that each gets at least `least` (about a millisecond)."""
    return max(1, min(threads, work // least))


def runs_of(work: npt.NDArray[np.int64], threads: int, least: int, most: int) -> list[slice]:
    """Slices of consecutive items with about equal work, about four per thread; a slice has `least` to `most` work."""
    total = int(work.sum())
    share = min(max(total / (4 * threads), least), most) if threads > 1 else most
    n_runs = min(max(1, round(total / share)), max(1, len(work)))
    if n_runs == 1:
        return [slice(0, len(work))]
    bounds = np.searchsorted(np.cumsum(work), np.linspace(0, total, n_runs + 1)[1:-1]) + 1
    ends = np.unique(np.concatenate([[0], bounds, [len(work)]]))
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def slices(n: int, most: int = 65536) -> list[slice]:
    """The range 0 to n as slices of about the same length, none longer than `most`."""
    if 0 < n <= most:  # nearly always
        return [slice(0, n)]
    bounds = np.linspace(0, n, -(-n // most) + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(bounds)]


def in_turns(kernel: Callable[..., bool], *arguments: Any, look: Look = do_nothing) -> None:
    """Call the kernel until it returns True, and `look` in between. A kernel that may run as Python gets less room."""
    while not kernel(*arguments, np.array([ROOM // 1000 if getattr(kernel, "waits", False) else ROOM])):
        look()
