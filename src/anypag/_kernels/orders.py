"""Best order score search (Andrews et al. 2023): one sweep over the variables, each put where the order scores best.

An order's score is the sum, over its variables, of the score of the best parents among those before it. How parents are
found is the business of the score: a compiled function `best_parents` (see `_kernels.gaussian_score`). Its answers are
remembered under a 64-bit key of the variable and the set before it, so any number of orders can share them.
"""

import numpy as np
from numba import njit, types

_DATA = (types.float64[:, ::1], types.int32[:, ::1], types.float64[::1], types.uint64[::1], types.float64[::1])
_BEST_PARENTS = types.FunctionType(types.float64(*_DATA, types.int64, types.int64[::1], types.int64, types.int64[::1]))
_MEMORY = (types.uint64[::1], types.float64[::1])


@njit(types.uint64(types.uint64), cache=True, nogil=True)
def _mixed(x):
    """The last step of splitmix64: every bit of x moves every bit of the answer."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(types.uint64(types.int64), cache=True, nogil=True)
def _key_of(node):
    return _mixed(np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15))


@njit(
    types.float64(
        _BEST_PARENTS, *_DATA, *_MEMORY, types.int64, types.int64[::1], types.int64, types.uint64, types.int64[::1]
    ),
    cache=True,
    nogil=True,
)
def _score_after(best_parents, matrix, table, numbers, keys, values, known, score_of, v, before, count, key, chosen):
    """The score of v with the best parents among the first `count` nodes of `before`, whose key is `key`."""
    whole = _mixed(key + _key_of(v) * np.uint64(3)) | np.uint64(1)
    mask = np.uint64(len(known) - 1)
    slot = whole & mask
    for _ in range(32):
        if known[slot] == whole:
            return score_of[slot]
        if known[slot] == 0:
            break
        slot = (slot + np.uint64(1)) & mask
    score = best_parents(matrix, table, numbers, keys, values, v, before, count, chosen)
    if known[slot] == 0:
        known[slot] = whole
        score_of[slot] = score
    return score


@njit(
    types.boolean(_BEST_PARENTS, *_DATA, *_MEMORY, types.int64[::1], types.int64[::1]),
    cache=True,
    nogil=True,
)
def sweep(best_parents, matrix, table, numbers, keys, values, known, score_of, order, tier):
    """Put every variable, one after the other, where the order scores best; `order` is changed. Did any move?

    A variable only goes where no tier stands after a later one; `order` must begin like that.
    """
    n = len(order)
    others = np.empty(n, np.int64)
    own = np.empty(n)
    without = np.empty(n)
    behind = np.empty(n)
    chosen = np.empty(n + 1, np.int64)
    before = np.empty(n, np.int64)
    moved = False
    for v in range(n):
        k = was = first = last = 0
        for q in range(n):
            if order[q] == v:
                was = q
                continue
            others[k] = order[q]
            first += tier[others[k]] < tier[v]
            last += tier[others[k]] <= tier[v]
            k += 1
        key = np.uint64(0)
        for q in range(first, last + 1):  # before[:q] are the others before place q
            if q == first:
                for u in range(q):
                    before[u] = others[u]
                    key += _key_of(others[u])
            data = (matrix, table, numbers, keys, values, known, score_of)
            own[q] = _score_after(best_parents, *data, v, before, q, key, chosen)
            if q < last:
                w = others[q]
                without[q] = _score_after(best_parents, *data, w, before, q, key, chosen)
                before[q] = v
                behind[q] = _score_after(best_parents, *data, w, before, q + 1, key + _key_of(v), chosen)
                before[q] = w
                key += _key_of(w)
        total = 0.0
        for q in range(first, last):
            total += behind[q]
        best = now = 0.0
        place = -1
        for q in range(first, last + 1):
            score = total + own[q]
            if q == was:
                now = score
            if place < 0 or score > best + 1e-7:
                best, place = score, q
            if q < last:
                total += without[q] - behind[q]
        if best > now + 1e-6:
            moved = True
            for q in range(n):
                order[q] = others[q] if q < place else (v if q == place else others[q - 1])
    return moved


@njit(
    types.float64(_BEST_PARENTS, *_DATA, types.int64[::1], types.uint8[:, ::1]),
    cache=True,
    nogil=True,
)
def parents_in(best_parents, matrix, table, numbers, keys, values, order, parents):
    """The DAG of an order: `parents[i, j] = 1` where i is a parent of j. Gives its score."""
    n = len(order)
    chosen = np.empty(n + 1, np.int64)
    score = 0.0
    parents[:] = 0
    for q in range(n):
        score += best_parents(matrix, table, numbers, keys, values, order[q], order, q, chosen)
        for x in range(1, chosen[0] + 1):
            parents[chosen[x], order[q]] = 1
    return score
