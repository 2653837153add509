"""Candidate sets of an edge from its two pools (`_kernels.pools`), nearest first (`next_sets`); passes of Fisher's z.

The pool of an end of an edge holds the nodes near it from which the sets to be tested are taken. A pass answers all
questions of one kind: which pairs depend on each other given the empty set (`pairs_from`), or which node
(`best_singles`) or set (`best_sets`) gives the largest p-value for every edge.

Passes give the same answers to the bit as `partial_correlations` and `fisher_z_pvalues` in `_kernels.gaussian`, which
take a list of questions. p falls as |rho| rises, except for rounding, so a p-value is computed only where |rho| is at
most `margin` above the smallest |rho| of the edge so far. `best_sets` saves time in two more ways. It copies the
correlations among the nodes of a pool into one small matrix, which stays in the cache. And it visits sets in the
lexicographic order of their members' `place` (rank in the order of elimination). Consecutive sets then often begin with
the same members, which are eliminated only once.
"""

import math

import numpy as np

from anypag._kernels.patience import EDGES, njit, patient


@njit(cache=True, nogil=True)
def _next_with_sum(distances, r, total, chosen, is_fresh):
    """Sets `chosen` to the next r places, in lexicographic order, whose distances add up to `total`; False if none are
    left. Distances ascend. So a set whose first place is j has the smallest sum if its other places follow j directly,
    and the largest sum if they are the last places of all.
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
    """Has the other pool given out this set? Yes if the sum there is below `total`, or equal to it and `side` is 1."""
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
    """The largest sum of distances of r nodes of pool p; 0 if the pool has fewer than r nodes."""
    total = 0
    if first[p + 1] - first[p] >= r:
        for k in range(first[p + 1] - r, first[p + 1]):
            total += distances[k]
    return total


@patient(table=1_000_000, lists=1_000_000, nogil=True)  # `quota` and the length of z bound the work
def next_sets(first, nodes, distances, others, r, edges, quota, cursor, z, edge_of):
    """Writes up to `quota` more candidate sets of each of `edges`. Returns how many were written. `cursor[k]` says
    where to continue with edge k: state (0 new, 1 running, 2 exhausted), sum of distances, side (0: x's pool, 1: y's),
    1 if no set of this sum and pool was written yet (else 0), then the chosen places. Sets are ordered by the sum of
    their distances. Of sets with equal sums, those of x's pool come first; sets of a pool are in lexicographic order.
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
            is_fresh = 1  # the next pool, or the next sum, starts at its first set
            side += 1
            if side == 2:
                total, side = total + 1, 0
                if total > max(_most(distances, first, 2 * k, r), _most(distances, first, 2 * k + 1, r)):
                    state = 2
        cursor[k, 0], cursor[k, 1], cursor[k, 2], cursor[k, 3] = state, total, side, is_fresh
    return count


@patient(nogil=True)
def keep_best(edge_of, z, p, best_z, best_p):
    """Keeps each edge's set with the largest p-value; of equal p-values, the first set. `best_p` is NaN at first."""
    for row in range(len(edge_of)):
        k = edge_of[row]
        if not p[row] <= best_p[k]:
            best_p[k] = p[row]
            for j in range(z.shape[1]):
                best_z[k, j] = z[row, j]


@patient(nogil=True)
def largest_of_each(group, values):
    """The row with the largest value in each run of equal entries of `group`; of equal values, the first row."""
    rows, count = np.empty(len(group), np.int64), 0
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
def _strength(joint, left_x, left_y):
    """|rho| from the three numbers of `_given_one`; 0 if they are 0."""
    return min(abs(joint) / math.sqrt(left_x * left_y), 1.0) if left_x > 0.0 else 0.0


@njit(cache=True, inline="always")
def _given_two(xy, xc, xd, yc, yd, cd, tolerance):
    """The covariance and variances of x and y given c and d, each times 1 - cd², and how many of c and d were left out.
    d is eliminated first. If d determines c, then c is left out, and the numbers are those of `_given_one` given d.
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
    """Adds member i to the members held, unless these determine i. Returns how many are held. A member's residual is
    what remains of it given the members held before it. Row j of `covariance` holds the covariances of the j-th member
    held with the residuals of the members before it. Row j of `weight` holds the regression coefficients on these
    residuals, and `weight[j, j]` is 1 / the variance of the member's own residual. The last two rows of `covariance`
    are those of x and y. `left[j]` holds the variances of x and y and their covariance given the first j members.
    """
    own = 1.0
    for j in range(kept):
        value = near[i, held[j]]
        for k in range(j):
            value -= covariance[kept, k] * weight[j, k]
        share = value * weight[j, j]
        covariance[kept, j], weight[kept, j] = value, share
        own -= value * share
    if own < tolerance:
        return kept
    scale = 1.0 / own
    weight[kept, kept], held[kept] = scale, i
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
            entry, j = entries[i], i
            here = place[nodes[entry]]
            while j >= gap and place[nodes[entries[j - gap]]] > here:
                entries[j] = entries[j - gap]
                j -= gap
            entries[j] = entry
        gap //= 3


@njit(cache=True, nogil=True)
def _places(pool, z, places):
    """Writes a set's places in a pool, ascending. Returns the sum of their distances; -1 if the pool lacks a member."""
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
    """The sum of distances of z in the pool that gives z out first, and this pool (0: x's). Writes z's places in it."""
    of_x = _places(pool_x, z, places)
    of_y = _places(pool_y, z, places)
    if of_y >= 0 and (of_x < 0 or of_y < of_x):
        return of_y, 1
    return _places(pool_x, z, places), 0


@njit(cache=True, nogil=True)
def _comes_first(pool_x, pool_y, z, other):
    """Does `next_sets` give out the set z before the set `other`?"""
    mine, its = np.empty(len(z), np.int64), np.empty(len(z), np.int64)
    here, there = _where(pool_x, pool_y, z, mine), _where(pool_x, pool_y, other, its)
    if here != there:
        return here < there
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
    """The largest rho² whose p-value must be computed, plus slack for rounding; `inf` if all must be computed."""
    return (least + margin) * (least + margin) * (1.0 + 1e-9) if margin < 1.0 else np.inf


@njit(cache=True, nogil=True)
def _try_sets(near, pools, entries, next_new, cursor, room, rule, scratch, least, best_z, best_p):
    """Continues with the sets of one pool of an edge. Returns how many sets it tried, at most `room`.

    `near`: correlations, below the diagonal, of the pool's n members (sorted by `place`), x (row n) and y. `entries`:
    where each member stands among the nodes of all pools. x's pool is searched first, and all its members are new. In
    y's pool, a member is new if x's pool lacks it. Sets without a new member have been tried already. `next_new`
    (n + 1,): entry i is the first new member from i on, n if there is none. `cursor[0]` is 1 if the search continues
    after the set of places in `cursor[1:]`; it is 0 at the start, and when all sets have been tried. `rule`: tolerance,
    roots and margin. `least`, `best_z` and `best_p` are written, as in `best_sets`.
    """
    tolerance, roots, margin = rule
    held, covariance, weight, left, n_kept, n_new, z = scratch
    pool_x, pool_y, nodes = pools
    r, n, chosen = len(z), len(entries), cursor[1:]
    xy = near[n + 1, n]
    left[0, 0], left[0, 1], left[0, 2] = 1.0, 1.0, xy
    n_kept[0] = n_new[0] = 0
    chosen[0] = chosen[0] if cursor[0] else -1
    depth = count = 0
    while cursor[0] and depth < r - 1:
        i = chosen[depth]
        n_kept[depth + 1] = _push(near, n, i, n_kept[depth], tolerance, held, covariance, weight, left)
        n_new[depth + 1] = n_new[depth] + (next_new[i] == i)
        depth += 1
    bound = _bound(least[0], margin)
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
            xc, xd, yc, yd = near[n, i], near[n, d], near[n + 1, i], near[n + 1, d]
            joint, left_x, left_y, left_out = _given_two(xy, xc, xd, yc, yd, near[i, d], tolerance)
        else:
            kept = n_kept[r]
            left_x, left_y, joint, left_out = left[kept, 0], left[kept, 1], left[kept, 2], r - kept
            if left_x < tolerance or left_y < tolerance:
                joint, left_x, left_y = 0.0, 0.0, 0.0
        if left_out == 0 and left_x > 0.0 and joint * joint > bound * (left_x * left_y):
            continue  # |rho| is too large, by more than rounding can explain
        strength = _strength(joint, left_x, left_y)
        if left_out == 0 and strength > least[0] + margin:
            continue
        if left_out == 0 and strength < least[0]:
            least[0], bound = strength, _bound(strength, margin)
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
    """Writes the correlations of x with y, of both with the members, and (unless `is_single`) between the members."""
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


@patient(lists=4_000, nogil=True)
def best_sets(correlation, order, place, edges, rule, room, best):
    """Continues the search for the best set of every edge. Returns how many sets were tried, at most `room`.

    Of sets with equal p-values above 0, the best is the one that `next_sets` gives out first. Node i is column
    `order[i]`, and `place[i]` its rank in the order of elimination. `edges`: first, nodes, distances and others, which
    are the result of `_kernels.pools.pools`; xs and ys (m,), the ends of the edges; is_open (m,), whether the edge's
    sets are to be tried. `rule`: tolerance and roots, as in `_kernels.gaussian`, and margin. `best` is written: cursor
    (3 + r,), which holds the edge to continue with (m at the end), the side (0: x's pool) and the cursor of
    `_try_sets`; least (m,), the smallest |rho| so far given a set of which no member was left out; best_z (m, r),
    ascending; best_p (m,). At first these four arrays are 0, `inf`, anything and NaN.
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


@patient(nogil=True)
def pairs_from(correlation, order, first, end, least):
    """The pairs of nodes i < j with first <= i < end and |rho| of at least `least`, and their |rho|, row by row. Node i
    is column order[i]. A row is read in memory order. The columns found are then put in the order of nodes: a few
    columns by insertion sort, many columns by a scan over all nodes.
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
        n_found, begin = 0, count
        for c in range(n):
            found[n_found] = c
            n_found += abs(row[c]) >= least  # if not, the next column overwrites this entry
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
    """Lists a node's neighbours in the block `here`, with correlations from the node's `row`. Returns their number."""
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
    """Adds a node's neighbours in the block, except `other`, to the list unless they are in it already. Returns the new
    length of the list, and how many such neighbours the node has.
    """
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
    """rho² of x and y given each node, up to rounding; -1 if the node nearly determines x or y. Has no branches."""
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
    for i in range(0, count - 1, 2):  # two minima, which the processor can update at the same time
        first = squares[i] if 0.0 <= squares[i] < first else first
        second = squares[i + 1] if 0.0 <= squares[i + 1] < second else second
    if count % 2 and 0.0 <= squares[count - 1] < first:
        first = squares[count - 1]
    return min(first, second)


@patient(lists=EDGES, nogil=True)
def best_singles(correlation, order, edges, max_sets, tolerance, root, margin, found):
    """Writes for every edge the node that gives the largest p-value as condition set. Returns how many questions were
    answered. The candidates are the neighbours of the ends x and y (pools of radius 1) in the edge's biconnected block.

    Of nodes with equal p-values it writes the one that `next_sets` gives out first: nodes of x's pool come first, then
    nodes that depend more on x and y, then lower indices. `edges`: start, neighbour, block (the graph, as in
    `_kernels.pools`); xs, ys and edge_block (m,), the two ends and the block of each edge. An edge with more than
    `max_sets` candidates is not tested; a negative `max_sets` means no limit. `found` is written: is_open (m,), whether
    both pools have a node; is_large (m,), whether there are too many candidates; best_z (m, 1), the node; best_p (m,).
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
            if squares[i] <= bound and i != at_y:  # includes every node with |rho| within `margin` of the least
                near[n_near] = i
                near_strength[n_near] = _strength(*_given_one(xy, of_x[i], of_y[i], tolerance))
                least = min(least, near_strength[n_near])
                n_near += 1
        best_p[k] = -1.0
        best, best_depends = np.int64(0), np.float32(0.0)
        for j in range(n_near):
            if near_strength[j] > least + margin:
                continue
            p = _pvalue(near_strength[j], root)
            if p < best_p[k]:
                continue
            i = near[j]
            depends = np.float32(abs(of_x[i])) + np.float32(abs(of_y[i]))
            comes_first = depends > best_depends or (depends == best_depends and neighbour[places[i]] < best_z[k, 0])
            if (i < n_first) != (best < n_first):
                comes_first = i < n_first
            if p > best_p[k] or comes_first:
                best, best_depends, best_p[k], best_z[k, 0] = i, depends, p, neighbour[places[i]]
    return total
