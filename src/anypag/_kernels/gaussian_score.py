"""Gaussian scores: the likelihood of one component of a MAG, and the worth of adding or removing a parent of a node.

A component is a district (nodes joined by `<->`) or a set of nodes joined by `---`. It is given by `nodes` and
`relation`. `nodes` holds its `d` members, then the other parents of members, `m` nodes in all. `relation[i, j]` says
what node j is to member i: `PARENT`, `SPOUSE`, `NEIGHBOUR` or 0.

A variable may own several columns of the correlation matrix: variable v owns the columns from `table[0, v]` up to, not
including, `table[0, v + 1]`. The parents of v explain its columns before `table[1, v]`. These are all columns of a
discrete variable with one column for each level, but only the first column of a variable that is represented by several
functions of itself. The columns before `table[1, v]` explain all children of v. The columns from there on explain only
the children w with `table[2, w]` = 1.

All scores share one signature, so that a chain or a search over orders can take any of them as a function: `matrix`,
`table` and `numbers` describe the data, `keys` and `values` are a cache that the score may use. Here `matrix` is a
correlation matrix, and `numbers` holds half the number of rows, the prices of a parameter and of an edge (which are
subtracted from the score), and the change below which an iteration stops.

`adding` and `removing` serve grow-shrink (`_kernels.orders`). They write the worth of adding each variable as a
parent, or of removing each parent, to the array `worth`; larger is better, in any unit. They subtract their time in
nanoseconds, roughly, from `room[0]`. Once `room[0]` is negative, they may leave entries of `worth` NaN.
"""

import math

import numpy as np

from anypag._kernels.patience import njit, patient

PARENT, SPOUSE, NEIGHBOUR = 1, 2, 3
LEAST = 1e-9  # a column whose variance given others is smaller than this counts as determined by them
LEAST_GAIN = 1e-9  # a parent is added only if the score rises by more than this
NEVER = -np.inf  # the worth of a variable that cannot be added
IMPOSSIBLE = -1e15  # the score of a component that cannot be fitted
CLEAR = 1e-4  # no upper bound is computed if a column has less variance than this given others: rounding might matter
SLACK, SLACK_OF_DEVIANCE = 1e-3, 1e-6  # upper bounds are raised by SLACK + rows / 2 · SLACK_OF_DEVIANCE, for rounding
UNKNOWN = -np.inf
SCORE, CEILING, FIT, RISE = range(4)  # what is asked about a component; see `component`
COUNT, INVERSE, WEIGHT, SLOPE, BEND, OWN, OTHER, FACTOR = range(8)
"""Rows of `fits[v]`. INVERSE, WEIGHT, SLOPE, BEND: the rows of node v in K = Ω⁻¹, K B, K B S and 2 K E K - K (see
`ricf`). The other rows describe the component whose first member is v. COUNT: its number of parameters; OWN and OTHER:
i and p of each parameter (see `_slope`); FACTOR and the rows after it: the Cholesky factor of the second derivatives of
the component's deviance.
"""
TIMES, MORE = 2.0, 1.0
"""The bound for the rise of the log-likelihood by an edge is estimate · TIMES + MORE; 3 of 70,000 edges exceeded it."""

_DATA = "float64[:, ::1], int32[:, ::1], float64[::1], uint64[::1], float64[::1]"
COMPONENT = f"float64({_DATA}, int64[::1], int64, int64, uint8[:, ::1], float64[:, :, ::1], int64)"
ADDING = f"float64({_DATA}, int64, int64[::1], int64, int64[::1], int64, float64[::1], int64[::1])"
REMOVING = f"float64({_DATA}, int64, int64[::1], int64, float64[::1], int64[::1])"


@njit(cache=True, nogil=True)
def _lowest(x):
    """The place of the lowest set bit of x; x is not 0."""
    k = 0
    for half in (32, 16, 8, 4, 2, 1):
        if x & ((np.uint64(1) << np.uint64(half)) - np.uint64(1)) == 0:
            k += half
            x >>= np.uint64(half)
    return k


@njit(cache=True, nogil=True)
def _n_bits(x):
    k = 0
    while x != 0:
        x &= x - np.uint64(1)
        k += 1
    return k


@njit(cache=True, nogil=True)
def _end(table, parent, child):
    """The index after the last column of the parent that explains the child."""
    return table[0, parent + 1] if table[2, child] else table[1, parent]


@njit(cache=True, nogil=True)
def _spread(table, nodes, d, m, relation):
    """The component with columns as nodes: its columns, how many of them count as members, and the columns' relation.
    Columns of one member become spouses of each other (neighbours, if `---` joins the component). First come the
    columns of members that parents explain: these count as members. Then come the columns of members that only explain
    other members, then the columns of the other parents.
    """
    k = 0
    for i in range(m):
        k += table[0, nodes[i] + 1] - table[0, nodes[i]]
    columns, owner = np.empty(k, np.int64), np.empty(k, np.int64)
    c = 0
    for i in range(d):
        for column in range(table[0, nodes[i]], table[1, nodes[i]]):
            columns[c], owner[c] = column, i
            c += 1
    k = c
    within = SPOUSE
    for j in range(m):
        explains = j >= d
        for i in range(d):
            explains |= relation[i, j] == PARENT
            if relation[i, j] == NEIGHBOUR:
                within = NEIGHBOUR
        if explains:
            for column in range(table[1 if j < d else 0, nodes[j]], table[0, nodes[j] + 1]):
                columns[k], owner[k] = column, j
                k += 1
    between = np.zeros((c, k), np.uint8)
    for a in range(c):
        for b in range(k):
            if owner[a] != owner[b]:
                kind = relation[owner[a], owner[b]]
                is_further = columns[b] >= table[1, nodes[owner[b]]]
                if not is_further or (kind == PARENT and table[2, nodes[owner[a]]]):
                    between[a, b] = kind
            elif a != b and b < c:
                between[a, b] = within
    return columns[:k], c, between


@njit(cache=True, nogil=True)
def _submatrix(matrix, columns):
    k = len(columns)
    part = np.empty((k, k))
    for a in range(k):
        for b in range(k):
            part[a, b] = matrix[columns[a], columns[b]]
    return part


@njit(cache=True, nogil=True)
def _regression(matrix, table, nodes, m):
    """log|S(v, parents)| - log|S(parents)|, the log of v's residual variance (its determinant, for several columns)."""
    size = table[1, nodes[0]] - table[0, nodes[0]]
    for j in range(1, m):
        size += table[0, nodes[j] + 1] - table[0, nodes[j]]
    columns = np.empty(size, np.int64)
    k = 0
    for j in range(1, m):
        for column in range(table[0, nodes[j]], _end(table, nodes[j], nodes[0])):
            columns[k] = column
            k += 1
    n_parents = k
    for column in range(table[0, nodes[0]], table[1, nodes[0]]):
        columns[k] = column
        k += 1
    part = _submatrix(matrix, columns[:k])
    deviance = 0.0
    for j in range(k):
        pivot = part[j, j]
        for t in range(j):
            pivot -= part[j, t] * part[j, t]
        if pivot < LEAST:
            if j < n_parents:  # the parents before this parent determine it, so it adds nothing
                for i in range(j, k):
                    part[i, j] = 0.0
                continue
            pivot = LEAST
        if j >= n_parents:
            deviance += math.log(pivot)
        root = math.sqrt(pivot)
        part[j, j] = root
        for i in range(j + 1, k):
            x = part[i, j]
            for t in range(j):
                x -= part[i, t] * part[j, t]
            part[i, j] = x / root
    return deviance


@njit(cache=True, nogil=True)
def _solve(a, b, k):
    """Solves a x = b in place; overwrites the lower half of a (k by k). Returns whether a is positive definite."""
    for j in range(k):
        pivot = a[j, j]
        for t in range(j):
            pivot -= a[j, t] * a[j, t]
        if pivot < 1e-12:
            return False
        pivot = math.sqrt(pivot)
        a[j, j] = pivot
        for i in range(j + 1, k):
            x = a[i, j]
            for t in range(j):
                x -= a[i, t] * a[j, t]
            a[i, j] = x / pivot
    for i in range(k):
        x = b[i]
        for t in range(i):
            x -= a[i, t] * b[t]
        b[i] = x / a[i, i]
    for i in range(k - 1, -1, -1):
        x = b[i]
        for t in range(i + 1, k):
            x -= a[t, i] * b[t]
        b[i] = x / a[i, i]
    return True


# with types: otherwise numba would compile it for each `kind`
@njit("int64(uint8[:, ::1], int64, int64, int64, int64[::1])", nogil=True)
def _of_kind(relation, i, m, kind, found):
    count = 0
    for j in range(m):
        if relation[i, j] == kind:
            found[count] = j
            count += 1
    return count


@njit(cache=True, nogil=True)
def _row_of_bs(b, s, bs, i, used):
    """Writes row i of B S. Returns how many coefficients are not 0; their places are written to `used`."""
    count = 0
    for c in range(len(s)):
        bs[i, c] = 0.0
    for p in range(len(s)):
        if b[i, p] != 0.0:
            used[count] = p
            count += 1
            for c in range(len(s)):
                bs[i, c] += b[i, p] * s[p, c]
    return count


@njit(cache=True, nogil=True)
def _row_of_residual(b, bs, residual, i, used, count):
    for c in range(len(bs)):
        total = 0.0
        for x in range(count):
            total += b[i, used[x]] * bs[c, used[x]]
        residual[i, c] = residual[c, i] = total


@njit(
    "float64(float64[:, ::1], int64, uint8[:, ::1], float64, float64[:, ::1], float64[:, ::1])", cache=True, nogil=True
)
def ricf(s, d, relation, stop, b, inverse):
    """The least value found of log|Ω| + tr(Ω⁻¹ B S B') - d, where B = I - coefficients, by residual iterative
    conditional fitting (Drton, Eichler & Richardson 2009). -IMPOSSIBLE if a step fails.

    Each member in turn is regressed on its parents and on the pseudo-variables of its spouses (weighted sums of the
    other members' residuals), with everything else fixed, until a sweep lowers the value by less than `stop`. `s` (m,
    m) are covariances of the d members of a district, then of their other parents; `relation` (d, m) says which are
    parents and spouses. B is written to `b` and Ω⁻¹ to `inverse`, zeros on entry. B S (`bs`) and E = B S B'
    (`residual`) are updated on the way.
    """
    m = len(s)
    bs, residual, v, ve = np.empty((d, m)), np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    system, right, solution = np.empty((m + d, m + d)), np.empty(m + d), np.empty(m + d)
    parents, spouses = np.empty(m, np.int64), np.empty(d, np.int64)
    log_det = 0.0
    for i in range(d):
        k = _of_kind(relation, i, m, PARENT, parents)
        for x in range(k):
            solution[x] = s[parents[x], i]
            for y in range(x + 1):
                system[x, y] = s[parents[x], parents[y]]
        if not _solve(system, solution, k):
            return -IMPOSSIBLE
        b[i, i] = 1.0
        variance = s[i, i]
        for x in range(k):
            b[i, parents[x]] = -solution[x]
            variance -= solution[x] * s[parents[x], i]
        variance = max(variance, LEAST)
        inverse[i, i] = 1.0 / variance
        log_det += math.log(variance)
    for i in range(d):
        _row_of_bs(b, s, bs, i, parents)
    for i in range(d):
        _row_of_residual(b, bs, residual, i, parents, _row_of_bs(b, s, bs, i, parents))
    before = value = 0.0
    for sweep in range(200):
        for i in range(d):
            if not inverse[i, i] > 0.0:  # only rounding errors are left: members determine each other
                return -IMPOSSIBLE
            for x in range(d):  # v: the inverse of Ω without i, with zeros in the row and column of i
                for y in range(x + 1):
                    v[x, y] = v[y, x] = inverse[x, y] - inverse[x, i] * inverse[i, y] / inverse[i, i]
            for x in range(d):
                v[x, i] = v[i, x] = 0.0
            log_det += math.log(inverse[i, i])  # now log|Ω| without row and column i
            k = _of_kind(relation, i, m, PARENT, parents)
            n_spouses = _of_kind(relation, i, d, SPOUSE, spouses)
            for x in range(k):
                right[x] = s[parents[x], i]
                for y in range(x + 1):
                    system[x, y] = s[parents[x], parents[y]]
            for x in range(n_spouses):  # z is the outer loop, so that several sums grow at a time
                a = spouses[x]
                right[k + x] = 0.0
                for y in range(d):
                    ve[x, y] = 0.0
                for y in range(k + x + 1):
                    system[k + x, y] = 0.0
                for z in range(d):
                    right[k + x] += v[a, z] * bs[z, i]
                    for y in range(d):
                        ve[x, y] += v[a, z] * residual[z, y]
                    for y in range(k):
                        system[k + x, y] += v[a, z] * bs[z, parents[y]]
                for z in range(d):
                    for y in range(x + 1):
                        system[k + x, k + y] += ve[x, z] * v[z, spouses[y]]
            size = k + n_spouses
            for x in range(size):
                solution[x] = right[x]
            if not _solve(system, solution, size):
                return -IMPOSSIBLE
            variance = s[i, i]
            for x in range(size):
                variance -= right[x] * solution[x]
            variance = max(variance, LEAST)
            for x in range(k):
                b[i, parents[x]] = -solution[x]
            for x in range(d):  # v times the covariances of i with its spouses; then the inverse of Ω by blocks
                total = 0.0
                for y in range(n_spouses):
                    total += v[x, spouses[y]] * solution[k + y]
                right[x] = total
            rest = 0.0  # tr(v E) over the other members
            if i == d - 1:
                for x in range(d):
                    for y in range(d):
                        rest += v[x, y] * residual[x, y]
            for x in range(d):
                for y in range(x + 1):
                    inverse[x, y] = inverse[y, x] = v[x, y] + right[x] * right[y] / variance
            for x in range(d):
                inverse[x, i] = inverse[i, x] = -right[x] / variance
            inverse[i, i] = 1.0 / variance
            log_det += math.log(variance)
            _row_of_residual(b, bs, residual, i, parents, _row_of_bs(b, s, bs, i, parents))
            value = log_det + rest + 1.0 - d
        if sweep > 0 and before - value < stop:
            break
        before = value
    return value


@njit("float64(float64[:, ::1], uint8[:, ::1], float64)", cache=True, nogil=True)
def _undirected_deviance(s, relation, stop):
    """log|Σ| of the Gaussian graphical model with the edges `---`, fitted by one regression per node and sweep."""
    d = len(s)
    sigma, system, beta, near = s.copy(), np.empty((d, d)), np.empty(d), np.empty(d, np.int64)
    before = value = 0.0
    for sweep in range(500):
        for j in range(d):
            k = _of_kind(relation, j, d, NEIGHBOUR, near)
            for x in range(k):
                beta[x] = s[near[x], j]
                for y in range(x + 1):
                    system[x, y] = sigma[near[x], near[y]]
            if not _solve(system, beta, k):
                return -IMPOSSIBLE
            for i in range(d):
                if i != j:
                    total = 0.0
                    for x in range(k):
                        total += sigma[i, near[x]] * beta[x]
                    sigma[i, j] = sigma[j, i] = total
        for x in range(d):
            for y in range(x + 1):
                system[x, y] = sigma[x, y]
            beta[x] = 0.0
        if not _solve(system, beta, d):
            return -IMPOSSIBLE
        value = 0.0
        for x in range(d):
            value += 2.0 * math.log(system[x, x])
        if sweep > 0 and abs(before - value) < stop:
            break
        before = value
    return value


@njit(cache=True, nogil=True)
def _cost(table, numbers, nodes, d, m, relation):
    """The price of all of a component's parameters and edges, and whether the component has `---`."""
    price, price_of_edge = numbers[1], numbers[2]
    cost = 0.0
    undirected = False
    for i in range(d):
        width = table[1, nodes[i]] - table[0, nodes[i]]
        for j in range(m):
            if relation[i, j] == 0:
                continue
            is_parent = relation[i, j] == PARENT
            share = 1.0 if is_parent else 0.5
            undirected |= relation[i, j] == NEIGHBOUR
            other = (_end(table, nodes[j], nodes[i]) if is_parent else table[1, nodes[j]]) - table[0, nodes[j]]
            cost += share * (price * width * other + price_of_edge)
    return cost, undirected


@njit(cache=True, nogil=True)
def _log_variance(s, v, given, factor):
    """The log of the variance of v given the columns `given` (bits); `UNKNOWN` if rounding may matter (see `CLEAR`)."""
    k = 0
    pivot = 1.0
    while True:
        last = given == 0
        column = v if last else _lowest(given)
        given &= given - np.uint64(1)
        pivot = s[column, column]
        for a in range(k):
            x = s[column, np.int64(factor[a, 0])]
            for b in range(a):
                x -= factor[a, 2 + b] * factor[k, 2 + b]
            x *= factor[a, 1]
            factor[k, 2 + a] = x
            pivot -= x * x
        if pivot < CLEAR:
            return UNKNOWN
        if last:
            return math.log(pivot)
        factor[k, 0], factor[k, 1] = column, 1.0 / math.sqrt(pivot)
        k += 1


@njit(cache=True, nogil=True)
def _least_of_district(s, d, relation):
    """A lower bound on the deviance of every fit of a district; `UNKNOWN` if none was found.

    Members are placed one after the other, parents first. Given the members placed before it, a member depends only on
    its parents, on members that paths of `<->` through placed members connect to it, and on their parents (Tian and
    Pearl 2002). So no fit gives it a smaller variance than regression on these nodes, its predictors. The member with
    the fewest predictors comes next.
    """
    parents, spouses = np.zeros(d, np.uint64), np.zeros(d, np.uint64)
    # for each placed member: the placed members that paths of `<->` join to it, and all nodes on which these depend
    group, above = np.zeros(d, np.uint64), np.zeros(d, np.uint64)
    for i in range(d):
        for j in range(len(s)):
            if relation[i, j] == PARENT:
                parents[i] |= np.uint64(1) << np.uint64(j)
            elif relation[i, j] == SPOUSE:
                spouses[i] |= np.uint64(1) << np.uint64(j)
    factor = np.empty((len(s) + 1, len(s) + 2))
    left = (np.uint64(1) << np.uint64(d)) - np.uint64(1)
    total = 0.0
    while left != 0:
        chosen, least, joined, given = 0, 1 << 40, np.uint64(0), np.uint64(0)
        waiting = left
        while waiting != 0:
            i = _lowest(waiting)
            waiting &= waiting - np.uint64(1)
            if parents[i] & left != 0:
                continue
            his, his_given = np.uint64(0), parents[i]
            rest = spouses[i] & ~left
            while rest != 0:
                j = _lowest(rest)
                his |= group[j]
                his_given |= group[j] | above[j]
                rest &= ~his
            much = (_n_bits(his_given) << 8) + _n_bits(spouses[i])
            if much < least:
                chosen, least, joined, given = i, much, his, his_given
        found = _log_variance(s, chosen, given, factor)
        if found == UNKNOWN:
            return UNKNOWN
        total += found
        left &= ~(np.uint64(1) << np.uint64(chosen))
        joined |= np.uint64(1) << np.uint64(chosen)
        rest = joined
        while rest != 0:
            j = _lowest(rest)
            group[j], above[j] = joined, given
            rest &= rest - np.uint64(1)
    return total


@njit("float64(float64[:, :, ::1], int64, int64)", nogil=True)
def _slope(fits, i, p):
    """The first derivative of the deviance by the coefficient of p in i's equation or, if p >= n, by Ω[i, p - n]."""
    n = len(fits)
    if p < n:
        return 2.0 * fits[i, SLOPE, p]
    total = fits[i, INVERSE, p - n]
    for c in range(n):
        total -= fits[i, SLOPE, c] * fits[p - n, WEIGHT, c]
    return 2.0 * total


@njit("float64(float64[:, ::1], float64[:, :, ::1], int64, int64, int64, int64)", nogil=True)
def _curvature(matrix, fits, i, p, j, q):
    """The second derivative of the deviance by the parameters (i, p) and (j, q), in the notation of `_slope`."""
    n = len(fits)
    if p < n and q < n:
        return 2.0 * fits[i, INVERSE, j] * matrix[p, q]
    if p < n:
        i, p, j, q = j, q, i, p
    p -= n
    if q < n:
        return -2.0 * (fits[i, INVERSE, j] * fits[p, SLOPE, q] + fits[p, INVERSE, j] * fits[i, SLOPE, q])
    q -= n
    straight = fits[i, INVERSE, j] * fits[p, BEND, q] + fits[i, BEND, j] * fits[p, INVERSE, q]
    return straight + fits[i, INVERSE, q] * fits[p, BEND, j] + fits[i, BEND, q] * fits[p, INVERSE, j]


@njit(cache=True, nogil=True)
def _keep(matrix, nodes, d, m, relation, b, inverse, fits):
    """Writes to `fits` what `_rise` needs of a fit. Returns the number of parameters, 0 if `_rise` cannot be used."""
    n = len(fits)
    for x in range(d):
        i = nodes[x]
        for c in range(n):
            fits[i, INVERSE, c] = fits[i, WEIGHT, c] = fits[i, SLOPE, c] = fits[i, BEND, c] = 0.0
        for y in range(d):
            fits[i, INVERSE, nodes[y]] = inverse[x, y]
            for z in range(m):
                fits[i, WEIGHT, nodes[z]] += inverse[x, y] * b[y, z]
        for z in range(m):
            by = fits[i, WEIGHT, nodes[z]]
            for c in range(n):
                fits[i, SLOPE, c] += by * matrix[nodes[z], c]
    v, k = nodes[0], 0
    for x in range(d):
        for y in range(d):
            fits[nodes[x], BEND, nodes[y]] = inverse[x, y] - _slope(fits, nodes[x], nodes[y] + n)
        for y in range(m):
            if x == y or relation[x, y] == PARENT or (relation[x, y] == SPOUSE and y < x):
                if k == fits.shape[1] - FACTOR:
                    return 0
                fits[v, OWN, k], fits[v, OTHER, k] = nodes[x], nodes[y] + (0 if relation[x, y] == PARENT else n)
                k += 1
    for s in range(k):
        i, p = np.int64(fits[v, OWN, s]), np.int64(fits[v, OTHER, s])
        for t in range(s, k):
            j, q = np.int64(fits[v, OWN, t]), np.int64(fits[v, OTHER, t])
            fits[v, FACTOR + s, t] = _curvature(matrix, fits, i, p, j, q)
        for u in range(s):
            by = fits[v, FACTOR + u, s]
            for t in range(s, k):
                fits[v, FACTOR + s, t] -= by * fits[v, FACTOR + u, t]
        if not fits[v, FACTOR + s, s] > LEAST:
            return 0
        root = math.sqrt(fits[v, FACTOR + s, s])
        for t in range(s, k):
            fits[v, FACTOR + s, t] /= root
    return k


@njit(cache=True, nogil=True)
def _rise(matrix, numbers, parts, i, p, fits):
    """A bound for the rise of the score by a new edge with the parameter (i, p) (see `_slope`); infinite if unknown.
    `parts` are the first members of the components of both ends. With all other parameters refitted, the deviance falls
    by about slope² / (2 · left), where `left` is the curvature that the other parameters leave to the new parameter.
    """
    curvature = _curvature(matrix, fits, i, p, i, p)
    left = curvature
    shared = np.empty(fits.shape[1])
    for x in range(len(parts)):
        v = parts[x]
        k = np.int64(fits[v, COUNT, 0])
        if k == 0:
            return np.inf
        for s in range(k):
            shared[s] = _curvature(matrix, fits, np.int64(fits[v, OWN, s]), np.int64(fits[v, OTHER, s]), i, p)
        for s in range(k):
            by = shared[s] / fits[v, FACTOR + s, s]
            left -= by * by
            for t in range(s + 1, k):
                shared[t] -= by * fits[v, FACTOR + s, t]
    if not left > CLEAR * curvature:
        return np.inf
    slope = _slope(fits, i, p)
    return TIMES * numbers[0] * slope * slope / (2.0 * left) + MORE - numbers[1] - numbers[2]


@njit(COMPONENT, cache=True, nogil=True)
def component(matrix, table, numbers, keys, values, nodes, d, m, relation, fits, asked):
    """The score of a component, or a bound; `asked` says which. SCORE: the component's log-likelihood minus the price
    of its parameters and edges. CEILING: an upper bound on the score, found without iterations; infinite for nodes
    joined by `---`, for more than 63 columns, and if columns nearly determine each other. FIT: the score; also writes
    the numbers that RISE needs to `fits`. RISE: the bound of `_rise`; here d and m are the arguments i and p of
    `_rise`, and `nodes` are the first members of the components of both ends.
    """
    if asked == RISE:
        return _rise(matrix, numbers, nodes, d, m, fits)
    cost, undirected = _cost(table, numbers, nodes, d, m, relation)
    if d == 1 and asked == SCORE:
        return -numbers[0] * _regression(matrix, table, nodes, m) - cost
    columns, c, between = _spread(table, nodes, d, m, relation)
    part, stop = _submatrix(matrix, columns), numbers[3] / numbers[0]
    if asked == CEILING:
        least = UNKNOWN if undirected or len(columns) > 63 else _least_of_district(part, c, between)
        return np.inf if least == UNKNOWN else SLACK - numbers[0] * (least - SLACK_OF_DEVIANCE) - cost
    b, inverse = np.zeros((c, len(part))), np.zeros((c, c))
    deviance = _undirected_deviance(part, between, stop) if undirected else ricf(part, c, between, stop, b, inverse)
    if asked == FIT:
        fits[nodes[0], COUNT, 0] = 0
        if deviance < -IMPOSSIBLE and len(matrix) == len(fits):  # every variable has one column
            fits[nodes[0], COUNT, 0] = _keep(matrix, nodes, d, m, relation, b, inverse, fits)
    return -numbers[0] * deviance - cost if deviance < -IMPOSSIBLE else IMPOSSIBLE


@njit(cache=True, nogil=True)
def _next_level(matrix, at, t, levels):
    """Writes level t + 1 of a cache slot (see `adding`) from level t; `at` is the parent that is added."""
    left, shared = levels[t, 0], levels[t, 1]
    next_left, next_shared, row = levels[t + 1, 0], levels[t + 1, 1], levels[t + 1, 2]
    root = math.sqrt(left[at])
    slope = shared[at] / root
    for c in range(len(row)):
        row[c] = matrix[c, at]
    for s in range(1, t + 1):
        earlier, by = levels[s, 2], levels[s, 2, at]
        for c in range(len(row)):
            row[c] -= earlier[c] * by
    for c in range(len(row)):
        row[c] /= root
        next_left[c] = left[c] - row[c] * row[c]
        next_shared[c] = shared[c] - row[c] * slope


@patient(signature=ADDING, nogil=True)
def adding(matrix, table, numbers, keys, values, v, parents, k, candidates, count, worth, room):
    """Writes by how much each variable, as a further parent, would lower the variance of v given its first k parents.

    The worth is `NEVER` where the price of the edge is at least the rise of the log-likelihood, or where the parents
    determine the variable. Returns 0, the worth above which a candidate is added.

    Every variable has one column. The worth of all variables is computed, whether they are candidates or not. `values`
    is a cache with slots. A slot holds one v at a time; if there are fewer slots than variables, several variables take
    turns in a slot. `keys` holds the v and the parents of each slot. Level t of a slot holds the variance of each
    variable and its covariance with v, given the first t parents, and row t of the Cholesky factor.
    """
    n = len(worth)
    half_rows, price = numbers[0], numbers[1] + numbers[2]
    slot = v % (len(keys) // (n + 2))
    path = keys[slot * (n + 2) : (slot + 1) * (n + 2)]  # v + 1, the number of parents, the parents
    levels = values[slot * 3 * n * n : (slot + 1) * 3 * n * n].reshape((n, 3, n))
    same = 0
    if path[0] == v + 1:
        while same < min(k, np.int64(path[1])) and path[2 + same] == parents[same]:
            same += 1
    else:
        path[0], path[1] = v + 1, 0
        for c in range(n):
            levels[0, 0, c] = matrix[c, c]
            levels[0, 1, c] = matrix[c, v]
    for t in range(same, k):
        _next_level(matrix, parents[t], t, levels)
        path[1], path[2 + t] = t + 1, parents[t]
        room[0] -= n * (t // 4 + 3)
    variance = matrix[v, v]
    for t in range(k):
        slope = levels[t, 1, parents[t]] / math.sqrt(levels[t, 0, parents[t]])
        variance = max(variance - slope * slope, LEAST)
    left, shared = levels[k, 0], levels[k, 1]
    # a parent that lowers the variance by a smaller share than this does not raise the score
    least = (1.0 - math.exp(-price / half_rows)) * (1.0 - 1e-6)
    for c in range(n):
        if worth[c] == NEVER:
            continue
        gain = shared[c] * shared[c] / left[c] if left[c] > LEAST else 0.0
        pays = gain > least * variance and -half_rows * math.log(max(1.0 - gain / variance, 1e-12)) > price
        worth[c] = gain if pays and gain > 0.0 else NEVER
    room[0] -= 10 * n
    return 0.0


@njit(cache=True, nogil=True)
def _inverse(matrix, parents, k):
    """The inverse of the parents' covariance matrix; the unit matrix if the covariance matrix is not positive definite.
    Loops run along rows, so that the processor handles several entries at a time.
    """
    factor, inverse = np.empty((k, k)), np.zeros((k, k))  # row j of the factor: column j of Cholesky's lower triangle
    for j in range(k):
        inverse[j, j] = 1.0
    for j in range(k):
        row = factor[j]
        for i in range(j, k):
            row[i] = matrix[parents[i], parents[j]]
        for t in range(j):
            earlier, by = factor[t], factor[t, j]
            for i in range(j, k):
                row[i] -= earlier[i] * by
        if row[j] < 1e-12:
            return inverse
        root = math.sqrt(row[j])
        row[j] = root
        for i in range(j + 1, k):
            row[i] /= root
    for i in range(k):
        row = inverse[i]
        for t in range(i):
            earlier, by = inverse[t], factor[t, i]
            for c in range(t + 1):
                row[c] -= by * earlier[c]
        for c in range(i + 1):
            row[c] /= factor[i, i]
    for i in range(k - 1, -1, -1):
        row = inverse[i]
        for t in range(i + 1, k):
            later, by = inverse[t], factor[i, t]
            for c in range(k):
                row[c] -= by * later[c]
        for c in range(k):
            row[c] /= factor[i, i]
    return inverse


@patient(signature=REMOVING, nogil=True)
def removing(matrix, table, numbers, keys, values, v, parents, k, worth, room):
    """Writes the score of v without each of its first k parents. Returns the score of v with all k parents.
    Without parent i the variance of v is larger by beta_i² / (G⁻¹)_ii (G: covariances of parents, beta: coefficients).
    """
    half_rows, price = numbers[0], numbers[1] + numbers[2]
    inverse, beta = _inverse(matrix, parents, k), np.empty(k)
    variance = matrix[v, v]
    for x in range(k):
        beta[x] = 0.0
        for y in range(k):
            beta[x] += inverse[x, y] * matrix[parents[y], v]
    for x in range(k):
        variance -= beta[x] * matrix[parents[x], v]
    variance = max(variance, LEAST)
    for x in range(k):
        without = variance + beta[x] * beta[x] / inverse[x, x]
        worth[x] = -half_rows * math.log(max(without, LEAST)) - price * (k - 1)
    room[0] -= k * k * (k // 4 + 3) + 40 * k
    return -half_rows * math.log(variance) - price * k


@njit(f"float64({_DATA}, int64[::1], int64, int64[::1])", cache=True, nogil=True)
def _of_node(matrix, table, numbers, keys, values, nodes, m, room):
    """The score of the first of m nodes with the other nodes as its parents."""
    relation = np.full((1, m), PARENT, np.uint8)
    relation[0, 0] = 0
    columns = 0
    for x in range(m):
        columns += table[0, nodes[x] + 1] - table[0, nodes[x]]
    room[0] -= columns * columns * (columns // 3 + 2) + 200
    cost, _ = _cost(table, numbers, nodes, np.int64(1), m, relation)
    return -numbers[0] * _regression(matrix, table, nodes, m) - cost


@patient(signature=ADDING, nogil=True)
def adding_blocks(matrix, table, numbers, keys, values, v, parents, k, candidates, count, worth, room):
    """`adding` for variables with several columns; writes scores, as `adding` in `_kernels.discrete_score` does."""
    data = (matrix, table, numbers, keys, values)
    nodes = np.empty(k + 2, np.int64)
    nodes[0] = v
    for x in range(k):
        nodes[1 + x] = parents[x]
    score = _of_node(*data, nodes, k + 1, room)
    for c in range(count):
        if np.isnan(worth[candidates[c]]) and room[0] >= 0:
            nodes[k + 1] = candidates[c]
            worth[candidates[c]] = _of_node(*data, nodes, k + 2, room)
    return score + LEAST_GAIN


@patient(signature=REMOVING, nogil=True)
def removing_blocks(matrix, table, numbers, keys, values, v, parents, k, worth, room):
    """`removing` for variables with several columns."""
    data = (matrix, table, numbers, keys, values)
    nodes = np.empty(k + 1, np.int64)
    nodes[0] = v
    for x in range(k):
        nodes[1 + x] = parents[x]
    score = _of_node(*data, nodes, k + 1, room)
    for x in range(k):
        if np.isnan(worth[x]) and room[0] >= 0:
            for y in range(k - 1):
                nodes[1 + y] = parents[y + (y >= x)]
            worth[x] = _of_node(*data, nodes, k, room)
    return score
