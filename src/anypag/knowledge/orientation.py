"""Orientation with knowledge: the marks that were said stand first; then the rules, those that need knowledge too."""

from __future__ import annotations

import numpy as np

from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Colliders, Known, Orientation, Rows, orient
from anypag.graphs.rules import KNOWN, rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.knowledge.facts import Facts


def orient_with_knowledge(
    given: Marks, colliders: Colliders, facts: Facts, skeleton: Skeleton, *, final: bool = False
) -> Orientation:
    """Orient all that the rules find.

    Args:
        given: (n, n) the skeleton: circles, and whatever marks are given beside what is known.
        colliders: answers R0 and R4.
        facts: what is known.
        skeleton: the edges as lists.
        final: are all edges known to be right?
    """
    start = seeded(given, facts)
    rules = rules_after_0(selection=not bool(facts.not_selecting.all()), knowledge=True, final=final)
    found = orient(start, colliders, rules, skeleton, known_of(facts))
    return found._replace(log=np.concatenate([_known_rows(given, start), found.log]))


def seeded(given: Marks, facts: Facts) -> Marks:
    """The marks with those that are known at their circles."""
    return np.where(given == Mark.CIRCLE, facts.seeds(given), given).astype(np.uint8)


def known_of(facts: Facts) -> Known:
    """What the rules look up. Selection can look like a hidden common cause, so that there is none helps without it."""
    return Known(facts.not_causes, facts.unconfounded & (not facts.selection))


def _known_rows(given: Marks, start: Marks) -> Rows:
    """A row for each mark that is known."""
    i, j = np.nonzero(start != given)
    none = np.full(len(i), -1)
    return np.column_stack([np.full(len(i), KNOWN), i, j, start[i, j], none, none]).astype(np.int32)
