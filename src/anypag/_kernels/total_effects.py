"""Linear systems behind a path diagram: residual iterative conditional fitting (Drton, Eichler & Richardson 2009), and
all total effects.

A diagram has arrows `i -> j` and spouses `i <-> j`. Its equations are X = B X + noise with B[j, i] = 0 unless i -> j,
and the noise has the covariance Ω with Ω[i, j] = 0 unless i = j or i <-> j. Without bows (both edges between one pair)
B and Ω follow from the covariance of X, except in special cases.
"""

import numpy as np

from anypag._kernels.patience import njit

LEAST = 1e-12  # a pivot below this share of its diagonal means that a matrix is singular

_MATRIX = "float64[:, ::1]"
_FLAGS = "uint8[:, ::1]"
_VECTOR = "float64[::1]"
_PLACES = "int64[::1]"


@njit(f"boolean({_MATRIX}, int64)", cache=True, nogil=True)
def _factor(a, k):
    """Replace the leading (k, k) part by its Cholesky factor, in the lower triangle; False if it has none."""
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
    """Solve A x = b in place, given the factor of A."""
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
    """Regress every node on its parents: the first B and Ω; for a node without spouses also the last."""
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
    """The nodes that `<->` joins to v, written to `members` in their order; `of` marks them. Returns how many."""
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
    """Regress a member of a district on parents and spouses' pseudo-variables. The largest change; -1 if singular."""
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
        if spouse[v, i]:  # the row of Ω⁻¹ (I - B) of this spouse, over the rest of the district
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
    """Fits B and Ω of a diagram by maximum likelihood. Returns the most sweeps that a district took; -1 if singular.

    `arrow[i, j]` is 1 where i -> j, `spouse` where i <-> j. A sweep that moves no number by more than `stop` is the
    last one of a district, or sweep `most_sweeps`. B and Ω are written to `b` and `omega`, zeros on entry.
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
    """Writes all total effects of a diagram (of x on y at [x, y]): 0 where no directed path leads. False if arrows have
    a cycle.

    `b` holds at [j, i] the weight of i in the equation of j. Equations of nodes in `is_set` are cut: joint effects of
    several causes.
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
