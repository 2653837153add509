"""Looking on while a search runs: budgets, checkpoints, progress, signals and the caller's own wishes, in one place.

Ctrl-C during a step is heard at once in Python, and after the call in compiled code: while a compiled function is
entered or left, Python code may run whose exceptions are not checked, and one that a signal handler raises there is
lost, or ends the process. So the handler only takes a note, and the next tick raises.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from anypag.choices import Choices
from anypag.ci.wrappers import Counted
from anypag.results.result import Result
from anypag.run.clock import Clock
from anypag.search.progress import Progress, Tick, no_tick

if TYPE_CHECKING:
    from anypag.checkpoint.checkpoint import Checkpoint


class Stopped(BaseException):
    """Raised inside a step to abandon it; the run ends with the state before. Not an error, so not an `Exception`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Signals(Protocol):
    """Handles signals during a run."""

    def check(self) -> None:
        """Raise for a signal that had to wait."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """Signals wait until this is over."""
        ...

    def ending_a_run(self) -> AbstractContextManager[None]:
        """A signal that comes here raises `Stopped`."""
        ...


class NoSignals:
    """Signals are left to Python."""

    def check(self) -> None:
        """Nothing waits."""

    def held(self) -> AbstractContextManager[None]:
        """Nothing is held back."""
        return nullcontext()

    def ending_a_run(self) -> AbstractContextManager[None]:
        """Ctrl-C stays a `KeyboardInterrupt`, which a search turns into a result by itself."""
        return nullcontext()


@dataclass(frozen=True)
class Listeners:
    """Those who look on while a search runs."""

    progress: Tick = no_tick
    """Called before every batch of tests."""
    on_step: Callable[[Result], None] = lambda result: None
    """Called with the result so far after every finished step."""
    on_checkpoint: Callable[[Checkpoint], None] = lambda kept: None
    """Called with the checkpoint before the first step."""
    signals: Signals = field(default_factory=NoSignals)
    """Handles signals."""
    clock: Clock = field(default_factory=Clock)
    """Measures the time budget."""


class Watcher:
    """Called before every batch of tests and after every step; either may end the run by raising `Stopped`.

    Args:
        choices: the budgets, and what to ask after every step.
        test: of the run; what it evaluates counts against the budget from now on.
        checkpoint: where the run is kept.
        progress: called before every batch, after all else.
        on_step: gets the result so far after every finished step, as if the run had stopped there.
        signals: have their say first, and wait while files are written and people are told.
        clock: of the time budget; started now by default.
    """

    def __init__(
        self,
        choices: Choices,
        test: Counted,
        *,
        checkpoint: Checkpoint | None = None,
        progress: Tick = no_tick,
        on_step: Callable[[Result], None] | None = None,
        signals: Signals | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._choices, self._test = choices, test
        self._checkpoint, self._progress, self._on_step = checkpoint, progress, on_step
        self._signals: Signals = NoSignals() if signals is None else signals
        self._clock = Clock() if clock is None else clock
        self._finished = self._in_step = 0
        self._evaluated_before = test.evaluated
        if choices.max_tests is not None and not test.distinct:
            test.limit = test.evaluated + int(choices.max_tests)

    @property
    def n_used(self) -> int:
        """How many tests of the budget the run has used, the step that was abandoned included."""
        asked = self._finished + self._in_step
        return asked if self._test.distinct else self._test.evaluated - self._evaluated_before

    def before_batch(self, progress: Progress) -> None:
        """Go on, or raise."""
        self._in_step = progress.n_asked
        self._signals.check()
        with self._signals.held():
            self._check_budget(progress)
            if self._checkpoint is not None:
                self._checkpoint.before_batch()
            self._progress(progress)

    def after_step(self, result: Result) -> None:
        """A step is finished: keep it, tell it, ask whether to go on."""
        self._finished, self._in_step = self._finished + result.history[-1].info.n_tests, 0
        with self._signals.held():
            if self._checkpoint is not None:
                self._checkpoint.after_step(result)
            if self._on_step is not None:
                self._on_step(result)
        stop = self._choices.stop
        if stop is not None and not result.state.done and stop(result.state, result.history[-1].info):
            raise Stopped("stop")

    def _check_budget(self, progress: Progress) -> None:
        tests, seconds = self._choices.max_tests, self._choices.time_budget
        is_counted = self._test.limit is None and progress.asks  # a limit is kept by the test
        if tests is not None and is_counted and self.n_used >= tests:
            raise Stopped("tests")
        if seconds is not None and self._clock.seconds >= seconds:
            raise Stopped("time")


def is_in_compiled_code(frame: FrameType | None) -> bool:
    """Was a compiled function being entered or left here? Not while it is being compiled: that can be interrupted."""
    is_between = False
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("numba.core.compiler"):
            return False
        if module.startswith("anypag"):
            break
        is_between |= module.startswith("numba")
        frame = frame.f_back
    return is_between


class _Watch:
    """A tick that raises for a Ctrl-C that had to wait."""

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
    """A tick with which Ctrl-C ends the work in this context, unless the caller has a signal handler of their own."""
    if isinstance(tick, _Watch):  # an outer context listens already
        yield tick
        return
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield tick
        return
    watch = _Watch(tick)
    signal.signal(signal.SIGINT, watch.received)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def showing(progress: bool | Tick) -> Iterator[Tick]:
    """What `progress=` means: nothing, a bar on the terminal, or the caller's own function."""
    if progress is False:
        yield no_tick
    elif progress is True:
        with _bar() as tick:
            yield tick
    else:
        yield progress


@contextmanager
def _bar() -> Iterator[Tick]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[tests]:,} tests"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("r = 0", tests=0)

        def tick(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.where,
                completed=progress.done,
                total=progress.total,
                tests=progress.n_evaluated,
            )

        yield tick
