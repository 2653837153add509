"""How much a trace of squared correlations varies when rows are permuted, and p-values that allow for it.

The squared correlations of two blocks of columns (R², for a single response) have a mean that is the same for columns
of any shape, but their variance depends on the shape: where both blocks have a few far values (heavy tails, zeros with
few exceptions, rare levels), one coincidence of two far values decides, and χ² or F reject more often than they say.
Box and Watson (1962) give the exact variance under permutations of the rows. It is 1 + a · b times the variance
for normal columns; a and b are the excesses of the two blocks, a number each. Here a beta distribution with
that mean and variance gives a second p-value, and the larger one counts: columns far from normal never make a test find
more.

Where conditions are given, the excess is that of the columns themselves.
"""

from __future__ import annotations

import numpy as np

from anypag.arrays import Counts, Floats

NEARLY_NORMAL = 0.01  # no correction if the variance exceeds that for normal columns by at most this share
LEAST_SHARE = 1e-3  # a correction leaves at least this share of the degrees of freedom


def excess_of_levels(counts: Floats) -> float:
    """The excess of columns of zeros and ones, from the rows of each level; large where levels are rare.

    >>> round(excess_of_levels(np.array([50.0, 50.0])), 3), round(excess_of_levels(np.array([99.0, 1.0])), 3)
    (0.0, 6.999)
    """
    counts = counts[counts > 0]
    n, d = float(counts.sum()), len(counts) - 1.0
    if n <= 3 or not 0 < d < n - 1:
        return 0.0
    squares = (1.0 / counts).sum() - 2.0 * len(counts) / n + 1.0 / n
    above = n * (n + 1) * squares - (n - 1) * d * (d + 2)
    return max(float(np.sqrt((n - 1) / (2 * n * (n - 3))) * above / (d * (n - 1 - d))), 0.0)


def excess_of_numbers(kurtosis: Floats, n: int | Counts) -> Floats:
    """(p,) the excess of single columns of n rows, from their kurtosis (3 for normal ones).

    >>> excess_of_numbers(np.array([1.0, 3.0, 97.0]), 100).round(3).tolist()
    [0.0, 0.004, 6.925]
    """
    rows = np.maximum(np.asarray(n, np.float64), 4.0)
    above = ((rows + 1) * kurtosis - 3 * (rows - 1)) / (rows - 2)
    return np.where(np.asarray(n) > 3, np.sqrt((rows - 1) / (2 * rows * (rows - 3))) * np.maximum(above, 0.0), 0.0)


def pvalues_of_traces(traces: Floats, width_x: Counts, width_y: Counts, freedom: Counts, excess: Floats) -> Floats:
    """(b,) the chance that the squared correlations of permuted rows sum up to the trace or more.

    Args:
        traces: (b,) sums of the squared canonical correlations of two blocks given others.
        width_x, width_y: (b,) the columns of each block.
        freedom: (b,) rows - 1 - columns of the condition set.
        excess: (b,) the product of the excesses of the two blocks.

    >>> one, excess = np.array([1]), np.array([0.0, 10.0])
    >>> pvalues_of_traces(np.array([0.1, 0.1]), one, one, np.array([99]), excess).round(4).tolist()
    [0.0013, 0.0309]
    """
    from scipy.special import betainc

    few, many = np.minimum(width_x, width_y), np.maximum(width_x, width_y)
    m = np.maximum(freedom, many + 1.0)
    mean = many / m
    normal = 2.0 * (width_x * (m - width_x)) * (width_y * (m - width_y)) / (m * m * (m + 2) * np.maximum(m - 1, 1.0))
    variance = normal * (1.0 + np.maximum(excess, 0.0))
    most = few * m / 2
    total = np.clip(few * few * mean * (1 - mean) / variance - 1.0, LEAST_SHARE * most, most)
    share = np.clip(traces / few, 0.0, 1.0)
    below = betainc(mean * total, (1 - mean) * total, share)
    above = np.where(below < 0.5, 1.0 - below, betainc((1 - mean) * total, mean * total, 1.0 - share))
    return np.where(freedom > many, above, 1.0)
