"""Symmetric (n, n) tables about pairs of nodes, neighbour lists, and separating sets.

Separating sets (`anypag.search.sepsets`) are bits for the empty set and lists per node for others.
"""

import numpy as np

from anypag._kernels.patience import FEW, njit, patient


@patient(nogil=True)
def keep_largest(p, place, values):
    """p[place[k]] = the larger of itself and values[k]; NaN counts as less than any number."""
    for k in range(len(place)):
        if not values[k] <= p[place[k]] and not np.isnan(values[k]):
            p[place[k]] = values[k]


@patient(nogil=True)
def set_both(table, x, y, values):
    """Write a value for each pair x, y."""
    for k in range(len(x)):
        table[x[k], y[k]] = table[y[k], x[k]] = values[k]


@njit(cache=True, nogil=True)
def all_pairs(n):
    """The pairs i < j, row by row."""
    x, y = np.empty(n * (n - 1) // 2, np.int32), np.empty(n * (n - 1) // 2, np.int32)
    count = 0
    for i in range(n):
        for j in range(i + 1, n):
            x[count], y[count] = i, j
            count += 1
    return x, y


@patient(nogil=True)
def marked_pairs(marks, excluded):
    """The pairs i < j that are marked and not excluded, row by row."""
    count = 0
    for i in range(len(marks)):
        for j in range(i + 1, len(marks)):
            count += marks[i, j] != 0 and not excluded[i, j]
    x, y = np.empty(count, np.int32), np.empty(count, np.int32)
    count = 0
    for i in range(len(marks)):
        for j in range(i + 1, len(marks)):
            if marks[i, j] != 0 and not excluded[i, j]:
                x[count], y[count] = i, j
                count += 1
    return x, y


@patient(nogil=True)
def count_marked(marks, x, y):
    """How many of the pairs x, y are marked."""
    count = 0
    for k in range(len(x)):
        count += marks[x[k], y[k]] != 0
    return count


@patient(nogil=True)
def neighbours(marks):
    """The marked places, row by row: where each row starts, the rows and the columns."""
    n = len(marks)
    start = np.zeros(n + 1, np.int64)
    for i in range(n):
        count = 0
        for j in range(n):
            count += marks[i, j] != 0
        start[i + 1] = start[i] + count
    node, neighbour = np.empty(start[n], np.int32), np.empty(start[n], np.int32)
    count = 0
    for i in range(n):
        for j in range(n):
            if marks[i, j] != 0:
                node[count], neighbour[count] = i, j
                count += 1
    return start, node, neighbour


@patient(nogil=True)
def neighbours_of_pairs(n, x, y):
    """Neighbour lists (start, node, neighbour) of pairs x < y that are given row by row."""
    start = np.zeros(n + 1, np.int64)
    for k in range(len(x)):
        start[x[k] + 1] += 1
        start[y[k] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    node, neighbour = np.empty(start[n], np.int32), np.empty(start[n], np.int32)
    upcoming = start[:-1].copy()
    for k in range(len(x)):  # the lists ascend: neighbours below i come first, while x < i
        i, j = x[k], y[k]
        node[upcoming[i]], neighbour[upcoming[i]] = i, j
        node[upcoming[j]], neighbour[upcoming[j]] = j, i
        upcoming[i] += 1
        upcoming[j] += 1
    return start, node, neighbour


@patient(nogil=True)
def neighbours_left(marks, start, neighbour, n_left):
    """The neighbour lists (`start`, `neighbour`) without pairs that are no longer marked; `n_left` entries stay."""
    n = len(start) - 1
    new_start = np.zeros(n + 1, np.int64)
    new_node, new_neighbour = np.empty(n_left, np.int32), np.empty(n_left, np.int32)
    count = 0
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            if marks[i, neighbour[e]] != 0:
                new_node[count], new_neighbour[count] = i, neighbour[e]
                count += 1
        new_start[i + 1] = count
    return new_start, new_node, new_neighbour


@patient(nogil=True)
def fill(table, start, neighbour, begin, end, value):
    """Write a value for each place in the lists of neighbours of nodes begin to end."""
    for i in range(begin, end):
        for e in range(start[i], start[i + 1]):
            table[i, neighbour[e]] = value


@patient(nogil=True)
def count_left(start, neighbour, is_out, begin, end, count):
    """Counts the neighbours of nodes begin to end that were not taken out."""
    for i in range(begin, end):
        left = 0
        for e in range(start[i], start[i + 1]):
            j = neighbour[e]
            left += not is_out[i, j >> 3] & (1 << (j & 7))
        count[i] = left


@patient(nogil=True)
def write_left(marks, start, neighbour, is_out, begin, end, new_start, new_node, new_neighbour, left):
    """Writes lists and marks of the remaining neighbours of nodes begin to end. `left` is zeros on entry."""
    for i in range(begin, end):
        place = new_start[i]
        for e in range(start[i], start[i + 1]):
            j = neighbour[e]
            if not is_out[i, j >> 3] & (1 << (j & 7)):
                new_node[place], new_neighbour[place] = i, j
                left[i, j] = marks[i, j]
                place += 1


@patient(nogil=True)
def count_kinds(marks, start, neighbour):
    """(4, 4) symmetric: how many edges have these two marks; edges with two equal marks count twice."""
    count = np.zeros((4, 4), np.int64)
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            j = neighbour[e]
            if i < j:
                a, b = marks[j, i], marks[i, j]
                count[a, b] += 1
                count[b, a] += 1
    return count


@patient(nogil=True)
def largest_beside(table, first, end):
    """The largest |value| of rows first to end, as float32, without the diagonal."""
    largest = np.float32(0.0)
    for i in range(first, end):
        for j in range(table.shape[1]):
            if j != i:
                largest = max(largest, np.float32(abs(table[i, j])))
    return largest


@patient(nogil=True)
def rounded_sums(table, first, end, scale, sums):
    """Writes sums of rows first to end, without the diagonal: of the |values| as float32, times `scale`, rounded."""
    for i in range(first, end):
        total = 0.0
        for j in range(i):
            total += np.rint(np.float64(np.float32(abs(table[i, j]))) * scale)
        for j in range(i + 1, table.shape[1]):
            total += np.rint(np.float64(np.float32(abs(table[i, j]))) * scale)
        sums[i] = total


UNKNOWN = -1
NONE = 0


@patient(nogil=True)
def slot_of(empty, start, other, row, a, b):
    """The slot of a pair's separating set: a row of `members`, 0 for the empty set, -1 if no set is known.
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


@patient(nogil=True)
def slots_of(empty, start, other, row, x, y):
    """The slots of many pairs."""
    slots = np.empty(len(x), np.int32)
    for k in range(len(x)):
        slots[k] = slot_of(empty, start, other, row, x[k], y[k])
    return slots


@patient(nogil=True)
def set_bits(bits, x, y, values):
    """Write the bits of each pair x, y and y, x."""
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


@patient(nogil=True)
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
    """A copy of the table with twice the rows."""
    longer = np.empty(2 * len(keys), np.int64)
    for k in range(len(keys)):
        longer[k] = keys[k]
    return longer


@njit(cache=True, nogil=True)
def _key(n, a, b, slot):
    return ((np.int64(min(a, b)) * n + max(a, b)) << 32) | slot


@patient(lists=FEW)
def check_keys(marks, start, neighbour, slots, lowest):
    """A key for every check that orientation needs: (smaller end · n + larger end), then 32 bits for the slot.

    For each a–b–c without an edge a–c, a–b and b–c are checked given the separating set of a and c, if its slot is
    `lowest` or above. Keys are unordered and may repeat.
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


@patient(nogil=True)
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
