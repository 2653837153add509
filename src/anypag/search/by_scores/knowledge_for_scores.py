"""What is known beforehand, as searches by scores need it: tiers for orders, states for pairs, graphs that agree.

A chain walks over graphs that agree with what is known, so it must start at one. It is made of the edges that are
needed (a cause is joined to what it causes, or a way leads there), and of as many edges of a graph at hand as agree.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from anypag.graphs.base import Marks, ancestry, transitive
from anypag.graphs.marks import Mark
from anypag.knowledge.facts import Facts
from anypag.search.by_scores.orders import Order

Ends = tuple[int, int]
"""The marks at j and at i of an edge i–j."""

FORTH, BACK, BOTH, FLAT = (2, 3), (3, 2), (2, 2), (3, 3)
_NUMBER = {FORTH: 1, BACK: 2, BOTH: 3, FLAT: 4}


def tiers_of(facts: Facts) -> Order:
    """(n,) a tier for each node: none of a later one can be a cause of one in an earlier one. As many as there can be.

    >>> facts = Facts.none(3, selection=False)
    >>> facts.not_causes[2, [0, 1]] = True
    >>> tiers_of(facts).tolist()
    [0, 0, 1]
    """
    n = len(facts.not_causes)
    may_cause = transitive(~facts.not_causes & ~np.eye(n, dtype=np.bool_)) | np.eye(n, dtype=np.bool_)
    together = may_cause & may_cause.T
    first_of = np.argmax(together, axis=1)  # each group by its first member
    above = (may_cause & ~together).sum(axis=0)  # more nodes lead to a later group, and as many to all of a group
    ranked = sorted({(int(above[v]), int(first_of[v])) for v in range(n)})
    place = {group: k for k, (_, group) in enumerate(ranked)}
    return np.array([place[int(group)] for group in first_of], np.int64)


def nothing_hidden(facts: Facts) -> Facts:
    """The facts for a search that assumes no selection."""
    return replace(facts, not_selecting=np.ones_like(facts.not_selecting), selection=False)


def allowed_states(facts: Facts) -> Marks:
    """(n, n) bit s of [i, j]: the pair may have state s (0 no edge, 1 `-->`, 2 `<--`, 3 `<->`, 4 `---`)."""
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


def needs_mags(facts: Facts) -> bool:
    """Do the facts speak of edges that only a MAG shows? In other diagrams hidden causes join more than they say."""
    return bool(facts.not_joined.any() or (facts.unconfounded.any() and not facts.selection))


def agreeing(marks: Marks, facts: Facts, *, hidden: bool) -> Marks | None:
    """A graph with the edges that are needed and as many of these as agree; None if none was found.

    Args:
        marks: of a graph without directed cycles.
        facts: what is known.
        hidden: may there be `<->` and `---`?
    """
    allowed = allowed_states(facts)
    others = replace(facts, causes=np.zeros_like(facts.causes))  # causes may become some by edges that come later
    found = _with_causes(_with_edges(np.zeros_like(marks), marks, others, allowed, hidden=hidden), facts, allowed)
    if found is None or not agrees(found, facts):
        least = _with_causes(np.zeros_like(marks), facts, allowed)
        found = None if least is None else _with_edges(least, marks, facts, allowed, hidden=hidden)
    return found if found is not None and agrees(found, facts) else None


def _with_edges(found: Marks, marks: Marks, facts: Facts, allowed: Marks, *, hidden: bool) -> Marks:
    """With as many edges more as agree: those that are known to be there, and those of a graph."""
    for i, j in _pairs(marks, facts):
        if found[i, j] == Mark.NONE:
            found = _joined(found, (i, j), _tried((int(marks[i, j]), int(marks[j, i])), hidden=hidden), facts, allowed)
    return found


def _joined(marks: Marks, pair: tuple[int, int], states: list[Ends], facts: Facts, allowed: Marks) -> Marks:
    """With the pair joined in the first of these states that agrees; as it was if none does."""
    for state in states:
        trial = _with(marks, *pair, state)
        if allowed[pair] >> _NUMBER[state] & 1 and is_diagram(trial) and facts.disagreement(trial) is None:
            return trial
    return marks


def agrees(marks: Marks, facts: Facts) -> bool:
    """Does a graph (a MAG, or a diagram as chains walk over) agree with what is known?"""
    return is_diagram(marks) and facts.agree_with(marks)


def _with_causes(marks: Marks, facts: Facts, allowed: Marks) -> Marks | None:
    """With edges that make causes of those that are known to be; None where no way was found."""
    between = facts.causes & ~(facts.causes.astype(np.uint8) @ facts.causes.astype(np.uint8) > 0)
    for a, b in np.argwhere(between).tolist():
        if ancestry(marks)[a, b]:
            continue
        way = _way(a, b, facts, allowed)
        if way is None:
            return None
        for i, j in pairwise(way):
            marks = _with(marks, i, j, FORTH)
    return marks


def _way(a: int, b: int, facts: Facts, allowed: Marks) -> list[int] | None:
    """The shortest way from a to b of arrows that may be there."""
    before = {a: -1}
    waiting = deque([a])
    while waiting and b not in before:
        v = waiting.popleft()
        for w in np.flatnonzero((allowed[v] >> 1) & 1).tolist():
            if w not in before and not facts.not_causes[a, w] and not facts.not_causes[w, b]:
                before[w] = v
                waiting.append(w)
    if b not in before:
        return None
    way = [b]
    while way[-1] != a:
        way.append(before[way[-1]])
    return way[::-1]


def _pairs(marks: Marks, facts: Facts) -> Iterator[tuple[int, int]]:
    """Pairs that are known to be joined, then those joined here."""
    for table in (facts.joined, (marks != Mark.NONE) & ~facts.joined):
        yield from ((int(i), int(j)) for i, j in np.argwhere(np.triu(table, 1)))


def _tried(own: Ends, *, hidden: bool) -> list[Ends]:
    """The state that a pair has, then the others; `<->` and `---` only where something may be hidden.

    Arrows come first: large groups of nodes joined by `<->` cannot be scored.
    """
    states = [FORTH, BACK, BOTH, FLAT] if hidden else [FORTH, BACK]
    return sorted(states, key=lambda state: state != own)


def is_diagram(marks: Marks) -> bool:
    """No directed cycle, and no arrowhead at an end of `---`."""
    arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
    return not bool(np.diag(ancestry(marks)).any()) and not bool(
        ((tail & tail.T).any(axis=1) & arrow.any(axis=0)).any()
    )


def _with(marks: Marks, i: int, j: int, state: Ends) -> Marks:
    changed = marks.copy()
    changed[i, j], changed[j, i] = state
    return changed
