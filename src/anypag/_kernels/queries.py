"""Are all indices of a batch of questions within the table?"""

from numba import njit


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
