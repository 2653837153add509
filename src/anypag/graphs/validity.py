"""Is a PAG valid, that is, the PAG of some MAG? Finds a member of its class, or the reason why there is none.

A PAG learned from finite data can contradict itself. It is valid if it is the PAG of some MAG. One such MAG is then
easy to construct (Zhang 2008, Theorem 2). Every `o->` and `--o` becomes `-->`, and the `o-o` edges become a directed
acyclic graph without new unshielded colliders. The latter is possible exactly if the `o-o` edges form chordal graphs.
So a PAG is valid exactly if this construction gives a MAG whose PAG is the one we started with.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anypag.arrays import Flags
from anypag.errors import NotMaximalOrAncestralError
from anypag.graphs.base import Marks, shortest_path
from anypag.graphs.marks import Mark
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import pag_of_mag
from anypag.graphs.text import quote


@dataclass(frozen=True)
class Validity:
    """The verdict on a PAG: is it valid, that is, the PAG of some MAG? `bool()` gives the answer.

    `reason` is a sentence that says why not (empty if valid). `path` names the nodes of an offending path or cycle, or
    of the edge with the wrong mark. `mag` is the MAG that was tried (None if there is none); `pag` is its PAG.
    """

    valid: bool
    reason: str = ""
    path: tuple[str, ...] = ()
    mag: MAG | None = None
    pag: PAG | None = None

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        return "valid" if self.valid else f"not valid: {self.reason}"


def validate(pag: PAG) -> Validity:
    """Is this the PAG of some MAG, and if not, why not?

    >>> print(validate(PAG.from_string("A o-> B; B <-o C")))
    valid
    >>> print(validate(PAG.from_string("A o-> B; B <-o C; B o-> D")))
    not valid: the mark at B on B o-> D must be a tail: all MAGs with these independences have B --> D.
    """
    marks, cycle = completed(pag.marks)
    if cycle:
        path = tuple(pag.names[i] for i in cycle)
        text = " o-o ".join(map(quote, path))
        return Validity(False, f"in a PAG a cycle of four or more o-o edges has an o-o chord; {text} has none.", path)
    mag = MAG.trusted(marks, pag.names)
    try:
        mag.check()
    except NotMaximalOrAncestralError as error:
        return Validity(False, f"no MAG fits. The closest graph fails: {error}", error.path)
    truth = pag_of_mag(mag)
    wrong = np.argwhere(truth.marks != pag.marks)
    if not len(wrong):
        return Validity(True, mag=mag, pag=truth)
    i, j = (int(k) for k in wrong[0])
    return Validity(False, _wrong_mark(pag, truth, i, j), (pag.names[i], pag.names[j]), mag, truth)


def _wrong_mark(pag: PAG, truth: PAG, i: int, j: int) -> str:
    here, there = pag.edge(j, i), truth.edge(j, i)
    assert here is not None
    assert there is not None
    place = f"the mark at {quote(here.a)} on {here}"
    if there.mark_a == Mark.CIRCLE:
        return f"{place} must be a circle: MAGs with these independences differ there."
    kind = "a tail" if there.mark_a == Mark.TAIL else "an arrowhead"
    return f"{place} must be {kind}: all MAGs with these independences have {there}."


def completed(marks: Marks) -> tuple[Marks, list[int]]:
    """The marks of a member, if the class has one, and the nodes of a chordless cycle of `o-o` edges; [] for none."""
    completed = np.array(marks)
    circle, arrow, tail = (marks == mark.value for mark in (Mark.CIRCLE, Mark.ARROW, Mark.TAIL))
    completed[circle & arrow.T] = Mark.TAIL
    completed[circle & tail.T] = Mark.ARROW
    undecided = circle & circle.T
    rank = np.zeros(len(marks), np.int64)
    nodes = np.flatnonzero(undecided.any(axis=1))
    rank[nodes[_maximum_cardinality_order(undecided[np.ix_(nodes, nodes)])]] = np.arange(len(nodes))
    earlier = rank[:, None] < rank[None, :]
    completed[undecided & earlier] = Mark.ARROW
    completed[undecided & ~earlier] = Mark.TAIL
    taken_before = undecided & earlier.T
    is_chordal = all(
        undecided[np.ix_(parents, parents)].sum() == len(parents) * (len(parents) - 1)
        for parents in map(np.flatnonzero, taken_before[taken_before.sum(axis=1) > 1])
    )
    return completed, [] if is_chordal else _chordless_cycle(undecided)


def _maximum_cardinality_order(adjacent: Flags) -> list[int]:
    """The nodes in an order in which each next node has the most neighbours among the nodes before it."""
    n_taken = np.zeros(len(adjacent), np.int64)
    order: list[int] = []
    for _ in range(len(adjacent)):
        node = int(np.argmax(n_taken))
        order.append(node)
        n_taken += adjacent[node]
        n_taken[node] = -len(adjacent) - 1
    return order


def _chordless_cycle(adjacent: Flags) -> list[int]:
    """A cycle of four or more nodes without a chord, the first node repeated at the end. One must exist."""
    for node in range(len(adjacent)):
        for a, b in combinations(np.flatnonzero(adjacent[node]).tolist(), 2):
            outside = ~adjacent[node]  # the path from b to a avoids `node` and all its neighbours except a and b
            outside[[a, b, node]] = True, True, False
            way = [] if adjacent[a, b] else shortest_path(adjacent & outside, a, b)[::-1]
            if way:
                return [node, *way, node]
    raise AssertionError("a graph that is not chordal has a chordless cycle")
