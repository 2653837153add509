"""G² and χ² of many small sets of discrete columns, in memory that is bounded by the number of rows; and columns that
others determine.

Every stratum (a combination of values of z that occurs in the data) has a table of x against y. Its degrees of
freedom are (levels of x in it - 1) · (levels of y in it - 1): a level that does not occur in a stratum has no
row or column there. The statistic of a query is the sum over its strata, and so are its degrees of freedom.

Rows are counted in a dense table if it has at most `most_cells` cells (`ci.counting` sets this to
min(4 · rows, 2²⁶) + 64). Larger tables are counted in a hash table of the cells that occur in the data, which are never
more than the rows. A row can represent several equal rows: each has a weight, and the counts are sums of weights.
"""

import math

import numpy as np

from anypag._kernels.patience import njit

PEARSON = 1
LOG_LIKELIHOOD = 2

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def _term(observed, expected, family):
    if family == PEARSON:
        return (observed - expected) * (observed - expected) / expected
    return 2.0 * observed * math.log(observed / expected) if observed > 0 else 0.0


@njit(cache=True, nogil=True)
def _two_by_two(n, n_x, n_y, n_xy, family):
    """The statistic of a 2 x 2 table from its margins, the same to the bit with x and y swapped."""
    not_x, not_y = n - n_x, n - n_y
    diagonal = _term(n_xy, n_x * n_y / n, family) + _term(not_x - n_y + n_xy, not_x * not_y / n, family)
    return diagonal + (_term(n_x - n_xy, n_x * not_y / n, family) + _term(n_y - n_xy, not_x * n_y / n, family))


@njit(cache=True, nogil=True)
def _renumber(keys, count, slots, numbers):
    """Replaces keys (>= 0) by 0, 1, 2, ... in the order of first occurrence. Returns how many differ. The hash table
    (`slots`, `numbers`) has a size that is a power of two, at least twice the number of keys.
    """
    last = np.uint64(len(slots) - 1)
    slots[:] = -1
    found = 0
    for i in range(count):
        key = keys[i]
        place = (np.uint64(key) * _SPREAD) >> np.uint64(20) & last
        while slots[place] != key and slots[place] >= 0:
            place = (place + np.uint64(1)) & last
        if slots[place] < 0:
            slots[place] = key
            numbers[place] = found
            found += 1
        keys[i] = numbers[place]
    return found


@njit(cache=True, nogil=True)
def _fill(codes_x, codes_y, weights, levels_y, size, strata, n_strata, cells):
    """Writes the sum of the weights of the rows in every cell.

    Neighbouring rows often fall into the same cell, so that each addition would wait for the one before. To avoid this,
    four tables are filled in turn, if `cells` has room for them, and added up at the end.
    """
    total = n_strata * size
    turns = 4 if 4 * total <= len(cells) else 1
    cells[: turns * total] = 0
    for i in range(len(codes_x)):
        turn = (i & (turns - 1)) * total
        cells[turn + strata[i] * size + codes_x[i] * levels_y + codes_y[i]] += weights[i]
    for turn in range(1, turns):
        for cell in range(total):
            cells[cell] += cells[turn * total + cell]


@njit(cache=True, nogil=True)
def _dense(codes_x, codes_y, weights, levels_x, levels_y, strata, n_strata, is_binary, family, cells, margins):
    """Statistic and degrees of freedom from a table of all cells."""
    size = levels_x * levels_y
    _fill(codes_x, codes_y, weights, levels_y, size, strata, n_strata, cells)
    statistic = 0.0
    freedom = 0
    for k in range(n_strata):
        first = k * size
        margins[: levels_x + levels_y] = 0
        n = 0
        for a in range(levels_x):
            for b in range(levels_y):
                count = cells[first + a * levels_y + b]
                margins[a] += count
                margins[levels_x + b] += count
                n += count
        present_x, present_y = 0, 0
        for a in range(levels_x):
            present_x += margins[a] > 0
        for b in range(levels_y):
            present_y += margins[levels_x + b] > 0
        if present_x < 2 or present_y < 2:
            continue
        freedom += (present_x - 1) * (present_y - 1)
        if is_binary:
            statistic += _two_by_two(n, margins[1], margins[levels_x + 1], cells[first + levels_y + 1], family)
            continue
        for a in range(levels_x):
            for b in range(levels_y):
                expected = margins[a] * margins[levels_x + b] / n
                if expected > 0:
                    statistic += _term(cells[first + a * levels_y + b], expected, family)
    return statistic, freedom


@njit(cache=True, nogil=True)
def _count(numbers, weights, found, counts):
    counts[:found] = 0
    for i in range(len(numbers)):
        counts[numbers[i]] += weights[i]


@njit(cache=True, nogil=True)
def _sparse(codes_x, codes_y, weights, levels_x, levels_y, strata, n_strata, family, slots, numbers, scratch):
    """Statistic and degrees of freedom from the cells that occur in the data."""
    n = len(codes_x)
    of_x, of_y, of_cell = scratch[0, :n], scratch[1, :n], scratch[2, :n]
    for i in range(n):
        of_x[i] = strata[i] * levels_x + codes_x[i]
        of_y[i] = strata[i] * levels_y + codes_y[i]
    n_of_x = _renumber(of_x, n, slots, numbers)
    n_of_y = _renumber(of_y, n, slots, numbers)
    for i in range(n):
        of_cell[i] = of_x[i] * n_of_y + of_y[i]
    n_cells = _renumber(of_cell, n, slots, numbers)
    counts, counts_x, counts_y, counts_cell = scratch[3], scratch[4], scratch[5], scratch[6]
    _count(strata, weights, n_strata, counts)
    _count(of_x, weights, n_of_x, counts_x)
    _count(of_y, weights, n_of_y, counts_y)
    _count(of_cell, weights, n_cells, counts_cell)

    # numbers were given in order of first appearance, so a cell is new exactly if its number is the next one
    present_x, present_y = scratch[7, :n_strata], scratch[8, :n_strata]
    present_x[:] = 0
    present_y[:] = 0
    next_x, next_y, next_cell = 0, 0, 0
    statistic = 0.0
    uncovered = float(weights.sum())  # rows expected in cells that stay empty
    for i in range(n):
        if of_x[i] == next_x:
            present_x[strata[i]] += 1
            next_x += 1
        if of_y[i] == next_y:
            present_y[strata[i]] += 1
            next_y += 1
        if of_cell[i] == next_cell:
            expected = counts_x[of_x[i]] * counts_y[of_y[i]] / counts[strata[i]]
            statistic += _term(counts_cell[next_cell], expected, family)
            uncovered -= expected
            next_cell += 1
    freedom = 0
    for k in range(n_strata):
        freedom += (present_x[k] - 1) * (present_y[k] - 1)
    if family == PEARSON:
        statistic += max(uncovered, 0.0)
    return statistic, freedom


@njit(cache=True, nogil=True)
def _without_gaps(codes, weights, columns, kept, kept_weights):
    """Copies the rows without a gap in any of the columns to `kept`, with their weights. Returns their number."""
    count = 0
    for row in range(codes.shape[1]):
        complete = True
        for j in range(len(columns)):
            code = codes[columns[j], row]
            kept[j, count] = code
            complete &= code >= 0
        kept_weights[count] = weights[row]
        count += complete
    return count


@njit(cache=True, nogil=True)
def _most_combinations(levels, x, y, z, most):
    """The largest number of combinations of levels that any of the sets has, or `most` if that is smaller."""
    largest = 1
    for i in range(len(x)):
        count = levels[x[i]] * levels[y[i]]
        for j in range(z.shape[1]):
            if count <= most:
                count *= levels[z[i, j]]
        if largest < count:
            largest = count
    return min(largest, most)


@njit(cache=True, nogil=True)
def count_statistics(
    codes, weights, levels, has_gaps, most_cells, x, y, z, most_binary, family, statistics, freedoms, rows_used
):
    """Writes statistic, degrees of freedom and rows, (b,) each, of every query over discrete columns.

    `codes` (p, n): the levels as 0, 1, ..., -1 for a gap; `weights` (n,): how many rows each one represents; `levels`
    (p,): how many each column has. Tables of more than `most_cells` cells are counted in a hash table. Strata follow
    each other in the order of the members of a set. Sets of binary columns with at most `most_binary` members of z use
    the formula of 2 x 2 tables. `family` is PEARSON or LOG_LIKELIHOOD.
    """
    n = codes.shape[1]
    n_rows = weights.sum()  # decides how to count, so that weighted rows give the same bits as repeated rows
    r = z.shape[1]
    room = _most_combinations(levels, x, y, z, most_cells)
    places = 2
    while places < 2 * n:
        places *= 2
    slots, numbers = np.empty(places, np.int64), np.empty(places, np.int64)
    cells, margins = np.empty(min(4 * room, most_cells), np.int64), np.empty(room + 64, np.int64)
    strata, scratch = np.empty(n, np.int64), np.empty((9, n), np.int64)
    columns = np.empty(r + 2, np.int32)
    kept = np.empty((r + 2 if has_gaps else 0, n), np.int32)
    kept_weights = np.empty(n if has_gaps else 0, np.int64)
    for i in range(len(x)):
        columns[:r] = z[i]
        a, b = x[i], y[i]
        columns[r], columns[r + 1] = a, b
        is_binary = r <= most_binary
        for column in columns:
            is_binary &= levels[column] <= 2
        count = _without_gaps(codes, weights, columns, kept, kept_weights) if has_gaps else n
        strata[:count] = 0
        n_strata = 1
        for j in range(r):
            members = kept[j] if has_gaps else codes[columns[j]]
            levels_z = levels[columns[j]]
            for k in range(count):
                strata[k] = strata[k] * levels_z + members[k]
            n_strata *= levels_z
            if n_strata > n_rows:
                n_strata = _renumber(strata, count, slots, numbers)
        codes_x = kept[r, :count] if has_gaps else codes[a]
        codes_y = kept[r + 1, :count] if has_gaps else codes[b]
        known, counted = strata[:count], kept_weights[:count] if has_gaps else weights
        rows_used[i] = counted.sum() if has_gaps else n_rows
        if n_strata * levels[a] * levels[b] <= most_cells:
            statistics[i], freedoms[i] = _dense(
                codes_x, codes_y, counted, levels[a], levels[b], known, n_strata, is_binary, family, cells, margins
            )
        else:
            n_strata = _renumber(strata, count, slots, numbers)
            statistics[i], freedoms[i] = _sparse(
                codes_x, codes_y, counted, levels[a], levels[b], known, n_strata, family, slots, numbers, scratch
            )


@njit(cache=True)
def is_determined(codes, levels, a, b, c):
    """Does column c (of (p, n) codes from 0, -1 for a gap) never differ where a and b agree?

    With a == b: is it determined by that one column? Only rows with a value in all three count. Returns the number of
    cells, or -1 if c is not determined; the number of rows; and the log probability that every cell has one level only
    if the levels of c were independent of the cells.
    """
    n_cells = levels[a] * (levels[b] if a != b else 1)
    seen, size, margin = np.full(n_cells, -1, np.int64), np.zeros(n_cells, np.int64), np.zeros(levels[c])
    count, rows = 0, 0
    for row in range(codes.shape[1]):
        if codes[a, row] < 0 or codes[b, row] < 0 or codes[c, row] < 0:
            continue
        cell = codes[a, row] * levels[b] + codes[b, row] if a != b else codes[a, row]
        if seen[cell] < 0:
            seen[cell] = codes[c, row]
            count += 1
        elif seen[cell] != codes[c, row]:
            return -1, rows, 0.0
        size[cell] += 1
        margin[codes[c, row]] += 1.0
        rows += 1
    chance = 0.0
    for cell in range(n_cells):
        if size[cell] > 1:
            chance += np.log(np.sum((margin / rows) ** size[cell]))
    return count, rows, chance


@njit(cache=True)
def determined_by_two(codes, levels, c, rows_per_cell, most_cells, least_rows, chance):
    """The columns (a, b) that determine c, but neither alone; a == b if one is enough, (-1, -1) if no two columns do.

    Only if the combinations of levels that occur have `rows_per_cell` rows on average, and if that would come by chance
    with a small probability over all pairs or triples.
    """
    p = codes.shape[0]
    pairs, triples = np.log(max(p * (p - 1), 1)), np.log(max(p * (p - 1) * (p - 2) // 2, 1))
    by_one = -1
    for a in range(p):
        if a != c and by_one < 0 and levels[a] > levels[c]:
            cells, rows, by_chance = is_determined(codes, levels, a, a, c)
            if cells > 0 and cells * rows_per_cell <= rows and rows >= least_rows and by_chance + pairs < chance:
                by_one = a
    if by_one >= 0:
        return by_one, by_one
    for a in range(p):
        for b in range(a + 1, p):
            if c == a or c == b or levels[a] * levels[b] > most_cells:
                continue
            cells, rows, by_chance = is_determined(codes, levels, a, b, c)
            if cells <= levels[c] or cells * rows_per_cell > rows or rows < least_rows:
                continue
            if by_chance + triples >= chance:
                continue
            if is_determined(codes, levels, a, a, c)[0] < 0 and is_determined(codes, levels, b, b, c)[0] < 0:
                return a, b
    return -1, -1


@njit(cache=True)
def tell_each_other(codes, levels, least, least_rows):
    """Pairs (a, b) of columns, a < b, that nearly determine each other: knowing one lowers the errors in guessing the
    other by a share of at least `least` (Goodman and Kruskal's lambda, both ways), but not to zero. A pair is judged by
    the rows that have both values, and needs `least_rows` of them. `codes` (p, n) are -1 for a gap.
    """
    p, n = codes.shape
    most = levels.max()
    table = np.zeros((most, most), np.int64)
    found = []
    for a in range(p):
        for b in range(a + 1, p):
            counts = table[: levels[a], : levels[b]]
            counts[:] = 0
            rows = 0
            for row in range(n):
                if codes[a, row] >= 0 and codes[b, row] >= 0:
                    counts[codes[a, row], codes[b, row]] += 1
                    rows += 1
            # rows in which the best guess is right, with and without knowing the other column
            of_b, of_a, most_a, most_b = 0, 0, 0, 0
            for i in range(levels[a]):
                of_b += counts[i].max()
                most_a = max(most_a, counts[i].sum())
            for j in range(levels[b]):
                of_a += counts[:, j].max()
                most_b = max(most_b, counts[:, j].sum())
            errors_b, errors_a = rows - most_b, rows - most_a
            if rows < least_rows or errors_a == 0 or errors_b == 0 or (of_a == rows and of_b == rows):
                continue
            if rows - of_b <= (1.0 - least) * errors_b and rows - of_a <= (1.0 - least) * errors_a:
                found.append((a, b, min(of_a, of_b) / rows))
    return found
