"""How a search puts its questions: in batches, in the state's own numbering, counted, with a tick before each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from threading import Lock, get_ident
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.ci.base import CITest, Counted, PValues, Queries, strength_of
from anypag.search.state import Progress, State, StepInfo, Tick
from anypag.threads import map_in_threads, slices

Indices = npt.NDArray[np.int32]


class Asking:
    """The test, as the steps of a search see it.

    A test with an `on_pause` calls it while it works on a batch (`anypag.run.pace`).
    """

    def __init__(self, test: CITest, state: State, alpha: float, tick: Tick) -> None:
        self.counted = test if isinstance(test, Counted) else Counted(test)
        self.alpha = alpha
        self.threads = self.counted.threads if self.counted.batch > 1 else 1
        self.room = self.counted.batch
        self.r = state.r + 1
        self._columns = state.columns
        self._is_as_it_came = _is_as_it_came(state.columns)
        self._tick = _Relay(tick)
        self._done, self._total, self._lock = 0, 0, Lock()
        self._latest = Progress(self.r, "", 0, 0, 0)
        self._hear_pauses()
        self._asked_before = dict(self.counted.asked)
        self._evaluated_before = self.counted.evaluated

    def evaluate(self, queries: Queries, phase: str, done: int, total: int) -> PValues:
        """The p-values; not yet counted as asked for."""
        self.tick(phase, done, total)
        return self.counted.pvalues(self._translated(queries))

    def tick(self, phase: str, done: int, total: int) -> None:
        """Tell how far the step is, or hear that it has been abandoned."""
        self._latest = Progress(self.r, phase, self._done + done, max(self._total, total), self.n_evaluated)
        self._tick(self._latest)

    def _hear_pauses(self) -> None:
        if hasattr(self.counted.test, "on_pause"):
            self.counted.test.on_pause = self.wait

    def wait(self) -> None:
        """Tick again, from where the batch began: what a test does now and then that takes long over one, and a thread
        that waits for others.
        """
        self._tick(self._latest)

    @contextmanager
    def through(self, total: int) -> Iterator[None]:
        """While this goes on, progress counts how many of so many edges are done."""
        self._total = total
        self.tick("candidates", 0, 0)
        yield
        self._done, self._total = 0, 0

    def advance(self, n_edges: int) -> None:
        """So many more are done."""
        with self._lock:
            self._done += n_edges

    def abandon(self) -> None:
        """Have all threads stop before their next batch."""
        self._tick.is_over = True

    def count(self, queries: Queries) -> None:
        """These were needed."""
        self.counted.count(self._translated(queries) if self.counted.distinct else queries)

    def ask(self, queries: Queries, phase: str) -> PValues:
        """The p-values of questions that are all needed, whatever their number."""
        parts = [
            self.evaluate(queries.take(slice(k, k + self.room)), phase, k, len(queries))
            for k in range(0, len(queries), self.room)
        ]
        self.count(queries)
        return np.concatenate([np.empty(0), *parts])

    def ask_padded(self, x: Indices, y: Indices, z: Indices, phase: str) -> PValues:
        """The p-values of questions with condition sets of different sizes, padded with -1 at the end."""
        p = np.empty(len(x))
        size = (z >= 0).sum(axis=1)
        for s in np.unique(size):
            rows = size == s
            p[rows] = self.ask(Queries(x[rows], y[rows], z[rows, :s]), phase)
        return p

    def strength(self, x: Indices, y: Indices) -> npt.NDArray[np.float64] | None:
        """How strongly pairs depend on each other, if the test has a measure of it (`strength_of`)."""
        none = np.empty((len(x), 0), np.int32)

        def measured(run: slice) -> npt.NDArray[np.float64] | None:
            return strength_of(self.counted, self._translated(Queries(x[run], y[run], none[run])))

        parts = map_in_threads(measured, slices(len(x)), self.threads)
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if known else None

    def numbered_as(self, state: State) -> Self:
        """The same, for a state that numbers its nodes otherwise."""
        other = copy(self)
        other._columns, other._is_as_it_came = state.columns, _is_as_it_came(state.columns)
        other._hear_pauses()
        return other

    def info(self, phase: str, before: State, tested: State, after: State, n_open: int) -> StepInfo:
        """What a step did: the states before it, after its candidates were tested, and at its end.

        `n_open` edges are left that sets of this size were tried on; there may be no larger ones.
        """
        n_edges = [state.n_edges for state in (before, tested, after)]
        return StepInfo(
            r=self.r,
            phase=phase,
            n_edges=n_edges[2],
            removed=n_edges[0] - n_edges[2],
            removed_by_checks=n_edges[1] - n_edges[2],
            n_open=n_open if self.r < after.n - 2 else 0,
            tests=self.tests,
            n_evaluated=self.n_evaluated,
            n_conflicts=len(after.conflicts),
        )

    @property
    def n_evaluated(self) -> int:
        """Tests evaluated since this step began."""
        return self.counted.evaluated - self._evaluated_before

    @property
    def tests(self) -> dict[int, int]:
        """Distinct tests asked for since this step began, per size."""
        counts = {size: n - self._asked_before.get(size, 0) for size, n in sorted(self.counted.asked.items())}
        return {size: n for size, n in counts.items() if n}

    def _translated(self, queries: Queries) -> Queries:
        if self._is_as_it_came:
            return queries
        numbers = self._columns.take
        return Queries(numbers(queries.x), numbers(queries.y), numbers(queries.z))


def _is_as_it_came(columns: Indices) -> bool:
    return bool(np.array_equal(columns, np.arange(len(columns))))


class _AbandonedError(Exception):
    """Ends a thread that works on a step nobody waits for any more."""


class _Relay:
    """A tick that is only ever called in the thread that made this: bars, files and signals need not fear threads.

    Once the step is over it ends the work of every thread that comes by.
    """

    def __init__(self, tick: Tick) -> None:
        self.is_over = False
        self._tick = tick
        self._thread = get_ident()

    def __call__(self, progress: Progress) -> None:
        if self.is_over:
            raise _AbandonedError
        if get_ident() == self._thread:
            self._tick(progress)
