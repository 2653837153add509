"""Correlations out of sums of products."""

from numba import njit


@njit(cache=True, nogil=True)
def correlations(products, scale, place, first, end, correlation):
    """Rows first to end of `correlation`, whose row i stands at place[i] in the other arrays.

    `products` (p, p) is symmetric to the bit, and so are the correlations. `scale` (p,) holds the roots of its
    diagonal, 1 for a constant.
    """
    for i in range(first, end):
        a = place[i]
        for j in range(len(place)):
            b = place[j]
            correlation[i, j] = min(max(products[a, b] / (scale[a] * scale[b]), -1.0), 1.0)
        correlation[i, i] = 1.0
