"""The effects between all pairs of variables, drawn from sampled graphs: one table."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from anypag.effects.effect import effect
from anypag.effects.sampled import AllDraws, DrawnEffect, SampledEffect
from anypag.errors import Option, ParameterError
from anypag.results.result import Result

COLUMNS = ("cause", "outcome", "status", "p_zero", "p_identified", "p_open")
OF_DRAWS = ("label", "estimate", "low", "high", "p_positive", "if_causal", "if_causal_low", "if_causal_high")


def effects_of_all_pairs(
    result: Result, data: Any = None, *, selection_bias: bool | None = None
) -> dict[str, list[Any]]:
    """A row for each ordered pair, as columns for any dataframe library.

    Args:
        result: of a search that sampled graphs (`method="bayes"`).
        data: a table to draw the effects from; without it there are shares only.
        selection_bias: False says that selection into the sample does not act here.

    >>> import anypag as ap
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> a, b = random.normal(size=(2, 300))
    >>> table = {"a": a, "b": b, "c": a + b + random.normal(size=300)}
    >>> found = ap.learn(table, method="bayes", selection_bias=False, effort=0.1).effects(table)
    >>> list(zip(found["cause"], found["outcome"]))[:2], "if_causal" in found
    ([('a', 'b'), ('a', 'c')], True)
    """
    rows, table, of_all = list[dict[str, Any]](), None, None
    for cause, outcome in permutations(result.pag.names, 2):
        answer = effect(result, cause, outcome, selection_bias=selection_bias)
        found = answer.sampled
        if found is None:
            raise ParameterError(
                "The effects of all pairs are drawn from sampled graphs: search with ", Option("method", "bayes"), "."
            )
        if data is not None and not found.is_curved:
            table = answer.rows_of_draws(data)[0] if table is None else table
            if of_all is None and not found.is_discrete:
                of_all = AllDraws.of(found.question.classes, table)
            found = found.drawn(table, of_all)
        rows += _rows(cause, outcome, found)
    names = COLUMNS if table is None else (*COLUMNS, *OF_DRAWS)
    return {name: [row[name] for row in rows] for name in names}


def _rows(cause: str, outcome: str, found: SampledEffect) -> list[dict[str, Any]]:
    shares = (cause, outcome, found.status, found.p_zero, found.p_identified, found.p_open)
    of_pair = dict(zip(COLUMNS, shares, strict=True))
    return [of_pair | _numbers(line) for line in found.lines] or [of_pair]


def _numbers(line: DrawnEffect) -> dict[str, Any]:
    estimate, low, high = (None,) * 3 if line.span is None else line.span
    numbers = (line.label, estimate, low, high, line.p_positive, *(line.if_causal or (None,) * 3))
    return dict(zip(OF_DRAWS, numbers, strict=True))
