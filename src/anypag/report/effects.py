"""The effects between all pairs of variables, by the graph of a result."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import Any

from anypag.effects.answer import HEADINGS
from anypag.effects.effect import effect_of_graph, graphs_of_resamples
from anypag.effects.identify.verdict import verdict
from anypag.effects.over_graphs import EffectOver
from anypag.effects.question import checked_graph, may_be_selected
from anypag.errors import ContradictionError, GraphError
from anypag.results.result import Result

MOST_VARIABLES = 60
"""The most variables: reports of larger graphs would be mostly effects."""
MOST_COUNTED = 60_000
"""Up to this many effects in resamples all pairs are counted, which takes about ten seconds."""

ZERO = "{a} is not a cause of {b}: setting {a} does not change it."


def effects_shown(result: Result) -> dict[str, Any]:
    """For each ordered pair with a possible effect: the two, a heading, the reason and the formula. `none` says why no
    effects are shown, if so; `over` has the counts over resamples for each pair.
    """
    why_none = _why_none(result)
    pairs = [] if why_none else list(permutations(range(len(result.pag)), 2))
    bare = result if result.stability is None else replace(result, stability=None)
    rows = [_row(bare, i, j) for i, j in pairs]
    return {
        "none": why_none,
        "zero": [HEADINGS["zero"], ZERO],
        "pairs": [row for row in rows if row is not None],
        "over": _over_resamples(result, pairs),
    }


def _why_none(result: Result) -> str | None:
    if len(result.pag) > MOST_VARIABLES:
        return f"Effects are listed for graphs of up to {MOST_VARIABLES} variables; `anypag effect` tells each one."
    if may_be_selected(result):
        return "Effects can be told where the sample is known not to be selected (selection_bias=False)."
    try:
        checked_graph(result, 0, 0, selection_bias=None)
    except GraphError as error:
        return str(error)
    return None


def _row(result: Result, i: int, j: int) -> list[Any] | None:
    """None for a pair without an effect: there are too many to list."""
    try:
        found = effect_of_graph(result, i, j)
    except ContradictionError as error:  # the rules disagreed about an edge that this effect depends on
        return [i, j, "contradicted", str(error), None]
    return None if found.status == "zero" else [i, j, HEADINGS[found.status], found.reason, found.formula]


def _over_resamples(result: Result, pairs: list[tuple[int, int]]) -> list[list[Any]]:
    """For each pair in how many resamples its effect is identified; empty if that would take too long."""
    stability = result.stability
    if stability is None or not 0 < len(pairs) * len(stability.graphs) <= MOST_COUNTED:
        return []
    counts: dict[tuple[int, int], Counter[str]] = {pair: Counter() for pair in pairs}
    for causal in graphs_of_resamples(result, stability):
        for (i, j), count in counts.items():
            status = "refused" if causal is None else verdict(causal, 1 << i, 1 << j, 0, causal.everyone).status
            count[status] += 1
    told = [(pair, EffectOver(count.total(), dict(count), {}, stability.what)) for pair, count in counts.items()]
    return [[i, j, str(over)] for (i, j), over in told]
