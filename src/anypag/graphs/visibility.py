"""Edges behind which nothing unmeasured can hide."""

from __future__ import annotations

from collections import deque

import numpy as np

from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG


def is_visible(pag: PAG, a: str, b: str) -> bool:
    """Is `a --> b` *visible*: can no unmeasured variable act directly on both (Zhang 2008, Definition 8)?

    It is if some C without an edge to b has an edge into a, or a path into a whose inner nodes are colliders on it and
    parents of b: a common cause of a and b would then have joined C and b.

    >>> is_visible(PAG.from_string("C o-> A; A --> B"), "A", "B")
    True
    >>> is_visible(PAG.from_string("A --> B; C o-> B"), "A", "B")
    False
    """
    marks, start, end = pag.marks, pag.index(a), pag.index(b)
    if marks[start, end] != Mark.ARROW or marks[end, start] != Mark.TAIL:
        return False
    is_parent = (marks[:, end] == Mark.ARROW) & (marks[end] == Mark.TAIL)
    seen, waiting = {start, end}, deque([start])
    while waiting:
        v = waiting.popleft()
        for u in np.flatnonzero(marks[:, v] == Mark.ARROW).tolist():
            if u in seen:
                continue
            if marks[u, end] == Mark.NONE:
                return True
            if is_parent[u] and marks[v, u] == Mark.ARROW:
                seen.add(u)
                waiting.append(u)
    return False
