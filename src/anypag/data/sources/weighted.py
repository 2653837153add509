"""Weights of rows: how much of the population each row of a survey stands for.

They are inverse probabilities of being drawn, also called sampling, probability or survey weights. Moments and shares
of levels are weighted, and tests count as many rows as the weighted ones are worth (`anypag.data.worth`). How many
equal rows a row stands for is another thing: `anypag.counted`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anypag.arrays import Floats
from anypag.data.columns import require_columns
from anypag.data.files.scan import AS_USUAL
from anypag.data.findings import Finding, warning
from anypag.data.sources.protocol import Source
from anypag.data.table import Table, as_table
from anypag.data.worth import Worth
from anypag.errors import DataError, Option


def weighted(data: Any, column: str) -> Table:
    """The table without a column that says how much each row weighs. It can be used where a table can; what cannot
    weight rows refuses it.

    Args:
        data: any table; see `anypag.data.as_table`.
        column: the name of the column of weights: numbers, 0 or more. A row with weight 0 is left out.

    Raises:
        DataError: there is no such column, or it holds no weights.

    >>> table = weighted({"a": [1.5, 2.0, 0.5], "w": [1.0, 2.0, 2.0]}, "w")
    >>> table.names, table.weights.tolist()
    (('a',), [1.0, 2.0, 2.0])
    """
    table = as_table(data)
    if table.weights is not None:
        raise DataError(
            f"Rows have weights already; {column!r} would be a second column of them. Choose one of the two."
        )
    require_columns([column], table.names)
    place, others = table.names.index(column), [name for name in table.names if name != column]
    if not others:
        raise DataError(f"A weighted table has columns beside that of the weights; got {column!r} alone.")
    weights = table.values[:, place]
    _check(column, weights, table.labels[place])
    reading = (table.reading or AS_USUAL)._replace(weights=column)
    found = replace(table.take(others), reading=reading, weights=weights)
    return found if weights.all() else found.take_rows(weights > 0)


def _check(column: str, weights: Floats, labels: tuple[str, ...] | None) -> None:
    wanted = f"The weights in column {column!r} must be numbers, 0 or more"
    if labels is not None:
        raise DataError(f"{wanted}; got text, such as {labels[0]!r}. Name the column that has the weights.")
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))  # NaN fails this too
    if len(wrong):
        value = weights[wrong[0]]
        what = "nothing" if np.isnan(value) else f"{value:g}"
        raise DataError(f"{wanted}; row {wrong[0] + 1} has {what}. Mend that row, or leave it out.")
    if not weights.any():
        raise DataError(f"{wanted}, and not all 0.")
    if not 1e-100 < weights.max() < 1e100:  # their squares are summed
        told = f"the largest is {weights.max():g}, too far from 1 to compute with"
        raise DataError(f"{wanted}; {told}. Multiply all by one number: only their ratios count.")


def weights_of(source: Source) -> Floats | None:
    """(n,) the weights of the rows of a source; None if all count alike."""
    found: Floats | None = getattr(source, "weights", None)
    return found


def worth_in(source: Source) -> Worth | None:
    """What the rows of a source without gaps are worth; None where each is worth one."""
    found: Worth | None = getattr(source, "worth", None)
    return found


def refuse_weights(table: Table, what: str) -> None:
    """DataError for weighted rows, where they cannot be weighted."""
    if table.weights is not None:
        raise DataError(f"Rows are weighted here, and {what} count all rows alike. Leave out the weights.")


def weight_findings(source: Source, weighs: bool) -> list[Finding]:
    """How many rows weighted ones are worth; DataError where they cannot be weighted."""
    weights = weights_of(source)
    if weights is None:
        return []
    if not weighs:
        raise DataError(
            f"Rows are weighted here, and this test, or {Option('missing', 'pairwise')}, counts all rows alike. Choose "
            f"{Option('test', 'fisherz')}, {Option('test', 'mixed')}, {Option('test', 'chisq')} or "
            f"{Option('test', 'gsq')}, and leave out {Option('missing')}."
        )
    found = worth_in(source.complete())
    message = f"{len(weights):,} weighted rows are worth {0 if found is None else found.n:,} of a random sample."
    return [warning("weights", (), message, "Tests count as many: weak dependences are seen less often.")]
