"""Batches of questions: checks of their indices, and their indices in another numbering or order."""

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


@patient()
@njit(cache=True, nogil=True)
def arranged(place, stored, x, y, z):
    """The questions with x before y and the members of z in ascending order, both by `place`.

    Indices that come in are indices of the table; indices that are returned say where the columns are stored.

    Args:
        place: (p,) int32, the place of each column in the order of the names.
        stored: (p,) int32, where the column at each place is stored.
        x: (b,) int32; y: (b,) int32; z: (b, r) int32.

    Returns:
        Whether all indices are within the table, then x, y and z. If an index is not, x, y and z mean nothing.
    """
    r, last = z.shape[1], np.uint32(len(place) - 1)
    x, y, z = x.view(np.uint32), y.view(np.uint32), z.view(np.uint32)  # a negative index is a large one
    new_x, new_y, new_z = np.empty(len(x), np.int32), np.empty(len(x), np.int32), np.empty(z.shape, np.int32)
    members = np.empty(r, np.uint32)
    inside = True
    for i in range(len(x)):
        inside &= max(x[i], y[i]) <= last
        first, second = np.uint32(place[min(x[i], last)]), np.uint32(place[min(y[i], last)])
        new_x[i], new_y[i] = stored[min(first, second)], stored[max(first, second)]
        for j in range(r):
            inside &= z[i, j] <= last
            member = np.uint32(place[min(z[i, j], last)])
            for k in range(j):  # swaps without a branch, which would be guessed wrong half of the time
                members[k], member = min(members[k], member), max(members[k], member)
            members[j] = member
        for j in range(r):
            new_z[i, j] = stored[members[j]]
    return inside, new_x, new_y, new_z
