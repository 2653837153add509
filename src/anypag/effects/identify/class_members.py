"""The members of a PAG's class: all of them if they are few, otherwise a random sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from anypag.errors import NotMaximalOrAncestralError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import orient
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import pag_of_mag
from anypag.graphs.reasoning.validity import member
from anypag.graphs.rules import rules_after_0
from anypag.knowledge.closure import SeparationsOf

STEPS_PER_MEMBER = 20
"""How many failed choices are allowed for each member wanted."""


class Members(NamedTuple):
    """MAGs of a class without selection; `exact` says whether these are all."""

    mags: tuple[MAG, ...]
    exact: bool


def members_of(pag: PAG, most: int = 200, seed: int = 0, one: MAG | None = None) -> Members:
    """All MAGs without undirected edges that have this PAG, if there are no more than `most`; else a random sample. If
    the PAG has marks from knowledge, `one` is a member of its class.

    >>> found = members_of(PAG.from_string("A o-> B; C o-> B"))
    >>> found.exact, sorted("; ".join(map(str, mag.edges())) for mag in found.mags)
    (True, ['A --> B; B <-- C', 'A --> B; B <-> C', 'A <-> B; B <-- C', 'A <-> B; B <-> C'])
    """
    search = _Search(pag, member(pag) if one is None else one, np.random.default_rng(seed))
    steps = search.from_marks(search.start, in_order=True)
    tried = islice(steps, STEPS_PER_MEMBER * most)
    found = tuple(islice((mag for mag in tried if mag is not None), most))
    if next(steps, "end") == "end":
        return Members(found, True)
    drawn = (search.drawn() for _ in range(most))
    return Members(tuple(dict.fromkeys(mag for mag in drawn if mag is not None)), False)


class _Search:
    """Sets circles one by one, each time with all marks that follow."""

    def __init__(self, pag: PAG, one: MAG, rng: np.random.Generator) -> None:
        self.of_data, self.rng = pag_of_mag(one), rng
        self.colliders = SeparationsOf(one.marks)
        self.start = np.array(pag.marks)

    def from_marks(self, marks: Marks, *, in_order: bool) -> Iterator[MAG | None]:
        """The members that agree with the marks; None for each choice that led nowhere. Choices are made one after the
        other, or at random.
        """
        circles = np.argwhere(marks == Mark.CIRCLE)
        if not len(circles):
            yield self._checked(marks)
            return
        i, j = circles[0 if in_order else self.rng.integers(len(circles))]
        kinds = [Mark.TAIL, Mark.ARROW]
        for mark in kinds if in_order or self.rng.random() < 0.5 else kinds[::-1]:
            wider = self._with(marks, int(i), int(j), mark)
            if wider is None:
                yield None
            else:
                yield from self.from_marks(wider, in_order=in_order)

    def drawn(self) -> MAG | None:
        """A random member; None if too many choices led nowhere."""
        steps = islice(self.from_marks(self.start, in_order=False), STEPS_PER_MEMBER)
        return next((mag for mag in steps if mag is not None), None)

    def _with(self, marks: Marks, i: int, j: int, mark: Mark) -> Marks | None:
        """The marks with one more, and what follows; None if that contradicts itself."""
        known = np.array(marks)
        known[i, j] = mark
        if mark == Mark.TAIL:  # without selection one end of every edge has an arrowhead
            known[j, i] = Mark.ARROW
        found = orient(known, self.colliders, rules_after_0(selection=False))
        undirected = (found.marks == Mark.TAIL) & (found.marks.T == Mark.TAIL)
        return None if len(found.conflicts) or undirected.any() else found.marks

    def _checked(self, marks: Marks) -> MAG | None:
        try:
            mag = MAG(marks, self.of_data.names)
        except NotMaximalOrAncestralError:
            return None
        return mag if pag_of_mag(mag) == self.of_data else None
