"""Marks that contradict each other because of the ancestors they imply.

A tail at X on X–Y says that X is an ancestor of Y or of selection; an arrowhead at W on W–V that W is neither. Tails
make chains: X → Y → ... where each node has a tail towards the next. Two things are impossible:

- a chain from W to V and an arrowhead at W on W–V;
- a chain from W into a ring of tails and an arrowhead at W on any edge: all nodes of a ring are ancestors of selection,
  and so is W.
"""

import numpy as np

from anypag._kernels.patience import FEW, njit, patient

ARROW = 2
TAIL = 3


@patient()
def chain_lists(marks, start, neighbour):
    """The edges of chains as neighbour lists, forwards and backwards, each as starts and nodes."""
    n = len(marks)
    first, last = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for x in range(n):
        for e in range(start[x], start[x + 1]):
            if marks[neighbour[e], x] == TAIL:
                first[x + 1] += 1
                last[neighbour[e] + 1] += 1
    first, last = np.cumsum(first), np.cumsum(last)
    towards, origin = np.empty(first[n], np.int64), np.empty(last[n], np.int64)
    placed, placed_back = first[:-1].copy(), last[:-1].copy()
    for x in range(n):
        for e in range(start[x], start[x + 1]):
            y = neighbour[e]
            if marks[y, x] == TAIL:
                towards[placed[x]] = y
                placed[x] += 1
                origin[placed_back[y]] = x
                placed_back[y] += 1
    return first, towards, last, origin


@njit(cache=True)
def _reach(source, first, towards, found, stamp, now):
    """Lists in `found` all nodes that chains from the source reach, itself included. Returns their number."""
    found[0] = source
    stamp[source] = now
    count = 1
    k = 0
    while k < count:
        for e in range(first[found[k]], first[found[k] + 1]):
            y = towards[e]
            if stamp[y] != now:
                stamp[y] = now
                found[count] = y
                count += 1
        k += 1
    return count


@njit(cache=True)
def _has_ring(found, count, first, towards, n_before, ready):
    """Is there a ring of tails among these nodes? Nodes without a predecessor are removed until all have one."""
    for k in range(count):
        n_before[found[k]] = 0
    for k in range(count):
        for e in range(first[found[k]], first[found[k] + 1]):
            n_before[towards[e]] += 1
    n_ready = 0
    for k in range(count):
        if n_before[found[k]] == 0:
            ready[n_ready] = found[k]
            n_ready += 1
    k = 0
    while k < n_ready:
        for e in range(first[ready[k]], first[ready[k] + 1]):
            n_before[towards[e]] -= 1
            if n_before[towards[e]] == 0:
                ready[n_ready] = towards[e]
                n_ready += 1
        k += 1
    return n_ready < count


@patient(lists=FEW)
def contradicted(marks, start, neighbour, rows, is_contradicted, stand, room):
    """Finds out which marks (rows `i, j, mark, ...`) take part in a contradiction, from `stand[0]` on; is all done?"""
    n = len(marks)
    first, towards, last, origin = chain_lists(marks, start, neighbour)
    if first[n] == 0:
        return True
    has_arrow = np.zeros(n, np.bool_)
    for x in range(n):
        for e in range(start[x], start[x + 1]):
            if marks[neighbour[e], x] == ARROW:
                has_arrow[x] = True
    after, before = np.empty(n, np.int64), np.empty(n, np.int64)
    stamp, stamp_back = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    n_before, ready = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(stand[0], len(rows)):
        if room[0] < 0:
            stand[0] = k
            return False
        i, j = rows[k, 0], rows[k, 1]
        if rows[k, 2] == ARROW:
            n_after = _reach(j, first, towards, after, stamp, k)
            room[0] -= 100 + 10 * n_after * (first[n] // n + 1)
            is_contradicted[k] = stamp[i] == k or _has_ring(after, n_after, first, towards, n_before, ready)
            continue
        n_after = _reach(i, first, towards, after, stamp, k)
        n_above = _reach(j, last, origin, before, stamp_back, k)
        room[0] -= 100 + 10 * (n_after + n_above) * (first[n] // n + 1) + 2 * n_after * n_above
        has_ring = _has_ring(after, n_after, first, towards, n_before, ready)
        for a in range(n_above):
            w = before[a]
            if not has_arrow[w]:
                continue
            if has_ring:
                is_contradicted[k] = True
            for b in range(n_after):
                if marks[after[b], w] == ARROW:
                    is_contradicted[k] = True
    return True
