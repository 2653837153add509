"""Testing many edges, in parts: the graph is frozen while an iteration runs, so edges do not care about each other.

Parts are runs of edges in order, and what comes of them is put together in that order. So the outcome is the same to
the bit, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.search.asking import Asking
from anypag.search.separate import Separated

Indices = npt.NDArray[np.int32]

PARTS_PER_THREAD = 4
"""More parts than threads: some edges have many more candidates than others."""

FEWEST_EDGES = 32
"""Smaller parts cost more than they save."""

MOST_EDGES = 8192
"""Pools are made for a part at once: larger ones take long enough to keep a deadline waiting, and a lot of memory."""

SECONDS_BETWEEN_TICKS = 0.05


class Tested(NamedTuple):
    """What came of testing edges."""

    is_open: npt.NDArray[np.bool_]  # (m,) the edge had candidates
    p: npt.NDArray[np.float64]  # (m,) the largest p-value seen; NaN if there was none
    found: Separated  # the edges that fall


def in_parts(test_edges: Callable[[Indices, Indices], Tested], x: Indices, y: Indices, asking: Asking) -> Tested:
    """What `test_edges(x, y)` gives, worked out in `asking.threads` threads, a part of the edges at a time.

    This thread ticks meanwhile. What a tick, a signal or a part raises ends the other parts too, after the batch of
    tests they are at.
    """
    runs = np.array_split(np.arange(len(x)), _n_parts(len(x), asking.threads))
    if asking.threads == 1 or len(runs) == 1:
        return _joined([_next_part(test_edges, x[run], y[run], asking, len(x)) for run in runs])
    with ThreadPoolExecutor(asking.threads) as pool:
        parts = [pool.submit(test_edges, x[run], y[run]) for run in runs]
        try:
            _wait_for(parts, asking, len(x))
        except BaseException:
            asking.abandon()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return _joined([part.result() for part in parts])


def _n_parts(n_edges: int, threads: int) -> int:
    for_threads = min(threads * PARTS_PER_THREAD, n_edges // FEWEST_EDGES) if threads > 1 else 1
    return max(1, for_threads, -(-n_edges // MOST_EDGES))


def _next_part(
    test_edges: Callable[[Indices, Indices], Tested], x: Indices, y: Indices, asking: Asking, total: int
) -> Tested:
    with asking.part(len(x), total):
        return test_edges(x, y)


def _wait_for(parts: list[Future[Tested]], asking: Asking, total: int) -> None:
    pending = set(parts)
    while pending:
        done, pending = wait(pending, SECONDS_BETWEEN_TICKS, FIRST_COMPLETED)
        for part in done:
            part.result()  # raises what the part raised
        asking.tick("candidates", total - total * len(pending) // len(parts), total)


def _joined(parts: list[Tested]) -> Tested:
    is_open, p = np.concatenate([part.is_open for part in parts]), np.concatenate([part.p for part in parts])
    return Tested(is_open, p, Separated(*map(np.concatenate, zip(*(part.found for part in parts), strict=True))))
