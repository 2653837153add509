"""Reads a file as a table. Findings say what was decided: row numbers left out, words taken for missing values."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from anypag.choices import MISSING_WORDS
from anypag.data.audit.columns import repeated_name_findings
from anypag.data.files.dialects import first_line
from anypag.data.files.labelled import LABELLED_ENDINGS, labelled_findings
from anypag.data.files.scan import AS_USUAL, TEXT_ENDINGS, Reading, ending_of, glance, read_file, sheets_in, texts_in
from anypag.data.findings import Finding, warning
from anypag.data.libraries import polars
from anypag.data.sources.counted import CountedTable, counted, weighted
from anypag.data.table import Table, as_table
from anypag.errors import DataError, Option, Sentence

INDEX_NAMES = ("", "Unnamed: 0")  # names that pandas gives to a first column of row numbers
LAST_INDEX = "__index_level_0__"  # the name of that column in Parquet files, where it comes last
_LEFT_OUT = "A column that numbers or names the rows, as pandas writes it, was left out."
INDEX_LEFT_OUT = warning("index", (), _LEFT_OUT, "Write tables without it: df.to_csv(path, index=False).")


def read_table(
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    encoding: str | None = None,
    gaps: Iterable[str] = MISSING_WORDS,
    header: bool = True,
    sheet: str | None = None,
) -> Table:
    """The table in a file. `learn` and other functions also take the path itself if no options are needed.

    Args:
        path: a file that ends in .csv, .tsv, .txt (also .gz of these), .parquet, .arrow, .feather, .ipc, .xlsx, .dta,
            .sav or .zsav.
        names: which columns to use, in this order; all if left out.
        kinds: "continuous", "discrete" or "ordinal", for columns whose kind should not be inferred.
        encoding: the encoding of a text file that is not UTF-8: "latin-1", "cp1252", ...
        gaps: the words that mean a missing value; a number (-999) matches in any spelling. Default in text files:
            `MISSING_WORDS`.
        header: False if a text file begins with data: its columns are then X0, X1, ...
        sheet: the name of the sheet of an .xlsx file; the first sheet if left out.

    Raises:
        DataError: the file cannot be read with these options; the message says what to do.
    """
    if isinstance(gaps, str):
        single = f"Write [{gaps!r}] for a single one."
        raise DataError(f"The words for missing values come as a list; got {gaps!r}. {single}")
    path, reading = Path(path), Reading(encoding, ("", *(word for word in gaps if word)), header, sheet)
    for name in _unfit(path):
        if getattr(reading, name) != getattr(AS_USUAL, name):
            raise DataError(f"The option {Option(name)} does not apply to a {ending_of(path)} file. Leave it out.")
    frame = read_file(path, reading)
    chosen = None if names is None else tuple(names)
    index = index_in(frame) if chosen is None else None
    if index is not None:
        frame = frame.drop(index.name)
    table = as_table(frame, chosen, kinds=kinds)
    found = [
        *([] if index is None else [INDEX_LEFT_OUT]),
        *repeated_names_in(path, table.names, reading.encoding),
        *_word_findings(path, reading, frame, table.names),
        *_sheet_findings(path, sheet),
        *(labelled_findings(path) if ending_of(path) in LABELLED_ENDINGS else ()),
    ]
    table = table.with_findings(found)
    return table if reading == AS_USUAL else replace(table, reading=reading)


def repeated_names_in(path: Path, names: Sequence[str], encoding: str | None = None) -> list[Finding]:
    line = first_line(path, encoding) if ending_of(path) in TEXT_ENDINGS else ""
    return repeated_name_findings(names, line)


def _unfit(path: Path) -> list[str]:
    ending = ending_of(path)
    return [*([] if ending in TEXT_ENDINGS else ["encoding", "header"]), *([] if ending == ".xlsx" else ["sheet"])]


def index_in(frame: polars.DataFrame) -> polars.Series | None:
    """The index column (row numbers or names) that pandas wrote, if there is one."""
    if LAST_INDEX in frame.columns:
        return frame[LAST_INDEX]
    first = frame.to_series(0) if frame.width else None
    if first is None or first.name not in INDEX_NAMES:
        return None
    if first.n_unique() == len(first) and not (first.dtype.is_float() and (first != first.floor()).any()):
        return first
    if first.name:
        return None
    raise DataError(
        "The first column has no name, and its values are no row numbers: some come more than once, or are no whole "
        f"numbers. Give it a name in the first line of the file, or choose the columns to use ({Option('names')})."
    )


def _word_findings(path: Path, reading: Reading, frame: polars.DataFrame, names: Sequence[str]) -> list[Finding]:
    """Warnings about words in columns of text that were taken for missing values by default: they may be levels."""
    if ending_of(path) not in TEXT_ENDINGS or reading.gaps != MISSING_WORDS:
        return []
    columns = [name for name in names if frame[name].dtype == polars.String and frame[name].null_count()]
    words = [word for word in reading.gaps if word]
    if not columns or not words:
        return []
    texts = texts_in(path, reading, columns)
    remedy = Sentence("If it is a level, say which words stand for missing values (", Option("gaps"), ").")
    return [
        warning("words", (name,), f"In column {name!r}, {word!r} was taken for a missing value, {n} times.", remedy)
        for name in columns
        for word in words
        if (n := int((texts[name] == word).sum()))
    ]


def _sheet_findings(path: Path, sheet: str | None) -> list[Finding]:
    """A warning that says which of several sheets was read, if the user named none."""
    there = sheets_in(path) if ending_of(path) == ".xlsx" and sheet is None else []
    if len(there) < 2:
        return []
    message = f"Of the {len(there)} sheets of {path.name} the first, {there[0]!r}, was read."
    return [warning("sheet", (), message, Sentence("Name another one (", Option("sheet"), ") to read it."))]


def fitting(reading: Reading | None, path: Path) -> Reading:
    """The options of an earlier reading that apply to this file; an encoding does not apply to Parquet, for example."""
    if reading is None:
        return AS_USUAL
    unfit = [*_unfit(path), *([] if ending_of(path) in TEXT_ENDINGS else ["gaps"])]
    reading = reading._replace(**{name: getattr(AS_USUAL, name) for name in unfit})
    there = glance(path, 1, reading).columns if reading.counts or reading.weights else ()
    counts, weights = (name if name in there else None for name in (reading.counts, reading.weights))
    return reading._replace(counts=counts, weights=weights)


def read_as_said(path: Path, reading: Reading, names: Sequence[str] | None) -> Table | CountedTable:
    """The table of a file, read with these options; with counts or weights if the options name a column of them."""
    also = [name for name in (reading.counts, reading.weights) if name is not None]
    options = {"encoding": reading.encoding, "gaps": reading.gaps, "header": reading.header, "sheet": reading.sheet}
    table = read_table(path, names=None if names is None else [*names, *also], **options)  # type: ignore[arg-type]
    if reading.weights is not None:
        return weighted(table, reading.weights)
    return table if reading.counts is None else counted(table, reading.counts)


def read_again(path: Path, reading: Reading, among: Collection[str]) -> Table:
    """The columns `among` of a file; all columns if the file has none of these."""
    there = [name for name in glance(path, 1, reading).columns if name in among]
    return as_table(read_as_said(path, reading, there or None))


def rows_from(data: object, reading: Reading | None, among: Collection[str]) -> Table:
    """All columns of data in memory, or the columns `among` of a file; read and weighted as `reading` says."""
    if isinstance(data, str | Path):
        return read_again(Path(data), fitting(reading, Path(data)), among)
    table, weights = as_table(data), None if reading is None else reading.weights
    return table if weights is None or weights not in table.names else weighted(table, weights)
