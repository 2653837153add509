"""The moments of a file that need not fit into memory: read in parts, of which only sums are kept.

Each part has its own means and centred products; two parts are joined by the formula for the variance of two
groups, so no digits are lost however large the file is. Means are counted from the first row, so that none are
lost where values are large and vary little. Parts are scaled by powers of two as in `moments_of`; when a later
part has larger values, the sums so far are scaled down, which rounds nothing either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anypag.data.checks import (
    constant_findings,
    dropped_findings,
    few_rows_findings,
    infinity_findings,
    large_set_findings,
    largest_set,
    missing_findings,
    relation_findings,
)
from anypag.data.files import scan_file, unreadable
from anypag.data.findings import Audit, Finding, Singular, require_choice
from anypag.data.moments import Moments, from_products, name_order
from anypag.data.suspicions import header_findings, near_copies, repeated_name_findings
from anypag.data.table import Missing, checked_column_names
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

_PART = 4_000_000
"""Numbers read at a time: 32 MB."""


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
    import polars

    path = Path(path)
    try:
        frame = scan_file(path)
        names = _chosen_names(frame, names)
        Audit.of(_text_findings(frame, names)).require_usable()
        sums = _Sums(names)
        for part in _parts(frame, sums.in_order):
            sums.add(part)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise unreadable(path, error) from None
    findings = sums.findings(missing, max_r)
    Audit.of(findings).require_usable()
    moments = sums.moments()
    suspicious = [*header_findings(names), *repeated_name_findings(names), *near_copies(moments)]
    audit = Audit.of([*findings, *relation_findings(moments, singular), *suspicious], CHECKED_WHILE_STREAMED)
    audit.require_usable()
    return moments, audit


class _Sums:
    """What is known of the parts read so far; columns in the order of their names."""

    def __init__(self, names: Sequence[str]) -> None:
        p = len(names)
        self.names = tuple(names)
        self.in_order = [names[i] for i in name_order(names)]
        self.rows, self.n = 0, 0
        self.missing, self.infinite = np.zeros(p, np.int64), np.zeros(p, np.int64)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)
        self.exponent = np.full(p, -2000, np.int32)
        self.origin, self.mean, self.products = np.zeros(p), np.zeros(p), np.zeros((p, p))

    def add(self, part: Array) -> None:
        """Takes in some more rows."""
        self.rows += len(part)
        self.missing += np.isnan(part).sum(axis=0)
        self.infinite += np.isinf(part).sum(axis=0)
        part = part[np.isfinite(part).all(axis=1)]
        if not len(part):
            return
        self.low = np.minimum(self.low, part.min(axis=0))
        self.high = np.maximum(self.high, part.max(axis=0))
        self._scale_down(np.frexp(np.abs(part).max(axis=0))[1])
        self.origin = part[0] if self.n == 0 else self.origin
        scaled = np.ldexp(part, -self.exponent) - np.ldexp(self.origin, -self.exponent)
        mean = scaled.mean(axis=0)
        scaled -= mean
        rest = scaled.mean(axis=0)
        scaled -= rest
        self._join(len(part), mean + rest, scaled.T @ scaled)

    def _scale_down(self, exponent: npt.NDArray[np.int32]) -> None:
        shift = np.minimum(self.exponent - exponent, 0)
        self.exponent = self.exponent - shift
        self.mean = np.ldexp(self.mean, shift)
        self.products = np.ldexp(self.products, shift[:, None] + shift)

    def _join(self, n: int, mean: Array, products: Array) -> None:
        difference = mean - self.mean
        total = self.n + n
        self.mean = self.mean + difference * (n / total)
        self.products = self.products + products + np.outer(difference, difference) * (self.n * n / total)
        self.n = total

    def findings(self, missing: Missing, max_r: int | None) -> list[Finding]:
        """What is wrong with the file as far as it can be told without relations between columns."""
        if self.rows == 0:
            raise DataError(f"A table needs rows and columns; got 0 rows and {len(self.names)} columns.")
        back = np.argsort(name_order(self.names))
        found = [
            *infinity_findings(self.names, self.infinite[back]),
            *missing_findings(self.names, self.missing[back], self.rows, missing),
        ]
        if any(finding.severity == "error" for finding in found):
            return found
        found += dropped_findings(self.rows, self.n)
        found += few_rows_findings(self.n)
        found += large_set_findings(self.n, largest_set(len(self.names), max_r)) if self.n else []
        return found + constant_findings(self.names, (self.low == self.high)[back])

    def moments(self) -> Moments:
        """The moments of all rows that were complete."""
        mean = self.mean + np.ldexp(self.origin, -self.exponent)
        return from_products(self.names, self.n, mean, self.products, self.exponent)


def _parts(frame: polars.LazyFrame, names: Sequence[str]) -> Iterator[Array]:
    import polars

    rows_at_once = max(_PART // len(names), 1)
    n = int(frame.select(polars.len()).collect().item())
    numbers = frame.select(polars.col(list(names)).cast(polars.Float64))
    for start in range(0, n, rows_at_once):
        part = numbers.slice(start, rows_at_once).collect()
        yield np.asfortranarray(part.fill_null(np.nan).to_numpy())


def _chosen_names(frame: polars.LazyFrame, names: Sequence[str] | None) -> tuple[str, ...]:
    there = frame.collect_schema().names()
    if names is None:
        return checked_column_names(there, len(there))
    unknown = [name for name in names if name not in there]
    if unknown:
        raise DataError(absent("column", unknown, there))
    return checked_column_names(names, len(names))


def _text_findings(frame: polars.LazyFrame, names: Sequence[str]) -> list[Finding]:
    import polars

    schema = frame.collect_schema()
    findings = []
    for name in names:
        if schema[name].is_numeric() or schema[name] == polars.Boolean:
            continue
        words = frame.select(polars.col(name)).drop_nulls().unique().sort(name).head(3).collect()[name].to_list()
        message = f"Column {name!r} is of type {schema[name]}, such as {listed([str(word) for word in words])}."
        remedy = "Turn it into numbers or drop it, or use a test for discrete or mixed data."
        findings.append(Finding("error", "text", (name,), message, remedy))
    return findings
