"""The engine: one step after the other. `iterate` is it; `learn` is a loop over `iterate` with budgets around it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anypag.ci.base import Cached, CITest, Counted, as_test
from anypag.data.table import Kind, Missing
from anypag.errors import AnypagError
from anypag.graphs.pag import PAG
from anypag.run.budget import Budget, Stopped
from anypag.run.checkpoint import Checkpoint
from anypag.run.fingerprint import Source, fingerprint, innermost
from anypag.run.interrupts import interruptible
from anypag.run.methods import Method, algorithm, checked_params, checked_threads, initial_state, require
from anypag.run.pace import Paced, quiet_afterwards
from anypag.run.progress import watching
from anypag.run.result import Iteration, Result
from anypag.search.state import Params, Sepset, State, StepInfo, Tick, no_tick

Stop = Callable[[State, StepInfo], bool]
"""Asked after every step: stop here?"""


class Search:
    """A search set up and ready to run: everything checked, nothing tested yet.

    Args: as for `learn`.
    """

    def __init__(
        self,
        data_or_test: Any,
        *,
        method: Method = "icd",
        alpha: float = 0.01,
        test: str | Callable[..., Any] | CITest = "auto",
        max_r: int | None = None,
        initial: PAG | None = None,
        r0: int = 0,
        max_sets: int | None = None,
        sepset: Sepset | None = None,
        selection_bias: bool = True,
        names: Sequence[str] | None = None,
        kinds: Mapping[str, Kind] | None = None,
        missing: Missing = "error",
        threads: int = 1,
    ) -> None:
        self.method = method
        self._algorithm = algorithm(method)
        self._source = Source(data_or_test, test, names, kinds, missing)
        threads = checked_threads(method, threads)
        self.test = _as_counted(data_or_test, test, names=names, kinds=kinds, missing=missing, threads=threads)
        self.params: Params = checked_params(
            method,
            self.test,
            alpha=alpha,
            max_r=max_r,
            max_sets=max_sets,
            sepset=sepset,
            selection_bias=selection_bias,
        )
        self.start: State = initial_state(method, self.test, self.params, initial, r0)

    def checkpoint(self, path: str | os.PathLike[str], *, resume: bool = False) -> Checkpoint:
        """The checkpoint of this search in a file, new or (with `resume`) the one that is there."""
        facts = fingerprint(self.method, self.params, self.start, self.test, self._source)
        return Checkpoint(Path(path), self.test, facts, resume=resume)

    def steps(self, state: State | None = None, tick: Tick = no_tick) -> Iterator[tuple[State, StepInfo]]:
        """One step after the other, from the start or from a state reached before."""
        state = self.start if state is None else state
        while not state.done:
            with interruptible(tick) as watch, quiet_afterwards(self.test.test):
                state, info = self._algorithm.step(state, self.test, self.params, watch)
            yield state, info

    def run(
        self,
        *,
        state: State | None = None,
        history: tuple[Iteration, ...] = (),
        budget: Budget | None = None,
        stop: Stop | None = None,
        tick: Tick = no_tick,
        on_step: Callable[[Result], None] | None = None,
    ) -> Result:
        """All steps to the end, or until something stops the run; always with the last correct graph.

        Args:
            state: where to go on from; the start by default.
            history: the iterations that led to `state`.
            budget: time and tests the run may take.
            stop: asked after every step.
            tick: called before every batch of tests; may raise `Stopped`.
            on_step: gets the result so far after every finished step, as if the run had stopped there.
        """
        budget = Budget() if budget is None else budget
        result = self.result(state, history)
        watch = budget.started(self.test, tick)
        began = time.perf_counter()
        try:
            for reached, info in self.steps(result.state, watch):
                is_same = bool(result.history) and reached.marks is result.state.marks
                pag = result.history[-1].pag if is_same else reached.pag
                item = Iteration(pag, info, time.perf_counter() - began)
                result = self.result(reached, (*result.history, item))
                if on_step is not None:
                    on_step(result)
                if not reached.done and stop is not None and stop(reached, info):
                    return replace(result, stopped="stop")
                began = time.perf_counter()
        except (Stopped, KeyboardInterrupt, SystemError) as raised:
            return replace(result, stopped=_reason_of(raised))
        except AnypagError as error:  # a test that failed, or answered what is no p-value
            error.result = replace(result, stopped="error")
            raise
        return result

    def result(self, state: State | None = None, history: tuple[Iteration, ...] = ()) -> Result:
        """What is known in a state: the start, or one that a history led to."""
        state = self.start if state is None else state
        complete = bool(state.done and (not history or history[-1].info.n_open == 0))
        stopped = None if complete or not state.done else "max_r"
        return Result(self.method, self.params, history, complete, stopped, state, innermost(self.test))


def learn(
    data_or_test: Any,
    *,
    method: Method = "icd",
    alpha: float = 0.01,
    test: str | Callable[..., Any] | CITest = "auto",
    max_r: int | None = None,
    time_budget: float | None = None,
    max_tests: int | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | Tick = False,
    initial: PAG | None = None,
    r0: int = 0,
    max_sets: int | None = None,
    sepset: Sepset | None = None,
    selection_bias: bool = True,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    missing: Missing = "error",
    threads: int = 1,
) -> Result:
    """Learn a PAG from data, or with a test of your own.

    Args:
        data_or_test: a table (NumPy array, pandas, polars, pyarrow, a CSV or Parquet file, ...) or a CI test.
        method: "icd" (the default), "icd-paper" (Algorithm 1 of the paper to the letter), "fci", "anytime-fci" or
            "rfci".
        alpha: two variables count as independent if the p-value is above this.
        test: how to test a table: "auto", "fisherz", "gsq", "chisq", "mixed", or a function f(x, y, z) -> p.
        max_r: the largest condition set; None for no limit.
        time_budget: seconds after which the run ends with the last correct graph.
        max_tests: the number of tests after which it does.
        stop: a function of the state and the step's info, asked after every iteration; True ends the run.
        checkpoint: a file that keeps the run's state after every iteration and, where single tests are slow, every
            answer: a run that was killed can be resumed from it.
        resume: go on from the checkpoint if it is there; it must be of the same data and choices.
        progress: True for a progress bar, or a function that is called before every batch of tests.
        initial: a PAG to start from; its marks and missing edges are taken as known. As in any PAG, where A and C are
            not joined, A o-o B o-o C says that B is no collider between them: mark the arrowheads where it is.
        r0: the size of the first condition sets.
        max_sets: narrow an edge's condition sets by marks only where it would have more of them than this in one
            iteration; 0 always does. The default is 0 for exact tests and 1,000 for tests on data.
        sepset: which separating set of an edge counts, the "first" found or the one with the "largest-p"; the default
            is "largest-p" for "icd" on data, else "first".
        selection_bias: False if the sample is known not to be selected; leaves rules R5–R7 out.
        names: the variables, where the table does not name them.
        kinds: "continuous" or "discrete" for columns whose kind should not be guessed.
        missing: what to do with missing values: "error", "drop" (rows) or "pairwise".
        threads: how many threads test edges; 0 for one per core. The result is the same to the bit.

    Returns:
        The result: `result.pag`, `result.sepsets`, `result.history`, `result.n_tests`, `result.complete`.
        After Ctrl-C or when a budget is spent it is the one of the last finished iteration, with `complete=False`. If a
        test raises an exception, the error that comes out has it as its `result`.

    >>> import anypag as ap
    >>> dag = ap.DAG.from_string("A --> C; B --> C; C --> D")
    >>> print(ap.learn(ap.Oracle(dag)).pag)
    A o-> C
    C <-o B
    C --> D
    """
    require(stop is None or callable(stop), "stop", "None or a function of the state and the step's info", stop)
    require(isinstance(progress, bool) or callable(progress), "progress", "True, False or a function", progress)
    require(checkpoint is not None or not resume, "resume", "left out: there is no 'checkpoint' to go on from", resume)
    budget = Budget(seconds=time_budget, tests=max_tests)
    search = Search(
        data_or_test,
        method=method,
        alpha=alpha,
        test=test,
        max_r=max_r,
        initial=initial,
        r0=r0,
        max_sets=max_sets,
        sepset=sepset,
        selection_bias=selection_bias,
        names=names,
        kinds=kinds,
        missing=missing,
        threads=threads,
    )
    with watching(progress) as tick:
        if checkpoint is None:
            return search.run(budget=budget, stop=stop, tick=tick)
        with search.checkpoint(checkpoint, resume=resume) as kept:
            return search.run(
                state=kept.state,
                history=kept.history,
                budget=budget,
                stop=stop,
                tick=kept.watching(tick),
                on_step=kept.write,
            )


def iterate(
    data_or_test: Any,
    *,
    method: Method = "icd",
    alpha: float = 0.01,
    test: str | Callable[..., Any] | CITest = "auto",
    max_r: int | None = None,
    initial: PAG | None = None,
    r0: int = 0,
    max_sets: int | None = None,
    sepset: Sepset | None = None,
    selection_bias: bool = True,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    missing: Missing = "error",
    threads: int = 1,
    tick: Tick = no_tick,
) -> Iterator[tuple[State, StepInfo]]:
    """The same engine, one item per iteration r: leave the loop when you have seen enough.

    Args: as for `learn`; `tick` is called before every batch of tests.

    Returns:
        An iterator of `(state, info)`: `state.pag` is a correct graph, `info` says what the step did.

    >>> import anypag as ap
    >>> for state, info in ap.iterate(ap.Oracle(ap.DAG.from_string("A --> B; B --> C"))):
    ...     print(info.r, info.n_edges, info.n_tests)
    0 3 3
    1 2 3
    """
    search = Search(
        data_or_test,
        method=method,
        alpha=alpha,
        test=test,
        max_r=max_r,
        initial=initial,
        r0=r0,
        max_sets=max_sets,
        sepset=sepset,
        selection_bias=selection_bias,
        names=names,
        kinds=kinds,
        missing=missing,
        threads=threads,
    )
    return search.steps(tick=tick)


def _reason_of(raised: BaseException) -> str:
    """Why a run was stopped.

    A signal that comes just as a compiled function is entered or left leaves what it raised as the cause of a
    `SystemError`, or of several.
    """
    cause: BaseException | None = raised
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    if isinstance(cause, Stopped):
        return cause.reason
    if isinstance(cause, KeyboardInterrupt):
        return "interrupt"
    raise raised if cause is None else cause


def _as_counted(
    data_or_test: Any,
    test: str | Callable[..., Any] | CITest,
    *,
    names: Sequence[str] | None,
    kinds: Mapping[str, Kind] | None,
    missing: Missing,
    threads: int,
) -> Counted:
    """The test a search uses: counted; remembered where every answer costs, else taken in pieces."""
    if hasattr(data_or_test, "pvalues"):
        for name, value, default in (("test", test, "auto"), ("names", names, None), ("kinds", kinds, None)):
            require(value == default, name, "left out: what came in place of data is a test", value)
        require(missing == "error", "missing", "left out: what came in place of data is a test", missing)
        bound = as_test(data_or_test)
    else:
        from anypag.ci.resolve import resolve_test

        bound = resolve_test(data_or_test, test, names=names, kinds=kinds, missing=missing, threads=threads)
    if isinstance(bound, Counted):
        require(threads == 1, "threads", "left out: the test that came says it itself (`Counted`)", threads)
        return bound
    if bound.batch > 1:
        return Counted(Paced(bound), threads=threads)
    require(threads == 1, "threads", "left out: the test takes one question at a time", threads)
    return Counted(bound if isinstance(bound, Cached) else Cached(bound))
