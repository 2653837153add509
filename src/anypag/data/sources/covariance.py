"""A covariance or correlation matrix in place of rows, for example from a paper, or if rows may not be shared.

A file has a column and a row for each variable. The rows are in the order of the columns, or a first column names them.
An empty triangle is filled in from the other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from anypag.arrays import Floats
from anypag.choices import is_whole
from anypag.data.audit.rows import LEAST_ROWS
from anypag.data.columns import checked_column_names, require_columns
from anypag.data.files.read_table import INDEX_NAMES
from anypag.data.files.scan import AS_USUAL, Reading, read_file
from anypag.data.findings import Finding
from anypag.data.libraries import narwhals as nw
from anypag.data.libraries import polars
from anypag.data.moments import Moments, Products
from anypag.data.sources.protocol import Lacked, Spread, Summary, ThroughRows
from anypag.data.table import Kind, Table
from anypag.errors import DataError, Option

NO_ROWS = "a covariance matrix has no rows"
MOST_ROWS = 2**53  # larger numbers of rows cannot be told apart as floats
_TOLERANCE = 1e-8  # asymmetry (relative) and negative eigenvalues (per column) up to this size count as rounding


@dataclass(frozen=True, eq=False)
class CovarianceTable(ThroughRows):
    """Continuous columns with known moments and without rows."""

    known: Moments

    names = property(attrgetter("known.names"))
    n = property(attrgetter("known.n"))  # the number of rows from which the moments were computed

    @property
    def labels(self) -> tuple[None, ...]:
        return (None,) * len(self.names)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple("continuous" for _ in self.names)

    read: tuple[Finding, ...] = ()

    @property
    def lacks(self) -> dict[Lacked, str]:
        return {"rows": NO_ROWS, "order": NO_ROWS, "values": NO_ROWS}

    def take(self, names: Sequence[str]) -> Self:
        if tuple(names) == self.names:
            return self
        return replace(self, known=self.known.at([self.names.index(name) for name in names], names))

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Self:
        return self

    def complete(self) -> Self:
        return self

    def summary(self) -> Summary:
        """No gaps and no infinite values; the extremes are not known."""
        none, unknown = np.zeros(len(self.names), np.int64), np.full(len(self.names), np.nan)
        return Summary(self.n, self.n, none, none, unknown, unknown)

    def levels(self, i: int) -> NoReturn:
        self.rows()

    def sample(self) -> Table:
        return Table(self.names, np.empty((0, len(self.names))), self.labels, self.kinds)

    def moments(self, names: Sequence[str] | None = None, *, threads: int = 1, on: Products | None = None) -> Moments:
        return self.known if names is None else self.take(names).known

    def spread(self) -> Spread:
        """The known moments, because no column is discrete."""
        return Spread(self.known, np.arange(len(self.names) + 1))

    def groups(self, names: Sequence[str] | None = None) -> None:
        """None: there are no rows."""

    def rows(self) -> NoReturn:
        raise DataError(f"This step needs rows; {NO_ROWS}. Give the rows, or choose ", Option("test", "fisherz"), ".")


def covariance_moments(
    covariance: Any, n: int, names: Sequence[str] | None = None, reading: Reading = AS_USUAL
) -> Moments:
    """The moments of a table of n rows, from its covariance or correlation matrix: a square array, a data frame, or
    the path of a file, read as `reading` says. `names`: for an array, the names of its columns; else, the columns of
    the frame or file to use. DataError if `covariance` is not such a matrix.
    """
    there, matrix = _named(covariance, reading)
    matrix = _filled_in(matrix)
    if there is None:
        there = checked_column_names(names, len(matrix.T))
    elif names is not None:
        require_columns(names, there)
        places = [there.index(name) for name in names]
        there, matrix = checked_column_names(names, len(places)), matrix[np.ix_(places, places)]
    _require_symmetric(there, matrix)
    if not (is_whole(n, LEAST_ROWS) and n <= MOST_ROWS):
        raise DataError(
            "A covariance matrix needs the number of rows it was computed from, a whole number from "
            f"{LEAST_ROWS} to {MOST_ROWS:,}; got {n!r}."
        )
    return _moments(there, matrix, int(n))


def _named(covariance: Any, reading: Reading) -> tuple[tuple[str, ...] | None, Floats]:
    if isinstance(covariance, str | Path):
        return _from_frame(read_file(Path(covariance), reading))
    frame = nw.from_native(covariance, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        index, columns = nw.maybe_get_index(frame), [str(name) for name in frame.columns]
        rows = [] if index is None else [str(name) for name in index]
        if sorted(rows) != sorted(columns):
            return _from_frame(frame.to_polars())
        return _ordered(columns, rows, _numbers(frame.to_numpy()))
    matrix = _numbers(covariance)
    _require_square(matrix.shape)
    return None, matrix


def _numbers(values: Any) -> Floats:
    """The values as floats. Raises DataError for anything but real numbers."""
    try:
        found = np.asarray(values)
        if found.dtype.kind != "c":
            return found.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("A covariance matrix holds numbers only; got something else among them.") from None
    raise DataError("A covariance matrix holds real numbers; got complex ones. Take the real parts, if that is meant.")


def _from_frame(frame: polars.DataFrame) -> tuple[tuple[str, ...], Floats]:
    """The matrix in a table; the first column may hold the names of the rows."""
    rows = None
    if frame.width and (frame.dtypes[0] == polars.String or frame.columns[0] in INDEX_NAMES):
        first = frame.to_series(0)
        rows = [str(name).strip() for name in first] if first.dtype == polars.String else None
        frame = frame.drop(first.name)
    texts = [name for name, kind in frame.schema.items() if not kind.is_numeric()]
    if texts:
        raise DataError(
            f"A covariance matrix holds numbers only; column {texts[0]!r} holds something else. Only the first column "
            "may name the rows."
        )
    values = frame.cast(polars.Float64).fill_null(np.nan).to_numpy()
    return _ordered([name.strip() for name in frame.columns], rows, values)


def _ordered(columns: list[str], rows: list[str] | None, matrix: Floats) -> tuple[tuple[str, ...], Floats]:
    """The names of the columns, and the matrix with its rows in the same order."""
    _require_square(matrix.shape)
    names = checked_column_names(columns, len(columns))
    if rows is None:
        return names, matrix
    if sorted(rows) != sorted(names):
        odd = next((name for name in rows if name not in names), rows[0])
        raise DataError(
            f"The rows of a covariance matrix must be named as its columns; {odd!r} is not among the columns, or comes "
            "twice. Correct the names, or leave the first column out."
        )
    return names, matrix[[rows.index(name) for name in names]]


def _require_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise DataError(
            f"A covariance matrix is square, with a row and a column for each variable; got one of shape {shape}. Rows "
            "of data need no matrix: give them as a table."
        )


def _filled_in(matrix: Floats) -> Floats:
    """The matrix; an empty triangle is filled in from the other."""
    matrix, above = matrix.copy(), np.triu_indices(len(matrix), 1)
    if np.isnan(matrix[above]).all():
        matrix[above] = matrix.T[above]
    elif np.isnan(matrix.T[above]).all():
        matrix.T[above] = matrix[above]
    return matrix


def _require_symmetric(names: Sequence[str], matrix: Floats) -> None:
    wrong = np.argwhere(~np.isfinite(matrix))
    if len(wrong):
        a, b = (names[i] for i in wrong[0])
        raise DataError(
            f"A covariance matrix needs a finite number for every pair; there is none for {a!r} and {b!r}. Only a "
            "whole triangle may be left empty."
        )
    wrong = np.argwhere(~np.isclose(matrix, matrix.T, rtol=_TOLERANCE, atol=_TOLERANCE * np.abs(matrix).max()))
    if len(wrong):
        i, j = wrong[0]
        raise DataError(
            f"A covariance matrix must be symmetric; {names[i]!r} and {names[j]!r} have {matrix[i, j]:g} one way and "
            f"{matrix[j, i]:g} the other. Correct it, or leave one triangle empty."
        )


def _moments(names: tuple[str, ...], covariance: Floats, n: int) -> Moments:
    variances = np.diag(covariance)
    if not (variances > 0).all():
        i = int(np.argmin(variances))
        raise DataError(
            f"The variances, on the diagonal of a covariance matrix, must be positive; that of {names[i]!r} is "
            f"{variances[i]:g}. Correct it, or leave the column out."
        )
    deviation = np.sqrt(variances)
    correlation = covariance / deviation[:, None] / deviation
    correlation = (correlation + correlation.T) / 2
    np.fill_diagonal(correlation, 1.0)
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    if np.abs(correlation).max() > 1 + 1e-9 or smallest < -_TOLERANCE * len(correlation):
        raise DataError(
            "The matrix is no covariance matrix: some combination of columns has negative variance (the smallest "
            f"eigenvalue of the correlations is {smallest:.2g}), as when pairs were computed from different rows, or "
            "numbers were rounded. Compute it from complete rows, with more digits."
        )
    nothing = np.zeros(len(names))
    return Moments(names, n, nothing, deviation, np.clip(correlation, -1.0, 1.0), nothing)
