"""The effects between all pairs of variables, as far as the graph of a result tells them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from anypag.effects.answer import HEADINGS
from anypag.effects.asking import checked_ground, may_be_selected
from anypag.effects.effect import effect
from anypag.errors import ContradictionError, GraphError
from anypag.results.base import BaseResult

MOST_VARIABLES = 60
"""Of larger graphs the report would be mostly effects."""

ZERO = "{a} is not a cause of {b}: setting {a} does not change it."


def effects_shown(result: BaseResult) -> dict[str, Any]:
    """For each ordered pair with an effect, or perhaps one: the two, a heading, the reason and the formula.

    `none` says why there are no effects to tell, where that is so.
    """
    why_none = _why_none(result)
    rows = [] if why_none else [_row(result, i, j) for i, j in permutations(range(len(result.pag)), 2)]
    return {"none": why_none, "zero": [HEADINGS["zero"], ZERO], "pairs": [row for row in rows if row is not None]}


def _why_none(result: BaseResult) -> str | None:
    if len(result.pag) > MOST_VARIABLES:
        return f"Effects are listed for graphs of up to {MOST_VARIABLES} variables; `anypag effect` tells each one."
    if may_be_selected(result):
        return "Effects can be told where the sample is known not to be selected (selection_bias=False)."
    try:
        checked_ground(result, 0, 0, selection_bias=None)
    except GraphError as error:
        return str(error)
    return None


def _row(result: BaseResult, i: int, j: int) -> list[Any] | None:
    """None for a pair without an effect: there are too many to list."""
    try:
        found = effect(result, i, j)
    except ContradictionError as error:  # the rules disagreed about an edge that this effect depends on
        return [i, j, "contradicted", str(error), None]
    return None if found.status == "zero" else [i, j, HEADINGS[found.status], found.reason, found.formula]
