"""Reachability in mixed graphs: m-separation, latent projection, inducing paths, adjustment, ancestors, contradictions.

A graph comes as edge lists: the neighbours of v are `neighbour[start[v]:start[v + 1]]`, `near` holds the mark at v on
each of these edges and `far` the mark at the neighbour (2 arrow, 3 tail). A set of nodes is an array of stamps: v is
in the set if `stamped[v] == stamp`. A new stamp empties the set, so a batch of queries never clears an array.

Marks can contradict each other because of the ancestors they imply. A tail at X on X–Y says that X is an ancestor of Y
or of selection; an arrowhead at W on W–V says that W is an ancestor of neither V nor selection. A chain is a walk on
which each node has a tail towards the next. Two things are impossible:

- a chain from W to V and an arrowhead at W on W–V;
- a chain from W into a ring (a cycle of tails) and an arrowhead at W on any edge: all nodes of a ring are ancestors of
  selection, and so is W.
"""

import numpy as np

from anypag._kernels.patience import EDGES, FEW, njit, patient

ARROW, TAIL = 2, 3


@njit(cache=True, nogil=True)
def _spread_to_ancestors(graph, stamped, stamp, queue, count):
    """Stamps all ancestors of the `count` stamped nodes in `queue`, and appends them to it. Returns its new length."""
    start, neighbour, near, far = graph
    done = 0
    while done < count:
        v = queue[done]
        done += 1
        for e in range(start[v], start[v + 1]):
            if near[e] == ARROW and far[e] == TAIL:
                u = neighbour[e]
                if stamped[u] != stamp:
                    stamped[u] = stamp
                    queue[count] = u
                    count += 1
    return count


@njit(cache=True, nogil=True)
def _walk(graph, conditioned, opened, stamp, visited, queue, count, goal):
    """Do walks from the `count` states in `queue` reach node `goal`? Stamps all states that are reached until then.
    State 2v + 1 is node v entered by an arrowhead, 2v by a tail. A walk may pass v as a collider if v is opened,
    and as a non-collider if v is not conditioned on.
    """
    start, neighbour, near, far = graph
    done = 0
    while done < count:
        v = queue[done] // 2
        into = queue[done] % 2 == 1
        done += 1
        if v == goal:
            return True
        is_open, is_free = opened[v] == stamp, conditioned[v] != stamp
        for e in range(start[v], start[v + 1]):
            state = 2 * neighbour[e] + (far[e] == ARROW)
            passes = is_open if (into and near[e] == ARROW) else is_free
            if passes and visited[state] != stamp:
                visited[state] = stamp
                queue[count] = state
                count += 1
    return False


@njit(cache=True, nogil=True)
def _walk_from(x, graph, conditioned, opened, stamp, visited, queue, goal):
    """Is there an m-connecting walk from x to the goal? Runs `_walk` from x, and never enters x again."""
    start, neighbour, _, far = graph
    visited[2 * x] = visited[2 * x + 1] = stamp
    count = np.int64(0)
    for e in range(start[x], start[x + 1]):
        queue[count] = 2 * neighbour[e] + (far[e] == ARROW)
        visited[queue[count]] = stamp
        count += 1
    return _walk(graph, conditioned, opened, stamp, visited, queue, count, goal)


@patient(nogil=True)
def separated(start, neighbour, near, far, x, y, z, always, answer):
    """Writes to answer[i] whether x[i] is m-separated from y[i] given z[i] and `always`. Returns the first invalid row
    (an index is out of range, x = y, or x or y is conditioned on); -1 if no row is invalid.
    """
    graph, n = (start, neighbour, near, far), len(start) - 1
    conditioned, opened = np.zeros(n, np.int64), np.zeros(n, np.int64)
    visited, queue = np.zeros(2 * n, np.int64), np.empty(2 * n + 1, np.int64)
    for i in range(len(x)):
        stamp, count = i + 1, 0
        for k in range(z.shape[1] + len(always)):
            v = z[i, k] if k < z.shape[1] else always[k - z.shape[1]]
            if v < 0 or v >= n:
                return i
            conditioned[v] = stamp
            if opened[v] != stamp:
                opened[v] = stamp
                queue[count] = v
                count += 1
        a, b = x[i], y[i]
        if a < 0 or a >= n or b < 0 or b >= n or a == b or conditioned[a] == stamp or conditioned[b] == stamp:
            return i
        _spread_to_ancestors(graph, opened, stamp, queue, count)
        answer[i] = not _walk_from(a, graph, conditioned, opened, stamp, visited, queue, b)
    return -1


@njit(cache=True, nogil=True)
def _stamp_anteriors(graph, x, y, selection, anterior, stamp, queue):
    """Stamps x, y, selection and all their ancestors, and lists the stamped nodes in `queue`. Returns their number."""
    anterior[x] = anterior[y] = stamp
    queue[0], queue[1], count = x, y, 2
    for v in selection:
        anterior[v] = stamp
        queue[count] = v
        count += 1
    return _spread_to_ancestors(graph, anterior, stamp, queue, count)


@patient(lists=FEW, nogil=True)
def project(start, neighbour, near, far, is_latent, is_selection, observed, marks, stand, room):
    """Writes the marks (zeros on entry) of the MAG over `observed`, from node `stand[0]` on. Returns whether done. X
    and Y are adjacent if they are connected given selection and every observed ancestor of X, Y or selection: then no
    set of observed nodes separates them. The mark at X is a tail if X is an ancestor of Y or selection, else an arrow.
    """
    graph, n = (start, neighbour, near, far), len(start) - 1
    place = np.full(n, -1, np.int64)
    place[observed] = np.arange(len(observed))
    selection = np.flatnonzero(is_selection)
    anterior, conditioned, opened = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    visited, queue, stamp = np.zeros(2 * n, np.int64), np.empty(2 * n + 2, np.int64), np.int64(0)
    not_latent, everyone, around = (~is_latent).astype(np.int64), np.ones(n, np.int64), np.empty(2 * n, np.int64)
    for i in range(stand[0], len(observed)):
        if room[0] < 0:
            stand[0] = i
            return False
        room[0] -= 2 * len(neighbour)
        x = observed[i]
        around[:] = 0  # nodes that may be adjacent to x: reached by paths of latent nodes and colliders
        _walk_from(x, graph, not_latent, everyone, np.int64(1), around, queue, np.int64(-1))
        for e in range(start[x], start[x + 1]):
            around[2 * neighbour[e]] = 2  # an edge, which nothing blocks
        for j in range(i + 1, len(observed)):
            y = observed[j]
            if around[2 * y] == 2:
                marks[i, j] = marks[j, i] = ARROW
                continue
            if around[2 * y] + around[2 * y + 1] == 0:
                continue
            stamp += 1
            room[0] -= n + 2 * len(neighbour)
            count, n_conditioned = _stamp_anteriors(graph, x, y, selection, anterior, stamp, queue), 0
            for k in range(count):
                v = queue[k]
                if not is_latent[v] and v != x and v != y:
                    conditioned[v] = opened[v] = stamp
                    queue[n_conditioned] = v
                    n_conditioned += 1
            _spread_to_ancestors(graph, opened, stamp, queue, n_conditioned)
            if _walk_from(x, graph, conditioned, opened, stamp, visited, queue, y):
                marks[i, j] = marks[j, i] = ARROW
    for i in range(len(observed)):  # tails: the observed ancestors of each node and of selection
        stamp += 1
        for k in range(_stamp_anteriors(graph, observed[i], observed[i], selection, anterior, stamp, queue)):
            j = place[queue[k]]
            if j >= 0 and marks[i, j]:
                marks[i, j] = TAIL
    return True


@patient(lists=EDGES, nogil=True)
def inducing_path(start, neighbour, near, far):
    """The nodes of an inducing path between two non-adjacent nodes of an ancestral graph; empty if there is none. Every
    inner node of such a path is a collider on it and an ancestor of one of its ends.
    """
    graph, n = (start, neighbour, near, far), len(start) - 1
    anterior, parent, is_adjacent = np.zeros(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.bool_)
    everyone, around, queue = np.ones(n, np.int64), np.empty(2 * n, np.int64), np.empty(2 * n + 2, np.int64)
    stamp = np.int64(0)
    for x in range(n):
        is_adjacent[:] = False
        is_adjacent[neighbour[start[x] : start[x + 1]]] = True
        around[:] = 0
        _walk_from(x, graph, everyone, everyone, np.int64(1), around, queue, np.int64(-1))
        for y in range(x + 1, n):
            if is_adjacent[y] or around[2 * y] + around[2 * y + 1] == 0:
                continue
            stamp += 1
            _stamp_anteriors(graph, x, y, queue[:0], anterior, stamp, queue)
            parent[:] = -2
            parent[x], queue[0] = -1, x
            count, done = 1, 0
            while done < count:
                v = queue[done]
                done += 1
                for e in range(start[v], start[v + 1]):
                    u = neighbour[e]
                    if parent[u] != -2 or (v != x and near[e] != ARROW):
                        continue
                    if u != y and not (far[e] == ARROW and anterior[u] == stamp):
                        continue
                    parent[u], queue[count] = v, u
                    count += 1
                    if u == y:  # the way back to x
                        node, count = y, 0
                        while node >= 0:
                            queue[count] = node
                            node = parent[node]
                            count += 1
                        return queue[:count][::-1].copy()
    return queue[:0].copy()


@patient()
def transitive(start, after):
    """(n, n): does a path of one or more steps lead from the row's node to the column's? `after` lists next nodes."""
    n = len(start) - 1
    reach, stack = np.zeros((n, n), np.bool_), np.empty(n, np.int64)
    for s in range(n):
        if start[s] == start[s + 1]:
            continue
        stack[0], size = s, 1
        while size:
            size -= 1
            v = stack[size]
            for k in range(start[v], start[v + 1]):
                w = after[k]
                if not reach[s, w]:
                    reach[s, w] = True
                    stack[size] = w
                    size += 1
    return reach


@patient(nogil=True)
def is_blocked(start, neighbour, near, far, is_x, is_y, is_z, is_first):
    """Does Z separate X and Y in a MAG without the arrows from X to the nodes in `is_first`? Walks start from
    all nodes of X at once, and do not come back to X.
    """
    graph, n = (start, neighbour, near, far), len(start) - 1
    opened, visited, queue = np.zeros(n, np.int64), np.zeros(2 * n, np.int64), np.empty(2 * n + 1, np.int64)
    count = np.int64(0)
    for v in range(n):
        if is_z[v]:
            opened[v], queue[count] = 1, v
            count += 1
        if is_x[v]:
            visited[2 * v] = visited[2 * v + 1] = 1
    given = opened.copy()
    _spread_to_ancestors(graph, opened, np.int64(1), queue, count)  # colliders are open at ancestors of Z
    count = np.int64(0)
    for x in range(n):
        for e in range(start[x], start[x + 1] if is_x[x] else start[x]):
            u = neighbour[e]
            state = 2 * u + (far[e] == ARROW)
            if not (visited[state] or (near[e] == TAIL and is_first[u])):
                visited[state] = 1
                queue[count] = state
                count += 1
    _walk(graph, given, opened, np.int64(1), visited, queue, count, np.int64(-1))
    return not ((visited[::2] + visited[1::2] > 0) & is_y & ~is_x).any()


@patient()
def chain_lists(marks, start, neighbour):
    """The next nodes on chains from each node (`first`, `towards`), and the previous ones (`last`, `origin`)."""
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
def _reach_by_tails(source, first, towards, found, stamp, now):
    """Lists in `found` the source and all nodes that chains from it reach. Returns the number of nodes listed."""
    found[0], stamp[source] = source, now
    count, k = 1, 0
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
    """Is there a ring among these nodes? Nodes without a predecessor are removed in turn; rings stay."""
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


@patient(lists=EDGES)
def contradicted(marks, start, neighbour, rows, is_contradicted, stand, room):
    """Writes which marks (rows `i, j, mark, ...`) contradict others, from row `stand[0]` on. Returns whether done."""
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
            n_after = _reach_by_tails(j, first, towards, after, stamp, k)
            room[0] -= 100 + 10 * n_after * (first[n] // n + 1)
            is_contradicted[k] = stamp[i] == k or _has_ring(after, n_after, first, towards, n_before, ready)
            continue
        n_after = _reach_by_tails(i, first, towards, after, stamp, k)
        n_above = _reach_by_tails(j, last, origin, before, stamp_back, k)
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
