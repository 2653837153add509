"""The candidate sets of an edge, from its two pools (`_kernels.pools`): in order (`next_sets`), or the best of them.

`best_sets` finds the set with the largest p-value of Fisher's z. Its p-values are the same to the bit as those of
`partial_correlations` and `fisher_z_pvalues` in `_kernels.gaussian`, which answer one question at a time. It takes one
edge at a time and is quicker for three reasons. It copies the correlations between the nodes of a pool into one small
matrix, which stays in the cache. It visits the sets in the order in which their members are eliminated (`place`), so
the elimination of the first members is computed once for all sets that begin with them. And p falls as |rho| rises,
except for rounding, so a p-value is computed only where |rho| is at most `margin` above the smallest |rho| so far.
"""

import math

import numpy as np

from anypag._kernels.patience import njit, patient


@njit(cache=True, nogil=True)
def _next_with_sum(distances, r, total, chosen, is_fresh):
    """Step `chosen` to the next r places, in lexicographic order, whose distances add up to `total`; False at the end.

    Distances ascend, so the least and the largest sum over the places after j are sums of adjacent entries.
    """
    size = len(distances)
    i = 0 if is_fresh else r - 1
    j = 0 if is_fresh else chosen[r - 1] + 1
    so_far = 0
    for k in range(i):
        so_far += distances[chosen[k]]
    while True:
        left = r - i
        placed = False
        while j <= size - left:
            least = most = 0
            for k in range(left):
                least += distances[j + k]
                most += distances[size - left + k] if k else distances[j]
            if so_far + least > total:
                break
            if so_far + most >= total:
                placed = True
                break
            j += 1
        if placed:
            chosen[i] = j
            if left == 1:
                return True
            so_far += distances[j]
            i += 1
            j += 1
        else:
            i -= 1
            if i < 0:
                return False
            so_far -= distances[chosen[i]]
            j = chosen[i] + 1


@njit(cache=True, nogil=True)
def _repeats(others, low, chosen, r, total, side):
    """Did the other pool give out this set, by a smaller sum of distances or (for the second pool) an equal one?"""
    elsewhere = 0
    for k in range(r):
        if others[low + chosen[k]] == 0:
            return False
        elsewhere += others[low + chosen[k]]
    return elsewhere < total or (side == 1 and elsewhere == total)


@njit(cache=True, nogil=True)
def _write_sorted(z, row, nodes, low, chosen, r):
    for k in range(r):
        node = nodes[low + chosen[k]]
        j = k
        while j > 0 and z[row, j - 1] > node:
            z[row, j] = z[row, j - 1]
            j -= 1
        z[row, j] = node


@njit(cache=True, nogil=True)
def _most(distances, first, p, r):
    """The largest sum of distances of r nodes of pool p; 0 if it has fewer."""
    total = 0
    if first[p + 1] - first[p] >= r:
        for k in range(first[p + 1] - r, first[p + 1]):
            total += distances[k]
    return total


@patient(table=1_000_000, lists=1_000_000, nogil=True)  # bounds on what is written bound the work
def next_sets(first, nodes, distances, others, r, edges, quota, cursor, z, edge_of):
    """Up to `quota` more candidate sets of each of these edges, nearest first; how many rows were filled.

    `cursor[k]` is the position of edge k: state (0 new, 1 running, 2 exhausted), sum of distances, side, whether this
    side begins anew, then the chosen places. Sets are ordered by the sum of their distances; for equal sums those of
    x's pool come first, each pool in lexicographic order.
    """
    count = 0
    for k in edges:
        state, total, side, is_fresh = cursor[k, 0], cursor[k, 1], cursor[k, 2], cursor[k, 3]
        chosen = cursor[k, 4:]
        if state == 0:
            state, total, side, is_fresh = 1, r, 0, 1
        given = 0
        while state == 1 and given < quota and count < len(z):
            low, high = first[2 * k + side], first[2 * k + side + 1]
            if high - low >= r:
                pool = distances[low:high]  # sliced once for many sets: a slice takes as long as finding one set
                while given < quota and count < len(z) and _next_with_sum(pool, r, total, chosen, is_fresh):
                    is_fresh = 0
                    if not _repeats(others, low, chosen, r, total, side):
                        _write_sorted(z, count, nodes, low, chosen, r)
                        edge_of[count] = k
                        count += 1
                        given += 1
                if given >= quota or count >= len(z):
                    continue
            is_fresh = 1  # the next pool, or the next sum, begins anew
            side += 1
            if side == 2:
                total, side = total + 1, 0
                if total > max(_most(distances, first, 2 * k, r), _most(distances, first, 2 * k + 1, r)):
                    state = 2
        cursor[k, 0], cursor[k, 1], cursor[k, 2], cursor[k, 3] = state, total, side, is_fresh
    return count


@patient(nogil=True)
def keep_best(edge_of, z, p, best_z, best_p):
    """The set with the largest p-value of each edge, the first of equals; `best_p` is NaN before its first set."""
    for row in range(len(edge_of)):
        k = edge_of[row]
        if not p[row] <= best_p[k]:
            best_p[k] = p[row]
            for j in range(z.shape[1]):
                best_z[k, j] = z[row, j]


@patient(nogil=True)
def largest_of_each(group, values):
    """The row with the largest value in each run of equal `group`, the first of equals."""
    rows = np.empty(len(group), np.int64)
    count = 0
    for row in range(len(group)):
        if row == 0 or group[row] != group[row - 1]:
            rows[count] = row
            count += 1
        elif values[row] > values[rows[count - 1]]:
            rows[count - 1] = row
    return rows[:count].copy()


@njit(cache=True, inline="always")
def _pvalue(rho, root):
    if rho >= 1.0:
        return 0.0 if root > 0.0 else 1.0
    return math.erfc(root * math.log1p(2.0 * rho / (1.0 - rho)))


@njit(cache=True, inline="always")
def _given_one(xy, xz, yz, tolerance):
    """The covariance of x and y given z, and the variances of x and of y given z. All 0 if z determines x or y."""
    left_x, left_y = 1.0 - xz * xz, 1.0 - yz * yz
    if left_x < tolerance or left_y < tolerance:
        return 0.0, 0.0, 0.0
    return xy - xz * yz, left_x, left_y


@njit(cache=True, inline="always")
def _given_two(xy, xc, xd, yc, yd, cd, tolerance):
    """The numbers of `_given_one` given both c and d, each times 1 - cd², and how many of c and d were left out.

    d is eliminated first. If d determines c, c is left out, and the numbers are those of `_given_one` with d alone.
    """
    both = 1.0 - cd * cd
    if both < tolerance:
        joint, left_x, left_y = _given_one(xy, xd, yd, tolerance)
        return joint, left_x, left_y, 1
    left_x = both - (xc * xc + xd * xd) + 2.0 * cd * (xc * xd)
    left_y = both - (yc * yc + yd * yd) + 2.0 * cd * (yc * yd)
    if left_x < tolerance * both or left_y < tolerance * both:
        return 0.0, 0.0, 0.0, 0
    return xy * both - (xc * yc + xd * yd) + cd * (xc * yd + xd * yc), left_x, left_y, 0


@njit(cache=True, inline="always")
def _push(near, n, i, kept, tolerance, held, covariance, weight, left):
    """Adds member i to the members held, unless they determine it. Returns how many members are held now.

    The residual of a member is what remains of it given the members held before it. Row j of `covariance` holds the
    covariances of the j-th member held with the residuals of the members before it; row j of `weight` holds its
    coefficients on them, and `weight[j, j]` is 1 / the variance of its own residual. The last two rows of `covariance`
    are those of x and y. `left[j]` holds the variances of x and of y and their covariance, given the first j members.
    """
    own = 1.0
    for j in range(kept):
        value = near[i, held[j]]
        for k in range(j):
            value -= covariance[kept, k] * weight[j, k]
        share = value * weight[j, j]
        covariance[kept, j] = value
        weight[kept, j] = share
        own -= value * share
    if own < tolerance:
        return kept
    scale = 1.0 / own
    weight[kept, kept] = scale
    held[kept] = i
    r = covariance.shape[1]
    of_x, of_y = near[n, i], near[n + 1, i]
    for k in range(kept):
        of_x -= covariance[r, k] * weight[kept, k]
        of_y -= covariance[r + 1, k] * weight[kept, k]
    covariance[r, kept], covariance[r + 1, kept] = of_x, of_y
    left[kept + 1, 0] = left[kept, 0] - of_x * (of_x * scale)
    left[kept + 1, 1] = left[kept, 1] - of_y * (of_y * scale)
    left[kept + 1, 2] = left[kept, 2] - (of_x * of_y) * scale
    return kept + 1


@njit(cache=True, nogil=True)
def _sort_by_place(nodes, place, entries):
    """Sorts the entries of a pool by the places of their nodes (by Shell sort, because pools may be long)."""
    gap = 1
    while 3 * gap < len(entries):
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(entries)):
            entry = entries[i]
            here = place[nodes[entry]]
            j = i
            while j >= gap and place[nodes[entries[j - gap]]] > here:
                entries[j] = entries[j - gap]
                j -= gap
            entries[j] = entry
        gap //= 3


@njit(cache=True, nogil=True)
def _places(pool, z, places):
    """Writes the ascending places of a set's members in a pool. Returns the sum of distances; -1 if one is missing."""
    nodes, distances = pool
    total = 0
    for k in range(len(z)):
        place = 0
        while place < len(nodes) and nodes[place] != z[k]:
            place += 1
        if place == len(nodes):
            return -1
        total += distances[place]
        j = k
        while j > 0 and places[j - 1] > place:
            places[j] = places[j - 1]
            j -= 1
        places[j] = place
    return total


@njit(cache=True, nogil=True)
def _where(pool_x, pool_y, z, places):
    """The sum of distances of a set in the pool that gives it out first, and that pool (0: of x). Writes its places."""
    of_x = _places(pool_x, z, places)
    of_y = _places(pool_y, z, places)
    if of_y >= 0 and (of_x < 0 or of_y < of_x):
        return of_y, 1
    return _places(pool_x, z, places), 0


@njit(cache=True, nogil=True)
def _comes_first(pool_x, pool_y, z, other):
    """Does `_kernels.candidates.next_sets` give out the set z before the other?"""
    mine, its = np.empty(len(z), np.int64), np.empty(len(z), np.int64)
    total, side = _where(pool_x, pool_y, z, mine)
    its_total, its_side = _where(pool_x, pool_y, other, its)
    if total != its_total or side != its_side:
        return total < its_total or (total == its_total and side < its_side)
    for k in range(len(z)):
        if mine[k] != its[k]:
            return mine[k] < its[k]
    return False


@njit(cache=True, nogil=True)
def _write_set(nodes, entries, chosen, z):
    for k in range(len(z)):
        node = nodes[entries[chosen[k]]]
        j = k
        while j > 0 and z[j - 1] > node:
            z[j] = z[j - 1]
            j -= 1
        z[j] = node


@njit(cache=True, nogil=True)
def _bound(least, margin):
    """A little more than the square of the largest |rho| whose p-value must be computed; `inf` if all must be."""
    return (least + margin) * (least + margin) * (1.0 + 1e-9) if margin < 1.0 else np.inf


@njit(cache=True, nogil=True)
def _try_sets(near, pools, entries, next_new, cursor, room, rule, scratch, least, best_z, best_p):
    """Continues with the sets of one pool of an edge. Returns how many sets it tried, at most `room`.

    `near`: correlations of the n members, sorted by `place`, below the diagonal; row n is x, row n + 1 is y. `entries`:
    where each member stands among the nodes of all pools. `next_new` (n + 1,): the first member from there on that is
    not in the edge's other pool, which was searched before; n if there is none. Sets without such a member have been
    tried already. `cursor[0]` is 1 if the search continues after the set of places in `cursor[1:]`; it is 0 at the
    start, and when all sets have been tried. `rule`: tolerance, roots and margin. The last three are written, as in
    `best_sets`.
    """
    tolerance, roots, margin = rule
    held, covariance, weight, left, n_kept, n_new, z = scratch
    pool_x, pool_y, nodes = pools
    r, n, chosen = len(z), len(entries), cursor[1:]
    xy = near[n + 1, n]
    left[0, 0], left[0, 1], left[0, 2] = 1.0, 1.0, xy
    n_kept[0] = n_new[0] = 0
    chosen[0] = chosen[0] if cursor[0] else -1
    depth = 0
    while cursor[0] and depth < r - 1:
        i = chosen[depth]
        n_kept[depth + 1] = _push(near, n, i, n_kept[depth], tolerance, held, covariance, weight, left)
        n_new[depth + 1] = n_new[depth] + (next_new[i] == i)
        depth += 1
    bound = _bound(least[0], margin)
    count = 0
    while depth >= 0 and count < room:
        i = chosen[depth] + 1
        if depth == r - 1 and n_new[depth] == 0:
            i = next_new[i]
        if i > n - (r - depth) or (n_new[depth] == 0 and next_new[i] == n):
            depth -= 1
            continue
        chosen[depth] = i
        if r > 2:
            n_kept[depth + 1] = _push(near, n, i, n_kept[depth], tolerance, held, covariance, weight, left)
        if depth < r - 1:
            n_new[depth + 1] = n_new[depth] + (next_new[i] == i)
            depth += 1
            chosen[depth] = i
            continue
        count += 1
        left_out = 0
        if r == 1:
            joint, left_x, left_y = _given_one(xy, near[n, i], near[n + 1, i], tolerance)
        elif r == 2:
            d = chosen[0]
            joint, left_x, left_y, left_out = _given_two(
                xy, near[n, i], near[n, d], near[n + 1, i], near[n + 1, d], near[i, d], tolerance
            )
        else:
            kept = n_kept[r]
            left_out = r - kept
            left_x, left_y, joint = left[kept, 0], left[kept, 1], left[kept, 2]
            if left_x < tolerance or left_y < tolerance:
                joint, left_x, left_y = 0.0, 0.0, 0.0
        if left_out == 0 and left_x > 0.0 and joint * joint > bound * (left_x * left_y):
            continue  # |rho| is too large, by more than rounding can explain
        strength = min(abs(joint) / math.sqrt(left_x * left_y), 1.0) if left_x > 0.0 else 0.0
        if left_out == 0:
            if strength > least[0] + margin:
                continue
            if strength < least[0]:
                least[0] = strength
                bound = _bound(strength, margin)
        p = _pvalue(strength, roots[left_out])
        if p < best_p[0]:
            continue
        _write_set(nodes, entries, chosen, z)
        if not p <= best_p[0] or (p > 0.0 and _comes_first(pool_x, pool_y, z, best_z)):
            best_p[0] = p
            for k in range(r):
                best_z[k] = z[k]
    cursor[0] = depth >= 0
    return count


@njit(cache=True, nogil=True)
def _bring_together(correlation, columns, nodes, entries, x, y, is_single, near):
    """Writes the correlations of x and y with the members, and (unless sets have one member) among the members."""
    n = len(entries)
    for i in range(0 if is_single else n):
        row = correlation[columns[nodes[entries[i]]]]
        for j in range(i):
            near[i, j] = row[columns[nodes[entries[j]]]]
    row_x, row_y = correlation[columns[x]], correlation[columns[y]]
    for j in range(n):
        column = columns[nodes[entries[j]]]
        near[n, j], near[n + 1, j] = row_x[column], row_y[column]
    near[n + 1, n] = row_y[columns[x]]


@patient(lists=1_000, nogil=True)
def best_sets(correlation, order, place, edges, rule, room, best):
    """Continues the search for the best set of every edge. Returns how many sets were tried, at most `room`.

    Of sets with equal p-values above 0, the best is the one that `next_sets` gives out first. Node i is column
    `order[i]`, and `place[i]` its rank in the order of elimination. `edges`: the pools, as `_kernels.pools` gives them,
    then the ends of the m edges, and whether the sets of an edge are to be tried. `rule`: tolerance and roots, as in
    `_kernels.gaussian`, and margin. `best` is written: cursor (3 + r,), zeros at first: edge (m at the end), side, then
    the cursor of `_try_sets`; least (m,), `inf` at first: the smallest |rho| so far, given a set with all its
    members; best_z (m, r), ascending; best_p (m,), NaN at first.
    """
    first, nodes, distances, others, xs, ys, is_open = edges
    cursor, least, best_z, best_p = best
    r = best_z.shape[1]
    columns = order.view(np.uint32)
    largest = np.int64(0)
    for k in range(len(xs)):
        if is_open[k]:
            largest = max(largest, first[2 * k + 1] - first[2 * k], first[2 * k + 2] - first[2 * k + 1])
    near = np.empty((largest + 2, largest + 2))
    entries, next_new = np.empty(largest, np.int64), np.empty(largest + 1, np.int64)
    weights = (np.empty(r, np.int64), np.empty((r + 2, r)), np.empty((r, r)), np.empty((r + 1, 3)))
    scratch = (*weights, np.empty(r + 1, np.int64), np.empty(r + 1, np.int64), np.empty(r, np.int32))
    count = 0
    while cursor[0] < len(xs) and count < room:
        k, side = cursor[0], cursor[1]
        begin, middle, end = first[2 * k], first[2 * k + 1], first[2 * k + 2]
        low, high = (middle, end) if side else (begin, middle)
        n = high - low if is_open[k] else 0
        if n >= r:
            for i in range(n):
                entries[i] = low + i
            members = entries[:n]
            _sort_by_place(nodes, place, members)
            next_new[n] = n
            for i in range(n - 1, -1, -1):
                next_new[i] = i if side == 0 or others[entries[i]] == 0 else next_new[i + 1]
            _bring_together(correlation, columns, nodes, members, xs[k], ys[k], r == 1, near)
            pool_x, pool_y = (nodes[begin:middle], distances[begin:middle]), (nodes[middle:end], distances[middle:end])
            pools, here, edge = (pool_x, pool_y, nodes), cursor[2:], slice(k, k + 1)
            of_edge = (least[edge], best_z[k], best_p[edge])
            count += _try_sets(near, pools, members, next_new, here, room - count, rule, scratch, *of_edge)
        if cursor[2] == 0:
            cursor[0], cursor[1] = (k, 1) if side == 0 and is_open[k] else (k + 1, 0)
    return count
