"""G², χ² and the permutation statistic of many small sets of discrete columns. The permutation statistic is the sum of
n · (o - e)² / ((R + 1) · (C + 1)) over all cells. n is the number of rows in the cell's stratum (see below), o and e
are the observed and expected numbers of rows in the cell, R and C are the margins of the cell. The first three
cumulants of this statistic, over permutations within strata, are computed too.

A query (or question) asks whether x and y are independent given the columns z. Every stratum (a combination of values
of z that occurs in the data) has a table of x against y. Its degrees of freedom are (levels of x that occur in it - 1)
· (levels of y that occur in it - 1). Statistic and degrees of freedom of a query are sums over its strata.

`joint_statistics` joins the columns of several queries to a larger set, and counts the rows once, in a table with a
cell for every combination of levels of this set. Sums of its cells give the table of each subset of the columns. The
table of a subset answers all queries over exactly its columns: every pair given the rest of the subset. Counts are
integers, so the statistics equal those of single questions (`count_statistics`) to the bit.

Sets with too many combinations are counted query by query (`count_statistics`), in memory bounded by the number of
rows. A table with at most `most_cells` cells is dense (`ci.counting` sets `most_cells` to min(4 · rows, 2²⁶) + 64). A
larger table is a hash table of the cells that occur, which are at most as many as the rows. `permutations_by_rows` has
no table; it sorts the rows. Every row has a weight (how many equal rows it stands for), and counts are sums of weights.
"""

import math

import numpy as np

from anypag._kernels.patience import FEW, njit, patient

PEARSON, LOG_LIKELIHOOD, PERMUTATIONS = 1, 2, 3

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # the factor of the hash function
_NO_VARIANCE = 1e-12  # a variance below this share of the squared mean is rounding error
_FEW_CELLS = 512  # a table of at most this many cells is counted in four copies, which are then added (faster)
_MOST_COLUMNS = 12  # the most columns of a table that serves several sets
_WINDOW = 1024  # how many sets are tried for a common table


@njit(cache=True, nogil=True)
def _term(observed, expected, family):
    if family == PEARSON:
        return (observed - expected) * (observed - expected) / expected
    return 2.0 * observed * math.log(observed / expected) if observed > 0 else 0.0


@njit(cache=True, nogil=True)
def _two_by_two(n, n_x, n_y, n_xy, family):
    """The statistic of a 2 x 2 table from its margins and one cell. Swapping x and y changes no bit of it."""
    not_x, not_y = n - n_x, n - n_y
    diagonal = _term(n_xy, n_x * n_y / n, family) + _term(not_x - n_y + n_xy, not_x * not_y / n, family)
    return diagonal + (_term(n_x - n_xy, n_x * not_y / n, family) + _term(n_y - n_xy, not_x * n_y / n, family))


@njit(cache=True, nogil=True)
def _combine(before, column, step, after):
    """Writes for each row the index of its combination of levels (see `prefixes` and `steps` in `joint_statistics`)."""
    np.multiply(column, after.dtype.type(step), after)
    np.add(before, after, after)


@njit(cache=True, nogil=True)
def _count_cells(combined, weights, total, cells):
    """Sums row weights by cell. If cells are few, there are four copies, so that few additions wait for each other."""
    turns = 4 if total <= _FEW_CELLS else 1
    for cell in range(turns * total):
        cells[cell] = 0
    second, third, fourth = (total, 2 * total, 3 * total) if turns == 4 else (0, 0, 0)
    n, fours = len(combined), len(combined) // 4 * 4
    for i in range(0, fours, 4):
        cells[combined[i]] += weights[i]
        cells[second + combined[i + 1]] += weights[i + 1]
        cells[third + combined[i + 2]] += weights[i + 2]
        cells[fourth + combined[i + 3]] += weights[i + 3]
    for i in range(fours, n):
        cells[combined[i]] += weights[i]
    if turns == 4:
        for cell in range(total):
            cells[cell] += cells[second + cell] + cells[third + cell] + cells[fourth + cell]


@njit(cache=True, nogil=True)
def _of_binary(cells, strata, step_a, step_b, levels_a, levels_b, family):
    """Statistic and degrees of freedom of two columns with at most two levels each."""
    statistic, freedom = 0.0, 0
    for first in strata:
        n_00, n_01, n_10, n_11 = np.int64(cells[first]), np.int64(0), np.int64(0), np.int64(0)
        if levels_b == 2:
            n_01 = np.int64(cells[first + step_b])
        if levels_a == 2:
            n_10 = np.int64(cells[first + step_a])
        if levels_a == 2 and levels_b == 2:
            n_11 = np.int64(cells[first + step_a + step_b])
        n_a, n_b, n = n_10 + n_11, n_01 + n_11, n_00 + n_01 + n_10 + n_11
        if 0 < n_a < n and 0 < n_b < n:
            statistic += _two_by_two(n, n_a, n_b, n_11, family)
            freedom += 1
    return statistic, freedom


@njit(cache=True, inline="always")
def _write_margins(cells, first, step_a, step_b, levels_a, levels_b, margins):
    """Counts the rows of a stratum per level. Returns the number of rows, and how many levels of each column occur."""
    for a in range(levels_a + levels_b):
        margins[a] = 0
    n = np.int64(0)
    for a in range(levels_a):
        for b in range(levels_b):
            count = np.int64(cells[first + a * step_a + b * step_b])
            margins[a] += count
            margins[levels_a + b] += count
            n += count
    present_a, present_b = 0, 0
    for a in range(levels_a):
        present_a += margins[a] > 0
    for b in range(levels_b):
        present_b += margins[levels_a + b] > 0
    return n, present_a, present_b


@njit(cache=True, nogil=True)
def _of_levels(cells, strata, step_a, step_b, levels_a, levels_b, family, margins):
    """Statistic and degrees of freedom of two columns with any number of levels."""
    statistic, freedom = 0.0, 0
    for first in strata:
        n, present_a, present_b = _write_margins(cells, first, step_a, step_b, levels_a, levels_b, margins)
        if present_a < 2 or present_b < 2:
            continue
        freedom += (present_a - 1) * (present_b - 1)
        for a in range(levels_a):
            if margins[a] == 0:
                continue
            for b in range(levels_b):
                if margins[levels_a + b] == 0:
                    continue
                count = np.int64(cells[first + a * step_a + b * step_b])
                if count > 0 or family == PEARSON:
                    statistic += _term(count, margins[a] * margins[levels_a + b] / n, family)
    return statistic, freedom


@njit(cache=True, inline="always")
def _cell(observed, margin_a, margin_b, n, family):
    if margin_a == 0 or margin_b == 0 or (observed == 0 and family != PEARSON):
        return 0.0
    return _term(observed, margin_a * margin_b / n, family)


@njit(cache=True, inline="always")
def _nine(cells, first, step_a, step_b, third_a, third_b):
    """The nine counts of a stratum, row by row; 0 for a third level that is missing. Unsigned indices are faster."""
    next_a, next_b, none = first + step_a, first + step_b, np.uint64(0)
    n00, n01 = np.uint64(cells[first]), np.uint64(cells[next_b])
    n10, n11 = np.uint64(cells[next_a]), np.uint64(cells[next_a + step_b])
    n02 = np.uint64(cells[next_b + step_b]) if third_b else none
    n12 = np.uint64(cells[next_a + step_b + step_b]) if third_b else none
    n20 = np.uint64(cells[next_a + step_a]) if third_a else none
    n21 = np.uint64(cells[next_a + step_a + step_b]) if third_a else none
    n22 = np.uint64(cells[next_a + step_a + step_b + step_b]) if third_a and third_b else none
    return n00, n01, n02, n10, n11, n12, n20, n21, n22


@njit(cache=True, nogil=True)
def _of_three_levels(cells, strata, step_a, step_b, levels_a, levels_b, family):
    """Statistic and degrees of freedom of two columns with two or three levels: nine counts, without a loop."""
    statistic, freedom = 0.0, 0
    third_a, third_b = levels_a == 3, levels_b == 3
    step_a, step_b = np.uint64(step_a), np.uint64(step_b)
    for stratum in strata:
        first = np.uint64(stratum)
        n00, n01, n02, n10, n11, n12, n20, n21, n22 = _nine(cells, first, step_a, step_b, third_a, third_b)
        a0, a1, a2 = n00 + n01 + n02, n10 + n11 + n12, n20 + n21 + n22
        n = a0 + a1 + a2
        if n == 0:
            continue
        b0, b1, b2 = n00 + n10 + n20, n01 + n11 + n21, n02 + n12 + n22
        present_a, present_b = 0 + (a0 > 0) + (a1 > 0) + (a2 > 0), 0 + (b0 > 0) + (b1 > 0) + (b2 > 0)
        if present_a < 2 or present_b < 2:
            continue
        freedom += (present_a - 1) * (present_b - 1)
        statistic += _cell(n00, a0, b0, n, family)
        statistic += _cell(n01, a0, b1, n, family)
        statistic += _cell(n02, a0, b2, n, family)
        statistic += _cell(n10, a1, b0, n, family)
        statistic += _cell(n11, a1, b1, n, family)
        statistic += _cell(n12, a1, b2, n, family)
        statistic += _cell(n20, a2, b0, n, family)
        statistic += _cell(n21, a2, b1, n, family)
        statistic += _cell(n22, a2, b2, n, family)
    return statistic, freedom


@njit(cache=True, nogil=True)
def _matrix_sums(counts, n):
    """Nine sums from which the moments follow, from the counts of a column's levels in a stratum with n rows of data. W
    is an (n, n) matrix. Its entry for two data rows is 1 / (R + 1) if both have the same level, which R rows have, else
    0; then the rows and columns of W are centred. w is the diagonal of the centred W. The sums are Σ R² / (R + 1) over
    the levels; the traces of W, W² and W³; Σ w² and Σ w³; Σ Wᵢⱼ³; Σ wᵢ (W²)ᵢᵢ; Σ wᵢ Wᵢⱼ wⱼ. Empty levels add 0.
    """
    k1, k2, k3, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for whole in counts:
        count = float(whole)  # this may run as plain Python at first, which is slower with numpy's numbers
        share = count / (count + 1.0)
        k1 += share * count
        k2 += share * share * count
        k3 += share * share * share * count
        s1 += share
        s2 += share * share
        s3 += share * share * share
    mean = k1 / (n * n)
    trace = s1 - k1 / n
    trace_2 = s2 - 2.0 * k2 / n + k1 * k1 / (n * n)
    trace_3 = s3 - 3.0 * k3 / n + 3.0 * k1 * k2 / (n * n) - k1 * k1 * k1 / (n * n * n)
    squares, cubes, entries, beside, ends, middle = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    rest = k2 / (n * n) - n * mean * mean
    for whole in counts:
        count = float(whole)
        weight = 1.0 / (count + 1.0)
        share = weight * count
        taken = 2.0 * share / n - mean
        on_diagonal = weight - taken
        total = count * on_diagonal
        squares += total * on_diagonal
        cubes += total * on_diagonal * on_diagonal
        entries += share * (share * weight - 3.0 * share * taken + 3.0 * count * taken * taken)
        beside += total * (share * weight - 2.0 * share * taken + share * share / n + rest)
        ends += weight * total * total
        middle += total * share
    entries += n * n * mean * mean * mean - 2.0 * k3 / (n * n)
    chain = ends - 2.0 * trace * middle / n + mean * trace * trace
    return k1, trace, trace_2, trace_3, squares, cubes, entries, beside, chain


@njit(cache=True, nogil=True)
def _second_moment(sums_x, sums_y, n):
    """The mean of (Σ Wᵢⱼ Vᵢⱼ)² over all permutations of V, where W is the matrix of x and V that of y."""
    _, t, t2, _, s2, _, _, _, _ = sums_x
    _, u, u2, _, r2, _, _, _, _ = sums_y
    one = s2 * r2
    two = 4.0 * one + 2.0 * ((t2 - s2) * (u2 - r2)) + (t * t - s2) * (u * u - r2)
    three = 4.0 * ((2.0 * s2 - t2) * (2.0 * r2 - u2)) + 2.0 * ((2.0 * s2 - t * t) * (2.0 * r2 - u * u))
    four = (t * t + 2.0 * t2 - 6.0 * s2) * (u * u + 2.0 * u2 - 6.0 * r2)
    moment = one + (two + three / (n - 2.0)) / (n - 1.0)
    if n > 3.0:
        moment += four / ((n - 1.0) * (n - 2.0) * (n - 3.0))
    return moment / n


@njit(cache=True, nogil=True)
def _over_different_rows(sums):
    """Sums of products of three entries of W: one sum for each way in which their six indices can coincide, grouped by
    how many different indices there are (one to six). Each sum for x is used only in a product with the same sum for y,
    so a sum may have the wrong sign: the two signs cancel. Rows and columns of W sum to 0, so every sum over different
    indices follows from `_matrix_sums`.
    """
    _, t, t2, t3, s2, s3, u, v, b = sums
    ttt, tt2, ts2 = t * t * t, t * t2, t * s2
    two = b - s3, v - s3, ts2 - s3, u - s3
    three = (
        2.0 * s3 - b - v,
        2.0 * s3 - b - ts2,
        2.0 * s3 - 3.0 * v + t3,
        2.0 * s3 - 2.0 * v - ts2 + tt2,
        2.0 * s3 - v,
        2.0 * s3 - v - u,
        2.0 * s3 - 3.0 * ts2 + ttt,
        2.0 * s3 - ts2,
    )
    four = (
        b + 5.0 * v - 6.0 * s3 - t3 + u,
        2.0 * b + 2.0 * v - 6.0 * s3 + ts2,
        2.0 * b + 3.0 * v - 6.0 * s3 + 2.0 * ts2 - tt2,
        2.0 * b - 6.0 * s3 + 5.0 * ts2 - ttt,
        3.0 * v - 6.0 * s3 + 2.0 * u,
        4.0 * v - 6.0 * s3 + ts2 - tt2 + 2.0 * u,
    )
    five = (
        24.0 * s3 - 8.0 * b - 8.0 * v - 10.0 * ts2 + 2.0 * tt2 + ttt,
        24.0 * s3 - 4.0 * b - 16.0 * v - 2.0 * ts2 + tt2 + 2.0 * t3 - 4.0 * u,
    )
    six = 24.0 * b + 72.0 * v - 120.0 * s3 + 18.0 * ts2 - 6.0 * tt2 - 8.0 * t3 - ttt + 16.0 * u
    return s3, two, three, four, five, six


@njit(cache=True, nogil=True)
def _third_moment(sums_x, sums_y, n):
    """The mean of (Σ Wᵢⱼ Vᵢⱼ)³ over all permutations of V, where W is the matrix of x and V that of y."""
    x1, x2, x3, x4, x5, x6 = _over_different_rows(sums_x)
    y1, y2, y3, y4, y5, y6 = _over_different_rows(sums_y)
    one = x1 * y1
    two = 6.0 * (x2[0] * y2[0] + one) + 12.0 * (x2[1] * y2[1]) + 3.0 * (x2[2] * y2[2]) + 4.0 * (x2[3] * y2[3])
    three = 24.0 * (x3[0] * y3[0] + x3[5] * y3[5]) + 12.0 * (x3[1] * y3[1] + x3[4] * y3[4]) + 8.0 * (x3[2] * y3[2])
    three = three + 6.0 * (x3[3] * y3[3]) + x3[6] * y3[6] + 3.0 * (x3[7] * y3[7])
    four = 24.0 * (x4[0] * y4[0]) + 12.0 * (x4[1] * y4[1] + x4[2] * y4[2]) + 3.0 * (x4[3] * y4[3])
    four = four + 8.0 * (x4[4] * y4[4]) + 6.0 * (x4[5] * y4[5])
    five = 3.0 * (x5[0] * y5[0]) + 12.0 * (x5[1] * y5[1])
    moment = 0.0
    if n > 5.0:
        moment = x6 * y6 / (n - 5.0)
    if n > 4.0:
        moment = (five + moment) / (n - 4.0)
    if n > 3.0:
        moment = (four + moment) / (n - 3.0)
    return (one + (two + (three + moment) / (n - 2.0)) / (n - 1.0)) / n


@njit(cache=True, nogil=True)
def _add_stratum(counts_x, counts_y, rows, product, cumulants):
    """Adds the statistic's cumulants in one stratum of 3 rows or more to `cumulants`. Returns the statistic there.
    `product` is the sum of o (o - 2 e) / ((R + 1) (C + 1)) over cells with o > 0. The sum of terms with e² follows
    from the margins.
    """
    n = float(rows)
    sums_x, sums_y = _matrix_sums(counts_x, n), _matrix_sums(counts_y, n)
    mean = n * (sums_x[1] * sums_y[1]) / (n - 1.0)
    variance = n * n * _second_moment(sums_x, sums_y, n) - mean * mean
    if variance <= _NO_VARIANCE * mean * mean:  # the statistic is the same for all permutations
        return 0.0
    third = n * n * n * _third_moment(sums_x, sums_y, n)
    cumulants[0] += mean
    cumulants[1] += variance
    cumulants[2] += third - 3.0 * mean * variance - mean * mean * mean
    return n * (product + sums_x[0] * sums_y[0] / (n * n))


@njit(cache=True, nogil=True)
def _of_permutations(cells, strata, step_a, step_b, levels_a, levels_b, margins, weights, cumulants):
    """The permutation statistic (see the top) of two columns. Writes its cumulants over permutations within strata."""
    statistic = 0.0
    for k in range(3):
        cumulants[k] = 0.0
    for first in strata:
        n, present_a, present_b = _write_margins(cells, first, step_a, step_b, levels_a, levels_b, margins)
        if n < 3 or present_a < 2 or present_b < 2:
            continue
        for a in range(levels_a + levels_b):
            weights[a] = 1.0 / (margins[a] + 1.0)
        product = 0.0
        for a in range(levels_a):
            for b in range(levels_b):
                count = np.int64(cells[first + a * step_a + b * step_b])
                if count > 0:
                    expected = margins[a] * margins[levels_a + b] / n
                    product += count * (count - 2.0 * expected) * (weights[a] * weights[levels_a + b])
        statistic += _add_stratum(margins[:levels_a], margins[levels_a : levels_a + levels_b], n, product, cumulants)
    return statistic


@njit(cache=True, nogil=True)
def _sort(columns):
    """Sorts columns in place, by insertion, because numba's own sort takes seconds to compile."""
    for k in range(1, len(columns)):
        column, j = columns[k], k
        while j > 0 and columns[j - 1] > column:
            columns[j] = columns[j - 1]
            j -= 1
        columns[j] = column


@njit(cache=True, nogil=True)
def _sets_of(x, y, z):
    """The columns of each query (b, r + 2), ascending, and the places of its x and y among these (b, 2), ascending."""
    sets, places = np.empty((len(x), z.shape[1] + 2), np.int32), np.zeros((len(x), 2), np.int32)
    for i in range(len(x)):
        members = sets[i]
        members[0], members[1] = x[i], y[i]
        for d in range(z.shape[1]):
            members[d + 2] = z[i, d]
        _sort(members)
        count = 0
        for d in range(len(members)):
            if (members[d] == x[i] or members[d] == y[i]) and count < 2:
                places[i, count] = d
                count += 1
    return sets, places


@njit(cache=True, nogil=True)
def _order(sets, n_columns):
    """The indices of the sets in lexicographic order, by counting sort on each place from the last to the first."""
    n = len(sets)
    order, next_order = np.arange(n), np.empty(n, np.int64)
    begins = np.empty(n_columns + 1, np.int64)
    for d in range(sets.shape[1] - 1, -1, -1):
        _sort_rows(order, sets[:, d], n_columns, begins, next_order)
        order, next_order = next_order, order
    return order


@njit(cache=True, nogil=True)
def _starts(sets, order):
    """The places in `order` where the distinct sets begin, and the end of the last set."""
    starts, count = np.empty(len(order) + 1, np.int64), 0
    for k in range(len(order)):
        is_new = k == 0
        for d in range(sets.shape[1]):
            is_new |= k > 0 and sets[order[k], d] != sets[order[k - 1], d]
        if is_new:
            starts[count] = k
            count += 1
    starts[count] = len(order)
    return starts[: count + 1]


@njit(cache=True, nogil=True, _nrt=False)
def _is_within(mask, whole):
    outside = np.uint64(0)
    for word in range(len(whole)):
        outside |= mask[word] & ~whole[word]
    return outside == 0


@njit(cache=True, nogil=True, _nrt=False)
def _widen(whole, columns, n_columns, cells, members, widths, most_summed):
    """Adds a set's members to a common table if this stays small. Returns how many columns and cells it then has."""
    more, more_cells = n_columns, cells
    for column in members:
        if not (whole[column >> 6] >> np.uint64(column & 63)) & np.uint64(1):
            more_cells *= widths[column]
            if more_cells > most_summed or more == len(columns):
                return n_columns, cells
            columns[more] = column
            more += 1
    for k in range(n_columns, more):
        whole[columns[k] >> 6] |= np.uint64(1) << np.uint64(columns[k] & 63)
    return more, more_cells


@njit(cache=True, nogil=True, _nrt=False)
def _sum_neighbours(table, n_levels, rest):
    """Writes sums of runs of `n_levels` cells. Sums of two and three are written out, so that loops are vectorised."""
    if n_levels == 2:
        for o in range(len(rest)):
            rest[o] = table[2 * o] + table[2 * o + 1]
    elif n_levels == 3:
        for o in range(len(rest)):
            rest[o] = table[3 * o] + table[3 * o + 1] + table[3 * o + 2]
    else:
        for o in range(len(rest)):
            rest[o] = table[o * n_levels : (o + 1) * n_levels].sum()


@njit(cache=True, nogil=True, _nrt=False)
def _sum_out(table, n_levels, inner, rest):
    """Sums one column out of a table, and writes the result to `rest`. `inner` is the stride of that column."""
    if inner == 1:
        _sum_neighbours(table, n_levels, rest)
        return
    for o in range(len(rest) // inner):
        total, begin = rest[o * inner : (o + 1) * inner], o * n_levels * inner
        first, second = table[begin : begin + inner], table[begin + inner : begin + 2 * inner]
        for i in range(inner):
            total[i] = first[i] + second[i]
        for level in range(2, n_levels):
            more = table[begin + level * inner : begin + (level + 1) * inner]
            for i in range(inner):
                total[i] += more[i]


@njit(cache=True, nogil=True, _nrt=False)
def _find_table(cells, columns, widths, members, is_kept, ends, begins, same):
    """The place in `cells` of the table of `members`, summed from the table of all `columns`. Both lists ascend.

    Columns are summed out from the first on. The next set usually keeps or sums out the same first columns, so the
    intermediate tables stay in `cells` and serve it too. Together they have no more cells than the table of `columns`.
    `is_kept`, `begins` and `ends` describe the previous set on entry, and this one afterwards: is_kept[d] says whether
    the set has column d; begins[d] and ends[d] are the bounds in `cells` of the table after the first d columns were
    kept or summed out. `same` says whether the previous set's tables were summed from the same `columns`.
    """
    inner, outer, place = np.int64(1), ends[0], 0
    for d in range(len(columns)):
        n_levels = widths[columns[d]]
        keeps = place < len(members) and members[place] == columns[d]
        place += keeps
        outer //= n_levels
        same &= is_kept[d] == keeps
        if not same:
            is_kept[d] = keeps
            begins[d + 1], ends[d + 1] = begins[d], ends[d]
            if not keeps and n_levels > 1:
                begins[d + 1], ends[d + 1] = ends[d], ends[d] + outer * inner
                _sum_out(cells[begins[d] : ends[d]], n_levels, inner, cells[ends[d] : ends[d + 1]])
        if keeps:
            inner *= n_levels
    return begins[len(columns)]


@njit(cache=True, nogil=True)
def _list_strata(members, levels, steps, a, b, strata):
    """Lists the first cell of every combination of levels of the members not at places a and b. Returns how many."""
    n_strata = 1
    strata[0] = 0
    for d in range(len(members)):
        if d != a and d != b:
            n_levels = levels[members[d]]
            for stratum in range(n_strata - 1, -1, -1):
                for level in range(n_levels - 1, -1, -1):
                    strata[stratum * n_levels + level] = strata[stratum] + level * steps[d]
            n_strata *= n_levels
    return n_strata


@njit(cache=True, nogil=True)
def _answer(table, members, levels, widths, questions, places, most_binary, family, scratch, answers):
    """Answers the questions within one set of columns from its table."""
    strata, margins, reciprocals = scratch
    statistics, freedoms, cumulants, rows_used = answers
    width = len(members)
    steps = np.empty(width, np.int64)
    is_binary, step = width - 2 <= most_binary, np.int64(1)
    for d in range(width):
        steps[d] = step
        step *= widths[members[d]]
        is_binary &= levels[members[d]] <= 2
    for i in questions:
        a, b = places[i, 0], places[i, 1]
        levels_a, levels_b = levels[members[a]], levels[members[b]]
        known = strata[: _list_strata(members, levels, steps, a, b, strata)]
        of_two = steps[a], steps[b], levels_a, levels_b
        if len(rows_used):  # count the rows that have a value in every column of the question
            rows_used[i] = 0
            for first in known:
                for cell_of_a in range(first, first + levels_a * steps[a], steps[a]):
                    for cell in range(cell_of_a, cell_of_a + levels_b * steps[b], steps[b]):
                        rows_used[i] += table[cell]
        if family == PERMUTATIONS:
            statistics[i] = _of_permutations(table, known, *of_two, margins, reciprocals, cumulants[i])
        elif is_binary:
            statistics[i], freedoms[i] = _of_binary(table, known, *of_two, family)
        elif 2 <= levels_a <= 3 and 2 <= levels_b <= 3:
            statistics[i], freedoms[i] = _of_three_levels(table, known, *of_two, family)
        else:
            statistics[i], freedoms[i] = _of_levels(table, known, *of_two, family, margins)


@patient(table=10_000, lists=FEW, nogil=True)  # the size of `cells` and the number of queries limit the work
def joint_statistics(rows, x, y, z, most_binary, most_summed, cells, family, answers):
    """Writes the statistic of each query, and its degrees of freedom or cumulants.

    `rows`: codes (p, n), the levels as 0, 1, ..., in a type that can hold the index of any cell; weights (n,), how many
    equal rows a row represents; levels (p,), the number of levels of each column; widths (p,), which equal `levels`,
    plus 1 for columns with gaps, where a gap has the last code. Cells of gaps are counted and summed, but no answer
    includes them. Binary columns with at most `most_binary` members of z use the formula of 2 x 2 tables. A table for
    several sets has at most `most_summed` cells. `cells` (4, m) is scratch space; no table has more than m cells.
    `family` is PEARSON, LOG_LIKELIHOOD or PERMUTATIONS. `answers`: statistics (b,); freedoms (b,), not for
    PERMUTATIONS; cumulants (b, 3), only for PERMUTATIONS; rows_used (b,), empty if there are no gaps.
    """
    codes, weights, levels, widths = rows
    n, width = codes.shape[1], z.shape[1] + 2
    sets, places = _sets_of(x, y, z)
    order = _order(sets, len(codes))  # equal sets are adjacent, and so are sets with the same first columns
    starts = _starts(sets, order)
    n_sets = len(starts) - 1
    masks = np.zeros((n_sets, (len(codes) + 63) // 64), np.uint64)  # each distinct set as bits, 64 columns a word
    following = np.empty(n_sets, np.int64)  # for each set the next unanswered one
    for s in range(n_sets):
        following[s] = s + 1
        for column in sets[order[starts[s]]]:
            masks[s, column >> 6] |= np.uint64(1) << np.uint64(column & 63)
    widest = max(width, _MOST_COLUMNS)
    columns, before, n_before = np.empty(widest, np.int32), np.empty(widest, np.int32), 0
    whole = np.empty(masks.shape[1], np.uint64)
    prefixes = np.empty((widest, n), codes.dtype)  # row d: index of each row's levels in the first d columns
    prefixes[0] = 0
    steps = np.ones(widest, np.int64)  # how many such combinations are possible
    combined = np.empty(n, codes.dtype)
    room = cells.shape[1]
    cells = cells.reshape(4 * room)
    most_margins = 2 * levels.max()
    scratch = np.empty(room, np.uint32), np.empty(most_margins, np.int64), np.empty(most_margins)
    is_kept = np.zeros(widest, np.bool_)
    begins, ends = np.zeros(widest + 1, np.int64), np.empty(widest + 1, np.int64)
    head = 0
    while head < n_sets:
        # the columns of the next table: those of the first unanswered set, and of further sets as long as they fit
        for word in range(len(whole)):
            whole[word] = masks[head, word]
        n_columns, total = width, np.int64(1)
        for d in range(width):
            columns[d] = sets[order[starts[head]], d]
            total *= widths[columns[d]]
        s, looked = following[head], 0
        while s < n_sets and looked < _WINDOW and 2 * total <= most_summed:
            members = sets[order[starts[s]]]
            n_columns, total = _widen(whole, columns, n_columns, total, members, widths, most_summed)
            s, looked = following[s], looked + 1
        counted = columns[:n_columns]
        _sort(counted)
        same = 0
        while same < n_columns - 1 and same < n_before and counted[same] == before[same]:
            same += 1
        for d in range(same, n_columns - 1):
            _combine(prefixes[d], codes[counted[d]], steps[d], prefixes[d + 1])
            steps[d + 1] = steps[d] * widths[counted[d]]
        n_before = n_columns - 1  # combinations of all columns are counted, not stored as a prefix
        for d in range(same, n_before):
            before[d] = counted[d]
        last = counted[n_columns - 1]
        _combine(prefixes[n_columns - 1], codes[last], steps[n_columns - 1], combined)
        _count_cells(combined, weights, total, cells)
        ends[0], follows = total, False
        # answer every unanswered set within these columns
        s, waits, looked = head, -1, 0
        most_looked = _WINDOW + 1 if n_columns > width else 1
        head = n_sets
        while s < n_sets:
            if looked < most_looked and _is_within(masks[s], whole):
                if waits >= 0:
                    following[waits] = following[s]
                members = sets[order[starts[s]]]
                begin = _find_table(cells, counted, widths, members, is_kept, ends, begins, follows)
                follows = True
                table, questions = cells[begin:], order[starts[s] : starts[s + 1]]
                _answer(table, members, levels, widths, questions, places, most_binary, family, scratch, answers)
            else:
                if waits < 0:
                    head = s
                waits = s
                if looked >= most_looked:
                    break
            s, looked = following[s], looked + 1


@njit(cache=True, nogil=True)
def _complete_rows(codes, columns, rows):
    """Writes the indices of the rows in which none of the columns has a gap. Returns their number."""
    count = 0
    for row in range(codes.shape[1]):
        is_complete = True
        for column in columns:
            is_complete &= codes[column, row] >= 0
        rows[count] = row
        count += is_complete
    return count


@njit(cache=True, nogil=True)
def _sort_rows(rows, keys, n_keys, begins, made):
    """Writes the rows to `made` in the order of their keys; rows with equal keys keep their order."""
    begins[: n_keys + 1] = 0
    for row in rows:
        begins[keys[row] + 1] += 1
    for key in range(n_keys):
        begins[key + 1] += begins[key]
    for row in rows:
        place = begins[keys[row]]
        made[place] = row
        begins[keys[row]] = place + 1


@njit(cache=True, nogil=True)
def _number_strata(codes, members, rows, stratum_of):
    """Writes the index of each row's stratum; rows are sorted by the levels of `members`. Returns how many strata."""
    count = 0
    for k in range(len(rows)):
        for column in members:
            if k > 0 and codes[column, rows[k]] != codes[column, rows[k - 1]]:
                count += 1
                break
        stratum_of[rows[k]] = count
    return count + 1


@njit(cache=True, nogil=True)
def _count_runs(rows, keys, weights, counts):
    """Writes the weight of each run of equal keys. Returns the number of runs and the total weight."""
    runs, total = 0, np.int64(0)
    for k in range(len(rows)):
        if k == 0 or keys[rows[k]] != keys[rows[k - 1]]:
            counts[runs] = 0
            runs += 1
        counts[runs - 1] += weights[rows[k]]
        total += weights[rows[k]]
    return runs, total


@njit(cache=True, nogil=True)
def _product_of_cells(rows, codes_a, codes_b, weights, counts_a, counts_b, number_of, n):
    """The `product` argument of `_add_stratum` for one stratum, whose rows are sorted by a, then by b."""
    product, count, run = 0.0, np.int64(0), -1
    for k in range(len(rows)):
        row = rows[k]
        if k == 0 or codes_a[row] != codes_a[rows[k - 1]]:
            run += 1
        count += weights[row]
        is_last = k + 1 == len(rows) or codes_a[rows[k + 1]] != codes_a[row] or codes_b[rows[k + 1]] != codes_b[row]
        if is_last:
            rows_a, rows_b = counts_a[run], counts_b[number_of[codes_b[row]]]
            expected = rows_a * rows_b / n
            weight = (1.0 / (rows_a + 1.0)) * (1.0 / (rows_b + 1.0))
            product += count * (count - 2.0 * expected) * weight
            count = np.int64(0)
    return product


@njit(cache=True, nogil=True)
def permutations_by_rows(codes, weights, levels, x, y, z, statistics, cumulants, rows_used):
    """Writes statistic, cumulants and number of rows of each query, the same to the bit as `joint_statistics`. For each
    query, rows are sorted by z, then x, then y (by stable sorts, the last key first), so that the rows of each stratum,
    level and cell stand together. The time depends on the number of rows, not on the number of combinations of levels.
    Arguments as for `count_statistics`; in a query x must be less than y, and z must ascend.
    """
    n, r = codes.shape[1], z.shape[1]
    columns, scratch = np.empty(r + 2, np.int32), np.empty((4, n), np.int64)
    rows, others, by_b, stratum_of = scratch[0], scratch[1], scratch[2], scratch[3]
    begins, number_of = np.empty(max(n, levels.max()) + 1, np.int64), np.empty(levels.max(), np.int64)
    counts_a, counts_b = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(len(x)):
        a, b = x[i], y[i]
        columns[:r], columns[r], columns[r + 1] = z[i], a, b
        count = _complete_rows(codes, columns, rows)
        _sort_rows(rows[:count], codes[b], levels[b], begins, others)
        by_b[:count] = others[:count]
        for d in range(r, -1, -1):
            rows[:count] = others[:count]
            _sort_rows(rows[:count], codes[columns[d]], levels[columns[d]], begins, others)
        n_strata = _number_strata(codes, columns[:r], others[:count], stratum_of)
        _sort_rows(by_b[:count], stratum_of, n_strata, begins, rows)
        statistics[i], rows_used[i], cumulants[i] = 0.0, 0, 0.0
        begin = 0
        while begin < count:
            end = begin + 1
            while end < count and stratum_of[others[end]] == stratum_of[others[begin]]:
                end += 1
            known = others[begin:end]
            runs_a, total = _count_runs(known, codes[a], weights, counts_a)
            runs_b, _ = _count_runs(rows[begin:end], codes[b], weights, counts_b)
            rows_used[i] += total
            if total >= 3 and runs_a > 1 and runs_b > 1:
                run = 0
                for k in range(begin, end):
                    run += k > begin and codes[b, rows[k]] != codes[b, rows[k - 1]]
                    number_of[codes[b, rows[k]]] = run
                product = _product_of_cells(known, codes[a], codes[b], weights, counts_a, counts_b, number_of, total)
                statistics[i] += _add_stratum(counts_a[:runs_a], counts_b[:runs_b], total, product, cumulants[i])
            begin = end


@njit(cache=True, nogil=True)
def _renumber(keys, count, above, slots, numbers):
    """Replaces keys by 0, 1, 2, ... in the order of first occurrence. All keys are less than `above`. Returns how many
    different keys there are. `slots` and `numbers` form a hash table; its size is a power of two, at least 2 · `count`.
    """
    last, is_hashed = np.uint64(len(slots) - 1), above > len(slots)
    slots[:] = -1
    found = 0
    for i in range(count):
        key = keys[i]
        place = (np.uint64(key) * _SPREAD) >> np.uint64(20) & last if is_hashed else np.uint64(key)
        while slots[place] != key and slots[place] >= 0:
            place = (place + np.uint64(1)) & last
        if slots[place] < 0:
            slots[place] = key
            numbers[place] = found
            found += 1
        keys[i] = numbers[place]
    return found


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
    n_of_x = _renumber(of_x, n, n_strata * levels_x, slots, numbers)
    n_of_y = _renumber(of_y, n, n_strata * levels_y, slots, numbers)
    for i in range(n):
        of_cell[i] = of_x[i] * levels_y + codes_y[i]
    n_cells = _renumber(of_cell, n, n_of_x * levels_y, slots, numbers)
    counts, counts_x, counts_y, counts_cell = scratch[3], scratch[4], scratch[5], scratch[6]
    _count(strata, weights, n_strata, counts)
    _count(of_x, weights, n_of_x, counts_x)
    _count(of_y, weights, n_of_y, counts_y)
    _count(of_cell, weights, n_cells, counts_cell)

    # numbers were given in order of first appearance, so a cell is new exactly if its number is the next one
    present_x, present_y = scratch[7, :n_strata], scratch[8, :n_strata]
    present_x[:] = present_y[:] = 0
    next_x = next_y = next_cell = 0
    statistic, uncovered = 0.0, float(weights.sum())  # uncovered: the rows expected in empty cells
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
    """Writes statistic, degrees of freedom and number of rows, (b,) each, of every query over discrete columns.

    `codes` (p, n): the levels as 0, 1, ...; -1 for a gap; `weights` (n,): how many equal rows a row represents;
    `levels` (p,): the number of levels of each column. Tables of more than `most_cells` cells are counted in a hash
    table. Strata are numbered by the levels of z's members or, if these have more combinations than there are rows, in
    the order in which they occur. Sets of binary columns with at most `most_binary` members of z use the formula of
    2 x 2 tables. `family` is PEARSON or LOG_LIKELIHOOD.
    """
    n = codes.shape[1]
    n_rows = weights.sum()  # not n, so that strata are the same, to the bit, whether equal rows are merged or not
    r = z.shape[1]
    room = _most_combinations(levels, x, y, z, most_cells)
    places = 2
    while places < 2 * n:
        places *= 2
    slots, numbers = np.empty(places, np.int64), np.empty(places, np.int64)
    cells, margins = np.empty(max(room, 4 * _FEW_CELLS), np.int64), np.empty(room + 64, np.int64)
    strata, scratch = np.empty(n, np.int64), np.empty((9, n), np.int64)
    columns, kept = np.empty(r + 2, np.int32), np.empty((r + 2 if has_gaps else 0, n), np.int32)
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
                n_strata = _renumber(strata, count, n_strata, slots, numbers)
        codes_x = kept[r, :count] if has_gaps else codes[a]
        codes_y = kept[r + 1, :count] if has_gaps else codes[b]
        known, counted = strata[:count], kept_weights[:count] if has_gaps else weights
        rows_used[i] = counted.sum() if has_gaps else n_rows
        if n_strata * levels[a] * levels[b] <= most_cells:
            size, of_two = levels[a] * levels[b], (levels[b], np.int64(1), levels[a], levels[b])
            for k in range(count):
                strata[k] = strata[k] * size + codes_x[k] * levels[b] + codes_y[k]
            _count_cells(known, counted, n_strata * size, cells)
            begins = np.arange(n_strata) * size
            if is_binary:
                statistics[i], freedoms[i] = _of_binary(cells, begins, *of_two, family)
            else:
                statistics[i], freedoms[i] = _of_levels(cells, begins, *of_two, family, margins)
        else:
            n_strata = _renumber(strata, count, n_strata, slots, numbers)
            codes_of_two = codes_x, codes_y, counted, levels[a], levels[b]
            statistics[i], freedoms[i] = _sparse(*codes_of_two, known, n_strata, family, slots, numbers, scratch)
