"""Graphs from which searches by scores start: graphs that agree with knowledge, and valid MAGs near an invalid graph.

Knowledge gives each node a tier, and each pair the edges that it may have. A chain walks over graphs that agree with
knowledge, so it must start at such a graph. The start has the edges that knowledge requires (a directed path from each
required cause), and as many edges of a given graph as knowledge allows. On finite data a search by tests may end with
an invalid PAG. Then `near_mag` gives a valid MAG near it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from anypag.arrays import Floats
from anypag.graphs.base import Marks, ancestry, shortest_path, transitive
from anypag.graphs.marks import Mark
from anypag.graphs.projection import mag_of_diagram
from anypag.knowledge.facts import Facts
from anypag.search.by_scores.orders import Order

Ends = tuple[int, int]  # the marks at j and at i of an edge i–j

EDGE_ENDS = FORTH, BACK, BOTH, FLAT = (2, 3), (3, 2), (2, 2), (3, 3)  # states 1 to 4 of `allowed_states`


def tiers_of(facts: Facts) -> Order:
    """(n,) the tier of each node: no node is a cause of a node in an earlier tier. There are as many tiers as possible.

    >>> facts = Facts.none(3, selection=False)
    >>> facts.not_causes[2, [0, 1]] = True
    >>> tiers_of(facts).tolist()
    [0, 0, 1]
    """
    n = len(facts.not_causes)
    may_cause = transitive(~facts.not_causes & ~np.eye(n, dtype=np.bool_)) | np.eye(n, dtype=np.bool_)
    together = may_cause & may_cause.T
    first_of = np.argmax(together, axis=1)  # each group is represented by its first member
    above = (may_cause & ~together).sum(axis=0)  # larger for later groups, equal within a group
    ranked = sorted({(int(above[v]), int(first_of[v])) for v in range(n)})
    place = {group: k for k, (_, group) in enumerate(ranked)}
    return np.array([place[int(group)] for group in first_of], np.int64)


def without_selection(facts: Facts) -> Facts:
    """The facts with no selection, for a search that scores DAGs."""
    return replace(facts, not_selecting=np.ones_like(facts.not_selecting), selection=False)


def allowed_states(facts: Facts) -> Marks:
    """(n, n) bit s of [i, j] is set if the pair may have state s (0 no edge, 1 `-->`, 2 `<--`, 3 `<->`, 4 `---`)."""
    may_select = ~facts.not_selecting
    may_be = (
        ~facts.joined,
        ~facts.not_anterior,
        ~facts.not_anterior.T,
        ~facts.unconfounded | facts.selection,
        may_select[:, None] & may_select,
    )
    bits = sum(table.astype(np.uint8) << k for k, table in enumerate(may_be))
    return np.where(facts.not_joined, bits & 1, bits).astype(np.uint8)


def with_design(marks: Marks, facts: Facts) -> Marks:
    """The graph with `<->` between every two nodes of `facts.design`."""
    between = np.logical_and.outer(facts.design, facts.design) & ~np.eye(len(marks), dtype=np.bool_)
    return np.where(between, np.uint8(Mark.ARROW), marks)


def needs_mags(facts: Facts) -> bool:
    """Do the facts exclude edges or hidden common causes of pairs, so that a chain must walk over MAGs? A path diagram
    may lack an edge or a `<->` that its MAG has. Only contexts have no such `<->`, because nothing acts on contexts.
    """
    others = ~facts.design
    return bool(facts.not_joined.any() or (facts.unconfounded[np.ix_(others, others)].any() and not facts.selection))


def agreeing(marks: Marks, facts: Facts, *, hidden: bool) -> Marks | None:
    """A graph that agrees with `facts` and keeps edges of `marks`, or None if none was found. With `hidden`, any two
    nodes may be joined by `<->` or `---`; without it, only contexts may, and only by `<->`.
    """
    allowed = allowed_states(facts)
    others = replace(facts, causes=np.zeros_like(facts.causes))  # required causes may follow from edges added later
    found = _with_causes(_with_edges(np.zeros_like(marks), marks, others, allowed, hidden=hidden), facts, allowed)
    if found is None or not agrees(found, facts):
        least = _with_causes(np.zeros_like(marks), facts, allowed)
        found = None if least is None else _with_edges(least, marks, facts, allowed, hidden=hidden)
    return found if found is not None and agrees(found, facts) else None


def _with_edges(found: Marks, marks: Marks, facts: Facts, allowed: Marks, *, hidden: bool) -> Marks:
    """The graph with further edges that agree: first edges known to exist, then edges of the graph `marks`. A pair gets
    its state in `marks` if that agrees. If not, `-->` is tried before `<->`: many nodes linked by `<->` have no score.
    """
    tables = facts.joined, (marks != Mark.NONE) & ~facts.joined
    for i, j in (pair for table in tables for pair in np.argwhere(np.triu(table, 1)).tolist()):
        if found[i, j] == Mark.NONE:
            states = EDGE_ENDS if hidden or (facts.design[i] and facts.design[j]) else (FORTH, BACK)
            own_first = sorted(states, key=lambda state: state != (marks[i, j], marks[j, i]))
            found = _joined(found, (i, j), own_first, facts, allowed)
    return found


def _joined(marks: Marks, pair: tuple[int, int], states: list[Ends], facts: Facts, allowed: Marks) -> Marks:
    """The graph with the pair in the first of these states that agrees; unchanged if none does."""
    for state in states:
        trial = _with(marks, *pair, state)
        is_allowed = allowed[pair] >> (1 + EDGE_ENDS.index(state)) & 1
        if is_allowed and is_diagram(trial) and facts.disagreement(trial) is None:
            return trial
    return marks


def agrees(marks: Marks, facts: Facts) -> bool:
    """Does a graph (a MAG or a path diagram) agree with the facts?"""
    return is_diagram(marks) and facts.agree_with(marks)


def _with_causes(marks: Marks, facts: Facts, allowed: Marks) -> Marks | None:
    """The graph with a directed path from each required cause to its effect; None if some path was not found."""
    between = facts.causes & ~(facts.causes.astype(np.uint8) @ facts.causes.astype(np.uint8) > 0)
    for a, b in np.argwhere(between).tolist():
        if ancestry(marks)[a, b]:
            continue
        is_between = ~facts.not_causes[a] & ~facts.not_causes[:, b]
        way = shortest_path(((allowed >> 1) & 1).astype(np.bool_) & is_between, a, b)
        if not way:
            return None
        for i, j in pairwise(way):
            marks = _with(marks, i, j, FORTH)
    return marks


def is_diagram(marks: Marks) -> bool:
    """Is the graph a path diagram: without a directed cycle, and without an arrowhead at an end of `---`?"""
    return not bool(np.diag(ancestry(marks)).any()) and not _points_at_undirected(marks)


def _points_at_undirected(marks: Marks) -> bool:
    arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
    return bool(((tail & tail.T).any(axis=1) & arrow.any(axis=0)).any())


def _with(marks: Marks, i: int, j: int, state: Ends) -> Marks:
    changed = marks.copy()
    changed[i, j], changed[j, i] = state
    return changed


def near_mag(pag: Marks, strength: Floats) -> Marks:
    """A maximal ancestral graph with the edges of a PAG, as many of its marks as possible, and few extra edges.

    Edges get their states one by one, those of the greatest `strength` first. An edge gets the state that keeps the
    graph ancestral and differs least from the PAG's marks. A circle fits every mark. Of several such states, a directed
    edge is preferred. Last, nodes with an inducing path between them are joined, because the graph must be maximal.
    """
    n = len(pag)
    marks = np.zeros((n, n), np.uint8)
    pairs = [(i, j) for i, j in np.argwhere(np.triu(pag != 0, 1)).tolist()]
    for i, j in sorted(pairs, key=lambda pair: (-strength[pair], pair)):
        for state in _nearest_states(pag, i, j):
            trial = _with(marks, i, j, state)
            if is_ancestral(trial):
                marks = trial
                break
    return mag_of_diagram(marks)


def _nearest_states(pag: Marks, i: int, j: int) -> list[Ends]:
    """The possible states of an edge; those that fit the PAG's marks best come first."""

    def misfit(state: Ends) -> int:
        return sum(want not in (Mark.CIRCLE, have) for want, have in zip((pag[i, j], pag[j, i]), state, strict=True))

    return sorted(EDGE_ENDS, key=misfit)


def is_ancestral(marks: Marks) -> bool:
    """Is the graph ancestral? (No node is an ancestor of itself or of a spouse; no arrowhead is at an end of `---`.)"""
    into_ancestor = (marks == Mark.ARROW) & ancestry(marks).T  # i *-> j -> .. -> i: an (almost) directed cycle
    return not into_ancestor.any() and not _points_at_undirected(marks)
