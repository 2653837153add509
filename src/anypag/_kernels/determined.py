"""Discrete columns that two others determine."""

import numpy as np
from numba import njit


@njit(cache=True)
def is_determined(codes, levels, a, b, c):
    """Does column c (of (p, n) codes from 0) never differ where a and b agree? Gives the number of cells, or -1 if not.

    With a == b: is it determined by that one column?
    """
    n_cells = levels[a] * (levels[b] if a != b else 1)
    seen = np.full(n_cells, -1, np.int64)
    count = 0
    for row in range(codes.shape[1]):
        cell = codes[a, row] * levels[b] + codes[b, row] if a != b else codes[a, row]
        if seen[cell] < 0:
            seen[cell] = codes[c, row]
            count += 1
        elif seen[cell] != codes[c, row]:
            return -1
    return count


@njit(cache=True)
def determined_by_two(codes, levels, rows_per_cell, most_cells):
    """Triples (a, b, c) of columns, c determined by a and b but by neither alone; a == b where one is enough.

    Only where every combination of levels that occurs has so many rows on average: else it is no wonder.
    """
    p, n = codes.shape
    found = np.empty((p, 3), np.int64)
    count = 0
    for c in range(p):
        is_told = False
        for a in range(p):
            if a != c and not is_told and levels[a] > levels[c]:
                cells = is_determined(codes, levels, a, a, c)
                if cells > 0 and cells * rows_per_cell <= n:
                    found[count] = (a, a, c)
                    is_told = True
        for a in range(p):
            for b in range(a + 1, p):
                if is_told or c == a or c == b or levels[a] * levels[b] > most_cells:
                    continue
                cells = is_determined(codes, levels, a, b, c)
                if cells <= levels[c] or cells * rows_per_cell > n:
                    continue
                if is_determined(codes, levels, a, a, c) < 0 and is_determined(codes, levels, b, b, c) < 0:
                    found[count] = (a, b, c)
                    is_told = True
        count += is_told
    return found[:count]


@njit(cache=True)
def tell_each_other(codes, levels, least):
    """Pairs (a, b) of columns, a < b, that tell each other: with one known, errors in guessing the other fall by so
    large a share (Goodman and Kruskal's lambda, both ways) or more, but not to none.

    Args:
        codes: (p, n) int64 from 0 on.
        levels: (p,) how many each column has.
        least: the share.
    """
    p, n = codes.shape
    most = levels.max()
    table, margin = np.zeros((most, most), np.int64), np.zeros((p, most), np.int64)
    for a in range(p):
        for row in range(n):
            margin[a, codes[a, row]] += 1
    found = []
    for a in range(p):
        for b in range(a + 1, p):
            table[: levels[a], : levels[b]] = 0
            for row in range(n):
                table[codes[a, row], codes[b, row]] += 1
            of_b, of_a = 0, 0  # rows in which the best guess by the other is right
            for i in range(levels[a]):
                of_b += table[i, : levels[b]].max()
            for j in range(levels[b]):
                of_a += table[: levels[a], j].max()
            errors_b, errors_a = n - margin[b].max(), n - margin[a].max()
            if of_a == n and of_b == n:
                continue
            if n - of_b <= (1.0 - least) * errors_b and n - of_a <= (1.0 - least) * errors_a:
                found.append((a, b, min(of_a, of_b)))
    return found
