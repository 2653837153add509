"""What a test may be able to do for a whole graph at once: all pairs, all sets of one node, the best of many sets.

The answers are those of the test, to the bit. A search that finds such passes (`test.dense`) need not put these
questions one by one.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats, Indices


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


class PooledEdges(NamedTuple):
    """Edges with their two pools: `first`, `nodes`, `distances` and `others` as `_kernels.pools` gives them."""

    first: Counts
    nodes: Indices
    distances: Indices
    others: Indices
    x: Indices
    y: Indices
    is_open: Flags  # (m,) the sets of its pools are to be tried


class BestSets(NamedTuple):
    """Of each edge the condition set with the largest p-value so far, and how far the search for it has come."""

    cursor: Counts  # (3 + r,) for the passes to remember; the first is the number of edges that are done
    least: Floats  # (m,) the smallest |rho| so far, for the passes to remember
    z: Indices  # (m, r) anything where none came yet, or where p is 0
    p: Floats  # (m,) NaN where none came yet

    @classmethod
    def none(cls, m: int, r: int) -> Self:
        """Before the first set of m edges."""
        return cls(np.zeros(3 + r, np.int64), np.full(m, np.inf), np.empty((m, r), np.int32), np.full(m, np.nan))

    @property
    def n_done(self) -> int:
        """The number of edges that have been gone through."""
        return int(self.cursor[0])


class Passes(Protocol):
    """The passes of a test over all of its correlations."""

    @property
    def correlation(self) -> Floats:
        """(p, p), symmetric to the bit."""

    @property
    def at_once(self) -> int:
        """About how many questions one call should bring."""

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

    def try_sets(self, order: Indices, edges: PooledEdges, best: BestSets, room: int) -> int:
        """Go on to look for the set of r nodes, all of one pool, with the largest p-value of each edge.

        Args:
            order: (n,) the column of each node.
            edges: which, and where.
            best: of the edges so far; written. Its sets are those that candidates would bring up first among equals.
            room: how many sets to try, at the most.

        Returns:
            How many sets were tried.
        """
