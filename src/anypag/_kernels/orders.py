"""Best order score search (Andrews et al. 2023): one sweep, which moves each variable to its best place.

The score of an order is the sum of the scores of its variables. Grow-shrink finds the parents of a variable
among those before it: parents are added one by one while the score rises, then removed one by one while it rises.

The results of grow-shrink are kept in trees, one for each variable. A node of the tree is a sequence of parents that
were added. It has a row with the worth of adding each further variable, and a child node for each variable that was
added next. A node after which nothing was added leads to a second kind of node, which has a row with the worth of
removing each parent, and a child node for each parent that was removed. When v gets other variables before it, the
search follows the tree of v as far as it is known and computes only the rest. A worth is NaN until it is computed, and
`NEVER` where the variable cannot be added. When the trees are full they are cleared. This never changes an answer: the
trees only save work.

The score computes worths by two compiled functions, `adding` and `removing` (see `_kernels.gaussian_score`). Every
kernel here subtracts its work from `room`, returns when `room` is used up, and is called again until it reports that it
is done. So a search can be stopped between two calls. One unit of `room` is about a nanosecond.
"""

import numpy as np

from anypag._kernels.patience import njit, patient

NEVER = -np.inf
LEAST_GAIN = 1e-9  # a parent is removed only if the score rises by more than this

_DATA = "float64[:, ::1], int32[:, ::1], float64[::1], uint64[::1], float64[::1]"
_ADDING = f"FunctionType(float64({_DATA}, int64, int64[::1], int64, int64[::1], int64, float64[::1], int64[::1]))"
_REMOVING = f"FunctionType(float64({_DATA}, int64, int64[::1], int64, float64[::1], int64[::1]))"
_TREES = "Tuple((int64[::1], float64[::1], int64[:, ::1], float64[::1], int32[::1]))"
_SCORE = f"{_ADDING}, {_REMOVING}, Tuple(({_DATA})), {_TREES}"

USED_NODES, USED_CELLS = 0, 1  # places in `used`; the roots of the variables come after them
TREES = 1 << 20  # kernels compile for trees with larger arrays; 20 variables have smaller ones
ROW, SHRUNK = 0, 1  # columns of `node`: where its row begins, and the node where removing parents starts


@njit(cache=True, nogil=True, _nrt=False)
def _new_node(trees, width):
    """Makes a node with a row of `width` unknown worths. Returns its index, or -1 if the trees are full."""
    used, base, node, worth, child = trees
    at, row = used[USED_NODES], used[USED_CELLS]
    if at == len(base) or row + width > len(worth):
        return -1
    used[USED_NODES] += 1
    used[USED_CELLS] += width
    base[at] = np.nan
    node[at, ROW], node[at, SHRUNK] = row, -1
    for x in range(row, row + width):
        worth[x] = np.nan
        child[x] = -1
    return at


@njit(cache=True, nogil=True, _nrt=False)
def _best(worth, row, candidates, count, least):
    """The place of the first candidate with the highest worth above `least`; -1 if none is above; -2 if one is NaN."""
    at = -1
    for c in range(count):
        other = worth[row + candidates[c]]
        if other > least:
            least, at = other, c
        elif other != other:
            return -2
    return at


@njit(cache=True, nogil=True, _nrt=False)
def _grown(score, v, before, count, chosen, room):
    """Follows the tree of v while parents are added. Writes the parents to `chosen[1:]`, their number to `chosen[0]`.
    Returns the last node; -1 if the trees are full; -2 if `room` is used up.
    """
    adding, _, data, trees, _ = score
    used, base, node, worth, child = trees
    n = len(used) - 2
    if used[2 + v] < 0:
        used[2 + v] = _new_node(trees, n)
    at, k = used[2 + v], 0
    while at >= 0:
        row = node[at, ROW]
        room[0] -= count + 5
        best = -2 if np.isnan(base[at]) else _best(worth, row, before, count, base[at])
        if best == -2:
            worth[row + v] = NEVER
            for x in range(k):
                worth[row + chosen[1 + x]] = NEVER
            base[at] = adding(*data, v, chosen[1:], k, before, count, worth[row : row + n], room)
            best = _best(worth, row, before, count, base[at])
        if best == -2:
            return -2
        if best == -1:
            break
        k += 1
        chosen[k] = before[best]
        step = row + chosen[k]
        if child[step] < 0:
            child[step] = _new_node(trees, n)
        at = child[step]
    chosen[0] = k
    return at


@njit(cache=True, nogil=True, _nrt=False)
def _shrunk(score, v, at, chosen, room):
    """Follows the tree of v from a node on while parents are removed, and takes them out of `chosen`. Returns the score
    of v; NaN if `room` is used up, `NEVER` if the trees are full.
    """
    _, removing, data, trees, places = score
    _, base, node, worth, child = trees
    if node[at, SHRUNK] < 0:
        node[at, SHRUNK] = _new_node(trees, chosen[0])
    at = node[at, SHRUNK]
    while at >= 0:
        k, row = chosen[0], node[at, ROW]
        room[0] -= k + 5
        best = -2 if np.isnan(base[at]) else _best(worth, row, places, k, base[at] + LEAST_GAIN)
        if best == -2:
            base[at] = removing(*data, v, chosen[1:], k, worth[row : row + k], room)
            best = _best(worth, row, places, k, base[at] + LEAST_GAIN)
        if best == -2:
            return np.nan
        if best == -1:
            return base[at]
        for x in range(best + 1, k):
            chosen[x] = chosen[x + 1]
        chosen[0] = k - 1
        if child[row + best] < 0:
            child[row + best] = _new_node(trees, k - 1)
        at = child[row + best]
    return NEVER


@njit(cache=True, nogil=True, _nrt=False)
def _best_parents(score, v, before, count, chosen, room):
    """The score of v with the parents that grow-shrink finds among the first `count` variables of `before`; NaN if
    `room` is used up (the trees keep all worths so far). Writes the number of parents, then the parents, to `chosen`.
    """
    while True:
        at = _grown(score, v, before, count, chosen, room)
        if at == -2:
            return np.nan
        found = _shrunk(score, v, at, chosen, room) if at >= 0 else NEVER
        if found != NEVER:
            return found
        used = score[3][0]
        used[:] = -1
        used[USED_NODES] = used[USED_CELLS] = 0


@patient(TREES, TREES, signature=f"boolean({_SCORE}, {3 * 'int64[::1], '}float64[:, ::1], int64[::1])", nogil=True)
def sweep(adding, removing, data, trees, order, tier, stand, scores, room):
    """Moves every variable, one after the other, to its best place in `order`. Returns whether all variables are done.
    The tiers must ascend along `order`. They still do afterwards: a variable moves within its tier only. `stand` (3,):
    the current variable, the place that is tried for it, and how many variables were moved. `scores` (3, n): the scores
    at the places tried so far for this variable. `room` (1,): work to do. `order` and the last three arguments change.
    """
    n = len(order)
    score = (adding, removing, data, trees, np.arange(len(order)))
    others, before = np.empty(n, np.int64), np.empty(n, np.int64)
    chosen = np.empty(n + 1, np.int64)
    # scores of v at each place, and of the variable at that place without and with v before it
    own, without, behind = scores[0], scores[1], scores[2]
    while stand[0] < n:
        v = stand[0]
        k = was = first = last = 0
        for q in range(n):
            if order[q] == v:
                was = q
                continue
            others[k] = before[k] = order[q]
            first += tier[others[k]] < tier[v]
            last += tier[others[k]] <= tier[v]
            k += 1
        for q in range(max(first, stand[1]), last + 1):
            stand[1] = q
            own[q] = _best_parents(score, v, before, q, chosen, room)
            if q < last and room[0] >= 0:
                w = others[q]
                without[q] = _best_parents(score, w, before, q, chosen, room)
                before[q] = v
                behind[q] = _best_parents(score, w, before, q + 1, chosen, room)
                before[q] = w
            if room[0] < 0:
                return False
        total = 0.0
        for q in range(first, last):
            total += behind[q]
        best = now = 0.0
        place = -1
        for q in range(first, last + 1):
            sum_at = total + own[q]
            if q == was:
                now = sum_at
            if place < 0 or sum_at > best + 1e-7:
                best, place = sum_at, q
            if q < last:
                total += without[q] - behind[q]
        if best > now + 1e-6:
            stand[2] += 1
            for q in range(n):
                order[q] = others[q] if q < place else (v if q == place else others[q - 1])
        stand[0], stand[1] = v + 1, 0
    return True


@patient(TREES, TREES, signature=f"boolean({_SCORE}, int64[::1], uint8[:, ::1], float64[::1], int64[::1])", nogil=True)
def parents_in(adding, removing, data, trees, order, parents, scores, room):
    """Writes the DAG of an order (`parents[i, j]`: is i a parent of j?) and fills in the `scores` that are NaN. Returns
    whether all are filled in.
    """
    score = (adding, removing, data, trees, np.arange(len(order)))
    chosen = np.empty(len(order) + 1, np.int64)
    for q in range(len(order)):
        if not np.isnan(scores[q]):
            continue
        scores[q] = _best_parents(score, order[q], order, q, chosen, room)
        if np.isnan(scores[q]):
            return False
        for x in range(1, chosen[0] + 1):
            parents[chosen[x], order[q]] = 1
    return True
