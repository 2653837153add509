"""Correlations out of sums of products, in the same room."""

import numpy as np
from numba import njit

from anypag._kernels.patience import patient


@patient()
@njit(cache=True, nogil=True)
def correlations(products, scale, place, first, end):
    """Rows first to end of products become correlations, their columns in another order: column j was place[j].

    `products` (p, p) is symmetric to the bit. `scale` (p,) holds the roots of its diagonal, 1 for a constant.
    """
    row = np.empty(len(place))
    for a in range(first, end):
        for j in range(len(place)):
            b = place[j]
            row[j] = 1.0 if b == a else min(max(products[a, b] / (scale[a] * scale[b]), -1.0), 1.0)
        for j in range(len(place)):
            products[a, j] = row[j]


@patient()
@njit(cache=True, nogil=True)
def has_beyond(correlation, first, end, least):
    """Does row i, for rows first to end, have a value of at least `least`, either way, beyond the diagonal?"""
    found = np.zeros(end - first, np.bool_)
    for i in range(first, end):
        is_there = False
        for j in range(i + 1, correlation.shape[1]):
            is_there |= abs(correlation[i, j]) >= least
        found[i - first] = is_there
    return found


@patient()
@njit(cache=True, nogil=True)
def reorder_rows(table, place, begin, end):
    """Puts row place[i] where row i is, for all rows, columns begin to end, along the cycles of the permutation."""
    is_done = np.zeros(len(place), np.bool_)
    kept = np.empty(table.shape[1])
    for first in range(len(place)):
        if is_done[first] or place[first] == first:
            continue
        for j in range(begin, end):
            kept[j] = table[first, j]
        i = first
        while place[i] != first:
            for j in range(begin, end):
                table[i, j] = table[place[i], j]
            is_done[i] = True
            i = place[i]
        for j in range(begin, end):
            table[i, j] = kept[j]
        is_done[i] = True
