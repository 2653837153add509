"""Passes over one correlation matrix: most questions are decided by |rho| alone, without a p-value."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from anypag.arrays import Floats, Indices
from anypag.ci.base import Queries
from anypag.ci.passes import BestSets, NearEdges, PooledEdges, Singles

ROUNDING = 1e-9
"""Two |rho| that are further apart than this have p-values that differ the other way, whatever rounding does."""


class Dense:
    """Passes over the correlation matrix of a table of n rows.

    Args:
        correlation: (p, p), symmetric to the bit.
        n: the number of rows.
        place: (p,) the place of each column in the order of the names: members of a set are taken in this order.
    """

    at_once = 8_000_000
    """A few milliseconds of work."""

    def __init__(self, correlation: Floats, n: int, place: Indices) -> None:
        self.correlation, self.n, self.place = correlation, n, place

    def dependent_pairs(self, order: Indices, alpha: float, rows: slice) -> tuple[Indices, Indices, Floats]:
        """See `Passes`."""
        from anypag._kernels.gaussian import fisher_z_pvalues, pairs_from

        x, y, p = pairs_from(self.correlation, order, rows.start, rows.stop, least_strength(self.n - 3, alpha))
        fisher_z_pvalues(p, np.zeros(len(p), np.int32), roots_of(self.n, 0), p)
        kept = p <= alpha
        return (x, y, p) if kept.all() else (x[kept], y[kept], p[kept])

    def best_singles(self, order: Indices, edges: NearEdges, max_sets: int) -> Singles:
        """See `Passes`."""
        from anypag._kernels.gaussian import best_singles
        from anypag.data.audit.relations import NOTHING_LEFT

        m, root = len(edges.x), float(roots_of(self.n, 1)[0])
        is_open, is_large = np.empty(m, np.bool_), np.empty(m, np.bool_)
        z, p = np.empty((m, 1), np.int32), np.full(m, np.nan)
        margin = ROUNDING if root > 0 else 2.0
        matrix, found = (self.correlation, order), (is_open, is_large, z, p)
        n_tests = best_singles(*matrix, *edges, max_sets, NOTHING_LEFT, root, margin, *found)
        return Singles(is_open, is_large, z, p, int(n_tests))

    def strengths(self, queries: Queries) -> tuple[Floats, Indices]:
        """|rho| of every question, and how many members of its condition set were left out.

        Members are taken in the order in which they are given.
        """
        from anypag._kernels.gaussian import partial_correlations
        from anypag.data.audit.relations import NOTHING_LEFT

        strengths, left_out = np.empty(len(queries)), np.zeros(len(queries), np.int32)
        x, y, z = queries.x, queries.y, queries.z
        partial_correlations(self.correlation, x, y, z, NOTHING_LEFT, strengths, left_out)
        return strengths, left_out

    def try_sets(self, order: Indices, edges: PooledEdges, best: BestSets, room: int) -> int:
        """See `Passes`."""
        from anypag._kernels.best_sets import best_sets
        from anypag.data.audit.relations import NOTHING_LEFT

        roots = roots_of(self.n, best.z.shape[1])
        margin = ROUNDING if roots[0] > 0 else 2.0  # with too few rows all p-values are 1
        matrix = self.correlation, order, self.place[order]
        return int(best_sets(*matrix, *edges, NOTHING_LEFT, roots, margin, room, *best))


def least_strength(freedom: int, alpha: float) -> float:
    """A little less than the |rho| at which p is alpha: below it p is above alpha, whatever rounding does."""
    from scipy.special import erfcinv

    if freedom <= 0:
        return 0.0
    at_alpha = float(np.tanh(erfcinv(alpha) * np.sqrt(2.0 / freedom)))
    return at_alpha * (1.0 - ROUNDING) - 1e-13


@lru_cache(64)
def roots_of(n: int, r: int) -> Floats:
    """sqrt((n - k - 3) / 8) for k = r, r - 1, ..., 0 members kept; 0 where that is not positive."""
    roots: Floats = np.sqrt(np.maximum(n - np.arange(r, -1, -1) - 3, 0) / 8.0)
    roots.setflags(write=False)  # all callers share it
    return roots
