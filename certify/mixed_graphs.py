"""All maximal ancestral graphs on a few nodes, by trying every mixed graph (compiled).

Sets of nodes are bit masks. A graph is a number in base 5, one digit per pair (i, j), i < j, in lexicographic order:
0 no edge, 1 i --> j, 2 i <-- j, 3 i <-> j, 4 i --- j.
"""

import numpy as np
from numba import njit


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
