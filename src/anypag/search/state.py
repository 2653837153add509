"""The state that a search hands from one step to the next.

A step makes a new state and leaves the old state unchanged. Nodes are numbered as the problem numbers them
(`anypag.search.problem`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag._kernels import pools
from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.graphs.base import Marks
from anypag.graphs.orientation import Orientation
from anypag.graphs.pag import PAG
from anypag.graphs.skeleton import Skeleton
from anypag.search.evidence import Evidence, PairBatch
from anypag.search.problem import Nodes, Problem
from anypag.search.sepsets import Sepsets
from anypag.stored import BY_SIZE, KEYS, PATHS, SQUARE, Array, Flag, Nested, Text, Whole, marks_matrix, stored

Keys = npt.NDArray[np.uint64]
"""(2^k, 2) a table of 128-bit keys of questions (`_kernels.pairs`), at least half of it empty (zeros)."""

AnyState = TypeVar("AnyState", bound="State")


class PairTests(NamedTuple):
    """Pairs of nodes, the condition set of each test (padded with -1), and its p-value."""

    x: Indices
    y: Indices
    z: Indices
    p: Floats

    def take(self, rows: Flags | npt.NDArray[np.intp]) -> PairTests:
        return PairTests(self.x[rows], self.y[rows], self.z[rows], self.p[rows])


class GraphBlocks(NamedTuple):
    """The biconnected blocks of a graph."""

    of_edge: Counts  # (2m,) the block of every edge in `State.skeleton`
    n_nodes: Counts  # how many nodes each block has


Anteriors = tuple[npt.NDArray[np.int32], npt.NDArray[np.uint64]]
"""Two arrays. (n,) the group of each node: two nodes are in one group if each may be an ancestor of the other. (groups,
words) for each group, as bits, the groups whose nodes may be ancestors of its nodes or of selection."""


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """A graph, and the data for the next step. `anypag.catalogue.Promises` says which parts of the graph are right."""

    nodes: Nodes
    r: int = stored(Whole(-1))  # the size of the condition sets of the last step; r0 - 1 before the first step
    marks: Marks = stored(marks_matrix())
    sepsets: Sepsets = stored(Nested(Sepsets))
    settled: Flags = stored(Array("bool", SQUARE))
    """(n, n) True for edges not tested again: an exact test has no sets left for them, or knowledge requires them."""
    evidence: Evidence = stored(Nested(Evidence))  # p-values, how marks were set, conflicts; for explanations
    phase: str = stored(Text(), default="iteration")
    """The kind of the next step, for algorithms that have several kinds."""
    done: bool = stored(Flag(), default=False)
    adjacency_marks: Marks | None = stored(marks_matrix(), default=None)
    """FCI: the marks after the adjacency phase and R0, for Possible-D-Sep. For FCI+ see `LinksState`."""
    checked: Counts = stored(Array("int64", (None,)), default_factory=lambda: np.empty(0, np.int64))
    """The checks made before R0: a key for each checked edge and the separating set it was checked for, sorted."""
    checked_paths: frozenset[tuple[int, ...]] = stored(PATHS, default=frozenset())
    """The discriminating paths that were checked before R4 used them."""
    seen_sizes: Indices | None = stored(Array("int32", SQUARE, -1), default=None)
    """(n, n) `[a, b]`: all sets of up to this size from a's pool have been tested for the edge a–b. None if the method
    always tests the pools of both ends."""
    asked: Keys | None = stored(KEYS, default=None)
    """The questions counted so far; None if a run counts repeated questions too, or if no question was asked."""
    earlier_edges: Skeleton | None = field(default=None, repr=False, compare=False)
    """The edges of an earlier state, which include all edges of this one: `skeleton` is computed faster from them."""

    def fits(self, problem: Problem) -> bool:
        """Can a search of this problem continue from this state? Checks a state that was read from a file."""
        return len(problem.nodes) == self.n

    def __repr__(self) -> str:
        """One line that says how far the search is."""
        end = "done" if self.done else f"next: {self.phase}"
        return f"<{type(self).__name__}: r = {self.r}, {self.n:,} variables, {self.n_edges:,} edges, {end}>"

    def _repr_svg_(self) -> str | None:
        return self.pag._repr_svg_()

    @property
    def n(self) -> int:
        return len(self.nodes)

    @cached_property
    def skeleton(self) -> Skeleton:
        """The edges as lists per node."""
        return Skeleton.of(self.marks) if self.earlier_edges is None else self.earlier_edges.narrowed(self.marks)

    @cached_property
    def blocks(self) -> GraphBlocks:
        block, n_blocks = pools.blocks(self.skeleton.start, self.skeleton.neighbour)
        return GraphBlocks(block, pools.block_sizes(self.skeleton.start, block, n_blocks))

    @cached_property
    def anteriors(self) -> Anteriors:
        """The possible anteriors of every node (see `Anteriors`)."""
        group, bits = pools.anteriors(self.marks, self.skeleton.start, self.skeleton.neighbour)
        return group, bits

    @property
    def pag(self) -> PAG:
        """The graph, with its nodes in the order of the test."""
        return self.nodes.pag(self.marks, self.skeleton)

    @property
    def n_edges(self) -> int:
        return self.skeleton.n_edges if self._is_listed else int(np.count_nonzero(self.marks)) // 2

    @property
    def _is_listed(self) -> bool:
        """Is the skeleton computed, or quick to compute? (It takes long to list the edges of a complete graph.)"""
        return self.earlier_edges is not None or "skeleton" in self.__dict__

    def edges(self) -> tuple[Indices, Indices]:
        """The two ends of every edge, the smaller index first."""
        return self.skeleton.edges()

    def unsettled_edges(self) -> tuple[Indices, Indices]:
        """The two ends of every edge that is not settled, the smaller index first."""
        if not self._is_listed:
            x, y = kernel.marked_pairs(self.marks, self.settled)
            return x, y
        x, y = self.edges()
        is_unsettled = ~self.settled[x, y]
        return x[is_unsettled], y[is_unsettled]

    def but(self, **changes: object) -> Self:
        """The state with some fields changed. Values computed from the marks are kept unless the marks change."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        if "marks" in changes:
            for computed in ("skeleton", "blocks", "anteriors"):
                new.__dict__.pop(computed, None)
        new.__dict__.update(changes)
        return new

    def keeping(self, x: Indices, y: Indices, p: Floats) -> Self:
        """The state with p-values of tests that kept an edge. If a pair occurs several times, its largest p counts."""
        return self.but(evidence=self.evidence.adding(PairBatch(self.n, x, y, p, None))) if len(x) else self

    def separating(self, found: PairTests, r: int, threads: int = 1) -> Self:
        """The state without the edges between these pairs, which were separated by their sets in iteration r."""
        if not len(found.x):
            return self
        if self._is_listed:
            edges, marks = self.skeleton.without(self.marks, found.x, found.y, threads)
        else:
            marks = np.array(self.marks)
            kernel.set_both(marks, found.x, found.y, np.zeros(len(found.x), np.uint8))
            edges = Skeleton.of(marks)
        sepsets = self.sepsets.adding(found.x, found.y, found.z)
        evidence = self.evidence.adding(PairBatch(self.n, found.x, found.y, found.p, r))
        return self.but(marks=marks, sepsets=sepsets, evidence=evidence, earlier_edges=edges, skeleton=edges)

    def joined_by(self, x: Indices, y: Indices, p: Floats, threads: int = 1) -> Self:
        """The state after the empty set separated all pairs of a complete graph (all o-o) except the pairs x, y. These
        pairs keep their edges; they are ordered row by row, with x < y, and p are their p-values. The p-values of all
        other pairs are not recorded, because the test can compute them again.
        """
        edges = Skeleton(*kernel.neighbours_of_pairs(self.n, x, y))
        sepsets = self.sepsets.emptying(edges.start, edges.neighbour)
        marks = edges.circles(threads)
        return self.but(marks=marks, sepsets=sepsets, earlier_edges=edges, skeleton=edges).keeping(x, y, p)

    def settling(self, x: Indices, y: Indices) -> Self:
        """The state in which no later iteration tests these edges."""
        settled = np.array(self.settled)
        settled[x, y] = settled[y, x] = True
        return self.but(settled=settled)

    def with_orientation(self, found: Orientation) -> Self:
        """The state with these marks, and with the log of how they were set."""
        evidence = self.evidence.oriented(found.log, found.conflicts)
        return self.but(marks=found.marks, evidence=evidence, skeleton=self.skeleton)

    def listed(self) -> Self:
        """The state with its edge lists computed, so that later states can start from them."""
        return self.but(earlier_edges=self.skeleton)


def first_state(problem: Problem) -> State:
    """The state before the first step: the marks that are given, by default every pair joined by o-o. A pair without
    an edge in an initial graph has no separating set, so R0 makes no common neighbour of the pair a collider.
    """
    n = problem.n
    return State(
        nodes=problem.nodes,
        r=problem.choices.r0 - 1,
        marks=problem.given,
        sepsets=Sepsets.none(n),
        settled=np.zeros((n, n), np.bool_) if problem.facts is None else np.array(problem.facts.joined),
        evidence=Evidence(),
        asked=None if problem.marginals is None else problem.marginals.asked,
    )


def of_class(kind: type[AnyState], state: State, **more: object) -> AnyState:
    """The state as an instance of a class with more fields."""
    fields = {name: getattr(state, name) for name in type(state).__dataclass_fields__}
    return kind(**{**fields, **more})


@dataclass(frozen=True)
class StepInfo:
    """A summary of one step, for reports."""

    r: int = stored(Whole())
    phase: str = stored(Text())
    n_edges: int = stored(Whole())  # edges left
    removed: int = stored(Whole())  # edges this step removed, by candidate sets and by checks together
    removed_by_checks: int = stored(Whole())
    n_open: int = stored(Whole())
    """How many of the remaining edges had condition sets of this size. They may have larger sets still to be tested."""
    tests: dict[int, int] = stored(BY_SIZE)  # tests asked for, per size of the condition set
    n_evaluated: int = stored(Whole())  # tests evaluated, including those evaluated before they were needed
    n_conflicts: int = stored(Whole())
    has_r: bool = stored(Flag(), default=True)
    """Does the step test condition sets of one size r? Steps by scores do not, and their `r` means nothing."""

    @property
    def n_tests(self) -> int:
        return sum(self.tests.values())
