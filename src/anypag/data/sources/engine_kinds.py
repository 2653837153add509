"""Continuous or discrete? The rule of `anypag.data.kinds`, asked of a table in an engine.

The first rows settle most columns: fractions, or more than ten different numbers, are continuous. Only of the others
are the levels counted, in the engine and over all rows, so that the answer is that of the table in memory.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anypag.data.kinds import MOST_LEVELS, infer_kind, kind_of_levels
from anypag.data.sources.engine import Engine, Levels
from anypag.data.table import Kind, Table
from anypag.errors import DataError, Option

MOST_LABELS = 10_000
"""Different texts of a column that are pulled."""


def engine_kinds(engine: Engine, kinds: Mapping[str, Kind] | None = None) -> tuple[Kind, ...]:
    """The kind of every column, those in `kinds` as given there.

    Raises:
        DataError: a kind is given for no column, or a column of text has more labels than could be levels.
    """
    if kinds is not None and kinds.keys() == set(engine.names):
        return tuple(kinds[name] for name in engine.names)
    first = engine.glance().with_kinds(kinds or {})
    return tuple(first.given_kinds[i] or _kind(engine, first, i) for i in range(len(engine.names)))


def _kind(engine: Engine, first: Table, i: int) -> Kind:
    if engine.is_text[i]:
        labels = text_levels(engine, i).values
        return infer_kind(np.empty(0), labels)
    values = first.values[:, i]
    seen = np.unique(values[np.isfinite(values)])
    if len(seen) > MOST_LEVELS or (seen != np.floor(seen)).any():
        return "continuous"
    found = engine.levels(i, MOST_LEVELS + 2)
    if found is None:
        return "continuous"
    levels = np.array(found.values, np.float64)
    is_finite = np.isfinite(levels)
    return kind_of_levels(levels[is_finite], int(found.counts[is_finite].sum()))


def text_levels(engine: Engine, i: int) -> Levels:
    """The labels of a column of text, with their counts."""
    found = engine.levels(i, MOST_LABELS)
    if found is None:
        raise DataError(
            f"Column {engine.names[i]!r} holds more than {MOST_LABELS:,} different texts, as an identifier does. Leave "
            "it out (",
            Option("names"),
            "), or turn it into numbers.",
        )
    return found
