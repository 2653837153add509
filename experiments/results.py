"""Rows in CSV files: what has been run is read back, and new rows get in together or not at all."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.progress import track

from anypag.files import write_whole
from experiments.settings import Task

Row = Mapping[str, int | float | str | None]
Measure = Callable[[Task], list[Row]]
Schema = Mapping[str, type[pl.DataType]]

RESULTS = Path(__file__).with_name("results")
KEY = ("nodes", "rows", "seed", "variant")
"""What names a row; every file has these columns."""


def path_of(scale: str, experiment: str, folder: Path = RESULTS) -> Path:
    """Where the rows of an experiment are."""
    return folder / scale / f"{experiment}.csv"


def read(path: Path, schema: Schema) -> pl.DataFrame:
    """The rows of a file; none where there is no file."""
    if not path.exists():
        return pl.DataFrame(schema=schema)
    header = path.read_text().split("\n", 1)[0].split(",")
    if header != list(schema):
        raise SystemExit(
            f"{path.name} was wanted with the columns {','.join(schema)}; it has {','.join(header)}. "
            "It comes from another version: delete it, and it will be made again."
        )
    return pl.read_csv(path, schema=schema)


def append(path: Path, rows: Iterable[Row], schema: Schema) -> None:
    """Add rows to a file, all of them or none; it stays sorted, so that its content does not depend on the order."""
    fresh = pl.DataFrame(list(rows), schema=schema, orient="row")
    together = pl.concat([read(path, schema), fresh]).unique(KEY, keep="last").sort(KEY)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, together.write_csv().encode())


def pending(tasks: Iterable[Task], done: pl.DataFrame) -> Iterator[Task]:
    """The tasks with those of their variants that have no row yet; none at all is no task."""
    have = set(done.select(KEY).iter_rows())
    for task in tasks:
        left = tuple(name for name in task.variants if (task.nodes, task.rows, task.seed, name) not in have)
        if left:
            yield replace(task, variants=left)


def collect(
    tasks: Iterable[Task],
    measure: Measure,
    path: Path,
    schema: Schema,
    *,
    jobs: int = 1,
    show: bool = False,
    flush_seconds: float = 5.0,
) -> int:
    """Measure the tasks that have no rows yet and keep the rows; how many tasks that were.

    Rows are written every few seconds, and when the run ends in whatever way: a run that is stopped goes on from there.

    Args:
        tasks: what to measure.
        measure: makes the rows of a task; with several jobs it runs in other processes.
        path: the file the rows go to.
        schema: its columns.
        jobs: how many processes; 1 for this one.
        show: a progress bar on the terminal.
        flush_seconds: how often rows are written.
    """
    todo = list(pending(tasks, read(path, schema)))
    waiting: list[Row] = []
    written = time.monotonic()
    try:
        with _mapped(measure, todo, jobs) as answers:
            for rows in _shown(answers, len(todo), path.stem, show):
                waiting += rows
                if time.monotonic() - written >= flush_seconds:
                    append(path, waiting, schema)
                    waiting, written = [], time.monotonic()
    finally:
        if waiting:
            append(path, waiting, schema)
    return len(todo)


@contextmanager
def _mapped(measure: Measure, todo: list[Task], jobs: int) -> Iterator[Iterable[list[Row]]]:
    if jobs == 1 or len(todo) < 2:
        yield map(measure, todo)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield pool.imap_unordered(measure, todo, chunksize=max(1, min(20, len(todo) // (4 * jobs))))


def _shown(answers: Iterable[list[Row]], total: int, name: str, show: bool) -> Iterable[list[Row]]:
    if not show or not total:
        return answers
    return track(answers, f"{name:9s}", total=total, console=Console(stderr=True))
