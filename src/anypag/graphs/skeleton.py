"""The edges of a graph as lists per node, without their marks; rules and searches follow paths in these lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag.arrays import Counts, Indices
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.threads import map_in_threads, runs_of

BYTES_PER_EDGE = 64  # writing this many bytes of new memory costs as much as processing a neighbour
LEAST_EDGES, MOST_EDGES = 100_000, 100_000_000
"""The least and the greatest size of a part of the work that a thread takes, in neighbours. The least takes 1 ms."""
MarkedEdges = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], Marks, Marks]
"""`start` and `neighbour` of a skeleton, and for each entry the marks at the node and at the neighbour."""


class Skeleton(NamedTuple):
    """Lists of neighbours: those of node v are `neighbour[start[v]:start[v + 1]]`, in ascending order."""

    start: Counts  # (n + 1,)
    node: Indices  # (2m,) for each entry of `neighbour`, the node whose list the entry belongs to
    neighbour: Indices  # (2m,)

    @classmethod
    def of(cls, marks: Marks) -> Self:
        n = len(marks)
        place = np.flatnonzero(marks != Mark.NONE.value)
        node = (place // n).astype(np.int32)
        return cls(np.searchsorted(node, np.arange(n + 1)), node, (place - node * np.int64(n)).astype(np.int32))

    def with_marks(self, marks: Marks) -> MarkedEdges:
        """The edges, each with its marks from a matrix of marks."""
        node, neighbour = self.node, self.neighbour
        return self.start, neighbour, marks[neighbour, node], marks[node, neighbour]

    def narrowed(self, marks: Marks) -> Self:
        """The edges that are still in a matrix of marks. This is faster than a scan of all pairs."""
        is_left = marks[self.node, self.neighbour] != Mark.NONE.value
        if is_left.all():
            return self
        node = self.node[is_left]
        return type(self)(np.searchsorted(node, np.arange(len(marks) + 1)), node, self.neighbour[is_left])

    def without(self, marks: Marks, x: Indices, y: Indices, threads: int = 1) -> tuple[Self, Marks]:
        """The skeleton without the edges x[k]–y[k], and a new matrix with the marks of the edges that are left."""
        n = len(marks)
        is_out, left = np.zeros((n, -(-n // 8)), np.uint8), np.zeros(marks.shape, np.uint8)
        kernel.set_bits(is_out, x, y, np.ones(len(x), np.bool_))
        before = (self.start, self.neighbour, is_out)
        start = np.zeros(n + 1, np.int64)
        self._for_all(lambda run: kernel.count_left(*before, run.start, run.stop, start[1:]), threads)
        np.cumsum(start, out=start)
        fewer = type(self)(start, np.empty(start[n], np.int32), np.empty(start[n], np.int32))
        self._for_all(lambda run: kernel.write_left(marks, *before, run.start, run.stop, *fewer, left), threads)
        return fewer, left

    def circles(self, threads: int = 1) -> Marks:
        """A matrix with a circle at both ends of every edge."""
        n = len(self.start) - 1
        marks = np.zeros((n, n), np.uint8)
        edges, circle = (self.start, self.neighbour), int(Mark.CIRCLE)  # numba is slow to recognise a Mark
        self._for_all(lambda run: kernel.fill(marks, *edges, run.start, run.stop, circle), threads)
        return marks

    def _for_all(self, work: Callable[[slice], None], threads: int) -> None:
        n = len(self.start) - 1
        costs = self.start[1:] - self.start[:-1] + n // BYTES_PER_EDGE
        map_in_threads(work, runs_of(costs, threads, LEAST_EDGES, MOST_EDGES), threads)

    @property
    def n_edges(self) -> int:
        return len(self.neighbour) // 2

    def edges(self) -> tuple[Indices, Indices]:
        is_forward = self.node < self.neighbour
        return self.node[is_forward], self.neighbour[is_forward]
