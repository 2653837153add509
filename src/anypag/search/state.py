"""What a search carries from one step to the next, and what it reports on the way.

States are values: a step takes one and makes another, and whoever holds the old one still holds a correct graph.

Inside a search nodes are numbered in an order that the data decide (after the first step: by how strongly each depends
on all others), so that whatever ties remain are broken the same way however the columns came. `columns[i]` is the
test's index of the state's node i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag.graphs.base import Marks
from anypag.graphs.orientation import Rows
from anypag.graphs.pag import PAG
from anypag.graphs.skeleton import Skeleton
from anypag.search.sepsets import Sepsets

Sepset = Literal["first", "largest-p"]


@dataclass(frozen=True)
class Params:
    """The choices of a search.

    Args:
        alpha: two variables count as independent if the p-value is above this.
        max_r: the largest condition set; None for no limit but the number of variables.
        max_sets: use marks to narrow an edge's pools (condition 2) only where it would otherwise have more candidate
            sets than this in one iteration; 0 always does.
        sepset: which separating set counts: the first one found, or the one with the largest p-value.
        selection_bias: False leaves the rules for selection bias (R5–R7) out.
    """

    alpha: float = 0.01
    max_r: int | None = None
    max_sets: int = 1000
    sepset: Sepset = "largest-p"
    selection_bias: bool = True


class Progress(NamedTuple):
    """Where a step stands, for whoever watches."""

    r: int
    phase: str
    done: int
    total: int
    n_evaluated: int


Tick = Callable[[Progress], None]
"""Called before every batch of tests; raises to abandon the step."""


def no_tick(progress: Progress) -> None:
    """Watch nothing."""


@dataclass(frozen=True, eq=False)
class State:
    """A graph that is correct as it stands, and what the next step needs."""

    names: tuple[str, ...]
    """The variables in the order of the test."""
    columns: npt.NDArray[np.int32]
    """(n,) the test's index of each node of the arrays below."""
    r: int
    """The size of the largest condition sets tried; one less than the first before any."""
    marks: Marks
    known: Marks
    """Marks given beforehand: circles where nothing is; never changed."""
    sepsets: Sepsets
    strength: npt.NDArray[np.float32]
    """(n, n) how strongly two nodes depend on each other marginally; zeros until measured."""
    settled: npt.NDArray[np.bool_]
    """(n, n) edges that no later iteration tests again (exact tests only)."""
    r0: int = 0
    """The size of the first condition sets."""
    phase: str = "iteration"
    """What the next step does, for algorithms that have more than one kind of step."""
    frozen: Marks | None = None
    """The marks that FCI's Possible-D-Sep is read from."""
    done: bool = False
    log: Rows = field(default_factory=lambda: np.empty((0, 6), np.int32))
    """How each mark was set (`anypag.graphs.orientation`)."""
    conflicts: Rows = field(default_factory=lambda: np.empty((0, 6), np.int32))
    checked: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """The checks before R0 that have been made (sorted keys of edge and separating set)."""
    outline: Skeleton | None = field(default=None, repr=False, compare=False)
    """The edges of an earlier state, which this one's are among: the shorter way to `skeleton`."""
    checked_paths: frozenset[tuple[int, ...]] = frozenset()
    """The discriminating paths whose check before R4 has been made."""

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.names)

    @cached_property
    def skeleton(self) -> Skeleton:
        """The edges as lists per node."""
        return Skeleton.of(self.marks) if self.outline is None else self.outline.narrowed(self.marks)

    @cached_property
    def blocks(self) -> npt.NDArray[np.int64]:
        """The biconnected block of every edge in `skeleton`."""
        from anypag._kernels.pools import blocks

        block, _ = blocks(self.skeleton.start, self.skeleton.neighbour)
        return np.asarray(block, np.int64)

    @property
    def pag(self) -> PAG:
        """The graph, its nodes in the order of the test."""
        node, neighbour = self.skeleton.node, self.skeleton.neighbour
        marks = np.zeros_like(self.marks)
        marks[self.columns[node], self.columns[neighbour]] = self.marks[node, neighbour]
        return PAG.trusted(marks, self.names)

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return self.skeleton.n_edges if self._is_listed else int(np.count_nonzero(self.marks)) // 2

    @property
    def _is_listed(self) -> bool:
        """Is the skeleton at hand, or soon made? That of a complete graph, which is all that the first step sees, costs
        more than looking at all pairs.
        """
        return self.outline is not None or "skeleton" in self.__dict__

    def edges(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The two ends of every edge, the smaller index first."""
        return self.skeleton.edges()

    def unsettled_edges(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The two ends of every edge that is not settled, the smaller index first."""
        if not self._is_listed:
            x, y = kernel.marked_pairs(self.marks, self.settled)
            return x, y
        x, y = self.edges()
        is_unsettled = ~self.settled[x, y]
        return x[is_unsettled], y[is_unsettled]

    def without(self, x: npt.NDArray[np.int32], y: npt.NDArray[np.int32]) -> Self:
        """The state without some edges."""
        if not len(x):
            return self
        marks = np.array(self.marks)
        kernel.clear_both(marks, x, y)
        fewer = replace(self, marks=marks)
        return replace(fewer, outline=fewer.skeleton)

    def settling(self, x: npt.NDArray[np.int32], y: npt.NDArray[np.int32]) -> Self:
        """The state with some edges settled for good."""
        settled = np.array(self.settled)
        settled[x, y] = settled[y, x] = True
        return replace(self, settled=settled)

    def reordered(self, order: npt.NDArray[np.intp]) -> Self:
        """The same state with its nodes in another order; only before the first step, when no more is known of them
        than was given.
        """
        known = _permuted(self.known, order)
        return replace(self, columns=self.columns[order], marks=known, known=known)


def _permuted(table: npt.NDArray[Any], order: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    return table.take(order, axis=0).take(order, axis=1)


@dataclass(frozen=True)
class StepInfo:
    """What one step did, for people to look at."""

    r: int
    phase: str
    n_edges: int
    """Edges left."""
    removed: int
    """Edges this step removed, by candidate sets and by checks together."""
    removed_by_checks: int
    n_open: int
    """Edges left that had condition sets of this size, and may have larger ones: what a next iteration could test."""
    tests: dict[int, int]
    """Distinct tests asked for, per size of the condition set."""
    n_evaluated: int
    """Tests evaluated, those evaluated ahead of need included."""
    n_conflicts: int

    @property
    def n_tests(self) -> int:
        """All tests asked for in this step."""
        return sum(self.tests.values())
