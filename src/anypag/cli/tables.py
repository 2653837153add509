"""The table that a command is given: a file, what is said about how to read it, or standard input."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anypag.cli.options import Typed
    from anypag.data.files.scan import Reading

STANDARD_INPUT = Path("-")
_BEGINNINGS = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"PK", ".xlsx"), (b"\x1f\x8b", ".csv.gz"))


def file_of(data: Path) -> Path:
    """The file that holds the table; what came by standard input is put into one, which is gone at the end."""
    if data != STANDARD_INPUT:
        return data
    folder = Path(tempfile.mkdtemp(prefix="anypag-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    content = sys.stdin.buffer.read()
    ending = next((ending for start, ending in _BEGINNINGS if content.startswith(start)), ".csv")
    path = folder / f"standard-input{ending}"
    path.write_bytes(content)
    return path


def reading_of(encoding: str | None, gaps: Sequence[str] | None, no_header: bool, sheet: str | None) -> Reading:
    """How to read the file."""
    from anypag.data.files.scan import Reading

    return Reading(**said_of_reading(encoding, gaps, no_header, sheet))


def said_of_reading(
    encoding: str | None, gaps: Sequence[str] | None, no_header: bool, sheet: str | None
) -> dict[str, Any]:
    """What is said about how to read the file, and nothing else."""
    from anypag.cli.options import names_in

    words = None if gaps is None else ("", *names_in(gaps))
    said = {"encoding": encoding, "gaps": words, "header": False if no_header else None, "sheet": sheet}
    return {name: value for name, value in said.items() if value is not None}


def table_of(
    data: Path, reading: Reading, names: list[str] | None, counts: str | None = None
) -> tuple[Any, list[str] | None]:
    """The data and the names to choose from them: the file itself where nothing is said, which may be large.

    With `counts` they are a table of counts, which that column has.
    """
    from anypag.data.files.read_table import read_table
    from anypag.data.files.scan import AS_USUAL
    from anypag.data.sources.counted import counted

    if reading == AS_USUAL and counts is None:
        return data, names
    options = {"encoding": reading.encoding, "gaps": reading.gaps, "header": reading.header, "sheet": reading.sheet}
    read = names if names is None or counts is None else [*names, counts]
    table = read_table(data, names=read, **options)  # type: ignore[arg-type]
    return table if counts is None else counted(table, counts), None


def matrix_of(data: Path, reading: Reading, names: list[str] | None, n: int, typed: Typed) -> tuple[Any, Typed]:
    """The test of n rows of which a file has the covariance matrix, and what is typed but for what is said in it."""
    from anypag.ci.gaussian import FisherZ

    test = FisherZ.from_covariance(data, n, names, singular=typed["singular"], reading=reading)
    return test, {**typed, "test": "auto", "singular": "error"}


def leaves_index_out(data: Path, columns: Sequence[str], drop: Sequence[str], reading: Reading) -> bool:
    """Is a column of row numbers left out beside those that were named?"""
    from anypag.data.files.read_table import INDEX_NAMES
    from anypag.data.files.scan import glance

    first = glance(data, 1, reading).columns[0] if drop and not columns else None
    return first in INDEX_NAMES and first not in drop


def chosen_columns(
    data: Path, columns: Sequence[str], drop: Sequence[str], reading: Reading | None = None, counts: str | None = None
) -> list[str] | None:
    """The columns to use, that of counts left out; None for all of them."""
    if not columns and not drop:
        return None
    from anypag.data.files.read_table import INDEX_NAMES
    from anypag.data.files.scan import AS_USUAL, glance
    from anypag.errors import ParameterError, absent

    there = glance(data, 1, reading or AS_USUAL).columns
    unknown = [name for name in (*columns, *drop) if name not in there]
    if unknown:
        raise ParameterError(absent("column", unknown, there))
    used = there[1:] if there[0] in INDEX_NAMES else there
    chosen = [name for name in columns or used if name not in {*drop, counts}]
    if not chosen:
        raise ParameterError("No column is left: all were dropped.")
    return chosen
