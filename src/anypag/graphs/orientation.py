"""Orientation: from a skeleton and what is known of its colliders to all marks that follow (R0–R10).

The rules themselves are in `anypag._kernels.rules`, one function each. Here they are run to a fixed point: always the
first rule that still has something to say. Two of them ask about more than marks: R0 whether an unshielded triple is a
collider, R4 whether the node a path discriminates is one. Whoever knows (`Colliders`) answers: separating sets during
a search, the MAG itself when the truth is known.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from anypag._kernels import rules as kernel
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.skeleton import Skeleton

Rows = npt.NDArray[np.int32]
"""Mark by mark, (k, 6): rule, i, j, mark, and two nodes that say why; the mark stands at j on the edge i–j."""

Paths = npt.NDArray[np.int32]
"""Discriminating paths, (k, longest): D, ..., A, B, C, then -1."""

WITHOUT_SELECTION = (1, 2, 3, 4, 8, 9, 10)
ALL_RULES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)

_LOCAL_RULES = {
    1: kernel.rule_1,
    2: kernel.rule_2,
    3: kernel.rule_3,
    5: kernel.rule_5,
    6: kernel.rule_6,
    7: kernel.rule_7,
    8: kernel.rule_8,
    9: kernel.rule_9,
    10: kernel.rule_10,
}


class Colliders(Protocol):
    """Who knows where the colliders are."""

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: Rows) -> int:
        """R0: propose the arrowheads of unshielded colliders (as the rules in `_kernels.rules` do)."""
        ...

    def decide(self, paths: Paths) -> tuple[Paths, npt.NDArray[np.bool_]]:
        """R4: those of the paths that can be decided, and for each whether B separates D and C (is no collider)."""
        ...


class Orientation(NamedTuple):
    """Marks, and how they came about."""

    marks: Marks
    log: Rows
    """One row for each mark set, in the order they were set."""
    conflicts: Rows
    """One row for each mark a rule wanted where another already stood, or where two disagreed at once."""


def orient(
    known: Marks, colliders: Colliders, rules: tuple[int, ...] = ALL_RULES, skeleton: Skeleton | None = None
) -> Orientation:
    """Orient all that follows.

    Args:
        known: (n, n) the skeleton: circles, and whatever marks are known beforehand; these are never changed.
        colliders: answers R0 and R4.
        rules: which of R1–R10 to run (`WITHOUT_SELECTION` leaves R5–R7 out).
        skeleton: the edges as lists, if they are at hand.
    """
    pass_ = _Pass(known, Skeleton.of(known) if skeleton is None else skeleton)
    pass_.apply(0, colliders.propose(pass_.marks, pass_.skeleton, pass_.wanted, pass_.rows))
    waiting = list(rules)
    while waiting:
        rule = waiting.pop(0)
        if pass_.apply(rule, _proposals(rule, pass_, colliders)):
            waiting = list(rules)
    return pass_.result()


def _proposals(rule: int, state: _Pass, colliders: Colliders) -> int:
    marks, skeleton = state.marks, state.skeleton
    if rule != 4:
        return int(_LOCAL_RULES[rule](marks, skeleton.start, skeleton.neighbour, state.wanted, state.rows))
    paths, is_in_set = colliders.decide(kernel.discriminating_paths(marks, skeleton.start, skeleton.neighbour))
    return int(kernel.rule_4(marks, paths, is_in_set, state.wanted, state.rows))


class _Pass:
    """The marks while rules run, with the scratch space rules propose into."""

    def __init__(self, known: Marks, skeleton: Skeleton) -> None:
        self.marks = np.array(known, order="C")
        self.skeleton = skeleton
        self.wanted = np.zeros_like(self.marks)
        self.disputed = np.zeros_like(self.marks)
        self.rows = np.empty((2 * len(self.skeleton.neighbour), 5), np.int32)
        self.log: list[Rows] = []
        self.conflicts: list[Rows] = []

    def apply(self, rule: int, count: int) -> bool:
        """Set what rule proposed; did anything change?"""
        if count == 0:
            return False
        was_set, conflicts = kernel.apply(self.marks, self.wanted, self.rows, count, self.disputed)
        self.log.append(_numbered(rule, was_set))
        self.conflicts.append(_numbered(rule, conflicts))
        return len(was_set) > 0

    def result(self) -> Orientation:
        none = np.empty((0, 6), np.int32)
        return Orientation(self.marks, np.concatenate([none, *self.log]), np.concatenate([none, *self.conflicts]))


def _numbered(rule: int, rows: Rows) -> Rows:
    return np.hstack([np.full((len(rows), 1), rule, np.int32), rows])


def as_circles(marks: Marks) -> Marks:
    """The skeleton, all marks circles."""
    return np.asarray(marks != Mark.NONE, np.uint8)
