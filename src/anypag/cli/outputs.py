"""The files that a command reads and writes.

A table is a file (with options for reading it) or standard input. Outputs are checked before the work begins and
written whole or not at all, pictures and reports last.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from anypag.cli.options import ColumnOptions, FileOptions, SetOptions, Typed, names_in
from anypag.errors import ParameterError, matching
from anypag.files import target_of
from anypag.run.clock import Clock

if TYPE_CHECKING:
    from anypag.cli.running import Interrupts
    from anypag.data.files.scan import Reading
    from anypag.data.findings import Singular

STANDARD_INPUT = Path("-")
OUR_TABLES = (b"from,to,", b'"",')  # the beginnings of tables of edges and of matrices of marks
LEAST_FREE = 1_000_000  # bytes that must be free on the disk of an output
SECONDS_FOR_DRAWING = 2.0  # the time for drawing after the time budget is spent
ChosenColumns = dict[str, list[str] | None]  # the columns to use of each data set; None for all
_REASONS = {"interrupt": "interrupted while it was drawn", "time": "the time budget is spent"}
_BEGINNINGS = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"PK", ".xlsx"), (b"\x1f\x8b", ".csv.gz"))


def file_of(data: Path) -> Path:
    """The data file; standard input is copied to a temporary file."""
    if data != STANDARD_INPUT:
        return data
    folder = Path(tempfile.mkdtemp(prefix="anypag-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    content = sys.stdin.buffer.read()
    ending = next((ending for start, ending in _BEGINNINGS if content.startswith(start)), ".csv")
    path = folder / f"standard-input{ending}"
    path.write_bytes(content)
    return path


def files_in(typed: list[str]) -> dict[str, Path]:
    """The data files by the names of their data sets; a single file without a name gets the name "".

    >>> files_in(["observed=a.csv", "drug=b.csv"])["drug"].name
    'b.csv'
    """
    if len(typed) == 1 and ("=" not in typed[0] or Path(typed[0]).exists()):
        return {"": file_of(Path(typed[0]))}
    pairs = [item.partition("=") for item in typed]
    wrong = [item for item, parts in zip(typed, pairs, strict=True) if not all(parts)]
    files = {name: Path(file) for name, _, file in pairs}
    if wrong or len(files) < max(2, len(typed)):
        got = wrong[0] if wrong else " ".join(typed)
        hint = "Each of several data sets needs its own name: observed=a.csv drug=b.csv"
        raise click.BadParameter(f"{hint}; got {got!r}.", param_hint="DATA")
    return {name: file_of(file) for name, file in files.items()}


@dataclass
class Inputs:
    """The tables a command reads: their files by data set, which columns are used, and how files are read."""

    files: dict[str, Path]
    columns: ColumnOptions
    options: FileOptions
    sets: SetOptions = field(default_factory=SetOptions)

    @property
    def first(self) -> Path:
        return next(iter(self.files.values()))

    @property
    def has_sets(self) -> bool:
        return len(self.files) > 1 or self.sets.context is not None

    @cached_property
    def reading(self) -> Reading:
        from anypag.data.files.scan import Reading

        return Reading(**self.options.said())

    @property
    def called(self) -> str:
        """The name of the data in messages: the names of the files, with the names of their data sets."""
        return ", ".join(f"{name}={file.name}" if name else file.name for name, file in self.files.items())

    def chosen(self, *also: str | None) -> ChosenColumns:
        """For each file, the columns to use and `also`, without counts and weights. A file may lack dropped columns."""
        if not self.columns.columns and not self.columns.drop:
            return dict.fromkeys(self.files)
        from anypag.data.files.read_table import INDEX_NAMES
        from anypag.data.files.scan import glance

        there = {name: glance(file, 1, self.reading).columns for name, file in self.files.items()}
        every = list(dict.fromkeys(name for names in there.values() for name in names))
        not_used = {*matching(names_in(self.columns.drop or ()), every), self.reading.counts, self.reading.weights}
        found: ChosenColumns = {}
        for name, names in there.items():
            asked = matching(names_in(self.columns.columns or ()), names)
            used = asked or (names[1:] if names[0] in INDEX_NAMES else names)
            chosen = [column for column in used if column not in not_used]
            if not chosen:
                raise ParameterError("No column is left: all were dropped.")
            found[name] = [*dict.fromkeys([*chosen, *(column for column in also if column is not None)])]
        return found

    @property
    def leaves_index_out(self) -> bool:
        """Is an index column left out in addition to the columns that the user dropped?"""
        from anypag.data.files.read_table import INDEX_NAMES
        from anypag.data.files.scan import glance

        if self.columns.columns or not self.columns.drop:
            return False
        first = glance(self.first, 1, self.reading).columns[0]
        return first in INDEX_NAMES and first not in names_in(self.columns.drop)

    def table(self, chosen: ChosenColumns) -> tuple[Any, list[str] | None]:
        """The table, and the columns still to be taken from it (None for all). Several data sets become one table."""
        from anypag.data.sources.pooled import pooled
        from anypag.data.table import as_table

        sets, reading = self.sets, self.reading
        if not self.has_sets:
            sets.require_none()
            return self._table("", chosen)
        if len(self.files) > 1 and sets.context is not None:
            raise ParameterError("--context is for one table; several files are data sets themselves.")
        for given in (name for name in ("counts", "weights") if getattr(reading, name) is not None):
            raise ParameterError(f"--{given} does not go with several data sets. Leave one of the two out.")
        read = {name: as_table(*self._table(name, chosen)) for name in self.files}
        of_sets = {"observed": sets.observed, "assumptions": sets.assumptions, "contexts_test": sets.contexts_test}
        return pooled(read if sets.context is None else read[""], by=sets.context, **of_sets), None  # type: ignore[arg-type]

    def _table(self, name: str, chosen: ChosenColumns) -> tuple[Any, list[str] | None]:
        """The path of a file, which may be large, and the columns to take from it. If options for reading are given,
        a table of these columns in place of the path, and None.
        """
        from anypag.data.files.read_table import read_as_said
        from anypag.data.files.scan import AS_USUAL

        file, names = self.files[name], chosen[name]
        return (file, names) if self.reading == AS_USUAL else (read_as_said(file, self.reading, names), None)

    def matrix(self, names: list[str] | None, n: int, typed: Typed) -> tuple[Any, Typed]:
        """The test from the covariance matrix in the file, and the choices with `test` and `singular` set to "auto"."""
        from anypag.ci.gaussian import FisherZ

        singular: Singular = "keep" if typed["singular"] == "keep" else "error"  # no column of a matrix is left out
        test = FisherZ.from_covariance(self.first, n, names, singular=singular, reading=self.reading)
        return test, {**typed, "test": "auto", "singular": "auto"}


def check_files(outputs: list[Path], typed: Typed, inputs: list[Path]) -> None:
    """Raise ParameterError if an output cannot be written, or if --resume does not fit the checkpoint."""
    from anypag.saving import check_ending

    for path in outputs:
        check_ending(path)
    checkpoint, resume = typed["checkpoint"], typed["resume"]
    check_outputs(outputs if checkpoint is None else [*outputs, checkpoint], inputs)
    check_replaced(outputs)
    if resume and checkpoint is None:
        raise ParameterError("--resume needs --checkpoint FILE: the file to continue from.")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise ParameterError(
            f"The checkpoint {checkpoint} already exists. Add --resume to continue from it. To start again, remove it "
            f"(and {checkpoint.name}-journal, if it exists) or name another file."
        )


def check_outputs(paths: Iterable[Path], inputs: Iterable[Path] = ()) -> None:
    """Raise ParameterError, before the work begins, if an output cannot be written, is an input or is given twice."""
    taken = {os.path.realpath(path): "it is an input" for path in inputs}
    for path in paths:
        place = os.path.realpath(path)
        problem = taken.get(place) or _problem(path)
        if problem:
            raise ParameterError(f"{path} cannot be written: {problem}.")
        taken[place] = "it is to be written twice"


def check_replaced(paths: Iterable[Path]) -> None:
    """Raise ParameterError if a graph would take the place of a table that anypag did not write."""
    for path in (path for path in paths if path.suffix.lower() == ".csv" and path.is_file()):
        with path.open("rb") as file:
            start = file.read(len(OUR_TABLES[0]))
        if start and not start.startswith(OUR_TABLES):
            told = "it exists, and anypag did not write it. Name another file, or remove it."
            raise ParameterError(f"{path} cannot be written: {told}")


def _problem(path: Path) -> str | None:
    if str(path) == "-":
        return "name a file, not standard output"
    try:
        folder = target_of(path).parent
    except OSError as error:
        return str(error.strerror)
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if path.exists() and not path.is_file():
        return "it is no file" if not path.is_dir() else "it is a folder"
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return f"nothing can be written to {folder} ({error.strerror})"
    if shutil.disk_usage(folder).free < LEAST_FREE:
        return f"the disk of {folder} is full"
    return None


class DrawingStopped(BaseException):
    """Raised inside drawing code to stop it."""

    def __init__(self, reason: str) -> None:
        super().__init__(_REASONS[reason])


class Drawing:
    """Limits on drawing: it ends at a signal, or `SECONDS_FOR_DRAWING` after the time budget is spent."""

    def __init__(self, interrupts: Interrupts, clock: Clock, time_budget: float | None) -> None:
        self._interrupts, self._clock, self._is_given_up = interrupts, clock, False
        self._deadline = None if time_budget is None else time_budget + SECONDS_FOR_DRAWING

    @contextmanager
    def limited(self) -> Iterator[None]:
        """A context in which drawing ends with `DrawingStopped` at its limit."""
        if self._is_given_up:
            raise DrawingStopped("interrupt")
        with self._interrupts.raising(DrawingStopped), self._timed():
            try:
                yield
            except DrawingStopped as stopped:
                self._is_given_up = str(stopped) == _REASONS["interrupt"]
                raise

    @contextmanager
    def _timed(self) -> Iterator[None]:
        is_main = threading.current_thread() is threading.main_thread()
        if self._deadline is None or not is_main or not hasattr(signal, "setitimer"):
            yield
            return
        left = self._deadline - self._clock.seconds
        if left <= 0:
            raise DrawingStopped("time")
        before = signal.signal(signal.SIGALRM, _time_is_over)
        signal.setitimer(signal.ITIMER_REAL, left)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _time_is_over(number: int, frame: FrameType | None) -> None:
    raise DrawingStopped("time")
