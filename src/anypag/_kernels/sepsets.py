"""Separating sets (`anypag.search.sepsets`): bits for the empty set, lists per node for others.

And which tests the check before R0 asks for.
"""

import numpy as np
from numba import njit

from anypag._kernels.patience import FEW, patient

UNKNOWN = -1
NONE = 0


@patient()
@njit(cache=True, nogil=True)
def slot_of(empty, start, other, row, a, b):
    """The slot of a pair of nodes: a row of members, 0 for the empty set, -1 where no set is known.

    `other[start[a]:start[a + 1]]` are the nodes b > a, ascending, with a set that has members, in `row`.
    """
    low, high = min(a, b), max(a, b)
    left, right = start[low], start[low + 1]
    while left < right:
        middle = (left + right) >> 1
        if other[middle] < high:
            left = middle + 1
        else:
            right = middle
    if left < start[low + 1] and other[left] == high:
        return np.int64(row[left])
    is_empty = (empty[low, high >> 3] >> (high & 7)) & 1
    return np.int64(0 if is_empty else UNKNOWN)


@patient()
@njit(cache=True, nogil=True)
def slots_of(empty, start, other, row, x, y):
    """The slots of many pairs."""
    slots = np.empty(len(x), np.int32)
    for k in range(len(x)):
        slots[k] = slot_of(empty, start, other, row, x[k], y[k])
    return slots


@patient()
@njit(cache=True, nogil=True)
def set_bits(bits, x, y, values):
    """Write a bit for each pair, from both sides."""
    for k in range(len(x)):
        _set_bit(bits, x[k], y[k], values[k])
        _set_bit(bits, y[k], x[k], values[k])


@njit(cache=True, nogil=True)
def _set_bit(bits, i, j, value):
    bit = np.uint8(1 << (j & 7))
    if value:
        bits[i, j >> 3] |= bit
    else:
        bits[i, j >> 3] &= ~bit


@patient()
@njit(cache=True, nogil=True)
def clear_bits(bits, start, neighbour):
    """Clear the bits of all neighbours, of each node with itself, and beyond the last node."""
    n = len(bits)
    for i in range(n):
        for j in range(n, 8 * bits.shape[1]):
            _set_bit(bits, i, j, False)
        _set_bit(bits, i, i, False)
        for e in range(start[i], start[i + 1]):
            _set_bit(bits, i, neighbour[e], False)


@njit(cache=True, nogil=True)
def _longer(keys):
    """A copy of the table with twice the room."""
    longer = np.empty(2 * len(keys), np.int64)
    for k in range(len(keys)):
        longer[k] = keys[k]
    return longer


@njit(cache=True, nogil=True)
def _key(n, a, b, slot):
    return ((np.int64(min(a, b)) * n + max(a, b)) << 32) | slot


@patient(lists=FEW)
@njit(cache=True)
def check_keys(marks, start, neighbour, slots, lowest):
    """The checks of all a–b–c with no edge between a and c, and a separating set of these in slot `lowest` or above.

    A check is of an edge, a–b or b–c, and the set in that slot: the numbers of the edge's ends, smaller · n + larger,
    then 32 bits for the slot. Not in order, and some may come twice.
    """
    empty, first, other, row = slots
    n = len(marks)
    keys = np.empty(1024, np.int64)
    count = 0
    for b in range(n):
        for e in range(start[b], start[b + 1]):
            for f in range(e + 1, start[b + 1]):
                a, c = neighbour[e], neighbour[f]
                if marks[a, c] == NONE:
                    slot = slot_of(empty, first, other, row, a, c)
                    if slot >= lowest:
                        if count + 2 > len(keys):
                            keys = _longer(keys)
                        keys[count], keys[count + 1] = _key(n, a, b, slot), _key(n, b, c, slot)
                        count += 2
    return keys[:count]


@patient()
@njit(cache=True, nogil=True)
def sets_without(members, slots, x, y):
    """The sets in some slots without x and y, padded with -1 at the end, and how many members each has."""
    z = np.empty((len(slots), members.shape[1]), np.int32)
    size = np.empty(len(slots), np.int64)
    for k in range(len(slots)):
        count = 0
        for j in range(members.shape[1]):
            member = members[slots[k], j]
            if member >= 0 and member != x[k] and member != y[k]:
                z[k, count] = member
                count += 1
        size[k] = count
        for j in range(count, members.shape[1]):
            z[k, j] = -1
    return z, size
