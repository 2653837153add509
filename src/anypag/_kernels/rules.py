"""The orientation rules: R0 (unshielded colliders), R1–R10 of Zhang (2008), and R11 and R12, which use knowledge. One
function, `triples`, serves all rules about three nodes; their patterns are in `anypag.graphs.rules`.

`marks[i, j]` is the mark at j on the edge i–j. A rule reads the marks as they stand and *proposes* marks; `apply` then
sets them all at once. Rules do not see marks proposed in the same pass, so the outcome does not depend on the order
of the nodes, even if finite data make two rules disagree.

A proposal is a row `(i, j, mark, a, b)`: this mark at j on i–j, and two nodes to name in its reason (-1: none). The
neighbours of v are `neighbour[start[v]:start[v + 1]]`. `wanted` is a scratch matrix, all zero between calls; its bits
say which marks have been proposed in this pass. `rows` has room for an arrowhead and a tail at both ends of each edge,
so it never overflows.

Rules that may take long run in turns, bounded by `room` (`anypag.threads`). `stand` is their position: the number of
rows written so far, the edge to go on with (its index in `neighbour`), and any other state of the rule. It begins as
zeros. `_kernels.pools` says how the code is kept quick to compile.
"""

import numpy as np

from anypag._kernels.patience import EDGES, njit, patient

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3


@njit(  # with types, so that it is compiled once for all integer types of nodes; marks may be read-only or writable
    "int64(Array(uint8, 2, 'C', readonly=True), uint8[:, ::1], int32[:, ::1], "
    "int64, int64, int64, int64, int64, int64)",
    cache=True,
)
def _propose(marks, wanted, rows, count, i, j, mark, a, b):
    if marks[i, j] == mark or wanted[i, j] & (1 << mark):
        return count
    wanted[i, j] |= 1 << mark
    rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3], rows[count, 4] = i, j, mark, a, b
    return count + 1


@patient()
def apply(marks, wanted, rows, count, disputed):
    """Sets the proposed marks. Returns the rows that were set and those in conflict. There are two kinds of conflict.
    If rules propose both arrowhead and tail for a circle, or did so in an earlier pass, the circle stays. If a proposal
    contradicts a mark that is set already, that mark stays. A conflict is returned only once (`disputed` records it).
    """
    was_set, conflicts = np.empty((count, 5), np.int32), np.empty((count, 5), np.int32)
    n_set = n_conflicts = np.int64(0)
    for k in range(count):
        i, j, mark = rows[k, 0], rows[k, 1], rows[k, 2]
        both = wanted[i, j] == (1 << ARROW | 1 << TAIL)
        if marks[i, j] == CIRCLE and not both and disputed[i, j] == 0:
            marks[i, j] = mark
            _copy_row(rows, k, was_set, n_set)
            n_set += 1
        elif not disputed[i, j] & (1 << mark):
            disputed[i, j] |= 1 << mark
            _copy_row(rows, k, conflicts, n_conflicts)
            n_conflicts += 1
    for k in range(count):
        wanted[rows[k, 0], rows[k, 1]] = 0
    return was_set[:n_set], conflicts[:n_conflicts]


@njit(cache=True)
def _copy_row(source, k, target, row):
    for j in range(source.shape[1]):
        target[row, j] = source[k, j]


@njit(cache=True)
def _holds(members, slot, node):
    found = False
    for k in range(members.shape[1]):
        found |= members[slot, k] == node
    return found


@patient(nogil=True)
def slot_of(empty, start, other, row, a, b):
    """The slot of a pair's separating set: its row in `members`, 0 for the empty set, -1 if no set is known. `empty`
    has a bit for each pair that the empty set separates. The nodes b > a whose set with a is not empty are
    `other[start[a]:start[a + 1]]`, ascending; `row` has the slots of these sets.
    """
    low, high = min(a, b), max(a, b)
    left, right = start[low], start[low + 1]
    while left < right:
        middle = (left + right) >> 1
        if other[middle] < high:
            left = middle + 1
        else:
            right = middle
    if left < start[low + 1] and other[left] == high:
        return np.int64(row[left])
    is_empty = (empty[low, high >> 3] >> (high & 7)) & 1
    return np.int64(0 if is_empty else -1)


@patient(nogil=True)
def slots_of(empty, start, other, row, x, y):
    """The slots of the separating sets of many pairs; see `slot_of`."""
    slots = np.empty(len(x), np.int32)
    for k in range(len(x)):
        slots[k] = slot_of(empty, start, other, row, x[k], y[k])
    return slots


@njit(cache=True, nogil=True)
def _longer(keys):
    """A copy of the keys with room for twice as many."""
    longer = np.empty(2 * len(keys), np.int64)
    for k in range(len(keys)):
        longer[k] = keys[k]
    return longer


@njit(cache=True, nogil=True)
def _key(n, a, b, slot):
    return ((np.int64(min(a, b)) * n + max(a, b)) << 32) | slot


@patient(lists=EDGES)
def check_keys(marks, start, neighbour, slots, lowest):
    """A key for every test that orientation needs: (smaller end of an edge · n + larger end), then 32 bits for the slot
    of a set. For each a–b–c with a and c not adjacent, the edges a–b and b–c are tested given the separating set of a
    and c, if its slot is `lowest` or above. Keys are unordered and may repeat.
    """
    empty, first, other, row = slots
    n = len(marks)
    keys, count = np.empty(1024, np.int64), 0
    for b in range(n):
        for e in range(start[b], start[b + 1]):
            for f in range(e + 1, start[b + 1]):
                a, c = neighbour[e], neighbour[f]
                if marks[a, c] == NONE:
                    slot = slot_of(empty, first, other, row, a, c)
                    if slot >= lowest:
                        if count + 2 > len(keys):
                            keys = _longer(keys)
                        keys[count], keys[count + 1] = _key(n, a, b, slot), _key(n, b, c, slot)
                        count += 2
    return keys[:count]


@patient(nogil=True)
def sets_without(members, slots, x, y):
    """The separating sets in `slots`, the k-th without x[k] and y[k], padded with -1 at the end; and their sizes."""
    z, size = np.empty((len(slots), members.shape[1]), np.int32), np.empty(len(slots), np.int64)
    for k in range(len(slots)):
        count = 0
        for j in range(members.shape[1]):
            member = members[slots[k], j]
            if member >= 0 and member != x[k] and member != y[k]:
                z[k, count] = member
                count += 1
        size[k] = count
        for j in range(count, members.shape[1]):
            z[k, j] = -1
    return z, size


@patient(lists=EDGES, nogil=True)
def rule_0(marks, start, neighbour, slots, members, begin, end, wanted, rows):
    """A *-* B *-* C, A and C not adjacent, B not in their separating set: A *-> B <-* C. B runs from begin to end.
    Threads can work on different ranges of B at once: only columns B of `wanted` are written.
    """
    empty, first, other, row = slots
    count = 0
    has_arrow = np.zeros(len(marks), np.bool_)  # for each neighbour A of B: is the arrowhead at B on A–B proposed?
    for b in range(begin, end):
        n_without = start[b + 1] - start[b]
        for e in range(start[b], start[b + 1]):
            has_arrow[neighbour[e]] = False
        for e in range(start[b], start[b + 1]):
            if n_without == 0:
                break
            a = neighbour[e]
            for f in range(e + 1, start[b + 1]):
                c = neighbour[f]
                if (has_arrow[a] and has_arrow[c]) or marks[a, c] != NONE:
                    continue
                slot = slot_of(empty, first, other, row, a, c)
                if slot >= 0 and not _holds(members, slot, b):
                    count = _propose(marks, wanted, rows, count, a, b, ARROW, a, c)
                    count = _propose(marks, wanted, rows, count, c, b, ARROW, a, c)
                    n_without -= (not has_arrow[a]) + (not has_arrow[c])
                    has_arrow[a] = has_arrow[c] = True
    return count


@patient(lists=EDGES)
def rule_0_in_mag(marks, start, neighbour, mag, wanted, rows):
    """R0 if the MAG is known: the arrowheads of every A *-> B <-* C in the MAG with A and C not adjacent."""
    count = 0
    for b in range(len(marks)):
        for e in range(start[b], start[b + 1]):
            a = neighbour[e]
            for f in range(e + 1, start[b + 1]):
                c = neighbour[f]
                if marks[a, c] == NONE and mag[a, b] == ARROW and mag[c, b] == ARROW:
                    count = _propose(marks, wanted, rows, count, a, b, ARROW, a, c)
                    count = _propose(marks, wanted, rows, count, c, b, ARROW, a, c)
    return count


@njit(cache=True)
def _is_leg(marks, known, v, u, patterns, first, end, side):
    """Does the edge v–u fit the first (`side` 0) or second (`side` 1) edge of any of the patterns from first to end?"""
    for k in range(first, end):
        here = patterns[k, 2 * side] >> marks[u, v] & patterns[k, 2 * side + 1] >> marks[v, u] & 1
        if here and (patterns[k, 6] != side + 1 or known[v, u]):
            return True
    return False


@patient(lists=EDGES)
def triples(marks, start, neighbour, known, patterns, proposals, wanted, rows):
    """Rules about a node V and two of its neighbours, A and B. A pattern is a row of allowed marks (bit m for mark m,
    bit 0 for no edge): at V and A on A–V, at V and B on V–B, at B and A on A–B; then 1 if `known[V, A]` must be true, 2
    if `known[V, B]` must be true. Its proposals are rows as at the top of this file, but 0, 1, 2 and 3 stand for V,
    A, B and no node. Rows with mark 0 are padding.
    """
    second, nodes = np.empty(len(marks), np.int64), np.full(4, -1, np.int64)
    count, across, n = np.int64(0), np.int64(0), len(patterns)
    for k in range(n):
        across |= patterns[k, 4]
    for v in range(len(marks)):
        n_second = 0
        for e in range(start[v], start[v + 1]):
            second[n_second] = neighbour[e]
            n_second += _is_leg(marks, known, v, second[n_second], patterns, 0, n, 1)
        for e in range(start[v], start[v + 1] if n_second else start[v]):
            u = np.int64(neighbour[e])
            if not _is_leg(marks, known, v, u, patterns, 0, n, 0):
                continue
            for f in range(n_second):
                w = second[f]
                if not across >> marks[u, w] & 1 or u == w:
                    continue
                nodes[0], nodes[1], nodes[2] = v, u, w
                for k in range(n):
                    if not (patterns[k, 4] >> marks[u, w] & patterns[k, 5] >> marks[w, u] & 1):
                        continue
                    if not _is_leg(marks, known, v, u, patterns, k, k + 1, 0):
                        continue
                    if not _is_leg(marks, known, v, w, patterns, k, k + 1, 1):
                        continue
                    for q in range(proposals.shape[1]):
                        i, j, mark = proposals[k, q, 0], proposals[k, q, 1], proposals[k, q, 2]
                        a, b = nodes[proposals[k, q, 3]], nodes[proposals[k, q, 4]]
                        if mark:
                            count = _propose(marks, wanted, rows, count, nodes[i], nodes[j], mark, a, b)
    return count


@patient(lists=EDGES)
def rule_3(marks, start, neighbour, other, wanted, rows, stand, room):
    """A *-> B <-* C, A *-o D o-* C, A and C not adjacent, D *-o B: D *-> B. With knowledge the marks at D may be
    tails (`other`) instead of circles: then, too, D is no collider between A and C.
    """
    for b in range(len(marks)):
        for e in range(max(start[b], stand[1]), start[b + 1]):
            if room[0] < 0:
                stand[1] = e
                return False
            d = neighbour[e]
            if marks[d, b] != CIRCLE:
                continue
            for f in range(start[b], start[b + 1]):
                room[0] -= 2
                a = neighbour[f]
                if marks[a, b] != ARROW or (marks[a, d] != CIRCLE and marks[a, d] != other):
                    continue
                room[0] -= 2 * (start[b + 1] - f)
                for g in range(f + 1, start[b + 1]):
                    c = neighbour[g]
                    if marks[c, b] == ARROW and marks[a, c] == NONE and (marks[c, d] == CIRCLE or marks[c, d] == other):
                        stand[0] = _propose(marks, wanted, rows, stand[0], d, b, ARROW, a, c)
    return True


@patient(lists=EDGES)
def discriminating_paths(marks, start, neighbour, paths, stand, room):
    """Adds the shortest discriminating paths <D, ..., A, B, C> for every B o-* C, one for each D. Returns all paths. D
    and C are not adjacent, and every node between D and B is a collider on the path and a parent of C. A path is a row
    of nodes, D first, padded with -1. The first `stand[0]` rows of `paths` are used. All paths are found once
    `stand[1]` has passed the last edge.
    """
    n, count, b = len(marks), stand[0], 0
    parent, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    while stand[1] < len(neighbour) and room[0] >= 0:
        e = stand[1]
        stand[1] += 1
        while start[b + 1] <= e:
            b += 1
        c = neighbour[e]
        if marks[c, b] != CIRCLE:
            continue
        room[0] -= 2 * (start[b + 1] - start[b])
        n_queued = 0
        for f in range(start[b], start[b + 1]):
            a = neighbour[f]
            if marks[b, a] == ARROW and marks[a, c] == ARROW and marks[c, a] == TAIL:
                queue[n_queued] = a
                n_queued += 1
        if n_queued == 0:
            continue
        room[0] -= n
        for v in range(n):
            parent[v] = -2
        parent[b] = parent[c] = -1
        for done in range(n_queued):
            parent[queue[done]] = b
        done = 0
        while done < n_queued:
            v = queue[done]
            done += 1
            room[0] -= 2 * (start[v + 1] - start[v])
            for f in range(start[v], start[v + 1]):
                d = neighbour[f]
                if marks[d, v] != ARROW or parent[d] != -2:
                    continue
                if marks[d, c] == NONE:
                    parent[d] = v
                    if count == len(paths):
                        paths = _resized(paths, 2 * count, paths.shape[1])
                    paths = _write_path(paths, count, parent, d, b, c)
                    count += 1
                    room[0] -= paths.shape[1]
                elif marks[v, d] == ARROW and marks[d, c] == ARROW and marks[c, d] == TAIL:
                    parent[d] = v
                    queue[n_queued] = d
                    n_queued += 1
    stand[0] = count
    return paths


@njit(cache=True)
def _resized(paths, height, width):
    larger = np.full((height, width), -1, np.int32)
    for k in range(len(paths)):
        _copy_row(paths, k, larger, k)
    return larger


@njit(cache=True)
def _write_path(paths, row, parent, d, b, c):
    length, v = 0, d
    while True:
        if length + 2 > paths.shape[1]:
            paths = _resized(paths, paths.shape[0], 2 * paths.shape[1])
        paths[row, length] = v
        length += 1
        if v == b:
            paths[row, length] = c
            return paths
        v = parent[v]


@patient(lists=EDGES)
def rule_4(marks, start, neighbour, paths, is_in_set, wanted, rows, stand, room):
    """<D, ..., A, B, C> discriminates B: B --> C if B is in the separating set of D and C (`is_in_set`), else
    A <-> B <-> C. `paths` has one path for each D, B and C, but the A of every other such path gets its arrowhead too,
    so that the order of nodes does not matter. Here `stand[1]` is the path to go on with.
    """
    seen, queue = np.full(len(marks), -1, np.int64), np.empty(len(marks), np.int64)
    stamp, before_b, before_c = 0, -1, -1
    while stand[1] < len(paths) and room[0] >= 0:
        k = stand[1]
        stand[1] += 1
        last = paths.shape[1] - 1
        while paths[k, last] < 0:
            last -= 1
        room[0] -= 10 * paths.shape[1]
        a, b, c, d = paths[k, last - 2], paths[k, last - 1], paths[k, last], paths[k, 0]
        if is_in_set[k]:
            stand[0] = _propose(marks, wanted, rows, stand[0], c, b, TAIL, d, c)
            stand[0] = _propose(marks, wanted, rows, stand[0], b, c, ARROW, d, c)
            continue
        stand[0] = _propose(marks, wanted, rows, stand[0], a, b, ARROW, d, c)
        stand[0] = _propose(marks, wanted, rows, stand[0], c, b, ARROW, d, c)
        stand[0] = _propose(marks, wanted, rows, stand[0], b, c, ARROW, d, c)
        if b != before_b or c != before_c:
            stamp, before_b, before_c = stamp + 1, b, c
        seen[b] = stamp
        for other in queue[: _collider_parents(marks, start, neighbour, d, c, seen, stamp, queue, room)]:
            if marks[b, other] == ARROW:
                stand[0] = _propose(marks, wanted, rows, stand[0], other, b, ARROW, d, c)
    return stand[1] == len(paths)


@njit(cache=True)
def _collider_parents(marks, start, neighbour, d, c, seen, stamp, queue, room):
    """Writes the parents of c that paths from d reach through colliders that are also parents of c. Returns the number
    of parents written. Paths do not enter nodes that have the stamp on entry.
    """
    n_queued, done, v = np.int64(0), np.int64(0), d
    while True:
        room[0] -= 2 * (start[v + 1] - start[v])
        for e in range(start[v], start[v + 1]):
            w = neighbour[e]
            if seen[w] == stamp or marks[v, w] != ARROW or (v != d and marks[w, v] != ARROW):
                continue
            if marks[w, c] == ARROW and marks[c, w] == TAIL:
                seen[w] = stamp
                queue[n_queued] = w
                n_queued += 1
        if done == n_queued:
            return n_queued
        v = queue[done]
        done += 1


@njit(cache=True)
def _scratch(n, neighbour):
    """Scratch arrays of `_follow_uncovered`: stamps of nodes and of edges, the edge before each edge, a queue."""
    m = len(neighbour)
    return np.zeros(n, np.int64), np.zeros(m, np.int64), np.empty(m, np.int64), np.empty((m + 1, 2), np.int64)


@njit(cache=True)
def _follow_uncovered(marks, start, neighbour, a, first, stop, circles_only, scratch, stamp, room):
    """Stamps the nodes and edges that uncovered walks a, first, ... reach without passing through a or `stop`. Returns
    the edge (its index in `neighbour`) by which `stop` was first reached, -1 if it was not.

    Uncovered: of any three consecutive nodes the outer two are not adjacent (checked at every extension). The walks are
    circle walks (o-o all along) or possibly directed (no arrowhead where a node is left, no tail where one is entered).
    Zhang's rules speak of paths. A walk may visit a node twice, by different edges. The proofs of R5, R9 and R10 hold
    for walks too, and walks are found in polynomial time. In a sound PAG, walks and paths give the same marks.
    """
    reached, visited, came_from, queue = scratch
    e = start[a]
    while neighbour[e] != first:
        e += 1
    reached[first], visited[e], came_from[e] = stamp, stamp, -1
    queue[0, 0], queue[0, 1] = a, e
    count, done, found = 1, 0, -1
    while done < count:
        u, before = queue[done, 0], queue[done, 1]
        v = neighbour[before]
        done += 1
        room[0] -= 3 * (start[v + 1] - start[v])
        for e in range(start[v], start[v + 1]):
            w = neighbour[e]
            if w == a or w == u or visited[e] == stamp or marks[u, w] != NONE:
                continue
            if circles_only:
                if marks[v, w] != CIRCLE or marks[w, v] != CIRCLE:
                    continue
            elif marks[w, v] == ARROW or marks[v, w] == TAIL:
                continue
            reached[w], visited[e], came_from[e] = stamp, stamp, before
            if w != stop:
                queue[count, 0], queue[count, 1] = v, e
                count += 1
            elif found < 0:
                found = e
    return found


@patient(lists=EDGES)
def rule_5(marks, start, neighbour, wanted, rows, stand, room):
    """A o-o B, and an uncovered circle path A, C, ..., D, B without edges A–D and B–C: A–B and the path are ---."""
    stamp = np.int64(0)
    scratch = _scratch(len(marks), neighbour)
    visited, came_from = scratch[1], scratch[2]
    for a in range(len(marks)):
        for e in range(max(start[a], stand[1]), start[a + 1]):
            b = neighbour[e]
            if marks[a, b] != CIRCLE or marks[b, a] != CIRCLE:
                continue
            for f in range(max(start[a], stand[2]), start[a + 1]):
                room[0] -= 2
                c = neighbour[f]
                if c == b or marks[a, c] != CIRCLE or marks[c, a] != CIRCLE or marks[b, c] != NONE:
                    continue
                if room[0] < 0:
                    stand[1], stand[2] = e, f
                    return False
                stamp += 1
                _follow_uncovered(marks, start, neighbour, a, c, b, True, scratch, stamp, room)
                last = _edge_not_near(marks, start, neighbour, a, b, visited, stamp, room)
                if last < 0:
                    continue
                stand[0] = _propose(marks, wanted, rows, stand[0], a, b, TAIL, c, -1)
                stand[0] = _propose(marks, wanted, rows, stand[0], b, a, TAIL, c, -1)
                w = b
                while last >= 0:
                    v = a if came_from[last] < 0 else neighbour[came_from[last]]
                    stand[0] = _propose(marks, wanted, rows, stand[0], v, w, TAIL, a, b)
                    stand[0] = _propose(marks, wanted, rows, stand[0], w, v, TAIL, a, b)
                    last, w = came_from[last], v
                break
            stand[2] = 0
    return True


@njit(cache=True)
def _edge_not_near(marks, start, neighbour, a, b, visited, stamp, room):
    """The index of a visited edge D–b with D not adjacent to a; -1 if there is none."""
    for e in range(start[b], start[b + 1]):
        d = neighbour[e]
        if d == a or marks[a, d] != NONE:
            continue
        room[0] -= start[d + 1] - start[d]
        for f in range(start[d], start[d + 1]):
            if neighbour[f] == b and visited[f] == stamp:
                return f
    return -1


@patient(lists=EDGES)
def rule_9(marks, start, neighbour, wanted, rows, stand, room):
    """A o-> C, and an uncovered possibly directed path A, B, ..., C with B and C not adjacent: A --> C."""
    stamp = np.int64(0)
    scratch = _scratch(len(marks), neighbour)
    for a in range(len(marks)):
        for e in range(max(start[a], stand[1]), start[a + 1]):
            c = neighbour[e]
            if marks[c, a] != CIRCLE or marks[a, c] != ARROW:
                continue
            for f in range(max(start[a], stand[2]), start[a + 1]):
                room[0] -= 2
                b = neighbour[f]
                if b == c or marks[b, c] != NONE or marks[b, a] == ARROW or marks[a, b] == TAIL:
                    continue
                if room[0] < 0:
                    stand[1], stand[2] = e, f
                    return False
                stamp += 1
                if _follow_uncovered(marks, start, neighbour, a, b, c, False, scratch, stamp, room) >= 0:
                    stand[0] = _propose(marks, wanted, rows, stand[0], c, a, TAIL, b, -1)
                    break
            stand[2] = 0
    return True


@patient(lists=EDGES)
def rule_10(marks, start, neighbour, wanted, rows, stand, room):
    """A o-> C, B --> C <-- D, uncovered possibly directed paths from A to B and from A to D: A --> C, if the nodes that
    follow A on the two paths, M and W (which may be B and D), are distinct and not adjacent.
    """
    stamp = np.int64(0)
    scratch = _scratch(len(marks), neighbour)
    for a in range(len(marks)):
        for e in range(max(start[a], stand[1]), start[a + 1]):
            c = neighbour[e]
            if marks[c, a] != CIRCLE or marks[a, c] != ARROW:
                continue
            m, w = _first_steps(marks, start, neighbour, a, c, scratch, stamp, stand, room)
            if m < 0 and stand[2] < start[a + 1]:
                stand[1] = e
                return False
            stamp += start[a + 1] - start[a]
            if m >= 0:
                stand[0] = _propose(marks, wanted, rows, stand[0], c, a, TAIL, m, w)
            stand[2] = stand[3] = 0
    return True


@njit(cache=True)
def _first_steps(marks, start, neighbour, a, c, scratch, stamp, stand, room):
    """Two non-adjacent neighbours of a through which uncovered possibly directed paths reach different parents of c.
    `stand[2]` is the place to go on with in the list of a's neighbours; if room ran out, it is before the end of the
    list. `stand[3]` is how many neighbours were found to lead to parents of c. `stand[4:]` lists these neighbours, each
    with the first and the last parent of c to which it leads.
    """
    reached, firsts = scratch[0], stand[4:]
    stand[2] = max(stand[2], start[a])
    while stand[2] < start[a + 1]:
        m = neighbour[stand[2]]
        room[0] -= 2
        if m == c or marks[m, a] == ARROW or marks[a, m] == TAIL:
            stand[2] += 1
            continue
        if room[0] < 0:
            break
        stand[2] += 1
        stamp += 1
        _follow_uncovered(marks, start, neighbour, a, m, c, False, scratch, stamp, room)
        room[0] -= 2 * (start[c + 1] - start[c])
        goal = last_goal = -1
        for g in range(start[c], start[c + 1]):
            b = neighbour[g]
            if marks[b, c] == ARROW and marks[c, b] == TAIL and b != a and reached[b] == stamp:
                goal = b if goal < 0 else goal
                last_goal = b
        if goal < 0:
            continue
        for k in range(0, 3 * stand[3], 3):
            differ = firsts[k + 1] != goal or firsts[k + 2] != last_goal or goal != last_goal
            if differ and marks[firsts[k], m] == NONE:
                return firsts[k], np.int64(m)
        k = 3 * stand[3]
        firsts[k], firsts[k + 1], firsts[k + 2] = m, goal, last_goal
        stand[3] += 1
    return np.int64(-1), np.int64(-1)


@patient(lists=EDGES)
def rule_11(marks, start, neighbour, wanted, rows, stand, room):
    """B *-> C --> D, B and D not adjacent, A joined to all three, A o-* D: A --> D. Needed only with knowledge."""
    for a in range(len(marks)):
        for e in range(max(start[a], stand[1]), start[a + 1]):
            if room[0] < 0:
                stand[1] = e
                return False
            d = neighbour[e]
            if marks[d, a] != CIRCLE:
                continue
            for f in range(start[a], start[a + 1]):
                room[0] -= 2
                c = neighbour[f]
                if marks[c, d] != ARROW or marks[d, c] != TAIL:
                    continue
                room[0] -= 2 * (start[a + 1] - start[a])
                for g in range(start[a], start[a + 1]):
                    b = neighbour[g]
                    if marks[b, c] == ARROW and marks[b, d] == NONE and b != d:
                        stand[0] = _propose(marks, wanted, rows, stand[0], d, a, TAIL, b, c)
                        stand[0] = _propose(marks, wanted, rows, stand[0], a, d, ARROW, b, c)
    return True


@njit(cache=True)
def _stamp_leading(marks, start, neighbour, queue, count, leads, stamp, room):
    """Stamps all nodes from which directed paths lead to a node in the queue. Returns the new length of the queue."""
    done = 0
    while done < count:
        v = queue[done]
        done += 1
        room[0] -= 2 * (start[v + 1] - start[v])
        for e in range(start[v], start[v + 1]):
            u = neighbour[e]
            if leads[u] != stamp and marks[u, v] == ARROW and marks[v, u] == TAIL:
                leads[u] = stamp
                queue[count] = u
                count += 1
    return count


@patient(lists=EDGES)
def rule_12(marks, start, neighbour, wanted, rows, stand, room):
    """X o-* V, and an uncovered possibly directed path X, V, ..., D, and edges that lead from D back to X: X <-* V. The
    way back is directed, except that one of its edges, U *-> W, needs only its arrowhead. If X were a cause of V, X
    would be a cause of D, and so W would be a cause of U; but the arrowhead at W says that W is not a cause of U.
    """
    n, stamp = len(marks), np.int64(0)
    scratch = _scratch(n, neighbour)
    reached = scratch[0]
    near, leads, queue = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    for x in range(n):
        first, end = max(start[x], stand[1]), start[x + 1]
        if first >= end:  # x is done already, or has no neighbours
            continue
        if room[0] < 0:
            stand[1] = first
            return False
        near[x] = queue[0] = x
        n_near = _stamp_leading(marks, start, neighbour, queue, 1, near, x, room)
        n_leading = np.int64(0)
        for w in queue[:n_near].copy():
            room[0] -= 2 * (start[w + 1] - start[w])
            for e in range(start[w], start[w + 1]):
                u = neighbour[e]
                if marks[u, w] == ARROW and leads[u] != x:
                    leads[u] = x
                    queue[n_leading] = u
                    n_leading += 1
        if n_leading == 0:
            continue
        _stamp_leading(marks, start, neighbour, queue, n_leading, leads, x, room)
        for e in range(first, end):
            v = neighbour[e]
            if marks[v, x] != CIRCLE or marks[x, v] == TAIL:
                continue
            stamp += 1
            _follow_uncovered(marks, start, neighbour, x, v, -1, False, scratch, stamp, room)
            room[0] -= n
            for d in range(n):
                if d != x and reached[d] == stamp and leads[d] == x:
                    stand[0] = _propose(marks, wanted, rows, stand[0], v, x, ARROW, d, -1)
                    break
            if room[0] < 0:
                stand[1] = e + 1
                return False
    return True


@patient(lists=EDGES)
def not_confounded(marks, start, neighbour, unconfounded, wanted, rows):
    """A <-o B, and no hidden variable is a cause of both: A <-- B."""
    count = 0
    for a in range(len(marks)):
        for e in range(start[a], start[a + 1]):
            b = neighbour[e]
            if marks[b, a] == ARROW and marks[a, b] == CIRCLE and unconfounded[a, b]:
                count = _propose(marks, wanted, rows, count, a, b, TAIL, -1, -1)
    return count
