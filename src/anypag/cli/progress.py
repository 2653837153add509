"""A run while it runs: one line per finished iteration, and on a terminal a bar inside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from anypag.cli.words import iteration_line

if TYPE_CHECKING:
    from anypag.cli.terminal import Terminal
    from anypag.results.result import Result
    from anypag.search.progress import Progress, Tick

SECONDS_BETWEEN_UPDATES = 0.05


@contextmanager
def shown_on(terminal: Terminal) -> Iterator[tuple[Tick, Callable[[Result], None]]]:
    """What to call before every batch of tests, and what after every iteration."""
    if not terminal.is_interactive:
        yield _nothing, lambda result: terminal.line(iteration_line(result.history[-1]))
        return
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
                doing = f"r = {progress.r}, {progress.phase}"
                bar.update(task, description=doing, completed=progress.done, total=progress.total)

        def step(result: Result) -> None:
            nonlocal task
            terminal.line(iteration_line(result.history[-1]))
            bar.remove_task(task)
            task = bar.add_task(f"r = {result.r + 1}", total=None)

        yield tick, step


def _nothing(progress: Progress) -> None:
    """On a pipe there is no bar."""
