"""Which of several statistics, known up to rounding errors, may have the largest p-value.

A search that takes the best of an edge's condition sets needs only the largest of hundreds of p-values. Sums of k · log
k over the cells of tables give G² in a fraction of the time that the logarithm of every cell takes, but not to the last
bit. So they only preselect: every set that may be the best is computed again, exactly.

A statistic s that is wrong by at most ε, with f degrees of freedom, has a log p that is wrong by at most ε times the
hazard rate of χ². For f > 1 that rate is at most 1/2, for f = 1 it falls with s and is below 0.77 from s = 1 on. So
with ε ≤ 1e-5 p-values below 0.3 are known to a relative 1e-5; and all to 0.003, since P(χ² ≤ ε) < sqrt(2ε / π).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.ci.base import Queries
from anypag.ci.data_test import pvalues_of_statistic

LEAST_SETS = 6
"""Preselecting pays from this many questions a pair on average."""
LEAST_CELLS = 100_000
"""Preselecting pays from this many cells in all tables together: it takes 0.2 to 0.3 milliseconds itself."""
MOST_ROUNDING = 1e-5
_SMALL = 0.3
"""Smaller p-values are compared by their ratio, larger ones by their difference."""
_LEAST = 1e-300
"""Below this, p-values may underflow, and any of them may be the largest."""
_NONE_LEFT = 4000.0
"""A statistic larger than this plus twice its degrees of freedom has p = 0: by Chernoff's bound log p < -1400."""


def rounding(cells: int, n: int) -> float:
    """A bound on the rounding error of a sum over a table, given its cells and rows.

    Cells, rows, columns and strata come in four sums of at most n · log n each, and each of at most 4 · cells additions
    rounds a partial sum of these by one part in 2⁵³; the errors of the terms themselves double this. Empty cells add no
    error, and at most n cells have rows.
    """
    return 2.0**-52 * (4 * min(cells, n) + 16) * 4 * n * math.log(n + 1.0)


def rounding_of_squares(cells: int, n: int) -> float:
    """A bound on the rounding error of χ² summed over `cells` in any order, unless it is so large that p = 0.

    A sum of positive terms is off by at most one part in 2⁵² of it for each addition; degrees of freedom are fewer than
    cells. The expected counts of empty cells may have been subtracted from n instead of summed.
    """
    return 2.0**-52 * (cells + 16) * (2 * cells + _NONE_LEFT + n)


def runs_of_pairs(queries: Queries) -> npt.NDArray[np.int64]:
    """(b,) the number of the run of questions about one pair, from 0 on.

    >>> runs_of_pairs(Queries([0, 0, 1, 0], [2, 2, 2, 2], [[3], [4], [3], [3]])).tolist()
    [0, 0, 1, 2]
    """
    is_new = (np.diff(queries.x) != 0) | (np.diff(queries.y) != 0)
    return np.append(0, np.cumsum(is_new, dtype=np.int64))[: len(queries)]


def may_be_largest(statistics: Floats, freedoms: Counts, run_of: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """(b,) whether a statistic may have the largest p-value of its run, ties included; False where p is certainly 0.

    Args:
        statistics: off by at most `MOST_ROUNDING`; freedoms: exact; run_of: ascending from 0 on.
    """
    p = pvalues_of_statistic(np.maximum(statistics, 0.0), freedoms)
    begins = np.flatnonzero(np.append(True, np.diff(run_of) > 0))
    largest = np.maximum.reduceat(p, begins)[run_of]
    least = np.where(largest > _SMALL, largest - 0.01, largest * (1 - 1e-4))
    is_near = (p >= least) | (largest < _LEAST)
    found: npt.NDArray[np.bool_] = is_near & (statistics <= 2 * freedoms + _NONE_LEFT)
    return found
