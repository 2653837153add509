"""Partial correlations of many small index sets from one correlation matrix, and their p-values.

For a condition set z, |rho| of x and y is the correlation that is left once z is regressed out of both. Sets of up to
two members have symmetric closed forms: swapping x and y, or the members of z, gives the same bits. Larger sets go
through an elimination, which takes the members in the order in which they are given.

The small functions of the elimination are inlined: a call with arrays costs more than solving a small set.

The rule for near-singular sets: a member whose variance given the members before it is below `tolerance` (its own
variance is 1) is left out. If x or y has a smaller variance given z, it counts as constant, so rho = 0.
"""

import math

import numpy as np

from anypag._kernels.patience import FEW, njit, patient


@njit(cache=True, nogil=True)
def _from_none(correlation, x, y, strengths):
    for i in range(len(x)):
        strengths[i] = min(abs(correlation[x[i], y[i]]), 1.0)


@njit(cache=True, nogil=True)
def _given_one(xy, xz, yz, tolerance):
    left_x = 1.0 - xz * xz
    left_y = 1.0 - yz * yz
    if left_x < tolerance or left_y < tolerance:
        return 0.0
    return min(abs(xy - xz * yz) / math.sqrt(left_x * left_y), 1.0)


@njit(cache=True, nogil=True)
def _from_one(correlation, x, y, z, tolerance, strengths):
    for i in range(len(x)):
        a, b, c = x[i], y[i], z[i, 0]
        strengths[i] = _given_one(correlation[a, b], correlation[a, c], correlation[b, c], tolerance)


@njit(cache=True, nogil=True)
def _from_two(correlation, x, y, z, tolerance, strengths, left_out):
    for i in range(len(x)):
        a, b, c, d = x[i], y[i], z[i, 0], z[i, 1]
        ab, cd = correlation[a, b], correlation[c, d]
        ac, ad = correlation[a, c], correlation[a, d]
        bc, bd = correlation[b, c], correlation[b, d]
        both = 1.0 - cd * cd
        if both < tolerance:
            left_out[i] = 1
            strengths[i] = _given_one(ab, ac, bc, tolerance)
            continue
        # three 3 x 3 minors, each grouped so that swapping a, b or c, d changes no rounding
        left_a = both - (ac * ac + ad * ad) + 2.0 * cd * (ac * ad)
        left_b = both - (bc * bc + bd * bd) + 2.0 * cd * (bc * bd)
        if left_a < tolerance * both or left_b < tolerance * both:
            strengths[i] = 0.0
            continue
        joint = ab * both - (ac * bc + ad * bd) + cd * (ac * bd + ad * bc)
        strengths[i] = min(abs(joint) / math.sqrt(left_a * left_b), 1.0)


@njit(cache=True, inline="always")
def _left(correlation, node, members, kept, at, covariance, weight):
    """The variance of a node given the first `kept` members.

    Row `at` of `covariance` receives the covariances of the node with each member's residual, row `at` of `weight` the
    coefficients on these residuals; `weight[j, j]` is 1 / the variance of member j's residual.
    """
    left = 1.0
    for j in range(kept):
        value = correlation[node, members[j]]
        for k in range(j):
            value -= covariance[at, k] * weight[j, k]
        share = value * weight[j, j]
        covariance[at, j] = value
        weight[at, j] = share
        left -= value * share
    return left


@njit(cache=True, inline="always")
def _append(correlation, node, members, kept, tolerance, covariance, weight):
    """Appends a node to the first `kept` members if they do not determine it. Returns its residual variance."""
    left = _left(correlation, node, members, kept, kept, covariance, weight)
    if left >= tolerance:
        weight[kept, kept] = 1.0 / left
        members[kept] = node
    return left


@njit(cache=True, inline="always")
def _keep(correlation, members, count, tolerance, covariance, weight):
    """Moves to the front those of the first `count` members that earlier ones do not determine; returns how many."""
    kept = 0
    for i in range(count):
        if _append(correlation, members[i], members, kept, tolerance, covariance, weight) >= tolerance:
            kept += 1
    return kept


@njit(cache=True, inline="always")
def _is_repeated(z, i):
    """Do questions i - 1 and i have the same condition set?"""
    is_same = i > 0
    j = 0
    while is_same and j < z.shape[1]:
        is_same = z[i, j] == z[i - 1, j]
        j += 1
    return is_same


@njit(cache=True, nogil=True)
def _from_many(correlation, x, y, z, tolerance, strengths, left_out):
    r = z.shape[1]
    covariance, weight = np.empty((r + 2, r)), np.empty((r + 2, r))
    members = np.empty(r, np.uint32)
    kept = 0
    for i in range(len(x)):
        if not _is_repeated(z, i):
            for j in range(r):
                members[j] = z[i, j]
            kept = _keep(correlation, members, r, tolerance, covariance, weight)
        left_out[i] = r - kept
        left_x = _left(correlation, x[i], members, kept, r, covariance, weight)
        left_y = _left(correlation, y[i], members, kept, r + 1, covariance, weight)
        if left_x < tolerance or left_y < tolerance:
            strengths[i] = 0.0
            continue
        joint = correlation[x[i], y[i]]
        for j in range(kept):
            joint -= (covariance[r, j] * covariance[r + 1, j]) * weight[j, j]
        strengths[i] = min(abs(joint) / math.sqrt(left_x * left_y), 1.0)


@patient(table=20_000, nogil=True)
def partial_correlations(correlation, x, y, z, tolerance, strengths, left_out):
    """Writes |rho| of every query, and how many members of its set were left out as redundant (`left_out`, zeros on
    entry).

    `correlation` is symmetric to the bit. Members of z (b, r) are taken in the order given. A share of the variance
    below `tolerance` counts as zero.
    """
    # unsigned indices cannot be negative, which spares every look-up a check for counting from the end
    x, y, z = x.view(np.uint32), y.view(np.uint32), z.view(np.uint32)
    r = z.shape[1]
    if r == 0:
        _from_none(correlation, x, y, strengths)
    elif r == 1:
        _from_one(correlation, x, y, z, tolerance, strengths)
    elif r == 2:
        _from_two(correlation, x, y, z, tolerance, strengths, left_out)
    else:
        _from_many(correlation, x, y, z, tolerance, strengths, left_out)


@njit(cache=True, inline="always")
def pvalue(rho, root):
    """The two-sided p-value of |rho|; `root` as in `fisher_z_pvalues`."""
    if rho >= 1.0:
        return 0.0 if root > 0.0 else 1.0
    return math.erfc(root * math.log1p(2.0 * rho / (1.0 - rho)))


@patient(nogil=True)
def fisher_z_pvalues(strengths, left_out, roots, pvalues):
    """Writes two-sided p-values of Fisher's z transform of |rho|; `pvalues` may be `strengths` itself.

    `roots` (r + 1,): sqrt((n - k - 3) / 8) for k = r, r - 1, ..., 0 members kept; 0 where not positive.
    """
    for i in range(len(strengths)):
        pvalues[i] = pvalue(strengths[i], roots[left_out[i]])


@njit(cache=True, nogil=True)
def _complete_rows(has_value, members, rows):
    """Writes the rows in which no member has a gap to `rows`. Returns their number."""
    count = 0
    for row in range(has_value.shape[1]):
        complete = True
        for member in members:
            complete &= has_value[member, row]
        rows[count] = row
        count += complete
    return count


@njit(cache=True, nogil=True)
def _centre(values, rows, centred):
    """Writes the values in these rows, centred twice and scaled to about 1 by a power of two. Returns: do they vary?"""
    low, high = values[rows[0]], values[rows[0]]
    for i in range(1, len(rows)):
        low, high = min(low, values[rows[i]]), max(high, values[rows[i]])
    if low == high:
        return False
    scale = math.ldexp(1.0, min(-math.frexp(max(high, -low))[1], 1000))
    for i in range(len(rows)):
        centred[i] = values[rows[i]] * scale
    for _ in range(2):  # the second time removes the rounding error of the first mean
        total = 0.0
        for i in range(len(rows)):
            total += centred[i]
        mean = total / len(rows)
        for i in range(len(rows)):
            centred[i] -= mean
    return True


@njit(cache=True, nogil=True)
def _centre_changing(values, columns, rows, centred, place):
    """Centres the columns that vary within the rows and writes them from `place` on. Returns the place after them."""
    for column in columns:
        if _centre(values[column], rows, centred[place]):
            place += 1
    return place


@njit(cache=True, nogil=True)
def _local_correlation(centred, width, count, correlation):
    """The correlations of the first `width` centred columns over `count` rows."""
    for i in range(width):
        for j in range(i + 1):
            total = 0.0
            for k in range(count):
                total += centred[i, k] * centred[j, k]
            correlation[i, j] = total
    for i in range(width):
        for j in range(i):
            correlation[i, j] /= math.sqrt(correlation[i, i]) * math.sqrt(correlation[j, j])
            correlation[j, i] = correlation[i, j]
    for i in range(width):
        correlation[i, i] = 1.0


@njit(cache=True, nogil=True)
def _excess(values, rows):
    """The excess (`anypag.ci.data_test`) of a variable in some rows: numbers, or zeros and ones for levels but one."""
    n, width, on_diagonal = float(len(rows)), 0.0, 0.0
    if len(values) == 1:
        largest = mean = second = fourth = 0.0
        for row in rows:
            largest = max(largest, abs(values[0, row]))
        unit = 1.0 / max(largest, 1e-300)  # in which squares cannot overflow
        for row in rows:
            mean += values[0, row] * unit / n
        for row in rows:
            square = (values[0, row] * unit - mean) ** 2
            second, fourth = second + square, fourth + square * square
        width = 1.0 if second * second > 0.0 else 0.0
        on_diagonal = fourth / (second * second) if width else 0.0
    else:
        left = n
        for k in range(len(values) + 1):
            count = left if k == len(values) else values[k][rows].sum()
            left -= count
            if count > 0:
                width, on_diagonal = width + 1.0, on_diagonal + 1.0 / count
        width, on_diagonal = width - 1.0, on_diagonal - 2.0 * width / n + 1.0 / n
    if n <= 3 or not 0 < width < n - 1:
        return 0.0
    above = n * (n + 1) * on_diagonal - (n - 1) * width * (width + 2)
    return max(math.sqrt((n - 1) / (2 * n * (n - 3))) * above / (width * (n - 1 - width)), 0.0)


@njit(cache=True, nogil=True)
def pairwise_partial_correlations(values, has_value, x, y, z, tolerance, strengths, left_out, rows_used, excess):
    """Writes |rho| of every query, as `partial_correlations`, from the rows in which none of its own columns has a gap.

    A member of the condition set that is constant in these rows is left out; if x or y is constant in them, rho = 0.
    `values` (p, n) are arbitrary where a value is missing. Also written: the number of rows of each query, and how far
    x and y are from normal in them (`excess`).
    """
    r = z.shape[1]
    members = np.empty(r + 2, np.int32)
    rows = np.empty(values.shape[1], np.int64)
    centred = np.empty((r + 2, values.shape[1]))
    correlation = np.empty((r + 2, r + 2))
    places = np.arange(r + 2).astype(np.int32)
    for i in range(len(x)):
        strengths[i] = excess[i] = 0.0
        members[:r] = z[i]
        members[r], members[r + 1] = x[i], y[i]
        rows_used[i] = _complete_rows(has_value, members, rows)
        if rows_used[i] == 0:
            continue
        used = rows[: rows_used[i]]
        excess[i] = _excess(values[x[i] : x[i] + 1], used) * _excess(values[y[i] : y[i] + 1], used)
        kept = _centre_changing(values, members[:r], used, centred, 0)
        if _centre_changing(values, members[r:], used, centred, kept) == kept + 2:
            _local_correlation(centred, kept + 2, len(used), correlation)
            one, a, b, c = slice(i, i + 1), slice(kept, kept + 1), slice(kept + 1, kept + 2), places[:kept].copy()
            asked = places[a], places[b], c.reshape(1, kept)
            partial_correlations(correlation, *asked, tolerance, strengths[one], left_out[one])
        left_out[i] += r - kept


@njit(cache=True, nogil=True)
def _wilks(block, width_z, width_x, width_y, tolerance, members, chosen, covariance, weight):
    """The log of Wilks' lambda of two blocks of columns given a third, and the columns kept of z, x and y.

    `block` holds the correlations of the columns of z, then x, then y. Lambda is the share of the
    (generalised) variance of y given z that is still there given z and x.
    """
    for i in range(width_z):
        members[i] = i
    kept_z = _keep(block, members, width_z, tolerance, covariance, weight)
    logarithm = 0.0
    kept = kept_z
    for i in range(width_z + width_x, width_z + width_x + width_y):
        left = _append(block, i, members, kept, tolerance, covariance, weight)
        if left >= tolerance:
            chosen[kept - kept_z] = i
            logarithm -= math.log(left)
            kept += 1
    kept_y = kept - kept_z
    kept = kept_z
    for i in range(width_z, width_z + width_x):
        if _append(block, i, members, kept, tolerance, covariance, weight) >= tolerance:
            kept += 1
    kept_x = kept - kept_z
    for i in range(kept_y):
        left = _append(block, chosen[i], members, kept, tolerance, covariance, weight)
        logarithm += math.log(max(left, tolerance))
        if left >= tolerance:
            kept += 1
    return min(logarithm, 0.0), kept_z, kept_x, kept_y


@njit(cache=True, nogil=True)
def _take_out(block, k, rows, columns, tolerance):
    """Takes column k out of those after it and scales its row to length 1; zeros if less than `tolerance` is left."""
    scale = 1.0 / math.sqrt(block[k, k]) if block[k, k] >= tolerance else 0.0
    for j in range(k, columns):
        block[k, j] *= scale
    for i in range(k + 1, rows):
        for j in range(i, columns):
            block[i, j] -= block[k, i] * block[k, j]


@njit(cache=True, nogil=True)
def _trace(block, width_z, width_x, width_y, tolerance):
    """Pillai's trace: the sum of squared canonical correlations of x and y given z; overwrites the upper triangle."""
    end_x, end = width_z + width_x, width_z + width_x + width_y
    for k in range(width_z):
        _take_out(block, k, end, end, tolerance)
    for k in range(width_z, end_x):  # out of x, and out of the covariances of x and y, not out of y itself
        _take_out(block, k, end_x, end, tolerance)
    total = 0.0
    for k in range(end_x, end):
        if block[k, k] < tolerance:
            continue
        for i in range(width_z, end_x):
            total += block[i, k] * block[i, k] / block[k, k]
        for j in range(k + 1, end):
            share = block[k, j] / block[k, k]
            for i in range(width_z, end_x):
                block[i, j] -= block[i, k] * share
            for i in range(k + 1, j + 1):
                block[i, j] -= block[k, i] * share
    return total


@njit(cache=True, nogil=True)
def _spread(start, members, columns):
    """Writes the columns of the members one after the other. Returns their number."""
    count = 0
    for member in members:
        for column in range(start[member], start[member + 1]):
            columns[count] = column
            count += 1
    return count


@njit(cache=True, nogil=True)
def block_statistics(blocks, x, y, z, tolerance, nearly_normal, answers):
    """The likelihood-ratio statistic of independence of two blocks of Gaussian columns given others.

    `blocks`: correlation (q, q); start (p + 1,): columns start[i]:start[i + 1] belong to variable i; values and
    has_value (q, n), with n = 0 if there are no gaps. If there are, a column that is constant in the rows of a question
    (a level that does not occur in them) is left out of it. χ² is used while the product of the two excesses and the
    next term of Box's expansion are at most `nearly_normal`. `answers` are written: statistics (b,), with Bartlett's
    correction; freedoms (b,), columns kept of x times columns kept of y, 0 if there are too few rows; rows_used and
    excess (b,), only where there are gaps; widths (b, 3), columns kept of z, x and y; traces (b,), Pillai's trace, only
    where χ² is not used.
    """
    correlation, start, values, has_value = blocks
    statistics, freedoms, rows_used, widths, excess, traces = answers
    r = z.shape[1]
    widest = 0
    for i in range(len(start) - 1):
        widest = max(widest, start[i + 1] - start[i])
    width = min(widest * (r + 2), len(correlation))
    variables = np.empty(r + 2, np.int32)
    columns, members, chosen = np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width, np.int32)
    block = np.empty((width, width))
    covariance, weight = np.empty((width + 1, width)), np.empty((width + 1, width))
    rows = np.empty(values.shape[1], np.int64)
    centred = np.empty((width if values.shape[1] else 0, values.shape[1]))
    for i in range(len(x)):
        variables[:r] = z[i]
        variables[r], variables[r + 1] = x[i], y[i]
        count = _spread(start, variables, columns)
        width_x = start[variables[r] + 1] - start[variables[r]]
        width_y = start[variables[r + 1] + 1] - start[variables[r + 1]]
        width_z = count - width_x - width_y
        if values.shape[1]:
            rows_used[i] = _complete_rows(has_value, columns[:count], rows)
            if rows_used[i] == 0:
                statistics[i], freedoms[i] = 0.0, 0
                continue
            used = rows[: rows_used[i]]
            of_x, of_y = values[start[x[i]] : start[x[i] + 1]], values[start[y[i]] : start[y[i] + 1]]
            excess[i] = _excess(of_x, used) * _excess(of_y, used)
            end_z = _centre_changing(values, columns[:width_z], used, centred, 0)
            end_x = _centre_changing(values, columns[width_z : width_z + width_x], used, centred, end_z)
            end_y = _centre_changing(values, columns[width_z + width_x : count], used, centred, end_x)
            width_z, width_x, width_y = end_z, end_x - end_z, end_y - end_x
            _local_correlation(centred, end_y, len(used), block)
        else:
            for j in range(count):
                for k in range(count):
                    block[j, k] = correlation[columns[j], columns[k]]
        logarithm, kept_z, kept_x, kept_y = _wilks(
            block, width_z, width_x, width_y, tolerance, members, chosen, covariance, weight
        )
        factor = rows_used[i] - 1 - kept_z - 0.5 * (kept_x + kept_y + 1)
        statistics[i] = -factor * logarithm if factor > 0 else 0.0
        freedoms[i] = kept_x * kept_y if factor > 0 else 0
        widths[i, 0], widths[i, 1], widths[i, 2] = kept_z, kept_x, kept_y
        next_term = kept_x * kept_y * (kept_x * kept_x + kept_y * kept_y - 5) / 48.0
        is_far = excess[i] > nearly_normal or next_term > nearly_normal * factor * factor
        if freedoms[i] > 0 and is_far:
            traces[i] = _trace(block, width_z, width_x, width_y, tolerance)


# --- passes over a whole matrix -----------------------------------------------------------------------------------
# They give the same answers as single questions, to the bit. They are faster because they compare |rho| first and
# compute a p-value only where it may decide. p falls as |rho| rises, except for rounding, so if two |rho| are within
# `margin` of each other the p-values themselves are compared.


@njit(cache=True, nogil=True)
def _strong_columns(row, least, found):
    """Lists in `found` the columns where |row| is at least `least`. Returns their number."""
    count = 0
    for c in range(len(row)):
        found[count] = c
        count += abs(row[c]) >= least  # if not, the next column overwrites this entry
    return count


@patient(nogil=True)
def pairs_from(correlation, order, first, end, least):
    """The pairs of nodes i < j, i from first to end, with |rho| of at least `least`, row by row; node i is column
    order[i].

    A row is read in memory order. The columns found are then put in the order of nodes: few by insertion, many by a
    scan over all nodes.
    """
    n = len(order)
    size = 64 + 4 * (end - first)
    x, y, strengths = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    columns = order.view(np.uint32)
    node_of, found = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        node_of[columns[i]] = i
    count = 0
    for i in range(first, end):
        row = correlation[columns[i]]
        if count + n > size:
            size = 2 * size + n
            x, y, strengths = _longer(x, size), _longer(y, size), _longer(strengths, size)
        n_found = _strong_columns(row, least, found)
        begin = count
        if 32 * n_found > n:
            for j in range(i + 1, n):
                y[count] = j
                count += abs(row[columns[j]]) >= least
        else:
            for k in range(n_found):
                j = node_of[found[k]]
                if j > i:
                    at = count
                    while at > begin and y[at - 1] > j:
                        y[at] = y[at - 1]
                        at -= 1
                    y[at] = j
                    count += 1
        for k in range(begin, count):
            x[k], strengths[k] = i, min(abs(row[columns[y[k]]]), 1.0)
    return x[:count].copy(), y[:count].copy(), strengths[:count].copy()


@njit(cache=True, nogil=True)
def _longer(values, size):
    longer = np.empty(size, values.dtype)
    for k in range(len(values)):
        longer[k] = values[k]
    return longer


@njit(cache=True, nogil=True)
def _list_near(row, start, neighbour, column, block, here, node, stamps, stamp, place_of, places, values):
    """Lists the neighbours of a node in the block, with their correlations from its row. Returns their number."""
    count = 0
    for e in range(start[node], start[node + 1]):
        if block[e] == here:
            v = neighbour[e]
            stamps[v], place_of[v] = stamp, count
            places[count], values[count] = e, row[column[e]]
            count += 1
    return count


@njit(cache=True, nogil=True)
def _list_more(start, neighbour, block, here, node, other, stamps, stamp, places, count):
    """Lists a node's new neighbours in the block, except `other`. Returns how many are listed, and how many it has."""
    n_near = 0
    for e in range(start[node], start[node + 1]):
        v = neighbour[e]
        if block[e] == here and v != other:
            n_near += 1
            if stamps[v] != stamp:
                places[count] = e
                count += 1
    return count, n_near


@njit(cache=True, nogil=True, error_model="numpy")
def _squares(xy, of_x, of_y, count, tolerance, squares):
    """rho² of x and y given each node, up to rounding; -1 if it nearly determines one. Without a branch, for speed."""
    for i in range(count):
        left_x, left_y = 1.0 - of_x[i] * of_x[i], 1.0 - of_y[i] * of_y[i]
        joint = xy - of_x[i] * of_y[i]
        is_left = min(left_x, left_y) >= tolerance
        square = joint * joint / (left_x * left_y if is_left else 1.0)  # as plain Python, 0 / 0 would warn
        squares[i] = square if is_left else -1.0


@njit(cache=True, nogil=True)
def _least_square(squares, count):
    """The least entry that is not negative; infinity if there is none."""
    first = second = np.inf
    for i in range(0, count - 1, 2):  # two minima, so that neither waits for the other
        first = squares[i] if 0.0 <= squares[i] < first else first
        second = squares[i + 1] if 0.0 <= squares[i + 1] < second else second
    if count % 2 and 0.0 <= squares[count - 1] < first:
        first = squares[count - 1]
    return min(first, second)


@patient(lists=FEW, nogil=True)
def best_singles(correlation, order, edges, max_sets, tolerance, root, margin, found):
    """For every edge the node of its two pools of radius 1 that gives the largest p-value as the condition set. Returns
    how many questions were answered.

    Ties go to the node that `_kernels.candidates` gives out first: nodes of x's pool before those only in y's pool,
    then by how strongly they depend on x and y, then by index. `edges`: start, neighbour, block (the graph, as in
    `_kernels.pools`), then (m,) the ends and the block of each. An edge with more than `max_sets` candidates is not
    tested; negative for no limit. `found` is written: both pools have a node; there are more than `max_sets`
    candidates; (m, 1) the node and (m,) its p-value where there are candidates.
    """
    start, neighbour, block, xs, ys, edge_block = edges
    is_open, is_large, best_z, best_p = found
    n = len(order)
    columns = order.view(np.uint32)
    column = np.empty(len(neighbour), np.uint32)
    for e in range(len(neighbour)):
        column[e] = columns[neighbour[e]]
    stamps, places, place_of = np.zeros(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    near, near_strength = np.empty(n, np.int64), np.empty(n)
    of_x, of_y, squares = np.empty(n), np.empty(n), np.empty(n)
    total, n_first = np.int64(0), 0
    for k in range(len(xs)):
        x, y, here = xs[k], ys[k], edge_block[k]
        row_x, row_y = correlation[columns[x]], correlation[columns[y]]
        if k == 0 or x != xs[k - 1] or here != edge_block[k - 1]:  # consecutive edges of one node share this list
            stamp = k + 1
            n_first = _list_near(row_x, start, neighbour, column, block, here, x, stamps, stamp, place_of, places, of_x)
        at_y = place_of[y] if stamps[y] == stamp else n
        n_x = n_first - (at_y < n)
        listed, n_y = _list_more(start, neighbour, block, here, y, x, stamps, stamp, places, n_first)
        count = listed - (at_y < n)
        is_open[k] = n_x > 0 and n_y > 0
        is_large[k] = is_open[k] and 0 <= max_sets < count
        if not is_open[k] or is_large[k]:
            continue
        total += count
        xy = row_x[columns[y]]
        for i in range(listed):  # only look-ups, so that many memory accesses overlap
            of_y[i] = row_y[column[places[i]]]
        for i in range(n_first, listed):
            of_x[i] = row_x[column[places[i]]]
        _squares(xy, of_x, of_y, listed, tolerance, squares)
        if at_y < n:
            squares[at_y] = np.inf
        bound = math.sqrt(_least_square(squares, listed)) + margin
        bound = bound * bound * (1.0 + 1e-9) if bound < 1.0 else np.inf  # |rho| above 1 counts as 1
        least, n_near = 2.0, 0
        for i in range(listed):
            if squares[i] <= bound and i != at_y:  # a superset of those within `margin` of the least
                near[n_near], near_strength[n_near] = i, _given_one(xy, of_x[i], of_y[i], tolerance)
                least = min(least, near_strength[n_near])
                n_near += 1
        best_p[k] = -1.0
        best, best_depends = np.int64(0), np.float32(0.0)
        for j in range(n_near):
            if near_strength[j] > least + margin:
                continue
            p = pvalue(near_strength[j], root)
            if p < best_p[k]:
                continue
            i = near[j]
            depends = np.float32(abs(of_x[i])) + np.float32(abs(of_y[i]))
            if p > best_p[k] or _comes_first(
                i < n_first, depends, neighbour[places[i]], best < n_first, best_depends, best_z[k, 0]
            ):
                best, best_depends, best_p[k], best_z[k, 0] = i, depends, p, neighbour[places[i]]
    return total


@njit(cache=True, nogil=True)
def _comes_first(is_of_x, depends, node, other_is_of_x, other_depends, other):
    if is_of_x != other_is_of_x:
        return is_of_x
    return depends > other_depends or (depends == other_depends and node < other)
