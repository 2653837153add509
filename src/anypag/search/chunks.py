"""Testing many edges, in chunks: the graph is frozen while an iteration runs, so edges do not depend on each other.

The results of the chunks are put together again, every edge where it was. So the outcome is the same to the bit,
whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from anypag.arrays import Flags, Indices
from anypag.search.inquiry import Inquiry
from anypag.search.separate import Best
from anypag.threads import map_in_threads, slices

FEWEST_EDGES = 32
"""Smaller chunks cost more than they save."""

MOST_EDGES = 2048
"""Pools are made for a chunk at once: larger ones take long enough to keep a deadline waiting, and a lot of memory."""

QUESTIONS_PER_EDGE = 32
"""A test that wants more than this many questions for each of `MOST_EDGES` gets larger chunks."""


class Outcome(NamedTuple):
    """What came of testing edges."""

    is_open: Flags  # (m,) the edge had candidates
    best: Best


def work_in_chunks(
    test_edges: Callable[[Indices, Indices], Outcome], x: Indices, y: Indices, inquiry: Inquiry
) -> Outcome:
    """What `test_edges(x, y)` gives, worked out in `inquiry.threads` threads, a chunk of the edges at a time.

    This thread works too, and ticks meanwhile. What a tick, a signal or a chunk raises ends the others' work as well,
    after the batch of tests they are at.
    """
    chunks = _chunks(len(x), inquiry.threads, _most_edges(inquiry))

    def test_chunk(chunk: slice) -> Outcome:
        tested = test_edges(np.ascontiguousarray(x[chunk]), np.ascontiguousarray(y[chunk]))
        inquiry.advance(len(tested.is_open))
        return tested

    with inquiry.counting_edges(len(x)):
        tested = map_in_threads(
            test_chunk, chunks, inquiry.threads, meanwhile=inquiry.tick_again, on_error=inquiry.abandon
        )
    return _joined(tested, chunks, len(x))


def _most_edges(inquiry: Inquiry) -> int:
    """The edges of a chunk follow from the questions the test likes at a time; at r = 0 an edge is one question."""
    return max(MOST_EDGES, inquiry.batch // (QUESTIONS_PER_EDGE if inquiry.r else 1))


def _chunks(n_edges: int, threads: int, most: int) -> list[slice]:
    """Runs of edges, so many that every thread gets some.

    Where these would be short, and a few edges with many candidates could make one of them last, every thread gets one
    chunk instead, with edges from everywhere.
    """
    if n_edges > threads * most:
        rounds = -(-n_edges // (threads * most))
        return slices(n_edges, -(-n_edges // (rounds * threads)))
    n_chunks = max(1, min(threads, n_edges // FEWEST_EDGES))
    return [slice(k, None, n_chunks) for k in range(n_chunks)]


def _joined(tested: list[Outcome], chunks: list[slice], n_edges: int) -> Outcome:
    r = tested[0].best.z.shape[1]
    whole = Outcome(np.empty(n_edges, np.bool_), Best(np.empty((n_edges, r), np.int32), np.empty(n_edges)))
    for chunk, (is_open, best) in zip(chunks, tested, strict=True):
        whole.is_open[chunk], whole.best.z[chunk], whole.best.p[chunk] = is_open, best.z, best.p
    return whole
