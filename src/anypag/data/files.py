"""Tables in files: CSV, TSV, Parquet and Arrow IPC, told apart by the ending of the name, read by polars.

A .csv or .txt file may separate its columns by commas, semicolons or tabs: the first lines tell. With semicolons, as
spreadsheets write them where the comma is the decimal sign, numbers may be written 1,5.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from anypag.errors import DataError

if TYPE_CHECKING:
    import polars

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".ipc")
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
"""What stands for a missing value in a text file."""

_GLANCE = 65536
_LINES = 50


def scan_file(path: Path) -> polars.LazyFrame:
    """The file as something that polars reads when asked, in parts if need be."""
    import polars

    _require_readable(path)
    ending = path.suffix.lower()
    if ending == ".parquet":
        return polars.scan_parquet(path)
    if ending in {".arrow", ".feather", ".ipc"}:
        return polars.scan_ipc(path)
    separator, decimal_comma = _dialect(path)
    return polars.scan_csv(
        path,
        separator=separator,
        decimal_comma=decimal_comma,
        null_values=list(MISSING_WORDS),
        infer_schema_length=10_000,
    )


def _dialect(path: Path) -> tuple[str, bool]:
    """What separates the columns of a text file, and whether the comma is the decimal sign in it."""
    ending = path.suffix.lower()
    usual = "," if ending == ".csv" else "\t"
    with path.open("rb") as file:
        lines = file.read(_GLANCE).decode("utf-8-sig", errors="replace").splitlines()[:_LINES]
    if ending == ".tsv" or not lines:
        return usual, False
    bare = [re.sub('"[^"]*"', "", line) for line in lines if line.strip()]
    counts = {mark: {line.count(mark) for line in bare} for mark in (usual, ",", ";", "\t")}
    separator = next((mark for mark, found in counts.items() if len(found) == 1 and 0 not in found), usual)
    return separator, separator == ";" and _has_decimal_commas(path, lines[1:])


def _has_decimal_commas(path: Path, lines: list[str]) -> bool:
    values = [value.strip().strip('"') for line in lines for value in line.split(";")]
    numbers = [value for value in values if re.fullmatch(r"[-+]?[\d,]*,\d+([eE][-+]?\d+)?", value)]
    if numbers and all(re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+", number) for number in numbers):
        whole = numbers[0].replace(",", "")
        raise DataError(
            f"In {path} it is not clear what {numbers[0]} means, {whole} or {numbers[0].replace(',', '.', 1)}. "
            "Write numbers without marks for thousands, or with a decimal point."
        )
    return bool(numbers)


def read_file(path: Path) -> polars.DataFrame:
    """The whole file.

    Raises:
        DataError: there is no such file, its ending is unknown, or it does not hold what its ending says.
    """
    return _collected(path, None)


def glance(path: Path, rows: int = 10_000) -> polars.DataFrame:
    """The first rows of the file."""
    return _collected(path, rows)


def _collected(path: Path, rows: int | None) -> polars.DataFrame:
    import polars

    try:
        frame = scan_file(path)
        return (frame if rows is None else frame.head(rows)).collect()
    except (polars.exceptions.PolarsError, OSError) as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> DataError:
    """The error for a file that does not hold what it should."""
    reason = str(error).strip().splitlines()[0]
    return DataError(f"The file {path} cannot be read as a {path.suffix.lower()} table: {reason}")


def _require_readable(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise DataError(
            f"The ending of a file says what it holds: {', '.join(ENDINGS)}; got {path.name!r}. "
            "Rename it, or read it into a data frame first."
        )
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
