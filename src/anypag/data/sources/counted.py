"""Tables of counts: each row stands for so many rows of a table that is written out nowhere.

Published contingency tables come like this, and so does what a database answers to `GROUP BY`. Tests of discrete
columns take the counts as they are; everything else takes the rows repeated, where these fit into memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from anypag.data.audit.checks import (
    LEAST_ROWS,
    constant_findings,
    copies_in,
    copy_findings,
    date_findings,
    dropped_findings,
    few_rows_findings,
    infinity_findings,
    is_constant_column,
    largest_set,
    level_finding,
    missing_findings,
    sparse_findings,
    usable_names,
)
from anypag.data.audit.fit import level_fit
from anypag.data.audit.suspicions import header_findings
from anypag.data.files.scan import AS_USUAL
from anypag.data.findings import Audit, ColumnKind, Finding, Singular, require_choice
from anypag.data.kinds import FRACTIONS, kind_of_levels, kind_reason
from anypag.data.table import Kind, Missing, Table, as_table
from anypag.errors import DataError, Option, absent

Counts = npt.NDArray[np.int64]

MOST_ROWS = 2**31 - 1
"""The most rows that all counts together may stand for."""
MOST_NUMBERS = 100_000_000
"""The most numbers (800 MB) that a table of counts may have once its rows are written out in memory."""
CHECKED_OF_COUNTS = (
    "infinite and missing values",
    "too few rows",
    "constant columns",
    "columns with many levels",
    "copies",
    "a missing line of names",
    "names that come twice",
)


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A table of which each row stands for so many.

    Args:
        table: the rows.
        counts: (m,) how many each stands for, 1 or more.

    >>> table = counted({"smokes": [0, 0, 1, 1], "coughs": [0, 1, 0, 1], "n": [30, 10, 15, 25]}, "n")
    >>> table.n, table.kinds
    (80, ('discrete', 'discrete'))
    """

    table: Table
    counts: Counts

    @classmethod
    def of(cls, table: Table, counts: Counts) -> Self:
        """The rows of a table that come at all, each so many times."""
        is_there = counts > 0
        return cls(replace(table, values=np.asfortranarray(table.values[is_there])), counts[is_there])

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return self.table.names

    @property
    def n(self) -> int:
        """The rows that all counts together stand for."""
        return int(self.counts.sum())

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Continuous or discrete, per column, as of the table written out."""
        return tuple(given or self._kind(i) for i, given in enumerate(self.table.given_kinds))

    def _kind(self, i: int) -> Kind:
        if self.table.labels[i] is not None:
            return self.table.kinds[i]
        is_there = np.isfinite(self.table.values[:, i])
        return kind_of_levels(np.unique(self.table.values[is_there, i]), int(self.counts[is_there].sum()))

    def chosen(self, names: Sequence[str] | None, kinds: Mapping[str, Kind] | None = None) -> Self:
        """Some of the columns, in the order asked for, and some kinds set by hand."""
        table = self.table if names is None else self.table.take(names)
        return replace(self, table=table.with_kinds(kinds) if kinds else table)

    def repeated(self) -> Table:
        """The table written out, for what works on rows.

        Raises:
            DataError: it would be too large.
        """
        if self.n * len(self.names) > MOST_NUMBERS:
            raise DataError(
                f"The counts stand for {self.n:,} rows of {len(self.names)} columns, and this works on the rows "
                f"themselves, up to {MOST_NUMBERS:,} numbers. Choose a test of discrete columns, which takes counts as "
                "they are (",
                Option("test", "permutation"),
                "); or divide the counts.",
            )
        row_of = np.repeat(np.arange(len(self.counts)), self.counts)
        return replace(self.table, given_kinds=self.kinds).take_rows(row_of)

    def complete(self) -> Self:
        """The rows without gaps."""
        is_whole = np.logical_not(np.isnan(self.table.values).any(axis=1))
        table = replace(self.table, given_kinds=self.kinds).take_rows(is_whole)
        return replace(self, table=table, counts=self.counts[is_whole])


def counted(data: Any, column: str) -> CountedTable:
    """A table with a column that says for how many rows each row stands; `learn` and all that takes tables takes it.

    Args:
        data: any table; see `anypag.data.as_table`.
        column: the name of the column of counts: whole numbers, 0 or more.

    Raises:
        DataError: there is no such column, or it holds no counts.

    >>> import anypag as ap
    >>> table = counted({"smokes": [0, 0, 1, 1], "coughs": [0, 1, 0, 1], "n": [30, 10, 15, 25]}, "n")
    >>> print(ap.learn(table).pag)
    smokes o-o coughs
    """
    table = data if isinstance(data, Table) else as_table(data)
    if column not in table.names:
        raise DataError(absent("column", [column], table.names))
    others = [name for name in table.names if name != column]
    if not others:
        raise DataError(f"A table of counts has columns beside that of the counts; got {column!r} alone.")
    place = table.names.index(column)
    counts = _checked(column, table.values[:, place], table.labels[place])
    reading = (table.reading or AS_USUAL)._replace(counts=column)
    return CountedTable.of(replace(table.take(others), reading=reading), counts)


def _checked(column: str, counts: npt.NDArray[np.float64], labels: tuple[str, ...] | None) -> Counts:
    """Counts as whole numbers."""
    wanted = f"The counts in column {column!r} must be whole numbers, 0 or more"
    if labels is not None:
        raise DataError(f"{wanted}; got text, such as {labels[0]!r}. Name the column that has the counts.")
    wrong = np.flatnonzero(~((counts >= 0) & (counts == np.floor(counts)) & (counts < np.inf)))  # NaN is none of this
    if len(wrong):
        value = counts[wrong[0]]
        what = "nothing" if np.isnan(value) else f"{value:g}"
        is_weight = bool(np.isfinite(value)) and value != np.floor(value)
        remedy = "Weights that are no counts have no place here" if is_weight else "Mend that row, or leave it out"
        raise DataError(f"{wanted}; row {wrong[0] + 1} has {what}. {remedy}.")
    if not 0 < counts.sum() <= MOST_ROWS:
        raise DataError(
            f"The counts in column {column!r} must stand for 1 to {MOST_ROWS:,} rows; got {counts.sum():,.0f}."
        )
    return counts.astype(np.int64)


def prepare_counts(
    given: CountedTable, *, missing: Missing, singular: Singular, max_r: int | None
) -> tuple[CountedTable, Audit]:
    """A table of counts made ready for a test of discrete columns: audited, gappy rows dropped if so chosen."""
    require_choice("missing", missing, ("error", "drop", "pairwise"))
    require_choice("singular", singular, ("error", "keep"))
    table, n = given.table, given.n
    found = [*table.read, *date_findings(table), *_gap_findings(given, missing)]
    ready = given.complete() if missing == "drop" else given
    found += dropped_findings(n, ready.n) if ready.n < n else []
    found += few_rows_findings(ready.n) if ready.n else []
    usable = usable_names(table.names, found)
    if usable and ready.n >= LEAST_ROWS:
        found += _column_findings(ready.chosen(usable), largest_set(len(table.names), max_r), singular)
    found += header_findings(table.names)
    return ready, Audit.of(found, CHECKED_OF_COUNTS, _kinds(given))


def _gap_findings(given: CountedTable, missing: Missing) -> list[Finding]:
    values, counts = given.table.values, given.counts
    gaps, infinite = counts @ np.isnan(values), counts @ np.isinf(values)
    incomplete = int(counts @ np.isnan(values).any(axis=1))
    missed = missing_findings(given.names, gaps, given.n, missing, incomplete)
    return [*infinity_findings(given.names, infinite), *missed]


def _column_findings(ready: CountedTable, largest: int, singular: Singular) -> list[Finding]:
    table = ready.table.all_of_kind("discrete")
    levels = [table.n_levels(i) for i in range(len(table.names))]
    present = ready.counts @ ~np.isnan(table.values)
    found = constant_findings(table.names, is_constant_column(table.values))
    for i, name in enumerate(table.names):
        column = table.values[np.isfinite(table.values[:, i]), i]
        is_fraction = table.labels[i] is None and bool((column != np.floor(column)).any())
        is_unfit = is_fraction and ready.table.given_kinds[i] != "discrete"
        found += [level_fit(name, levels[i], ready.n)] if is_unfit else level_finding(name, levels[i], int(present[i]))
    return [*found, *sparse_findings(levels, ready.n, largest), *copy_findings(copies_in(table), singular)]


def _kinds(given: CountedTable) -> tuple[ColumnKind, ...]:
    def reason(i: int) -> str:
        if given.table.given_kinds[i] is not None:
            return "as its type or you say"
        if given.table.labels[i] is not None:
            return kind_reason(given.table.values[:, i], given.table.labels[i], None, given.kinds[i])
        levels = given.table.n_levels(i)
        return f"whole numbers, {levels} different ones" if given.kinds[i] == "discrete" else FRACTIONS

    return tuple(ColumnKind(name, given.kinds[i], reason(i)) for i, name in enumerate(given.names))
