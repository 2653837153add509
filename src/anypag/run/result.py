"""What a search hands over: the graph, why each edge is there or not, and how it came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Rows
from anypag.graphs.pag import PAG
from anypag.search.sepsets import UNKNOWN
from anypag.search.state import Params, State, StepInfo


class Separation(NamedTuple):
    """Why two variables have no edge: the set that separates them, its p-value, the iteration it was found in."""

    given: tuple[str, ...]
    p: float
    r: int


class MarkReason(NamedTuple):
    """A mark that a rule set or wanted: `mark` at `at` on the edge between `at` and `other`.

    `rule` is the number of the rule, 0 to 10. `because` names the nodes that made the rule apply: for R0 and R4 the two
    nodes whose separating set decided, else those the rule's pattern goes through.
    """

    at: str
    other: str
    mark: Mark
    rule: int
    because: tuple[str, ...]


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


class Sepsets(Mapping[tuple[str, str], Separation]):
    """The separations of a result, by pair of names in either order."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._names = tuple(state.names[k] for k in state.columns)
        self._place = {name: i for i, name in enumerate(self._names)}

    def __getitem__(self, pair: tuple[str, str]) -> Separation:
        a, b = (self._place[name] for name in pair)
        members = self._state.sepsets.get(a, b)
        if members is None:
            raise KeyError(pair)
        sets = self._state.sepsets
        names = tuple(name for name in self._state.names if self._place[name] in members)
        return Separation(names, float(sets.p[a, b]), int(sets.found_at[a, b]))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        place = np.argsort(self._state.columns)
        slot = self._state.sepsets.slot[np.ix_(place, place)]
        for a, b in zip(*np.nonzero(np.triu(slot != UNKNOWN, 1)), strict=True):
            yield self._state.names[a], self._state.names[b]

    def __len__(self) -> int:
        return int(np.count_nonzero(np.triu(self._state.sepsets.slot != UNKNOWN, 1)))

    def __repr__(self) -> str:
        return f"<separating sets of {len(self)} pairs>"


@dataclass(frozen=True)
class Result:
    """What a search learned.

    `complete` is True when no further iteration could change the graph; else `stopped` says what ended the run
    ("max_r", "time", "tests", "interrupt", "stop", "error") and the graph is the one of the last finished iteration,
    as right as it was then.
    """

    method: str
    params: Params
    state: State = field(repr=False)
    history: tuple[Iteration, ...] = field(repr=False)
    complete: bool
    stopped: str | None = None

    @cached_property
    def pag(self) -> PAG:
        """The graph."""
        return self.state.pag

    @property
    def sepsets(self) -> Sepsets:
        """Why pairs have no edge: `result.sepsets["A", "B"]`."""
        return Sepsets(self.state)

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
        return max((item.r for item in self.history), default=self.state.r)

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
        end = "complete" if self.complete else f"stopped ({self.stopped})"
        return f"{self.method}, r = {self.r}, {self.n_tests} tests, {end}\n{self.pag}"


def _reasons(state: State, rows: Rows) -> tuple[MarkReason, ...]:
    names = [state.names[k] for k in state.columns]
    return tuple(
        MarkReason(names[j], names[i], Mark(mark), rule, tuple(names[k] for k in because if k >= 0))
        for rule, i, j, mark, *because in rows.tolist()
    )
