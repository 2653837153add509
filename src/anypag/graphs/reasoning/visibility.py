"""Visible edges: arrows that cannot hide a common cause of their two ends."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from anypag.graphs.base import Marks, MixedGraph, Node
from anypag.graphs.marks import Mark


def is_visible(graph: MixedGraph, a: Node, b: Node) -> bool:
    """Is `a --> b` *visible*: can no unmeasured variable act directly on both (Zhang 2008, Definition 8)?

    It is if some C without an edge to b has an edge into a, or a path into a whose inner nodes are colliders on it and
    parents of b: a common cause of a and b would then have joined C and b. Any other edge is invisible.

    Args:
        graph: a PAG or a MAG of a sample that nothing selected.
        a: a name or an index.
        b: another one.

    >>> from anypag import PAG, is_visible
    >>> is_visible(PAG.from_string("C o-> A; A --> B"), "A", "B")
    True
    >>> is_visible(PAG.from_string("A --> B; C o-> B"), "A", "B")
    False
    """
    return _is_visible(graph.marks, graph.index(a), graph.index(b))


def visible_edges(marks: Marks) -> npt.NDArray[np.bool_]:
    """(n, n) True where row --> column is a visible edge."""
    visible = np.zeros(marks.shape, bool)
    for a, b in np.argwhere((marks == Mark.ARROW) & (marks.T == Mark.TAIL)).tolist():
        visible[a, b] = _is_visible(marks, a, b)
    return visible


def _is_visible(marks: Marks, a: int, b: int) -> bool:
    if marks[a, b] != Mark.ARROW or marks[b, a] != Mark.TAIL:
        return False
    is_parent = (marks[:, b] == Mark.ARROW) & (marks[b] == Mark.TAIL)
    seen, waiting = {a, b}, deque([a])
    while waiting:
        v = waiting.popleft()
        for u in np.flatnonzero(marks[:, v] == Mark.ARROW).tolist():
            if u in seen:
                continue
            if marks[u, b] == Mark.NONE:
                return True
            if is_parent[u] and marks[v, u] == Mark.ARROW:
                seen.add(u)
                waiting.append(u)
    return False
