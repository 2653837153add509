"""Files read as another was: what a result remembers of how its data were read serves for rows that come later."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from anypag.data.files.read_table import read_table
from anypag.data.files.scan import AS_USUAL, TEXT_ENDINGS, Reading, ending_of, glance
from anypag.data.sources.counted import counted
from anypag.data.table import Table, as_table


def fitting(reading: Reading | None, path: Path) -> Reading:
    """What of a remembered reading has a meaning for this file: an encoding has none for Parquet, say."""
    if reading is None:
        return AS_USUAL
    if ending_of(path) not in TEXT_ENDINGS:
        reading = reading._replace(encoding=None, gaps=AS_USUAL.gaps, header=True)
    if ending_of(path) != ".xlsx":
        reading = reading._replace(sheet=None)
    if reading.counts is not None and reading.counts not in glance(path, 1, reading).columns:
        return reading._replace(counts=None)
    return reading


def read_again(path: Path, reading: Reading, among: Collection[str]) -> Table:
    """Those of some columns that a file has; others may hold anything."""
    there = [name for name in glance(path, 1, reading).columns if name in among]
    counts = [] if reading.counts is None else [reading.counts]
    table = read_table(
        path,
        names=[*there, *counts] if there else None,
        encoding=reading.encoding,
        gaps=reading.gaps,
        header=reading.header,
        sheet=reading.sheet,
    )
    return as_table(counted(table, counts[0])) if counts else table


def rows_from(data: object, reading: Reading | None, among: Collection[str]) -> Table:
    """Any table; of a file the columns that matter, read as the data of a search were."""
    if not isinstance(data, str | Path):
        return as_table(data)
    return read_again(Path(data), fitting(reading, Path(data)), among)
