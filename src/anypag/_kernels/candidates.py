"""The candidate sets of an edge, out of its two pools (`_kernels.pools`) and in order, and the best of them."""

import numpy as np
from numba import njit

from anypag._kernels.patience import patient


@njit(cache=True, nogil=True)
def _next_with_sum(distances, r, total, chosen, is_fresh):
    """Step `chosen` to the next r places, in lexicographic order, whose distances add up to `total`; False at the end.

    Distances ascend, so the least and the most that the places after j can add are sums of neighbours.
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
    """Has this set come already, from the other pool: nearer there or, for the second pool, as near?"""
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


@patient(table=1_000_000, lists=1_000_000)  # room for what is written, mostly
@njit(cache=True, nogil=True)
def next_sets(first, nodes, distances, others, r, edges, quota, cursor, z, edge_of):
    """Up to `quota` more candidate sets of each of these edges, nearest first; how many rows were filled.

    `cursor[k]` remembers where edge k stands: state (0 new, 1 running, 2 exhausted), sum of distances, side, whether
    these begin afresh, then the chosen places. Sets come by the sum of their distances; for equal sums those of x's
    pool first, each pool in order.
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
                pool = distances[low:high]  # sliced once for many sets: a slice takes as long as a set
                while given < quota and count < len(z) and _next_with_sum(pool, r, total, chosen, is_fresh):
                    is_fresh = 0
                    if not _repeats(others, low, chosen, r, total, side):
                        _write_sorted(z, count, nodes, low, chosen, r)
                        edge_of[count] = k
                        count += 1
                        given += 1
                if given >= quota or count >= len(z):
                    continue
            is_fresh = 1  # the next pool, or the next sum, starts afresh
            side += 1
            if side == 2:
                total, side = total + 1, 0
                if total > max(_most(distances, first, 2 * k, r), _most(distances, first, 2 * k + 1, r)):
                    state = 2
        cursor[k, 0], cursor[k, 1], cursor[k, 2], cursor[k, 3] = state, total, side, is_fresh
    return count


@patient()
@njit(cache=True, nogil=True)
def keep_best(edge_of, z, p, best_z, best_p):
    """The set with the largest p-value of each edge, the first of equals; `best_p` is NaN where none came yet."""
    for row in range(len(edge_of)):
        k = edge_of[row]
        if not p[row] <= best_p[k]:
            best_p[k] = p[row]
            for j in range(z.shape[1]):
                best_z[k, j] = z[row, j]


@patient()
@njit(cache=True, nogil=True)
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
