"""All marks that follow from a PAG and knowledge: by the rules, then exactly, by a search for members of its class.

Orientation first sets the marks that statements give, then runs all rules. No known set of rules finds everything that
knowledge implies. The exact closure uses the definition: a circle stays only if one MAG of the class that agrees with
all statements has a tail there, and another has an arrowhead. To find a member, the search sets a mark, applies the
rules, and fills in the other circles. If the result is no such member, the search sets one more mark. A member has a
tail or an arrowhead in place of every circle, so each found member shows one possible mark at every circle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anypag.arrays import Flags
from anypag.errors import NotMaximalOrAncestralError
from anypag.graphs.base import Marks, ancestry, transitive
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Colliders, KnownCauses, LogRows, Orientation, Paths, as_circles, orient
from anypag.graphs.pag import MAG
from anypag.graphs.projection import CollidersOf, pag_of_mag
from anypag.graphs.rules import KNOWN, rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.graphs.validity import completed
from anypag.knowledge.facts import Facts
from anypag.threads import Look, do_nothing

MOST_TRIALS = 20_000  # after this many tried marks the closure is left unfinished; a few seconds on small graphs


def orient_with_knowledge(
    given: Marks,
    colliders: Colliders,
    facts: Facts,
    skeleton: Skeleton,
    *,
    final: bool = False,
    look: Look = do_nothing,
) -> Orientation:
    """The marks that the rules find from a skeleton and knowledge. `given` (n, n) has circles, and marks from other
    sources than knowledge. `final`: are all edges known to be right?
    """
    start = seeded(given, facts, final=final)
    rules = rules_after_0(selection=not bool(facts.not_selecting.all()), knowledge=True, final=final)
    found = orient(start, colliders, rules, skeleton, known_of(facts), look)
    return found._replace(log=np.concatenate([new_rows(KNOWN, given, start), found.log]))


def new_rows(rule: int, before: Marks, after: Marks) -> LogRows:
    i, j = np.nonzero((after != before) & (after > Mark.CIRCLE))
    none = np.full(len(i), -1)
    return np.column_stack([np.full(len(i), rule), i, j, after[i, j], none, none]).astype(np.int32)


def seeded(given: Marks, facts: Facts, *, final: bool = False) -> Marks:
    return np.where(given == Mark.CIRCLE, facts.seeds(given, final=final), given).astype(np.uint8)


def known_of(facts: Facts) -> KnownCauses:
    """The tables for rules. With selection no pair counts as unconfounded: selection can look like a hidden cause."""
    return KnownCauses(facts.not_causes, facts.unconfounded & (not facts.selection))


class Closure(NamedTuple):
    """The marks that follow, and how much of the search was done."""

    marks: Marks  # the marks, including all that are proved to follow
    is_open: Flags  # (n, n) circles that were not decided before the search ended
    agrees: bool | None  # whether a member of the class agrees with knowledge; None if not decided

    @property
    def finished(self) -> bool:
        """Did the search decide every circle?"""
        return self.agrees is not None and not bool(self.is_open.any())


def class_with_knowledge(mag: Marks, facts: Facts, pag: Marks | None = None) -> Marks:
    """(n, n) the marks of the PAG of a MAG, and those that the rules add by knowledge. `pag`: this PAG, if known."""
    start = as_circles(mag) if pag is None else pag
    return orient_with_knowledge(start, SeparationsOf(mag), facts, Skeleton.of(mag), final=True).marks


class SeparationsOf(CollidersOf):
    """The colliders of a class of MAGs, from one member. A path D, ..., A, B, C that discriminates B in another member
    need not discriminate B here, but all members have the same separations. The ends D and C are separated by their
    anteriors: the nodes from which a path of `-->` and `---` leads to D or C. So B is no collider if it is an anterior.
    """

    def __init__(self, mag: Marks) -> None:
        super().__init__(mag)
        self._anterior = transitive((mag != Mark.NONE) & (mag.T == Mark.TAIL))

    def decide(self, paths: Paths) -> tuple[Paths, Flags]:
        every, length = np.arange(len(paths)), (paths >= 0).sum(axis=1)
        b, c, d = paths[every, length - 2], paths[every, length - 1], paths[:, 0]
        return paths, self._anterior[b, c] | self._anterior[b, d]


def close(pag: Marks, mag: Marks, facts: Facts, most_trials: int = MOST_TRIALS, look: Look = do_nothing) -> Closure:
    """All marks that follow from facts and a valid PAG without knowledge; `mag` is any member of its class."""
    search = _MemberSearch(pag, mag, facts, most_trials, look)
    start = search.follow(seeded(pag, facts))
    try:
        if start is None or search.member(start) is None:
            return Closure(pag, np.zeros_like(pag, np.bool_), agrees=False)
    except _SpentError:
        return Closure(start if start is not None else pag, pag == Mark.CIRCLE, agrees=None)
    return _settled(search, start)


def _settled(search: _MemberSearch, marks: Marks) -> Closure:
    """The closure. Circles are decided one by one, as long as trials are left."""
    try:
        for i, j in np.argwhere(marks == Mark.CIRCLE).tolist():
            for mark, other in ((Mark.ARROW, Mark.TAIL), (Mark.TAIL, Mark.ARROW)):
                if marks[i, j] != Mark.CIRCLE or search.seen[i, j] & 1 << mark:
                    continue
                if search.member(_with(marks, i, j, mark)) is None:
                    followed = search.follow(_with(marks, i, j, other))
                    assert followed is not None, "some member agrees"
                    marks = followed
    except _SpentError:
        both = 1 << Mark.ARROW | 1 << Mark.TAIL
        return Closure(marks, (marks == Mark.CIRCLE) & (search.seen != both), agrees=True)
    return Closure(marks, np.zeros_like(marks, np.bool_), agrees=True)


class _SpentError(Exception):
    """No trials are left."""


@dataclass
class _MemberSearch:
    """The search for members of a class that agree with knowledge."""

    pag: Marks
    mag: Marks
    facts: Facts
    trials_left: int
    look: Look

    def __post_init__(self) -> None:
        self.seen = np.zeros_like(self.pag)  # (n, n) the marks that some found member has, as bits
        self._skeleton, self._colliders = Skeleton.of(self.pag), SeparationsOf(self.mag)
        selection = not bool(self.facts.not_selecting.all())
        self._rules = rules_after_0(selection=selection, knowledge=True, final=True)

    def follow(self, marks: Marks) -> Marks | None:
        """The marks that follow by the rules; None if they contradict each other or knowledge."""
        self.look()
        found = orient(marks, self._colliders, self._rules, self._skeleton, known_of(self.facts), self.look)
        return found.marks if not len(found.conflicts) and self._is_possible(found.marks) else None

    def member(self, marks: Marks) -> Marks | None:
        """A member of the class with these marks that agrees with knowledge, or None."""
        self.trials_left -= 1
        if self.trials_left < 0:
            raise _SpentError
        followed = self.follow(marks)
        if followed is None:
            return None
        guess, _ = completed(followed)
        offending = self._offending(guess)
        if offending is None:
            self.seen |= np.left_shift(1, guess).astype(np.uint8)
            return guess
        circles = np.argwhere(followed == Mark.CIRCLE)
        if not len(circles):
            return None
        # a circle on an edge between two offending nodes, else on an edge of one such node, else any circle
        i, j = circles[np.isin(circles, offending).sum(axis=1).argmax()].tolist()
        tried, other = (Mark.ARROW, Mark.TAIL) if guess[i, j] == Mark.TAIL else (Mark.TAIL, Mark.ARROW)
        found = self.member(_with(followed, i, j, tried))
        return self.member(_with(followed, i, j, other)) if found is None else found

    def _is_possible(self, marks: Marks) -> bool:
        """Are the marks so far consistent with each other and with knowledge?"""
        arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
        has_arrow = arrow.any(axis=0)
        is_sure = has_arrow | self.facts.not_selecting
        if bool((tail & tail.T)[is_sure].any()):  # these nodes are no causes of selection, so they have no ---
            return False
        if not self.facts.selection and bool((arrow & arrow.T & self.facts.unconfounded).any()):
            return False
        leads = ancestry(marks)
        may_lead = transitive((marks != Mark.NONE) & ~tail & ~arrow.T)
        wrong = ((self.facts.causes & ~may_lead) | (self.facts.not_causes & leads)) & is_sure[:, None]
        return not bool((wrong | (leads & arrow.T)).any())

    def _offending(self, marks: Marks) -> list[int] | None:
        """Nodes that show why these marks are no member that agrees with knowledge; None if they are such a member."""
        wrong = self.facts.disagreement(marks)
        if wrong is not None:
            leads = ancestry(marks) | np.eye(len(marks), dtype=np.bool_)
            on_paths = leads[wrong[0]] & leads[:, wrong[1]]  # all nodes on directed paths between the two
            return sorted({*wrong, *np.flatnonzero(on_paths).tolist()})
        place = {str(i): i for i in range(len(marks))}
        try:
            mag = MAG(marks, tuple(place))
        except NotMaximalOrAncestralError as error:
            return [place[name] for name in error.path]
        differing = np.argwhere(pag_of_mag(mag).marks != self.pag)
        return None if not len(differing) else [int(k) for k in differing[0]]


def _with(marks: Marks, i: int, j: int, mark: Mark) -> Marks:
    changed = np.array(marks)
    changed[i, j] = mark
    return changed
