"""A compact memory of questions asked: a set of 128-bit keys with open addressing, in two arrays of one table.

The key of a question "x, y given z" mixes its sorted members (splitmix64, two streams). Two different questions among a
thousand million get the same key with a probability below 1e-20.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def _mix(h, value):
    h = (h ^ value) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(cache=True)
def keys_of(x, y, z, keys):
    """keys[i] = the 128-bit key of question i; the order of x and y and of the members of z does not matter."""
    r = z.shape[1]
    members = np.empty(r, np.int64)
    for i in range(len(x)):
        for k in range(r):
            j = k
            while j > 0 and members[j - 1] > z[i, k]:
                members[j] = members[j - 1]
                j -= 1
            members[j] = z[i, k]
        low = _mix(np.uint64(0x9E3779B97F4A7C15), np.uint64(min(x[i], y[i])))
        high = _mix(np.uint64(0xD1B54A32D192ED03), np.uint64(max(x[i], y[i])))
        low = _mix(low, np.uint64(max(x[i], y[i])))
        high = _mix(high, np.uint64(min(x[i], y[i])))
        for k in range(r):
            low = _mix(low, np.uint64(members[k]))
            high = _mix(high, np.uint64(members[k]))
        keys[i, 0] = low | np.uint64(1)  # 0 marks an empty place
        keys[i, 1] = high


@njit(cache=True)
def add(table, n_used, keys, is_fresh):
    """Add keys to the table, (2^k, 2), and flag the new ones; gives the table, grown if need be, and its count."""
    for i in range(len(keys)):
        if 2 * (n_used + 1) > len(table):
            table = _grown(table)
        is_fresh[i] = _insert(table, keys[i, 0], keys[i, 1])
        n_used += is_fresh[i]
    return table, n_used


@njit(cache=True)
def _insert(table, low, high):
    mask = np.uint64(len(table) - 1)
    place = (low ^ (high >> np.uint64(17))) & mask
    while table[place, 0] != 0:
        if table[place, 0] == low and table[place, 1] == high:
            return False
        place = (place + np.uint64(1)) & mask
    table[place, 0] = low
    table[place, 1] = high
    return True


@njit(cache=True)
def _grown(table):
    larger = np.zeros((2 * len(table), 2), np.uint64)
    for i in range(len(table)):
        if table[i, 0] != 0:
            _insert(larger, table[i, 0], table[i, 1])
    return larger
