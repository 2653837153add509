"""The effects between many pairs of variables, drawn from sampled graphs in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import permutations
from typing import Any

from anypag.data.sources.data_sets import in_sets
from anypag.data.sources.pooled import Pooled
from anypag.data.table import Table
from anypag.effects.effect import effect
from anypag.effects.estimate.fitting import Sampling
from anypag.effects.estimate.tables import LevelTable
from anypag.effects.learned import Adjusting
from anypag.effects.sampled_effect import SampledEffect, sampled_effect
from anypag.effects.sampled_question import AllDraws, Question, Shared
from anypag.errors import DataError, Option, ParameterError
from anypag.results.result import Result

COLUMNS = ("cause", "outcome", "status", "p_zero", "p_identified", "p_open")
NONE = (None, None, None)  # an unknown estimate, and the ends of its interval
OF_DRAWS = ("label", "estimate", "low", "high", "p_positive", "if_causal", "if_causal_low", "if_causal_high")


def effects_of_all_pairs(
    result: Result, data: Any = None, *, selection_bias: bool | None = None
) -> dict[str, list[Any]]:
    """The effects of all ordered pairs, as a dict of columns for any dataframe library; a pair has one or more rows.

    Args:
        result: the result of a search that sampled graphs (`method="auto"`).
        data: a table to draw the effects from; without it only shares of graphs are given. Curved effects
            (`test="additive"`) are estimated with splines; such an effect is None if no sampled graph has an adjustment
            set, or if splines cannot use the columns. With several data sets (`anypag.pooled`) the rows of the observed
            (first) set are used; a pair with a context (a column that tells sets apart) uses the sets that it compares.
        selection_bias: False says that the sample is not selected. The default is the choice of the search.

    >>> import anypag as ap
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> a, b = random.normal(size=(2, 300))
    >>> table = {"a": a, "b": b, "c": a + b + random.normal(size=300)}
    >>> found = ap.learn(table, method="bayes", selection_bias=False, effort=0.1).effects(table)
    >>> list(zip(found["cause"], found["outcome"]))[:2], "if_causal" in found
    ([('a', 'b'), ('a', 'c')], True)
    """
    rows = list[dict[str, Any]]()
    pairs = list(permutations(result.pag.names, 2))
    for (cause, outcome), found in zip(pairs, effects_of(result, pairs, data, selection_bias), strict=True):
        shares = (cause, outcome, found.status, found.p_zero, found.p_identified, found.p_open)
        of_pair = dict(zip(COLUMNS, shares, strict=True))
        for line in found.lines:
            numbers = (line.label, *(line.span or NONE), line.p_positive, *(line.if_causal or NONE))
            rows.append(of_pair | dict(zip(OF_DRAWS, numbers, strict=True)))
        rows += [] if found.lines else [of_pair]
    names = (*COLUMNS, *OF_DRAWS) if any("label" in row for row in rows) else COLUMNS
    return {name: [row.get(name) for row in rows] for name in names}


def effects_of(
    result: Result, pairs: Iterable[tuple[str, str]], data: Any = None, selection_bias: bool | None = None
) -> Iterator[SampledEffect]:
    """The effect of each pair by the sampled graphs. Pairs with the same rows share one set of draws or one table."""
    first, ready = None, dict[tuple[str, ...], tuple[Table, Shared | None]]()
    data = None if data is None else in_sets(data, result.reading, result.pag.names, result.sets)
    contexts, n_sets = (data.contexts, len(data.sets)) if isinstance(data, Pooled) else ((), 0)
    for cause, outcome in pairs:
        of_sets = tuple(name for name in (cause, outcome) if name in contexts)  # effects of contexts compare data sets
        has_rows = data is not None and not (of_sets and n_sets == 1)
        if first is None or (has_rows and of_sets not in ready):
            answer = effect(result, cause, outcome, selection_bias=selection_bias)
            first = answer.sampled
            if first is None:
                raise ParameterError(
                    f"The effects of all pairs are drawn from sampled graphs: search with {Option('method', 'auto')}."
                )
            classes = first.question.classes
            if has_rows:
                table, _ = answer.basis.all_columns(data)
                shared = LevelTable(table, classes.n_levels) if first.is_discrete else AllDraws.of(classes, table)
                ready[of_sets] = table, None if first.is_curved else shared
        x, y = (classes.nodes((name,)) for name in (cause, outcome))
        everyone = (1 << len(classes.names)) - 1
        question = Question(classes, x, y, 0, everyone)
        found = sampled_effect(question, is_discrete=first.is_discrete, is_curved=first.is_curved)
        if has_rows and found.is_curved:
            with suppress(DataError):  # splines cannot use labels, or a column that the others determine
                found = Adjusting(Sampling(resamples=0)).drawn(found, ready[of_sets][0], everyone)
        elif has_rows:
            found = found.drawn(*ready[of_sets])
        yield found
