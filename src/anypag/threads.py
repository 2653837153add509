"""Threads for work that lets go of Python's lock: compiled loops and linear algebra.

They are made once and then wait for work: making them anew would cost more than a small step of a search takes.
Whoever splits work splits it the same way whatever the number of threads, or so that it makes no difference, and puts
the pieces together in order: results are the same to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

Item = TypeVar("Item")
Made = TypeVar("Made")

SECONDS_BETWEEN_CALLS = 0.05
"""How often a thread that waits looks up."""


@cache
def _workers(count: int) -> ThreadPoolExecutor:
    """This many threads, the same ones every time."""
    return ThreadPoolExecutor(count, thread_name_prefix="anypag")


if hasattr(os, "register_at_fork"):  # not everywhere
    os.register_at_fork(after_in_child=_workers.cache_clear)  # a child has none of its parent's threads


def nothing() -> None:
    """Do nothing."""


def each(
    function: Callable[[Item], Made],
    items: Sequence[Item],
    threads: int,
    *,
    meanwhile: Callable[[], None] = nothing,
    on_error: Callable[[], None] = nothing,
) -> list[Made]:
    """What the function makes of every item, in order. This thread works as the others do.

    Args:
        function: called in any of the threads.
        items: each is worked on once, by whoever is free.
        threads: how many work, this one included.
        meanwhile: called in this thread now and then while it waits for the others.
        on_error: called once something has been raised, before the others are waited for: they finish what they are at.

    Raises:
        BaseException: what was raised first, in whichever thread.
    """
    work = _Work(function, items, on_error)
    others: list[Future[None]] = []
    try:
        for _ in items[1:threads]:
            others.append(_workers(threads - 1).submit(work.run))
        work.run()
        while wait(_begun(others), SECONDS_BETWEEN_CALLS).not_done:
            meanwhile()
    except BaseException as error:  # of `meanwhile`, or a signal
        work.fail(error)
    wait(_begun(others))
    if work.errors:
        raise work.errors[0]
    return [work.made[k] for k in range(len(items))]


def _begun(others: list[Future[None]]) -> list[Future[None]]:
    """Those that are at work or were; the rest, whose threads are busy for somebody else, need not begin any more."""
    return [other for other in others if not other.cancel()]


class _Work(Generic[Item, Made]):
    """Items to be worked on, and what came of those that have been."""

    def __init__(self, function: Callable[[Item], Made], items: Sequence[Item], on_error: Callable[[], None]) -> None:
        self._function, self._on_error = function, on_error
        self._waiting = list(enumerate(items))[::-1]
        self.made: dict[int, Made] = {}
        self.errors: list[BaseException] = []

    def run(self) -> None:
        """Work on one item after the other until none is left."""
        while (taken := self._take()) is not None:
            k, item = taken
            try:
                self.made[k] = self._function(item)
            except BaseException as error:
                self.fail(error)

    def fail(self, error: BaseException) -> None:
        """There will be no result: nobody need begin anything."""
        self.errors.append(error)
        self._waiting.clear()
        self._on_error()

    def _take(self) -> tuple[int, Item] | None:
        try:
            return self._waiting.pop()
        except IndexError:
            return None


def runs(n: int, most: int = 65536) -> list[slice]:
    """0 to n, cut into runs of about the same length, at most so long."""
    bounds = np.linspace(0, n, -(-n // most) + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(bounds)]
