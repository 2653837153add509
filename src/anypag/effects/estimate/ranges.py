"""The range of an effect that is not identified: its values in the members of the class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_
from typing import NamedTuple

import numpy as np

from anypag.data.table import Table
from anypag.effects.estimate.estimates import Entries, Model
from anypag.effects.estimate.fitting import chosen_model, columns_of, entries_of, fit
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import Expression, mentioned
from anypag.effects.identify.verdict import Verdict, verdict
from anypag.errors import DataError, NotMaximalOrAncestralError, Option
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import orient
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import pag_of_mag
from anypag.graphs.rules import rules_after_0
from anypag.knowledge.closure import SeparationsOf

STEPS_PER_MEMBER = 20  # the search for members makes at most this many tries for each wanted member
UNTOLD = (
    "The range is computed only for columns of one kind; here some are continuous, some discrete. To treat levels as "
    'numbers, which is right for columns with two levels, say model="linear" (--model linear on the command line).'
)


class Members(NamedTuple):
    """Members of a class, all without `---`. `exact`: are these all members without `---`?"""

    mags: tuple[MAG, ...]
    exact: bool


def members_of(pag: PAG, most: int = 200, seed: int = 0, one: MAG | None = None) -> Members:
    """All MAGs without `---` that have this PAG; a random sample if there are more than `most`, or tries run out."""
    search = _MemberWalk(pag.to_mag() if one is None else one)
    steps = search.from_marks(pag.marks)
    tried = islice(steps, STEPS_PER_MEMBER * most)
    found = tuple(islice((mag for mag in tried if mag is not None), most))
    if next(steps, "end") == "end":
        return Members(found, True)
    rng = np.random.default_rng(seed)
    drawn = (islice(search.from_marks(pag.marks, rng), STEPS_PER_MEMBER) for _ in range(most))
    first = (next((mag for mag in steps if mag is not None), None) for steps in drawn)
    return Members(tuple(dict.fromkeys(mag for mag in first if mag is not None)), False)


class _MemberWalk:
    """The search for members. It replaces one circle at a time, and then sets all marks that follow."""

    def __init__(self, one: MAG) -> None:
        self.of_data, self.colliders = pag_of_mag(one), SeparationsOf(one.marks)

    def from_marks(self, marks: Marks, rng: np.random.Generator | None = None) -> Iterator[MAG | None]:
        """The members that agree with the marks, and None per failed attempt; in random order if `rng` is given."""
        circles = np.argwhere(marks == Mark.CIRCLE)
        if not len(circles):
            yield self._checked(marks)
            return
        i, j = circles[0 if rng is None else rng.integers(len(circles))].tolist()
        kinds = [Mark.TAIL, Mark.ARROW]
        for mark in kinds if rng is None or rng.random() < 0.5 else kinds[::-1]:
            wider = self._with(marks, i, j, mark)
            yield from [None] if wider is None else self.from_marks(wider, rng)

    def _with(self, marks: Marks, i: int, j: int, mark: Mark) -> Marks | None:
        """The marks with one more mark and all that follow from it; None if they contradict each other."""
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


@dataclass(frozen=True)
class PossibleEffects:
    """The values of an effect over the members of a class."""

    entries: Entries  # the least and the greatest value for each cause and outcome, or combination of levels
    includes_zero: bool  # does a member say that there is no effect at all?
    n_members: int  # how many members were considered
    exact: bool  # were all members considered?
    n_assumed: int  # how many members have a value only if no arrow hides a common cause; else any value is possible
    n_open: int  # how many members have no value, not even if no arrow hides a common cause
    untold: str = ""  # why there are no values although members have formulas

    @property
    def smallest(self) -> float | tuple[float, ...]:
        """The least value; a tuple, in the order of the entries, if there are several entries."""
        values = tuple(entry.low for entry in self.entries)
        return values[0] if len(values) == 1 else values

    @property
    def largest(self) -> float | tuple[float, ...]:
        """The greatest value; a tuple, in the order of the entries, if there are several entries."""
        values = tuple(entry.high for entry in self.entries)
        return values[0] if len(values) == 1 else values

    def __str__(self) -> str:
        seen = f"{'all' if self.exact else 'a random sample of'} {self.n_members:,} graphs with these independences"
        lines = [f"Over {seen}:" if self.entries else f"Looked at {seen}."]
        lines += [f"  {entry.label}: {entry.low:.4g} to {entry.high:.4g}" for entry in self.entries]
        lines.append("In some of them there is no effect." if self.includes_zero else "All of them allow an effect.")
        if self.n_assumed:
            taken = "" if self.untold else "; the values assume that none does"
            hidden = f"In {self.n_assumed:,} of them an arrow may hide a common cause of its ends{taken}"
            lines.append(f"{hidden}. Where one does, the effect may be anything.")
        lines += [f"In {self.n_open:,} the effect stays open even without hidden common causes."] if self.n_open else []
        return "\n".join([*lines, *([self.untold] if self.untold else [])])


def possible_effects(
    causal: CausalGraph, way: Between, table: Table, model: Model | None, most: int, seed: int
) -> PossibleEffects:
    """The range of the effect over the members of the class, or over a sample of them."""
    found = members_of(causal.pag, most, seed, causal.member)
    answers = [_in_member(mag, way) for mag in found.mags]
    formulas = list(dict.fromkeys(answer.formula for answer, _ in answers if answer.formula is not None))
    entries, untold = _range(causal, way, formulas, table, model)
    includes_zero = any(answer.status == "zero" for answer, _ in answers)
    n_assumed, n_open = sum(assumed for _, assumed in answers), sum(answer.formula is None for answer, _ in answers)
    return PossibleEffects(entries, includes_zero, len(found.mags), found.exact, n_assumed, n_open, untold)


def _in_member(mag: MAG, way: Between) -> tuple[Verdict, bool]:
    """The verdict of one member, and True if it assumes that arrows hide no common cause."""
    for trusted in (False, True):
        causal = CausalGraph.of_mag(mag, trusted=trusted)
        answer = verdict(causal, way.x, way.y, way.given, causal.everyone)
        if answer.formula is not None:
            return answer, trusted
    return answer, False


def _range(
    causal: CausalGraph, way: Between, formulas: list[Expression], table: Table, model: Model | None
) -> tuple[Entries, str]:
    """The least and greatest value of formulas on the columns that these need; and the reason if none is computed."""
    if not formulas:
        return (), ""
    part, _ = columns_of(causal, table, reduce(or_, map(mentioned, formulas), way.x | way.y | way.given))
    if model is None and len(set(part.kinds)) > 1:
        return (), UNTOLD
    kind = chosen_model(part, model, causal.names(way.y))
    if kind == "mixed":
        raise DataError(
            "The effect is not identified, and its range is computed for columns of one kind only. Leave "
            f"{Option('model')} out, or say {Option('model', 'linear')}."
        )
    fitted = fit(part, kind, tuple(causal.pag.index(name) for name in part.names))
    values = np.array([fitted.values(formula, way) for formula in formulas])
    ends = np.full(values.shape[1], np.nan), values.min(axis=0), values.max(axis=0)
    return entries_of(causal, part, kind, way, ends), ""
