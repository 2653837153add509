"""Counts and sums in an engine for the questions of tests: tables of counts, and columns rounded to whole numbers.

Contingency counts are grouped in the engine; only counts are pulled. If there are few distinct rows, one query pulls
them all with their counts, and every test reads that table. Otherwise columns are grouped as questions need them: sets
of columns are merged as long as their levels have at most `MOST_CELLS` combinations, and one query for each union
serves all questions within it.

A continuous column is rounded to a 64th of its normal score, by the approximate ranks of `engine_ranks`; a discrete one
is replaced by the numbers of its levels. The rows of each step are counted exactly, so ranks of the rounded column are
exact, and a table of counts of two columns determines all products of their functions. Only products of three or four
columns need sums over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from operator import mul
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np

from anypag.arrays import Floats
from anypag.data.moments import name_order
from anypag.data.sources import engine_queries as engines
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.engine import MOST_GROUPED, EngineTable
from anypag.data.sources.engine_queries import Engine
from anypag.data.sources.engine_ranks import Knots, knots_of
from anypag.data.sources.protocol import Levels
from anypag.errors import DataError, Option, listed
from anypag.threads import slices

STEPS = 64
"""Steps for each unit of the normal score. Rounding adds 1 / (12 · 64²) to its variance, or 2e-5."""

Head = tuple[int, int]
"""A column of the table, and the number of its head."""


@dataclass(frozen=True, eq=False)
class Steps:
    """A column as the whole numbers `low`, `low` + 1, ...

    Args:
        expression: computes them in the engine.
        low: the least of them.
        counts: (k,) the rows that have each.
        levels: the numbers of the levels that are heads; None for a continuous column.
    """

    expression: Any
    low: int
    counts: Floats
    levels: tuple[int, ...] | None

    @classmethod
    def of_score(cls, engine: Engine, name: str, knots: Knots) -> Self:
        """A continuous column, rounded."""
        import narwhals as nw

        expression = (knots.score(nw.col(name)) * float(STEPS)).round().cast(nw.Int64)
        steps, counts = engine.with_columns({"step": expression}).counted(("step",))
        low, high = int(steps.min()), int(steps.max())
        found = np.zeros(high - low + 1)
        found[steps[:, 0] - low] = counts
        return cls(expression, low, found, None)

    @classmethod
    def of_levels(cls, name: str, levels: Levels) -> Self:
        """A discrete column; all levels but the most frequent one are heads."""
        import narwhals as nw

        each = [(nw.col(name) == value).cast(nw.Int64) * k for k, value in enumerate(levels.values)]
        others = (k for k in range(len(levels.values)) if k != levels.counts.argmax())
        return cls(reduce(lambda a, b: a + b, each), 0, levels.counts.astype(np.float64), tuple(others))

    @property
    def ranks(self) -> Floats:
        """(k,) the mean rank of the rows of each step, from -1 to 1."""
        n, up_to = self.counts.sum(), np.cumsum(self.counts)
        ranks: Floats = (2.0 * up_to - self.counts - n) / n
        return ranks

    @property
    def heads(self) -> Floats:
        """(k, h) the heads, with mean 0: what represents the column in products (its score, or zeros and
        ones for levels).
        """
        heads: Floats = self._uncentred - self._means
        return heads

    def head(self, step: Any, number: int) -> Any:
        """The expression of one head."""
        import narwhals as nw

        one = step if self.levels is None else step == self.levels[number]
        scale = 1.0 / STEPS if self.levels is None else 1.0
        return one.cast(nw.Float64) * scale - float(self._means[number])

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return 1 if self.levels is None else len(self.levels)

    @property
    def _uncentred(self) -> Floats:
        steps = np.arange(self.low, self.low + len(self.counts), dtype=np.float64)[:, None]
        raw: Floats = steps / STEPS if self.levels is None else (steps == np.array(self.levels)).astype(np.float64)
        return raw

    @cached_property
    def _means(self) -> Floats:
        means: Floats = self.counts @ self._uncentred / self.counts.sum()
        return means


@dataclass(frozen=True, eq=False)
class SteppedTable:
    """The columns of an engine as whole numbers, in the order of their names."""

    engine: Engine
    columns: tuple[Steps, ...]
    _latest: dict[tuple[int, ...], Engine] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: Engine, levels: Sequence[Levels | None]) -> Self:
        """Of a table without gaps, and the levels of its discrete columns."""
        import narwhals as nw

        numbers = [name for name, some in zip(engine.names, levels, strict=True) if some is None]
        knots = knots_of(engine.with_columns({name: nw.col(name) for name in numbers}), engine) if numbers else {}
        made = [
            Steps.of_score(engine, name, knots[name]) if some is None else Steps.of_levels(name, some)
            for name, some in zip(engine.names, levels, strict=True)
        ]
        return cls(engine, tuple(made[i] for i in name_order(engine.names)))

    def counts(self, i: int, j: int) -> Floats:
        """(steps of i, steps of j) the count of rows for each pair of steps."""
        one, other = self.columns[i], self.columns[j]
        steps, counts = self._stepped([i, j]).counted((_named(i), _named(j)))
        found = np.zeros((len(one.counts), len(other.counts)))
        found[steps[:, 0] - one.low, steps[:, 1] - other.low] = counts
        return found

    def sums(self, products: Sequence[tuple[Head, ...]]) -> Floats:
        """(b,) the sum of each product of heads over all rows."""
        columns, made = self._expressions(products)
        return self._stepped(columns).asked([one.sum() for one in made])

    def sums_by(self, i: int, products: Sequence[tuple[Head, ...]]) -> Floats:
        """(k, b) the same over the rows of each step of a column."""
        import narwhals as nw

        steps = self.columns[i]
        found = np.zeros((len(steps.counts), len(products)))
        for part in slices(len(products), engines.EXPRESSIONS):
            columns, made = self._expressions(products[part])
            named = {_named(i): nw.col(_named(i)), **{f"v{k}": one for k, one in enumerate(made)}}
            step, sums = self._stepped([i, *columns]).with_columns(named).summed_by(_named(i))
            found[step - steps.low, part] = sums
        return found

    def _expressions(self, products: Sequence[tuple[Head, ...]]) -> tuple[list[int], list[Any]]:
        """The columns that are read, and the product of each."""
        import narwhals as nw

        heads = {head for product in products for head in product}
        made = {head: self.columns[head[0]].head(nw.col(_named(head[0])), head[1]) for head in heads}
        return [i for i, _ in heads], [reduce(mul, (made[head] for head in product)) for product in products]

    def _stepped(self, columns: Sequence[int]) -> Engine:
        """The steps of some columns. Building this query can take longer than running it, so the last one is cached."""
        chosen = tuple(sorted(set(columns)))
        if chosen not in self._latest:
            self._latest.clear()
            self._latest[chosen] = self.engine.with_columns({_named(i): self.columns[i].expression for i in chosen})
        return self._latest[chosen]


def _named(i: int) -> str:
    return f"s{i}"


MOST_CELLS = 1_000_000
"""Sets of columns are merged up to this many combinations of levels."""

ColumnNumbers = tuple[int, ...]
Piece = TypeVar("Piece")


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """The counts of some columns at a time.

    Args:
        source: the table.
        levels: (p,) how many levels each column has, a gap being one of them.
    """

    source: EngineTable
    levels: tuple[int, ...]
    lock: AbstractContextManager[bool] = field(default_factory=Lock)
    """Held by the thread that queries: an engine answers one query at a time."""
    _kept: dict[ColumnNumbers, tuple[int, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, source: EngineTable, *, with_gaps: bool) -> GroupedCounts:
        """The counts of a table in an engine; with `with_gaps` a gap is a level."""
        levels = (len(source.levels(i).values) + int(with_gaps) for i in range(len(source.names)))
        return cls(source, tuple(levels))

    def part(self, columns: ColumnNumbers, make: Callable[[CountedTable], Piece]) -> Piece:
        """The value of `make` for the counts of some columns, cached until others need the memory."""
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
            "levels, too many to pull from the engine. Set ",
            Option("max_r"),
            f" to at most {max(len(columns) - 3, 0)}, or merge levels.",
        )

    def unions(self, sets: Iterable[ColumnNumbers]) -> dict[ColumnNumbers, ColumnNumbers]:
        """For each set of columns the union of sets that is grouped with it."""
        return unions_of(sets, self.levels, list(self._kept))


def unions_of(
    sets: Iterable[ColumnNumbers], levels: Sequence[int], there: Sequence[ColumnNumbers] = ()
) -> dict[ColumnNumbers, ColumnNumbers]:
    """For each set of columns a union that contains it. A union of several sets has at most `MOST_CELLS` combinations
    of levels. Each set joins the first union with room for it.

    >>> unions_of([(0, 1), (1, 2)], (2, 2, 2))
    {(0, 1): (0, 1, 2), (1, 2): (0, 1, 2)}
    """
    made: list[set[int]] = [set(union) for union in there]
    n_there, place = len(made), {}
    for columns in sorted(set(sets)):
        wanted = set(columns)
        found = next((k for k, union in enumerate(made) if wanted <= union), None)
        if found is None:
            fits = (k for k in range(n_there, len(made)) if prod(levels[i] for i in made[k] | wanted) <= MOST_CELLS)
            found = next(fits, None)
            if found is None:
                found = len(made)
                made.append(set())
            made[found] |= wanted
        place[columns] = found
    return {columns: tuple(sorted(made[k])) for columns, k in place.items()}
