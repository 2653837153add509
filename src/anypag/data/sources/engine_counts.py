"""Contingency counts of a table in an engine, grouped as the questions of tests need them: only counts are pulled.

If there are few distinct rows, one query pulls them all with their counts, and every test reads that table. Otherwise
columns are grouped as questions need them: sets of columns are merged as long as their levels have at most `MOST_CELLS`
combinations, and one query for each union serves all questions within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from math import prod
from threading import Lock
from typing import Any, TypeVar

from anypag.data.sources.counted import CountedTable
from anypag.data.sources.engine import MOST_GROUPED, EngineTable
from anypag.errors import DataError, Option, listed

MOST_CELLS = 1_000_000  # sets of columns are merged up to this many combinations of levels

ColumnNumbers = tuple[int, ...]
Piece = TypeVar("Piece")


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """The counts of some columns of an engine's table at a time; a gap is one of the levels of a column."""

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
            f"levels, too many to pull from the engine. Set {Option('max_r')} to at most {max(len(columns) - 3, 0)}, "
            "or merge levels."
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
