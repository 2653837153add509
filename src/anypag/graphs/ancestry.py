"""Who causes whom in a PAG: for certain, possibly, and along which path."""

from __future__ import annotations

from collections import deque
from itertools import combinations

import numpy as np
import numpy.typing as npt

from anypag.graphs.base import Marks, Node, possible_steps, reached_backwards
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, members, rows_as_sets
from anypag.graphs.pag import PAG


def definite_ancestors(pag: PAG, *nodes: Node) -> tuple[str, ...]:
    """The given nodes and every node that is an ancestor of one of them in every member of the class.

    A directed path is one reason. The other (Roumpelaki, Borboudakis, Triantafillou, Tsamardinos 2016): two uncovered
    possibly directed paths whose second nodes are not adjacent. Whichever way the first node's edges are marked, it is
    no collider between these two, so one of the paths is directed. Neither sees selection.

    >>> pag = PAG.from_string("A o-o B; A o-o C; B --> D; C --> D")
    >>> pag.ancestors("D"), definite_ancestors(pag, "D")
    (('B', 'C', 'D'), ('A', 'B', 'C', 'D'))
    """
    targets = [pag.index(node) for node in nodes]
    certain = reached_backwards(definite_steps(pag.marks), targets)
    return tuple(pag.names[i] for i in np.flatnonzero(certain))


def definite_steps(marks: Marks) -> npt.NDArray[np.bool_]:
    """(n, n) is the row an ancestor of the column for one of the two reasons?"""
    certain = (marks == Mark.ARROW) & (marks.T == Mark.TAIL)
    for x in range(len(marks)):
        firsts = np.flatnonzero(possible_steps(marks)[x] & (marks[:, x] == Mark.CIRCLE)).tolist()
        ends = {first: _uncovered_ends(marks, x, first) for first in firsts}
        for u, v in combinations(firsts, 2):
            if not marks[u, v]:
                certain[x] |= ends[u] & ends[v]
    np.fill_diagonal(certain, False)
    return np.asarray(certain)


def _uncovered_ends(marks: Marks, x: int, first: int) -> npt.NDArray[np.bool_]:
    """The nodes that an uncovered possibly directed walk from x over `first` leads to."""
    steps = possible_steps(marks)
    seen, waiting = {(x, first)}, deque([(x, first)])
    while waiting:
        u, v = waiting.popleft()
        for w in np.flatnonzero(steps[v] & (marks[u] == Mark.NONE)).tolist():
            if w not in (x, u) and (v, w) not in seen:
                seen.add((v, w))
                waiting.append((v, w))
    ends = np.zeros(len(marks), bool)
    ends[[v for _, v in seen]] = True
    return ends


def possibly_directed_path(pag: PAG, a: Node, b: Node) -> tuple[str, ...]:
    """The names along a shortest possibly directed path from a to b; empty if there is none.

    >>> possibly_directed_path(PAG.from_string("A o-> B; B o-o C; D <-> C"), "A", "C")
    ('A', 'B', 'C')
    """
    steps = possible_steps(pag.marks)
    path = shortest_path(rows_as_sets(steps), 1 << pag.index(a), 1 << pag.index(b))
    return tuple(pag.names[v] for v in path)


def shortest_path(steps: tuple[NodeSet, ...], sources: NodeSet, targets: NodeSet) -> tuple[int, ...]:
    """The nodes along a shortest chain of steps from a source to a target that meets no other source; empty if none."""
    before: dict[int, int] = dict.fromkeys(members(sources), -1)
    waiting = deque(before)
    while waiting:
        v = waiting.popleft()
        for w in members(steps[v]):
            if w in before:
                continue
            before[w] = v
            if targets >> w & 1:
                return _traced(before, w)
            waiting.append(w)
    return ()


def _traced(before: dict[int, int], end: int) -> tuple[int, ...]:
    path = [end]
    while before[path[-1]] >= 0:
        path.append(before[path[-1]])
    return tuple(path[::-1])
