"""The moments of a file that need not fit into memory: read in parts, of which only sums are kept.

Complete rows go into the sums in the same chunks as those of a table in memory (see `anypag.data.moments`), so that the
file and the table give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anypag.data.audit.checks import (
    constant_findings,
    dropped_findings,
    empty_finding,
    few_rows_findings,
    infinity_findings,
    large_set_findings,
    largest_set,
    missing_findings,
    relation_findings,
)
from anypag.data.audit.suspicions import header_findings, near_copies
from anypag.data.columns import NO_NUMBERS, checked_column_names
from anypag.data.files.read_table import INDEX_LEFT_OUT, INDEX_NAMES, LAST_INDEX, repeated_names_in
from anypag.data.files.scan import is_row, made_from_file
from anypag.data.findings import Audit, Finding, Singular, require_choice
from anypag.data.moments import Moments, Sums
from anypag.data.table import Missing
from anypag.errors import DataError, absent, listed

if TYPE_CHECKING:
    import polars

Array = npt.NDArray[np.float64]

CHECKED_WHILE_STREAMED = (
    "text among numbers",
    "infinite and missing values",
    "too few rows",
    "constant columns",
    "exact linear relations",
    "a missing line of names",
    "names that come twice",
    "near copies",
)

_IS_ROW = "\0is a row"
"""Beside the columns of a file, none of which is called so."""


def stream_moments(
    path: str | Path,
    names: Sequence[str] | None = None,
    *,
    missing: Missing = "error",
    singular: Singular = "error",
    max_r: int | None = None,
) -> tuple[Moments, Audit]:
    """The moments of a file of numbers, and the warnings about it.

    Args:
        path: of a CSV, TSV, Parquet or Arrow IPC file.
        names: which columns to use, in this order; all if not given.
        missing: "error" or "drop"; "pairwise" would need the rows again for every test.
        singular: see `anypag.data.audit`.
        max_r: see `anypag.data.audit`.

    Raises:
        DataError: something in the file would make the result wrong.
    """
    require_choice("missing", missing, ("error", "drop"))
    require_choice("singular", singular, ("error", "keep"))
    path = Path(path)
    sums = made_from_file(path, lambda frame: _summed(frame, names, path))
    findings = sums.findings(missing, max_r)
    Audit.of(findings).require_usable()
    moments = sums.moments()
    suspicious = [*header_findings(sums.names), *repeated_names_in(path, sums.names), *near_copies(moments)]
    audit = Audit.of([*findings, *relation_findings(moments, singular), *suspicious], CHECKED_WHILE_STREAMED)
    audit.require_usable()
    return moments, audit


def _summed(frame: polars.LazyFrame, names: Sequence[str] | None, path: Path) -> _Counts:
    import polars

    chosen = _chosen_names(frame, names)
    n = int(frame.select(polars.len()).collect().item())
    if n:
        Audit.of(_text_findings(frame, chosen)).require_usable()
    counts = _Counts(chosen)
    counts.has_index = names is None and index_in(frame) is not None
    for part in _parts(frame, n, chosen, path, counts.rows_at_once):
        counts.add(part)
    counts.end()
    return counts


class _Counts:
    """What is known of the parts read so far: counts, extremes, and the sums over complete rows."""

    def __init__(self, names: Sequence[str]) -> None:
        p = len(names)
        self.names = tuple(names)
        self.rows = 0
        self.has_index = False
        """Was a column of row numbers left out?"""
        self.missing, self.infinite = np.zeros(p, np.int64), np.zeros(p, np.int64)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)
        self._sums = Sums(names)
        self._waiting = np.empty((0, p))
        """Complete rows that do not fill a chunk yet."""

    @property
    def rows_at_once(self) -> int:
        """How many rows to read at a time."""
        return self._sums.rows_at_once

    def add(self, part: Array) -> None:
        """Takes in some more rows."""
        self.rows += len(part)
        self.missing += np.isnan(part).sum(axis=0)
        self.infinite += np.isinf(part).sum(axis=0)
        complete = part[np.isfinite(part).all(axis=1)]
        if len(complete):
            self.low = np.minimum(self.low, complete.min(axis=0))
            self.high = np.maximum(self.high, complete.max(axis=0))
        whole = complete if not len(self._waiting) else np.concatenate([self._waiting, complete])
        while len(whole) >= self.rows_at_once:
            self._sums.add(whole[: self.rows_at_once])
            whole = whole[self.rows_at_once :]
        self._waiting = whole

    def end(self) -> None:
        """Takes in the rows that did not fill a chunk."""
        if len(self._waiting):
            self._sums.add(self._waiting)

    @property
    def n(self) -> int:
        """The number of complete rows."""
        return self._sums.n

    def findings(self, missing: Missing, max_r: int | None) -> list[Finding]:
        """What is wrong with the file as far as it can be told without relations between columns."""
        if self.rows == 0:
            raise DataError(f"A table needs rows and columns; got 0 rows and {len(self.names)} columns.")
        found = [
            *([INDEX_LEFT_OUT] if self.has_index else []),
            *infinity_findings(self.names, self.infinite),
            *missing_findings(self.names, self.missing, self.rows, missing, self.rows - self.n),
        ]
        if any(finding.severity == "error" for finding in found):
            return found
        found += dropped_findings(self.rows, self.n)
        found += few_rows_findings(self.n)
        found += large_set_findings(self.n, largest_set(len(self.names), max_r)) if self.n else []
        return found + constant_findings(self.names, self.low == self.high)

    def moments(self) -> Moments:
        """The moments of all rows that were complete."""
        return self._sums.moments()


def _parts(frame: polars.LazyFrame, n: int, names: Sequence[str], path: Path, rows_at_once: int) -> Iterator[Array]:
    """The n lines of a file, so many at a time, without those that are no rows."""
    import polars

    numbers = frame.select(*(polars.col(name).cast(polars.Float64) for name in names), is_row(path).alias(_IS_ROW))
    for start in range(0, n, rows_at_once):
        part = numbers.slice(start, rows_at_once).collect().filter(polars.col(_IS_ROW)).drop(_IS_ROW)
        yield np.asfortranarray(part.fill_null(np.nan).to_numpy())


def index_in(frame: polars.LazyFrame) -> str | None:
    """The column of row numbers that pandas wrote along, if there is one."""
    import polars

    there = frame.collect_schema()
    first = next(iter(there), None)
    if LAST_INDEX in there or first is None or first not in INDEX_NAMES:
        return LAST_INDEX if LAST_INDEX in there else None
    column = polars.col(first)
    is_whole = not there[first].is_float() or frame.select((column == column.floor()).all()).collect().item()
    return first if is_whole else None


def _chosen_names(frame: polars.LazyFrame, names: Sequence[str] | None) -> tuple[str, ...]:
    there = frame.collect_schema().names()
    if names is None:
        index = index_in(frame)
        used = [name for name in there if name != index]
        return checked_column_names(used, len(used))
    unknown = [name for name in names if name not in there]
    if unknown:
        raise DataError(absent("column", unknown, there))
    return checked_column_names(names, len(names))


def _text_findings(frame: polars.LazyFrame, names: Sequence[str]) -> list[Finding]:
    import polars

    schema = frame.collect_schema()
    odd = [name for name in names if not schema[name].is_numeric() and schema[name] != polars.Boolean]
    return [_text_finding(frame, name, schema[name]) for name in odd]


def _text_finding(frame: polars.LazyFrame, name: str, kind: polars.DataType) -> Finding:
    import polars

    if kind not in (polars.String, polars.Categorical, polars.Enum):
        message = f"Column {name!r} is of type {kind}, which is neither numbers nor text."
        return Finding("error", "text", (name,), message, NO_NUMBERS)
    texts = polars.col(name).cast(polars.String)
    words = frame.select(texts).drop_nulls().unique().sort(name).head(3).collect()[name].to_list()
    if not words:
        return empty_finding((name,))
    message = f"Column {name!r} is of type {kind}, such as {listed(words)}."
    remedy = "Turn it into numbers or drop it, or use a test for discrete or mixed data."
    return Finding("error", "text", (name,), message, remedy)
