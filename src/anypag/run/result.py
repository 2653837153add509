"""What a search hands over: the graph, why each edge is there or not, and how it came about."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from anypag.ci.base import CITest, Queries
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Rows
from anypag.graphs.pag import PAG
from anypag.graphs.reasons import MarkReason, Separation
from anypag.search.sepsets import UNKNOWN
from anypag.search.state import Params, State, StepInfo
from anypag.threads import slices

if TYPE_CHECKING:
    from anypag.explain import Explanation


@dataclass(frozen=True)
class Iteration:
    """One finished step: the graph after it, what it did, how long it took."""

    pag: PAG
    info: StepInfo
    seconds: float

    @property
    def r(self) -> int:
        """The size of the condition sets of this step."""
        return self.info.r


def plain_info(info: StepInfo) -> dict[str, Any]:
    """What a step did, as JSON can hold it; the tests as pairs of size and count."""
    counts = {item.name: getattr(info, item.name) for item in fields(info) if item.name not in {"phase", "tests"}}
    tests = [[int(size), int(count)] for size, count in sorted(info.tests.items())]
    return {"phase": info.phase, "tests": tests, **{name: int(count) for name, count in counts.items()}}


class Sepsets(Mapping[tuple[str, str], Separation]):
    """The separations of a result, by pair of names in either order."""

    def __init__(self, state: State, test: CITest | None = None) -> None:
        self._state = state
        self._test = test
        self._place = {state.names[column]: i for i, column in enumerate(state.columns.tolist())}

    def __getitem__(self, pair: tuple[str, str]) -> Separation:
        a, b = (self._place[name] for name in pair)
        sets, columns = self._state.sepsets, self._state.columns
        members = sets.get(a, b)
        if members is None:
            raise KeyError(pair)
        given = tuple(self._state.names[column] for column in sorted(columns[k] for k in members))
        n = None if self._rows is None else int(self._rows[a, b])
        return Separation(given, float(sets.p[a, b]), int(sets.found_at[a, b]), n)

    @cached_property
    def _rows(self) -> npt.NDArray[np.int64] | None:
        """(n, n) the rows each separation rests on; None for a test without rows."""
        effective_n = getattr(self._test, "effective_n", None)
        if effective_n is None:
            return None
        sets, columns = self._state.sepsets, self._state.columns
        rows = np.zeros(sets.slot.shape, np.int64)
        x, y = np.nonzero(np.triu(sets.slot != UNKNOWN, 1))
        members = sets.members[sets.slot[x, y]]
        size = (members >= 0).sum(axis=1)
        for s in np.unique(size):
            a, b, z = x[size == s], y[size == s], members[size == s, :s]
            rows[a, b] = rows[b, a] = effective_n(Queries(columns[a], columns[b], columns[z]))
        return rows

    def __iter__(self) -> Iterator[tuple[str, str]]:
        names = self._state.names
        x, y = self._pairs
        return ((names[a], names[b]) for a, b in zip(x.tolist(), y.tolist(), strict=True))

    def items(self) -> ItemsView[tuple[str, str], Separation]:
        """All of them, looked up many at a time."""
        return _Items(self)

    def many(self, chosen: slice) -> Iterator[Separation]:
        """Some of them, as they come."""
        sets, columns = self._state.sepsets, self._state.columns
        place = np.argsort(columns)
        a, b = (place[end[chosen]] for end in self._pairs)
        rows = [None] * len(a) if self._rows is None else self._rows[a, b].tolist()
        found = (sets.slot[a, b].tolist(), sets.p[a, b].tolist(), sets.found_at[a, b].tolist(), rows)
        return (Separation(self._given[slot], p, r, n) for slot, p, r, n in zip(*found, strict=True))

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The two ends of every separated pair, in the order of the names."""
        place = np.argsort(self._state.columns)
        x, y = np.nonzero(np.triu(self._state.sepsets.slot[np.ix_(place, place)] != UNKNOWN, 1))
        return x, y

    @cached_property
    def _given(self) -> list[tuple[str, ...]]:
        """The members of every separating set, in the order of the names."""
        names, columns = self._state.names, self._state.columns
        rows = (row[row >= 0] for row in self._state.sepsets.members)
        return [tuple(names[column] for column in np.sort(columns[row]).tolist()) for row in rows]

    def __len__(self) -> int:
        return int(np.count_nonzero(np.triu(self._state.sepsets.slot != UNKNOWN, 1)))

    def __repr__(self) -> str:
        return f"<separating sets of {len(self)} pairs>"


class _Items(ItemsView[tuple[str, str], Separation]):
    """The separations of a result with their pairs."""

    def __init__(self, sepsets: Sepsets) -> None:
        super().__init__(sepsets)
        self._sepsets = sepsets

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Separation]]:
        found = (why for part in slices(len(self._sepsets)) for why in self._sepsets.many(part))
        return zip(self._sepsets, found, strict=True)


class Learned(Protocol):
    """What a result can tell, be it fresh from a search (`Result`) or read from a file (`SavedResult`).

    `complete` is True when no further iteration could change the graph; else `stopped` says what ended the run
    ("max_r", "time", "tests", "interrupt", "stop", "error") and the graph is the one of the last finished iteration,
    as right as it was then.
    """

    @property
    def method(self) -> str: ...

    @property
    def params(self) -> Params: ...

    @property
    def test(self) -> str | None:
        """The kind of test: "FisherZ", say."""

    @property
    def n_rows(self) -> int | None:
        """The rows of the data; None where the test has none (an oracle, a function)."""

    @property
    def history(self) -> tuple[Iteration, ...]: ...

    @property
    def complete(self) -> bool: ...

    @property
    def stopped(self) -> str | None: ...

    @property
    def pag(self) -> PAG: ...

    @property
    def sepsets(self) -> Mapping[tuple[str, str], Separation]:
        """Why pairs have no edge, by pair of names in either order: `result.sepsets["A", "B"]`."""

    @property
    def marks(self) -> tuple[MarkReason, ...]:
        """Every mark that is not a circle and was not given, in the order they were set, with the rule that set it."""

    @property
    def conflicts(self) -> tuple[MarkReason, ...]:
        """Marks that a rule wanted where another mark stood, or where two rules disagreed and the circle stayed."""

    def kept_p(self, a: str, b: str) -> float:
        """For an edge: the largest p-value among the tests that kept it (NaN if it was never tested)."""

    @property
    def n_tests(self) -> int: ...

    @property
    def tests(self) -> dict[int, int]: ...

    @property
    def r(self) -> int: ...


@dataclass(frozen=True)
class Told:
    """What a history alone can tell."""

    method: str
    params: Params
    history: tuple[Iteration, ...] = field(repr=False)
    complete: bool
    stopped: str | None

    @property
    def n_tests(self) -> int:
        """Tests asked for in all finished iterations."""
        return sum(item.info.n_tests for item in self.history)

    @property
    def tests(self) -> dict[int, int]:
        """Tests asked for, per size of the condition set."""
        sizes = sorted({size for item in self.history for size in item.info.tests})
        return {size: sum(item.info.tests.get(size, 0) for item in self.history) for size in sizes}

    @property
    def r(self) -> int:
        """The size of the largest condition sets tried in a finished iteration; -1 before any."""
        return max((item.r for item in self.history), default=-1)

    def explain(self, a: str, b: str) -> Explanation:
        """What the result says about two variables, and why; see `anypag.explain.explain`."""
        from anypag.explain import explain

        return explain(cast("Learned", self), a, b)

    def edge_table(self, *, non_edges: bool = True) -> dict[str, list[Any]]:
        """All pairs in columns that any dataframe library takes; see `anypag.explain.edge_table`."""
        from anypag.explain import edge_table

        return edge_table(cast("Learned", self), non_edges=non_edges)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all; the ending picks the format: .json (for `anypag.read_result`), .csv,
        .svg, .png, .html (a report) or a format of bare graphs. See `anypag.saving.save`.
        """
        from anypag.saving import save

        save(cast("Learned", self), path)

    def plot(self) -> Any:
        """The graph as a `matplotlib.figure.Figure` (extra `plot`); see `anypag.plot.figure`."""
        from anypag.plot import figure

        return figure(cast("Learned", self))

    def _repr_svg_(self) -> str | None:
        """How notebooks show it."""
        from anypag.plot import svg_if_possible

        return svg_if_possible(cast("Learned", self))

    def summary(self) -> str:
        """Method, how far, tests, complete or not: one line."""
        end = "complete" if self.complete else f"stopped ({self.stopped})"
        return f"{self.method}, r = {self.r}, {self.n_tests} tests, {end}"


@dataclass(frozen=True)
class Result(Told):
    """What a search learned; see `Learned` for what it can tell."""

    state: State = field(repr=False)
    """What a next step would start from."""
    bound: CITest | None = field(default=None, repr=False, compare=False)
    """The test that answered."""

    @property
    def test(self) -> str | None:
        """The kind of test: "FisherZ", say."""
        return None if self.bound is None else type(self.bound).__name__.lstrip("_")

    @property
    def n_rows(self) -> int | None:
        """The rows of the data; None where the test has none (an oracle, a function)."""
        n = getattr(self.bound, "n", None)
        return None if n is None else int(n)

    @cached_property
    def pag(self) -> PAG:
        """The graph."""
        return self.history[-1].pag if self.history else self.state.pag

    @property
    def sepsets(self) -> Sepsets:
        """Why pairs have no edge: `result.sepsets["A", "B"]`."""
        return Sepsets(self.state, self.bound)

    @property
    def marks(self) -> tuple[MarkReason, ...]:
        """Every mark that is not a circle and was not given, in the order they were set, with the rule that set it."""
        return _reasons(self.state, self.state.log)

    @property
    def conflicts(self) -> tuple[MarkReason, ...]:
        """Marks that a rule wanted where another mark stood, or where two rules disagreed and the circle stayed."""
        return _reasons(self.state, self.state.conflicts)

    def kept_p(self, a: str, b: str) -> float:
        """For an edge: the largest p-value among the tests that kept it (NaN if it was never tested)."""
        i, j = (int(np.flatnonzero(self.state.columns == self.state.names.index(name))[0]) for name in (a, b))
        return float(self.state.sepsets.p[i, j])

    def __str__(self) -> str:
        return f"{self.summary()}\n{self.pag}"


def _reasons(state: State, rows: Rows) -> tuple[MarkReason, ...]:
    names = [state.names[k] for k in state.columns]
    return tuple(
        MarkReason(names[j], names[i], Mark(mark), rule, tuple(names[k] for k in because if k >= 0))
        for rule, i, j, mark, *because in rows.tolist()
    )
