"""Contingency counts of a table that lives in an engine, grouped there; only counts are pulled.

Where the different rows are few, one query pulls them all with their counts, and every test reads that table of counts.
Where they are not, columns are grouped as questions need them: sets of columns are put together as long as their levels
have at most `MOST_CELLS` combinations, and every union is one query that serves all questions within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from math import prod
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from anypag.data.audit.columns import constant_findings, header_findings, level_finding, level_fit
from anypag.data.audit.copies import copy_findings
from anypag.data.audit.rows import dropped_findings, few_rows_findings, largest_set, sparse_findings
from anypag.data.findings import Audit, ColumnKind, Finding, Singular, require_choice
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.engine import Engine, Levels
from anypag.data.sources.engine_moments import complete_rows
from anypag.data.table import Missing
from anypag.errors import DataError, Option, listed

MOST_NUMBERS = 50_000_000
"""Of one table of counts that is pulled, its columns times its rows (400 MB)."""
MOST_CELLS = 1_000_000
"""Combinations of levels up to which columns are put together."""
MOST_LEVELS = 100_000
"""Of one column."""
CHECKED_IN_GROUPS = (
    "infinite and missing values",
    "too few rows",
    "constant columns",
    "columns with many levels",
    "copies",
    "a missing line of names",
)

Columns = tuple[int, ...]
Part = TypeVar("Part")


def engine_counts(data: Any, names: Sequence[str] | None = None) -> CountedTable | None:
    """All columns of a table in an engine as a table of counts; None if it has too many different rows."""
    engine = Engine.of(data, names)
    engine.n_rows()
    found = engine.grouped(engine.names, MOST_NUMBERS // len(engine.names))
    return None if found is None else CountedTable.of(*found)


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """The counts of some columns at a time.

    Args:
        engine: the table.
        levels: (p,) how many levels each column has, a gap being one of them.
        n: its rows.
        audit: what was found in them.
    """

    engine: Engine
    levels: tuple[int, ...]
    n: int
    audit: Audit
    lock: AbstractContextManager[bool] = field(default_factory=Lock)
    """Held by the one thread that asks: an engine answers one at a time."""
    _kept: dict[Columns, tuple[int, Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, data: Any, names: Sequence[str] | None, *, missing: Missing, singular: Singular, max_r: int | None
    ) -> GroupedCounts:
        """The counts of a table in an engine.

        Raises:
            DataError: something in the table would make the result wrong.
        """
        require_choice("missing", missing, ("error", "drop", "pairwise"))
        require_choice("singular", singular, ("error", "keep"))
        engine = Engine.of(data, names)
        complete, n_rows, found = complete_rows(engine, missing)
        used = engine if missing == "pairwise" else complete
        n = used.n_rows() if missing == "drop" else n_rows
        found += [*dropped_findings(n_rows, n), *few_rows_findings(n)]
        levels = [levels_of(used, i) for i in range(len(used.names))]
        found += _level_findings(used, levels, n, largest_set(len(used.names), max_r))
        Audit.of(found).require_usable()
        found += copy_findings(copies_in_engine(used, levels), singular)
        kinds = [ColumnKind(name, "discrete", "as the test takes it") for name in used.names]
        audit = Audit.of([*found, *header_findings(used.names)], CHECKED_IN_GROUPS, kinds)
        audit.require_usable()
        has_gap = 1 if missing == "pairwise" else 0
        return cls(used, tuple(len(some.values) + has_gap for some in levels), n, audit)

    def part(self, columns: Columns, make: Callable[[CountedTable], Part]) -> Part:
        """What is made of the counts of some columns; kept until others need the room."""
        if columns not in self._kept:
            table = self._counted(columns)
            while self._kept and table.table.values.size + sum(size for size, _ in self._kept.values()) > MOST_NUMBERS:
                del self._kept[next(iter(self._kept))]  # the oldest
            self._kept[columns] = table.table.values.size, make(table)
        made: Part = self._kept[columns][1]
        return made

    def _counted(self, columns: Columns) -> CountedTable:
        names = [self.engine.names[i] for i in columns]
        found = self.engine.grouped(names, MOST_NUMBERS // len(columns))
        if found is not None:
            return CountedTable.of(*found)
        raise DataError(
            f"The columns {listed(names)} have more than {MOST_NUMBERS // len(columns):,} different combinations of "
            "levels, too many to pull from the engine. Set ",
            Option("max_r"),
            f" to at most {max(len(columns) - 3, 0)}, or merge levels.",
        )

    def unions(self, sets: Iterable[Columns]) -> dict[Columns, Columns]:
        """For each set of columns the union of sets that is grouped with it."""
        return unions_of(sets, self.levels, list(self._kept))


def unions_of(sets: Iterable[Columns], levels: Sequence[int], there: Sequence[Columns] = ()) -> dict[Columns, Columns]:
    """For each set of columns a union that holds it, of at most `MOST_CELLS` combinations of levels unless it is alone.

    One after the other, each is put into the first union that has room for it.

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


def copies_in_engine(engine: Engine, levels: Sequence[Levels | None]) -> dict[str, str]:
    """Discrete columns that repeat an earlier one, perhaps under other labels, with the earlier one.

    Copies have the same numbers of rows for their levels; of two columns that have, the pairs of levels are counted.
    """
    earlier: dict[tuple[int, ...], list[int]] = {}
    copies = {}
    for i, some in enumerate(levels):
        if some is None:
            continue
        alike = earlier.setdefault(tuple(sorted(some.counts.tolist())), [])
        first = next((j for j in alike if _tell_each_other(engine, j, i, len(some.values))), None)
        if first is None:
            alike.append(i)
        else:
            copies[engine.names[i]] = engine.names[first]
    return copies


def _tell_each_other(engine: Engine, i: int, j: int, n_levels: int) -> bool:
    """Do two columns with so many levels each have no more pairs of levels, and gaps in the same rows?"""
    pairs = engine.grouped([engine.names[i], engine.names[j]], n_levels + 1)
    if pairs is None:
        return False
    gaps = np.isnan(pairs[0].values)
    is_pair = ~gaps.any(axis=1)
    return bool(is_pair.sum() == n_levels and (gaps.all(axis=1) | is_pair).all())


def levels_of(engine: Engine, i: int) -> Levels:
    """The levels of a discrete column, with their counts."""
    found = engine.levels(i, MOST_LEVELS)
    if found is None:
        raise DataError(
            f"Column {engine.names[i]!r} has more than {MOST_LEVELS:,} levels. Drop it, or merge levels; if it is a "
            "quantity, choose ",
            Option("test", "fisherz"),
            " or ",
            Option("test", "mixed"),
            ".",
        )
    return found


def _level_findings(engine: Engine, levels: Sequence[Levels], n: int, largest: int) -> list[Finding]:
    """Constant columns, and those with more levels than the rows can speak for."""
    found = constant_findings(engine.names, np.array([len(some.values) < 2 for some in levels]))
    for name, text, some in zip(engine.names, engine.is_text, levels, strict=True):
        is_fraction = not text and any(value != np.floor(value) for value in some.values)
        one = [level_fit(name, len(some.values), n)] if is_fraction else []
        found += one or level_finding(name, len(some.values), int(some.counts.sum()))
    return [*found, *sparse_findings([len(some.values) for some in levels], n, largest)]
