"""A run while it runs: one line per finished iteration or phase, and on a terminal a bar inside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anypag.cli.words import iteration_line, phase_line

if TYPE_CHECKING:
    from anypag.cli.terminal import Terminal
    from anypag.results.result import Iteration, Result
    from anypag.search.progress import Progress, Tick

SECONDS_BETWEEN_UPDATES = 0.05


class _Steps:
    """Finished steps, told in lines: an iteration in its own, a phase of many short steps in one when it is over."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._phase: list[Iteration] = []

    def add(self, item: Iteration) -> None:
        """Another step is finished."""
        if self._phase and self._phase[-1].info.phase != item.info.phase:
            self.end()
        if item.info.has_r:
            self._terminal.line(iteration_line(item))
        else:
            self._phase.append(item)

    def end(self) -> None:
        """The phase is over, or the run."""
        if self._phase:
            self._terminal.line(phase_line(self._phase))
        self._phase = []


@contextmanager
def shown_on(terminal: Terminal) -> Iterator[tuple[Tick, Callable[[Result], None]]]:
    """What to call before every batch of tests, and what after every iteration."""
    steps = _Steps(terminal)
    try:
        if terminal.is_interactive:
            with _bar(terminal, steps) as calls:
                yield calls
        else:
            yield _nothing, lambda result: steps.add(result.history[-1])
    finally:
        steps.end()


@contextmanager
def _bar(terminal: Terminal, steps: _Steps) -> Iterator[tuple[Tick, Callable[[Result], None]]]:
    """The same on a terminal, where a bar moves."""
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=terminal.console, transient=True) as bar:
        task = bar.add_task("getting ready (the first run compiles)", total=None)
        updated = 0.0

        def tick(progress: Progress) -> None:
            nonlocal updated
            if time.monotonic() - updated >= SECONDS_BETWEEN_UPDATES:
                updated = time.monotonic()
                bar.update(task, description=progress.where, completed=progress.done, total=progress.total)

        def step(result: Result) -> None:
            nonlocal task
            steps.add(result.history[-1])
            if result.history[-1].info.has_r:
                bar.remove_task(task)
                task = bar.add_task(f"r = {result.r + 1}", total=None)

        yield tick, step


def _nothing(progress: Progress) -> None:
    """On a pipe there is no bar."""
