"""The watcher of a running search: time and test budgets, checkpoints, progress bars, signals, and the user's `stop`.

Ctrl-C takes effect at once in Python code. Around calls of compiled code an exception from a signal handler could be
lost, or end the process. There the handler only records the signal; the next tick (a callback) raises the exception.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from anypag.choices import Choices
from anypag.ci.wrappers import Counted
from anypag.results.result import Result
from anypag.run.clock import Clock, Signals, Stopped, is_in_compiled_code
from anypag.search.problem import Problem
from anypag.search.progress import Progress, Tick, no_tick
from anypag.search.state import State

if TYPE_CHECKING:
    from anypag.checkpoint.checkpoint import Checkpoint

SECONDS_BETWEEN_UPDATES = 0.05  # of a progress bar
SECONDS_TO_MEASURE = 0.5  # a pace is measured over at least this many seconds


@dataclass(frozen=True)
class Listeners:
    """The callbacks of a running search."""

    progress: Tick = no_tick  # called before every batch of tests
    on_step: Callable[[Result], None] = lambda result: None  # called with the result so far after every finished step
    on_checkpoint: Callable[[Checkpoint], None] = lambda kept: None  # called with the checkpoint before the first step
    signals: Signals = field(default_factory=Signals)  # handles signals
    clock: Clock = field(default_factory=Clock)  # measures the time budget


class Watcher:
    """Called before every batch of tests and after every step; either call may end the run by raising `Stopped`. Tests
    count from the creation of the watcher on. Signals wait while files are written and callbacks run.
    """

    def __init__(
        self, choices: Choices, test: Counted, listeners: Listeners | None = None, checkpoint: Checkpoint | None = None
    ) -> None:
        self._choices, self._test, self._checkpoint = choices, test, checkpoint
        self._listeners = Listeners() if listeners is None else listeners
        self._signals = self._listeners.signals
        self._finished = self._in_step = 0
        self._evaluated_before = test.evaluated
        if choices.max_tests is not None and not test.distinct:
            test.limit = test.evaluated + int(choices.max_tests)

    @property
    def n_used(self) -> int:
        """How many tests of the budget were used, including those of an abandoned step."""
        asked = self._finished + self._in_step
        return asked if self._test.distinct else self._test.evaluated - self._evaluated_before

    def before_batch(self, progress: Progress) -> None:
        """Before a batch: raise if the run should end; else write new answers and report the progress."""
        self._in_step = progress.n_asked
        self._signals.check()
        with self._signals.held():
            tests, seconds = self._choices.max_tests, self._choices.time_budget
            is_counted = self._test.limit is None and progress.asks  # a test with a limit enforces the limit itself
            if tests is not None and is_counted and self.n_used >= tests:
                raise Stopped("tests")
            if seconds is not None and self._listeners.clock.seconds >= seconds:
                raise Stopped("time")
            if self._checkpoint is not None:
                self._checkpoint.before_batch()
            self._listeners.progress(progress)

    def after_step(self, result: Result) -> None:
        """After a step: write the checkpoint, call the callbacks, and raise if the run should end."""
        self._finished, self._in_step = self._finished + result.history[-1].info.n_tests, 0
        with self._signals.held():
            if self._checkpoint is not None:
                self._checkpoint.after_step(result)
            self._listeners.on_step(result)
        stop = self._choices.stop
        if stop is not None and not result.state.done and stop(result.state, result.history[-1].info):
            raise Stopped("stop")


def drawn_until_stopped(
    state: State, problem: Problem, spent: float, listeners: Listeners | None = None
) -> tuple[State, str | None]:
    """The state of a search with the graphs for effects drawn so far, and what stopped the drawing (None if nothing
    did, or if no time was left to begin). The search has used `spent` seconds of the time budget.
    """
    from anypag.search.by_scores.bayes import BayesState, draws_for_effects

    budget = problem.choices.time_budget
    left = None if budget is None else budget - spent
    if not isinstance(state, BayesState) or (left is not None and left <= 0):
        return state, None
    choices = replace(problem.choices, time_budget=left, max_tests=None)
    with showing(choices.progress) as tick:
        heard = replace(listeners or Listeners(tick), clock=Clock())
        watcher = Watcher(choices, problem.test, heard)
        try:
            with heard.signals.ending_a_run(), interruptible(watcher.before_batch) as look:
                for drawn in draws_for_effects(state, problem, look):
                    state = drawn
        except Stopped as stopped:
            return state, stopped.reason
    return state, None


class _Watch:
    """A tick that raises if a Ctrl-C is pending."""

    def __init__(self, tick: Tick) -> None:
        self.is_waiting = False
        self._tick = tick

    def received(self, number: int, frame: FrameType | None) -> None:
        if self.is_waiting or not is_in_compiled_code(frame):
            raise KeyboardInterrupt
        self.is_waiting = True

    def __call__(self, progress: Progress) -> None:
        if self.is_waiting:
            raise KeyboardInterrupt
        self._tick(progress)


@contextmanager
def interruptible(tick: Tick) -> Iterator[Tick]:
    """A context for work that Ctrl-C ends. It yields a tick that raises KeyboardInterrupt. A user's handler is kept."""
    is_handled = isinstance(tick, _Watch)  # by an outer context
    is_main = threading.current_thread() is threading.main_thread()
    if is_handled or not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield tick
        return
    watch = _Watch(tick)
    signal.signal(signal.SIGINT, watch.received)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Estimated:
    """Adds to each tick the estimated time left in the phase: the work left, divided by the pace measured in this run.
    A phase whose tests were counted beforehand uses the pace of the last such phase until its own pace is measured.
    """

    def __init__(self, tick: Tick, clock: Clock | None = None) -> None:
        self._tick, self._clock = tick, Clock() if clock is None else clock
        self._phase: tuple[str, bool] | None = None
        self._began, self._first, self._latest = 0.0, 0, 0
        self._tests_per_second: float | None = None

    def __call__(self, progress: Progress) -> None:
        self._tick(progress._replace(seconds_left=self._left(progress)))

    def _left(self, progress: Progress) -> float | None:
        is_counted = progress.n_expected > 0
        done, total = (progress.n_asked, progress.n_expected) if is_counted else (progress.done, progress.total)
        now, phase = self._clock.seconds, (progress.where, is_counted)
        if phase != self._phase or done < self._latest:
            self._phase, self._began, self._first = phase, now, done
        self._latest = done
        is_measured = done > self._first and now - self._began >= SECONDS_TO_MEASURE
        pace = (done - self._first) / (now - self._began) if is_measured else None
        if is_counted:
            pace = self._tests_per_second = pace or self._tests_per_second
        return max(total - done, 0) / pace if pace else None


@contextmanager
def showing(progress: bool | Tick) -> Iterator[Tick]:
    """The callback for `progress=`: nothing, a bar on the terminal, or the user's function."""
    if progress is False:
        yield no_tick
    elif progress is True:
        from rich.console import Console

        with bar(Console(stderr=True)) as tick:
            yield Estimated(tick)
    else:
        yield Estimated(progress)


@contextmanager
def bar(console: Any) -> Iterator[Tick]:
    """A progress bar on a console of rich, and the callback that moves it."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    said, tests = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[tests]:,} tests")
    with Bar(said, BarColumn(), tests, TimeElapsedColumn(), console=console, transient=True) as shown:
        task, updated = shown.add_task("getting ready (the first run compiles)", total=None, tests=0), 0.0

        def tick(progress: Progress) -> None:
            nonlocal updated
            if time.monotonic() - updated >= SECONDS_BETWEEN_UPDATES:
                updated = time.monotonic()
                done, total, n_tests = progress.done, progress.total, progress.n_evaluated
                shown.update(task, description=progress.said, completed=done, total=total, tests=n_tests)

        yield tick
