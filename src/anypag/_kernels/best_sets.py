"""Of the condition sets that the two pools of an edge hold, the one given which Fisher's z has the largest p-value.

What `partial_correlations` and `fisher_z_pvalues` of `_kernels.gaussian` answer question by question is decided here
edge by edge, to the same bits. It is quicker for three reasons. The correlations between the nodes of a pool are
brought together first, so that sets find them in the cache. Sets are walked through in the order in which members
are eliminated (`place`), so that what the first members leave is worked out once for all sets that begin with them.
And |rho| and p go opposite ways but for rounding: a p-value is computed only where |rho| is within `margin` of the
smallest so far.
"""

import math

import numpy as np
from numba import njit

from anypag._kernels.patience import patient


@njit(cache=True, inline="always")
def _pvalue(rho, root):
    if rho >= 1.0:
        return 0.0 if root > 0.0 else 1.0
    return math.erfc(root * math.log1p(2.0 * rho / (1.0 - rho)))


@njit(cache=True, inline="always")
def _given_one(xy, xz, yz, tolerance):
    """What is left of the covariance of x and y, and of the variances of both; 0 of a variance where it is nothing."""
    left_x, left_y = 1.0 - xz * xz, 1.0 - yz * yz
    if left_x < tolerance or left_y < tolerance:
        return 0.0, 0.0, 0.0
    return xy - xz * yz, left_x, left_y


@njit(cache=True, inline="always")
def _given_two(xy, xc, xd, yc, yd, cd, tolerance):
    """The same given c and d, which is eliminated before c; and how many of the two were left out."""
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
    """Takes member i in after those held, if it has anything left itself; how many are held now.

    Row j of `covariance` and `weight` belongs to the j-th one held: its covariances with what those before it have
    left, and their weights in it; `weight[j, j]` is 1 / the variance it has left. The last two rows of `covariance` are
    those of x and y. `left[j]` is what the first j of them leave of the variances of x and y, and of their covariance.
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
    """Sorts the entries of a pool by the places of their nodes (Shell's way: pools may be long)."""
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
    """Where the members of a set stand in a pool of nodes and distances, ascending; the sum of distances.

    -1 if they are not all there.
    """
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
    """The sum of distances by which a set comes up, and in which pool; `places` are those there."""
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
def _write_sorted(nodes, entries, chosen, z):
    for k in range(len(z)):
        node = nodes[entries[chosen[k]]]
        j = k
        while j > 0 and z[j - 1] > node:
            z[j] = z[j - 1]
            j -= 1
        z[j] = node


@njit(cache=True, nogil=True)
def _bound(least, margin):
    """A little more than the square of the largest |rho| that may still count; `inf` where all may."""
    return (least + margin) * (least + margin) * (1.0 + 1e-9) if margin < 1.0 else np.inf


@njit(cache=True, nogil=True)
def _try_sets(near, pools, entries, next_new, cursor, room, rule, scratch, least, best_z, best_p):
    """Goes on with the sets of one pool of an edge; how many were tried (`room` at the most).

    Args:
        near: correlations of the n members by `place`, below the diagonal; of x in row n, of y in row n + 1.
        pools: both pools of the edge, each as nodes and distances; entries: the members' places in the nodes of all.
        next_new: (n + 1,) the first member from each on that is not in the pool before this one: sets without one have
            been tried.
        cursor: 0, or 1 if the set that follows has been tried; that set, as members. Written: 0 at the end.
        rule: tolerance, roots and margin; scratch: room to write.
        least, best_z, best_p: of this edge, as in `best_sets`; written.
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
            continue  # by far enough that rounding cannot matter
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
        _write_sorted(nodes, entries, chosen, z)
        if not p <= best_p[0] or (p > 0.0 and _comes_first(pool_x, pool_y, z, best_z)):
            best_p[0] = p
            for k in range(r):
                best_z[k] = z[k]
    cursor[0] = depth >= 0
    return count


@njit(cache=True, nogil=True)
def _bring_together(correlation, columns, nodes, entries, x, y, is_single, near):
    """Writes the correlations of the members with each other (unless each is a set by itself), and of x and y."""
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


@patient(lists=1_000)
@njit(cache=True, nogil=True)
def best_sets(
    correlation,
    order,
    place,
    first,
    nodes,
    distances,
    others,
    xs,
    ys,
    is_open,
    tolerance,
    roots,
    margin,
    room,
    cursor,
    least,
    best_z,
    best_p,
):
    """Goes on to look for the best set of every edge.

    Where p-values are equal and not 0, the set counts that `_kernels.candidates.next_sets` gives out first.

    Args:
        correlation: (p, p), symmetric to the bit.
        order: (n,) int32, the column of each node; place: (n,) int32, when each node is eliminated, if a set has it.
        first, nodes, distances, others: the pools, as `_kernels.pools` gives them.
        xs, ys, is_open: (m,) the edges, and whether the sets of an edge are to be tried.
        tolerance, roots: as in `_kernels.gaussian`; margin: see above.
        room: how many sets to try at the most.
        cursor: (3 + r,) int64: edge, side, and where `_try_sets` stands; zeros at first. At the end the edge is m.
        least: (m,) the smallest |rho| so far with nothing left out; `inf` at first.
        best_z: (m, r) int32, ascending; best_p: (m,) float64, NaN at first.

    Returns:
        How many sets were tried.
    """
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
    rule = (tolerance, roots, margin)
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
            best = (least[edge], best_z[k], best_p[edge])
            count += _try_sets(near, pools, members, next_new, here, room - count, rule, scratch, *best)
        if cursor[2] == 0:
            cursor[0], cursor[1] = (k, 1) if side == 0 and is_open[k] else (k + 1, 0)
    return count
