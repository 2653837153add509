"""Batches of questions: are all indices within the table, and what are they in another numbering?"""

import numpy as np
from numba import njit

from anypag._kernels.patience import patient


@patient()
@njit(cache=True, nogil=True)
def all_in_range(x, y, z, p):
    """True if 0 <= index < p for every index in x (b,), y (b,) and z (b, r)."""
    inside = True
    for i in range(len(x)):
        inside &= 0 <= x[i] < p
        inside &= 0 <= y[i] < p
        for j in range(z.shape[1]):
            inside &= 0 <= z[i, j] < p
    return inside


@patient()
@njit(cache=True, nogil=True)
def renumbered(order, x, y, z):
    """The indices `order[k]` in place of k, for x (b,), y (b,) and z (b, r); all must be within `order`."""
    new_x, new_y, new_z = np.empty(len(x), np.int32), np.empty(len(x), np.int32), np.empty(z.shape, np.int32)
    for i in range(len(x)):
        new_x[i], new_y[i] = order[x[i]], order[y[i]]
        for j in range(z.shape[1]):
            new_z[i, j] = order[z[i, j]]
    return new_x, new_y, new_z
