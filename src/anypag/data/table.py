"""A table as the tests see it: one float64 matrix, column names, and what kind of thing each column is.

Missing values are NaN. A column of text holds the positions of its labels, which are kept beside it, so that
every column is a column of numbers and one matrix holds them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from anypag.data.columns import Column, column_from_array, column_from_series
from anypag.data.files.forked_process import require_threads
from anypag.data.findings import Finding
from anypag.data.kinds import has_fractions, infer_kind
from anypag.data.levels import Codes, codes_of
from anypag.errors import DataError, Option, ParameterError, absent, listed, shortened

if TYPE_CHECKING:
    from anypag.data.files.scan import Reading

Kind = Literal["continuous", "discrete"]
Missing = Literal["error", "drop", "pairwise"]
Values = npt.NDArray[np.float64]
LONGEST_NAME = 1000
MOST_PULLED = 100_000_000
"""Numbers that are pulled from an engine where rows are needed (800 MB)."""
KINDS: tuple[Kind, ...] = ("continuous", "discrete")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of numbers with names and kinds.

    Args:
        names: one per column, all different.
        values: (n, p) float64, column by column in memory; NaN where missing.
        labels: per column the texts its values stand for, None for a column of numbers.
        given_kinds: per column its kind where the type or the user settles it, else None.

    >>> table = as_table([[0.5, 1], [1.5, 0], [0.1, 1]], ["age", "smokes"], kinds={"smokes": "discrete"})
    >>> table.kinds
    ('continuous', 'discrete')
    >>> print(table)
    3 rows, 2 columns
    age: continuous, 0.1 to 1.5
    smokes: discrete, 2 levels
    """

    names: tuple[str, ...]
    values: Values
    labels: tuple[tuple[str, ...] | None, ...]
    given_kinds: tuple[Kind | None, ...]
    read: tuple[Finding, ...] = ()
    """What was decided when it was read, which its audit tells."""
    reading: Reading | None = None
    """How the file was read that it came from, where something was said about that."""

    def __str__(self) -> str:
        """What each column was taken for, one a line."""
        lines = [self._description(i) for i in range(len(self.names))]
        return "\n".join([f"{self.n} rows, {len(self.names)} columns", *lines])

    def _description(self, i: int) -> str:
        present = self.values[~np.isnan(self.values[:, i]), i]
        gaps = f", {self.n - len(present)} missing" if len(present) < self.n else ""
        if self.kinds[i] == "discrete" or not len(present):
            return f"{self.names[i]}: {self.kinds[i]}, {len(np.unique(present))} levels{gaps}"
        return f"{self.names[i]}: continuous, {present.min():.4g} to {present.max():.4g}{gaps}"

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.values)

    @cached_property
    def is_finite(self) -> bool:
        """Are all values numbers, none missing and none infinite? Nearly always their sum tells."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.values.sum())) or bool(np.isfinite(self.values).all())

    @cached_property
    def has_gaps(self) -> bool:
        """Is any value missing?"""
        return not self.is_finite and bool(np.isnan(self.values).any())

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Continuous or discrete, per column: as given, else by the rule of `infer_kind`."""
        fractions = has_fractions(self.values)

        def kind(i: int) -> Kind:
            is_clear = fractions[i] and self.labels[i] is None
            return "continuous" if is_clear else infer_kind(self.values[:, i], self.labels[i])

        return tuple(kind(i) if given is None else given for i, given in enumerate(self.given_kinds))

    def codes(self, i: int) -> Codes:
        """The levels of a column as 0, 1, 2, ... in ascending order, -1 where there is none; looked for once."""
        if i not in self._codes:
            self._codes[i] = codes_of(self.values[:, i])
        return self._codes[i]

    def n_levels(self, i: int) -> int:
        """How many different values a column has."""
        return int(self.codes(i).max(initial=-1)) + 1

    @cached_property
    def _codes(self) -> dict[int, Codes]:
        return {}

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Table:
        """The same columns with some kinds set by hand."""
        if not isinstance(kinds, Mapping):
            raise ParameterError(f"Kinds are a mapping such as {{'sex': 'discrete'}}; got {kinds!r}.")
        unknown = [name for name in kinds if name not in self.names]
        if unknown:
            raise DataError(f"Kinds were given for {listed(unknown)}, but the columns are {listed(self.names)}.")
        for name, kind in kinds.items():
            if kind not in KINDS:
                raise ParameterError(f"A kind is 'continuous' or 'discrete'; got {kind!r} for {name!r}.")
        given = (kinds.get(name, kind) for name, kind in zip(self.names, self.given_kinds, strict=True))
        return replace(self, given_kinds=tuple(given))

    def all_of_kind(self, kind: Kind) -> Table:
        """The same columns, every one of them taken as of this kind."""
        return replace(self, given_kinds=(kind,) * len(self.names))

    def take_rows(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Table:
        """Some of the rows, by flags or by their numbers, under the kinds that the whole table has."""
        return replace(self, values=np.asfortranarray(self.values[rows]), given_kinds=self.kinds)

    def take_columns(self, names: Sequence[str]) -> Table:
        """Some of the columns, in the order asked for."""
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise DataError(absent("column", unknown, self.names))
        places = [self.names.index(name) for name in names]
        return Table(
            checked_column_names(names, len(places)),
            np.asfortranarray(self.values[:, places]),
            tuple(self.labels[i] for i in places),
            tuple(self.given_kinds[i] for i in places),
            self.read,
        )

    def with_findings(self, found: Sequence[Finding]) -> Table:
        """The same, with what was decided when it was read."""
        return replace(self, read=(*self.read, *found))


def as_table(data: Any, names: Sequence[str] | None = None, *, kinds: Mapping[str, Kind] | None = None) -> Table:
    """Any table as a `Table`.

    Args:
        data: an array of shape (rows, columns); a mapping from names to columns; a data frame of pandas,
            polars, pyarrow or anything else narwhals takes; the path of a CSV, TSV, Parquet or Arrow IPC
            file; a `Table`, or one of counts (`counted`).
        names: of an array, the names of its columns (X0, X1, ... if not given); of anything that has names of
            its own, which columns to use, in this order.
        kinds: "continuous" or "discrete" for columns whose kind is not to be inferred.

    Raises:
        DataError: what came is no table, or has columns that are no data (dates, lists, text among numbers).
    """
    table = _read(data, names)
    return table.with_kinds(kinds) if kinds else table


def _read(data: Any, names: Sequence[str] | None) -> Table:
    if isinstance(data, np.ndarray | list | tuple):
        return _from_array(data, names)
    from anypag.data.sources.counted import CountedTable

    if isinstance(data, Table):
        table = data
    elif isinstance(data, CountedTable):
        return data.chosen(None if names is None else _sequence(names)).repeated()
    elif isinstance(data, str | Path):
        from anypag.data.files.read_table import read_table

        return read_table(data, names=None if names is None else _sequence(names))
    elif isinstance(data, Mapping):
        columns = [column_from_array(str(name), _as_array(column)) for name, column in data.items()]
        table = _from_columns([str(name) for name in data], columns)
    else:
        return _from_frame(data, None if names is None else _sequence(names))
    return table if names is None else table.take_columns(_sequence(names))


def _from_array(data: Any, names: Sequence[str] | None) -> Table:
    array = _as_array(data)
    if array.ndim != 2 or array.dtype.names is not None:
        raise DataError(
            "A table is an array of shape (rows, columns); "
            f"got one of shape {array.shape} and type {array.dtype}. A single column is array.reshape(-1, 1)."
        )
    checked = checked_column_names(names, array.shape[1])
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        _require_shape(array.shape)
        values = np.array(array, dtype=np.float64, order="F")
        return Table(checked, values, (None,) * len(checked), (None,) * len(checked))
    return _from_columns(checked, [column_from_array(name, array[:, i]) for i, name in enumerate(checked)])


def _from_frame(data: Any, chosen: Sequence[str] | None) -> Table:
    import narwhals as nw

    try:
        frame = nw.from_native(data)
    except TypeError:
        raise DataError(
            "Data come as an array, a mapping of columns, a data frame (pandas, polars, pyarrow, ...) or the "
            f"path of a file; got {type(data).__name__}."
        ) from None
    except nw.exceptions.DuplicateError as error:
        detail = " ".join(str(error).split())
        raise DataError(f"Column names must differ; rename or drop columns. {detail}.") from None
    if isinstance(frame, nw.LazyFrame):
        require_threads()
        frame = _pulled(frame, chosen)
    labels = [str(label) for label in frame.columns]
    there = dict(zip(labels, frame.iter_columns(), strict=True))
    names = labels if chosen is None else list(chosen)
    unknown = [name for name in names if name not in there]
    if unknown:
        raise DataError(absent("column", unknown, list(there)))
    wanted = set(names)
    used = [label for label in labels if label in wanted]  # what else is there does not matter
    checked_column_names(used, len(used))  # 0 and "0" are written alike
    checked = checked_column_names(names, len(names))
    return _from_columns(checked, [column_from_series(name, there[name]) for name in checked])


def _pulled(frame: Any, chosen: Sequence[str] | None) -> Any:
    """The rows of a lazy table, some or all of its columns; refused where an engine has more than fit in here."""
    import narwhals as nw

    there = frame.collect_schema().names()
    names = [name for name in there if chosen is None or name in chosen]
    is_elsewhere = not frame.implementation.is_polars()
    n = int(frame.select(nw.len().alias("n")).collect()["n"][0]) if is_elsewhere else 0
    if n * len(names) > MOST_PULLED:
        raise DataError(
            f"This works on the rows themselves, up to {MOST_PULLED:,} numbers of them; the table in the engine has "
            f"{n:,} rows and {len(names)} columns. Take a sample of the rows there, or fewer columns; or choose "
            "Fisher's z, the test for mixed data or the additive one (without gaps, or with ",
            Option("missing", "drop"),
            "), or a test of discrete columns, whose sums and counts are made in the engine.",
        )
    return frame.select(*names).collect() if names else frame.collect()


def _from_columns(names: Sequence[str], columns: Sequence[Column]) -> Table:
    checked = checked_column_names(names, len(columns))
    lengths = {len(column.values) for column in columns}
    if len(lengths) > 1:
        raise DataError(f"All columns must have the same number of rows; got {sorted(lengths)}.")
    _require_shape((min(lengths, default=0), len(columns)))
    values = np.asfortranarray(np.column_stack([column.values for column in columns]))
    return Table(
        checked,
        values,
        tuple(column.labels for column in columns),
        tuple("discrete" if column.is_categorical else None for column in columns),
    )


def checked_column_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    """One name per column, all different strings, none blank; X0, X1, ... where there are none."""
    if names is None:
        return tuple(f"X{i}" for i in range(n))
    names = _sequence(names)
    if len(names) != n:
        raise DataError(f"There must be one name per column: {n} columns, {len(names)} names.")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"Column names must be strings that are not blank; got {name!r}.")
        if len(name) > LONGEST_NAME:
            raise DataError(
                f"A column name may have up to {LONGEST_NAME:,} characters; {shortened(name)!r} has {len(name):,}. "
                "The names stand on the first line of a text file; is it one of names?"
            )
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"Column names must differ; {twice!r} comes twice. Rename or drop one of the two.")
    return tuple(map(str, names))


def _sequence(names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str):
        raise DataError(f"Names come as a list of strings; got the single string {names!r}.")
    return tuple(names)


def _as_array(data: Any) -> npt.NDArray[Any]:
    if isinstance(data, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(data), np.array(np.nan, dtype=object), data.data)
    try:
        return np.asarray(data)
    except ValueError:
        raise DataError("The rows of a table must all have the same number of values.") from None


def _require_shape(shape: tuple[int, ...]) -> None:
    if 0 in shape:
        raise DataError(f"A table needs rows and columns; got {shape[0]} rows and {shape[1]} columns.")
