"""Testing many edges, in parts: the graph is frozen while an iteration runs, so edges do not care about each other.

Parts are runs of edges in order, and what comes of them is put together in that order. So the outcome is the same to
the bit, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.search.separate import Separated

Indices = npt.NDArray[np.int32]

PARTS_PER_THREAD = 8
"""More parts than threads: some edges have many more candidates than others."""

FEWEST_EDGES = 64
"""With fewer edges threads cost more than they save."""


class Tested(NamedTuple):
    """What came of testing edges."""

    is_open: npt.NDArray[np.bool_]  # (m,) the edge had candidates
    p: npt.NDArray[np.float64]  # (m,) the largest p-value seen; NaN if there was none
    found: Separated  # the edges that fall


def in_parts(test_edges: Callable[[Indices, Indices], Tested], x: Indices, y: Indices, threads: int) -> Tested:
    """What `test_edges(x, y)` gives, worked out in threads, a part of the edges at a time."""
    if threads == 1 or len(x) < FEWEST_EDGES:
        return test_edges(x, y)
    runs = np.array_split(np.arange(len(x)), PARTS_PER_THREAD * threads)
    with ThreadPoolExecutor(threads) as pool:
        parts = [pool.submit(test_edges, x[run], y[run]) for run in runs]
        try:
            return _joined([part.result() for part in parts])
        finally:
            for part in parts:  # after an exception: those that have not begun need not
                part.cancel()


def _joined(parts: list[Tested]) -> Tested:
    is_open, p = np.concatenate([part.is_open for part in parts]), np.concatenate([part.p for part in parts])
    return Tested(is_open, p, Separated(*map(np.concatenate, zip(*(part.found for part in parts), strict=True))))
