"""Continuous and discrete columns of a table that lives in an engine: read, audited, and their moments; only sums are
pulled.

Levels are counted there first; then every level but the most frequent of a column is an expression, one or zero, and
the sums of products of all of them and the continuous columns give correlations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from anypag.arrays import Counts
from anypag.choices import Choices
from anypag.data.audit.columns import constant_findings, header_findings, level_finding
from anypag.data.audit.copies import copy_findings, near_copies
from anypag.data.audit.relations import relation_findings
from anypag.data.audit.rows import dropped_findings, few_rows_findings, large_set_findings, largest_set, sparse_findings
from anypag.data.findings import Audit, ColumnKind, Finding
from anypag.data.moments import Moments
from anypag.data.sources.engine import Engine, Levels, Summary
from anypag.data.sources.engine_counts import copies_in_engine, levels_of
from anypag.data.sources.engine_kinds import engine_kinds
from anypag.data.sources.engine_moments import CHECKED_IN_ENGINES, complete_rows
from anypag.data.spread import require_few, sortable_names
from anypag.data.table import Kind
from anypag.errors import DataError, Option, listed


@dataclass(frozen=True, eq=False)
class ColumnsInEngine:
    """What one reading of a table in an engine tells of its columns.

    Args:
        engine: the rows without gaps.
        kinds: (p,) what each column was taken for.
        levels: (p,) those of the discrete ones.
        n: rows.
        moments: of all columns with the discrete ones spread out.
        start: (p + 1,) where those of a column begin among the spread-out ones.
        audit: what was found.
    """

    engine: Engine
    kinds: tuple[Kind, ...]
    levels: tuple[Levels | None, ...]
    n: int
    moments: Moments
    start: Counts
    audit: Audit

    @classmethod
    def of(cls, data: Any, choices: Choices) -> Self:
        """The columns of a table, read as the choices say.

        Raises:
            DataError: something in the table would make the result wrong.
        """
        engine = Engine.of(data, choices.names)
        kinds = engine_kinds(engine, choices.kinds)
        _require_numbers(engine, kinds)
        complete, n_rows, found = complete_rows(engine, choices.missing)
        levels = tuple(levels_of(complete, i) if kind == "discrete" else None for i, kind in enumerate(kinds))
        widths = [1 if some is None else max(len(some.values) - 1, 0) for some in levels]
        require_few(engine.names, widths)
        names = [name.replace(".", "_") for name in sortable_names(engine.names, widths)]  # Spark looks inside "a.b"
        spread = complete.with_columns(_columns(complete, levels, names))
        summary, start = spread.summary(), np.append(0, np.cumsum(widths)).astype(np.int64)
        found += [*dropped_findings(n_rows, summary.n), *few_rows_findings(summary.n)]
        found += _column_findings(engine.names, levels, summary, start, largest_set(len(kinds), choices.max_r))
        Audit.of(found).require_usable()
        moments = spread.moments(summary)
        found += copy_findings(copies_in_engine(complete, levels), choices.singular)
        found += header_findings(engine.names)
        numbers = _continuous(moments, engine.names, kinds, start)
        found += [*relation_findings(numbers, choices.singular), *near_copies(numbers)] if numbers.names else []
        said = [ColumnKind(name, kind, "counted in the engine") for name, kind in zip(engine.names, kinds, strict=True)]
        audit = Audit.of(found, (*CHECKED_IN_ENGINES, "columns with many levels", "copies"), said)
        audit.require_usable()
        return cls(complete, kinds, levels, summary.n, moments, start, audit)


def _require_numbers(engine: Engine, kinds: Sequence[Kind]) -> None:
    odd = [
        name
        for name, text, kind in zip(engine.names, engine.is_text, kinds, strict=True)
        if text and kind == "continuous"
    ]
    if odd:
        raise DataError(
            f"The columns {listed(odd)} hold text where numbers are wanted. Turn them into numbers, or declare them "
            "discrete (",
            Option("kinds"),
            ").",
        )


def _columns(engine: Engine, levels: Sequence[Levels | None], spread: Sequence[str]) -> dict[str, Any]:
    """The continuous columns, and one of zeros and ones for every level of the others but the most frequent one."""
    import narwhals as nw

    made = []
    for name, some in zip(engine.names, levels, strict=True):
        if some is None:
            made.append(nw.col(name))
        elif len(some.values):
            others = [value for k, value in enumerate(some.values) if k != some.counts.argmax()]
            made += [(nw.col(name) == value).cast(nw.Float64) for value in others]
    return dict(zip(spread, made, strict=True))


def _column_findings(
    names: Sequence[str], levels: Sequence[Levels | None], summary: Summary, start: Any, largest: int
) -> list[Finding]:
    """Constant columns, too many levels, too few rows."""
    found: list[Finding] = []
    for i, (name, some) in enumerate(zip(names, levels, strict=True)):
        is_constant = summary.low[start[i]] == summary.high[start[i]] if some is None else len(some.values) < 2
        found += constant_findings([name], np.array([is_constant]))
        found += [] if some is None else level_finding(name, len(some.values), int(some.counts.sum()))
    if all(some is not None for some in levels):
        return [*found, *sparse_findings([len(some.values) for some in levels if some], summary.n, largest)]
    return [*found, *large_set_findings(summary.n, largest)] if summary.n else found


def _continuous(moments: Moments, names: Sequence[str], kinds: Sequence[Kind], start: Any) -> Moments:
    """The moments of the continuous columns alone."""
    chosen = [i for i, kind in enumerate(kinds) if kind == "continuous"]
    places = start[chosen]
    return replace(
        moments,
        names=tuple(names[i] for i in chosen),
        mean=moments.mean[places],
        deviation=moments.deviation[places],
        correlation=np.ascontiguousarray(moments.correlation[np.ix_(places, places)]),
    )
