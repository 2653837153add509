"""Who reaches whom along directed steps."""

import numpy as np
from numba import njit

from anypag._kernels.patience import patient


@patient()
@njit(cache=True)
def transitive(table):
    """(n, n) is there a way of one step or more from the row node to the column node?"""
    n = len(table)
    start = np.zeros(n + 1, np.int64)
    for v in range(n):
        count = 0
        for w in range(n):
            count += table[v, w]
        start[v + 1] = start[v] + count
    after = np.empty(start[n], np.int64)
    for v in range(n):
        k = start[v]
        for w in range(n):
            if table[v, w]:
                after[k] = w
                k += 1
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
