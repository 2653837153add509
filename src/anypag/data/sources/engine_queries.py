"""Queries to tables in an engine (DuckDB, Dask, Spark, ...). Rows stay in the engine.

narwhals translates a query for every engine. Products of columns are summed block by block: a query has at most
`EXPRESSIONS` products and reads the columns of two blocks, so a wide table does not become a query of a million terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import combinations_with_replacement
from math import isqrt
from typing import Any, NamedTuple, Self

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.data.columns import checked_column_names, require_columns
from anypag.data.libraries import narwhals as nw
from anypag.data.moments import Moments, from_products, kurtosis_of, name_order
from anypag.data.sources.protocol import Levels, Others
from anypag.data.table import Table, as_table
from anypag.errors import DataError, MissingExtraError, listed
from anypag.threads import slices

EXPRESSIONS = 500  # the most expressions in one query
GLANCE = 10_000  # rows that are pulled to infer the kinds of columns


def is_in_engine(data: Any) -> bool:
    """Are the data a lazy table of an engine other than polars (which computes in this process)?"""
    if isinstance(data, np.ndarray | list | tuple | str | Table) or hasattr(type(data), "pvalues"):
        return False
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:  # from a frame in memory; `as_table` reports it
        return False
    return isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars()


class Centres(NamedTuple):
    """The number of rows, and (p,) the mean, the smallest and the largest value of each column."""

    n: int
    mean: Floats
    low: Floats
    high: Floats


def _number(name: str) -> Any:
    """A column of numbers as float64. The condition works around a bug of DuckDB (its issue 25521): DuckDB concludes
    from a Parquet file's statistics, which ignore NaN, that a column has no NaN. An expression has no statistics.
    """
    return nw.when(~nw.col(name).is_null()).then(nw.col(name).cast(nw.Float64)).alias(name)


@dataclass(frozen=True, eq=False)
class Engine:
    """A lazy table (`frame`, of narwhals) and the queries to it. Columns that are not text are float64."""

    names: tuple[str, ...]
    is_text: tuple[bool, ...]
    frame: Any

    @classmethod
    def of(cls, data: Any, names: Sequence[str] | None = None) -> Self:
        if find_spec("pyarrow") is None:
            raise MissingExtraError(
                "Results of an engine are read with pyarrow, which is not installed. Install it: pip install pyarrow."
            )
        frame = nw.from_native(data)
        schema = frame.collect_schema()
        there = schema.names()
        require_columns(names or (), there)
        chosen = checked_column_names(list(names or there), len(names or there))
        is_text = tuple(not (schema[name].is_numeric() or schema[name] == nw.Boolean) for name in chosen)
        columns = [nw.col(name) if text else _number(name) for name, text in zip(chosen, is_text, strict=True)]
        return cls(chosen, is_text, frame.select(*columns))

    def glance(self) -> Table:
        return as_table(self.frame.head(GLANCE).collect().to_native())

    def n_rows(self) -> int:
        return int(self.asked([nw.len()])[0])

    def take(self, names: Sequence[str]) -> Self:
        require_columns(names, self.names)
        is_text = tuple(self.is_text[self.names.index(name)] for name in names)
        return replace(self, names=tuple(names), is_text=is_text, frame=self.frame.select(*names))

    def gaps(self) -> tuple[Counts, Counts]:
        """Two (p,) arrays: how many missing and how many infinite values each column has."""
        p, numbers = len(self.names), [i for i, text in enumerate(self.is_text) if not text]
        missing = [self._is_gap(i) for i in range(p)]
        endless = [(nw.col(self.names[i]).abs() == np.inf).fill_null(False) for i in numbers]
        found = self.asked([flag.cast(nw.Int64).sum() for flag in (*missing, *endless)]).astype(np.int64)
        infinite = np.zeros(p, np.int64)
        infinite[numbers] = found[p:]
        return found[:p], infinite

    def without_gaps(self) -> Self:
        return replace(self, frame=self.frame.filter(*(~self._is_gap(i) for i in range(len(self.names)))))

    def _is_gap(self, i: int) -> Any:
        column = nw.col(self.names[i])
        return column.is_null() if self.is_text[i] else column.is_null() | column.is_nan().fill_null(False)

    def grouped(self, names: Sequence[str], most: int) -> tuple[Table, Counts] | None:
        """The distinct rows of some columns, and their counts; None if there are more than `most`."""
        column = "n" * (max(map(len, names)) + 1)  # longer than every column name, so that it is a new name
        pulled = self.frame.select(*names).group_by(*names).agg(nw.len().alias(column)).head(most + 1).collect()
        if len(pulled) > most:
            return None
        counts = np.asarray(pulled[column].cast(nw.Int64).to_numpy(), np.int64)
        table = as_table(pulled.drop(column).to_native(), names)
        order = np.lexsort(table.values.T[::-1])  # an engine returns groups in any order
        return replace(table, values=np.asfortranarray(table.values[order])), counts[order]

    def ends(self) -> Floats:
        """(2, p) the smallest and the largest value of each column; NaN for a column without values."""
        there = [nw.when(~self._is_gap(i)).then(nw.col(name)) for i, name in enumerate(self.names)]
        return self.asked([*(column.min() for column in there), *(column.max() for column in there)]).reshape(2, -1)

    def beside(self, i: int, value: float) -> Others:
        column = nw.col(self.names[i])
        rest = nw.when((column != value) & ~self._is_gap(i)).then(column)
        times, low, high = self.asked([(column == value).cast(nw.Int64).sum(), rest.min(), rest.max()])
        return Others(int(np.nan_to_num(times)), low, high)

    def levels(self, i: int, most: int) -> Levels | None:
        """The different values of a column, and their counts; None if there are more than `most`."""
        column = self.frame.filter(~self._is_gap(i)).select(nw.col(self.names[i]).alias("level"))
        pulled = column.group_by("level").agg(nw.len().alias("n")).head(most + 1).collect()
        if len(pulled) > most:
            return None
        found: dict[Any, int] = {}
        for value, count in zip(pulled["level"].to_list(), pulled["n"].to_list(), strict=True):
            level = str(value) if self.is_text[i] else float(value) + 0.0  # -0.0 becomes 0.0
            found[level] = found.get(level, 0) + int(count)
        values: list[Any] = sorted(found)
        return Levels(values, np.array([found[value] for value in values], np.int64))

    def with_columns(self, columns: Mapping[str, Any]) -> Engine:
        """A table of new columns: each has the numbers that its expression computes."""
        made = [expression.alias(name) for name, expression in columns.items()]
        return Engine(tuple(columns), (False,) * len(columns), self.frame.select(*made))

    def summary(self) -> Centres:
        """The number of rows, and the means and extremes of all columns, none of which may have gaps."""
        columns = [nw.col(name) for name in self.names]
        asked = [one for column in columns for one in (column.mean(), column.min(), column.max())]
        n, *rest = self.asked([nw.len(), *asked])
        mean, low, high = np.array(rest).reshape(-1, 3).T
        unsaid = [name for name, value in zip(self.names, mean, strict=True) if n and not np.isfinite(value)]
        if unsaid:
            raise DataError(
                f"The mean of {listed(unsaid, 3)} is not a number: the engine has values there (NaN, or too large) "
                "that it did not report as missing or infinite. Write missing values as NULL."
            )
        return Centres(int(n), mean, low, high)

    def moments(self, summary: Centres) -> Moments:
        """The moments, from products that the engine computes; last digits may differ from those of rows in memory."""
        n, mean, low, high = summary
        order = name_order(self.names)
        exponent = np.frexp(np.maximum(high - mean, mean - low))[1].astype(np.int32)
        short = [f"c{k}" for k in range(len(order))]
        centred = {
            short[k]: (nw.col(self.names[i]) - float(mean[i])) * float(np.ldexp(1.0, -int(exponent[i])))
            for k, i in enumerate(order)
        }
        products = np.zeros((len(order), len(order)))
        for one, other in combinations_with_replacement(slices(len(order), max(isqrt(EXPRESSIONS), 1)), 2):
            here, there = range(one.start, one.stop), range(other.start, other.stop)
            pairs = [(a, b) for a in here for b in there if a <= b]
            part = self.with_columns({short[k]: centred[short[k]] for k in {*here, *there}})
            sums = part.asked([(nw.col(short[a]) * nw.col(short[b])).sum() for a, b in pairs])
            row, column = np.array(pairs).T
            products[row, column] = products[column, row] = sums
        rest = self.asked([centred[name].sum() for name in short])  # the rounding errors of the means
        fourths = self.asked([(centred[name] * centred[name] * centred[name] * centred[name]).sum() for name in short])
        products -= np.outer(rest, rest) / n
        scaled = np.ldexp(mean, -exponent)[order] + rest / n
        kurtosis = kurtosis_of(n, np.diag(products), fourths)
        return from_products(self.names, n, scaled, products, exponent[order], kurtosis)

    def asked(self, expressions: list[Any]) -> Floats:
        """One number for each expression; at most `EXPRESSIONS` of them in a query."""
        parts = []
        for part in slices(len(expressions), EXPRESSIONS):
            named = [one.alias(f"v{k}") for k, one in enumerate(expressions[part])]
            parts += self.frame.select(*named).collect().rows()[0]  # `row` of old narwhals gives no plain numbers
        return np.array([np.nan if value is None else float(value) for value in parts])
