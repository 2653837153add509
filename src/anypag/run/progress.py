"""A progress bar for those who ask for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anypag.search.progress import Progress, Tick, no_tick


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
