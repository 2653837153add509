"""Tables in files (CSV, TSV, Parquet, Arrow IPC, Excel, Stata, SPSS), recognised by the ending of the name.

A path names one file; `*` and `~` are not expanded. The column types of a text file are inferred from its first rows,
or from all rows if the first ones do not decide. A line without values, such as spreadsheets leave behind, is no row.

polars reads files in threads. A forked child process does not have these threads, and its reads would wait for ever. So
a child checks once, with a timeout, whether the threads answer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import NamedTuple, TypeVar

import numpy as np

from anypag.choices import AMONG_NUMBERS, MISSING_WORDS
from anypag.data.files.dialects import decoded_whole, dialect, not_in_encoding
from anypag.data.files.labelled import LABELLED_ENDINGS, read_labelled
from anypag.data.levels import is_number
from anypag.data.libraries import polars
from anypag.errors import DataError, MissingExtraError, absent, shortened

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc", ".xlsx", *LABELLED_ENDINGS)
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
READ_WHOLE = (".xlsx", *LABELLED_ENDINGS)  # files that cannot be read in parts


class Reading(NamedTuple):
    """The user's choices for reading a file: arguments of `read_table`, of `counted` and of `weighted`."""

    encoding: str | None = None
    gaps: tuple[str, ...] = MISSING_WORDS
    header: bool = True
    sheet: str | None = None
    counts: str | None = None
    weights: str | None = None


AS_USUAL = Reading()
_FIRST_ROWS = 10_000  # the types of columns are inferred from this many first rows
_LONGEST_REASON = 300  # the most characters of a polars error that a message quotes
SECONDS_TO_ANSWER = 5.0  # if the threads of polars take longer for a small task, they count as lost
_process = os.getpid()  # the process where the threads of polars are known to answer
FromFile = TypeVar("FromFile")


def ending_of(path: Path) -> str:
    """The ending of a file name, without `.gz`: `.csv.gz` is a .csv."""
    packed = path.suffix.lower() == ".gz" and Path(path.stem).suffix.lower() in TEXT_ENDINGS
    return Path(path.stem if packed else path.name).suffix.lower()


def made_from_file(path: Path, make: Callable[[polars.LazyFrame], FromFile], reading: Reading = AS_USUAL) -> FromFile:
    """The value of `make(frame)` for the lazy table in a file. DataError if the file is missing or cannot be read."""
    with _reading(path):
        if ending_of(path) not in TEXT_ENDINGS:
            return make(_with_gaps(_scan_binary(path, reading), reading))
        try:
            return make(_scan_text(path, reading, _FIRST_ROWS))
        except polars.exceptions.ComputeError as error:  # later rows do not fit the types of the first ones
            if "<class 'KeyboardInterrupt'>" in str(error):
                raise
            if "utf-8" in str(error).lower():
                raise not_in_encoding(path, "utf-8") from None
            return make(_scan_text(path, reading, None))


def read_file(path: Path, reading: Reading = AS_USUAL) -> polars.DataFrame:
    """The whole file. DataError in the same cases as `made_from_file`."""
    frame = made_from_file(path, lambda frame: frame.collect(), reading)
    return _with_words(path, reading, frame).filter(is_row(path))


def _with_words(path: Path, reading: Reading, frame: polars.DataFrame) -> polars.DataFrame:
    """The frame with words that mean a gap only among numbers (`AMONG_NUMBERS`) put back into columns of text."""
    columns = [name for name, kind in frame.schema.items() if kind == polars.String and frame[name].null_count()]
    if ending_of(path) not in TEXT_ENDINGS or not columns:
        return frame
    texts = texts_in(path, reading, columns)
    return frame.with_columns(
        polars.when(texts[name].is_in(list(reading.gaps))).then(None).otherwise(texts[name]).alias(name)
        for name in columns
    )


def texts_in(path: Path, reading: Reading, columns: list[str]) -> polars.DataFrame:
    """Columns of a text file as they are written; no word is taken for a gap."""
    with _reading(path):
        return _scan(path, reading, rows=0, gaps=None).select(columns).collect()


def sheets_in(path: Path) -> list[str]:
    try:
        fastexcel = import_module("fastexcel")
    except ImportError:
        raise MissingExtraError(
            "Excel files need fastexcel: pip install fastexcel (it is in the extra 'excel'), or save the table as .csv."
        ) from None
    with _reading(path):
        return list(fastexcel.read_excel(path).sheet_names)


def glance(path: Path, rows: int, reading: Reading = AS_USUAL) -> polars.DataFrame:
    return made_from_file(path, lambda frame: frame.head(rows).filter(is_row(path)).collect(), reading)


def is_row(path: Path) -> polars.Expr:
    """An expression: is a line a row? In a text file, a row has at least one value."""
    if ending_of(path) not in TEXT_ENDINGS:
        return polars.lit(True)
    return polars.any_horizontal(polars.all().is_not_null())


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turns errors of polars and the file system into a `DataError` about this file."""
    if ending_of(path) not in ENDINGS:
        wrong = f"The ending of a file says what it holds: {', '.join(ENDINGS)}; got {path.name!r}."
        raise DataError(f"{wrong} Save it as one of these, or read it into a data frame first.")
    if not path.is_file():
        raise DataError(f"{path} is a folder, not a file." if path.is_dir() else f"There is no file {path}.")
    require_threads()
    try:
        yield
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, EOFError) as error:
        if "<class 'KeyboardInterrupt'>" in str(error):  # Ctrl-C in a Python function that polars had called
            raise KeyboardInterrupt from None
        reason = shortened((str(error).strip().splitlines() or [type(error).__name__])[0], _LONGEST_REASON)
        wrong = f"The file {path} cannot be read as a {ending_of(path)} table: {reason.rstrip('.')}."
        raise DataError(wrong) from None


def _scan_binary(path: Path, reading: Reading) -> polars.LazyFrame:
    whole = path.absolute()  # without this polars would expand a leading ~ to the home folder
    if ending_of(path) == ".xlsx":
        there, sheet = sheets_in(path), reading.sheet
        if sheet is not None and sheet not in there:
            raise DataError(absent("sheet", [sheet], there))
        return polars.read_excel(path, sheet_name=sheet or there[0], engine="calamine").lazy()
    if ending_of(path) in LABELLED_ENDINGS:
        return read_labelled(path).lazy()
    if ending_of(path) == ".parquet":
        return polars.scan_parquet(whole, glob=False)
    return polars.scan_ipc(whole, glob=False)


def _scan(
    path: Path,
    reading: Reading,
    rows: int | None,
    gaps: list[str] | None,
    overrides: dict[str, polars.DataType] | None = None,
) -> polars.LazyFrame:
    """A text file as a lazy frame; column types come from the first `rows` rows (None: all; 0: all are text)."""
    separator, decimal_comma, line_end = dialect(path, ending_of(path), reading.encoding)
    return polars.scan_csv(
        decoded_whole(path, reading.encoding) or path.absolute(),
        glob=False,
        separator=separator,
        decimal_comma=decimal_comma,
        eol_char=line_end,
        null_values=gaps,
        infer_schema_length=rows,
        schema_overrides=overrides,
        has_header=reading.header,
        with_column_names=partial(_named, header=reading.header),
    )


def _named(names: list[str], *, header: bool) -> list[str]:
    """Column names: X0, X1, … without a header; else the names that polars read, with doubled quotes undone."""
    return [name.replace('""', '"') if header else f"X{i}" for i, name in enumerate(names)]


def _scan_text(path: Path, reading: Reading, rows: int | None) -> polars.LazyFrame:
    """A text file as a lazy frame with numbers as floats and with gaps. `rows` as in `_scan`, but never 0."""
    gaps = list(dict.fromkeys((*reading.gaps, *(AMONG_NUMBERS if reading.gaps == MISSING_WORDS else ()))))
    found = _scan(path, reading, rows, gaps)
    schema = found.collect_schema()
    texts = [name for name, kind in schema.items() if kind == polars.String]
    if rows is not None and texts:
        first = found.select(texts).head(rows).collect()
        if any(column.null_count() == len(column) for column in first):  # polars takes such a column for text
            return _scan_text(path, reading, None)
    # a column of whole numbers may have decimals in later rows, so it is read as floats
    floats: dict[str, polars.DataType] = {n: polars.Float64() for n, kind in schema.items() if kind.is_integer()}
    return _with_gaps(_scan(path, reading, rows, gaps, floats), reading)


def _with_gaps(frame: polars.LazyFrame, reading: Reading) -> polars.LazyFrame:
    """The frame with gaps in place of the user's words for them; a number matches in any spelling (-999, -999.0)."""
    if reading.gaps == MISSING_WORDS:
        return frame
    codes = [float(word) for word in reading.gaps if is_number(word) and math.isfinite(float(word))]
    with np.errstate(over="ignore"):
        held = zip(codes, np.array(codes).astype(np.float32).tolist(), strict=True)
    in_float32 = [as_held for code, as_held in held if math.isclose(code, as_held, rel_tol=1e-6)]
    columns = polars.selectors
    texts, narrow = columns.string() | columns.categorical() | columns.enum(), columns.by_dtype(polars.Float32)
    numbers = columns.numeric() - narrow
    return frame.with_columns(
        polars.when(~texts.cast(polars.String).is_in(list(reading.gaps))).then(texts).name.keep(),
        polars.when(~numbers.cast(polars.Float64).is_in(codes)).then(numbers).name.keep(),
        polars.when(~narrow.cast(polars.Float64).is_in(in_float32)).then(narrow).name.keep(),
    )


def require_threads() -> None:
    """Raises DataError if the threads of polars were lost, because this process is a fork of one that used them."""
    global _process
    if os.getpid() == _process:
        return
    asked = Thread(target=lambda: polars.LazyFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}).sort("a").collect(), daemon=True)
    asked.start()
    asked.join(SECONDS_TO_ANSWER)
    if asked.is_alive():
        raise DataError(
            "This process was forked from one that had read files already, and reading would wait for ever for "
            "threads that a fork does not copy. Start this process another way (multiprocessing's 'spawn' or "
            "'forkserver'), or read the file before the fork and pass the table."
        )
    _process = os.getpid()
