"""Reachability in mixed graphs: m-separation, latent projection, inducing paths, adjustment, ancestors, contradictions.

A graph comes as edge lists: the neighbours of v are `neighbour[start[v]:start[v + 1]]`, `near` holds the mark at v on
each of these edges and `far` the mark at the neighbour (2 arrow, 3 tail). Sets of nodes are stamped arrays: v is in the
set if `stamped[v] == stamp`, so that a batch of queries never clears an array.

Marks can contradict each other because of the ancestors they imply. A tail at X on X–Y says that X is an ancestor of Y
or of selection; an arrowhead at W on W–V that W is neither. Tails make chains: X → Y → ... where each node has a tail
towards the next. Two things are impossible:

- a chain from W to V and an arrowhead at W on W–V;
- a chain from W into a ring of tails and an arrowhead at W on any edge: all nodes of a ring are ancestors of selection,
  and so is W.
"""

import numpy as np

from anypag._kernels.patience import FEW, njit, patient

ARROW = 2
TAIL = 3


@njit(cache=True, nogil=True)
def _spread_to_ancestors(start, neighbour, near, far, stamped, stamp, queue, count):
    """Stamp all ancestors of the `count` nodes in `queue`, which are stamped already, and append them to `queue`."""
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
def _is_connected(start, neighbour, near, far, x, y, conditioned, opened, stamp, visited, queue):
    """Is there an m-connecting walk from x to y? `conditioned` is Z, `opened` its ancestors.

    The search runs over states: node v entered by an arrowhead is state 2v + 1, by a tail 2v. The walk may pass v as a
    collider if v is opened, and otherwise if v is not conditioned on.
    """
    count = 0
    for e in range(start[x], start[x + 1]):
        state = 2 * neighbour[e] + (far[e] == ARROW)
        visited[state] = stamp
        queue[count] = state
        count += 1
    done = 0
    while done < count:
        v = queue[done] // 2
        into = queue[done] % 2 == 1
        done += 1
        if v == y:
            return True
        is_open, is_free = opened[v] == stamp, conditioned[v] != stamp
        for e in range(start[v], start[v + 1]):
            passes = is_open if (into and near[e] == ARROW) else is_free
            if passes and neighbour[e] != x:
                state = 2 * neighbour[e] + (far[e] == ARROW)
                if visited[state] != stamp:
                    visited[state] = stamp
                    queue[count] = state
                    count += 1
    return False


@patient(nogil=True)
def separated(start, neighbour, near, far, x, y, z, always, answer):
    """answer[i] = is x[i] m-separated from y[i] given z[i] and `always`? Returns the first invalid row (an index out of
    range, x = y, x or y conditioned on), -1 if there is none.
    """
    n = len(start) - 1
    conditioned = np.zeros(n, np.int64)
    opened = np.zeros(n, np.int64)
    visited = np.zeros(2 * n, np.int64)
    queue = np.empty(2 * n + 1, np.int64)
    for i in range(len(x)):
        stamp = i + 1
        count = 0
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
        _spread_to_ancestors(start, neighbour, near, far, opened, stamp, queue, count)
        answer[i] = not _is_connected(start, neighbour, near, far, a, b, conditioned, opened, stamp, visited, queue)
    return -1


@njit(cache=True, nogil=True)
def _reach(start, neighbour, near, far, queue, count, visited, is_open, is_free, is_out, is_reached):
    """Flag all nodes that walks reach from the `count` states in `queue` (see `_is_connected`), without nodes of
    `is_out`. A walk passes a collider that is open, and any other node that is free.
    """
    done = 0
    while done < count:
        v = queue[done] // 2
        into = queue[done] % 2 == 1
        done += 1
        is_reached[v] = True
        for e in range(start[v], start[v + 1]):
            u = neighbour[e]
            state = 2 * u + (far[e] == ARROW)
            passes = is_open[v] if (into and near[e] == ARROW) else is_free[v]
            if passes and not is_out[u] and not visited[state]:
                visited[state] = True
                queue[count] = state
                count += 1


@njit(cache=True, nogil=True)
def _possibly_adjacent(start, neighbour, near, far, x, is_latent, everyone, nobody, is_reached, queue):
    """Flag all nodes that may be adjacent to x: those reached by a path whose inner nodes are latent or colliders."""
    visited = np.zeros(2 * len(is_latent), np.bool_)
    is_reached[:] = False
    count = 0
    for e in range(start[x], start[x + 1]):
        queue[count] = 2 * neighbour[e] + (far[e] == ARROW)
        visited[queue[count]] = True
        count += 1
    _reach(start, neighbour, near, far, queue, count, visited, everyone, is_latent, nobody, is_reached)


@patient(lists=FEW, nogil=True)
def project(start, neighbour, near, far, is_latent, is_selection, observed, marks, stand, room):
    """Writes the marks (zeros before) of the MAG over `observed`, from node `stand[0]` on. Returns True when done.

    Its edges are the pairs that no observed nodes separate, given selection.

    X and Y are adjacent if they are connected given selection and every observed ancestor of X, Y or selection.
    The mark at X is a tail if X is an ancestor of Y or of selection, else an arrowhead.
    """
    n = len(start) - 1
    place = np.full(n, -1, np.int64)
    place[observed] = np.arange(len(observed))
    selection = np.flatnonzero(is_selection)
    anterior = np.zeros(n, np.int64)
    conditioned = np.zeros(n, np.int64)
    opened = np.zeros(n, np.int64)
    visited = np.zeros(2 * n, np.int64)
    everyone, nobody, is_reached = np.ones(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    queue = np.empty(2 * n + 2, np.int64)
    stamp = 0
    for i in range(stand[0], len(observed)):
        if room[0] < 0:
            stand[0] = i
            return False
        room[0] -= 2 * len(neighbour)
        x = observed[i]
        _possibly_adjacent(start, neighbour, near, far, x, is_latent, everyone, nobody, is_reached, queue)
        for j in range(i + 1, len(observed)):
            y = observed[j]
            if not is_reached[y]:
                continue
            stamp += 1
            room[0] -= n + 2 * len(neighbour)
            count = 0
            for k in range(len(selection) + 2):
                v = x if k == 0 else (y if k == 1 else selection[k - 2])
                anterior[v] = stamp
                queue[count] = v
                count += 1
            count = _spread_to_ancestors(start, neighbour, near, far, anterior, stamp, queue, count)
            n_conditioned = 0
            for k in range(count):
                v = queue[k]
                if not is_latent[v] and v != x and v != y:
                    conditioned[v] = stamp
                    opened[v] = stamp
                    queue[n_conditioned] = v
                    n_conditioned += 1
            _spread_to_ancestors(start, neighbour, near, far, opened, stamp, queue, n_conditioned)
            if _is_connected(start, neighbour, near, far, x, y, conditioned, opened, stamp, visited, queue):
                marks[i, j] = ARROW
                marks[j, i] = ARROW
    for i in range(len(observed)):  # tails: the observed ancestors of each node and of selection
        stamp += 1
        count = 0
        for k in range(len(selection) + 1):
            v = observed[i] if k == 0 else selection[k - 1]
            anterior[v] = stamp
            queue[count] = v
            count += 1
        count = _spread_to_ancestors(start, neighbour, near, far, anterior, stamp, queue, count)
        for k in range(count):
            j = place[queue[k]]
            if j >= 0 and marks[i, j]:
                marks[i, j] = TAIL
    return True


@njit(cache=True, nogil=True)
def _trace(parent, node, queue):
    """The nodes from the root of a search tree to `node`."""
    count = 0
    while node >= 0:
        queue[count] = node
        node = parent[node]
        count += 1
    return queue[:count][::-1].copy()


@patient(lists=FEW, nogil=True)
def inducing_path(start, neighbour, near, far):
    """The nodes of an inducing path between two non-adjacent nodes of an ancestral graph; empty if there is none. Every
    inner node of such a path is a collider on it and an ancestor of one of its ends.
    """
    n = len(start) - 1
    anterior = np.zeros(n, np.int64)
    parent = np.empty(n, np.int64)
    queue = np.empty(2 * n + 2, np.int64)
    is_adjacent = np.zeros(n, np.bool_)
    everyone, nobody, is_reached = np.ones(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    stamp = 0
    for x in range(n):
        is_adjacent[:] = False
        is_adjacent[neighbour[start[x] : start[x + 1]]] = True
        _possibly_adjacent(start, neighbour, near, far, x, nobody, everyone, nobody, is_reached, queue)
        for y in range(x + 1, n):
            if not is_reached[y] or is_adjacent[y]:
                continue
            stamp += 1
            anterior[x] = anterior[y] = stamp
            queue[0], queue[1] = x, y
            _spread_to_ancestors(start, neighbour, near, far, anterior, stamp, queue, 2)
            parent[:] = -2
            parent[x] = -1
            queue[0] = x
            count, done = 1, 0
            while done < count:
                v = queue[done]
                done += 1
                for e in range(start[v], start[v + 1]):
                    u = neighbour[e]
                    if parent[u] != -2 or (v != x and near[e] != ARROW):
                        continue
                    if u == y:
                        parent[u] = v
                        return _trace(parent, y, queue)
                    if far[e] == ARROW and anterior[u] == stamp:
                        parent[u] = v
                        queue[count] = u
                        count += 1
    return queue[:0].copy()


@patient()
def transitive(start, after):
    """(n, n) is there a path of one or more steps from the row node to the column node? Steps are lists per node."""
    n = len(start) - 1
    reach = np.zeros((n, n), np.bool_)
    stack = np.empty(n, np.int64)
    for s in range(n):
        if start[s] == start[s + 1]:
            continue
        stack[0] = s
        size = 1
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
    """Does Z separate X and Y in a MAG once the arrows from X to the nodes in `is_first` are taken out? Walks go from
    all of X at once, and have nodes of X only at their start.
    """
    n = len(start) - 1
    opened, queue, count = np.zeros(n, np.int64), np.empty(2 * n + 1, np.int64), np.int64(0)
    for v in range(n):
        if is_z[v]:
            opened[v], queue[count] = 1, v
            count += 1
    _spread_to_ancestors(start, neighbour, near, far, opened, 1, queue, count)  # colliders are open at ancestors of Z
    visited, is_reached = np.zeros(2 * n, np.bool_), np.zeros(n, np.bool_)
    count = np.int64(0)
    for x in range(n):
        for e in range(start[x], start[x + 1] if is_x[x] else start[x]):
            u = neighbour[e]
            state = 2 * u + (far[e] == ARROW)
            if not (is_x[u] or visited[state] or (near[e] == TAIL and is_first[u])):
                visited[state] = True
                queue[count] = state
                count += 1
    _reach(start, neighbour, near, far, queue, count, visited, opened == 1, ~is_z, is_x, is_reached)
    return not (is_reached & is_y).any()


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
def _reach_by_tails(source, first, towards, found, stamp, now):
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
