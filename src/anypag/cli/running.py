"""The display of a running command (lines for steps, progress bar, notice about compiling), and its signals."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from anypag._kernels.patience import COMPILING
from anypag.choices import Choices
from anypag.markup import counted, time_shown
from anypag.run.clock import NOTICE, Clock, Signals, Stopped, is_in_compiled_code

if TYPE_CHECKING:
    from anypag.checkpoint.checkpoint import Checkpoint
    from anypag.cli.terminal import Terminal
    from anypag.results.result import Iteration, Result
    from anypag.run.watcher import Listeners
    from anypag.search.progress import Progress

SECONDS_BETWEEN_NOTICES = 10.0  # of compiling
SECONDS_TO_PRESS_AGAIN = 1.0  # a second Ctrl-C within this time ends the command at once


class StoppedAtOnce(BaseException):
    """Ctrl-C was pressed twice within a second; the command ends at once."""


@contextmanager
def handled_by(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """A context in which `handler` handles SIGTERM and SIGINT, even in a background job, where shells ignore SIGINT."""
    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


class Interrupts(Signals):
    """Handles signals while this context is active.

    By default a signal raises `KeyboardInterrupt`, as usual. In `ending_a_run` it raises `Stopped`, which ends the
    search with a result. In `held` it waits, so that files can be written. In `raising` it raises the given exception.
    A signal that comes while compiled code runs waits for the next `check`, also made when compiling begins or ends.
    """

    def __init__(self) -> None:
        self._raises: type[BaseException] | None = KeyboardInterrupt
        self._is_waiting = False
        self._last = float("-inf")
        self._handling = handled_by(self._received)

    def __enter__(self) -> Self:
        self._handling.__enter__()
        COMPILING.hearers.append(self.check)
        return self

    def __exit__(self, *exception: object) -> None:
        COMPILING.hearers.remove(self.check)
        self._handling.__exit__(None, None, None)

    def ending_a_run(self) -> AbstractContextManager[None]:
        return self.raising(Stopped)

    def held(self) -> AbstractContextManager[None]:
        return self.raising(None)

    @contextmanager
    def raising(self, kind: type[BaseException] | None) -> Iterator[None]:
        """A context in which a signal raises this exception. With None, the signal waits until a later `check`."""
        before, self._raises = self._raises, kind
        try:
            yield
        finally:
            self._raises = before

    def _received(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        is_second = number == signal.SIGINT and now - self._last < SECONDS_TO_PRESS_AGAIN
        self._last = now
        self._is_waiting = True
        if is_second:
            raise StoppedAtOnce
        if not is_in_compiled_code(frame):
            self.check()

    def check(self) -> None:
        if self._is_waiting and self._raises is not None:
            self._is_waiting = False
            raise self._raises("interrupt")


def _iteration_line(item: Iteration) -> str:
    info = item.info
    phase = "" if info.phase == "iteration" else f" ({info.phase})"
    conflicts = f"  {counted(info.n_conflicts, 'conflict')}" if info.n_conflicts else ""
    return (
        f"r = {info.r}{phase}  {info.n_edges:>5,} edges left  {info.removed:>5,} removed  "
        f"{_oriented(item):>5,} marks oriented  {info.n_tests:>9,} tests  {time_shown(item.seconds):>8}{conflicts}"
    )


def _say_where_it_goes_on(terminal: Terminal, choices: Choices, kept: Checkpoint) -> None:
    """Print the step from which a resumed run continues."""
    if kept.history:
        last = kept.history[-1].info
        reached = f"r = {last.r}" if last.has_r else f"a step of {last.phase!r}"
        terminal.line(f"Continuing from {kept.path}, which is complete up to {reached}.")
    elif choices.resume:
        terminal.line(f"{kept.path} holds no finished step yet; starting from the beginning.")


def _phase_line(steps: Sequence[Iteration]) -> str:
    """The line for a phase without r: edges and marks after its last step, and tests and time of all its steps."""
    last, n_tests = steps[-1], sum(item.info.n_tests for item in steps)
    tests = counted(n_tests, "test") if n_tests else ""
    seconds = time_shown(sum(item.seconds for item in steps))
    edges = f"{last.info.n_edges:>5,} edges  {_oriented(last):>5,} marks oriented"
    return f"{last.info.phase:13}  {edges}  {tests:>15}  {seconds:>8}"


def _oriented(item: Iteration) -> int:
    """The number of arrowheads and tails in the graph after an iteration."""
    from anypag.graphs.marks import Mark

    return int((item.pag.marks > Mark.CIRCLE).sum())


class _StepLines:
    """Prints finished steps: one line for an iteration, and one for a whole phase of short steps."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._phase: list[Iteration] = []

    def add(self, result: Result) -> None:
        item = result.history[-1]
        if self._phase and self._phase[-1].info.phase != item.info.phase:
            self.end()
        if item.info.has_r:
            self._terminal.line(_iteration_line(item))
        else:
            self._phase.append(item)

    def end(self) -> None:
        if self._phase:
            self._terminal.line(_phase_line(self._phase))
        self._phase = []


@contextmanager
def shown_on(terminal: Terminal, choices: Choices, interrupts: Interrupts, clock: Clock) -> Iterator[Listeners]:
    """A context that gives the listeners that show a run on the terminal."""
    from anypag.run.watcher import Estimated, Listeners, bar

    steps, goes_on = _StepLines(terminal), partial(_say_where_it_goes_on, terminal, choices)
    try:
        with bar(terminal.console) if terminal.is_interactive else nullcontext(_Foretold(terminal)) as tick:
            yield Listeners(Estimated(tick), steps.add, goes_on, interrupts, clock)
    finally:
        steps.end()


class _Foretold:
    """On a pipe, without progress bar: prints a line if a phase will take long, and again if it takes longer."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self._told, self._until = terminal, "", 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.is_long and (progress.where != self._told or now > self._until):
            self._told, self._until = progress.where, now + (progress.seconds_left or 0.0)
            self._terminal.line(f"{progress.said}.")


@contextmanager
def compiling_told(terminal: Terminal) -> Iterator[None]:
    """A context that prints a notice if compiling takes long, and from time to time how long it has taken."""
    told = float("inf")

    def tell() -> None:
        nonlocal told
        is_first, seconds = told == float("inf"), COMPILING.seconds
        if COMPILING.takes_long if is_first else seconds >= told + SECONDS_BETWEEN_NOTICES:
            told = seconds
            terminal.line(NOTICE if is_first else f"Compiling: {seconds:.0f} s so far.")

    COMPILING.hearers.append(tell)
    try:
        yield
    finally:
        COMPILING.hearers.remove(tell)
