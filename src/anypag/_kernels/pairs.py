"""What is known of pairs of nodes, in (n, n) tables that read the same from both sides."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def keep_largest(p, x, y, values):
    """p of each pair x, y: the largest of what stands there and the values; NaN is less than any number."""
    for k in range(len(x)):
        if not values[k] <= p[x[k], y[k]] and not np.isnan(values[k]):
            p[x[k], y[k]] = p[y[k], x[k]] = values[k]


@njit(cache=True, nogil=True)
def separate(slot, p, found_at, x, y, new_slot, values, r):
    """Write the set, the p-value and the iteration of each pair x, y that was separated."""
    for k in range(len(x)):
        i, j = x[k], y[k]
        slot[i, j] = slot[j, i] = new_slot[k]
        p[i, j] = p[j, i] = values[k]
        found_at[i, j] = found_at[j, i] = r
