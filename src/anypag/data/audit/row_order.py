"""Are rows like the rows before them? The correlation of neighbours in a column, and a quick look that spares it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

_ROUNDING = 4 * np.finfo(np.float64).eps
"""What one rounded product adds to a sum at the most, as a share of the product, with room to spare."""


def large_autocorrelations(columns: Values, limit: float) -> Values:
    """(p,) the correlation of neighbours in each row of (p, n) where it is above the limit, either way, else 0.

    >>> large_autocorrelations(np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 3.0, -2.0, 0.0]]), 0.5).tolist()
    [-0.75, 0.0]
    """
    large = np.zeros(len(columns))
    perhaps = np.flatnonzero(may_exceed(columns, limit))
    if len(perhaps):
        found = autocorrelations(columns[perhaps])
        large[perhaps] = np.where(np.abs(found) > limit, found, 0.0)
    return large


def autocorrelations(columns: Values) -> Values:
    """(p,) the correlation of neighbours in each row of (p, n); 0 where it is constant.

    >>> autocorrelations(np.array([[1.0, -1.0, 1.0, -1.0], [2.0, 2.0, 2.0, 2.0]])).tolist()
    [-0.75, 0.0]
    """
    largest = np.maximum(columns.max(axis=1), -columns.min(axis=1))
    scale = np.ldexp(1.0, np.minimum(-np.frexp(largest)[1], 1000))  # squares of large values would overflow
    centred = columns * scale[:, None]
    for _ in range(2):  # the second time takes off what the rounding of the mean left behind
        centred -= centred.mean(axis=1)[:, None]
    variance = np.einsum("ij,ij->i", centred, centred)
    after: Values = np.einsum("ij,ij->i", centred[:, 1:], centred[:, :-1]) / np.where(variance > 0, variance, 1.0)
    return after


def may_exceed(columns: Values, limit: float) -> npt.NDArray[np.bool_]:
    """(p,) may the correlation of neighbours be above the limit, either way, in each row of (p, n)?

    Three sums, none of which writes the values anew, say so of nearly all columns, in a third of the time. What
    rounding may have done to them counts against the column: where it is far from 0 that is much, and a closer look is
    needed.

    >>> may_exceed(np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 3.0, -2.0, 0.0]]), 0.5).tolist()
    [True, False]
    """
    n = columns.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = columns.mean(axis=1)
        squares = np.einsum("ij,ij->i", columns, columns)
        products = np.einsum("ij,ij->i", columns[:, 1:], columns[:, :-1])
        ends = columns[:, 0] + columns[:, -1]
        together = products - mean * ((n + 1) * mean - ends)
        rounding = n * (_ROUNDING * squares + np.finfo(np.float64).tiny)  # also of what is too small to be a number
        is_below: npt.NDArray[np.bool_] = np.abs(together) + rounding <= limit * (squares - n * mean**2 - rounding)
    return np.logical_not(is_below)
