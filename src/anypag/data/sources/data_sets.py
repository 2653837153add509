"""`DataSets`: the data sets that a search used. It recognises the rows of a set that a user gives again."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from anypag.data.files.read_table import rows_from
from anypag.data.files.scan import Reading
from anypag.data.sources.pooled import Pooled, beside, pooled, sets_of
from anypag.data.table import Table, parts_of
from anypag.errors import DataError, ParameterError, listed

OTHER_ROWS = (
    "These rows are not those of the search: it is assumed that they were recorded without an intervention (observed)."
)


class DataSets(NamedTuple):
    """The data sets of a search. The first, the observed one, has no intervention; others are compared with it."""

    names: tuple[str, ...]
    rows: tuple[int, ...]  # the number of rows of each set
    prints: tuple[int, ...]  # the checksum of each set, over the columns of the graph
    design: Mapping[str, tuple[float | str, ...]]  # per context its value in each set; text if it has labels
    by: str | None  # the column by which one table was split into the sets; None for separate tables

    @classmethod
    def of(cls, data: object, columns: Sequence[str]) -> Self | None:
        """The data sets of pooled data, with checksums over the columns of a graph; None for other data."""
        if not isinstance(data, Pooled):
            return None
        of_each = [data.of_set == k for k in range(len(data.sets))]
        first = [int(np.argmax(rows)) for rows in of_each]
        used = [name for name in columns if name not in data.contexts]
        prints = tuple(_checksum(data.take_rows(rows), used) for rows in of_each)
        sizes = tuple(int(rows.sum()) for rows in of_each)
        design = {name: tuple(_values(data, name, first)) for name in data.contexts if name in columns}
        return cls(data.sets, sizes, prints, design, data.by)

    @property
    def told(self) -> str:
        """A sentence: `Data sets: 'none' (200 rows), with which the others are compared; 'drug' (150 rows).`"""
        observed, *others = [f"{name!r} ({n:,} rows)" for name, n in zip(self.names, self.rows, strict=True)]
        column = "" if self.by is None else f" by {self.by!r}"
        return f"Data sets{column}: {observed}, with which the others are compared; {', '.join(others)}."

    def became(self, name: str) -> str | None:
        """A sentence on what became of a data set, or of the column that tells the sets apart; None for other names."""
        contexts = f"the context{'s' * (len(self.design) > 1)} {listed(list(self.design))}"
        if name in self.design or name not in {*self.names, self.by}:
            return None
        if name == self.by:
            return f"{name!r} tells the data sets apart: in the graph it became {contexts}."
        what = "the observed data set, with which others are compared" if name == self.names[0] else "a data set"
        return f"{name!r} is {what}; in the graph data sets are told apart by {contexts}."

    def pool(self, table: Table, columns: Sequence[str]) -> Pooled:
        """The rows of a table, each with its data set; `columns` are those of the graph. ParameterError if the rows are
        those of a set other than the observed one, or those of all sets and no column names the set of a row.
        """
        if self.by is not None and self.by in table.names:
            return self.of_tables(sets_of(table, self.by))
        found = _checksum(table, [name for name in columns if name not in self.design])
        if found in self.prints[1:]:
            raise ParameterError(
                f"These rows are the data set {self.names[self.prints.index(found)]!r}, but effects are estimated in "
                f"the observed set: give the rows of {self.names[0]!r}, or of all sets."
            )
        if table.n == sum(self.rows):
            raise ParameterError(
                "There are as many rows as all data sets have together, and no column says which set a row belongs "
                "to: give a table for each set, or the observed one alone."
            )
        return self._observed(table, *([] if found == self.prints[0] else [OTHER_ROWS]))

    def _observed(self, table: Table, *told: str) -> Pooled:
        """A pool of one data set: the table is taken for the observed set. `told`: notes for the user."""
        none, n = (None,) * len(self.design), len(self.design)
        design, of_set = Table(tuple(self.design), np.zeros((1, n)), none, none), np.zeros(table.n, np.int64)
        made = beside(table, design, of_set)
        return Pooled(**parts_of(made), contexts=design.names, sets=self.names[:1], of_set=of_set, told=told)

    def of_tables(self, there: Mapping[str, Table]) -> Pooled:
        """The tables of named data sets, as one pool. DataError for an unknown name, or without the observed set."""
        unknown = [name for name in there if name not in self.names]
        if unknown or self.names[0] not in there:
            wrong = f"{unknown[0]!r} is not one of them" if unknown else f"there are no rows of {self.names[0]!r}"
            raise DataError(f"The data sets of the search are {listed(self.names)}; {wrong}.")
        places = [k for k, name in enumerate(self.names) if name in there]
        if len(places) == 1:
            return self._observed(there[self.names[0]])
        design = {name: [values[k] for k in places] for name, values in self.design.items()}
        return pooled({self.names[k]: there[self.names[k]] for k in places}, contexts=design)


def in_sets(
    data: object, reading: Reading | None, names: Sequence[str], sets: DataSets | None, more: Sequence[str] = ()
) -> Table:
    """The rows for an estimate (see `rows_from`): the columns `names` and `more`, and the contexts of `sets`."""
    by = [] if sets is None or sets.by is None else [sets.by]
    table = rows_from(data, reading, [*names, *more, *by])
    if sets is None or isinstance(table, Pooled) or all(name in table.names for name in sets.design):
        return table
    return sets.pool(table, names)


def _values(table: Table, name: str, rows: Sequence[int]) -> list[Any]:
    """The values of a column in some rows; texts if the column has labels."""
    place = table.names.index(name)
    labels, values = table.labels[place], table.values[rows, place].tolist()
    return values if labels is None else ["" if np.isnan(value) else labels[int(value)] for value in values]


def _checksum(table: Table, names: Sequence[str]) -> int:
    """The checksum of some columns, taken in the order of their names."""
    found = 0
    for name in sorted(names):
        values = _values(table, name, range(table.n)) if name in table.names else []
        is_text = bool(values) and isinstance(values[0], str)
        content = "\n".join(values).encode() if is_text else np.array(values).tobytes()
        found = zlib.crc32(content, found)
    return found
