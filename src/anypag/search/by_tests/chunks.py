"""Testing many edges, in chunks: the graph is frozen while an iteration runs, so edges do not depend on each other.

The results of the chunks are put together again, every edge where it was. So the outcome is the same to the bit,
whatever the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from anypag.arrays import Counts, Flags, Indices
from anypag.search.by_tests.separate import Best
from anypag.search.inquiry import Inquiry
from anypag.threads import map_in_threads, slices

SAMPLE = 64
"""One edge in 64 is tested first, to measure the cost of an edge; of fewer than 128 edges two are."""

FEWEST_EDGES = 8
"""Fewer edges are not shared."""

SECONDS_PER_CHUNK = 0.002
"""A chunk should take at least this long: starting it on another thread costs a tenth of that."""

SECONDS_TO_START = 0.0003
"""What a chunk costs whatever is in it, about."""

MOST_EDGES = 2048
"""Pools are made for a chunk at once: larger ones take long enough to keep a deadline waiting, and a lot of memory."""

QUESTIONS_PER_EDGE = 32
"""A test that wants more than this many questions for each of `MOST_EDGES` gets larger chunks."""


class TestedEdges(NamedTuple):
    """What came of testing edges."""

    is_open: Flags  # (m,) the edge had candidates
    best: Best


def work_in_chunks(
    test_edges: Callable[[Indices, Indices], TestedEdges], x: Indices, y: Indices, inquiry: Inquiry
) -> TestedEdges:
    """What `test_edges(x, y)` gives, worked out in `inquiry.threads` threads, a chunk of the edges at a time.

    This thread works too, and ticks meanwhile. What a tick, a signal or a chunk raises ends the others' work as well,
    after the batch of tests they are at. With several threads some edges are tested first, and the others shared out by
    what these took: work for a few milliseconds stays in this thread.
    """

    def test_chunk(chunk: slice | Counts) -> TestedEdges:
        tested = test_edges(np.ascontiguousarray(x[chunk]), np.ascontiguousarray(y[chunk]))
        inquiry.advance(len(tested.is_open))
        return tested

    with inquiry.counting_edges(len(x)):
        if inquiry.threads == 1 or len(x) < FEWEST_EDGES:
            chunks = slices(len(x), _most_edges(inquiry)) if len(x) else [slice(0, 0)]
            return joined([test_chunk(chunk) for chunk in chunks], chunks, len(x))
        one_of = min(SAMPLE, len(x) // 2)
        began = time.perf_counter()
        sample = [slice(0, None, one_of)]
        tested = [test_chunk(sample[0])]
        seconds = max(time.perf_counter() - began - SECONDS_TO_START, 0.0) * (one_of - 1)
        edges = np.flatnonzero(np.arange(len(x)) % one_of)
        rest = _shared_out(edges, seconds, inquiry.threads, _most_edges(inquiry))
        tested += map_in_threads(
            test_chunk, rest, inquiry.threads, meanwhile=inquiry.tick_again, on_error=inquiry.abandon
        )
    return joined(tested, [*sample, *rest], len(x))


def _most_edges(inquiry: Inquiry) -> int:
    """The edges of a chunk follow from the questions the test likes at a time; at r = 0 an edge is one question."""
    return max(MOST_EDGES, inquiry.batch // (QUESTIONS_PER_EDGE if inquiry.r else 1))


def _shared_out(edges: Counts, seconds: float, threads: int, most: int) -> list[Counts]:
    """Edges that will take so long, in as many chunks as threads can share: edges from everywhere in each.

    A few edges may have most of the candidates, and neighbours in the list are alike.
    """
    n_shares = max(1, min(threads, int(seconds / SECONDS_PER_CHUNK)))
    rounds = -(-len(edges) // (n_shares * most))
    n_chunks = n_shares * rounds
    return [edges[k::n_chunks] for k in range(n_chunks)]


def joined(tested: Sequence[TestedEdges], chunks: Sequence[slice | Counts], n_edges: int) -> TestedEdges:
    r = tested[0].best.z.shape[1]
    whole = TestedEdges(np.empty(n_edges, np.bool_), Best(np.empty((n_edges, r), np.int32), np.empty(n_edges)))
    for chunk, (is_open, best) in zip(chunks, tested, strict=True):
        whole.is_open[chunk], whole.best.z[chunk], whole.best.p[chunk] = is_open, best.z, best.p
    return whole
