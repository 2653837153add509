"""A table that lives in an engine (DuckDB, Dask, Spark, ...), as a source. Fisher's z, the test for mixed data and
tests of discrete columns pull sums and counts; other tests pull all rows, if there are few enough.

The first rows are pulled for checks. A column with fractions, or more than ten different numbers, in these rows is
continuous. Otherwise its levels are counted in the engine over all rows, so that the kind is the same as for a table in
memory. Moments take two passes: extremes and means, then sums of products about the means.

If there are few distinct rows, one query pulls them all with their counts, and every test of discrete columns reads
that table. Otherwise the sets of columns that tests ask for are merged into unions (`GroupedCounts`), as long as the
levels of a union have at most `MOST_CELLS` combinations. One query for each union serves all tests of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from operator import attrgetter
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np

from anypag.data.findings import Finding
from anypag.data.levels import MOST_LEVELS, infer_kind, kind_of_levels, sortable_names, starts_of
from anypag.data.libraries import narwhals as nw
from anypag.data.moments import Moments, Products
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.engine_queries import Engine
from anypag.data.sources.protocol import Lacked, Levels, Others, Spread, Summary, ThroughRows
from anypag.data.table import Kind, Table, as_table
from anypag.errors import DataError, Option, listed

ColumnNumbers = tuple[int, ...]
Piece = TypeVar("Piece")
MOST_PULLED = 100_000_000  # the most numbers that are pulled from an engine if rows are needed (800 MB)
MOST_GROUPED = 50_000_000  # the most numbers in a pulled table of counts (400 MB)
MOST_LABELS = 10_000  # the most different texts of a column that are pulled
MOST_COUNTED = 100_000  # the most levels of a column that are pulled
MOST_CELLS = 1_000_000  # sets of columns are merged up to this many combinations of levels


@dataclass(frozen=True, eq=False)
class EngineTable(ThroughRows):
    """The columns of a table in an engine, with kinds set by the user or the test."""

    engine: Engine
    given_kinds: Mapping[str, Kind] = field(default_factory=dict)
    read: tuple[Finding, ...] = ()  # nothing is found on opening the table
    _levels: dict[int, Levels] = field(default_factory=dict)
    _moments: dict[tuple[str, ...], Moments] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Any, names: Sequence[str] | None = None) -> Self:
        """A table in an engine, or some of its columns. DataError if it has no rows, or no such columns."""
        made = cls(Engine.of(data, names))
        if made.n == 0:
            raise DataError(f"A table needs rows and columns; got 0 rows and {len(made.names)} columns.")
        return made

    names = property(attrgetter("engine.names"))

    @cached_property
    def n(self) -> int:
        return self.engine.n_rows()

    @cached_property
    def labels(self) -> tuple[tuple[str, ...] | None, ...]:
        return tuple(self._texts(i) if is_text else None for i, is_text in enumerate(self.engine.is_text))

    def _texts(self, i: int) -> tuple[str, ...]:
        found = self.engine.levels(i, MOST_LABELS)
        if found is None:
            raise DataError(
                f"Column {self.names[i]!r} holds more than {MOST_LABELS:,} different texts, as an identifier does. "
                f"Leave it out ({Option('names')}), or turn it into numbers."
            )
        return tuple(found.values)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each column: as given, else inferred as for a table in memory."""
        return tuple(self.given_kinds.get(name) or self._kind(i) for i, name in enumerate(self.names))

    def _kind(self, i: int) -> Kind:
        labels = self.labels[i]
        if labels is not None:
            return infer_kind(np.empty(0), labels)
        values = self._first_rows.values[:, i]
        seen = np.unique(values[np.isfinite(values)])
        if len(seen) > MOST_LEVELS or (seen != np.floor(seen)).any():
            return "continuous"
        found = self.engine.levels(i, MOST_LEVELS + 2)
        if found is None:
            return "continuous"
        levels = np.array(found.values, np.float64)
        is_finite = np.isfinite(levels)
        return kind_of_levels(levels[is_finite], int(found.counts[is_finite].sum()))

    @property
    def lacks(self) -> dict[Lacked, str]:
        return {"order": "an engine keeps no order of rows"}

    def take(self, names: Sequence[str]) -> EngineTable:
        if tuple(names) == self.names:
            return self
        given = {name: kind for name, kind in zip(self.names, self.kinds, strict=True) if name in names}
        return EngineTable(self.engine.take(names), given)

    def with_kinds(self, kinds: Mapping[str, Kind]) -> EngineTable:
        self._first_rows.with_kinds(kinds)  # raises if they are wrong
        made = replace(self, given_kinds={**self.given_kinds, **kinds}, _moments={})
        known = ("n", "labels", "_first_rows", "_summary")
        made.__dict__.update({name: self.__dict__[name] for name in known if name in self.__dict__})
        return made

    def complete(self) -> EngineTable:
        return self._complete if self.summary().n_complete < self.n else self

    @cached_property
    def _complete(self) -> EngineTable:
        given = dict(zip(self.names, self.kinds, strict=True))
        return EngineTable(self.engine.without_gaps(), given)

    def summary(self) -> Summary:
        """The summary. Extremes are NaN for text, or if a column has infinite values."""
        return self._summary

    @cached_property
    def _summary(self) -> Summary:
        missing, infinite = self.engine.gaps()
        low, high = np.full(len(self.names), np.nan), np.full(len(self.names), np.nan)
        numbers = [i for i, text in enumerate(self.engine.is_text) if not text and not infinite[i]]
        n_complete = self.engine.without_gaps().n_rows() if missing.any() else self.n
        if numbers:
            low[numbers], high[numbers] = self.engine.take([self.names[i] for i in numbers]).ends()
        return Summary(self.n, n_complete, missing, infinite, low, high)

    def levels(self, i: int) -> Levels:
        if i not in self._levels:
            found = self.engine.levels(i, MOST_COUNTED)
            if found is None:
                raise DataError(
                    f"Column {self.names[i]!r} has more than {MOST_COUNTED:,} levels. Drop it, or merge levels; if it "
                    f"is a quantity, choose {Option('test', 'fisherz')} or {Option('test', 'mixed')}."
                )
            self._levels[i] = found
        return self._levels[i]

    def beside(self, i: int, value: float) -> Others:
        return self.engine.beside(i, value)

    def sample(self) -> Table:
        return self._first_rows.with_kinds(self.given_kinds)

    @cached_property
    def _first_rows(self) -> Table:
        return self.engine.glance()

    def moments(self, names: Sequence[str] | None = None, *, threads: int = 1, on: Products | None = None) -> Moments:
        chosen = self.names if names is None else tuple(names)
        if chosen not in self._moments:
            self._moments[chosen] = self._summed(chosen)
        return self._moments[chosen]

    def _summed(self, names: tuple[str, ...]) -> Moments:
        has_gaps = self.summary().n_complete < self.n
        if has_gaps or names == self.names or "discrete" not in self.kinds:
            engine = self.engine.take(names)
            engine = engine.without_gaps() if has_gaps else engine
            return engine.moments(engine.summary())
        moments, start = self.spread()  # cached, as the test for mixed data reads it too
        return moments.at(start[[self.names.index(name) for name in names]], names)

    def spread(self) -> Spread:
        return self._spread

    @cached_property
    def _spread(self) -> Spread:
        levels = [self.levels(i) if kind == "discrete" else None for i, kind in enumerate(self.kinds)]
        widths = [1 if some is None else max(len(some.values) - 1, 0) for some in levels]
        start = starts_of(self.names, widths)
        # Spark takes "a.b" for the field b of a
        short = [name.replace(".", "_") for name in sortable_names(self.names, widths)]
        spread = self.engine.with_columns(dict(zip(short, _expressions(self.names, levels), strict=True)))
        return Spread(spread.moments(spread.summary()), start)

    def groups(self, names: Sequence[str] | None = None) -> CountedTable | None:
        chosen = self.names if names is None else tuple(names)
        found = self.engine.grouped(chosen, MOST_GROUPED // len(chosen))
        if found is None:
            return None
        given = {name: kind for name, kind in self.given_kinds.items() if name in chosen}
        return CountedTable.of(replace(found[0].with_kinds(given), lacks=self.lacks), found[1])

    def rows(self) -> Table:
        self.require_few_rows()
        pulled = as_table(self.engine.frame.collect().to_native(), kinds=self.given_kinds)
        return replace(pulled, lacks=self.lacks)

    def require_few_rows(self) -> None:
        """Raises a `DataError` if there are too many rows to pull them."""
        if self.n * len(self.names) > MOST_PULLED:
            raise DataError(
                f"This step needs the rows themselves, at most {MOST_PULLED:,} numbers; the table in the engine "
                f"has {self.n:,} rows and {len(self.names)} columns. Take a sample of the rows there, or fewer "
                "columns. Or choose a test whose sums or counts the engine computes: one of discrete "
                "columns or, without a transform, Fisher's z or the test for mixed data. With gaps, the last two "
                f"also need {Option('missing', 'drop')}."
            )


def _expressions(names: Sequence[str], levels: Sequence[Levels | None]) -> list[Any]:
    """The continuous columns, and an indicator of every level of a discrete one except the most frequent."""
    made = []
    for name, some in zip(names, levels, strict=True):
        if some is None:
            made.append(nw.col(name))
        elif len(some.values):
            others = [value for k, value in enumerate(some.values) if k != some.counts.argmax()]
            made += [(nw.col(name) == value).cast(nw.Float64) for value in others]
    return made


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """The counts of levels in an engine's table, for some of its columns at a time."""

    source: EngineTable
    levels: tuple[int, ...]
    lock: AbstractContextManager[bool] = field(default_factory=Lock)  # an engine answers one query at a time
    _kept: dict[ColumnNumbers, tuple[int, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: EngineTable, *, with_gaps: bool) -> GroupedCounts:
        """The counts of a table in an engine. If `with_gaps`, a gap counts as a level."""
        levels = (len(source.levels(i).values) + int(with_gaps) for i in range(len(source.names)))
        return cls(source, tuple(levels))

    def part(self, columns: ColumnNumbers, make: Callable[[CountedTable], Piece]) -> Piece:
        """The value of `make` for the counts of some columns, cached until newer values need the memory."""
        if columns not in self._kept:
            table = self._counted(columns)
            while self._kept and table.table.values.size + sum(size for size, _ in self._kept.values()) > MOST_GROUPED:
                del self._kept[next(iter(self._kept))]  # the oldest
            self._kept[columns] = table.table.values.size, make(table)
        made: Piece = self._kept[columns][1]
        return made

    def _counted(self, columns: ColumnNumbers) -> CountedTable:
        names = [self.source.names[i] for i in columns]
        found = self.source.groups(names)
        if found is not None:
            return found
        raise DataError(
            f"The columns {listed(names)} have more than {MOST_GROUPED // len(columns):,} different combinations of "
            f"levels, too many to pull from the engine. Set {Option('max_r')} to at most {max(len(columns) - 3, 0)}, "
            "or merge levels."
        )

    def unions(self, sets: Iterable[ColumnNumbers]) -> dict[ColumnNumbers, ColumnNumbers]:
        """For each set of columns, the union that contains it, whose counts one query pulls."""
        return unions_of(sets, self.levels, list(self._kept))


def unions_of(
    sets: Iterable[ColumnNumbers], levels: Sequence[int], there: Sequence[ColumnNumbers] = ()
) -> dict[ColumnNumbers, ColumnNumbers]:
    """For each set of columns a union that contains it: one of `there`, or a new one. A new union of several sets has
    at most `MOST_CELLS` combinations of levels. If a union contains the set already, that union is taken.
    """
    made: list[set[int]] = [set(union) for union in there]
    n_there, place = len(made), {}
    for columns in sorted(set(sets)):
        wanted = set(columns)
        found = next((k for k, union in enumerate(made) if wanted <= union), None)
        if found is None:
            fits = (k for k in range(n_there, len(made)) if prod(levels[i] for i in made[k] | wanted) <= MOST_CELLS)
            found = next(fits, len(made))
            if found == len(made):
                made.append(set())
            made[found] |= wanted
        place[columns] = found
    return {columns: tuple(sorted(made[k])) for columns, k in place.items()}
