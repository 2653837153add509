"""Tables of counts (`counted`) and weighted rows (`weighted`).

A row of a table of counts (a published contingency table, the result of a `GROUP BY`) stands for as many rows as its
count says. Tests of discrete columns use the counts directly; other code repeats the rows, if they fit into memory.

Weights say how much of the population each row of a survey stands for. They are inverse probabilities of being drawn,
also called sampling, probability or survey weights. Moments and shares of levels are weighted. Tests use the effective
number of rows (`anypag.data.worth`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.data.columns import require_columns
from anypag.data.files.scan import AS_USUAL
from anypag.data.findings import Finding, warning
from anypag.data.levels import kind_of_levels
from anypag.data.moments import Moments, Products
from anypag.data.sources.protocol import MOST_LOOKED_AT, Lacked, Levels, Others, Source, Spread, Summary, ThroughRows
from anypag.data.table import Kind, Table, as_table
from anypag.data.worth import Worth
from anypag.errors import DataError, Option

MOST_ROWS = 2**31 - 1  # the largest sum of all counts
MOST_NUMBERS = 100_000_000  # the most numbers (800 MB) of a table of counts with its rows repeated in memory


@dataclass(frozen=True, eq=False)
class CountedTable(ThroughRows):
    """A table whose rows have `counts` (m,): how many rows each of them stands for, 1 or more.

    >>> table = counted({"smokes": [0, 0, 1, 1], "coughs": [0, 1, 0, 1], "n": [30, 10, 15, 25]}, "n")
    >>> table.n, table.kinds
    (80, ('discrete', 'discrete'))
    """

    table: Table
    counts: Counts

    @classmethod
    def of(cls, table: Table, counts: Counts) -> Self:
        """The rows whose count is positive, with their counts."""
        is_there = counts > 0
        return cls(replace(table, values=np.asfortranarray(table.values[is_there])), counts[is_there])

    names = property(attrgetter("table.names"))
    labels = property(attrgetter("table.labels"))
    read = property(attrgetter("table.read"))
    weights = property(attrgetter("table.weights"))
    worth = property(attrgetter("table.worth"))

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(given or self._kind(i) for i, given in enumerate(self.table.given_kinds))

    def _kind(self, i: int) -> Kind:
        if self.table.labels[i] is not None:
            return self.table.kinds[i]
        is_there = np.isfinite(self.table.values[:, i])
        return kind_of_levels(np.unique(self.table.values[is_there, i]), int(self.counts[is_there].sum()))

    @property
    def lacks(self) -> Mapping[Lacked, str]:
        """What the repeated rows lack (`_rows_lack`); also "rows" if they are too many to check one by one."""
        if self._is_plain or self.n * len(self.names) <= MOST_LOOKED_AT:
            return self._rows_lack
        return {**self._rows_lack, "rows": f"the counts stand for {self.n:,} rows, too many to check one by one"}

    @property
    def _rows_lack(self) -> Mapping[Lacked, str]:
        """What the table lacks; also the order of rows, unless all counts are 1."""
        no_order = "a table of counts has no order of rows"
        return self.table.lacks if self._is_plain else {"order": no_order, **self.table.lacks}

    @cached_property
    def _is_plain(self) -> bool:
        return bool((self.counts == 1).all())

    def take(self, names: Sequence[str]) -> Self:
        return replace(self, table=self.table.take(names))

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Self:
        return replace(self, table=self.table.with_kinds(kinds))

    def complete(self) -> Self:
        if not self.table.has_gaps:
            return self
        is_whole = np.logical_not(np.isnan(self.table.values).any(axis=1))
        table = replace(self.table, given_kinds=self.kinds).take_rows(is_whole)
        return replace(self, table=table, counts=self.counts[is_whole])

    def summary(self) -> Summary:
        values, ends = self.table.values, self.table.summary()
        if self._is_plain:
            return ends
        gaps = np.isnan(values)
        n_complete = self.n - int(self.counts @ gaps.any(axis=1))
        return Summary(self.n, n_complete, self.counts @ gaps, self.counts @ np.isinf(values), ends.low, ends.high)

    def levels(self, i: int) -> Levels:
        codes, found = self.table.codes(i), self.table.levels(i)
        if self._is_plain:
            return found
        present = codes >= 0
        counts = np.bincount(codes[present], self.counts[present], minlength=len(found.values))
        return Levels(found.values, counts.astype(np.int64))

    def beside(self, i: int, value: float) -> Others:
        return self.table.beside(i, value)._replace(times=int(self.counts @ (self.table.values[:, i] == value)))

    def sample(self) -> Table:
        """The table with rows repeated by their counts if it is small enough; else each row once."""
        if "rows" in self.lacks:
            return replace(self.table, given_kinds=self.kinds)
        return self._written_out

    @cached_property
    def _written_out(self) -> Table:
        return self.table if self._is_plain else self.rows()

    def moments(self, names: Sequence[str] | None = None, *, threads: int = 1, on: Products | None = None) -> Moments:
        return self._written_out.moments(names, threads=threads, on=on)

    def spread(self) -> Spread:
        return self._written_out.spread()

    def groups(self, names: Sequence[str] | None = None) -> Self:
        """Some of the columns; rows that become equal are not merged."""
        return self if names is None else self.take(names)

    def rows(self) -> Table:
        """The table with repeated rows. DataError if it would be too large."""
        if self.n * len(self.names) > MOST_NUMBERS:
            raise DataError(
                f"The counts stand for {self.n:,} rows of {len(self.names)} columns. This step needs the rows "
                f"themselves, at most {MOST_NUMBERS:,} numbers. Choose a test of discrete columns, which uses counts "
                f"directly ({Option('test', 'permutation')}); or divide all counts by one number."
            )
        row_of = np.repeat(np.arange(len(self.counts)), self.counts)
        return replace(self.table, given_kinds=self.kinds, lacks=self._rows_lack).take_rows(row_of)


def counted(data: Any, column: str) -> CountedTable:
    """A table of counts: one column says how many rows each row stands for. It can be used wherever a table can.

    Args:
        data: any table; see `anypag.data.as_table`.
        column: the name of the column of counts: whole numbers, 0 or more.

    Raises:
        DataError: there is no such column, or not all of its values are counts.

    >>> import anypag as ap
    >>> table = counted({"smokes": [0, 0, 1, 1], "coughs": [0, 1, 0, 1], "n": [30, 10, 15, 25]}, "n")
    >>> print(ap.learn(table, method="icd").pag)
    smokes o-o coughs
    """
    table, counts = split_off(as_table(data), column, "counts", "whole numbers, 0 or more", lambda some: some % 1 == 0)
    if not 0 < counts.sum() <= MOST_ROWS:
        wanted = f"The counts in column {column!r} must stand for 1 to {MOST_ROWS:,} rows"
        raise DataError(f"{wanted}; got {counts.sum():,.0f}.")
    reading = (table.reading or AS_USUAL)._replace(counts=column)
    return CountedTable.of(replace(table, reading=reading), counts.astype(np.int64))


def split_off(
    table: Table, column: str, what: str, wanted: str, fits: Callable[[Floats], Flags]
) -> tuple[Table, Floats]:
    """The table without its column of counts or weights (`what`), and that column. DataError if the column is not
    there, is the only one, or has a value that is not finite, is negative or does not pass `fits`.
    """
    require_columns([column], table.names)
    others = [name for name in table.names if name != column]
    if not others:
        raise DataError(f"A table with {what} needs columns beside the column of {what}; got {column!r} alone.")
    place = table.names.index(column)
    values, labels = table.values[:, place], table.labels[place]
    told = f"The {what} in column {column!r} must be {wanted}"
    if labels is not None:
        raise DataError(f"{told}; got text, such as {labels[0]!r}. Name the column that has the {what}.")
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~((values >= 0) & (values < np.inf) & fits(values)))  # NaN fails this too
    if len(wrong):
        value = values[wrong[0]]
        has = "nothing" if np.isnan(value) else f"{value:g}"
        is_weight = bool(np.isfinite(value)) and value != np.floor(value) and value > 0
        remedy = "Weights are not counts: use ap.weighted" if is_weight else "Correct that row, or leave it out"
        raise DataError(f"{told}; row {wrong[0] + 1} has {has}. {remedy}.")
    return table.take(others), values


def weighted(data: Any, column: str) -> Table:
    """The table with its rows weighted by one of its columns. It can be used wherever a table can; a function that
    cannot weight rows raises DataError.

    Args:
        data: any table; see `anypag.data.as_table`.
        column: the name of the column of weights: numbers, 0 or more. A row with weight 0 is left out.

    Raises:
        DataError: there is no such column, or not all of its values are weights.

    >>> table = weighted({"a": [1.5, 2.0, 0.5], "w": [1.0, 2.0, 2.0]}, "w")
    >>> table.names, table.weights.tolist()
    (('a',), [1.0, 2.0, 2.0])
    """
    table = as_table(data)
    if table.weights is not None:
        twice = f"Rows have weights already; {column!r} would be a second column of them."
        raise DataError(f"{twice} Choose one of the two.")
    rest, weights = split_off(table, column, "weights", "numbers, 0 or more", lambda some: some >= 0)
    wanted = f"The weights in column {column!r} must be numbers, 0 or more"
    if not weights.any():
        raise DataError(f"{wanted}, and not all 0.")
    if not 1e-100 < weights.max() < 1e100:  # their squares are summed
        told = f"the largest is {weights.max():g}, too far from 1 to compute with"
        raise DataError(f"{wanted}; {told}. Multiply all by one number: only their ratios count.")
    found = replace(rest, reading=(table.reading or AS_USUAL)._replace(weights=column), weights=weights)
    return found if weights.all() else found.take_rows(weights > 0)


def weights_of(source: Source) -> Floats | None:
    """(n,) the weights of the rows of a source; None if it has none."""
    found: Floats | None = getattr(source, "weights", None)
    return found


def worth_in(source: Source) -> Worth | None:
    """The effective number of rows of a source without gaps; None if each row counts as one row."""
    found: Worth | None = getattr(source, "worth", None)
    return found


def refuse_weights(table: Table, what: str) -> None:
    """Raises a `DataError` if rows are weighted; `what` names the code that cannot weight them."""
    if table.weights is not None:
        raise DataError(f"Rows are weighted here, and {what} count all rows alike. Leave out the weights.")


def weight_findings(source: Source, weighs: bool) -> list[Finding]:
    """A finding about the effective number of weighted rows. `weighs`: can the test weight rows? If not, DataError."""
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
    message = f"{len(weights):,} weighted rows are worth {0 if found is None else found.n:,} rows of a random sample."
    return [warning("weights", (), message, "Tests use that number of rows: weak dependences are found less often.")]
