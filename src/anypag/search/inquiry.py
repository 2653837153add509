"""Asks the test the questions of a step, in counted batches, with a tick (the progress callback) before each batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident

import numpy as np

from anypag._kernels import pairs as kernel
from anypag.arrays import Indices
from anypag.ci.base import PValues, Queries, with_its_answers
from anypag.ci.passes import BestSets, Passes, PooledEdges
from anypag.ci.wrappers import dispatched
from anypag.search.problem import Problem
from anypag.search.progress import Progress, Tick, no_tick
from anypag.search.state import Keys, State, StepInfo


class Inquiry:
    """The test of a problem, as one step (iteration r) uses it; an exception from the tick abandons the step."""

    def __init__(self, problem: Problem, r: int, tick: Tick = no_tick, state: State | None = None) -> None:
        self.problem, self.r = problem, r
        self.alpha, self.threads = problem.choices.alpha, problem.threads
        self._workers = dispatched(problem.test)
        self._tick, self._thread, self._is_over = tick, get_ident(), False
        self._done, self._total, self._n_expected, self._lock = 0, 0, 0, Lock()
        is_first = r == 0 and state is not None and state.r < 0
        self._marginals = problem.marginals if is_first else None  # tested before the first step
        self._latest = Progress(r, "", 0, 0, 0)
        self._asked = Asked(None if state is None else state.asked, distinct=problem.test.distinct)
        self._evaluated_before = problem.test.evaluated

    def evaluate(self, queries: Queries, phase: str, done: int, total: int) -> PValues:
        """The p-values of questions; the caller counts the questions with `count`."""
        self.tick(phase, done, total)
        if self._are_known(queries):
            assert self.problem.marginals is not None
            return self.problem.marginals.p[queries.x, queries.y]
        if self._workers is not None:  # `Dispatched` chooses the workers' chunks by the time that a question takes
            return self.problem.test.pvalues(self.problem.for_test(queries))
        return self.problem.pace.answers(self.problem.test.pvalues, self.problem.for_test(queries), self.tick_again)

    def try_sets(self, passes: Passes, edges: PooledEdges, best: BestSets, room: int) -> None:
        """Continue a pass that looks for each edge's set with the largest p-value; every set it tries is counted."""
        self.tick("candidates", best.n_done, len(best.p))
        count = passes.try_sets(self.problem.nodes.order, edges, best, room)
        self.add(best.z.shape[1], count)

    @property
    def passes(self) -> Passes | None:
        """The test's `Passes`. None if it has none, or if a wrapper changes answers, limits the number of tests, or
        counts a repeated question only once.
        """
        test = self.problem.test
        form: Passes | None = getattr(with_its_answers(test), "passes", None)
        return None if test.distinct or test.limit is not None else form

    @property
    def batch(self) -> int:
        return self.problem.test.batch if self._workers is None else self._workers.block

    def _are_known(self, queries: Queries) -> bool:
        return queries.r == 0 and self.problem.marginals is not None

    def tick(self, phase: str, done: int, total: int) -> None:
        """Report how far the step is; raises if the step was abandoned."""
        self._latest = Progress(
            *(self.r, phase, self._done + done, max(self._total, total), self.n_evaluated, self.n_asked),
            n_expected=self._n_expected if phase == "candidates" else 0,
        )
        self._report(self._latest)

    def tick_again(self) -> None:
        """Repeat the last tick, between the chunks of a slow batch or while this thread waits for other threads."""
        self._report(self._latest)

    def look(self) -> None:
        """Repeat the last tick during work without tests: a budget of tests that is used up does not end such work."""
        self._report(self._latest._replace(asks=False))

    def _report(self, progress: Progress) -> None:
        """Call the tick, but only in the thread that began the step: bars, files and signals belong to that thread."""
        if self._is_over:
            raise _AbandonedError
        if get_ident() == self._thread:
            self._tick(progress)

    @contextmanager
    def counting_edges(self, total: int) -> Iterator[None]:
        """A context in which progress counts finished edges (`advance`) out of `total`."""
        self._total = total
        self.tick("candidates", 0, 0)
        yield
        self._latest = self._latest._replace(done=total, n_evaluated=self.n_evaluated, n_asked=self.n_asked)
        self.look()
        self._done, self._total, self._n_expected = 0, 0, 0

    def expect(self, n_tests: int, n_edges: int) -> None:
        """Say that the next `n_edges` edges need `n_tests` tests. Later edges are expected to need as many per edge."""
        with self._lock:
            share = max(1.0, (self._total - self._done) / max(n_edges, 1))
            self._n_expected = self.n_asked + round(n_tests * share)

    def advance(self, n_edges: int) -> None:
        with self._lock:
            self._done += n_edges

    def abandon(self) -> None:
        """Make all threads stop before their next batch."""
        self._is_over = True

    def count(self, queries: Queries) -> None:
        if not self._are_known(queries):  # known answers were counted before the first step
            self._asked.count(self.problem.for_test(queries) if self.problem.test.distinct else queries)

    def add(self, r: int, count: int) -> None:
        """Count questions that a pass answered; their condition sets have r nodes."""
        self.problem.test.add(count)
        self._asked.add(r, count)

    def ask(self, queries: Queries, phase: str) -> PValues:
        """The p-values of questions, asked in batches; all are counted."""
        parts, done = list[PValues](), 0
        while done < len(queries):
            batch = queries.take(slice(done, done + self.batch))
            parts.append(self.evaluate(batch, phase, done, len(queries)))
            self.count(batch)
            done += len(batch)
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])

    def ask_padded(self, x: Indices, y: Indices, z: Indices, phase: str) -> PValues:
        """The p-values of questions with condition sets of different sizes, padded with -1 at the end."""
        p = np.empty(len(x))
        size = (z >= 0).sum(axis=1)
        for s in sorted({*size.tolist()}):
            rows = size == s
            p[rows] = self.ask(Queries(x[rows], y[rows], z[rows, :s]), phase)
        return p

    def finished(self, phase: str, before: State, tested: State, after: State, n_open: int) -> tuple[State, StepInfo]:
        """The state after a step, with all questions counted so far, and the `StepInfo` of the step. `tested` is the
        state after candidates were tested. `n_open`: how many edges that remain had sets of r nodes.
        """
        removed, removed_by_checks = before.n_edges - after.n_edges, tested.n_edges - after.n_edges
        n_open = n_open if self.r < after.n - 2 else 0
        n_evaluated = self.n_evaluated + (self._marginals.n_evaluated if self._marginals else 0)
        counts = after.n_edges, removed, removed_by_checks, n_open
        info = StepInfo(self.r, phase, *counts, self.tests, n_evaluated, len(after.evidence.conflicts))
        asked = self.asked
        return after if asked is after.asked else after.but(asked=asked), info

    @property
    def n_evaluated(self) -> int:
        """Tests evaluated since this step began."""
        return self.problem.test.evaluated - self._evaluated_before

    @property
    def tests(self) -> dict[int, int]:
        """Tests asked for in this step, per size of the condition set. The first step includes tests made before it."""
        tests = dict(sorted(self._asked.tests.items()))
        return {0: self._marginals.n_asked, **tests} if self._marginals else tests

    @property
    def n_asked(self) -> int:
        """Tests asked for in this step."""
        return self._asked.n + (self._marginals.n_asked if self._marginals else 0)

    @property
    def asked(self) -> Keys | None:
        """The questions counted so far, for the next state."""
        return self._asked.keys


class Asked:
    """Counts the questions that a step asks for, per size of the condition set.

    Args:
        before: the keys of the questions that earlier steps have counted; this array is not changed.
        distinct: count each question only once in a run.

    >>> asked = Asked(None, distinct=True)
    >>> asked.count(Queries([0, 1], [2, 0], [[3], [3]]))
    >>> asked.count(Queries.one(2, 0, [3]))
    >>> asked.tests
    {1: 2}
    """

    def __init__(self, before: Keys | None, *, distinct: bool) -> None:
        self.tests: dict[int, int] = {}
        self.n = 0
        """Questions of all sizes."""
        self._distinct, self._before, self._lock = distinct, before, Lock()
        self._table, self._n_used = _writable(before if distinct else None)
        self._fresh: list[Keys] = []

    def count(self, queries: Queries) -> None:
        if not self._distinct:
            self.add(queries.r, len(queries))
            return
        keys, is_fresh = np.empty((len(queries), 2), np.uint64), np.empty(len(queries), np.bool_)
        kernel.keys_of(queries.x, queries.y, queries.z, keys)
        with self._lock:
            self._table, self._n_used = kernel.add(self._table, self._n_used, keys, is_fresh)
            self._fresh.append(keys[is_fresh])
        self.add(queries.r, int(is_fresh.sum()))

    def add(self, r: int, count: int) -> None:
        """Count questions with condition sets of r nodes."""
        with self._lock:
            self.n += count
            if count:
                self.tests[r] = self.tests.get(r, 0) + count

    @property
    def keys(self) -> Keys | None:
        """A table of the keys of all questions counted; None if repeated questions count too, or if none was asked."""
        if not self._distinct or not len(fresh := np.concatenate([np.empty((0, 2), np.uint64), *self._fresh])):
            return self._before
        fresh = fresh[np.lexsort(fresh.T)]
        table, _ = kernel.add(*_writable(self._before), fresh, np.empty(len(fresh), np.bool_))
        table.setflags(write=False)
        return np.asarray(table, np.uint64)


def _writable(table: Keys | None) -> tuple[Keys, int]:
    """A copy of a table of keys (an empty table for None), and the number of keys in it."""
    copy = np.zeros((1024, 2), np.uint64) if table is None else table.copy()
    return copy, int(np.count_nonzero(copy[:, 0]))


class _AbandonedError(Exception):
    """Ends a thread that works on an abandoned step."""
