"""Which tests the check before R0 asks for."""

import numpy as np
from numba import njit

NONE = 0


@njit(cache=True)
def _count_triples(marks, start, neighbour, slot, lowest):
    count = 0
    for b in range(len(marks)):
        for e in range(start[b], start[b + 1]):
            for f in range(e + 1, start[b + 1]):
                a, c = neighbour[e], neighbour[f]
                count += marks[a, c] == NONE and slot[a, c] >= lowest
    return count


@njit(cache=True)
def unshielded_triples(marks, start, neighbour, slot, lowest):
    """Rows (a, b, c) with edges a–b and b–c, none between a and c, and a separating set in slot `lowest` or above."""
    triples = np.empty((_count_triples(marks, start, neighbour, slot, lowest), 3), np.int32)
    count = 0
    for b in range(len(marks)):
        for e in range(start[b], start[b + 1]):
            for f in range(e + 1, start[b + 1]):
                a, c = neighbour[e], neighbour[f]
                if marks[a, c] == NONE and slot[a, c] >= lowest:
                    triples[count, 0], triples[count, 1], triples[count, 2] = a, b, c
                    count += 1
    return triples
