"""The range of an effect that is not identified: its values in the members of the class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from anypag.data.table import Table
from anypag.effects.estimate.estimates import Entries, Model
from anypag.effects.estimate.fitting import chosen_model, columns_of, entries_of, fit
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.class_members import members_of
from anypag.effects.identify.expressions import Expression, mentioned
from anypag.effects.identify.verdict import Verdict, verdict
from anypag.errors import DataError, Option
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import Neighbours
from anypag.graphs.pag import MAG

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
    """The range of formulas, or why it is not computed."""
    if not formulas:
        return (), ""
    part, _ = columns_of(causal, table, reduce(or_, map(mentioned, formulas), way.x | way.y | way.given))
    if model is None and len(set(part.kinds)) > 1:
        return (), UNTOLD
    return _entries(causal, way, formulas, part, model), ""


def _entries(
    causal: CausalGraph, way: Between, formulas: list[Expression], part: Table, model: Model | None
) -> Entries:
    """The least and the greatest value of formulas on the columns that they need."""
    kind = chosen_model(part, model, causal.names(way.y))
    if kind == "mixed":
        raise DataError(
            "The effect is not identified, and its range is computed for columns of one kind only. Leave "
            f"{Option('model')} out, or say {Option('model', 'linear')}."
        )
    fitted = fit(part, kind, tuple(causal.pag.index(name) for name in part.names))
    values = np.array([fitted.values(formula, way) for formula in formulas])
    return entries_of(
        causal, part, fitted, way, (np.full(values.shape[1], np.nan), values.min(axis=0), values.max(axis=0))
    )
