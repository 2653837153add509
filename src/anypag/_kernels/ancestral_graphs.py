"""Marks that contradict each other because of the ancestors they imply; and all maximal ancestral graphs on a few
nodes.

A tail at X on X–Y says that X is an ancestor of Y or of selection; an arrowhead at W on W–V that W is neither. Tails
make chains: X → Y → ... where each node has a tail towards the next. Two things are impossible:

- a chain from W to V and an arrowhead at W on W–V;
- a chain from W into a ring of tails and an arrowhead at W on any edge: all nodes of a ring are ancestors of selection,
  and so is W.

Where all graphs are enumerated, sets of nodes are bit masks, and a graph is a number in base 5, one digit per pair
(i, j), i < j, in lexicographic order: 0 no edge, 1 i --> j, 2 i <-- j, 3 i <-> j, 4 i --- j.
"""

import numpy as np
from numba import njit

from anypag._kernels.patience import FEW, patient

ARROW = 2
TAIL = 3


@patient()
@njit(cache=True)
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
    """Is there a ring of tails among these nodes, a set that contains all their followers? Removes nodes without a
    predecessor until none is left or all have one.
    """
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
@njit(cache=True)
def contradicted(marks, start, neighbour, rows, is_contradicted, stand, room):
    """Finds out which of these marks take part in a contradiction, in turns from row `stand[0]` on; is all done?

    A row `(i, j, mark, ...)` is a mark at j on i–j that is set.
    """
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


@njit(cache=True)
def _decode(code, n, arrow_arrow, arrow_tail, tail_arrow, tail_tail):
    """Neighbours of each node by the mark at the node, then the mark at the neighbour."""
    arrow_arrow[:] = 0
    arrow_tail[:] = 0
    tail_arrow[:] = 0
    tail_tail[:] = 0
    for i in range(n):
        for j in range(i + 1, n):
            kind = code % 5
            code //= 5
            if kind == 1:
                tail_arrow[i] |= 1 << j
                arrow_tail[j] |= 1 << i
            elif kind == 2:
                arrow_tail[i] |= 1 << j
                tail_arrow[j] |= 1 << i
            elif kind == 3:
                arrow_arrow[i] |= 1 << j
                arrow_arrow[j] |= 1 << i
            elif kind == 4:
                tail_tail[i] |= 1 << j
                tail_tail[j] |= 1 << i


@njit(cache=True)
def _is_ancestral(n, arrow_arrow, arrow_tail, tail_tail, ancestors):
    """Is the graph ancestral: no arrowhead at an end of an undirected edge, and none at an ancestor of the edge's other
    end? Writes the ancestors of each node, without the node itself.
    """
    for v in range(n):
        if tail_tail[v] and (arrow_arrow[v] | arrow_tail[v]):
            return False
        ancestors[v] = arrow_tail[v]
    for _ in range(n):
        for v in range(n):
            for u in range(n):
                if ancestors[v] >> u & 1:
                    ancestors[v] |= ancestors[u]
    for v in range(n):
        for u in range(n):
            if (arrow_arrow[v] | arrow_tail[v]) >> u & 1 and ancestors[u] >> v & 1:
                return False
    return True


@njit(cache=True)
def _is_connected(n, arrow_arrow, arrow_tail, tail_arrow, tail_tail, ancestors, x, y, z):
    """Is there an m-connecting walk from x to y given the set z? Nodes are reached by an arrowhead or by a tail."""
    opened = z
    for v in range(n):
        if z >> v & 1:
            opened |= ancestors[v]
    by_arrow = arrow_arrow[x] | tail_arrow[x]
    by_tail = arrow_tail[x] | tail_tail[x]
    while True:
        old_arrow, old_tail = by_arrow, by_tail
        for v in range(n):
            if v == x or v == y:
                continue
            reached_by_arrow, reached_by_tail = by_arrow >> v & 1, by_tail >> v & 1
            is_free = not z >> v & 1
            if (reached_by_arrow and opened >> v & 1) or (reached_by_tail and is_free):
                by_arrow |= arrow_arrow[v]
                by_tail |= arrow_tail[v]
            if (reached_by_arrow or reached_by_tail) and is_free:
                by_arrow |= tail_arrow[v]
                by_tail |= tail_tail[v]
        if (by_arrow | by_tail) >> y & 1:
            return True
        if by_arrow == old_arrow and by_tail == old_tail:
            return False


@njit(cache=True)
def maximal_ancestral_graphs(n):
    """The codes of all MAGs on n nodes (at most 5), and for each one bit per statement: is x separated from y given
    z?
    """
    n_pairs = n * (n - 1) // 2
    codes = np.empty(1 << 20, np.int64)
    signatures = np.zeros((1 << 20, 2), np.uint64)
    arrow_arrow, arrow_tail = np.zeros(n, np.int64), np.zeros(n, np.int64)
    tail_arrow, tail_tail = np.zeros(n, np.int64), np.zeros(n, np.int64)
    ancestors = np.zeros(n, np.int64)
    count = 0
    for code in range(5**n_pairs):
        _decode(code, n, arrow_arrow, arrow_tail, tail_arrow, tail_tail)
        if not _is_ancestral(n, arrow_arrow, arrow_tail, tail_tail, ancestors):
            continue
        signatures[count] = 0
        bit = 0
        is_maximal = True
        for x in range(n):
            for y in range(x + 1, n):
                is_adjacent = (arrow_arrow[x] | arrow_tail[x] | tail_arrow[x] | tail_tail[x]) >> y & 1
                is_separable = False
                for z in range(1 << n):
                    if z >> x & 1 or z >> y & 1:
                        continue
                    if not is_adjacent and not _is_connected(
                        n, arrow_arrow, arrow_tail, tail_arrow, tail_tail, ancestors, x, y, z
                    ):
                        is_separable = True
                        signatures[count, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
                    bit += 1
                is_maximal &= is_adjacent or is_separable
        if is_maximal:
            codes[count] = code
            count += 1
    return codes[:count], signatures[:count]
