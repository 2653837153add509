"""What is known of pairs of nodes, in (n, n) tables that read the same from both sides."""

import numpy as np
from numba import njit

from anypag._kernels.patience import patient


@patient()
@njit(cache=True, nogil=True)
def keep_largest(p, place, values):
    """p at each place: the largest of what stands there and the values; NaN is less than any number."""
    for k in range(len(place)):
        if not values[k] <= p[place[k]] and not np.isnan(values[k]):
            p[place[k]] = values[k]


@patient()
@njit(cache=True, nogil=True)
def set_both(table, x, y, values):
    """Write a value for each pair x, y."""
    for k in range(len(x)):
        table[x[k], y[k]] = table[y[k], x[k]] = values[k]


@patient()
@njit(cache=True, nogil=True)
def clear_both(table, x, y):
    """Write 0 for each pair x, y."""
    for k in range(len(x)):
        table[x[k], y[k]] = table[y[k], x[k]] = 0


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


@patient()
@njit(cache=True, nogil=True)
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


@patient()
@njit(cache=True, nogil=True)
def count_marked(marks, x, y):
    """How many of the pairs x, y are marked."""
    count = 0
    for k in range(len(x)):
        count += marks[x[k], y[k]] != 0
    return count


@patient()
@njit(cache=True, nogil=True)
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


@patient()
@njit(cache=True, nogil=True)
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
    for k in range(len(x)):  # the lists ascend: those before i come while x is less than i
        i, j = x[k], y[k]
        node[upcoming[i]], neighbour[upcoming[i]] = i, j
        node[upcoming[j]], neighbour[upcoming[j]] = j, i
        upcoming[i] += 1
        upcoming[j] += 1
    return start, node, neighbour


@patient()
@njit(cache=True, nogil=True)
def neighbours_left(marks, start, neighbour, n_left):
    """Neighbour lists of those places of (`start`, `neighbour`) that are still marked; there are `n_left`."""
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


@patient()
@njit(cache=True, nogil=True)
def fill(table, start, neighbour, begin, end, value):
    """Write a value for each place in the lists of neighbours of nodes begin to end."""
    for i in range(begin, end):
        for e in range(start[i], start[i + 1]):
            table[i, neighbour[e]] = value


@patient()
@njit(cache=True, nogil=True)
def take_out(x, y, is_out):
    """Set the bits (n, n / 8) of the pairs x, y, from both sides."""
    for k in range(len(x)):
        is_out[x[k], y[k] >> 3] |= 1 << (y[k] & 7)
        is_out[y[k], x[k] >> 3] |= 1 << (x[k] & 7)


@patient()
@njit(cache=True, nogil=True)
def count_left(start, neighbour, is_out, begin, end, count):
    """How many neighbours the nodes begin to end have left without those taken out."""
    for i in range(begin, end):
        left = 0
        for e in range(start[i], start[i + 1]):
            j = neighbour[e]
            left += not is_out[i, j >> 3] & (1 << (j & 7))
        count[i] = left


@patient()
@njit(cache=True, nogil=True)
def write_left(marks, start, neighbour, is_out, begin, end, new_start, new_node, new_neighbour, left):
    """The lists and the marks of the neighbours that nodes begin to end have left.

    `left` is zeros on entry: who asks for zeros gets memory that costs nothing until it is written to.
    """
    for i in range(begin, end):
        place = new_start[i]
        for e in range(start[i], start[i + 1]):
            j = neighbour[e]
            if not is_out[i, j >> 3] & (1 << (j & 7)):
                new_node[place], new_neighbour[place] = i, j
                left[i, j] = marks[i, j]
                place += 1


@patient()
@njit(cache=True, nogil=True)
def count_kinds(marks, start, neighbour):
    """(4, 4) how many edges have these two marks, both ways round; a kind of twice the same mark counts double."""
    count = np.zeros((4, 4), np.int64)
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            j = neighbour[e]
            if i < j:
                a, b = marks[j, i], marks[i, j]
                count[a, b] += 1
                count[b, a] += 1
    return count


@patient()
@njit(cache=True, nogil=True)
def largest_beside(table, first, end):
    """The largest |value| of rows first to end, as float32, the diagonal aside."""
    largest = np.float32(0.0)
    for i in range(first, end):
        for j in range(table.shape[1]):
            if j != i:
                largest = max(largest, np.float32(abs(table[i, j])))
    return largest


@patient()
@njit(cache=True, nogil=True)
def rounded_sums(table, first, end, scale, sums):
    """`sums[i]` for rows first to end: the |values| as float32, times `scale` and rounded, the diagonal aside."""
    for i in range(first, end):
        total = 0.0
        for j in range(i):
            total += np.rint(np.float64(np.float32(abs(table[i, j]))) * scale)
        for j in range(i + 1, table.shape[1]):
            total += np.rint(np.float64(np.float32(abs(table[i, j]))) * scale)
        sums[i] = total


@patient()
@njit(cache=True, nogil=True)
def work_of_singles(start, xs, ys):
    """How many neighbours the ends of each edge have together: what testing it given single nodes costs."""
    work = np.empty(len(xs), np.int64)
    for k in range(len(xs)):
        work[k] = start[xs[k] + 1] - start[xs[k]] + start[ys[k] + 1] - start[ys[k]]
    return work
