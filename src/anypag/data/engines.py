"""Moments of a table that lives in an engine (DuckDB, Dask, Spark, ...), computed there; only sums are pulled.

narwhals writes the same query for all of them. Two passes: counts, extremes and means of the columns; then sums of
products about the means, over the rows without gaps. Products about the mean lose no digits, so that the result is that
of the table in memory but for the last ones. Queries are of so many expressions at most: a wide table does not become
one of a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from anypag.data.findings import Audit, Finding, Singular, require_choice
from anypag.data.moments import Moments, from_products, name_order
from anypag.data.suspicions import header_findings, near_copies
from anypag.data.table import Missing, Table, as_table, checked_column_names
from anypag.errors import DataError, absent, listed
from anypag.threads import slices

Array = npt.NDArray[np.float64]

EXPRESSIONS = 500
"""Of one query."""
GLANCE = 10_000
"""Rows that are pulled to see what kinds of columns there are."""
CHECKED_IN_ENGINES = (
    "text among numbers",
    "infinite and missing values",
    "too few rows",
    "constant columns",
    "exact linear relations",
    "a missing line of names",
    "near copies",
)


def is_in_engine(data: Any) -> bool:
    """Is it a table of which only a query is at hand, and not one of polars, which computes here?"""
    if isinstance(data, np.ndarray | list | tuple | str | Table) or hasattr(data, "pvalues"):
        return False
    import narwhals as nw

    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:  # of a data frame: `as_table` says what to do
        return False
    return isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars()


def glance_at(data: Any) -> Table:
    """The first rows of a table in an engine."""
    import narwhals as nw

    return as_table(nw.from_native(data).head(GLANCE).collect().to_native())


def engine_moments(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    missing: Missing = "error",
    singular: Singular = "error",
    max_r: int | None = None,
) -> tuple[Moments, Audit]:
    """The moments of a table in an engine, and the warnings about it.

    Args:
        data: a relation of DuckDB, a data frame of Dask or Spark, or any other lazy table that narwhals takes.
        names: which columns to use, in this order; all if not given.
        missing: "error" or "drop"; "pairwise" would need the rows again for every test.
        singular: see `anypag.data.audit`.
        max_r: see `anypag.data.audit`.

    Raises:
        DataError: something in the table would make the result wrong.
    """
    require_choice("missing", missing, ("error", "drop"))
    require_choice("singular", singular, ("error", "keep"))
    engine = _Engine(data, names)
    chosen, n_rows = engine.names, engine.n_rows()
    gaps, infinite = engine.gaps()
    findings: list[Finding] = [
        *infinity_findings(chosen, infinite),
        *missing_findings(chosen, gaps, n_rows, missing),
    ]
    Audit.of(findings).require_usable()
    n, mean, low, high = engine.complete(bool(gaps.any()))
    findings += [*dropped_findings(n_rows, n), *few_rows_findings(n)]
    findings += large_set_findings(n, largest_set(len(chosen), max_r)) if n else []
    findings += constant_findings(chosen, low == high)
    Audit.of(findings).require_usable()
    moments = engine.moments(n, mean, np.maximum(high - mean, mean - low))
    suspicious = [*header_findings(chosen), *near_copies(moments)]
    audit = Audit.of([*findings, *relation_findings(moments, singular), *suspicious], CHECKED_IN_ENGINES)
    audit.require_usable()
    return moments, audit


class _Engine:
    """A lazy table, and the queries put to it."""

    def __init__(self, data: Any, names: Sequence[str] | None) -> None:
        import narwhals as nw

        frame = nw.from_native(data)
        schema = frame.collect_schema()
        there = schema.names()
        unknown = [name for name in names or () if name not in there]
        if unknown:
            raise DataError(absent("column", unknown, there))
        self.names = checked_column_names(list(names or there), len(names or there))
        odd = [name for name in self.names if not schema[name].is_numeric() and schema[name] != nw.Boolean]
        if odd:
            raise DataError(f"Fisher's z needs numbers; {listed(odd)} hold something else. Leave them out (names).")
        self._frame = frame.select(*(nw.col(name).cast(nw.Float64) for name in self.names))

    def n_rows(self) -> int:
        """All rows."""
        import narwhals as nw

        n = int(self._asked(self._frame, [nw.len()])[0])
        if n == 0:
            raise DataError(f"A table needs rows and columns; got 0 rows and {len(self.names)} columns.")
        return n

    def gaps(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(p,) each: missing and infinite values."""
        import narwhals as nw

        present = [nw.col(name).is_null() | nw.col(name).is_nan().fill_null(False) for name in self.names]
        infinite = [(nw.col(name).abs() == np.inf).fill_null(False) for name in self.names]
        counts = self._asked(self._frame, [flag.cast(nw.Int64).sum() for flag in (*present, *infinite)])
        gaps, too_large = counts.astype(np.int64).reshape(2, -1)
        return gaps, too_large

    def complete(self, has_gaps: bool) -> tuple[int, Array, Array, Array]:
        """How many rows have no gap, and the mean and the extremes of the columns in them."""
        import narwhals as nw

        if has_gaps:
            for name in self.names:
                self._frame = self._frame.filter(~nw.col(name).is_null(), ~nw.col(name).is_nan())
        columns = [nw.col(name) for name in self.names]
        asked = [nw.len(), *(one for column in columns for one in (column.mean(), column.min(), column.max()))]
        n, *rest = self._asked(self._frame, asked)
        mean, low, high = np.array(rest).reshape(-1, 3).T
        return int(n), mean, low, high

    def moments(self, n: int, mean: Array, size: Array) -> Moments:
        """From sums of products about the mean, of columns scaled by powers of two; in the order of the names."""
        import narwhals as nw

        order = name_order(self.names)
        exponent = np.frexp(size)[1].astype(np.int32)
        centred = {k: (nw.col(self.names[k]) - float(mean[k])) * float(np.ldexp(1.0, -int(exponent[k]))) for k in order}
        low, high = np.tril_indices(len(order))
        asked = [(centred[order[i]] * centred[order[j]]).sum() for i, j in zip(low, high, strict=True)]
        sums = self._asked(self._frame, [*asked, *(centred[k].sum() for k in order)])
        rest = sums[len(asked) :]  # what the rounding of the means left
        products = np.zeros((len(order), len(order)))
        products[low, high] = products[high, low] = sums[: len(asked)]
        products -= np.outer(rest, rest) / n
        scaled = np.ldexp(mean, -exponent)[order] + rest / n
        return from_products(self.names, n, scaled, products, exponent[order])

    def _asked(self, frame: Any, expressions: list[Any]) -> Array:
        """One number for each expression, so many at a time."""
        parts = []
        for part in slices(len(expressions), EXPRESSIONS):
            named = [one.alias(f"v{k}") for k, one in enumerate(expressions[part])]
            row = frame.select(*named).collect()
            parts += [float(np.nan if row[f"v{k}"][0] is None else row[f"v{k}"][0]) for k in range(len(named))]
        return np.array(parts)
