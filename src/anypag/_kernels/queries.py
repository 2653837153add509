"""Batches of questions: check, renumber and sort their indices; and a compact set of questions already asked.

The set is a hash table of 128-bit keys with open addressing. The key of a question "x, y given
z" mixes its sorted members (splitmix64, two streams). Two different questions among a thousand million get the same key
with a probability below 1e-20.
"""

import numpy as np

from anypag._kernels.patience import njit, patient


@patient(nogil=True)
def all_in_range(x, y, z, p):
    """True if 0 <= index < p for every index in x (b,), y (b,) and z (b, r)."""
    inside = True
    for i in range(len(x)):
        inside &= 0 <= x[i] < p
        inside &= 0 <= y[i] < p
        for j in range(z.shape[1]):
            inside &= 0 <= z[i, j] < p
    return inside


@patient(nogil=True)
def renumbered(order, x, y, z):
    """The indices `order[k]` in place of k, for x (b,), y (b,) and z (b, r); all must be within `order`."""
    new_x, new_y, new_z = np.empty(len(x), np.int32), np.empty(len(x), np.int32), np.empty(z.shape, np.int32)
    for i in range(len(x)):
        new_x[i], new_y[i] = order[x[i]], order[y[i]]
        for j in range(z.shape[1]):
            new_z[i, j] = order[z[i, j]]
    return new_x, new_y, new_z


@patient(nogil=True)
def arranged(place, stored, x, y, z):
    """Whether all indices are within the table, then the questions with x before y and the members of z ascending.

    Both are ordered by `place` (p,), the place of each column in the order of the names. Indices that are returned say
    where columns are stored (`stored` (p,), by place); they mean nothing if an index is outside the table.
    """
    r, last = z.shape[1], np.uint32(len(place) - 1)
    x, y, z = x.view(np.uint32), y.view(np.uint32), z.view(np.uint32)  # as unsigned, a negative index is a large one
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
            for k in range(j):  # swaps without a branch, which would be mispredicted half of the time
                members[k], member = min(members[k], member), max(members[k], member)
            members[j] = member
        for j in range(r):
            new_z[i, j] = stored[members[j]]
    return inside, new_x, new_y, new_z


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
    """Add keys to the (2^k, 2) table and flag the new ones. Returns the table, grown if necessary, and its count."""
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
