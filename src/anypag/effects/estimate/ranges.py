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
from anypag.graphs.node_sets import Neighbours
from anypag.graphs.orientation import orient
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import pag_of_mag
from anypag.graphs.rules import rules_after_0
from anypag.knowledge.closure import SeparationsOf

STEPS_PER_MEMBER = 20  # how many failed choices are allowed for each member wanted


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
    search = _Search(pag, pag.to_mag() if one is None else one, np.random.default_rng(seed))
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
        """The members that agree with the marks; None for each choice, in order or at random, that led nowhere."""
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


UNTOLD = (
    "Its range is computed only for columns of one kind, and these are of both. To treat levels as numbers, "
    'which is right for columns with two levels, say model="linear" (--model linear on the command line).'
)


@dataclass(frozen=True)
class PossibleEffects:
    """The values of an effect over the members of a class.

    Args:
        entries: one line per cause and outcome, or per combination of levels: the least and the greatest value.
        includes_zero: does a member say that there is no effect at all?
        n_members: the members that were considered.
        exact: are these all of them?
        n_assumed: members in which an arrow may hide a common cause of its ends. Their values assume that none does;
            otherwise the effect can be anything in them.
        n_open: members in which the effect is not identified even then; they have no value.
        untold: why there are no values although members have formulas; empty if there are values.
    """

    entries: Entries
    includes_zero: bool
    n_members: int
    exact: bool
    n_assumed: int
    n_open: int
    untold: str = ""

    @property
    def smallest(self) -> float | tuple[float, ...]:
        """The least value; a tuple, in the order of the entries, where there are several."""
        values = tuple(entry.low for entry in self.entries)
        return values[0] if len(values) == 1 else values

    @property
    def largest(self) -> float | tuple[float, ...]:
        """The greatest value; a tuple where there are several."""
        values = tuple(entry.high for entry in self.entries)
        return values[0] if len(values) == 1 else values

    def __str__(self) -> str:
        seen = f"{'all' if self.exact else 'a random sample of'} {self.n_members:,} graphs with these independences"
        lines = [f"Over {seen}:" if self.entries else f"Looked at {seen}."]
        lines += [f"  {entry.label}: {entry.low:.4g} to {entry.high:.4g}" for entry in self.entries]
        lines.append("In some of them there is no effect." if self.includes_zero else "In all of them there is one.")
        if self.n_assumed:
            taken = "" if self.untold else "; the values assume that none does"
            lines.append(
                f"In {self.n_assumed:,} of them an arrow may hide a common cause of its ends{taken}. Where one does, "
                "the effect may be anything."
            )
        if self.n_open:
            lines.append(f"In {self.n_open:,} the effect stays open even then.")
        return "\n".join([*lines, *([self.untold] if self.untold else [])])


def possible_effects(
    causal: CausalGraph, way: Between, table: Table, model: Model | None, most: int, seed: int
) -> PossibleEffects:
    """The effect in every member of the class, or in a sample of them."""
    found = members_of(causal.pag, most, seed, causal.member)
    answers = [_in_member(mag, way) for mag in found.mags]
    formulas = list(dict.fromkeys(answer.formula for answer, _ in answers if answer.formula is not None))
    entries, untold = _range(causal, way, formulas, table, model)
    return PossibleEffects(
        entries=entries,
        includes_zero=any(answer.status == "zero" for answer, _ in answers),
        n_members=len(found.mags),
        exact=found.exact,
        n_assumed=sum(assumed for _, assumed in answers),
        n_open=sum(answer.formula is None for answer, _ in answers),
        untold=untold,
    )


def _in_member(mag: MAG, way: Between) -> tuple[Verdict, bool]:
    """The verdict of one member, and whether it assumes that arrows hide no common cause."""
    pag_like = CausalGraph.of_mag(mag)
    answer = verdict(pag_like, way.x, way.y, way.given, pag_like.everyone)
    if answer.formula is not None:
        return answer, False
    arrows = (mag.marks == Mark.ARROW) & (mag.marks.T == Mark.TAIL)
    bold = CausalGraph(pag_like.pag, Neighbours.of(mag.marks, arrows), mag)
    answer = verdict(bold, way.x, way.y, way.given, bold.everyone)
    return answer, answer.formula is not None


def _range(
    causal: CausalGraph, way: Between, formulas: list[Expression], table: Table, model: Model | None
) -> tuple[Entries, str]:
    """The least and the greatest value of formulas on the columns that they need, or why they are not computed."""
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
