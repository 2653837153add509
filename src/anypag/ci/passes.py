"""Passes: answers for a whole graph at once (all pairs, all condition sets of size 1, the best of many sets).

A pass gives the same answers as the test, to the bit. A search uses the passes of a test (`test.passes`), if it has
any, instead of single questions. The condition sets of an edge are taken from two pools, one for each end. A pool of
radius 1 has the neighbours of this end that are in the edge's biconnected block, without the other end. |rho| is the
absolute partial correlation.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.ci.base import Queries
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.moments import fisher_freedom

if TYPE_CHECKING:
    from anypag.ci.gaussian import FisherZ

ROUNDING = 1e-9  # if two |rho| differ by more than this, rounding cannot change the order of their p-values


class NearEdges(NamedTuple):
    """A graph (`start`, `neighbour` and `block` as in `_kernels.pools`), and the ends `x`, `y` of m of its edges."""

    start: Counts
    neighbour: Indices
    block: Counts
    x: Indices
    y: Indices
    edge_block: Counts  # the biconnected block of each of the m edges


class Singles(NamedTuple):
    """The results of testing edges given each single node of their pools."""

    is_open: Flags  # (m,) do both pools have a node?
    is_large: Flags  # (m,) was the edge left untested because it has too many candidates?
    z: Indices  # (m, 1) the node with the largest p-value; arbitrary if the edge was not tested
    p: Floats  # (m,) the p-value given that node; NaN if the edge was not tested
    n_tests: int


class PooledEdges(NamedTuple):
    """Edges with their two pools: `first`, `nodes`, `distances` and `others` as `_kernels.pools` gives them."""

    first: Counts
    nodes: Indices
    distances: Indices
    others: Indices
    x: Indices
    y: Indices
    is_open: Flags  # (m,) should sets from the edge's pools be tried?


class BestSets(NamedTuple):
    """For each edge the condition set with the largest p-value so far, and where the search continues."""

    cursor: Counts  # (3 + r,) where the pass continues; the first entry is the number of edges that are done
    least: Floats  # (m,) the smallest |rho| so far
    z: Indices  # (m, r) the set; arbitrary if no set was tried yet, or p is 0
    p: Floats  # (m,) its p-value; NaN if no set was tried yet

    @classmethod
    def none(cls, m: int, r: int) -> Self:
        """The start of a search over m edges: no set was tried yet."""
        return cls(np.zeros(3 + r, np.int64), np.full(m, np.inf), np.empty((m, r), np.int32), np.full(m, np.nan))

    @property
    def n_done(self) -> int:
        """The number of edges whose sets have all been tried."""
        return int(self.cursor[0])


class Passes(Protocol):
    """The passes of a test of correlations."""

    @property
    def correlation(self) -> Floats:
        """(p, p) the correlation matrix, symmetric to the bit."""

    @property
    def at_once(self) -> int:
        """About how many questions one call should answer."""

    def dependent_pairs(self, order: Indices, alpha: float, rows: slice) -> tuple[Indices, Indices, Floats]:
        """The pairs of nodes i < j with p ≤ alpha given the empty set, row by row, and their p-values. i is in `rows`;
        node i is column `order[i]`.
        """

    def best_singles(self, order: Indices, edges: NearEdges, max_sets: int) -> Singles:
        """For each edge the node of its pools of radius 1 that gives the largest p, as a condition set of size 1. Not
        tested are edges with more than `max_sets` nodes in these pools (-1: no limit), and edges with an empty pool.
        """

    def try_sets(self, order: Indices, edges: PooledEdges, best: BestSets, room: int) -> int:
        """Tries at most `room` more sets, updates `best` and returns how many were tried. The best set of an edge has r
        nodes of one of its pools and the largest p-value; of candidates with equal p-values the first is the best.
        """


class CorrelationPasses:
    """Passes over the correlation matrix of n rows; members of a set are processed in the order of `place`."""

    at_once = 8_000_000  # questions a call; a few milliseconds of work

    def __init__(self, correlation: Floats, n: int, place: Indices) -> None:
        self.correlation, self.n, self.place = correlation, n, place

    def dependent_pairs(self, order: Indices, alpha: float, rows: slice) -> tuple[Indices, Indices, Floats]:
        from anypag._kernels.candidates import pairs_from
        from anypag._kernels.gaussian import fisher_z_pvalues

        x, y, p = pairs_from(self.correlation, order, rows.start, rows.stop, least_strength(self.n, alpha))
        fisher_z_pvalues(p, np.zeros(len(p), np.int32), roots_of(self.n, 0), p)
        kept = p <= alpha
        return (x, y, p) if kept.all() else (x[kept], y[kept], p[kept])

    def best_singles(self, order: Indices, edges: NearEdges, max_sets: int) -> Singles:
        from anypag._kernels.candidates import best_singles

        m, root = len(edges.x), float(roots_of(self.n, 1)[0])
        found = np.empty(m, np.bool_), np.empty(m, np.bool_), np.empty((m, 1), np.int32), np.full(m, np.nan)
        margin = ROUNDING if root > 0 else 2.0
        n_tests = best_singles(self.correlation, order, edges, max_sets, NOTHING_LEFT, root, margin, found)
        return Singles(*found, int(n_tests))

    def try_sets(self, order: Indices, edges: PooledEdges, best: BestSets, room: int) -> int:
        from anypag._kernels.candidates import best_sets

        roots = roots_of(self.n, best.z.shape[1])
        margin = ROUNDING if roots[0] > 0 else 2.0  # with too few rows all p-values are 1
        rule = NOTHING_LEFT, roots, margin
        return int(best_sets(self.correlation, order, self.place[order], edges, rule, room, best))


class RaisedPasses:
    """Passes of a test that raises the p-values of pairs far from normal. The best sets of such pairs are tested again.

    For one pair, the raised p still falls as |rho| rises, so the best of several sets stays the best. Only sets whose
    |rho| differ in just the last bits, because their members are copies of each other, may change places.
    """

    def __init__(self, passes: Passes, test: FisherZ) -> None:
        self._passes, self._test = passes, test
        self.correlation, self.at_once = passes.correlation, passes.at_once

    def _raise(self, p: Floats, order: Indices, x: Indices, y: Indices, z: Indices) -> None:
        some = np.flatnonzero(p > 0.0)  # False for NaN, where no set was tried
        again = some[self._test.is_far(order[x[some]], order[y[some]])]
        if len(again):
            p[again] = self._test.pvalues(Queries(order[x[again]], order[y[again]], order[z[again]]))

    def dependent_pairs(self, order: Indices, alpha: float, rows: slice) -> tuple[Indices, Indices, Floats]:
        x, y, p = self._passes.dependent_pairs(order, alpha, rows)
        self._raise(p, order, x, y, np.empty((len(x), 0), np.int32))
        kept = p <= alpha
        return x[kept], y[kept], p[kept]

    def best_singles(self, order: Indices, edges: NearEdges, max_sets: int) -> Singles:
        found = self._passes.best_singles(order, edges, max_sets)
        self._raise(found.p, order, edges.x, edges.y, found.z)
        return found

    def try_sets(self, order: Indices, edges: PooledEdges, best: BestSets, room: int) -> int:
        """See `Passes`. An edge's p-value is raised when all sets of the edge have been tried."""
        before = best.n_done
        count = self._passes.try_sets(order, edges, best, room)
        done = slice(before, best.n_done)
        self._raise(best.p[done], order, edges.x[done], edges.y[done], best.z[done])
        return count


def strength_at(alpha: float, freedom: int | Counts) -> Any:
    """The |rho| at which p is alpha; the degrees of freedom must be above 0."""
    return np.tanh(-NormalDist().inv_cdf(alpha / 2.0) / np.sqrt(freedom))


def least_strength(n: int, alpha: float) -> float:
    """A bound slightly below the |rho| at which p given the empty set is alpha: below the bound, p > alpha."""
    freedom = fisher_freedom(n, 0)
    return 0.0 if freedom <= 0 else float(strength_at(alpha, freedom)) * (1.0 - ROUNDING) - 1e-13


@lru_cache(64)
def roots_of(n: int, r: int) -> Floats:
    """sqrt(degrees of freedom / 8) for condition sets of r, r - 1, ..., 0 members; 0 if there are too few rows."""
    roots: Floats = np.sqrt(np.maximum(fisher_freedom(n, np.arange(r, -1, -1)), 0) / 8.0)
    roots.setflags(write=False)  # because all callers share the cached array
    return roots
