"""BDeu, a score of a node given its parents, computed from counts; EM and draws of hidden causes with a few levels.

The score is a difference, score(v | parents) = F(parents + v) - F(parents). F of a set of columns is the log marginal
likelihood of their joint table with `ess` prior rows spread evenly (Buntine 1991). For the signature that all scores
share see `_kernels.gaussian_score`. Here `matrix[i, j]` is the price of an edge between i and j, which is subtracted
from the score; `table[v]` holds the level (0, 1, ...) of column v in each row; `numbers` holds `ess`, then the number
of levels of each column. F of a set is cached in `keys` and `values`.

Hidden causes with a few levels: `fit` runs EM over their unknown levels, `draw` draws these levels. These functions
read the arrays of a `Layout` (`scores.latent`) as a tuple. A joint state s gives every hidden cause h a level,
`level[s, h]`. Cause h has `sizes[h]` levels. Children c with the same hidden causes form a family, `family[c]`. In
state s the causes of family f have the combination of levels with the index `part[f, s]`, from 0 to `n_parts[f]` - 1.
The table of child c has `n_rows[c]` rows, one per combination of levels of its parents and hidden causes. A row has
`n_levels[c]` cells, one per level of c. Data row r in state s is in cell `cell[c, r] + part[f, s] * n_levels[c]`.
"""

import math

import numpy as np

from anypag._kernels.patience import njit

IMPOSSIBLE = -1e15  # the score of a component that cannot be scored
LEAST_GAIN = 1e-9  # a parent is added only if the score rises by more than this
LEVELS_AT = 1  # where the numbers of levels begin in `numbers`
DENSE = 65536  # tables with more cells than this are counted by sorting
SMALL = 64  # the term for a count below this is computed once for each table
FORBIDDEN = 1e8  # an edge with a higher price is in no graph
LEAST = 1e-12  # the least probability of a level
TOO_SMALL = 1e-200  # smaller products are computed by logarithms
BLOCK = 128  # rows that EM takes at once, so that loops over them are vectorised

_DATA = "float64[:, ::1], int32[:, ::1], float64[::1], uint64[::1], float64[::1]"
COMPONENT = f"float64({_DATA}, int64[::1], int64, int64, uint8[:, ::1], float64[:, :, ::1], int64)"
ADDING = f"float64({_DATA}, int64, int64[::1], int64, int64[::1], int64, float64[::1], int64[::1])"
REMOVING = f"float64({_DATA}, int64, int64[::1], int64, float64[::1], int64[::1])"
_TABLE, _LIST, _REALS = "int64[:, ::1]", "int64[::1]", "float64[:, ::1]"
_LAYOUT = f"Tuple(({_TABLE}, {_LIST}, {_TABLE}, {_LIST}, {_LIST}, {_LIST}, {_TABLE}, {_LIST}))"
_FITTED = f"{_REALS}, {_REALS}, {_REALS}, float64[::1], {_LIST}, float64[::1], {_LIST}"


@njit(cache=True, nogil=True)
def _mixed(x):
    """The last step of splitmix64: every bit of x affects every bit of the result."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True, _nrt=False)
def _code(table, numbers, chosen, code):
    """Writes the index of every row's cell to `code`. On entry `code` is 0; its type can hold the number of cells."""
    for v in chosen:
        levels = code.dtype.type(numbers[LEVELS_AT + v])
        column = table[v]
        for r in range(len(code)):
            code[r] = code[r] * levels + column[r]


@njit(cache=True, nogil=True)
def _sorted(code, cells):
    """The cell indices, ascending, by radix sort: by the last 11 bits first, then by the next 11 bits, and so on."""
    other, place = np.empty_like(code), np.empty(2049, np.int64)
    shift = 0
    while cells > 1.0:
        place[:] = 0
        for r in range(len(code)):
            place[((code[r] >> shift) & 2047) + 1] += 1
        for x in range(2048):
            place[x + 1] += place[x]
        for r in range(len(code)):
            digits = (code[r] >> shift) & 2047
            other[place[digits]] = code[r]
            place[digits] += 1
        code, other = other, code
        shift += 11
        cells /= 2048.0
    return code


@njit(cache=True, nogil=True)
def _counted(table, numbers, nodes, k, room):
    n_rows = table.shape[1]
    room[0] -= n_rows * (k + 3) + 500
    chosen = nodes[:k].copy()  # sorted, so that sums are the same to the bit in any order of the set
    for x in range(1, k):  # by insertion: numba's own sort takes a second and more to compile
        v, y = chosen[x], x
        while y > 0 and chosen[y - 1] > v:
            chosen[y] = chosen[y - 1]
            y -= 1
        chosen[y] = v
    cells = 1.0
    for x in range(k):
        cells *= numbers[LEVELS_AT + chosen[x]]
    if cells > 4e18:
        return IMPOSSIBLE
    value, share = 0.0, numbers[0] / cells
    empty = math.lgamma(share)
    met = 0
    if cells <= DENSE:
        small = np.zeros(n_rows, np.int32)  # 32 bits: the loop below has fewer bytes to read
        _code(table, numbers, chosen, small)
        counts = np.zeros(np.int64(cells), np.int32)
        for r in range(n_rows):
            counts[small[r]] += 1
        room[0] -= len(counts)
        for c in range(len(counts)):  # moves nonempty cells to the front, without a branch for each cell
            count = counts[c]
            counts[met] = count
            met += count != 0
    else:
        room[0] -= 80 * n_rows
        code = np.zeros(n_rows, np.int64)
        _code(table, numbers, chosen, code)
        code = _sorted(code, cells)
        counts = np.zeros(n_rows, np.int32)
        for r in range(n_rows):
            met += r == 0 or code[r] != code[r - 1]
            counts[met - 1] += 1
    worth = np.zeros(SMALL)  # worth[c]: the term of a cell with c rows; most cells have few rows
    for c in range(met):
        count = counts[c]
        if count >= SMALL:
            value += math.lgamma(count + share) - empty
            continue
        if worth[count] == 0.0:
            worth[count] = math.lgamma(count + share) - empty
        value += worth[count]
    return value + math.lgamma(numbers[0]) - math.lgamma(n_rows + numbers[0])


@njit(cache=True, nogil=True, _nrt=False)
def of_set(table, numbers, keys, values, room, nodes, k):
    """F of the first k nodes, from the cache or counted."""
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


@njit(cache=True, nogil=True, _nrt=False)
def _price(matrix, v, parents, k):
    """The price of the edges from the first k parents to v."""
    price = 0.0
    for x in range(k):
        price += matrix[v, parents[x]]
    return price


@njit(COMPONENT, cache=True, nogil=True)
def component(matrix, table, numbers, keys, values, nodes, d, m, relation, fits, asked):
    """The score of a node given its parents; `IMPOSSIBLE` for several members. The last three arguments are ignored."""
    if d > 1:
        return IMPOSSIBLE
    alone, data = nodes[1:m].copy(), (table, numbers, keys, values, np.zeros(1, np.int64))
    return of_set(*data, nodes, m) - of_set(*data, alone, m - 1) - _price(matrix, nodes[0], alone, m - 1)


@njit(cache=True, nogil=True, _nrt=False)
def _of_node(matrix, table, numbers, keys, values, v, nodes, k, room):
    """The score of v given the first k nodes; `nodes[k]` is scratch space for v."""
    alone = of_set(table, numbers, keys, values, room, nodes, k)
    nodes[k] = v
    room[0] -= 20 * k + 100
    return of_set(table, numbers, keys, values, room, nodes, k + 1) - alone - _price(matrix, v, nodes, k)


@njit(ADDING, cache=True, nogil=True)
def adding(matrix, table, numbers, keys, values, v, parents, k, candidates, count, worth, room):
    """Writes v's score with each candidate as a further parent. Returns the score above which a candidate is added."""
    nodes = np.empty(k + 2, np.int64)
    for x in range(k):
        nodes[x] = parents[x]
    score = _of_node(matrix, table, numbers, keys, values, v, nodes, k, room)
    for c in range(count):
        if matrix[v, candidates[c]] > FORBIDDEN:
            worth[candidates[c]] = -np.inf
        elif np.isnan(worth[candidates[c]]) and room[0] >= 0:
            nodes[k] = candidates[c]
            worth[candidates[c]] = _of_node(matrix, table, numbers, keys, values, v, nodes, k + 1, room)
    return score + LEAST_GAIN


@njit(REMOVING, cache=True, nogil=True)
def removing(matrix, table, numbers, keys, values, v, parents, k, worth, room):
    """Writes the score of v without each of its first k parents. Returns the score of v with all k parents."""
    data = (matrix, table, numbers, keys, values)
    nodes = np.empty(k + 1, np.int64)
    for x in range(k):
        nodes[x] = parents[x]
    score = _of_node(*data, v, nodes, k, room)
    for x in range(k):
        if np.isnan(worth[x]) and room[0] >= 0:
            for y in range(k - 1):
                nodes[y] = parents[y + (y >= x)]
            worth[x] = _of_node(*data, v, nodes, k - 1, room)
    return score


@njit(cache=True, nogil=True)
def _arrays(layout, shares):
    """The prior probability of each joint state, and space for what `_joint` writes."""
    _, _, part, n_parts, _, _, level, _ = layout
    prior = np.ones(len(level))
    for s in range(len(level)):
        for h in range(len(shares)):
            prior[s] *= shares[h, level[s, h]]
    factor, joint = np.empty((len(part), n_parts.max(), BLOCK)), np.empty((len(level), BLOCK))
    return prior, factor, joint, np.empty(BLOCK), np.empty(BLOCK)


@njit(cache=True, nogil=True)
def _joint(layout, first, rows, tables, prior, factor, joint, whole, scale):
    """Writes, for a block of rows, the joint probability of each state and row (`joint`: states, rows), its sums over
    the states (`whole`), and the logarithm of the number by which both were divided against underflow (`scale`).
    """
    cell, family, part, n_parts, _, n_levels, _, _ = layout
    factor[:] = 1.0
    for c in range(len(cell)):
        for k in range(n_parts[family[c]]):
            of_part, shift = factor[family[c], k], k * n_levels[c]
            for r in range(rows):
                of_part[r] *= tables[c, cell[c, first + r] + shift]
    whole[:] = 0.0
    for s in range(len(prior)):
        product = joint[s]
        product[:] = prior[s]
        for f in range(len(part)):
            of_part = factor[f, part[f, s]]
            for r in range(rows):
                product[r] *= of_part[r]
        for r in range(rows):
            whole[r] += product[r]
    scale[:] = 0.0
    for r in range(rows):
        if not whole[r] > TOO_SMALL:
            whole[r], scale[r] = _joint_by_logarithms(layout, first + r, tables, prior, joint[:, r])


@njit(cache=True, nogil=True)
def _joint_by_logarithms(layout, row, tables, prior, joint):
    """Does for one row, whose products underflow, what `_joint` does. Returns the row's `whole` and `scale`."""
    cell, family, part, _, _, n_levels, _, _ = layout
    highest = -np.inf
    for s in range(len(prior)):
        joint[s] = math.log(prior[s])
        for c in range(len(cell)):
            place = cell[c, row] + part[family[c], s] * n_levels[c]
            joint[s] += math.log(tables[c, place])
        highest = max(highest, joint[s])
    whole = 0.0
    for s in range(len(prior)):
        joint[s] = math.exp(joint[s] - highest)
        whole += joint[s]
    return whole, highest


@njit(cache=True, nogil=True)
def _expected(layout, weight, tables, shares, counts, expected, stand, value, room):
    """Adds the rows from `stand[1]` on to `counts`, `expected` and `value[0]` (see `fit`). False if `room` ran out."""
    cell, family, part, n_parts, _, n_levels, _, _ = layout
    prior, factor, joint, whole, scale = _arrays(layout, shares)
    if stand[1] == 0:
        counts[:] = 0.0
        expected[:] = 0.0
        value[0] = 0.0
    while stand[1] < len(weight):
        if room[0] < 0:
            return False
        first = stand[1]
        rows = min(BLOCK, len(weight) - first)
        room[0] -= 4 * rows * len(prior) * (len(part) + len(cell) + 2)
        stand[1] += rows
        _joint(layout, first, rows, tables, prior, factor, joint, whole, scale)
        for r in range(rows):
            value[0] += weight[first + r] * (math.log(whole[r]) + scale[r])
            whole[r] = weight[first + r] / whole[r]
        factor[:] = 0.0
        for s in range(len(prior)):
            share, total = joint[s], expected[s]
            for r in range(rows):
                share[r] *= whole[r]
                total += share[r]
            expected[s] = total
            for f in range(len(part)):
                of_part = factor[f, part[f, s]]
                for r in range(rows):
                    of_part[r] += share[r]
        for c in range(len(cell)):
            for k in range(n_parts[family[c]]):
                of_part, shift = factor[family[c], k], k * n_levels[c]
                for r in range(rows):
                    counts[c, cell[c, first + r] + shift] += of_part[r]
    stand[1] = 0
    return True


@njit(cache=True, nogil=True)
def _refit(counts, hidden_counts, n_rows, n_levels, sizes, ess, tables, shares):
    """Writes the tables and shares that best fit the sum of the expected counts and the prior rows."""
    for c in range(len(n_rows)):
        prior = ess / (n_rows[c] * n_levels[c])
        for g in range(n_rows[c]):
            first = g * n_levels[c]
            whole = prior * n_levels[c]
            for x in range(n_levels[c]):
                whole += counts[c, first + x]
            for x in range(n_levels[c]):
                tables[c, first + x] = max((counts[c, first + x] + prior) / whole, LEAST)
    for h in range(len(sizes)):
        whole = float(sizes[h])
        for x in range(sizes[h]):
            whole += hidden_counts[h, x]
        for x in range(sizes[h]):
            shares[h, x] = (hidden_counts[h, x] + 1.0) / whole


@njit(cache=True, nogil=True)
def _completed(counts, fitted, n_rows, n_levels, prior):
    """Log marginal likelihood of a table of counts, minus its log-likelihood with the fitted probabilities."""
    value = 0.0
    for g in range(n_rows):
        whole = 0.0
        for x in range(g * n_levels, (g + 1) * n_levels):
            if counts[x] > 0:
                whole += counts[x]
                value += math.lgamma(prior + counts[x]) - math.lgamma(prior) - counts[x] * math.log(fitted[x])
        if whole > 0:
            value += math.lgamma(prior * n_levels) - math.lgamma(prior * n_levels + whole)
    return value


@njit(f"boolean({_LAYOUT}, float64[::1], float64, int64, {_FITTED})", cache=True, nogil=True)
def fit(layout, weight, ess, sweeps, tables, shares, counts, expected, stand, value, room):
    """Improves tables and shares by EM. Returns whether EM is done; `value[0]` is then the score of Cheeseman & Stutz
    (1996), M - C + L. M is the log marginal likelihood, and C the log-likelihood, of the rows completed with expected
    causes. L is the log-likelihood of the rows. EM ends after `sweeps` sweeps, or when one adds less than 0.5 to L.

    `weight`: how often each distinct row of `layout` occurs; `ess`: prior rows of BDeu; `counts`, `expected`: expected
    counts of cells and of joint states so far; `stand`: indices of sweep and row, zeros at first; `value`: L of this
    sweep so far, and L of the one before (at first -inf); `room`: see `anypag.threads`. `tables` and all later change.
    """
    _, _, _, _, n_rows, n_levels, level, sizes = layout
    hidden_counts = np.empty_like(shares)  # the expected number of rows for each level of each hidden cause
    while _expected(layout, weight, tables, shares, counts, expected, stand, value, room):
        hidden_counts[:] = 0.0
        for s in range(len(expected)):
            for h in range(len(sizes)):
                hidden_counts[h, level[s, h]] += expected[s]
        if stand[0] == sweeps - 1 or value[0] - value[1] < 0.5:
            for c in range(len(n_rows)):
                value[0] += _completed(counts[c], tables[c], n_rows[c], n_levels[c], ess / (n_rows[c] * n_levels[c]))
            for h in range(len(sizes)):
                value[0] += _completed(hidden_counts[h], shares[h], 1, sizes[h], 1.0)
            return True
        value[1] = value[0]
        stand[0] += 1
        _refit(counts, hidden_counts, n_rows, n_levels, sizes, ess, tables, shares)
    return False


@njit(f"boolean({_LAYOUT}, {_REALS}, {_REALS}, float64[::1], uint8[:, ::1], {_LIST}, {_LIST})", cache=True, nogil=True)
def draw(layout, tables, shares, uniform, drawn, stand, room):
    """Draws hidden causes of rows from `stand[0]` on; writes levels to `drawn` (h, rows). False if `room` ran out."""
    cell, _, part, _, _, _, level, _ = layout
    prior, factor, joint, whole, scale = _arrays(layout, shares)
    while stand[0] < len(uniform):
        if room[0] < 0:
            return False
        first = stand[0]
        rows = min(BLOCK, len(uniform) - first)
        room[0] -= 4 * rows * len(prior) * (len(part) + len(cell) + 2)
        stand[0] += rows
        _joint(layout, first, rows, tables, prior, factor, joint, whole, scale)
        for r in range(rows):
            chosen, upto = 0, joint[0, r]
            while chosen < len(prior) - 1 and upto < uniform[first + r] * whole[r]:
                chosen += 1
                upto += joint[chosen, r]
            for h in range(level.shape[1]):
                drawn[h, first + r] = level[chosen, h]
    return True
