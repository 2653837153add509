"""The separating sets of a state as people read them: by names, with p-value, iteration and rows."""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anypag.ci.base import CITest, Queries
from anypag.errors import UnknownNameError, absent
from anypag.graphs.marks import Separation
from anypag.results.noted import noted
from anypag.search.state import State
from anypag.threads import slices

Nodes = npt.NDArray[np.integer]


def require_names(pair: tuple[str, str], names: Sequence[str]) -> None:
    """Refuse a pair with a name that is not among these, and suggest one that is."""
    unknown = [str(name) for name in pair if name not in names]
    if unknown:
        raise UnknownNameError(absent("variable", unknown, names))


class Separations(Mapping[tuple[str, str], Separation]):
    """The separations of a result, by pair of names in either order."""

    def __init__(self, state: State, test: CITest) -> None:
        self._state, self._sets = state, state.sepsets
        self._names, self._order = state.nodes.names, state.nodes.order
        self._test = test
        self._place = {self._names[column]: i for i, column in enumerate(self._order.tolist())}

    def __getitem__(self, pair: tuple[str, str]) -> Separation:
        require_names(pair, self._names)
        a, b = (self._place[name] for name in pair)
        members = self._sets.get(a, b)
        if members is None:
            raise KeyError(pair)
        columns = sorted(self._order[list(members)].tolist())
        p, found_at = noted(self._state, self._test, np.array([a]), np.array([b]))
        effective_n = getattr(self._test, "effective_n", None)
        asked = Queries.one(self._order[a], self._order[b], columns)
        rows = None if effective_n is None else int(effective_n(asked)[0])
        return Separation(tuple(self._names[k] for k in columns), float(p[0]), int(found_at[0]), rows)

    def marginal(self, among: Collection[str]) -> list[tuple[str, str]]:
        """The pairs of these names that are independent given nothing."""
        names = [name for name in self._names if name in among]
        places = np.array([self._place[name] for name in names], np.intp)
        x, y = np.triu_indices(len(names), 1)
        is_empty = self._sets.slot(places[x], places[y]) == 0
        return [(names[a], names[b]) for a, b in zip(x[is_empty].tolist(), y[is_empty].tolist(), strict=True)]

    def _rows(self, x: Nodes, y: Nodes) -> list[int | None]:
        """The rows each of some separations rests on; None for a test without rows."""
        effective_n = getattr(self._test, "effective_n", None)
        if effective_n is None:
            return [None] * len(x)
        sets, columns, rows = self._sets, self._order, np.zeros(len(x), np.int64)
        members = sets.members[sets.slot(x, y)]
        size = (members >= 0).sum(axis=1)
        for s in np.unique(size):
            of_size = size == s
            pairs = columns[x[of_size]], columns[y[of_size]]
            rows[of_size] = effective_n(Queries(*pairs, columns[members[of_size, :s]]))
        return [*rows.tolist()]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        names = self._names
        x, y = self._pairs
        return ((names[a], names[b]) for a, b in zip(x.tolist(), y.tolist(), strict=True))

    def items(self) -> ItemsView[tuple[str, str], Separation]:
        """All of them, looked up many at a time."""
        return _Items(self)

    def many(self, chosen: slice) -> Iterator[Separation]:
        """Some of them, as they come."""
        place = np.argsort(self._order)
        a, b = (place[end[chosen]] for end in self._pairs)
        p, found_at = noted(self._state, self._test, a, b)
        found = (self._sets.slot(a, b).tolist(), p.tolist(), found_at.tolist(), self._rows(a, b))
        return (Separation(self._given[slot], p, r, n) for slot, p, r, n in zip(*found, strict=True))

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The two ends of every separated pair, in the order of the names."""
        place = np.argsort(self._order)
        x, y = np.nonzero(np.triu(self._sets.known()[np.ix_(place, place)], 1))
        return x, y

    @cached_property
    def _given(self) -> list[tuple[str, ...]]:
        """The members of every separating set, in the order of the names."""
        names, columns = self._names, self._order
        rows = (row[row >= 0] for row in self._sets.members)
        return [tuple(names[column] for column in np.sort(columns[row]).tolist()) for row in rows]

    def __len__(self) -> int:
        return int(np.count_nonzero(self._sets.known())) // 2

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
