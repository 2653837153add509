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
