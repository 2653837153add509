"""A valid MAG near a PAG that is the PAG of nothing: what a search by tests on finite data may leave behind."""

from __future__ import annotations

import numpy as np

from anypag.arrays import Flags, Floats
from anypag.graphs.base import Marks, ancestry
from anypag.graphs.marks import Mark


def near_mag(pag: Marks, strength: Floats) -> Marks:
    """A maximal ancestral graph with the edges of a PAG, as many of its marks as possible, and few edges more.

    Args:
        pag: (n, n) marks, of a valid PAG or not.
        strength: (n, n) how sure an edge is: edges come in by strength, the strongest first.

    Each edge gets the state that differs least from the PAG's marks (a circle fits a tail, then an arrowhead) among
    those that keep the graph ancestral; then edges are added where an inducing path would make it not maximal.
    """
    n = len(pag)
    marks = np.zeros((n, n), np.uint8)
    for i, j in _strongest_first(pag, strength):
        for state in _nearest_states(pag, i, j):
            trial = marks.copy()
            trial[i, j], trial[j, i] = state
            if is_ancestral(trial):
                marks = trial
                break
    return with_inducing_edges(marks)


def _strongest_first(pag: Marks, strength: Floats) -> list[tuple[int, int]]:
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(pag != 0, 1))]
    return sorted(pairs, key=lambda pair: (-strength[pair], pair))


def _nearest_states(pag: Marks, i: int, j: int) -> list[tuple[int, int]]:
    """(mark at j, mark at i), those that fit the PAG's marks best first."""
    states = [(Mark.ARROW, Mark.TAIL), (Mark.TAIL, Mark.ARROW), (Mark.ARROW, Mark.ARROW), (Mark.TAIL, Mark.TAIL)]

    def misfit(state: tuple[int, int]) -> float:
        wanted = (int(pag[i, j]), int(pag[j, i]))
        wrong = sum(want not in (Mark.CIRCLE, have) for want, have in zip(wanted, state, strict=True))
        unusual = {(2, 3): 0.0, (3, 2): 0.0, (2, 2): 0.1, (3, 3): 0.2}[state]
        return wrong + unusual

    return sorted(states, key=misfit)


def ancestors(marks: Marks) -> Flags:
    """(n, n): is i an ancestor of j, or j itself?"""
    return np.asarray(ancestry(marks) | np.eye(len(marks), dtype=np.bool_))


def is_ancestral(marks: Marks) -> bool:
    """No node is an ancestor of itself or of a spouse, and no arrowhead points at an end of `---`."""
    above = ancestors(marks)
    arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
    into_ancestor = bool((arrow & above.T).any())  # i *-> j with j an ancestor of i: a cycle, or an almost directed one
    pointed_at = arrow.any(axis=0)
    return not into_ancestor and not bool(((tail & tail.T).any(axis=1) & pointed_at).any())


def with_inducing_edges(marks: Marks) -> Marks:
    """The maximal graph with the same independences: an edge wherever an inducing path joins two nodes without one."""
    above = ancestors(marks)
    filled = marks.copy()
    for i, j in np.argwhere(np.triu(marks == 0, 1)):
        if _has_inducing_path(marks, above, int(i), int(j)):
            filled[i, j] = Mark.TAIL if above[j, i] else Mark.ARROW
            filled[j, i] = Mark.TAIL if above[i, j] else Mark.ARROW
    return filled


def _has_inducing_path(marks: Marks, above: Flags, i: int, j: int) -> bool:
    """Colliders that are ancestors of i or j, all the way from i to j?"""
    arrow = marks == Mark.ARROW
    inner = above[:, i] | above[:, j]
    inner[[i, j]] = False
    reached = arrow[i] & inner
    while True:
        further = reached | (((arrow & arrow.T)[reached].any(axis=0)) & inner)
        if (further == reached).all():
            break
        reached = further
    return bool((arrow[j] & reached).any())
