"""Testing many edges, in parts: the graph is frozen while an iteration runs, so edges do not care about each other.

What comes of the parts is laid together again, every edge where it was. So the outcome is the same to the bit, whatever
the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.search.asking import Asking
from anypag.search.separate import Best
from anypag.threads import map_in_threads, slices

Indices = npt.NDArray[np.int32]

FEWEST_EDGES = 32
"""Smaller parts cost more than they save."""

MOST_EDGES = 2048
"""Pools are made for a part at once: larger ones take long enough to keep a deadline waiting, and a lot of memory."""

MOST_PAIRS = 32768
"""The same for r = 0, where there are no pools."""


class Tested(NamedTuple):
    """What came of testing edges."""

    is_open: npt.NDArray[np.bool_]  # (m,) the edge had candidates
    best: Best


def in_parts(test_edges: Callable[[Indices, Indices], Tested], x: Indices, y: Indices, asking: Asking) -> Tested:
    """What `test_edges(x, y)` gives, worked out in `asking.threads` threads, a part of the edges at a time.

    This thread works too, and ticks meanwhile. What a tick, a signal or a part raises ends the others' work as well,
    after the batch of tests they are at.
    """
    parts = _parts(len(x), asking.threads, MOST_EDGES if asking.r else MOST_PAIRS)

    def test_part(part: slice) -> Tested:
        tested = test_edges(np.ascontiguousarray(x[part]), np.ascontiguousarray(y[part]))
        asking.advance(len(tested.is_open))
        return tested

    with asking.through(len(x)):
        tested = map_in_threads(test_part, parts, asking.threads, meanwhile=asking.wait, on_error=asking.abandon)
    return _joined(tested, parts, len(x))


def _parts(n_edges: int, threads: int, most: int) -> list[slice]:
    """Runs of edges, so many that every thread gets some.

    Where these would be short, and a few edges with many candidates could make one of them last, every thread gets one
    part instead, with edges from everywhere.
    """
    if n_edges > threads * most:
        rounds = -(-n_edges // (threads * most))
        return slices(n_edges, -(-n_edges // (rounds * threads)))
    n_parts = max(1, min(threads, n_edges // FEWEST_EDGES))
    return [slice(k, None, n_parts) for k in range(n_parts)]


def _joined(tested: list[Tested], parts: list[slice], n_edges: int) -> Tested:
    r = tested[0].best.z.shape[1]
    whole = Tested(np.empty(n_edges, np.bool_), Best(np.empty((n_edges, r), np.int32), np.empty(n_edges)))
    for part, (is_open, best) in zip(parts, tested, strict=True):
        whole.is_open[part], whole.best.z[part], whole.best.p[part] = is_open, best.z, best.p
    return whole
