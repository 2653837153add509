"""The separating sets of a state as people read them: by names, with p-value, iteration and rows."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts
from anypag.ci.base import CITest, Queries
from anypag.errors import UnknownNameError, absent
from anypag.graphs.reasons import Separation
from anypag.search.sepsets import UNKNOWN
from anypag.search.state import State
from anypag.threads import slices


def require_names(pair: tuple[str, str], names: Sequence[str]) -> None:
    """Refuse a pair with a name that is not among these, and suggest one that is."""
    unknown = [str(name) for name in pair if name not in names]
    if unknown:
        raise UnknownNameError(absent("variable", unknown, names))


class Separations(Mapping[tuple[str, str], Separation]):
    """The separations of a result, by pair of names in either order."""

    def __init__(self, state: State, test: CITest) -> None:
        self._sets, self._tables = state.sepsets, state.evidence.tables
        self._names, self._order = state.nodes.names, state.nodes.order
        self._test = test
        self._place = {self._names[column]: i for i, column in enumerate(self._order.tolist())}

    def __getitem__(self, pair: tuple[str, str]) -> Separation:
        require_names(pair, self._names)
        a, b = (self._place[name] for name in pair)
        members = self._sets.get(a, b)
        if members is None:
            raise KeyError(pair)
        given = tuple(self._names[column] for column in sorted(self._order[k] for k in members))
        n = None if self._rows is None else int(self._rows[a, b])
        return Separation(given, float(self._tables.p[a, b]), int(self._tables.found_at[a, b]), n)

    @cached_property
    def _rows(self) -> Counts | None:
        """(n, n) the rows each separation rests on; None for a test without rows."""
        effective_n = getattr(self._test, "effective_n", None)
        if effective_n is None:
            return None
        sets, columns = self._sets, self._order
        rows = np.zeros(sets.slot.shape, np.int64)
        x, y = np.nonzero(np.triu(sets.slot != UNKNOWN, 1))
        members = sets.members[sets.slot[x, y]]
        size = (members >= 0).sum(axis=1)
        for s in np.unique(size):
            a, b, z = x[size == s], y[size == s], members[size == s, :s]
            rows[a, b] = rows[b, a] = effective_n(Queries(columns[a], columns[b], columns[z]))
        return rows

    def __iter__(self) -> Iterator[tuple[str, str]]:
        names = self._names
        x, y = self._pairs
        return ((names[a], names[b]) for a, b in zip(x.tolist(), y.tolist(), strict=True))

    def items(self) -> ItemsView[tuple[str, str], Separation]:
        """All of them, looked up many at a time."""
        return _Items(self)

    def many(self, chosen: slice) -> Iterator[Separation]:
        """Some of them, as they come."""
        sets, tables, place = self._sets, self._tables, np.argsort(self._order)
        a, b = (place[end[chosen]] for end in self._pairs)
        rows = [None] * len(a) if self._rows is None else self._rows[a, b].tolist()
        found = (sets.slot[a, b].tolist(), tables.p[a, b].tolist(), tables.found_at[a, b].tolist(), rows)
        return (Separation(self._given[slot], p, r, n) for slot, p, r, n in zip(*found, strict=True))

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The two ends of every separated pair, in the order of the names."""
        place = np.argsort(self._order)
        x, y = np.nonzero(np.triu(self._sets.slot[np.ix_(place, place)] != UNKNOWN, 1))
        return x, y

    @cached_property
    def _given(self) -> list[tuple[str, ...]]:
        """The members of every separating set, in the order of the names."""
        names, columns = self._names, self._order
        rows = (row[row >= 0] for row in self._sets.members)
        return [tuple(names[column] for column in np.sort(columns[row]).tolist()) for row in rows]

    def __len__(self) -> int:
        return int(np.count_nonzero(np.triu(self._sets.slot != UNKNOWN, 1)))

    def __repr__(self) -> str:
        return f"<separating sets of {len(self)} pairs>"


class _Items(ItemsView[tuple[str, str], Separation]):
    """The separations of a result with their pairs."""

    def __init__(self, separations: Separations) -> None:
        super().__init__(separations)
        self._separations = separations

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Separation]]:
        found = (why for run in slices(len(self._separations)) for why in self._separations.many(run))
        return zip(self._separations, found, strict=True)
