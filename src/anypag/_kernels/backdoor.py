"""Adjustment: is every proper path that is no causal one blocked?

A graph comes as edge lists: the neighbours of v are `neighbour[start[v]:start[v + 1]]`, `near` holds the mark at v on
each of these edges and `far` the mark at the neighbour (2 arrow, 3 tail).
"""

import numpy as np
from numba import njit

from anypag._kernels.patience import patient

ARROW = 2
TAIL = 3


@patient()
@njit(cache=True, nogil=True)
def is_blocked(start, neighbour, near, far, is_x, is_y, is_z, is_first):
    """Does Z separate X and Y in a MAG once the arrows from X to the nodes in `is_first` are taken out?

    Walks are followed over states (node, did we come in by an arrowhead), 2v + 1 if so, from all of X at once; they
    meet X only at their start.
    """
    n = len(start) - 1
    opened = is_z.copy()
    queue = np.empty(2 * n + 1, np.int64)
    count = 0
    for v in range(n):
        if is_z[v]:
            queue[count] = v
            count += 1
    done = 0
    while done < count:  # colliders are open above Z
        v = queue[done]
        done += 1
        for e in range(start[v], start[v + 1]):
            u = neighbour[e]
            if near[e] == ARROW and far[e] == TAIL and not opened[u]:
                opened[u] = True
                queue[count] = u
                count += 1
    visited = np.zeros(2 * n, np.bool_)
    count = 0
    for x in range(n):
        if not is_x[x]:
            continue
        for e in range(start[x], start[x + 1]):
            u = neighbour[e]
            if is_x[u] or (near[e] == TAIL and is_first[u]):
                continue
            state = 2 * u + (far[e] == ARROW)
            if not visited[state]:
                visited[state] = True
                queue[count] = state
                count += 1
    done = 0
    while done < count:
        v = queue[done] // 2
        into = queue[done] % 2 == 1
        done += 1
        if is_y[v]:
            return False
        for e in range(start[v], start[v + 1]):
            u = neighbour[e]
            if is_x[u]:
                continue
            passes = opened[v] if (into and near[e] == ARROW) else not is_z[v]
            if passes:
                state = 2 * u + (far[e] == ARROW)
                if not visited[state]:
                    visited[state] = True
                    queue[count] = state
                    count += 1
    return True
