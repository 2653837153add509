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
def note_separations(p, found_at, x, y, values, r):
    """Write the p-value and the iteration of each pair x, y that was separated."""
    for k in range(len(x)):
        i, j = x[k], y[k]
        p[i, j] = p[j, i] = values[k]
        found_at[i, j] = found_at[j, i] = r


@njit(cache=True, nogil=True)
def set_both(table, x, y, values):
    """Write a value for each pair x, y."""
    for k in range(len(x)):
        table[x[k], y[k]] = table[y[k], x[k]] = values[k]


@njit(cache=True, nogil=True)
def set_both_places(table, place, x, y, values):
    """Write a value for each pair place[x], place[y]."""
    for k in range(len(x)):
        i, j = place[x[k]], place[y[k]]
        table[i, j] = table[j, i] = values[k]


@njit(cache=True, nogil=True)
def clear_both(table, x, y):
    """Write 0 for each pair x, y."""
    for k in range(len(x)):
        table[x[k], y[k]] = table[y[k], x[k]] = 0


@njit(cache=True, nogil=True)
def add_rounded(sums, x, y, values, scale):
    """Add the value of each pair x, y, times `scale` and rounded, to the sums of both."""
    total = 0.0  # of a run of pairs with the same x, as they mostly come
    for k in range(len(x)):
        if k > 0 and x[k] != x[k - 1]:
            sums[x[k - 1]] += total
            total = 0.0
        value = np.rint(values[k] * scale)
        total += value
        sums[y[k]] += value
    if len(x):
        sums[x[len(x) - 1]] += total


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


@njit(cache=True, nogil=True)
def count_marked(marks, x, y):
    """How many of the pairs x, y are marked."""
    count = 0
    for k in range(len(x)):
        count += marks[x[k], y[k]] != 0
    return count


@njit(cache=True, nogil=True)
def count_marked_of(marks, x, y, chosen):
    """How many of the chosen pairs x, y are marked."""
    count = 0
    for k in range(len(x)):
        count += chosen[k] and marks[x[k], y[k]] != 0
    return count


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


@njit(cache=True, nogil=True)
def neighbours_left(marks, start, neighbour, n_left):
    """The same for some places (`start`, `neighbour`), of which `n_left` are still marked."""
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
