"""Scores from counts: BDeu and the multinomial BIC of a node given its parents.

Both are differences of a number that belongs to a set of columns: score(v | parents) = F(parents + v) - F(parents).
- BDeu (Buntine 1991): F is the log marginal likelihood of the joint table with `ess` prior rows spread evenly.
- BIC: F is the sum of c · log c over the cells of the joint table, less a price for every cell there could be.
Numbers of sets are remembered in `keys` and `values`. For the shared signature see `_kernels.gaussian_score`; here
`matrix[i, j]` is the price of an edge between i and j, `table[v]` holds the levels (0, 1, ...) of column v, and
`numbers` which score it is (0 BDeu, 1 BIC), its `ess` or the price of a cell, and then the number of levels of each
column.
"""

import math

import numpy as np
from numba import njit, types

IMPOSSIBLE = -1e15
LEAST_GAIN = 1e-9  # a parent is added only if the score rises by more than this
LEVELS_AT = 2
DENSE = 65536  # tables with more cells than this are counted by sorting

_DATA = (types.float64[:, ::1], types.int32[:, ::1], types.float64[::1], types.uint64[::1], types.float64[::1])
COMPONENT = types.float64(*_DATA, types.int64[::1], types.int64, types.int64, types.uint8[:, ::1])
_INTS, _FLOATS = types.int64[::1], types.float64[::1]
ADDING = types.float64(*_DATA, types.int64, _INTS, types.int64, _INTS, types.int64, _FLOATS, _INTS)
REMOVING = types.float64(*_DATA, types.int64, _INTS, types.int64, _FLOATS, _INTS)


@njit(types.uint64(types.uint64), cache=True, nogil=True)
def _mixed(x):
    """The last step of splitmix64: every bit of x moves every bit of the answer."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(types.float64(types.int64, types.float64[::1], types.float64), cache=True, nogil=True)
def _of_cell(count, numbers, cells):
    if numbers[0] == 0:
        share = numbers[1] / cells
        return math.lgamma(count + share) - math.lgamma(share)
    return count * math.log(count)


@njit(
    types.float64(types.int32[:, ::1], types.float64[::1], types.int64[::1], types.int64, types.int64[::1]),
    cache=True,
    nogil=True,
)
def _counted(table, numbers, nodes, k, room):
    n_rows = table.shape[1]
    room[0] -= n_rows * (k + 3) + 500
    chosen = np.sort(nodes[:k])  # sums come out the same to the bit, however the set is written
    cells = 1.0
    for x in range(k):
        cells *= numbers[LEVELS_AT + chosen[x]]
    if cells > 4e18:
        return IMPOSSIBLE
    code = np.zeros(n_rows, np.int64)
    for x in range(k):
        levels = np.int64(numbers[LEVELS_AT + chosen[x]])
        column = table[chosen[x]]
        for r in range(n_rows):
            code[r] = code[r] * levels + column[r]
    value = 0.0
    if cells <= DENSE:
        counts = np.zeros(np.int64(cells), np.int64)
        for r in range(n_rows):
            counts[code[r]] += 1
        room[0] -= len(counts)
        for c in range(len(counts)):
            if counts[c] > 0:
                value += _of_cell(counts[c], numbers, cells)
    else:
        room[0] -= 80 * n_rows
        code.sort()
        run = 1
        for r in range(1, n_rows + 1):
            if r < n_rows and code[r] == code[r - 1]:
                run += 1
            else:
                value += _of_cell(run, numbers, cells)
                run = 1
    if numbers[0] == 0:
        return value + math.lgamma(numbers[1]) - math.lgamma(n_rows + numbers[1])
    return value - numbers[1] * cells


@njit(
    types.float64(
        types.int32[:, ::1],
        types.float64[::1],
        types.uint64[::1],
        types.float64[::1],
        types.int64[::1],
        types.int64,
        types.int64[::1],
    ),
    cache=True,
    nogil=True,
)
def _of_set(table, numbers, keys, values, nodes, k, room):
    """F of the first k nodes, remembered or counted."""
    whole = np.uint64(k)
    for x in range(k):
        whole += _mixed(np.uint64(nodes[x] + 1) * np.uint64(0x9E3779B97F4A7C15))
    whole = _mixed(whole) | np.uint64(1)
    mask = np.uint64(len(keys) - 1)
    slot = whole & mask
    for _ in range(32):
        if keys[slot] == whole:
            return values[slot]
        if keys[slot] == 0:
            break
        slot = (slot + np.uint64(1)) & mask
    value = _counted(table, numbers, nodes, k, room)
    if keys[slot] == 0:
        keys[slot] = whole
        values[slot] = value
    return value


@njit(
    types.float64(
        types.int32[:, ::1], types.float64[::1], types.uint64[::1], types.float64[::1], types.int64[::1], types.int64
    ),
    cache=True,
    nogil=True,
)
def of_set(table, numbers, keys, values, nodes, k):
    """F of the first k nodes."""
    return _of_set(table, numbers, keys, values, nodes, k, np.zeros(1, np.int64))


@njit(types.float64(types.float64[:, ::1], types.int64, types.int64[::1], types.int64), cache=True, nogil=True)
def _price(matrix, v, parents, k):
    """What the edges from the first k parents to v cost."""
    price = 0.0
    for x in range(k):
        price += matrix[v, parents[x]]
    return price


@njit(COMPONENT, cache=True, nogil=True)
def component(matrix, table, numbers, keys, values, nodes, d, m, relation):
    """The score of a node given its parents; districts of more nodes are not scored."""
    if d > 1:
        return IMPOSSIBLE
    alone = nodes[1:m].copy()
    score = of_set(table, numbers, keys, values, nodes, m) - of_set(table, numbers, keys, values, alone, m - 1)
    return score - _price(matrix, nodes[0], alone, m - 1)


@njit(types.float64(*_DATA, types.int64, _INTS, types.int64, _INTS), cache=True, nogil=True)
def _of_node(matrix, table, numbers, keys, values, v, nodes, k, room):
    """The score of v given the first k nodes; there is a place for v after them."""
    alone = _of_set(table, numbers, keys, values, nodes, k, room)
    nodes[k] = v
    room[0] -= 20 * k + 100
    return _of_set(table, numbers, keys, values, nodes, k + 1, room) - alone - _price(matrix, v, nodes, k)


@njit(ADDING, cache=True, nogil=True)
def adding(matrix, table, numbers, keys, values, v, parents, k, candidates, count, worth, room):
    """The score of v with each candidate beside its first k parents. Gives the score above which a parent is added."""
    data = (matrix, table, numbers, keys, values)
    nodes = np.empty(k + 2, np.int64)
    for x in range(k):
        nodes[x] = parents[x]
    score = _of_node(*data, v, nodes, k, room)
    for c in range(count):
        if np.isnan(worth[candidates[c]]) and room[0] >= 0:
            nodes[k] = candidates[c]
            worth[candidates[c]] = _of_node(*data, v, nodes, k + 1, room)
    return score + LEAST_GAIN


@njit(REMOVING, cache=True, nogil=True)
def removing(matrix, table, numbers, keys, values, v, parents, k, worth, room):
    """The score of v without each of its first k parents, and with all of them."""
    data = (matrix, table, numbers, keys, values)
    nodes = np.empty(k + 1, np.int64)
    for x in range(k):
        nodes[x] = parents[x]
    score = _of_node(*data, v, nodes, k, room)
    for x in range(k):
        if np.isnan(worth[x]) and room[0] >= 0:
            m = 0
            for y in range(k):
                if y != x:
                    nodes[m] = parents[y]
                    m += 1
            worth[x] = _of_node(*data, v, nodes, k - 1, room)
    return score
