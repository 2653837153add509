"""Recognises how a text file is written: its encoding, column separator and decimal sign.

A .csv or .txt file may separate its columns by commas, semicolons or tabs; the first lines decide. With semicolons,
numbers may have a decimal comma (1,5), as spreadsheets write them in many countries. Unless the user names an encoding,
text is UTF-8, or UTF-16 or UTF-32 if the file begins with their byte order mark. Gzip files are unpacked.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from pathlib import Path
from typing import NamedTuple

from anypag.errors import DataError, Option

MOST_UNPACKED = 500_000_000  # the most bytes of an unpacked gzip file; all are held in memory
_GLANCE = 1_000_000  # bytes read to recognise the dialect
_LINES = 50  # lines in which separators are counted
_GZIP = b"\x1f\x8b"
_DECIMAL = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16, so it is tried first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decoded_whole(path: Path, encoding: str | None = None) -> bytes | None:
    """The content of a file unpacked and converted to UTF-8; None if it is plain UTF-8 already."""
    with path.open("rb") as file:
        start = file.read(4)
    if encoding is None and not start.startswith(_GZIP) and _encoding(start) is None:
        return None
    content = _read(path, None)
    written_in = encoding or _encoding(content)
    return content if written_in is None else _decoded(path, content, written_in).encode()


class Dialect(NamedTuple):
    """The column separator of a text file, whether the comma is the decimal sign, and the end of a line."""

    separator: str
    decimal_comma: bool
    line_end: str


def dialect(path: Path, ending: str, encoding: str | None = None) -> Dialect:
    """The dialect of a text file, from its first lines."""
    usual = "," if ending == ".csv" else "\t"
    start = _read(path, _GLANCE)
    text = _decoded(path, start, encoding or _encoding(start) or "utf-8-sig", is_whole=len(start) < _GLANCE)
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    lines = text.splitlines() if len(start) < _GLANCE else text.splitlines()[:-1]
    if ending == ".tsv" or not lines:
        return Dialect(usual, False, line_end)
    bare = [re.sub('"[^"]*"', "", line) for line in lines[:_LINES] if line.strip()]
    counts = {mark: {line.count(mark) for line in bare} for mark in (usual, ",", ";", "\t")}
    fitting = [mark for mark, found in counts.items() if len(found) == 1 and 0 not in found]
    separator = fitting[0] if fitting else usual
    if ";" in fitting and all(_DECIMAL.fullmatch(value.strip()) for line in bare for value in line.split(";")):
        separator = ";"  # even if all lines have equally many commas: these are decimal signs
    return Dialect(separator, separator == ";" and _has_decimal_commas(path, lines[1:]), line_end)


def first_line(path: Path, encoding: str | None = None) -> str:
    start = _read(path, _GLANCE)
    text = _decoded(path, start, encoding or _encoding(start) or "utf-8-sig", is_whole=False)
    return text.lstrip().partition("\n")[0].partition("\r")[0]


def _has_decimal_commas(path: Path, lines: list[str]) -> bool:
    values = (value.strip().strip('"') for line in lines for value in line.split(";"))
    numbers = [value for value in values if re.fullmatch(r"[-+]?[\d,]*,\d+([eE][-+]?\d+)?", value)]
    if numbers and all(re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+", number) for number in numbers):
        whole = numbers[0].replace(",", "")
        raise DataError(
            f"In {path} it is not clear what {numbers[0]} means, {whole} or {numbers[0].replace(',', '.', 1)}. "
            "Write numbers without marks for thousands, or with a decimal point."
        )
    return bool(numbers)


def _encoding(start: bytes) -> str | None:
    """The encoding that a byte order mark at the start declares; None for UTF-8, with or without a mark."""
    return next((name for mark, name in _ENCODINGS if start.startswith(mark)), None)


def _decoded(path: Path, content: bytes, encoding: str, *, is_whole: bool = True) -> str:
    """The decoded text. An incomplete character at the end is dropped, unless `content` is the whole file."""
    try:
        "".encode(encoding)  # Python has other codecs too, such as rot13, hex and zlib
    except (LookupError, ValueError):  # ValueError: the codec "undefined", or a null character in the name
        raise DataError(
            f"The option {Option('encoding')} names no encoding that Python knows: {encoding!r}. Common ones are "
            "utf-8, latin-1 and cp1252."
        ) from None
    try:
        return codecs.getincrementaldecoder(encoding)().decode(content, final=is_whole)
    except UnicodeDecodeError as error:
        raise not_in_encoding(path, encoding, error.start) from None


def not_in_encoding(path: Path, encoding: str, byte: int | None = None) -> DataError:
    """The error for a text file that does not have the encoding in which it is read."""
    where = "" if byte is None else f", from byte {byte} on"
    return DataError(
        f"The file {path} is not {encoding.removesuffix('-sig').upper()} text{where}. Save it as UTF-8, or name its "
        f"encoding ({Option('encoding', 'latin-1')}, or cp1252 if Windows wrote it; in Python it is "
        "an argument of anypag.read_table)."
    )


def _read(path: Path, most: int | None) -> bytes:
    """The first `most` bytes of a file (None: all), unpacked. DataError if a packed file is too large once unpacked."""
    with path.open("rb") as file:
        is_packed = file.read(2) == _GZIP
        file.seek(0)
        if not is_packed:
            return file.read() if most is None else file.read(most)
        try:
            content = gzip.GzipFile(fileobj=file).read(MOST_UNPACKED + 1 if most is None else most)
        except zlib.error as error:
            raise OSError(f"it is damaged: {error}") from None
    if len(content) > MOST_UNPACKED:
        raise DataError(
            f"The file {path} has {path.stat().st_size / 1e6:,.0f} MB, and more than {MOST_UNPACKED / 1e6:,.0f} MB "
            "once it is unpacked, which takes too much memory. Unpack it first (gunzip): an unpacked file is read in "
            "parts."
        )
    return content
