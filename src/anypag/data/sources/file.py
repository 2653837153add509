"""A table in a file that may be larger than memory: it is read in parts, and only sums are kept.

Complete rows go into the sums in the same chunks as those of a table in memory (see `anypag.data.moments`), so that the
file and the table give exactly the same numbers. Gaps, infinite values, extremes and levels are those of all rows. The
kinds of columns of numbers are inferred from the first rows, and checks of single rows read only these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Self

import numpy as np

from anypag.arrays import Floats
from anypag.data.columns import NO_NUMBERS, checked_column_names, require_columns
from anypag.data.files.read_table import INDEX_LEFT_OUT, index_in, read_table, repeated_names_in
from anypag.data.files.scan import glance, is_row, made_from_file
from anypag.data.findings import Finding
from anypag.data.levels import infer_kind
from anypag.data.libraries import polars
from anypag.data.moments import Moments, Products, Sums, rows_in_chunk
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.protocol import MOST_LOOKED_AT, Levels, Others, Summary, ThroughRows
from anypag.data.table import Kind, Table, as_table
from anypag.errors import DataError, Option

COUNTED_AT_ONCE = 20_000_000  # the most numbers whose levels are counted in one reading
LARGE_FILE = 500_000_000  # the most bytes of a file that is read whole to infer the kinds of columns
MOST_TEXTS = 1000  # the most texts that are read as the labels of a column
_IS_ROW = "\0is a row"  # the name of a helper column; no column of a file has it


@dataclass(frozen=True, eq=False)
class FileTable(ThroughRows):
    """The columns of a CSV, TSV, Parquet or Arrow IPC file, whose rows are read in parts when they are needed. All
    views of a file share its caches of what was read (keys: names of columns).
    """

    path: Path
    names: tuple[str, ...]
    read: tuple[Finding, ...]  # findings from opening the file
    given_kinds: Mapping[str, Kind] = field(default_factory=dict)  # set by the user or by the test
    is_complete: bool = False  # are rows with gaps left out?
    _texts: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    _rows: dict[tuple[str, ...], Table] = field(default_factory=dict)
    _levels: dict[tuple[str, tuple[str, ...]], Levels] = field(default_factory=dict)
    _passes: dict[tuple[str, ...], _Totals] = field(default_factory=dict)

    @classmethod
    def of(cls, path: str | Path, names: Sequence[str] | None = None) -> Self:
        """The columns of a file, or some of them. DataError if there is no such file or column, or no rows."""
        path = Path(path)
        first = glance(path, 1000)
        index = None if names is not None else index_in(first)
        there = [name for name in first.columns if index is None or name != index.name]
        require_columns(names or (), there)
        names = there if names is None else names
        chosen = checked_column_names(names, len(names))
        found = [*([] if index is None else [INDEX_LEFT_OUT]), *repeated_names_in(path, chosen)]
        return cls(path, chosen, tuple(found))

    @property
    def n(self) -> int:
        """The number of rows; if `is_complete`, only rows without gaps count."""
        summary = self._summary
        return summary.n_complete if self.is_complete else summary.n

    @cached_property
    def labels(self) -> tuple[tuple[str, ...] | None, ...]:
        """Per column its different texts, sorted, at most `MOST_TEXTS`; None for a column of numbers."""
        fresh = [name for name in self.names if name not in self._texts]
        if fresh:
            self._texts.update(made_from_file(self.path, lambda frame: {name: _texts(frame, name) for name in fresh}))
        return tuple(self._texts[name] for name in self.names)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each column: as given, else inferred from its labels, or from its numbers in the first rows."""
        return tuple(self.given_kinds.get(name) or self._kind(i) for i, name in enumerate(self.names))

    def _kind(self, i: int) -> Kind:
        labels = self.labels[i]
        return self.sample().kinds[i] if labels is None else infer_kind(np.empty(0), labels)

    def settled(self) -> Self | Table:
        return self.rows() if self.path.stat().st_size <= LARGE_FILE else self

    def refuse_levels(self) -> None:
        """DataError if the first rows show discrete columns."""
        discrete = [name for name, kind in zip(self.names, self.kinds, strict=True) if kind == "discrete"]
        if discrete:
            raise DataError(
                f"The file {self.path} is larger than {LARGE_FILE // 10**6} MB and has discrete columns "
                f"({discrete[0]!r}, ...), whose test needs all rows in memory. Take a sample of the rows, or declare "
                f"the columns continuous ({Option('kinds')}). If all rows fit into memory, choose "
                f"{Option('test', 'permutation')} or {Option('test', 'mixed')}, which read the whole file."
            )

    def take(self, names: Sequence[str]) -> Self:
        require_columns(names, self.names)
        if tuple(names) == self.names:
            return self
        given = {name: kind for name, kind in self.given_kinds.items() if name in names}
        return replace(self, names=checked_column_names(names, len(names)), given_kinds=given)

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Self:
        self.sample().with_kinds(kinds)  # raises if they are wrong
        return replace(self, given_kinds={**self.given_kinds, **kinds})

    def complete(self) -> Self:
        return replace(self, is_complete=True)

    def summary(self) -> Summary:
        """Gaps, infinite values and extremes. Text columns have no infinite values; their extremes are NaN."""
        whole = self._summary
        return whole._replace(n=whole.n_complete, missing=np.zeros_like(whole.missing)) if self.is_complete else whole

    @cached_property
    def _summary(self) -> Summary:
        found, p = self._pass, len(self.names)
        place = [self.names.index(name) for name in found.names]
        missing, infinite = np.zeros(p, np.int64), np.zeros(p, np.int64)
        low, high = np.full(p, np.nan), np.full(p, np.nan)
        missing[place], numbers = found.missing, place[: found.p]
        infinite[numbers] = found.infinite
        low[numbers], high[numbers] = found.complete_ends if self.is_complete else found.ends
        return Summary(found.rows, found.n, missing, infinite, low, high)

    @property
    def _pass(self) -> _Totals:
        """The result of one pass over the columns of numbers, and over the gaps of the columns of text."""
        numbers = tuple(name for name, labels in zip(self.names, self.labels, strict=True) if labels is None)
        names, p = (*numbers, *(name for name in self.names if name not in numbers)), len(numbers)
        if names not in self._passes:
            made = made_from_file(self.path, lambda frame: _Totals.over(self._parts(frame, names, p), names, p))
            self._passes[names] = made
        return self._passes[names]

    def _parts(self, frame: polars.LazyFrame, names: tuple[str, ...], p: int) -> Iterator[Floats]:
        """The rows in chunks, p columns of numbers first. The file is not read again if `_first_rows` has all of it."""
        n = int(frame.select(polars.len()).collect().item())
        if n <= self._most_rows:
            values, size = self._first_rows.take(names).values, rows_in_chunk(len(names))
            return (values[start : start + size] for start in range(0, len(values), size))
        return _parts(frame, names, p, self.path, n)

    def levels(self, i: int) -> Levels:
        among = self.names if self.is_complete else ()  # rows with gaps in these columns do not count
        if (self.names[i], among) not in self._levels:
            discrete = [k for k, kind in enumerate(self.kinds) if kind == "discrete" and k != i]
            more = [k for k in discrete if (self.names[k], among) not in self._levels]
            self._count([i, *more][: max(1, COUNTED_AT_ONCE // max(1, self.n))], among)
        return self._levels[self.names[i], among]

    def _count(self, columns: Sequence[int], among: tuple[str, ...]) -> None:
        """Keeps the levels of some columns, counted in one reading of the file."""
        kinds = [polars.Float64 if self.labels[k] is None else polars.String for k in columns]
        of_column = [
            polars.col(self.names[k]).cast(kind).drop_nulls().alias("level").value_counts().implode().alias(str(k))
            for k, kind in zip(columns, kinds, strict=True)
        ]
        counted = made_from_file(self.path, lambda frame: self._kept(frame).select(of_column).collect())
        for k in columns:
            found = counted[str(k)][0].struct.unnest().sort("level")
            levels = Levels(found["level"].to_list(), found["count"].cast(polars.Int64).to_numpy())
            self._levels[self.names[k], among] = levels

    def beside(self, i: int, value: float) -> Others:
        column = polars.col(self.names[i]).cast(polars.Float64)
        rest = column.filter(column != value)
        asked = (column == value).sum().alias("times"), rest.min().alias("low"), rest.max().alias("high")
        times, *ends = made_from_file(self.path, lambda frame: self._kept(frame).select(*asked).collect()).row(0)
        return Others(times, *(math.nan if end is None else end for end in ends))

    def _kept(self, frame: polars.LazyFrame) -> polars.LazyFrame:
        """The rows of the file with NaN as a gap; if `is_complete`, only the rows without gaps."""
        rows = frame.select(self.names).fill_nan(None)
        return rows.drop_nulls() if self.is_complete else rows

    def sample(self) -> Table:
        return self._first_rows.complete() if self.is_complete else self._first_rows

    @cached_property
    def _first_rows(self) -> Table:
        if self.names not in self._rows:
            self._rows[self.names] = as_table(glance(self.path, self._most_rows), self.names)
        return self._rows[self.names].with_kinds(self.given_kinds)

    @property
    def _most_rows(self) -> int:
        return max(MOST_LOOKED_AT // len(self.names), 1)

    def moments(self, names: Sequence[str] | None = None, *, threads: int = 1, on: Products | None = None) -> Moments:
        return self._pass.moments if names is None else self.take(names)._pass.moments

    def groups(self, names: Sequence[str] | None = None) -> CountedTable:
        return (self if names is None else self.take(names)).rows().groups()

    def rows(self) -> Table:
        table = read_table(self.path, names=self.names, kinds=self.given_kinds)
        table = replace(table, read=(*dict.fromkeys((*self.read, *table.read)),))
        return table.complete() if self.is_complete else table


class _Totals:
    """The results of a pass so far: counts and extremes over all rows; extremes and sums over rows of finite values.
    The first p of `names` are columns of numbers; of others only gaps are counted.
    """

    def __init__(self, names: tuple[str, ...], p: int) -> None:
        self.names, self.p = names, p
        self.rows = 0
        self.missing, self.infinite = np.zeros(len(names), np.int64), np.zeros(p, np.int64)
        self.ends = self.complete_ends = np.full((2, p), np.nan)  # the smallest and the largest values
        self._sums = Sums(names[:p])
        self._waiting = np.empty((0, p))  # rows of finite values that do not fill a chunk yet

    @classmethod
    def over(cls, parts: Iterator[Floats], names: tuple[str, ...], p: int) -> Self:
        """The result of a pass over all rows of a file, for some columns."""
        made = cls(names, p)
        for part in parts:
            made._add(part)
        if len(made._waiting):
            made._sums.add(made._waiting)
        if not made.rows:
            raise DataError(f"A table needs rows and columns; got 0 rows and {len(names)} columns.")
        return made

    def _add(self, part: Floats) -> None:
        self.rows += len(part)
        self.missing += np.isnan(part).sum(axis=0)
        is_whole, part = np.isfinite(part).all(axis=1), part[:, : self.p]
        self.infinite += np.isinf(part).sum(axis=0)
        complete = part[is_whole]
        self.complete_ends = _wider(self.complete_ends, complete)
        self.ends = _wider(self.ends, part if len(complete) < len(part) else self.complete_ends)
        self._waiting = np.concatenate([self._waiting, complete]) if len(self._waiting) else complete
        at_once = self._sums.rows_at_once
        while len(self._waiting) >= at_once:
            self._sums.add(self._waiting[:at_once])
            self._waiting = self._waiting[at_once:]

    n = property(attrgetter("_sums.n"))  # the number of rows whose values are all finite

    @cached_property
    def moments(self) -> Moments:
        return self._sums.moments()


def _wider(ends: Floats, part: Floats) -> Floats:
    """(2, p) the smallest and the largest values of columns: the `ends` so far, widened by the rows of `part`."""
    if not len(part):
        return ends
    return np.stack([np.fmin(ends[0], np.fmin.reduce(part)), np.fmax(ends[1], np.fmax.reduce(part))])


def _parts(frame: polars.LazyFrame, names: Sequence[str], p: int, path: Path, n: int) -> Iterator[Floats]:
    """The rows of n lines, in chunks: p columns of numbers, then 0 or a gap for text. Blank lines are skipped."""
    rows_at_once = rows_in_chunk(len(names))
    columns = [polars.col(name).cast(polars.Float64) for name in names[:p]]
    columns += [polars.when(polars.col(name).is_not_null()).then(0.0).alias(name) for name in names[p:]]
    numbers = frame.select(*columns, is_row(path).alias(_IS_ROW))
    for start in range(0, n, rows_at_once):
        part = numbers.slice(start, rows_at_once).collect().filter(polars.col(_IS_ROW)).drop(_IS_ROW)
        yield np.asfortranarray(part.fill_null(np.nan).to_numpy())


def _texts(frame: polars.LazyFrame, name: str) -> tuple[str, ...] | None:
    """The different texts of a column, sorted, at most `MOST_TEXTS`; None for a column of numbers."""
    kind = frame.collect_schema()[name]
    if kind.is_numeric() or kind == polars.Boolean:
        return None
    if kind.is_nested() or kind in (polars.Binary, polars.Object, polars.Duration, polars.Time):
        raise DataError(f"Column {name!r} is of type {kind}, which is neither numbers nor text. {NO_NUMBERS}")
    texts = frame.select(polars.col(name).cast(polars.String)).drop_nulls().unique().sort(name).head(MOST_TEXTS)
    return tuple(texts.collect()[name].to_list())
