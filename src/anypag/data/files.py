"""Tables in files: CSV, TSV, Parquet and Arrow IPC, told apart by the ending of the name, read by polars.

A path is the path of one file, whatever characters are in it: nothing is expanded. What the columns of a text file are
is read off its first rows, and off all of them where those do not settle it. A line of a text file without any value
is no row: spreadsheets leave such lines behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from anypag.data.arrow import impossible_length
from anypag.data.forks import require_threads
from anypag.data.texts import decoded_whole, dialect
from anypag.errors import DataError, shortened

if TYPE_CHECKING:
    import polars

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc")
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
"""What stands for a missing value in a text file."""

_FIRST_ROWS = 10_000
_LONGEST_REASON = 300
Made = TypeVar("Made")


def ending_of(path: Path) -> str:
    """What the name says that the file holds; `.csv.gz` is a .csv."""
    packed = path.suffix.lower() == ".gz" and Path(path.stem).suffix.lower() in TEXT_ENDINGS
    return Path(path.stem if packed else path.name).suffix.lower()


def made_from_file(path: Path, make: Callable[[polars.LazyFrame], Made]) -> Made:
    """What `make` makes of the table in a file, which is read when asked, in parts if need be.

    Raises:
        DataError: there is no such file, its ending is unknown, or it does not hold what its ending says.
    """
    import polars

    with _reading(path):
        if ending_of(path) not in TEXT_ENDINGS:
            return make(_scan_binary(path))
        try:
            return make(_scan_text(path, _FIRST_ROWS))
        except polars.exceptions.ComputeError:  # later rows are not what the first ones look like
            return make(_scan_text(path, None))


def read_file(path: Path) -> polars.DataFrame:
    """The whole file; raises as `made_from_file`."""
    return made_from_file(path, lambda frame: frame.filter(is_row(path)).collect())


def glance(path: Path, rows: int = 10_000) -> polars.DataFrame:
    """The first rows of the file."""
    return made_from_file(path, lambda frame: frame.head(rows).filter(is_row(path)).collect())


def is_row(path: Path) -> polars.Expr:
    """Whether what stands on a line is a row: in a text file, if there is a value on it."""
    import polars

    if ending_of(path) not in TEXT_ENDINGS:
        return polars.lit(True)
    return polars.any_horizontal(polars.all().is_not_null())


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What goes wrong in here is said of the file, in a sentence."""
    _require_readable(path)
    import polars

    require_threads()
    try:
        yield
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError, EOFError) as error:
        raise _unreadable(path, error) from None


def _scan_binary(path: Path) -> polars.LazyFrame:
    import polars

    whole = path.absolute()  # else polars would take a leading ~ for the home folder
    if ending_of(path) == ".parquet":
        return polars.scan_parquet(whole, glob=False)
    length = impossible_length(whole)
    if length is not None:
        raise OSError(f"it is damaged, a part of it claims to have {length:,} bytes")
    return polars.scan_ipc(whole, glob=False)


def _scan_text(path: Path, rows: int | None) -> polars.LazyFrame:
    """A text file, its columns typed by so many rows, or by all of them."""
    import polars

    separator, decimal_comma, line_end = dialect(path, ending_of(path))

    def scan(overrides: dict[str, polars.DataType]) -> polars.LazyFrame:
        return polars.scan_csv(
            decoded_whole(path) or path.absolute(),
            glob=False,
            separator=separator,
            decimal_comma=decimal_comma,
            eol_char=line_end,
            null_values=list(MISSING_WORDS),
            infer_schema_length=rows,
            schema_overrides=overrides,
        )

    found = scan({})
    schema = found.collect_schema()
    if rows is not None and _are_empty(found, [name for name, kind in schema.items() if kind == polars.String], rows):
        return _scan_text(path, None)
    # whole numbers may have decimals further down, and are floats in the end
    return scan({name: polars.Float64() for name, kind in schema.items() if kind.is_integer()})


def _are_empty(frame: polars.LazyFrame, columns: list[str], rows: int) -> bool:
    """Is there no value at all in one of the columns so far? Such a column has no type yet and counts as text."""
    if not columns:
        return False
    first = frame.select(columns).head(rows).collect()
    return any(column.null_count() == len(column) for column in first)


def _unreadable(path: Path, error: BaseException) -> DataError:
    """The error for a file that does not hold what it should."""
    reason = shortened((str(error).strip().splitlines() or [type(error).__name__])[0], _LONGEST_REASON)
    return DataError(f"The file {path} cannot be read as a {ending_of(path)} table: {reason.rstrip('.')}.")


def _require_readable(path: Path) -> None:
    if ending_of(path) not in ENDINGS:
        raise DataError(
            f"The ending of a file says what it holds: {', '.join(ENDINGS)}; got {path.name!r}. "
            "Rename it, or read it into a data frame first."
        )
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
