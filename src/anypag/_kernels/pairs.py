"""Operations on symmetric (n, n) tables of pairs (such as correlations), neighbour lists, and batches of questions.

The neighbours of node i are `neighbour[start[i]:start[i + 1]]`. Ranges such as `begin` to `end` do not include the end.
A question is "x, y given z". A hash table with open addressing holds 128-bit keys of the questions asked so far. A key
mixes the sorted members of a question (splitmix64, two streams). The probability that any two of 10⁹ different
questions get the same key is below 1e-20.
"""

import numpy as np

from anypag._kernels.patience import njit, patient


@patient(nogil=True)
def set_both(table, x, y, values):
    """Writes values[k] to table[x[k], y[k]] and to table[y[k], x[k]], for every k."""
    for k in range(len(x)):
        table[x[k], y[k]] = table[y[k], x[k]] = values[k]


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
def neighbours_of_pairs(n, x, y):
    """Neighbour lists of pairs x < y that are given row by row: `start`, the node of each entry, and its neighbour."""
    start = np.zeros(n + 1, np.int64)
    for k in range(len(x)):
        start[x[k] + 1] += 1
        start[y[k] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    node, neighbour = np.empty(start[n], np.int32), np.empty(start[n], np.int32)
    upcoming = start[:-1].copy()
    for k in range(len(x)):  # lists ascend, because pairs (h, i) with h < i precede pairs (i, j)
        i, j = x[k], y[k]
        node[upcoming[i]], neighbour[upcoming[i]] = i, j
        node[upcoming[j]], neighbour[upcoming[j]] = j, i
        upcoming[i] += 1
        upcoming[j] += 1
    return start, node, neighbour


@patient(nogil=True)
def fill(table, start, neighbour, begin, end, value):
    """Writes the value to table[i, j] for every neighbour j of every node i from begin to end."""
    for i in range(begin, end):
        for e in range(start[i], start[i + 1]):
            table[i, neighbour[e]] = value


@patient(nogil=True)
def count_left(start, neighbour, is_out, begin, end, count):
    """Writes how many neighbours of each node from begin to end are not marked in `is_out` (bit j of row i for i–j)."""
    for i in range(begin, end):
        left = 0
        for e in range(start[i], start[i + 1]):
            j = neighbour[e]
            left += not is_out[i, j >> 3] & (1 << (j & 7))
        count[i] = left


@patient(nogil=True)
def write_left(marks, start, neighbour, is_out, begin, end, new_start, new_node, new_neighbour, left):
    """Lists the neighbours that are not in `is_out`, of nodes `begin` to `end`; writes the marks at them to `left`."""
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
    """(4, 4) the number of edges with each pair of marks, symmetric. Edges with two equal marks count twice."""
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
    """The largest |value| off the diagonal in rows first to end, as float32."""
    largest = np.float32(0.0)
    for i in range(first, end):
        for j in range(table.shape[1]):
            if j != i:
                largest = max(largest, np.float32(abs(table[i, j])))
    return largest


@patient(nogil=True)
def rounded_sums(table, first, end, scale, sums):
    """For each row from first to end, writes the sum of round(`scale` · |value as float32|) off the diagonal."""
    for i in range(first, end):
        total = 0.0
        for j in range(i):
            total += np.rint(np.float64(np.float32(abs(table[i, j]))) * scale)
        for j in range(i + 1, table.shape[1]):
            total += np.rint(np.float64(np.float32(abs(table[i, j]))) * scale)
        sums[i] = total


@patient(nogil=True)
def set_bits(bits, x, y, values):
    """Writes values[k] to the bit of the pair (x[k], y[k]) and to that of (y[k], x[k]), for every k."""
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
    """Clears the bits of all neighbouring pairs, of each node with itself, and the unused bits after the last node."""
    n = len(bits)
    for i in range(n):
        for j in range(n, 8 * bits.shape[1]):
            _set_bit(bits, i, j, False)
        _set_bit(bits, i, i, False)
        for e in range(start[i], start[i + 1]):
            _set_bit(bits, i, neighbour[e], False)


@patient(nogil=True)
def correlations(products, scale, place, first, end):
    """Turns the rows `first` to `end` of `products` (exactly symmetric) into correlations, in place. The column at
    `place[j]` moves to j. `scale` (p,) holds the square roots of the diagonal of `products`, 1 for a constant column.
    """
    row = np.empty(len(place))
    for a in range(first, end):
        for j in range(len(place)):
            b = place[j]
            row[j] = 1.0 if b == a else min(max(products[a, b] / (scale[a] * scale[b]), -1.0), 1.0)
        for j in range(len(place)):
            products[a, j] = row[j]


@patient(nogil=True)
def has_beyond(correlation, first, end, least):
    """For each row i from first to end: is any |value| to the right of the diagonal at least `least`?"""
    found = np.zeros(end - first, np.bool_)
    for i in range(first, end):
        is_there = False
        for j in range(i + 1, correlation.shape[1]):
            is_there |= abs(correlation[i, j]) >= least
        found[i - first] = is_there
    return found


@patient(nogil=True)
def reorder_rows(table, place, begin, end):
    """Moves row place[i] to row i, for columns begin to end. Follows cycles of the permutation; copies only one row."""
    is_done, kept = np.zeros(len(place), np.bool_), np.empty(table.shape[1])
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
def arranged(place, stored, x, y, z):
    """Whether all indices are in range, and new x, y and z (meaningless if not). `place[j]` is the rank
    of the name of column j, and `stored[k]` is where the test stores the column of rank k. In each question, x and y,
    and the members of z, are put in the order of their ranks and replaced by where the test stores them.
    """
    r, last = z.shape[1], np.uint32(len(place) - 1)
    x, y, z = x.view(np.uint32), y.view(np.uint32), z.view(np.uint32)  # unsigned, so that negative indices are large
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
    """Writes the 128-bit key of each question. The order of x and y and of the members of z does not matter."""
    r = z.shape[1]
    members = np.empty(r, np.int64)
    for i in range(len(x)):
        for k in range(r):
            j = k
            while j > 0 and members[j - 1] > z[i, k]:
                members[j] = members[j - 1]
                j -= 1
            members[j] = z[i, k]
        first, second = np.uint64(min(x[i], y[i])), np.uint64(max(x[i], y[i]))
        low = _mix(_mix(np.uint64(0x9E3779B97F4A7C15), first), second)
        high = _mix(_mix(np.uint64(0xD1B54A32D192ED03), second), first)
        for k in range(r):
            low = _mix(low, np.uint64(members[k]))
            high = _mix(high, np.uint64(members[k]))
        keys[i, 0], keys[i, 1] = low | np.uint64(1), high  # 0 marks an empty place


@njit(cache=True)
def add(table, n_used, keys, is_fresh):
    """Adds keys to the (2^k, 2) table and flags new ones. Returns the table, perhaps grown, and its number of keys."""
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
    table[place, 0], table[place, 1] = low, high
    return True


@njit(cache=True)
def _grown(table):
    larger = np.zeros((2 * len(table), 2), np.uint64)
    for i in range(len(table)):
        if table[i, 0] != 0:
            _insert(larger, table[i, 0], table[i, 1])
    return larger
