"""F tests of "is x independent of y given z?": do functions of y improve the prediction of x from functions of z?

A variable is a block of columns. The columns of a continuous variable are functions of its ranks; the first column is
its response. The columns of a discrete variable are indicators of levels; all of them are responses. The columns of z
are regressed (swept) out of the columns of x and y. The test asks which share of x's responses the tested columns of y
then explain. The tested columns are the first few columns of y, or all columns if y is discrete. Then x and y are
swapped, and Cauchy's rule combines the two p-values.

Questions are computed in groups. Each question of a group has a lane. The numbers of the lanes alternate in memory, so
that one processor instruction serves several questions. Columns of zeros pad the questions of a group to equal size.

Near-singular sets follow the rule of `_kernels.gaussian`: a column with less than `tolerance` of its variance left is
dropped. If all responses of a variable are dropped, the variable counts as constant given z.
"""

import math

import numpy as np

from anypag._kernels.patience import njit

LANES = 64  # the most questions that are computed together
ROOM = 65536  # the most numbers in a group of several questions, so that they fit into the cache
TESTED_IN_LEVELS = 2
"""The most functions of a continuous variable that are tested against a discrete one. Near 0 or 1, the probability of a
level given z is poorly fitted by a sum of functions of z. A third function could show this misfit as dependence.
"""
NEARLY_NORMAL = 0.01  # no correction if the variance of R² exceeds its value for normal columns by at most this share
LEAST_SHARE = 1e-3  # a correction leaves at least this share of the degrees of freedom
APART = 8  # unused lanes after each pair of columns; numbers 2^k places apart would evict each other from the cache


def _series(n):
    """The first n coefficients of (sinh(v/2) / (v/2))^(-1/2) as a power series in v²."""
    inner = np.array([1.0 / (math.factorial(2 * k + 1) * 4.0**k) for k in range(n)])
    outer = np.zeros(n)
    outer[0] = 1.0
    for k in range(1, n):  # the recurrence for powers of a series
        outer[k] = sum((-0.5 * j - (k - j)) * inner[j] * outer[k - j] for j in range(1, k + 1)) / k
    return outer


_COEFFICIENTS = _series(8)
_LARGE = 15.0  # from this `a` on, the series in `_beta_half_tail` is exact to 1e-12


@njit(cache=True)
def _beta_half_tail(a, v, beta):
    """The incomplete beta function I_w(a, 1/2) with w = exp(-v), for large a: the tail of Student's t. It equals the
    integral of exp(-(a - 1/4) u) u^(-1/2) (sinh(u/2) / (u/2))^(-1/2) from v to infinity, divided by `beta` = B(a, 1/2).
    The last factor is replaced by its power series in u². The integral of each term is then an incomplete gamma
    function, which a recurrence computes from the integral of the term before.
    """
    rate = a - 0.25
    y = rate * v
    power, decay = math.sqrt(y), math.exp(-y)
    total = gamma = math.sqrt(math.pi) * math.erfc(power)
    s, scale = 0.5, 1.0
    for k in range(1, len(_COEFFICIENTS)):
        for _ in range(2):
            gamma = s * gamma + power * decay
            power *= y
            s += 1.0
        scale /= rate * rate
        term = _COEFFICIENTS[k] * gamma * scale
        total += term
        if abs(term) <= 1e-13 * total:
            break
    return total / (math.sqrt(rate) * beta)


@njit(cache=True)
def _beta_fraction(a, b, x):
    """The continued fraction of I_x(a, b), by Lentz's method. x must be at most (a + 1) / (a + b + 2)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 500):
        for is_odd in range(2):
            if is_odd:
                step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
            else:
                step = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
            d = 1.0 + step * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + step / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


@njit(cache=True)
def _beta_small(a, b, v):
    """The incomplete beta function I_w(a, b), w = exp(-v), by its continued fraction."""
    w, rest = math.exp(-v), -math.expm1(-v)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - a * v + b * math.log(rest))
    if w < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, w) / a
    return 1.0 - front * _beta_fraction(b, a, rest) / b


@njit(cache=True)
def f_tail(first, second, share, beta):
    """The p-value of F(first, second) if `share` of the variance is unexplained; beta = B(second/2, 1/2)."""
    if share >= 1.0:
        return 1.0
    a, v, rest = 0.5 * second, -math.log(share), 1.0 - share
    if a < _LARGE:
        return min(max(_beta_small(a, 0.5 * first, v), 0.0), 1.0)
    power = math.exp(-a * v)
    if first % 2 == 1:  # start at b = 1/2, then use I_w(a, b + 1) = I_w(a, b) + w^a (1 - w)^b / (b B(a, b))
        total, term, b = _beta_half_tail(a, v, beta), power * math.sqrt(rest) / (0.5 * beta), 0.5
    else:
        total, term, b = power, power * a * rest, 1.0
    while b < 0.5 * first - 0.25:
        total += term
        term *= rest * (a + b) / (b + 1.0)
        b += 1.0
    return min(total, 1.0)


@njit(cache=True)
def _f_tail_of_share(first, second, share, part):
    """The p-value of F as in `f_tail`, with both degrees of freedom multiplied by `part`."""
    if share >= 1.0:
        return 1.0
    return min(max(_beta_small(0.5 * part * second, 0.5 * part * first, -math.log(share)), 0.0), 1.0)


@njit(cache=True)
def cauchy(first, second):
    """One p-value from two, by the mean of their Cauchy quantiles. Swapping the two changes no bit of the result."""
    low = min(first, second)
    if low <= 0.0:
        return 0.0
    if low < 1e-8:  # for tiny p, 0.5 - atan(mean) / π has no accurate digits
        return min(2.0 / (1.0 / first + 1.0 / second), 1.0)
    mean = 0.5 * (1.0 / math.tan(math.pi * first) + 1.0 / math.tan(math.pi * second))
    return min(max(0.5 - math.atan(mean) / math.pi, 0.0), 1.0)


@njit(cache=True, inline="always")
def _sweep(block, end, size, tolerance):
    """Sweeps columns before `end` out of all later ones, in the upper triangle. Returns how many it swept out."""
    kept = 0
    for k in range(end):
        pivot = block[k, k]
        if pivot < tolerance:
            continue
        kept += 1
        inverse = 1.0 / pivot
        for i in range(k + 1, size):
            share = block[k, i] * inverse
            for j in range(i, size):
                block[i, j] -= share * block[k, j]
    return kept


@njit(cache=True, fastmath={"contract"})
def _sweep_lanes(block, end, size, lanes, tolerance, kept, inverse, share):
    """Sweeps columns before `end` out of all later ones, in every lane. Adds to `kept` how many it swept out."""
    for k in range(end):
        for lane in range(lanes):
            is_left = block[k, k, lane] >= tolerance
            inverse[lane] = 1.0 / block[k, k, lane] if is_left else 0.0
            kept[lane] += is_left
        for i in range(k + 1, size):
            for lane in range(lanes):
                share[lane] = block[k, i, lane] * inverse[lane]
            for j in range(i, size):
                here, pivot = block[i, j], block[k, j]
                for lane in range(lanes):
                    here[lane] -= share[lane] * pivot[lane]


@njit(cache=True)
def _one_left_by(block, tested, n_tested, response, lanes, tolerance, room, left, kept, inverse, share):
    """Writes to `left` the share of a response that tested columns do not explain; 2 if z determines the response."""
    for i in range(n_tested + 1):
        a = tested + i if i < n_tested else response
        for j in range(i, n_tested + 1):
            b = tested + j if j < n_tested else response
            here, there = room[i, j], block[min(a, b), max(a, b)]
            for lane in range(lanes):
                here[lane] = there[lane]
    _sweep_lanes(room, n_tested, n_tested + 1, lanes, tolerance, kept, inverse, share)
    for lane in range(lanes):
        whole = block[response, response, lane]
        left[lane] = room[n_tested, n_tested, lane] / whole if whole >= tolerance else 2.0


@njit(cache=True)
def _left_by(block, tested, n_tested, response, n_responses, tolerance, room):
    """Wilks' lambda (the responses' unexplained share), the number of tested columns kept, and of responses kept."""
    for i in range(n_responses):
        for j in range(i, n_responses):
            room[i, j] = block[response[i], response[j]]
    kept_responses, before = 0, 0.0
    for k in range(n_responses):
        pivot = room[k, k]
        if pivot >= tolerance:
            before += math.log(pivot)
            response[kept_responses] = response[k]
            kept_responses += 1
            for i in range(k + 1, n_responses):
                share = room[k, i] / pivot
                for j in range(i, n_responses):
                    room[i, j] -= share * room[k, j]
    size = n_tested + kept_responses
    for i in range(n_tested):
        for j in range(i, n_tested):
            room[i, j] = block[tested[i], tested[j]]
        for j in range(kept_responses):
            room[i, n_tested + j] = block[min(tested[i], response[j]), max(tested[i], response[j])]
    for i in range(kept_responses):
        for j in range(i, kept_responses):
            room[n_tested + i, n_tested + j] = block[response[i], response[j]]
    kept, after = _sweep(room, n_tested, size, tolerance), 0.0
    for k in range(n_tested, size):
        pivot = max(room[k, k], tolerance)
        after += math.log(pivot)
        for i in range(k + 1, size):
            share = room[k, i] / pivot
            for j in range(i, size):
                room[i, j] -= share * room[k, j]
    return math.exp(min(after - before, 0.0)), kept, kept_responses


@njit(cache=True)
def rao(wilks, n_tested, n_responses, freedom):
    """The two degrees of freedom of Rao's F for Wilks' lambda, and the unexplained share. `freedom` is the number of
    rows - 1 - the number of z's columns. F is exact if there are at most two tested columns or at most two responses.
    """
    p, q = float(n_responses), float(n_tested)
    squares = p * p + q * q - 5.0
    root = math.sqrt((p * p * q * q - 4.0) / squares) if squares > 0.0 and p * q > 2.0 else 1.0
    second = (freedom - 0.5 * (p + q + 1.0)) * root - 0.5 * (p * q - 2.0)
    return n_responses * n_tested, second, wilks ** (1.0 / root)


@njit(cache=True)
def degree_of_set(rows, r, most):
    """How many functions each of r members of z has: at most `most`, at most rows / 4 in all, but at least 1 each."""
    return max(1, min(most, rows // (4 * max(r, 1))))


@njit(cache=True)
def degree_of_tested(degree):
    """How many functions of x or y are tested if each member of z has `degree` functions. It is at most `degree`,
    because z must be fitted at least as closely as x and y are tested.
    """
    return 3 if degree >= 5 else 2 if degree >= 3 else 1


@njit(cache=True, inline="always")
def _n_heads(start, is_discrete, v):
    """The number of heads (response columns) of variable v."""
    return start[v + 1] - start[v] if is_discrete[v] else 1


@njit(cache=True)
def _n_products(members, r, start, is_discrete):
    """The number of products of two heads that belong to different members of z."""
    count = 0
    for i in range(r):
        for j in range(i + 1, r):
            count += _n_heads(start, is_discrete, members[i]) * _n_heads(start, is_discrete, members[j])
    return count


@njit(cache=True)
def _write_products(columns, members, r, start, is_discrete, used, place, centred):
    """For every two members, writes the products of their heads, standardised over the rows `used`, to `centred`."""
    for i in range(r):
        for j in range(i + 1, r):
            u, v = members[i], members[j]
            for a in range(start[u], start[u] + _n_heads(start, is_discrete, u)):
                for b in range(start[v], start[v] + _n_heads(start, is_discrete, v)):
                    for k in range(len(used)):
                        centred[place, k] = columns[a, used[k]] * columns[b, used[k]]
                    _standardise(centred[place], len(used))
                    place += 1


@njit(cache=True)
def _standardise(row, n):
    """Scales a row in place to mean 0 and length 1, or to zeros if it is nearly constant."""
    largest = 0.0
    for k in range(n):
        largest = max(largest, abs(row[k]))
    for _ in range(2):  # the second time removes the rounding error of the first mean
        total = 0.0
        for k in range(n):
            total += row[k]
        mean = total / max(n, 1)  # n is 0 if every row has a gap
        for k in range(n):
            row[k] -= mean
    square = 0.0
    for k in range(n):
        square += row[k] * row[k]
    scale = 1.0 / math.sqrt(square) if square > 1e-24 * n * largest * largest else 0.0
    for k in range(n):
        row[k] *= scale


@njit(cache=True, fastmath={"reassoc", "contract"})
def _dot(a, b, n):
    total = 0.0
    for k in range(n):
        total += a[k] * b[k]
    return total


@njit(cache=True)
def _rows_without_gaps(has_value, members, rows):
    """Writes to `rows` the indices of the rows in which no member has a gap. Returns their number."""
    count = 0
    for row in range(has_value.shape[1]):
        complete = True
        for member in members:
            complete &= has_value[member, row]
        rows[count] = row
        count += complete
    return count


@njit(cache=True)
def _write_places(members, r, start, is_discrete, degree, degree_tested, ends, places, nowhere):
    """Writes z's columns from place 0, x's from ends[0], y's from ends[1]; else `nowhere`. Returns the end of z's."""
    for k in range(ends[2]):
        places[k] = nowhere
    count = 0
    for i in range(r + 2):
        if i == r:
            products = count
        count = count if i < r else ends[i - r]
        first, last = start[members[i]], start[members[i] + 1]
        if not is_discrete[members[i]]:
            last = min(last, first + (degree if i < r else degree_tested))
        for column in range(first, last):
            places[count] = column
            count += 1
    return products


@njit(cache=True)
def _write_pairs(members, r, start, is_discrete, pair_start, which):
    """Writes to `which`, for each product of heads of two members of z, the index of its row in `cross`."""
    count = 0
    for j in range(r):
        for k in range(j + 1, r):
            u, v = members[j], members[k]
            n_products = _n_heads(start, is_discrete, u) * _n_heads(start, is_discrete, v)
            for product in range(pair_start[u, v], pair_start[u, v] + n_products):
                which[count] = product
                count += 1


@njit(cache=True)
def _gather_products(cross, which, n_products, after_z, places, lanes, size, block):
    """Copies correlations between products and columns from `cross`. A lane's products begin at `after_z[lane]`."""
    last = np.uint32(cross.shape[1] - 1)
    at, row = np.empty(lanes, np.uint32), np.empty(lanes, np.uint32)
    for k in range(n_products[:lanes].max()):
        for lane in range(lanes):
            at[lane] = after_z[lane] + k if k < n_products[lane] else 0  # 0: no product (place 0 is z's)
            row[lane] = which[lane, k]
        for i in range(np.uint32(size)):
            for lane in range(np.uint32(lanes)):
                here = at[lane]
                if here:
                    number = cross[row[lane], places[lane, i] if i != here else last]
                    block[min(i, here), max(i, here), lane] = number


@njit(cache=True)
def _multiply_products(columns, centred, count, first, places, size, block, lane):
    """Writes the correlations of the products in `centred` with the other columns, computed from the rows of data."""
    n, nowhere = columns.shape[1], len(columns)
    for k in range(count):
        at = first + k
        for i in range(size):
            if first <= i < first + count or places[i] == nowhere:
                continue
            block[min(i, at), max(i, at), lane] = _dot(centred[k], columns[places[i]], n)


@njit(cache=True)
def _among_products(products, centred, which, count, first, block, lane):
    """Writes the correlations of products with each other: from `products` or, if that is empty, from rows of data."""
    for k in range(count):
        for j in range(k if len(products) == 0 else k + 1, count):
            if len(products):
                block[first + k, first + j, lane] = products[which[k], which[j]]
            else:
                block[first + k, first + j, lane] = _dot(centred[k], centred[j], centred.shape[1])


@njit(cache=True)
def _fill_from_rows(columns, places, used, n_products, first, centred, block):
    """Fills the block of one lane from the data rows `used`. From row `first` on, `centred` already holds products."""
    for i in range(len(places)):
        if first <= i < first + n_products:
            continue
        if places[i] == len(columns):
            centred[i, : len(used)] = 0.0
            continue
        for k in range(len(used)):
            centred[i, k] = columns[places[i], used[k]]
        _standardise(centred[i], len(used))
    for i in range(len(places)):
        for j in range(i, len(places)):
            block[i, j] = _dot(centred[i], centred[j], len(used))


@njit(cache=True)
def _responses_left(block, lane, responded, asked, tolerance, scratch):
    """`_left_by` for one lane. `responded`: first place and number of the responses; `asked`: of the tested columns."""
    (response, n_responses), (tested, n_tested) = responded, asked
    whole, room, places = scratch
    size = max(response + n_responses, tested + n_tested)
    first = min(response, tested)
    for i in range(first, size):
        for j in range(i, size):
            whole[i - first, j - first] = block[i, j, lane]
    for k in range(n_tested):
        places[0, k] = tested - first + k
    for k in range(n_responses):
        places[1, k] = response - first + k
    return _left_by(whole, places[0], n_tested, places[1], n_responses, tolerance, room)


@njit(cache=True)
def _read_group(basis, group, lanes, x, y, z, most, rows, rows_used, about, widths):
    """Writes members, degrees and number of products of each question to `about`, and the largest number of columns
    that any question of the group has for z, for x and for y to `widths`.
    """
    members, degrees, n_products = about
    start, is_discrete, has_value = basis.start, basis.is_discrete, basis.has_value
    r = z.shape[1]
    widths[:] = 0
    for lane in range(lanes):
        i = group + lane
        mine = members[lane]
        mine[:r] = z[i]
        mine[r], mine[r + 1] = x[i], y[i]
        if has_value.shape[1]:
            rows_used[i] = _rows_without_gaps(has_value, mine, rows)
        n = rows_used[i]
        degrees[lane, 0] = degree_of_set(n, r, most)
        degrees[lane, 1] = degree_of_tested(degrees[lane, 0])
        wanted = _n_products(mine, r, start, is_discrete) if r > 1 else 0
        n_products[lane] = wanted if wanted * 20 <= n else 0
        count = n_products[lane]
        for k in range(r + 2):
            width = start[mine[k] + 1] - start[mine[k]]
            if not is_discrete[mine[k]]:
                width = min(width, degrees[lane, 0 if k < r else 1])
            if k < r:
                count += width
            else:
                widths[1 + k - r] = max(widths[1 + k - r], width)
        widths[0] = max(widths[0], count)


@njit(cache=True)
def _fill_group(basis, lanes, about, rows, ends, room, block):
    """Writes the correlations among the columns of every question of a group to `block`."""
    cross, products, columns, has_value = basis.cross, basis.products, basis.columns, basis.has_value
    gram, start, is_discrete = basis.gram, basis.start, basis.is_discrete
    members, degrees, n_products = about
    places, after_z, which, centred, one = room
    r, size = members.shape[1] - 2, ends[2]
    for lane in range(lanes):
        mine, degree, degree_tested, count = members[lane], degrees[lane, 0], degrees[lane, 1], n_products[lane]
        here = places[lane, :size]
        first = _write_places(mine, r, start, is_discrete, degree, degree_tested, ends, here, len(columns))
        if has_value.shape[1]:
            used = rows[: _rows_without_gaps(has_value, mine, rows)]
            if count:
                _write_products(columns, mine, r, start, is_discrete, used, first, centred)
            _fill_from_rows(columns, here, used, count, first, centred, one)
            block[:size, :size, lane] = one[:size, :size]
            continue
        after_z[lane] = first
        for i in range(np.uint32(size)):
            for j in range(i, np.uint32(size)):
                block[i, j, np.uint32(lane)] = gram[here[i], here[j]]
        if count and len(cross):
            _write_pairs(mine, r, start, is_discrete, basis.pair_start, which[lane])
        elif count:
            _write_products(columns, mine, r, start, is_discrete, rows, 0, centred)
            _multiply_products(columns, centred, count, first, here, size, block, lane)
            _among_products(products, centred, which[lane], count, first, block, lane)
    if len(cross) == 0 or has_value.shape[1]:
        return
    _gather_products(cross, which, n_products, after_z, places, lanes, size, block)
    for lane in range(lanes):
        if n_products[lane] > 1:
            if len(products) == 0:
                _write_products(columns, members[lane], r, start, is_discrete, rows, 0, centred)
            _among_products(products, centred, which[lane], n_products[lane], after_z[lane], block, lane)


@njit(cache=True)
def _answer_group(basis, lanes, group, about, swept, betas, room, rows_used, answers):
    """Writes the answers to a group of questions after z is swept out. `betas` caches B(a, 1/2) for `betas[0]` rows."""
    start, is_discrete, excess = basis.start, basis.is_discrete, basis.excess
    (members, degrees, _), (pvalues, strengths), (ends, block, left, kept, tolerance) = about, answers, swept
    r = members.shape[1] - 2
    for lane in range(lanes):
        i = group + lane
        n = rows_used[i]
        freedom = n - 1.0 - kept[0, lane]
        if betas[0] != n:
            betas[:] = np.nan
            betas[0] = n
        p_first, p_second, best = 1.0, 1.0, 0.0
        is_testable = True
        for direction in range(2):
            tested, share, responses = kept[1 + direction, lane], left[direction, lane], 1
            first, second = tested, freedom - tested
            n_tested = degrees[lane, 1]
            response, other = members[lane, r + direction], members[lane, r + 1 - direction]
            n_responses = _n_heads(start, is_discrete, response)
            if n_responses > 1 or (is_discrete[response] and not is_discrete[other]):
                n_tested = _n_heads(start, is_discrete, other)
                if not is_discrete[other]:
                    n_tested = min(degrees[lane, 1], TESTED_IN_LEVELS)
                responded, asked = (ends[direction], n_responses), (ends[1 - direction], n_tested)
                share, tested, responses = _responses_left(block, lane, responded, asked, tolerance, room)
                first, second, share = rao(share, tested, responses, freedom)
            if tested == 0 or responses == 0 or share > 1.5 or second <= 0.0:
                is_testable = False
                break
            share = min(max(share, tolerance), 1.0)
            place = kept[0, lane] + tested
            beyond = excess[response, 0] * excess[other, 0 if is_discrete[other] else n_tested - 1]
            if responses > 1 or math.isnan(betas[place]):
                a = 0.5 * second
                beta = math.exp(math.lgamma(a) + math.lgamma(0.5) - math.lgamma(a + 0.5))  # B(a, 1/2)
                if responses == 1:
                    betas[place] = beta
            else:
                beta = betas[place]
            if beyond > NEARLY_NORMAL:
                # fewer degrees of freedom for F, as the variance of R² is 1 + `beyond` times that of normal columns
                part = min(max(((n + 1.0) / (1.0 + beyond) - 2.0) / (n - 1.0), LEAST_SHARE), 1.0)
                p = _f_tail_of_share(first, second, share, part)
            else:
                p = f_tail(first, second, share, beta)
            best = max(best, 1.0 - share * (second + first) / second)
            if direction == 0:
                p_first = p
            else:
                p_second = p
        pvalues[i] = cauchy(p_first, p_second) if is_testable else 1.0
        strengths[i] = math.sqrt(max(best, 0.0)) if is_testable else 0.0


@njit(cache=True, nogil=True)
def additive_tests(basis, most, x, y, z, tolerance, pvalues, strengths, rows_used):
    """Writes p-value, strength and number of rows of each question, (b,) each. On entry, `rows_used` holds the number
    of all rows. `basis`: see `anypag.ci.additive`. Each continuous member of z (b, r) has at most `most` functions.
    Members are swept out in the order given. A share of variance below `tolerance` counts as 0.
    """
    r, start = z.shape[1], basis.start
    widest, heads = 0, 1
    for i in range(len(start) - 1):
        widest = max(widest, start[i + 1] - start[i])
        heads = max(heads, _n_heads(start, basis.is_discrete, i))
    most_products = min(rows_used[0] // 20 if len(rows_used) else 0, heads * heads * r * (r - 1) // 2)
    width = widest * (r + 2) + most_products
    most_lanes = max(1, min(LANES, ROOM // (width * width)))
    about = np.empty((most_lanes, r + 2), np.int32), np.empty((most_lanes, 2), np.int64), np.empty(most_lanes, np.int64)
    ends, widths = np.empty(3, np.int64), np.empty(3, np.int64)
    block = np.empty((width, width, most_lanes + APART))
    room = np.empty((widest + 1, widest + 1, most_lanes))
    several = np.empty((2 * widest, 2 * widest)), np.empty((2 * widest, 2 * widest)), np.empty((2, widest), np.int64)
    left, kept = np.empty((2, most_lanes)), np.empty((3, most_lanes), np.int64)
    inverse, shares = np.empty(most_lanes), np.empty(most_lanes)
    n_rows = basis.columns.shape[1]
    rows = np.arange(n_rows)
    places, which = np.empty((most_lanes, width), np.uint32), np.empty((most_lanes, width), np.uint32)
    after_z, centred = np.empty(most_lanes, np.int64), np.empty((width if n_rows else 0, n_rows))
    filling = places, after_z, which, centred, np.empty((width, width))
    betas = np.full(width + widest + 1, np.nan)
    answers = pvalues, strengths
    for group in range(0, len(x), most_lanes):
        lanes = min(most_lanes, len(x) - group)
        _read_group(basis, group, lanes, x, y, z, most, rows, rows_used, about, widths)
        ends[0], ends[1], ends[2] = widths[0], widths[0] + widths[1], widths[0] + widths[1] + widths[2]
        _fill_group(basis, lanes, about, rows, ends, filling, block)
        kept[:] = 0
        _sweep_lanes(block, ends[0], ends[2], lanes, tolerance, kept[0], inverse, shares)
        _one_left_by(block, ends[1], widths[2], ends[0], lanes, tolerance, room, left[0], kept[1], inverse, shares)
        _one_left_by(block, ends[0], widths[1], ends[1], lanes, tolerance, room, left[1], kept[2], inverse, shares)
        swept = ends, block, left, kept, tolerance
        _answer_group(basis, lanes, group, about, swept, betas, several, rows_used, answers)
