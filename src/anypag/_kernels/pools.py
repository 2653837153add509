"""Biconnected blocks, and the pools of nodes from which an edge's candidate sets are taken.

Graphs come as in `_kernels.rules`: `marks[i, j]` is the mark at j on i–j, and the neighbours of v are
`neighbour[start[v]:start[v + 1]]`. Edge k has the nodes x and y; their pools have the numbers 2k and 2k + 1.

Two conventions keep the code quick to compile. Arrays are copied element by element, because assigning a slice makes
numba compile the formatting of its error message, which takes seconds. A counter passed to a kernel begins as
`np.int64(0)`, because numba gives a literal 0 a type of its own and would compile the called function twice.
"""

import numpy as np

from anypag._kernels.patience import FEW, njit, patient

NONE, ARROW, TAIL = 0, 2, 3


@patient(nogil=True)
def blocks(start, neighbour):
    """The biconnected block of every edge (`block[e]` for edge e of `neighbour`), and the number of blocks. Two nodes
    of a block lie on a common cycle, or the block is a single edge. So a node lies on a simple path between the ends of
    an edge exactly if it is in the block of that edge. The search is Tarjan's, without recursion.
    """
    n = len(start) - 1
    block, parent = np.full(len(neighbour), -1, np.int64), np.full(n, -1, np.int64)
    order = np.zeros(n, np.int64)  # when a node was first visited; 0: not yet
    low = np.zeros(n, np.int64)  # the earliest visit that its subtree reaches
    upcoming, path, edges = start[:-1].copy(), np.empty(n + 1, np.int64), np.empty(len(neighbour), np.int64)
    n_edges = n_blocks = clock = 0
    for root in range(n):
        if order[root]:
            continue
        clock += 1
        order[root] = low[root] = clock
        path[0] = root
        depth = 1
        while depth:
            v = path[depth - 1]
            if upcoming[v] < start[v + 1]:
                e = upcoming[v]
                upcoming[v] += 1
                w = neighbour[e]
                if order[w] == 0:
                    edges[n_edges] = e
                    n_edges += 1
                    parent[w] = v
                    clock += 1
                    order[w] = low[w] = clock
                    path[depth] = w
                    depth += 1
                elif w != parent[v] and order[w] < order[v]:
                    edges[n_edges] = e
                    n_edges += 1
                    low[v] = min(low[v], order[w])
                continue
            depth -= 1
            if depth == 0:
                continue
            u = path[depth - 1]
            low[u] = min(low[u], low[v])
            if low[v] >= order[u]:  # u cuts off v's subtree: u–v and all edges stacked after it form a block
                while True:
                    n_edges -= 1
                    e = edges[n_edges]
                    block[e] = n_blocks
                    if neighbour[e] == v and start[u] <= e < start[u + 1]:
                        break
                n_blocks += 1
    upcoming = start[:-1].copy()
    for v in range(n):  # the search visited each edge from one side only
        for e in range(start[v], start[v + 1]):
            w = neighbour[e]
            f = upcoming[w]  # the place of v in the list of w: lists ascend, and so does v
            upcoming[w] += 1
            block[f] = max(block[f], block[e])
    return block, n_blocks


@patient(nogil=True)
def block_sizes(start, block, n_blocks):
    """The number of nodes of each block."""
    size, last = np.zeros(n_blocks, np.int64), np.full(n_blocks, -1, np.int64)  # last: the last node counted in each
    for v in range(len(start) - 1):
        for e in range(start[v], start[v + 1]):
            if last[block[e]] != v:
                last[block[e]] = v
                size[block[e]] += 1
    return size


@patient(nogil=True)
def anteriors(marks, start, neighbour):
    """The group of each node, and bits: bit h of row g is set if nodes of group h are possible anteriors of group g. A
    possible anterior of v has a path to v without an arrowhead against its direction. Nodes that have such paths to
    each other are a group (a strongly connected component). Tarjan's search follows paths backwards. It finishes all
    groups that it reaches from a group before this group, so a row is a union of finished rows.
    """
    n = len(start) - 1
    group = np.full(n, -1, np.int32)
    order, low = np.zeros(n, np.int64), np.zeros(n, np.int64)
    upcoming = start[:-1].copy()
    path, stack, finished = np.empty(n + 1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    n_groups, clock, height, n_finished = 0, 0, 0, 0
    for root in range(n):
        if order[root]:
            continue
        path[0] = root
        depth = 1
        while depth:
            v = path[depth - 1]
            if order[v] == 0:
                clock += 1
                order[v] = low[v] = clock
                stack[height] = v
                height += 1
            if upcoming[v] < start[v + 1]:
                u = neighbour[upcoming[v]]
                upcoming[v] += 1
                if marks[v, u] == ARROW:
                    continue
                if order[u] == 0:
                    path[depth] = u
                    depth += 1
                elif group[u] < 0:
                    low[v] = min(low[v], order[u])
                continue
            depth -= 1
            if depth:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[v])
            if low[v] == order[v]:
                while True:
                    height -= 1
                    group[stack[height]] = n_groups
                    finished[n_finished] = stack[height]
                    n_finished += 1
                    if stack[height] == v:
                        break
                n_groups += 1
    bits = np.zeros((n_groups, (n_groups + 63) // 64), np.uint64)
    for v in finished:  # group by group
        g = group[v]
        bits[g, g >> 6] |= np.uint64(1) << np.uint64(g & 63)
        for e in range(start[v], start[v + 1]):
            h = group[neighbour[e]]
            if h != g and marks[v, neighbour[e]] != ARROW:
                if not (bits[g, h >> 6] >> np.uint64(h & 63)) & np.uint64(1):
                    for word in range((h >> 6) + 1):  # the row of h contains only groups up to h
                        bits[g, word] |= bits[h, word]
    return group, bits


@njit(cache=True, nogil=True)
def _has_path(above, v, x, y):
    """Is v a possible anterior of x or y? `above` is the result of `anteriors`."""
    group, bits = above
    h = group[v]
    row_x, row_y = bits[group[x]], bits[group[y]]
    return ((row_x[h >> 6] | row_y[h >> 6]) >> np.uint64(h & 63)) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def _is_out(later, v, x, y):
    """Is v known to cause neither x nor y nor selection? (`later` is empty without knowledge.)"""
    return len(later) > 0 and later[v, x] and later[v, y]


@njit(cache=True, nogil=True)
def _walk(graph, block, here, ends, limits, found, walk, room):
    """The number of nodes, except y, that a walk of at most r edges reaches from x. Writes the nodes to `found[0]`,
    their distances to `found[1]`.

    An inner node V of the walk, between U and W, is a collider on it, or U and W are adjacent (and, with
    `tails_close`, V has no tail on either edge). The walk stays in the block, among nodes that knowledge does not rule
    out and, if `narrowed`, among possible anteriors of x or y. The next step depends on the last two nodes, so the
    search runs over edges. It stops after `most` nodes.
    """
    (marks, start, neighbour), (x, y), (seen, visited, stamp, queue) = graph, ends, walk
    r, most, tails_close, later, narrowed, above = limits
    n_found = count = 0
    for e in range(start[x], start[x + 1]):
        v = neighbour[e]
        if v != y and block[e] == here and not _is_out(later, v, x, y):
            if narrowed and not _has_path(above, v, x, y):
                continue
            found[0, n_found], found[1, n_found] = v, 1
            n_found += 1
            if n_found == most:
                return n_found
            seen[v] = stamp
            visited[e] = stamp
            queue[count, 0], queue[count, 1], queue[count, 2] = x, v, 1
            count += 1
    done = 0
    while done < count:
        u, v, length = queue[done]
        done += 1
        if length == r:
            break
        room[0] -= 4 * (start[v + 1] - start[v])
        for e in range(start[v], start[v + 1]):
            w = neighbour[e]
            if w == x or w == y or w == u or visited[e] == stamp or block[e] != here:
                continue
            is_collider = marks[u, v] == ARROW and marks[w, v] == ARROW
            if not is_collider:
                if marks[u, w] == NONE or (tails_close and (marks[u, v] == TAIL or marks[w, v] == TAIL)):
                    continue
            if narrowed and not _has_path(above, w, x, y):
                continue
            visited[e] = stamp
            if _is_out(later, w, x, y):
                continue
            if seen[w] != stamp:
                seen[w] = stamp
                found[0, n_found], found[1, n_found] = w, length + 1
                n_found += 1
                if n_found == most:
                    return n_found
            queue[count, 0], queue[count, 1], queue[count, 2] = v, w, length + 1
            count += 1
    return n_found


@njit(cache=True, nogil=True)
def _choose(n, k, limit):
    """n choose k, or `limit` + 1 if that is less."""
    if k > n:
        return 0
    value = 1.0
    for i in range(min(k, n - k)):  # the smaller of k and n - k: the partial products then only grow
        value = value * (n - i) / (i + 1)
        if value > 4.0 * limit + 4.0:
            return limit + 1
    return min(np.int64(np.round(value)), limit + 1)


@njit(cache=True, nogil=True)
def _n_sets(found, n_found, r, limit, scratch):
    """The number of different sets of r nodes within one of an edge's two pools; above `limit` it may be inexact."""
    n_shared = np.int64(0)
    for j in range(n_found[0]):
        scratch[0, found[0, 0, j]] = 1
    for j in range(n_found[1]):
        n_shared += scratch[0, found[1, 0, j]]
    for j in range(n_found[0]):
        scratch[0, found[0, 0, j]] = 0
    return _choose(n_found[0], r, limit) + _choose(n_found[1], r, limit) - _choose(n_shared, r, limit)


@njit(cache=True, nogil=True)
def _sort_pool(found, size, strength, place, x, y, dependence):
    """Sorts a pool (Shell sort) by distance, then by dependence on x and y, strongest first, then by index."""
    nodes, distances = found[0], found[1]
    for k in range(size):
        of_x, of_y = strength[place[x], place[nodes[k]]], strength[place[y], place[nodes[k]]]
        dependence[k] = np.float32(abs(of_x)) + np.float32(abs(of_y))
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for k in range(gap, size):
            node, distance, depends = nodes[k], distances[k], dependence[k]
            j = k
            while j >= gap and distances[j - gap] >= distance:
                if distances[j - gap] == distance:
                    if dependence[j - gap] > depends or (dependence[j - gap] == depends and nodes[j - gap] < node):
                        break
                nodes[j], distances[j], dependence[j] = nodes[j - gap], distances[j - gap], dependence[j - gap]
                j -= gap
            nodes[j], distances[j], dependence[j] = node, distance, depends


@patient(lists=FEW, nogil=True)
def pools(graph, blocks, above, edges, walks, strengths, later, room):
    """The two pools of each edge: `first`, nodes, distances, and distances in the edge's other pool (0: not in it).

    Pool p is `first[p]:first[p + 1]` of the lists. Pools are narrowed to possible anteriors (`above`: see `anteriors`)
    only if an edge otherwise has more than `max_sets` candidate sets; never if `max_sets` is negative. `later[v, x]`: v
    is known to cause neither x nor selection. With `open_only` both pools are left empty if one has fewer than r nodes.
    |strength[place[i], place[j]]| says how strongly i and j depend. `blocks`: the block of each edge, and block sizes.

    A walk stops once its pool alone has more than `max_sets` sets: the pools must then be narrowed. Narrowing adds no
    node, so a pool that is too small stays so. If `room` is used up, the result ends with the edge that was just done.
    """
    _, start, neighbour = graph
    (block, n_in_block), (strength, place), (xs, ys, edge_block) = blocks, strengths, edges
    r, tails_close, max_sets, open_only = walks
    n = len(start) - 1
    first = np.zeros(2 * len(xs) + 1, np.int64)
    size = 4 * len(xs) + 64
    nodes, distances, others = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32)
    found, n_found, in_other = np.empty((2, 2, n), np.int32), np.zeros(2, np.int64), np.zeros((2, n), np.int32)
    seen, visited = np.zeros(n, np.int64), np.zeros(len(neighbour), np.int64)
    walk_queue, dependence = np.empty((len(neighbour) + 1, 3), np.int64), np.empty(n, np.float32)
    too_many = n + 1 if max_sets < 0 else np.int64(r)  # the least size of a pool that has more than `max_sets` sets
    while too_many <= n and _choose(too_many, r, max_sets) <= max_sets:
        too_many += 1
    stamp = n_done = 0
    for k in range(len(xs)):
        if room[0] < 0:
            break
        room[0] -= 200
        n_done += 1
        x, y, here = xs[k], ys[k], edge_block[k]
        is_open = not (open_only and n_in_block[here] - 2 < r)
        narrowed = False
        while is_open:
            most, side = n + 1 if narrowed else too_many, 0
            limits = (r, most, tails_close, later, narrowed, above)
            while side < 2:
                stamp += 1
                ends, walk = (x, y) if side == 0 else (y, x), (seen, visited, stamp, walk_queue)
                n_found[side] = _walk(graph, block, here, ends, limits, found[side], walk, room)
                if n_found[side] == most or (open_only and n_found[side] < r):
                    break
                side += 1
            if side < 2 and n_found[side] < most:
                is_open = False
            elif narrowed or (
                side == 2 and (max_sets < 0 or _n_sets(found, n_found, r, max_sets, in_other) <= max_sets)
            ):
                break
            narrowed = True
        if not is_open:
            n_found[0] = n_found[1] = 0
        for side in range(2):
            room[0] -= 40 * n_found[side]
            _sort_pool(found[side], n_found[side], strength, place, x, y, dependence)
            for j in range(n_found[side]):
                in_other[side, found[side, 0, j]] = found[side, 1, j]
        count = first[2 * k]
        if count + n_found[0] + n_found[1] > len(nodes):
            size = 2 * (count + n_found[0] + n_found[1])
            nodes, distances, others = _longer(nodes, size), _longer(distances, size), _longer(others, size)
        for side in range(2):
            for j in range(n_found[side]):
                node = found[side, 0, j]
                nodes[count], distances[count], others[count] = node, found[side, 1, j], in_other[1 - side, node]
                count += 1
            first[2 * k + side + 1] = count
        for side in range(2):
            for j in range(n_found[side]):
                in_other[side, found[side, 0, j]] = 0
    total = first[2 * n_done]
    return first[: 2 * n_done + 1], nodes[:total], distances[:total], others[:total]


@patient(lists=FEW, nogil=True)
def possible_d_sep(graph, begin, room):
    """FCI's Possible-D-Sep sets of the nodes from `begin` on, until `room` is used up, as `first` and `nodes`. The set
    of node begin + k is `nodes[first[k]:first[k + 1]]`.
    """
    _, start, neighbour = graph
    n = len(start) - 1
    block = np.zeros(len(neighbour), np.int64)
    above = (np.zeros(n, np.int32), np.zeros((1, 1), np.uint64))
    seen, visited = np.zeros(n, np.int64), np.zeros(len(neighbour), np.int64)
    queue, found = np.empty((len(neighbour) + 1, 3), np.int64), np.empty((2, n), np.int32)
    first, nodes = np.zeros(n - begin + 1, np.int64), np.empty(4 * n + 64, np.int32)
    nothing, n_done = np.empty((0, 0), np.bool_), 0
    for x in range(begin, n):
        if room[0] < 0:
            break
        limits, walk = (len(neighbour), n + 1, False, nothing, False, above), (seen, visited, x + 1, queue)
        count = _walk(graph, block, 0, (x, -1), limits, found, walk, room)
        room[0] -= 200 + 20 * count
        first[n_done + 1] = first[n_done] + count
        if first[n_done + 1] > len(nodes):
            nodes = _longer(nodes, 2 * first[n_done + 1])
        ascending = np.sort(found[0, :count])
        for j in range(count):
            nodes[first[n_done] + j] = ascending[j]
        n_done += 1
    return first[: n_done + 1], nodes[: first[n_done]]


@njit(cache=True, nogil=True)
def _is_in_block(start, block, v, edge_block, k):
    """Does a node have an edge in the block of edge k? If `block` is empty, the answer is always yes."""
    is_in = len(block) == 0
    if not is_in:
        for e in range(start[v], start[v + 1]):
            is_in |= block[e] == edge_block[k]
    return is_in


@patient(lists=FEW, nogil=True)
def node_pools(first_of, nodes_of, later, start, block, xs, ys, edge_block, room):
    """The two pools of each edge, in the form that `pools` returns: the nodes listed for x, except y, and the nodes
    listed for y, except x. Nodes known to cause neither x nor y nor selection are left out. So are nodes outside the
    edge's block, unless `block` is empty.
    """
    first = np.zeros(2 * len(xs) + 1, np.int64)
    total = 0
    for k in range(len(xs)):
        total += first_of[xs[k] + 1] - first_of[xs[k]] + first_of[ys[k] + 1] - first_of[ys[k]]
    nodes, others = np.empty(total, np.int32), np.zeros(total, np.int32)
    in_other, n_done = np.zeros((2, len(first_of)), np.int64), 0
    for k in range(len(xs)):
        if room[0] < 0:
            break
        n_done += 1
        for side in range(2):
            x, y = (xs[k], ys[k]) if side == 0 else (ys[k], xs[k])
            p = 2 * k + side
            count = first[p]
            for e in range(first_of[x], first_of[x + 1]):
                v = nodes_of[e]
                room[0] -= 5 if len(block) == 0 else 5 + start[v + 1] - start[v]
                if v != y and not _is_out(later, v, x, y) and _is_in_block(start, block, v, edge_block, k):
                    nodes[count] = nodes_of[e]
                    in_other[side, nodes_of[e]] = k + 1
                    count += 1
            first[p + 1] = count
        for side in range(2):
            for e in range(first[2 * k + side], first[2 * k + side + 1]):
                others[e] = in_other[1 - side, nodes[e]] == k + 1
    total = first[2 * n_done]
    return first[: 2 * n_done + 1], nodes[:total], np.ones(total, np.int32), others[:total]


@njit(cache=True, nogil=True)
def _longer(values, size):
    longer = np.empty(size, values.dtype)
    for k in range(len(values)):
        longer[k] = values[k]
    return longer
