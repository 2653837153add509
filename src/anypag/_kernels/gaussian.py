"""Partial correlations for many small condition sets, from one correlation matrix; p-values; fits of linear systems.

For a condition set z, |rho| of x and y is their absolute correlation after z is regressed out of both. Sets of up to
two members have symmetric closed forms: swapping x and y, or the members of z, gives the same bits. Larger sets go
through an elimination, which takes the members in the order in which they are given.

The small functions of the elimination are inlined, because a call with arrays costs more than solving a small set.

The rule for near-singular sets, with variables of variance 1: a member whose variance given the members before it is
below `tolerance` is left out. If x or y has a variance below `tolerance` given z, it counts as constant, and rho = 0.

A linear system behind a path diagram has arrows `i -> j` and spouses `i <-> j`. Its equations are X = B X + noise with
B[j, i] = 0 unless i -> j, and the noise has the covariance Ω with Ω[i, j] = 0 unless i = j or i <-> j. If there is no
cycle of arrows and no bow (a pair with both an arrow and `<->`), B and Ω follow from the covariance of X, except in
special cases. They are fitted by residual iterative conditional fitting (Drton, Eichler & Richardson 2009).
"""

import math

import numpy as np

from anypag._kernels.patience import FEW, njit, patient

LEAST = 1e-12  # a pivot below this share of its diagonal means that a matrix is singular

_MATRIX = "float64[:, ::1]"
_FLAGS = "uint8[:, ::1]"
_VECTOR = "float64[::1]"
_PLACES = "int64[::1]"


@njit(cache=True, nogil=True)
def _given_one(xy, xz, yz, tolerance):
    left_x = 1.0 - xz * xz
    left_y = 1.0 - yz * yz
    if left_x < tolerance or left_y < tolerance:
        return 0.0
    return min(abs(xy - xz * yz) / math.sqrt(left_x * left_y), 1.0)


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
        # three 3 x 3 minors; terms are grouped so that swapping a with b, or c with d, changes no rounding
        left_a = both - (ac * ac + ad * ad) + 2.0 * cd * (ac * ad)
        left_b = both - (bc * bc + bd * bd) + 2.0 * cd * (bc * bd)
        if left_a < tolerance * both or left_b < tolerance * both:
            strengths[i] = 0.0
            continue
        joint = ab * both - (ac * bc + ad * bd) + cd * (ac * bd + ad * bc)
        strengths[i] = min(abs(joint) / math.sqrt(left_a * left_b), 1.0)


@njit(cache=True, inline="always")
def _left(correlation, node, members, kept, at, covariance, weight):
    """The variance of a node given the first `kept` members. A member's residual is what remains of the member given
    the members before it. Row `at` of `covariance` receives the covariances of the node with these residuals, row `at`
    of `weight` the node's coefficients on them. `weight[j, j]` is 1 / the variance of member j's residual.
    """
    left = 1.0
    for j in range(kept):
        value = correlation[node, members[j]]
        for k in range(j):
            value -= covariance[at, k] * weight[j, k]
        share = value * weight[j, j]
        covariance[at, j], weight[at, j] = value, share
        left -= value * share
    return left


@njit(cache=True, inline="always")
def _append(correlation, node, members, kept, tolerance, covariance, weight):
    """Appends a node to the first `kept` members if they do not determine it. Returns its residual variance."""
    left = _left(correlation, node, members, kept, kept, covariance, weight)
    if left >= tolerance:
        weight[kept, kept], members[kept] = 1.0 / left, node
    return left


@njit(cache=True, inline="always")
def _keep(correlation, members, count, tolerance, covariance, weight):
    """Drops those of the first `count` members that earlier members determine. Returns how many remain."""
    kept = 0
    for i in range(count):
        if _append(correlation, members[i], members, kept, tolerance, covariance, weight) >= tolerance:
            kept += 1
    return kept


@njit(cache=True, inline="always")
def _is_repeated(z, i):
    """Do questions i - 1 and i have the same condition set?"""
    is_same, j = i > 0, 0
    while is_same and j < z.shape[1]:
        is_same = z[i, j] == z[i - 1, j]
        j += 1
    return is_same


@njit(cache=True, nogil=True)
def _from_many(correlation, x, y, z, tolerance, strengths, left_out):
    r = z.shape[1]
    covariance, weight = np.empty((r + 2, r)), np.empty((r + 2, r))
    members, kept = np.empty(r, np.uint32), 0
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
    entry). `correlation` is symmetric to the bit. Members of z (b, r) are taken in the order given. A share of the
    variance below `tolerance` counts as zero.
    """
    # unsigned indices cannot be negative, so no look-up checks whether its index counts from the end
    x, y, z = x.view(np.uint32), y.view(np.uint32), z.view(np.uint32)
    r = z.shape[1]
    if r == 0:
        for i in range(len(x)):
            strengths[i] = min(abs(correlation[x[i], y[i]]), 1.0)
    elif r == 1:
        for i in range(len(x)):
            a, b, c = x[i], y[i], z[i, 0]
            strengths[i] = _given_one(correlation[a, b], correlation[a, c], correlation[b, c], tolerance)
    elif r == 2:
        _from_two(correlation, x, y, z, tolerance, strengths, left_out)
    else:
        _from_many(correlation, x, y, z, tolerance, strengths, left_out)


@patient(nogil=True)
def fisher_z_pvalues(strengths, left_out, roots, pvalues):
    """Writes two-sided p-values of Fisher's z transform of |rho|; `pvalues` may be `strengths` itself. `roots` (r +
    1,): sqrt((n - k - 3) / 8) for n rows and k = r, r - 1, ..., 0 members kept; 0 if n - k - 3 <= 0.
    """
    for i in range(len(strengths)):
        rho, root = strengths[i], roots[left_out[i]]
        if rho >= 1.0:
            pvalues[i] = 0.0 if root > 0.0 else 1.0
        else:
            pvalues[i] = math.erfc(root * math.log1p(2.0 * rho / (1.0 - rho)))


@njit(cache=True, nogil=True)
def _complete_rows(has_value, members, rows):
    """Writes to `rows` the indices of the rows in which no member has a gap. Returns their number."""
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
    """Writes the values in `rows`, centred and scaled by a power of two. Returns False if the values do not vary."""
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
    """The excess (how far from normal; see `ci.data_test`) of a variable in these rows. Numbers, or two levels, are one
    row of `values`. With more levels, each level except one has a row of 0/1 indicators.
    """
    n, width, on_diagonal = float(len(rows)), 0.0, 0.0
    if len(values) == 1:
        largest = mean = second = fourth = 0.0
        for row in rows:
            largest = max(largest, abs(values[0, row]))
        unit = 1.0 / max(largest, 1e-300)  # squares of values in this unit cannot overflow; the excess has no unit
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
    """Writes |rho| of every query, as `partial_correlations`, from the rows in which no column of the query has a gap.
    A member of the condition set that is constant in these rows is left out; if x or y is constant in them, rho = 0.
    `values` (p, n) are arbitrary where a value is missing. Also written: the number of rows of each query, and the
    product of the excesses of x and y in them (see `_excess`).
    """
    r = z.shape[1]
    members, places = np.empty(r + 2, np.int32), np.arange(r + 2).astype(np.int32)
    rows, centred = np.empty(values.shape[1], np.int64), np.empty((r + 2, values.shape[1]))
    correlation = np.empty((r + 2, r + 2))
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
def _wilks(block, widths, tolerance, scratch):
    """The log of Wilks' lambda (the share of y's generalised variance given z that remains given z and x), and how many
    columns of z, x and y are kept. `block` holds the correlations of the columns of z, then x, then y.
    """
    (width_z, width_x, width_y), (members, chosen, covariance, weight) = widths, scratch
    for i in range(width_z):
        members[i] = i
    kept_z = _keep(block, members, width_z, tolerance, covariance, weight)
    logarithm, kept = 0.0, kept_z
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
    """Regresses column k out of columns k + 1 to `rows` - 1, in the upper triangle. Scales row k by 1 / √(variance of
    column k), or by 0 if that variance is below `tolerance`.
    """
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
    for k in range(width_z, end_x):  # changes later columns of x and their covariances with y, not the variances of y
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


@patient(table=900, lists=FEW, nogil=True)  # as Python for 30 columns at most: a question's work grows with their cube
def block_statistics(blocks, x, y, z, tolerance, nearly_normal, answers):
    """Writes the likelihood-ratio statistics of independence of two blocks of Gaussian columns given other blocks.

    `blocks`: correlation (q, q); start (p + 1,): columns start[i]:start[i + 1] belong to variable i; values and
    has_value (q, n), with n = 0 if there are no gaps. With gaps, a column that is constant in the rows of a question
    (a level that does not occur in them) is left out. χ² counts as accurate if two numbers are at most
    `nearly_normal`: the product of the two excesses (see `ci.data_test`), and the first term that χ² leaves out of
    Box's expansion. `answers` are written: statistics (b,), with Bartlett's correction; freedoms (b,), columns kept of
    x times columns kept of y, 0 if there are too few rows; rows_used and excess (b,), which the caller fills if there
    are no gaps; widths (b, 3), columns kept of z, x and y; traces (b,), Pillai's trace, only where χ² is inaccurate.
    """
    correlation, start, values, has_value = blocks
    statistics, freedoms, rows_used, widths, excess, traces = answers
    r = z.shape[1]
    widest = 0
    for i in range(len(start) - 1):
        widest = max(widest, start[i + 1] - start[i])
    width = min(widest * (r + 2), len(correlation))
    variables = np.empty(r + 2, np.int32)
    columns, block = np.empty(width, np.int32), np.empty((width, width))
    covariance, weight = np.empty((width + 1, width)), np.empty((width + 1, width))
    scratch = np.empty(width, np.int32), np.empty(width, np.int32), covariance, weight
    rows = np.empty(values.shape[1], np.int64)
    centred = np.empty((width if values.shape[1] else 0, values.shape[1]))
    for i in range(len(x)):
        variables[:r] = z[i]
        variables[r], variables[r + 1] = x[i], y[i]
        count = 0
        for variable in variables:
            for column in range(start[variable], start[variable + 1]):
                columns[count] = column
                count += 1
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
        logarithm, kept_z, kept_x, kept_y = _wilks(block, (width_z, width_x, width_y), tolerance, scratch)
        factor = rows_used[i] - 1 - kept_z - 0.5 * (kept_x + kept_y + 1)
        statistics[i] = -factor * logarithm if factor > 0 else 0.0
        freedoms[i] = kept_x * kept_y if factor > 0 else 0
        widths[i, 0], widths[i, 1], widths[i, 2] = kept_z, kept_x, kept_y
        next_term = kept_x * kept_y * (kept_x * kept_x + kept_y * kept_y - 5) / 48.0
        is_far = excess[i] > nearly_normal or next_term > nearly_normal * factor * factor
        if freedoms[i] > 0 and is_far:
            traces[i] = _trace(block, width_z, width_x, width_y, tolerance)


@njit(f"boolean({_MATRIX}, int64)", cache=True, nogil=True)
def _factor(a, k):
    """Replaces the leading (k, k) part of `a` by its Cholesky factor, in the lower triangle; False if singular."""
    for i in range(k):
        for j in range(i + 1):
            total = a[i, j]
            for m in range(j):
                total -= a[i, m] * a[j, m]
            if i == j:
                if not total > LEAST * abs(a[i, i]):
                    return False
                a[i, i] = np.sqrt(total)
            else:
                a[i, j] = total / a[j, j]
    return True


@njit(f"void({_MATRIX}, int64, {_VECTOR})", cache=True, nogil=True)
def _solve(factor, k, x):
    """Solves A x = b, given the Cholesky factor of A; `x` holds b on entry."""
    for i in range(k):
        for j in range(i):
            x[i] -= factor[i, j] * x[j]
        x[i] /= factor[i, i]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            x[i] -= factor[j, i] * x[j]
        x[i] /= factor[i, i]


@njit(f"boolean({_MATRIX}, {_FLAGS}, {_MATRIX}, {_MATRIX})", cache=True, nogil=True)
def _least_squares(s, arrow, b, omega):
    """Regresses every node on its parents, for initial B and Ω (final for nodes without spouses). False if singular."""
    n = len(s)
    system, right, parents = np.empty((n, n)), np.empty(n), np.empty(n, np.int64)
    for j in range(n):
        k = 0
        for i in range(n):
            if arrow[i, j]:
                parents[k] = i
                k += 1
        for x in range(k):
            right[x] = s[parents[x], j]
            for y in range(x + 1):
                system[x, y] = s[parents[x], parents[y]]
        if not _factor(system, k):
            return False
        _solve(system, k, right)
        omega[j, j] = s[j, j]
        for x in range(k):
            b[j, parents[x]] = right[x]
            omega[j, j] -= right[x] * s[parents[x], j]
        if not omega[j, j] > 0.0:
            return False
    return True


@njit(f"int64({_FLAGS}, int64, {_PLACES}, {_PLACES})", cache=True, nogil=True)
def _district(spouse, v, of, members):
    """Writes v's district (v and all nodes that paths of `<->` join to it) to `members`, ascending, and sets `of[j]` to
    1 for each member j. Returns the number of members.
    """
    members[0], of[v] = v, 1
    count, done = 1, 0
    while done < count:
        for j in range(len(spouse)):
            if spouse[members[done], j] and not of[j]:
                members[count], of[j] = j, 1
                count += 1
        done += 1
    members[:count].sort()
    return count


@njit(f"float64({_MATRIX}, {_FLAGS}, {_FLAGS}, {_PLACES}, int64, int64, {_MATRIX}, {_MATRIX})", cache=True, nogil=True)
def _refit(s, arrow, spouse, members, d, at, b, omega):
    """Regresses a member on its parents and spouses' pseudo-variables. Returns the largest change, or -1 (singular)."""
    n, i = len(s), members[at]
    rest, place = np.empty(d - 1, np.int64), np.full(n, -1, np.int64)
    r = 0
    for x in range(d):
        if x != at:
            rest[r], place[members[x]] = members[x], r
            r += 1
    factor = np.empty((r, r))
    for x in range(r):
        for y in range(r):
            factor[x, y] = omega[rest[x], rest[y]]
    if not _factor(factor, r):
        return -1.0
    k = 0
    for v in range(n):
        k += arrow[v, i] + (spouse[v, i] != 0)
    rows, at_node, column = np.zeros((k, n)), np.empty(k, np.int64), np.empty(r)
    k = 0
    for v in range(n):
        if arrow[v, i]:
            rows[k, v], at_node[k] = 1.0, v
            k += 1
    n_parents = k
    for v in range(n):
        if spouse[v, i]:  # its pseudo-variable: a row of Ω⁻¹ (I - B), over the rest of the district
            column[:] = 0.0
            column[place[v]] = 1.0
            _solve(factor, r, column)
            for x in range(r):
                for u in range(n):
                    own = 1.0 if u == rest[x] else 0.0
                    rows[k, u] += column[x] * (own - b[rest[x], u])
            at_node[k] = v
            k += 1
    product, system, right, solution = np.zeros((k, n)), np.empty((k, k)), np.empty(k), np.empty(k)
    for x in range(k):
        for u in range(n):
            if rows[x, u] != 0.0:
                for v in range(n):
                    product[x, v] += rows[x, u] * s[u, v]
    for x in range(k):
        right[x] = solution[x] = product[x, i]
        for y in range(x + 1):
            total = 0.0
            for u in range(n):
                total += product[x, u] * rows[y, u]
            system[x, y] = total
    if not _factor(system, k):
        return -1.0
    _solve(system, k, solution)
    variance, change = s[i, i], 0.0
    for x in range(k):
        variance -= solution[x] * right[x]
    if not variance > 0.0:
        return -1.0
    for x in range(n_parents):
        change = max(change, abs(b[i, at_node[x]] - solution[x]))
        b[i, at_node[x]] = solution[x]
    column[:] = 0.0
    for x in range(n_parents, k):
        v = at_node[x]
        change = max(change, abs(omega[i, v] - solution[x]))
        omega[i, v] = omega[v, i] = column[place[v]] = solution[x]
    held = column.copy()
    _solve(factor, r, column)
    for x in range(r):
        variance += held[x] * column[x]
    change = max(change, abs(omega[i, i] - variance))
    omega[i, i] = variance
    return change


@njit(f"int64({_MATRIX}, {_FLAGS}, {_FLAGS}, float64, int64, {_MATRIX}, {_MATRIX})", cache=True, nogil=True)
def fit(s, arrow, spouse, stop, most_sweeps, b, omega):
    """Fits B and Ω by maximum likelihood. Returns the number of sweeps of the slowest district, or -1 if singular.
    `arrow[i, j]` is 1 where i -> j, `spouse[i, j]` where i <-> j. A district is done after a sweep that changes each of
    its numbers by less than `stop`, or after `most_sweeps` sweeps. Writes B to `b` and Ω to `omega` (zeros on entry).
    """
    n = len(s)
    if not _least_squares(s, arrow, b, omega):
        return -1
    is_done, members, most = np.zeros(n, np.int64), np.empty(n, np.int64), 0
    for v in range(n):
        if is_done[v]:
            continue
        d = _district(spouse, v, is_done, members)
        if d == 1:
            continue
        sweep = 0
        while sweep < most_sweeps:
            worst = 0.0
            for at in range(d):
                change = _refit(s, arrow, spouse, members, d, at, b, omega)
                if change < 0.0:
                    return -1
                worst = max(worst, change)
            sweep += 1
            if worst < stop:
                break
        most = max(most, sweep)
    return most


@njit(f"boolean({_FLAGS}, {_MATRIX}, uint8[::1], {_MATRIX})", cache=True, nogil=True)
def total_effects(arrow, b, is_set, effects):
    """Writes the total effect of each x on each y to `effects[x, y]`. Returns False if arrows form a cycle. `b[j, i]`
    is the weight of i in the equation of j. All nodes in `is_set` are set by the same intervention, so no other
    node has an effect on them or through them.
    """
    n = len(b)
    waiting, order = np.zeros(n, np.int64), np.empty(n, np.int64)
    for j in range(n):
        for i in range(n):
            waiting[j] += arrow[i, j]
    count, done = 0, 0
    for j in range(n):
        if waiting[j] == 0:
            order[count] = j
            count += 1
    while done < count:
        for j in range(n):
            if arrow[order[done], j]:
                waiting[j] -= 1
                if waiting[j] == 0:
                    order[count] = j
                    count += 1
        done += 1
    if count < n:
        return False
    for x in range(n):
        for y in range(n):
            effects[x, y] = 0.0
        effects[x, x] = 1.0
        for place in range(n):
            j = order[place]
            if j != x and not is_set[j]:
                for i in range(n):
                    if arrow[i, j] and effects[x, i] != 0.0:
                        effects[x, j] += b[j, i] * effects[x, i]
        effects[x, x] = 0.0
    return True
