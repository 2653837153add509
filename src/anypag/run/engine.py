"""The engine: runs a search step by step. `iterate` yields the steps; `learn` runs them all with a `Watcher`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from anypag.choices import Choices, Device, DSep, Sepset, Stop
from anypag.ci.base import CITest
from anypag.ci.wrappers import NoTestsLeft
from anypag.data.columns import Transform
from anypag.data.findings import Singular
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.data_sets import DataSets
from anypag.data.table import Missing, Table
from anypag.errors import AnypagError, AnypagWarning, CheckpointError, DataError
from anypag.files import file_stamp
from anypag.graphs.pag import PAG
from anypag.markup import counted
from anypag.results.grounds import Searched
from anypag.results.result import Iteration, Result
from anypag.run.bind import bind, bind_again, wait_told
from anypag.run.clock import Clock, Stopped
from anypag.run.watcher import Estimated, Listeners, Watcher, drawn_until_stopped, interruptible, showing
from anypag.search.algorithm import Algorithm, algorithm
from anypag.search.node_order import order_nodes
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo
from anypag.threads import single_blas

if TYPE_CHECKING:
    from anypag.checkpoint.checkpoint import Checkpoint
    from anypag.knowledge.knowledge import Knowledge

MOST_CHECKED_AT_ONCE = 500  # up to this many variables `learn` searches for contradictions before it returns


class Search:
    """A search ready to run: all is checked, nothing tested yet. `source`: a name for data not read from a file."""

    def __init__(
        self,
        data_or_test: Any,
        choices: Choices | None = None,
        source: str | None = None,
        *,
        bound: CITest | None = None,
        problem: Problem | None = None,
    ) -> None:
        """`bound`: a test that was bound to these data; `problem`: the whole problem, if it was made before."""
        choices, self._stamp = choices or Choices(), file_stamp(data_or_test)
        with single_blas:
            self.problem = problem or bind(data_or_test, algorithm(choices.method), choices, bound)
        self.algorithm = algorithm(self.problem.choices.method)
        self._data_or_test, self._source = data_or_test, source or source_of(data_or_test)
        self.sets = DataSets.of(data_or_test, self.problem.nodes.names)

    @classmethod
    def again(cls, test: CITest, choices: Choices) -> Self:
        """The search on other rows of a table that was already bound; `choices` are those of the first search."""
        return cls(test, choices, problem=bind_again(test, algorithm(choices.method), choices))

    def knowing(self, choices: Choices) -> Self:
        """The search on the same data, with choices that differ from the user's earlier ones in `knowledge` or `method`
        only. The data are not read again, and the answers of slow tests are kept.
        """
        search = type(self)(self._data_or_test, choices, self._source, bound=self.problem.test)
        search._stamp = self._stamp
        return search

    @property
    def start(self) -> State:
        return self.algorithm.init(self.problem)

    def checkpoint(self, path: str | os.PathLike[str], *, resume: bool = False) -> Checkpoint:
        """The checkpoint of this search in a file: a new one, or with `resume` the existing one."""
        from anypag.checkpoint.checkpoint import Checkpoint
        from anypag.checkpoint.fingerprint import fingerprint

        facts = fingerprint(self.algorithm, self.problem, self._data_or_test)
        if file_stamp(self._data_or_test) != self._stamp:
            raise DataError(f"The file {self._data_or_test} changed while it was read. Start again when it is whole.")
        kept = Checkpoint(Path(path), self.problem, self.algorithm, facts, resume=resume)
        self.problem = kept.problem
        return kept

    def steps(self, state: State | None = None, tick: Tick = no_tick) -> Iterator[tuple[State, StepInfo]]:
        """Yields the steps from a state or the start. Warns if the CPU might change decisions of a graphics card."""
        told = self._close_calls
        if state is None:
            with self._limited_blas, interruptible(tick) as watch:
                if self.algorithm.facts.orders_nodes and not self.problem.is_ordered:
                    self.problem = order_nodes(self.problem, watch)
            state = self.start
        try:
            while not state.done:
                with self._limited_blas, interruptible(tick) as watch:
                    state, info = self.algorithm.step(state, self.problem, watch)
                    if state.done and self.problem.facts is not None:  # adds the marks that follow from knowledge
                        from anypag.search.apply_knowledge import closed_step

                        state, info = closed_step(self.algorithm, state, info, self.problem, watch)
                close, told = self._close_calls - told, self._close_calls
                if close:
                    were = f"{counted(close, 'p-value')} {'was' if close == 1 else 'were'} within 1e-9 of alpha"
                    warnings.warn(f"{were}: the CPU might decide otherwise.", AnypagWarning, stacklevel=2)
                yield state, info
                if not state.done and getattr(watch, "is_waiting", False):  # Ctrl-C after the last batch of the step
                    raise KeyboardInterrupt
        finally:
            self.problem.scratch.tables = None  # results outlive their search and must not hold this memory

    @property
    def _close_calls(self) -> int:
        return getattr(self.problem.bound_test, "close_calls", 0)

    @property
    def _limited_blas(self) -> AbstractContextManager[None]:
        """A context for a step. In it BLAS runs in one thread, unless the test takes one question at a time."""
        return single_blas if self.problem.test.batch > 1 else nullcontext()

    def run(self, watcher: Watcher | None = None, *, latest: Result | None = None) -> Result:
        """Run all steps, from `latest` if it is given, unless the watcher stops the run. The default watcher
        knows the budgets and `stop` of the choices. The result always has the graph of the last finished step.
        """
        watcher = Watcher(self.problem.choices, self.problem.test) if watcher is None else watcher
        result = self.result() if latest is None else latest
        clock, began = Clock(), 0.0
        try:
            with self._limited_blas, interruptible(watcher.before_batch) as tick:
                for reached, info in self.steps(result.state if result.history else None, tick):
                    is_same = bool(result.history) and reached.marks is result.state.marks
                    pag = result.history[-1].pag if is_same else reached.pag
                    item = Iteration(pag, info, clock.seconds - began)
                    result = self.result(reached, (*result.history, item))
                    watcher.after_step(result)
                    began = clock.seconds
        except (Stopped, NoTestsLeft, KeyboardInterrupt, SystemError) as raised:
            return replace(result, stopped=_reason_of(raised))
        except AnypagError as error:  # a test failed, or did not return a p-value
            error.result = replace(result, stopped="error")
            raise
        finally:
            self.problem.test.limit = None
        return result

    def result(self, state: State | None = None, history: tuple[Iteration, ...] = ()) -> Result:
        state = self.start if state is None else state
        found = self._result_of(self.problem, state, history)
        tested: State | None = getattr(state, "after_tests", None)
        if tested is None:
            return found
        choices = replace(self.problem.choices, method=self.algorithm.facts.tests_by)
        problem = replace(self.problem, choices=choices, chosen=None)
        steps = tuple(item for item in history if item.info.has_r)
        return replace(found, before_scores=self._result_of(problem, tested, steps))

    def _result_of(self, problem: Problem, state: State, history: tuple[Iteration, ...]) -> Result:
        complete = bool(state.done and (not history or history[-1].info.n_open == 0))
        stopped = None if complete or not state.done else "max_r"
        last = (history[-1].pag, history[-1].info) if history else None
        method = algorithm(problem.choices.method)
        about = (method.name, method.facts, problem.choices, history, complete, stopped)
        spent = sum(item.seconds for item in history)
        grounds = Searched(state, problem, last, partial(drawn_until_stopped, state, problem, spent))
        data = self._data_or_test.table if isinstance(self._data_or_test, CountedTable) else self._data_or_test
        reading = data.reading if isinstance(data, Table) else None
        return Result(*about, grounds, source=self._source, reading=reading, sets=self.sets, chosen=problem.chosen)


def learn(
    data_or_test: Any,
    *,
    method: str | Algorithm = "auto",
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
    possible_dsep: DSep = "all",
    dsep_max_r: int | None = None,
    effort: float = 1.0,
    selection_bias: bool = True,
    knowledge: Knowledge | None = None,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "auto",
    transform: Transform = "none",
    singular: Singular = "auto",
    device: Device = "cpu",
    threads: int = 1,
    n_jobs: int | None = None,
) -> Result:
    """Learn a PAG from data, or with a test of your own.

    Args:
        data_or_test: a table (NumPy array, pandas, polars, pyarrow, a CSV or Parquet file, ...) or a CI test.
        method: "auto" (the default) runs "icd", then samples a posterior over graphs. It runs "icd" alone if there is
            no score, the posterior would take long, `singular` is "keep", or an option only for tests was chosen
            (`max_r`, `r0`, `initial`); `result.chosen` says why. By tests: "icd", "icd-paper" (Algorithm 1 exactly as
            published), "fci", "anytime-fci", "rfci", "fci+". By scores: "bayes" (the posterior alone), "boss" (assumes
            that nothing is hidden), "gfci". Or an `anypag.search.algorithm.Algorithm` of your own.
        alpha: two variables count as independent if the p-value is above this.
        test: the test for a table: "auto", "fisherz", "permutation", "mixed", ... (`docs/tests.md`), or a function
            f(x, y, z) -> p.
        max_r: the size of the largest condition sets; None for no limit.
        time_budget: seconds after which the run ends with the last finished graph; reading the data counts,
            compiling does not.
        max_tests: the number of tests after which the run ends in the same way; an oracle may exceed it by one batch.
        stop: a function of the state and the step's info, called after every iteration; True ends the run.
        checkpoint: a file from which a killed run can be resumed. It keeps the state after every iteration; if single
            tests are slow, also every answer.
        resume: continue from the checkpoint if it exists; it must be of the same data and choices.
        progress: True for a progress bar, or a function that is called before every batch of tests.
        initial: a PAG to start from; its marks and missing edges are taken as known. In a PAG, A o-o B o-o C without an
            edge between A and C says that B is no collider: if B is one, give its arrowheads.
        r0: the size of the first condition sets.
        max_sets: if an edge has more condition sets than this in one iteration, it is tested only given variables that,
            by the marks so far, may cause one of its ends or selection. The default is 1,000 on data, and 0 with exact
            tests, so that every edge is tested in this way. For sets of up to two variables the limit is 100 times as
            high, unless the test takes one question at a time.
        sepset: which separating set of an edge is kept: the "first" found, or the one with the "largest-p". The default
            is "largest-p" for "auto", "icd" and "bayes" on data if the test takes many questions at once, else "first".
        possible_dsep: for "fci" and "gfci", the nodes of Possible-D-Sep that condition sets may contain: "all", or only
            those "on-paths" between the two variables, which suffice and give far fewer sets.
        dsep_max_r: the size of the largest condition sets of the Possible-D-Sep phase; if None, `max_r` limits it.
        effort: how long to search by score ("auto", "bayes", "boss", "gfci"). 1 is fast, 5 is thorough (more work).
        selection_bias: False if the sample is known not to be selected; then rules R5–R7 are not used.
        knowledge: background knowledge (`anypag.Knowledge`): it narrows what is tested and sets marks;
            `result.knowledge` has the outcome of each statement.
        names: the variables, if the table does not name them; else the columns to use ("price*": all that match).
        kinds: "continuous", "discrete" or "ordinal" for columns whose kind should not be guessed; see `as_table`.
        missing: what to do with missing values: "auto" (columns with a value in fewer than half of the rows are left
            out, then rows with gaps; a warning says which), "error", "drop" (rows) or "pairwise".
        transform: "normal-scores" replaces every continuous column by the normal scores of its ranks. Tests then see
            any monotone dependence, and lose almost nothing on Gaussian data. The whole table is then read into memory.
        singular: what to do with constants, identifiers and columns that are exact functions of others: "auto" (leave
            them out; a warning says which), "error", or "keep" (functions stay; constants and identifiers are errors).
        device: where Fisher's z computes: "cpu", "cuda" (a graphics card; extra `gpu`) or "auto" (a card if there is
            one, else the CPU, with a warning). Decisions are the same unless a p-value is within 1e-9 of alpha; a
            warning then says so.
        threads: how many threads test edges and improve graphs; 0 for one per core. Any number gives the same result.
        n_jobs: how many workers run a slow test (a function of yours) at the same time, through joblib; -1 for one per
            core, None for the number in the surrounding `joblib.parallel_config` (without one, 1). Any number gives
            the same result.

    Returns:
        The result: `result.pag`, `result.posterior` (how probable edges are), `result.by_tests` (the search by tests,
        with separating sets and rules), `result.history`, `result.n_tests`, `result.complete`.
        `result.contradictions` lists claims that cannot all be true, `result.audit` what was found in the data. Both
        also come as `AnypagWarning`s (contradictions for up to 500 variables).
        After Ctrl-C, or when a budget is spent, the result is that of the last finished iteration, and has
        `complete=False`. If a test raises an exception, the error has this result as its `result`.

    >>> import anypag as ap
    >>> dag = ap.DAG.from_string("A --> C; B --> C; C --> D")
    >>> print(ap.learn(ap.Oracle(dag)).pag)
    A o-> C
    B o-> C
    C --> D
    """
    choices = Choices.of(locals())
    clock = Clock()
    search = Search(data_or_test, choices)
    warn_of(search)
    with showing(progress) as tick:
        result = learned(search, choices, Listeners(progress=tick, clock=clock))
    warn_of_contradictions(result)
    return result


def learned(search: Search, choices: Choices, listeners: Listeners) -> Result:
    """The result of a search, with a checkpoint if one was chosen; for `learn` and the command line. If a test or the
    checkpoint fails, it raises AnypagError; the `result` of the error is that of the last finished step, if any.
    """
    if choices.checkpoint is None:
        return _watched(search, choices, listeners, None)
    result = None
    try:
        with search.checkpoint(choices.checkpoint, resume=choices.resume) as kept:
            listeners.on_checkpoint(kept)
            result = _watched(search, choices, listeners, kept)
    except CheckpointError as error:  # closing the file failed: the result is not lost
        error.result = error.result or result
        raise
    return result


def with_draws(result: Result, listeners: Listeners) -> Result:
    """The result, with the sampled graphs for effects already drawn; `listeners` get the progress. If the search was
    interrupted, no graphs are drawn. If the drawing is interrupted, `stopped` of the result becomes "interrupt".
    """
    grounds = result.grounds
    if not isinstance(grounds, Searched) or grounds.sampled is None:
        return result
    state, ended, spent = grounds.state, result.stopped, listeners.clock.seconds
    if ended != "interrupt":
        state, ended = drawn_until_stopped(state, grounds.problem, spent, listeners)
    stopped = ended if ended == "interrupt" else result.stopped
    return replace(result, stopped=stopped, grounds=replace(grounds, for_effects=lambda: (state, ended)))


def may_draw(result: Result) -> bool:
    """Does the result have chains whose only purpose is to sample graphs for effects?"""
    chains = getattr(result.state, "for_effects", None) if result.probabilities is not None else None
    return chains is not None and len(chains.graph) > 0


def _watched(search: Search, choices: Choices, listeners: Listeners, kept: Checkpoint | None) -> Result:
    """The result of a search that calls these listeners; it continues from the steps in the checkpoint, if any."""
    latest = search.result() if kept is None else search.result(kept.state, kept.history)

    def on_step(result: Result) -> None:
        nonlocal latest
        latest = result
        listeners.on_step(result)

    watcher = Watcher(choices, search.problem.test, replace(listeners, on_step=on_step), kept)
    try:
        with listeners.signals.ending_a_run():
            return search.run(watcher, latest=latest)
    except Stopped as stopped:  # a signal before the first step, or after the last
        return replace(latest, stopped=None if latest.complete else stopped.reason)


def iterate(
    data_or_test: Any,
    *,
    method: str | Algorithm = "auto",
    alpha: float = 0.01,
    test: str | Callable[..., Any] | CITest = "auto",
    max_r: int | None = None,
    initial: PAG | None = None,
    r0: int = 0,
    max_sets: int | None = None,
    sepset: Sepset | None = None,
    possible_dsep: DSep = "all",
    dsep_max_r: int | None = None,
    effort: float = 1.0,
    selection_bias: bool = True,
    knowledge: Knowledge | None = None,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "auto",
    transform: Transform = "none",
    singular: Singular = "auto",
    device: Device = "cpu",
    threads: int = 1,
    n_jobs: int | None = None,
    tick: Tick = no_tick,
) -> Iterator[tuple[State, StepInfo]]:
    """The steps of a search. Each step of a search by tests has one size r of condition sets. "auto" then goes on with
    the steps of a search by scores; "gfci" begins with such steps. Leave the loop when you have seen enough.

    Args: as for `learn`; `tick` is called before every batch of tests.

    Returns:
        An iterator of `(state, info)`: `state.pag` is the graph after the step, `info` says what the step did.

    >>> import anypag as ap
    >>> for state, info in ap.iterate(ap.Oracle(ap.DAG.from_string("A --> B; B --> C"))):
    ...     print(info.r, info.n_edges, info.n_tests)
    0 3 3
    1 2 3
    """
    search = Search(data_or_test, Choices.of(locals()))
    warn_of(search)
    return search.steps(tick=tick if tick is no_tick else Estimated(tick))


def source_of(data: Any) -> str | None:
    """The name of the file that data are read from."""
    return Path(data).name if isinstance(data, str | os.PathLike) else None


def warn_of(search: Search) -> None:
    """Warn about the findings in the data, and of a search that will take long."""
    found = search.problem.audit.warnings if search.problem.audit else ()
    wait = wait_told(search.problem, search.algorithm)
    for told in (*found, *([wait] if wait else [])):
        warnings.warn(str(told), AnypagWarning, stacklevel=3)


def warn_of_contradictions(result: Result) -> None:
    """Warn of a misfit of the model and, up to `MOST_CHECKED_AT_ONCE` variables, of contradictions in the result."""
    for line in result.misfit_told:
        warnings.warn(line, AnypagWarning, stacklevel=3)
    if not result.is_exact and len(result.pag) <= MOST_CHECKED_AT_ONCE and result.contradictions:
        warnings.warn("\n".join(result.consistency.lines(most=1)), AnypagWarning, stacklevel=3)


def _reason_of(raised: BaseException) -> str:
    """Why a run was stopped. A signal at the entry or exit of compiled code is the `__cause__` of a `SystemError`."""
    cause: BaseException | None = raised
    while isinstance(cause, SystemError):
        cause = cause.__cause__
    if isinstance(cause, Stopped):
        return cause.reason
    if not isinstance(cause, NoTestsLeft | KeyboardInterrupt):
        raise cause or raised
    return "tests" if isinstance(cause, NoTestsLeft) else "interrupt"
