"""What a test may be able to do for a whole graph at once: all pairs, all sets of one node, the best of many sets.

The answers are those of the test, to the bit. A search that finds such passes (`test.dense`) need not put these
questions one by one.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.ci.base import Queries


class NearEdges(NamedTuple):
    """Edges of a graph, and what is near them: `start`, `neighbour` and `block` as in `_kernels.pools`."""

    start: Counts
    neighbour: Indices
    block: Counts
    x: Indices
    y: Indices
    edge_block: Counts


class Singles(NamedTuple):
    """What came of testing edges given each one node of their pools."""

    is_open: Flags  # (m,) both pools have a node
    is_large: Flags  # (m,) the edge has too many candidates, and was not tested
    z: Indices  # (m, 1) the node with the largest p-value; anything where there was none
    p: Floats  # (m,) its p-value, NaN where there was none
    n_tests: int


class BestSets(NamedTuple):
    """Of each edge the condition set with the largest p-value so far."""

    z: Indices  # (m, r) anything where none came yet
    p: Floats  # (m,) NaN where none came yet
    least: Floats  # (m,) the smallest |rho| so far, for the passes to remember

    @classmethod
    def none(cls, m: int, r: int) -> Self:
        """Before the first set of m edges."""
        return cls(np.empty((m, r), np.int32), np.full(m, np.nan), np.full(m, np.inf))


class Passes(Protocol):
    """The passes of a test over all of its correlations."""

    @property
    def correlation(self) -> Floats:
        """(p, p), symmetric to the bit."""

    @property
    def at_once(self) -> int:
        """How many questions to put at once, about."""

    def dependent_pairs(self, order: Indices, alpha: float, rows: slice) -> tuple[Indices, Indices, Floats]:
        """The pairs of nodes i < j, i in `rows`, that are dependent given nothing, row by row, with their p-values.

        Args:
            order: (n,) the column of each node.
            alpha: pairs with a p-value above this are independent.
            rows: which nodes i.
        """

    def best_singles(self, order: Indices, edges: NearEdges, max_sets: int) -> Singles:
        """Test edges given each one node of their pools of radius 1; of each the node with the largest p-value.

        Args:
            order: (n,) the column of each node.
            edges: which, and where.
            max_sets: an edge with more such nodes is not tested; -1 for no limit.
        """

    def keep_best(self, queries: Queries, edge_of: Counts, z: Indices, best: BestSets) -> None:
        """Answer questions, and keep of each edge the set with the largest p-value, the first of equals.

        Args:
            queries: b questions, in the numbering of the test.
            edge_of: (b,) the edge that each is about.
            z: (b, r) their condition sets in the numbering of the search.
            best: of the edges so far; written.
        """
