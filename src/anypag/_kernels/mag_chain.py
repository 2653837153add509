"""A Metropolis chain over maximal ancestral graphs (MAGs), or over all graphs without directed cycles.

A graph is `graph[kind, v]`: the parents, children, spouses (`<->`) and neighbours (`---`) of v as bit sets. Its score
is the sum of the scores of its components (single nodes, or nodes joined by `<->` or `---`) and of `terms[0, k] +
terms[1, d] + terms[2, b] + terms[3, u]`, if d of its k edges are `-->`, b are `<->` and u are `---`. Scores of
components are cached by 64-bit keys.

One step draws a pair (i, j), from a list of likely pairs or from all pairs, and then
- gives i–j another state, or
- takes the edge i–j away and joins i to another node, or
- gives two edges at i new states.
The step is accepted with the Metropolis probability for a target proportional to exp(score / temperature). A step to a
graph outside the class is rejected. Fitting a component of several members takes long, and most steps are rejected. So
two upper bounds are tried first. One bounds the new score by the sum of upper bounds for its components (ceilings),
which need no fit. The other bounds the rise of the score by an edge that is added to a district, from the fit of the
district without the edge. Scores are rounded to 2⁻²⁰, so that sums and differences are exact. The running score then
equals the score of the graph to the bit after any number of steps. With knowledge, only graphs that agree with it are
visited: `allowed` has the states that each pair may have, and `agrees` checks causes.
"""

import math

import numpy as np

from anypag._kernels.patience import njit

PARENTS, CHILDREN, SPOUSES, NEIGHBOURS = 0, 1, 2, 3
NONE, FORTH, BACK, BOTH, FLAT = 0, 1, 2, 3, 4  # i–j has no edge, i --> j, i <-- j, i <-> j, i --- j

SCORE, CEILING, FIT, RISE = range(4)  # what is asked about a component; see `_kernels.gaussian_score.component`
UNFITTED = -1.0  # `fits[v, 0, 0]` if the component whose first member is v was not fitted since its last change

IMPOSSIBLE = -1e15  # the score of a component that cannot be fitted
ONE_EDGE = 0.6  # the share of steps that change the state of one pair, if the drawn pair has an edge; if not, all do so
MOVE_EDGE = 0.8  # the same share, including steps that move the edge; the remaining steps change two edges

_DATA = "float64[:, ::1], int32[:, ::1], float64[::1], uint64[::1], float64[::1]"
_COMPONENT = f"FunctionType(float64({_DATA}, int64[::1], int64, int64, uint8[:, ::1], float64[:, :, ::1], int64))"
_MEMORY = "Tuple((uint64[::1], float64[::1], float64[:, :, ::1], int64))"
_SCORE = f"{_COMPONENT}, Tuple(({_DATA})), {_MEMORY}, float64[:, ::1]"
_MOVES = "Tuple((uint8[::1], uint8[:, ::1], int32[:, ::1], uint64[:, ::1]))"
_GRAPH = "uint64[:, :, ::1]"
_FACTS = f"Tuple((uint64[:, ::1], uint64[:, ::1], uint8[::1], {_GRAPH}))"
_IS_VALID = f"FunctionType(boolean({_GRAPH}, {_GRAPH}))"


@njit(cache=True, nogil=True)
def _mixed(x):
    """The last step of splitmix64: every bit of x affects every bit of the result."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _random(state):
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return _mixed(state[0])


@njit(cache=True, nogil=True)
def _below(state, k):
    return np.int64(_random(state) % np.uint64(k))


@njit(cache=True, nogil=True)
def _uniform(state):
    return float(_random(state) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True, _nrt=False)
def _has(words, j):
    return (words[j >> 6] >> np.uint64(j & 63)) & np.uint64(1) != 0


@njit(cache=True, nogil=True, _nrt=False)
def _add(words, j):
    words[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@njit(cache=True, nogil=True, _nrt=False)
def _drop(words, j):
    words[j >> 6] &= ~(np.uint64(1) << np.uint64(j & 63))


@njit(cache=True, nogil=True)
def _lowest(x):
    """The place of the lowest set bit of x; x is not 0."""
    k = 0
    for half in (32, 16, 8, 4, 2, 1):
        if x & ((np.uint64(1) << np.uint64(half)) - np.uint64(1)) == 0:
            k += half
            x >>= np.uint64(half)
    return k


@njit(cache=True, nogil=True)
def _count(x):
    k = 0
    while x != 0:
        x &= x - np.uint64(1)
        k += 1
    return k


@njit(cache=True, nogil=True, _nrt=False)
def _copy(one, other):
    """Copies an array. An assignment to `other[:]` would make numba compile the formatting of its error message too."""
    for k in range(len(one)):
        other[k] = one[k]


@njit(cache=True, nogil=True, _nrt=False)
def _any(words):
    found = False
    for w in range(len(words)):
        found |= words[w] != 0
    return found


@njit(cache=True, nogil=True, _nrt=False)
def _reach(v, step, seen, todo):
    """Writes all nodes reachable from v, v included, to `seen`."""
    for w in range(len(seen)):
        seen[w] = todo[w] = 0
    _add(seen, v)
    _add(todo, v)
    waiting = True
    while waiting:
        waiting = False
        for w in range(len(seen)):
            while todo[w] != 0:
                x = (w << 6) + _lowest(todo[w])
                todo[w] &= todo[w] - np.uint64(1)
                for q in range(len(seen)):
                    fresh = step[x, q] & ~seen[q]
                    if fresh != 0:
                        seen[q] |= fresh
                        todo[q] |= fresh
                        waiting |= q < w  # an earlier word has new nodes: all words are scanned again


@njit(cache=True, nogil=True, _nrt=False)
def _edge_state(graph, i, j):
    """The state of i–j: NONE, FORTH, BACK, BOTH or FLAT."""
    if _has(graph[PARENTS, j], i):
        return FORTH
    if _has(graph[PARENTS, i], j):
        return BACK
    if _has(graph[SPOUSES, i], j):
        return BOTH
    if _has(graph[NEIGHBOURS, i], j):
        return FLAT
    return NONE


@njit(cache=True, nogil=True)
def _key(v, other, kind):
    return _mixed(np.uint64((v << 24) + (other << 3) + kind + 1) * np.uint64(0x9E3779B97F4A7C15))


@njit(cache=True, nogil=True, _nrt=False)
def put(graph, key, i, j, state):
    """Gives i–j a state. Updates `key`: key[v] sums the keys of all edges at v except those to its children."""
    old = _edge_state(graph, i, j)
    if old == FORTH or old == BACK:
        cause, effect = (i, j) if old == FORTH else (j, i)
        _drop(graph[PARENTS, effect], cause)
        _drop(graph[CHILDREN, cause], effect)
        key[effect] -= _key(effect, cause, np.int64(PARENTS))
    elif old != NONE:
        kind = SPOUSES if old == BOTH else NEIGHBOURS
        _drop(graph[kind, i], j)
        _drop(graph[kind, j], i)
        key[i] -= _key(i, j, kind)
        key[j] -= _key(j, i, kind)
    if state == FORTH or state == BACK:
        cause, effect = (i, j) if state == FORTH else (j, i)
        _add(graph[PARENTS, effect], cause)
        _add(graph[CHILDREN, cause], effect)
        key[effect] += _key(effect, cause, np.int64(PARENTS))
    elif state != NONE:
        kind = SPOUSES if state == BOTH else NEIGHBOURS
        _add(graph[kind, i], j)
        _add(graph[kind, j], i)
        key[i] += _key(i, j, kind)
        key[j] += _key(j, i, kind)


@njit(cache=True, nogil=True, _nrt=False)
def stays_ancestral(graph, i, j, state, ancestral, sets):
    """Does an ancestral graph, in which i and j are not adjacent, stay ancestral with i–j in this state? If `ancestral`
    is False, only directed cycles and arrowheads at ends of --- are refused.
    """
    if state == NONE:
        return True
    if state == FLAT:
        return not (
            _any(graph[PARENTS, i]) or _any(graph[PARENTS, j]) or _any(graph[SPOUSES, i]) or _any(graph[SPOUSES, j])
        )
    if state == BACK:
        i, j = j, i
    if _any(graph[NEIGHBOURS, j]) or (state == BOTH and _any(graph[NEIGHBOURS, i])):
        return False
    if state == BOTH and not ancestral:
        return True
    above, todo, below = sets[0], sets[1], sets[2]
    _reach(i, graph[PARENTS], above, todo)
    if _has(above, j):
        return False
    if state == BOTH:
        _reach(j, graph[PARENTS], above, todo)
        return not _has(above, i)
    if not ancestral:
        return True
    _reach(j, graph[CHILDREN], below, todo)  # i's ancestors become ancestors of `below`: no `<->` may join the two sets
    for w in range(len(below)):
        rest = below[w]
        while rest != 0:
            x = (w << 6) + _lowest(rest)
            rest &= rest - np.uint64(1)
            for q in range(len(above)):
                if graph[SPOUSES, x, q] & above[q] != 0:
                    return False
    return True


@njit(cache=True, nogil=True, _nrt=False)
def _walk(graph, i, within, seen, todo):
    """Writes to `seen` all nodes that walks within `within` reach from i by a `-->` or `<->`, then only by `<->`."""
    words = len(within)
    for w in range(words):
        seen[w] = todo[w] = (graph[CHILDREN, i, w] | graph[SPOUSES, i, w]) & within[w]
    waiting = True
    while waiting:
        waiting = False
        for w in range(words):
            while todo[w] != 0:
                x = (w << 6) + _lowest(todo[w])
                todo[w] &= todo[w] - np.uint64(1)
                for q in range(words):
                    fresh = graph[SPOUSES, x, q] & within[q] & ~seen[q]
                    seen[q] |= fresh
                    todo[q] |= fresh
                    waiting |= fresh != 0 and q < w


@njit(cache=True, nogil=True)
def _joins(graph, parents, inner, wanted):
    """Does an inducing path with inner nodes, all in `inner`, join one of the `wanted` pairs (n, words)? `parents` says
    which nodes are ancestors. From every i a walk over spouses within `inner` finds the ends j to check.
    """
    n, words = wanted.shape
    ancestors = np.zeros((n, words), np.uint64)
    is_known = np.zeros(n, np.bool_)
    within, seen = np.empty(words, np.uint64), np.empty(words, np.uint64)
    todo, ends = np.empty(words, np.uint64), np.empty(words, np.uint64)
    for i in range(n):
        start = False
        for w in range(words):
            within[w] = inner[w]
            start |= (graph[CHILDREN, i, w] | graph[SPOUSES, i, w]) & inner[w] != 0
        if not start:
            continue
        _walk(graph, i, within, seen, todo)
        for w in range(words):
            ends[w] = 0
        for w in range(words):
            rest = seen[w]
            while rest != 0:
                v = (w << 6) + _lowest(rest)
                rest &= rest - np.uint64(1)
                for q in range(words):
                    ends[q] |= graph[PARENTS, v, q] | graph[SPOUSES, v, q]
        for w in range(words):
            rest = ends[w] & wanted[i, w]
            while rest != 0:
                j = (w << 6) + _lowest(rest)
                rest &= rest - np.uint64(1)
                if j <= i:
                    continue
                for v in (i, j):
                    if not is_known[v]:
                        is_known[v] = True
                        _reach(v, parents, ancestors[v], todo)
                for q in range(words):
                    within[q] = inner[q] & (ancestors[i, q] | ancestors[j, q])
                _drop(within, i)
                _drop(within, j)
                _walk(graph, i, within, seen, todo)
                for q in range(words):
                    if seen[q] & (graph[CHILDREN, j, q] | graph[SPOUSES, j, q]) != 0:
                        return True
    return False


@njit(cache=True, nogil=True)
def is_maximal(graph, apart):
    """Is an ancestral graph maximal: are the ends of every inducing path adjacent? `apart` is not used.

    Inner nodes of an inducing path are colliders on it and ancestors of an end. A path whose ends are not adjacent has
    two or more inner nodes. So each inner node has a child, and a spouse that has a child (`inner`).
    """
    n, words = graph.shape[1], graph.shape[2]
    inner, parental = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for v in range(n):
        if _any(graph[CHILDREN, v]):
            _add(parental, v)
    for v in range(n):
        if _has(parental, v):
            for w in range(words):
                if graph[SPOUSES, v, w] & parental[w] != 0:
                    _add(inner, v)
    if not _any(inner):
        return True
    adjacent = graph[PARENTS] | graph[CHILDREN] | graph[SPOUSES] | graph[NEIGHBOURS]
    return not _joins(graph, graph[PARENTS], inner, ~adjacent)


@njit(f"boolean({_GRAPH}, {_GRAPH})", cache=True, nogil=True)
def is_any(graph, apart):
    return True


@njit(cache=True, nogil=True)
def keeps_apart(graph, apart):
    """Do hidden causes in a DAG join no pair that they may not join? The nodes after the first n are hidden causes.

    `apart` (2, n, words) has the pairs as bits: [0] without a hidden common cause, [1] without an edge in the MAG over
    the first n nodes. Hidden causes join a pair by an inducing path, whose inner nodes have a child and, as `diagram`
    has <-> between children of a hidden cause, a spouse. For [0] a path that begins with --> at an end does not count:
    no hidden cause of the other end causes this end.
    """
    n, words = apart.shape[1], apart.shape[2]
    diagram, inner = np.zeros((4, n, words), np.uint64), np.zeros(words, np.uint64)
    for v in range(n):
        for h in range(n, graph.shape[1]):
            if _has(graph[CHILDREN, h], v):
                for w in range(words):
                    diagram[SPOUSES, v, w] |= graph[CHILDREN, h, w]
        _drop(diagram[SPOUSES, v], v)
        if _any(diagram[SPOUSES, v]) and _any(graph[CHILDREN, v]):
            _add(inner, v)
        for w in range(words):
            if diagram[SPOUSES, v, w] & (apart[0, v, w] | apart[1, v, w]) != 0:
                return False
    if _joins(diagram, graph[PARENTS], inner, apart[0]):
        return False
    for v in range(n):
        _copy(graph[PARENTS, v], diagram[PARENTS, v])
        _copy(graph[CHILDREN, v], diagram[CHILDREN, v])
    return not _joins(diagram, graph[PARENTS], inner, apart[1])


@njit(cache=True, nogil=True, _nrt=False)
def agrees(graph, causes, not_causes, not_selecting, sets):
    """Is every node an ancestor of all nodes in its row of `causes`, and of none in its row of `not_causes`? A node
    that may be a cause of selection (no arrowhead at it, and not in `not_selecting`) is not checked. `causes` and
    `not_causes` are bits, (n, words); (0, words) without knowledge.
    """
    below, todo = sets[0], sets[1]
    for v in range(len(causes)):
        if not (_any(causes[v]) or _any(not_causes[v])):
            continue
        if not (not_selecting[v] or _any(graph[PARENTS, v]) or _any(graph[SPOUSES, v])):
            continue
        _reach(v, graph[CHILDREN], below, todo)
        for w in range(len(below)):
            if causes[v, w] & ~below[w] != 0 or not_causes[v, w] & below[w] != 0:
                return False
    return True


@njit(cache=True, nogil=True, _nrt=False)
def _other_neighbour(graph, i, j, random):
    """A neighbour of i other than j, drawn uniformly; i itself if there is none."""
    count = np.int64(-1)  # not 0, because j is counted too
    for w in range(graph.shape[2]):
        count += _count(graph[PARENTS, i, w] | graph[CHILDREN, i, w] | graph[SPOUSES, i, w] | graph[NEIGHBOURS, i, w])
    if count < 1:
        return i
    wanted = _below(random, count)
    for w in range(graph.shape[2]):
        rest = graph[PARENTS, i, w] | graph[CHILDREN, i, w] | graph[SPOUSES, i, w] | graph[NEIGHBOURS, i, w]
        while rest != 0:
            v = (w << 6) + _lowest(rest)
            rest &= rest - np.uint64(1)
            if v != j:
                if wanted == 0:
                    return v
                wanted -= 1
    return i


@njit(cache=True, nogil=True, _nrt=False)
def _members(graph, v, stamp, now, members):
    """Writes and stamps the members of v's component. Returns their number."""
    members[0] = v
    stamp[v] = now
    count, done = 1, 0
    while done < count:
        x = members[done]
        done += 1
        for w in range(graph.shape[2]):
            rest = graph[SPOUSES, x, w] | graph[NEIGHBOURS, x, w]
            while rest != 0:
                y = (w << 6) + _lowest(rest)
                rest &= rest - np.uint64(1)
                if stamp[y] != now:
                    stamp[y] = now
                    members[count] = y
                    count += 1
    return count


@njit(cache=True, nogil=True, _nrt=False)
def _work(matrix, table, n, d, m):
    """About how many nanoseconds the score of a component takes: d members and their other parents, m nodes in all.
    Counting goes through the rows of `table`. The time of a regression grows with the cube of the number of columns,
    and a fit has one regression for every member and sweep.
    """
    columns = m * max(1, len(matrix) // n)
    of_fits = 0 if d == 1 else 5 * d * (columns + d) ** 3
    return 500 + 2 * table.shape[1] * (m + 3) + columns**3 // 4 + of_fits


@njit(cache=True, nogil=True)
def _asked(score, graph, members, d, what, room):
    """The rounded score of a component (SCORE, FIT), or an upper bound (CEILING). The members are sorted first."""
    component, data, (_, _, fits, _) = score
    n, words = graph.shape[1], graph.shape[2]
    nodes, place = np.empty(n, np.int64), np.full(n, -1, np.int64)
    for x in range(d):  # insertion sort: numpy's takes more than a second to compile
        at = x
        while at > 0 and nodes[at - 1] > members[x]:
            nodes[at] = nodes[at - 1]
            at -= 1
        nodes[at] = members[x]
    for x in range(d):
        place[nodes[x]] = x
    m = d
    for w in range(words):
        rest = np.uint64(0)
        for x in range(d):
            rest |= graph[PARENTS, nodes[x], w]
        while rest != 0:
            y = (w << 6) + _lowest(rest)
            rest &= rest - np.uint64(1)
            if place[y] < 0:
                place[y] = m
                nodes[m] = y
                m += 1
    relation = np.zeros((d, m), np.uint8)
    for x in range(d):
        for y in range(m):
            if _has(graph[PARENTS, nodes[x]], nodes[y]):
                relation[x, y] = 1
            elif y < d and _has(graph[SPOUSES, nodes[x]], nodes[y]):
                relation[x, y] = 2
            elif y < d and _has(graph[NEIGHBOURS, nodes[x]], nodes[y]):
                relation[x, y] = 3
    matrix, table, _, _, _ = data
    room[0] -= _work(matrix, table, n, 1 if what == CEILING else d, m)
    found = component(*data, nodes[:m].copy(), d, m, relation, fits, what)
    return found if what == CEILING else max(math.floor(found * 1048576.0 + 0.5) / 1048576.0, IMPOSSIBLE)


@njit(cache=True, nogil=True, _nrt=False)
def _component_score(score, graph, key, members, d, ceiling_will_do, room):
    """The score of the component with these d members, and True. If `ceiling_will_do`, and the score is neither in the
    cache nor quick to compute (d = 1), this returns an upper bound on the score (its ceiling) and False instead. The
    key of a score is odd; the key of its ceiling is smaller by 1.
    """
    known, score_of, _, largest = score[2]
    if d > largest:
        return IMPOSSIBLE, True
    whole = np.uint64(d)
    for x in range(d):
        whole += _key(members[x], np.int64(0), np.int64(7)) + key[members[x]]
    whole = _mixed(whole) | np.uint64(1)
    mask = np.uint64(len(known) - 1)
    slot = whole & mask
    for _ in range(32):
        if known[slot] | np.uint64(1) == whole:
            if ceiling_will_do or known[slot] == whole:
                return score_of[slot], known[slot] == whole
            break
        if known[slot] == 0:
            break
        slot = (slot + np.uint64(1)) & mask
    is_score = d == 1 or not ceiling_will_do
    found = _asked(score, graph, members, d, SCORE if is_score else CEILING, room)
    if known[slot] == 0 or known[slot] | np.uint64(1) == whole:
        known[slot] = whole if is_score else whole - np.uint64(1)
        score_of[slot] = found
    return found, is_score


@njit(cache=True, nogil=True)
def _all_keys(graph, key):
    for v in range(graph.shape[1]):
        key[v] = 0
        for kind in (PARENTS, SPOUSES, NEIGHBOURS):
            for w in range(graph.shape[2]):
                rest = graph[kind, v, w]
                while rest != 0:
                    key[v] += _key(v, (w << 6) + _lowest(rest), kind)
                    rest &= rest - np.uint64(1)


@njit(cache=True, nogil=True)
def _count_edges(graph, count):
    """Writes how many edges there are, and how many of them are -->, <-> and ---."""
    count[:] = 0
    for v in range(graph.shape[1]):
        for w in range(graph.shape[2]):
            count[1] += _count(graph[PARENTS, v, w])
            count[2] += _count(graph[SPOUSES, v, w])
            count[3] += _count(graph[NEIGHBOURS, v, w])
    count[2] //= 2
    count[3] //= 2
    count[0] = count[1] + count[2] + count[3]


@njit(cache=True, nogil=True, _nrt=False)
def _recount(count, state, by):
    if state != NONE:
        count[0] += by
        count[1 if state <= BACK else state - 1] += by


@njit(cache=True, nogil=True, _nrt=False)
def _touched(i, j, k, old, new, old_k, new_k, found):
    """Writes the nodes whose components change: ends of i–j and i–k, but not the tail of `-->`. Returns how many."""
    count = 0
    if old > FORTH or new > FORTH or old_k > FORTH or new_k > FORTH:
        found[0] = i
        count = 1
    if (old != NONE and old != BACK) or (new != NONE and new != BACK):
        found[count] = j
        count += 1
    if (old_k != NONE and old_k != BACK) or (new_k != NONE and new_k != BACK):
        found[count] = k
        count += 1
    return count


@njit(cache=True, nogil=True, _nrt=False)
def _prior(terms, count):
    return terms[0, count[0]] + terms[1, count[1]] + terms[2, count[2]] + terms[3, count[3]]


@njit(f"boolean({_SCORE}, {_GRAPH}, float64[::1], int64[::1])", cache=True, nogil=True)
def total(component, data, memory, terms, graph, parts, room):
    """Writes the parts of the score of a whole graph. Returns whether all parts are known. `parts` (n + 1,) holds the
    score of each component at its first node, 0 at its other nodes, and the prior at the end. Unknown parts are NaN.
    """
    n = graph.shape[1]
    key = np.empty(n, np.uint64)
    _all_keys(graph, key)
    stamp, members, count = np.full(n, -1, np.int64), np.empty(n, np.int64), np.empty(4, np.int64)
    _count_edges(graph, count)
    parts[n] = _prior(terms, count)
    score = (component, data, memory)
    for v in range(n):
        if stamp[v] >= 0:
            parts[v] = 0.0
            continue
        d = _members(graph, v, stamp, np.int64(0), members)
        if np.isnan(parts[v]):
            if room[0] < 0:
                return False
            parts[v] = _component_score(score, graph, key, members, d, np.bool_(False), room)[0]
    return True


@njit(cache=True, nogil=True, _nrt=False)
def _score_part(score, graph, v, key, stamp, now, members, part, part_score, room):
    """Writes, for each member of v's component, the first member and the score of the component."""
    d = _members(graph, v, stamp, now, members)
    found = _component_score(score, graph, key, members, d, np.bool_(False), room)[0]
    for x in range(d):
        v = min(v, members[x])
    for x in range(d):
        part[members[x]] = v
        part_score[members[x]] = found
    score[2][2][v, 0, 0] = UNFITTED


@njit(cache=True, nogil=True, _nrt=False)
def _rise(score, graph, i, j, state, stamp, now, members, part, scratch, room):
    """A bound for the rise of the score by an edge with an arrowhead at a node with spouses; infinite for other edges.
    The bound depends on the graph only, not on the cache, so the same steps are rejected whatever was cached before.
    """
    component, data, (_, _, fits, _) = score
    if not ((state != BACK and _any(graph[SPOUSES, j])) or (state != FORTH and _any(graph[SPOUSES, i]))):
        return np.inf
    if state == FORTH:
        i, j = j, i
    parts, nothing = scratch
    parts = parts[: 1 + (state == BOTH and part[i] != part[j])]
    parts[-1], parts[0] = part[j], part[i]
    for x in range(len(parts)):
        if fits[parts[x], 0, 0] == UNFITTED:
            d = _members(graph, parts[x], stamp, now, members)
            _asked(score, graph, members, d, np.int64(FIT), room)
    room[0] -= 1000
    if state == BOTH:
        j += len(part)
    return component(*data, parts, i, j, nothing, fits, RISE)


@njit(
    f"boolean({_SCORE}, {_MOVES}, {_FACTS}, boolean, {_IS_VALID}, float64, int64, uint64[::1], {_GRAPH}, {_GRAPH}, "
    "float64[::1], int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def advance(
    component,
    data,
    memory,
    terms,
    moves,
    facts,
    ancestral,
    is_valid,
    temperature,
    steps,
    random,
    graph,
    best,
    scores,
    made,
    room,
):
    """Makes steps of the chain. Returns whether all steps are made.

    Args:
        component, data: the score; see `_kernels.gaussian_score`.
        memory: a cache of components' scores (keys and values; their length is a power of two), an array for the fits
            of components, and the most members of a component: graphs with larger components are rejected.
        terms: (4, pairs + 2) the terms of the score for the numbers of edges; see the top of this file.
        moves: four arrays. `states`: those of FORTH, BACK, BOTH and FLAT that steps propose. `allowed` (n, n): bit s of
            [i, j] says that i–j may have state s. `likely` (k, 2): ordered pairs; unless k is 0, two steps in three
            draw their pair from these. `is_likely` (n, words): the likely pairs as bits.
        facts: causes, not_causes and not_selecting, see `agrees`; `apart`, see `keeps_apart`. The graph must agree.
        ancestral: walk over ancestral graphs only; else over all graphs without directed cycles.
        is_valid: a check of ancestral graphs: `is_maximal` for MAGs, `keeps_apart` for DAGs with hidden causes, else
            `is_any`. Only the given check is compiled.
        temperature: 1 for the posterior, higher to move more freely.
        steps: how many steps to make in all calls together.
        random: (1,) the state of the generator.
        graph: the current graph; changed.
        best: the best graph so far; changed when the chain reaches a better graph.
        scores: (2,) of the current and of the best graph; changed.
        made: (2,) how many steps were made, and how many of them were accepted; changed.
        room: (1,) how much work to do, in units of about a nanosecond; changed.
    """
    n, words = graph.shape[1], graph.shape[2]
    states, allowed, likely, is_likely = moves
    causes, not_causes, not_selecting, apart = facts
    n_states = len(states)
    key = np.empty(n, np.uint64)
    _all_keys(graph, key)
    count, new_count = np.empty(4, np.int64), np.empty(4, np.int64)
    _count_edges(graph, count)
    part, part_score = np.empty(n, np.int64), np.empty(n)  # each node's component: its first member, its score
    stamp, now, members = np.full(n, -1, np.int64), np.int64(0), np.empty(n, np.int64)
    sets, touched = np.empty((3, words), np.uint64), np.empty(3, np.int64)
    scratch = np.empty(2, np.int64), np.empty((0, 0), np.uint8)
    n_touched, gain = 0, 0.0
    score = (component, data, memory)
    nothing, one = np.int64(NONE), np.int64(1)  # not literals, for which numba would compile functions again
    for v in range(n):
        if stamp[v] != now:
            _score_part(score, graph, v, key, stamp, now, members, part, part_score, room)
    weight_all = 1.0 / (n * (n - 1)) if len(likely) == 0 else 1.0 / (3.0 * n * (n - 1))
    weight_likely = weight_all + (0.0 if len(likely) == 0 else 2.0 / (3.0 * len(likely)))
    made_before = made[0]
    while made[0] < steps:
        if room[0] < 0 and made[0] > made_before:  # every call makes at least one step, so that repeated calls end
            return False
        made[0] += 1
        room[0] -= 300
        if len(likely) > 0 and _below(random, np.int64(3)) < 2:
            row = _below(random, len(likely))
            i, j = np.int64(likely[row, 0]), np.int64(likely[row, 1])
        else:
            i = _below(random, n)
            j = _below(random, n - 1)
            j += j >= i
        old = _edge_state(graph, i, j)
        k = i
        old_k = new_k = NONE
        ratio = 0.0
        kind = _uniform(random)
        if kind < ONE_EDGE or old == NONE:
            at = _below(random, n_states)
            new = np.int64(states[at])
            if new == old:
                new = NONE
            # a pair without an edge always gets this kind of step, a pair with an edge only sometimes
            if old == NONE:
                ratio = math.log(ONE_EDGE)
            elif new == NONE:
                ratio = -math.log(ONE_EDGE)
        elif kind < MOVE_EDGE:
            k = _below(random, n)
            if k == i or k == j or _edge_state(graph, i, k) != NONE:
                continue
            new = NONE
            new_k = np.int64(states[_below(random, n_states)])
            weight_k = weight_likely if _has(is_likely[i], k) else weight_all
            weight_j = weight_likely if _has(is_likely[i], j) else weight_all
            ratio = math.log(weight_k / weight_j)
        else:
            k = _other_neighbour(graph, i, j, random)
            if k == i:
                continue
            old_k = _edge_state(graph, i, k)
            new = np.int64(states[_below(random, n_states)])
            new_k = np.int64(states[_below(random, n_states)])
            if new == old and new_k == old_k:
                continue
        if not (allowed[i, j] >> new) & 1 or (k != i and not (allowed[i, k] >> new_k) & 1):
            continue
        put(graph, key, i, j, nothing)
        if k != i:
            put(graph, key, i, k, nothing)
        fits = stays_ancestral(graph, i, j, new, ancestral, sets)
        most = np.inf
        if fits:
            if old == NONE and k == i and new != FLAT:
                now += 1
                most = _rise(score, graph, i, j, new, stamp, now, members, part, scratch, room)
            put(graph, key, i, j, new)
            if k != i:
                fits = stays_ancestral(graph, i, k, new_k, ancestral, sets)
                if fits:
                    put(graph, key, i, k, new_k)
        if fits:
            n_touched = _touched(i, j, k, old, new, old_k, new_k, touched)
            before = 0.0
            now += 1
            for t in range(n_touched):
                if stamp[part[touched[t]]] != now:
                    stamp[part[touched[t]]] = now
                    before += part_score[touched[t]]
            _copy(count, new_count)
            _recount(new_count, old, -one)
            _recount(new_count, new, one)
            _recount(new_count, old_k, -one)
            _recount(new_count, new_k, one)
            of_prior = _prior(terms, new_count) - _prior(terms, count)
            before -= of_prior
            drawn = math.log(_uniform(random) + 1e-300)
            fits = drawn < (most + of_prior) / temperature + ratio
            is_score = False
            for ceiling_will_do in (True, False):  # upper bounds suffice to reject most steps
                if is_score or not fits:
                    break
                gain = -before
                is_score = True
                now += 1
                for t in range(n_touched):
                    if stamp[touched[t]] != now:
                        d = _members(graph, touched[t], stamp, now, members)
                        found, is_found = _component_score(score, graph, key, members, d, ceiling_will_do, room)
                        gain += found
                        is_score &= is_found
                fits = drawn < gain / temperature + ratio
            if fits and ancestral:
                room[0] -= 20 * n * words
                fits = is_valid(graph, apart)
            fits = fits and agrees(graph, causes, not_causes, not_selecting, sets)
        if not fits:
            put(graph, key, i, j, old)
            if k != i:
                put(graph, key, i, k, old_k)
            continue
        made[1] += 1
        _copy(new_count, count)
        now += 1
        for t in range(n_touched):
            if stamp[touched[t]] != now:
                _score_part(score, graph, touched[t], key, stamp, now, members, part, part_score, room)
        scores[0] += gain
        if scores[0] > scores[1]:
            scores[1] = scores[0]
            _copy(graph.ravel(), best.ravel())
    return True
