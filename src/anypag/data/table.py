"""A table in memory: one float64 matrix, column names, and the kind of each column.

Missing values are NaN. A text is stored as its index in the list of the column's labels. So every column holds numbers,
and one matrix holds all columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats
from anypag.data.columns import (
    Column,
    checked_column_names,
    column_from_array,
    column_from_series,
    name_sequence,
    normal_scores,
    require_columns,
)
from anypag.data.files.scan import require_threads
from anypag.data.findings import Finding
from anypag.data.levels import Codes, codes_of, infer_kind, sortable_names, spread_out, starts_of
from anypag.data.libraries import narwhals as nw
from anypag.data.moments import Moments, Products, moments_of
from anypag.data.sources.protocol import Lacked, Levels, Others, Spread, Summary
from anypag.data.worth import Worth, behind_levels, effective_rows, factor_of_levels, factor_of_numbers, steps_of, worth
from anypag.errors import DataError, Option, ParameterError, is_pattern, listed, matching

if TYPE_CHECKING:
    from anypag.data.files.scan import Reading
    from anypag.data.sources.counted import CountedTable

Kind = Literal["continuous", "discrete", "ordinal"]
Missing = Literal["auto", "error", "drop", "pairwise"]
KINDS: tuple[Kind, ...] = ("continuous", "discrete", "ordinal")
_FIRST = 16  # how many first rows are searched for fractions; most continuous columns have one there
_OF_VALUES = ("sums", "is_finite", "has_gaps", "fractions", "_summary")  # cached properties that depend on values only


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of numbers with names and kinds.

    Args:
        names: one per column, all different.
        values: (n, p) float64, column by column in memory; NaN where missing.
        labels: per column the texts that its values are codes of; None for a column of numbers.
        given_kinds: per column its kind if the type or the user decides it, else None.

    >>> table = as_table([[0.5, 1], [1.5, 0], [0.1, 1]], ["age", "smokes"], kinds={"smokes": "discrete"})
    >>> table.kinds
    ('continuous', 'discrete')
    >>> print(table)
    3 rows, 2 columns
    age: continuous, 0.1 to 1.5
    smokes: discrete, 2 levels
    """

    names: tuple[str, ...]
    values: Floats
    labels: tuple[tuple[str, ...] | None, ...]
    given_kinds: tuple[Kind | None, ...]
    read: tuple[Finding, ...] = ()  # findings from reading the file; the audit reports them
    reading: Reading | None = None  # how its file was read, if the user gave options for that
    before: Table | None = None  # the table before its columns were transformed; None if they were not
    lags: int = 0  # the number of lags if its rows are windows of a time series (`anypag.series`); 0 for a plain table
    weights: Floats | None = None  # (n,) how much of the population each row stands for; None if all count alike
    lacks: Mapping[Lacked, str] = field(default_factory=dict)  # what its source cannot give, and why (see `Lacked`)
    _codes: dict[int, Codes] = field(default_factory=dict, init=False, repr=False)  # what was computed so far
    _levels: dict[int, Levels] = field(default_factory=dict, init=False, repr=False)
    _moments: dict[tuple[str, ...], Moments] = field(default_factory=dict, init=False, repr=False)

    def __str__(self) -> str:
        """The numbers of rows and columns, then a line for each column (kind; range or number of levels; gaps)."""
        lines = [self._description(i) for i in range(len(self.names))]
        return "\n".join([f"{self.n} rows, {len(self.names)} columns", *lines])

    def _description(self, i: int) -> str:
        present = self.values[~np.isnan(self.values[:, i]), i]
        gaps = f", {self.n - len(present)} missing" if len(present) < self.n else ""
        if self.kinds[i] != "continuous" or not len(present):
            return f"{self.names[i]}: {self.kinds[i]}, {len(np.unique(present))} levels{gaps}"
        return f"{self.names[i]}: continuous, {present.min():.4g} to {present.max():.4g}{gaps}"

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def raw(self) -> Table:
        return self.before or self

    @cached_property
    def sums(self) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.values.sum(axis=0))

    @cached_property
    def is_finite(self) -> bool:
        """Are all values finite? Usually the sums of the columns are enough to decide."""
        return bool(np.isfinite(self.sums).all()) or bool(np.isfinite(self.values).all())

    @cached_property
    def has_gaps(self) -> bool:
        return not self.is_finite and bool(np.isnan(self.values).any())

    @cached_property
    def fractions(self) -> Flags:
        """(p,) True for columns with fractions in their first rows; these columns are continuous."""
        first = self.values[:_FIRST]
        return np.asarray((np.isfinite(first) & (first != np.floor(first))).any(axis=0))

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each column: as given, else by the rule of `infer_kind`."""
        is_clear = self.fractions & np.array([labels is None for labels in self.labels])

        def kind(i: int) -> Kind:
            return "continuous" if is_clear[i] else infer_kind(self.values[:, i], self.labels[i])

        return tuple(given or kind(i) for i, given in enumerate(self.given_kinds))

    def of_kind(self, kind: Kind) -> list[int]:
        return [i for i, there in enumerate(self.kinds) if there == kind]

    def codes(self, i: int) -> Codes:
        """The levels of a column as codes 0, 1, 2, ... in ascending order, -1 for a missing value; computed once."""
        if i not in self._codes:
            self._codes[i] = codes_of(self.values[:, i])
        return self._codes[i]

    def n_levels(self, i: int) -> int:
        return int(self.codes(i).max(initial=-1)) + 1

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Table:
        there = set(self.names)
        unknown = [name for name in kinds if name not in there]
        if unknown:
            raise DataError(f"Kinds were given for {listed(unknown)}, but the columns are {listed(self.names)}.")
        for name, kind in kinds.items():
            if kind not in KINDS:
                raise ParameterError(f"A kind is 'continuous', 'discrete' or 'ordinal'; got {kind!r} for {name!r}.")
        given = tuple(kinds.get(name, kind) for name, kind in zip(self.names, self.given_kinds, strict=True))
        made = replace(self, given_kinds=given, before=self.before and self.before.with_kinds(kinds))
        known = {name: self.__dict__[name] for name in _OF_VALUES if name in self.__dict__}
        if self.weights is None and "ordinal" not in (*self.given_kinds, *given):  # otherwise moments depend on kinds
            known["_moments"] = self._moments
        made.__dict__.update(known, _codes=self._codes, _levels=self._levels)
        return made

    def all_of_kind(self, kind: Kind) -> Table:
        return self.with_kinds(dict.fromkeys(self.names, kind))

    def take_rows(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Table:
        """Some of the rows, by flags or indices; kinds stay those of the whole table."""
        before, values = self.before and self.before.take_rows(rows), np.asfortranarray(self.values[rows])
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, values=values, given_kinds=self.kinds, before=before, weights=weights)

    def take(self, names: Sequence[str]) -> Table:
        if tuple(names) == self.names:
            return self
        require_columns(names, self.names)
        place = {name: i for i, name in enumerate(self.names)}
        places = [place[name] for name in names]
        taken = {
            "names": checked_column_names(names, len(places)),
            "values": np.asfortranarray(self.values[:, places]),
            "labels": tuple(self.labels[i] for i in places),
            "given_kinds": tuple(self.given_kinds[i] for i in places),
            "before": self.before and self.before.take(names),
        }
        return Table(**parts_of(self) | taken)

    def complete(self) -> Table:
        return self._complete if self.has_gaps else self

    @cached_property
    def _complete(self) -> Table:
        return self.take_rows(np.logical_not(np.isnan(self.values).any(axis=1)))

    def settled(self) -> Table:
        return self

    def within_sets(self) -> Table:
        """The table for checks within each data set (see `Pooled`): this table, because it is one data set."""
        return self

    def normal_scores(self) -> Table:
        values, chosen = np.array(self.values), self.of_kind("continuous")
        values[:, chosen] = normal_scores(values[:, chosen])
        return replace(self, values=values, given_kinds=self.kinds, before=self)

    def with_findings(self, found: Sequence[Finding]) -> Table:
        """The table with findings from reading its file."""
        return replace(self, read=(*self.read, *found))

    @cached_property
    def _summary(self) -> Summary:
        nothing = np.full(len(self.names), np.nan)
        low, high = (np.fmin.reduce(self.values), np.fmax.reduce(self.values)) if self.n else (nothing, nothing)
        if self.is_finite:
            none = np.zeros(len(self.names), np.int64)
            return Summary(self.n, self.n, none, none, low, high)
        gaps, infinite = np.isnan(self.values), np.isinf(self.values)
        n_complete = self.n - int(gaps.any(axis=1).sum())
        return Summary(self.n, n_complete, gaps.sum(axis=0), infinite.sum(axis=0), low, high)

    def summary(self) -> Summary:
        return self._summary

    def levels(self, i: int) -> Levels:
        if i not in self._levels:
            codes, labels = self.codes(i), self.labels[i]
            counts = np.bincount(codes + 1)[1:].astype(np.int64)
            values = np.empty(len(counts) + 1)  # missing values have the code -1, and go to the end
            values[codes] = self.values[:, i]
            found = values[:-1].tolist()
            self._levels[i] = Levels(found if labels is None else [labels[int(k)] for k in found], counts)
        return self._levels[i]

    def beside(self, i: int, value: float) -> Others:
        rest = self.values[self.values[:, i] != value, i]
        ends = (float(end.reduce(rest, initial=np.nan)) for end in (np.fmin, np.fmax))
        return Others(self.n - len(rest), *ends)

    def sample(self) -> Table:
        return self

    def rows(self) -> Table:
        return self

    def moments(self, names: Sequence[str] | None = None, *, threads: int = 1, on: Products | None = None) -> Moments:
        chosen = self.names if names is None else tuple(names)
        if chosen not in self._moments:
            table = self.take(chosen).complete()
            found = moments_of(table._scores, chosen, table.scaled_weights, threads=threads, on=on)
            self._moments[chosen] = table._behind_levels(found, range(len(chosen)))
        return self._moments[chosen]

    @cached_property
    def worth(self) -> Worth | None:
        """The effective number of rows of a table without gaps; None if each row counts as one row."""
        if self.weights is None and not self._steps:
            return None
        n, factors, weights = float(self.n), np.ones(len(self.names)), self.weights
        if weights is not None:
            n, columns = effective_rows(weights), list(enumerate(self.kinds))
            of_levels = {i: factor_of_levels(self.codes(i), weights) for i, kind in columns if kind == "discrete"}
            factors = np.array([of_levels.get(i) or factor_of_numbers(self.values[:, i], weights) for i, _ in columns])
        return worth(self.n, n, factors, self._steps)

    @property
    def scaled_weights(self) -> Floats | None:
        """(n,) the weights, scaled so that their sum is the effective number of rows; None without weights."""
        if self.weights is None or self.worth is None:
            return None
        return np.asarray(self.weights * (self.worth.n / self.weights.sum()))

    @cached_property
    def _scores(self) -> Floats:
        """The values, with normal scores in place of ordered levels."""
        ordered, values = self.of_kind("ordinal"), self.values
        if ordered:
            values = np.array(values)
            values[:, ordered] = normal_scores(values[:, ordered])
        return values

    @cached_property
    def _steps(self) -> dict[int, Floats]:
        ordered = [i for i in self.of_kind("ordinal") if self.n_levels(i) > 1]
        return {i: steps_of(self._scores[:, i], self.weights) for i in ordered}

    def _behind_levels(self, moments: Moments, start: Sequence[int]) -> Moments:
        """The moments. Columns of ordered levels get the correlations of the normal variables behind the levels (see
        `anypag.data.worth`). Column i of the table is column start[i] of the moments.
        """
        if self.worth is None:
            return moments
        return replace(behind_levels(moments, {start[i]: own for i, own in self._steps.items()}), n=self.worth.n)

    def spread(self) -> Spread:
        """The moments of all columns of a table without gaps, with indicators for the discrete ones."""
        columns = spread_out(self._scores, self.kinds)
        widths = [some.shape[1] for some in columns]
        start = starts_of(self.names, widths)
        moments = moments_of(np.column_stack(columns), sortable_names(self.names, widths), self.scaled_weights)
        return Spread(self._behind_levels(moments, start.tolist()), start)

    def groups(self, names: Sequence[str] | None = None) -> CountedTable:
        """The rows of some columns, each with the count 1: rows in memory are not grouped."""
        from anypag.data.sources.counted import CountedTable

        return CountedTable(self.take(self.names if names is None else names), np.ones(self.n, np.int64))


def parts_of(table: Table) -> dict[str, Any]:
    """The arguments with which `Table` makes this table, without those of a subclass such as `Pooled`."""
    return {item.name: getattr(table, item.name) for item in fields(Table) if item.init}


def clusters_in(cluster: Any, table: Table) -> Counts | None:
    """(n,) the cluster of each row, as codes. `cluster`: the name of a column, or one value for each row."""
    if cluster is None:
        return None
    values = table.take([cluster]).values[:, 0] if isinstance(cluster, str) else np.asarray(cluster).reshape(-1)
    if len(values) != table.n:
        wanted = f"needs one value for each of the {table.n:,} rows"
        raise ParameterError(f"The option {Option('cluster')} {wanted}; got {len(values):,}.")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise DataError(f"The cluster of {np.isnan(values).sum():,} rows is missing: fill it in, or drop these rows.")
    codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
    if codes.max(initial=0) < 1:
        raise DataError("There must be at least two clusters; all rows are in one.")
    return codes


def as_table(data: Any, names: Sequence[str] | None = None, *, kinds: Mapping[str, str] | None = None) -> Table:
    """Any table as a `Table`.

    Args:
        data: an array of shape (rows, columns); a mapping from names to columns; a data frame of pandas,
            polars, pyarrow or anything else narwhals takes; the path of a file (CSV, TSV, Parquet, Arrow IPC,
            Excel, Stata, SPSS); a `Table`, or a table of counts (`counted`).
        names: for an array, the names of its columns (X0, X1, ... if not given); for other data, the columns to use, in
            this order.
        kinds: "continuous", "discrete" or "ordinal", for columns whose kind should not be inferred. A name may be a
            pattern, "q*". For an ordinal column of texts, the kind is the order of levels, "low < high".

    Raises:
        DataError: `data` is not a table, or a column mixes numbers and text, or holds neither (lists, durations).
    """
    return declared(_read(data, names), kinds or {})


def declared(table: Table, kinds: Mapping[str, str]) -> Table:
    """The table with these kinds, as users write them: a name may be a pattern ("q*"), a kind an order ("a < b")."""
    told = spelled_out(kinds, table.names)
    for name, kind in told.items():
        if name in table.names and ("<" in str(kind) or kind == "ordinal"):
            table = _ordered(table, name, [part.strip() for part in kind.split("<")] if "<" in kind else None)
    return table.with_kinds({name: "ordinal" if "<" in str(kind) else kind for name, kind in told.items()})  # type: ignore[misc]


def spelled_out(kinds: Mapping[str, str], names: Sequence[str]) -> Mapping[str, str]:
    """The kinds, with each pattern replaced by the names that match it. A kind given for a name overrides patterns."""
    if not isinstance(kinds, Mapping):
        raise ParameterError(f"Kinds are a mapping such as {{'sex': 'discrete'}}; got {kinds!r}.")
    patterns = {name: kind for name, kind in kinds.items() if is_pattern(name) and name not in names}
    found = {name: kind for one, kind in patterns.items() for name in matching([one], names)}
    return found | {name: kind for name, kind in kinds.items() if name not in patterns}


def _ordered(table: Table, name: str, order: list[str] | None) -> Table:
    """The table with the levels of a column in this order. Without `order`, DataError if their order is unknown."""
    i = table.names.index(name)
    labels, is_known = table.labels[i], table.given_kinds[i] == "ordinal"
    if order is None:
        if labels is not None and len(labels) > 2 and list(labels) == sorted(labels) and not is_known:
            raise DataError(
                f"The order of the levels of {name!r} is not known: they are text, {listed(labels, 6)}. Give it as the "
                f"kind, such as {' < '.join(labels[:3])!r} ({Option('kinds')}), or as an ordered category."
            )
        return table
    is_there = ~np.isnan(table.values[:, i])
    texts = [f"{value:g}" if labels is None else labels[int(value)] for value in table.values[is_there, i]]
    lost = sorted({*texts} - {*order})
    if lost or len(set(order)) < len(order):
        wrong = f"{listed(lost, 6)} is missing in it" if lost else "a level comes twice in it"
        raise DataError(f"The order {' < '.join(order)!r} of {name!r} must have every level once; {wrong}.")
    values, number = table.values.copy(order="F"), {level: float(k) for k, level in enumerate(order)}
    values[is_there, i] = [number[text] for text in texts]
    return replace(table, values=values, labels=(*table.labels[:i], tuple(order), *table.labels[i + 1 :]))


def _read(data: Any, names: Sequence[str] | None) -> Table:
    if isinstance(data, np.ndarray | list | tuple):
        return _from_array(data, names)
    from anypag.data.files.read_table import read_table
    from anypag.data.sources.counted import CountedTable
    from anypag.data.sources.engine import EngineTable
    from anypag.data.sources.file import FileTable

    chosen = None if names is None else name_sequence(names)
    if isinstance(data, str | Path):
        return read_table(data, names=chosen)
    if isinstance(data, Mapping):
        columns = [column_from_array(str(name), _as_array(column)) for name, column in data.items()]
        data = _from_columns([str(name) for name in data], columns)
    if isinstance(data, Table | CountedTable | EngineTable | FileTable):
        return (data if chosen is None else data.take(chosen)).rows()
    return _from_frame(data, chosen)


def _from_array(data: Any, names: Sequence[str] | None) -> Table:
    array = _as_array(data)
    if array.ndim != 2 or array.dtype.names is not None:
        got = f"got one of shape {array.shape} and type {array.dtype}. A single column is array.reshape(-1, 1)."
        raise DataError(f"A table is an array of shape (rows, columns); {got}")
    checked = checked_column_names(names, array.shape[1])
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        _require_shape(array.shape)
        values = np.array(array, dtype=np.float64, order="F")
        return Table(checked, values, (None,) * len(checked), (None,) * len(checked))
    return _from_columns(checked, [column_from_array(name, array[:, i]) for i, name in enumerate(checked)])


def _from_frame(data: Any, chosen: Sequence[str] | None) -> Table:
    try:
        frame = nw.from_native(data)
    except TypeError:
        kinds = "an array, a mapping of columns, a data frame (pandas, polars, pyarrow, ...) or the path of a file"
        raise DataError(f"Data come as {kinds}; got {type(data).__name__}.") from None
    except nw.exceptions.DuplicateError as error:
        detail = " ".join(str(error).split())
        raise DataError(f"Column names must differ; rename or drop columns. {detail}.") from None
    lacks: Mapping[Lacked, str] = {}
    if isinstance(frame, nw.LazyFrame):
        require_threads()
        frame, lacks = _pulled(frame, chosen)
    labels = [str(label) for label in frame.columns]
    there = dict(zip(labels, frame.iter_columns(), strict=True))
    names = labels if chosen is None else list(chosen)
    require_columns(names, there)
    wanted = set(names)
    used = [label for label in labels if label in wanted]  # other columns do not matter
    checked_column_names(used, len(used))  # the labels 0 and "0" give the same name
    return replace(_from_columns(names, [column_from_series(name, there[name]) for name in names]), lacks=lacks)


def _pulled(frame: Any, chosen: Sequence[str] | None) -> tuple[Any, Mapping[Lacked, str]]:
    """The rows of a lazy table in some or all columns, and what it lacks. DataError if an engine has too many rows."""
    from anypag.data.sources.engine import EngineTable

    names, lacks = [name for name in frame.collect_schema().names() if chosen is None or name in chosen], {}
    if names and not frame.implementation.is_polars():
        there = EngineTable.of(frame.to_native(), names)
        there.require_few_rows()
        lacks = there.lacks
    return (frame.select(*names) if names else frame).collect(), lacks


def _from_columns(names: Sequence[str], columns: Sequence[Column]) -> Table:
    checked = checked_column_names(names, len(columns))
    lengths = {len(column.values) for column in columns}
    if len(lengths) > 1:
        raise DataError(f"All columns must have the same number of rows; got {sorted(lengths)}.")
    _require_shape((min(lengths, default=0), len(columns)))
    values = np.asfortranarray(np.column_stack([column.values for column in columns]))
    return Table(checked, values, tuple(column.labels for column in columns), tuple(column.kind for column in columns))


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
