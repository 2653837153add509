"""Converts a column of any type to float64 numbers, with labels for text. Checks column names. Computes normal scores.

A normal score is the normal quantile of a value's rank. So correlations of normal scores show any monotone dependence,
and an outlier counts only by its rank. On Gaussian data almost no power is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats
from anypag.data.libraries import narwhals as nw
from anypag.errors import DataError, absent, shortened

Transform = Literal["none", "normal-scores"]
LONGEST_NAME = 1000  # the most characters that a column name may have
NO_NUMBERS = "Turn it into numbers (a date: into days since a start) or drop it."
"""What to do about a column that is neither numbers nor text."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column as numbers."""

    values: npt.NDArray[np.float64]  # NaN for a missing value
    labels: tuple[str, ...] | None = None  # the texts that the numbers are codes of; None in a column of numbers
    kind: Literal["discrete"] | None = None  # "discrete" if the type alone says so (truth values, categories)


def column_from_array(name: str, column: npt.NDArray[Any]) -> Column:
    if column.ndim != 1:
        raise DataError(f"Column {name!r} must be one-dimensional; got an array of shape {column.shape}.")
    if column.dtype.kind == "b":
        return Column(column.astype(np.float64), kind="discrete")
    if column.dtype.kind in "iuf":
        return Column(column.astype(np.float64))
    if column.dtype.kind == "M":
        return _from_texts(None if day == "NaT" else day for day in np.datetime_as_string(column).tolist())
    if column.dtype.kind in "UT":
        return _from_texts(column.tolist())
    if column.dtype.kind == "O":
        return _from_objects(name, column.tolist())
    raise DataError(f"Column {name!r} is of type {column.dtype}, which is neither numbers nor text. {NO_NUMBERS}")


def column_from_series(name: str, series: Any) -> Column:
    if series.dtype == nw.Boolean:
        return Column(_numbers(series), kind="discrete")
    if series.dtype.is_numeric():
        return Column(_numbers(series))
    if series.dtype in (nw.Categorical, nw.Enum):
        order = series.dtype.categories if isinstance(series.dtype, nw.Enum) else ()
        return replace(_from_texts(series.to_list(), order), kind="discrete")
    if series.dtype in (nw.Date, nw.Datetime):  # dates become texts, which the audit reports
        series = series.dt.to_string("%Y-%m-%d" if series.dtype == nw.Date else "%Y-%m-%d %H:%M:%S")
    if series.dtype == nw.String:
        return _from_texts(series.to_list())
    if series.dtype in (nw.Object, nw.Unknown):
        return _from_objects(name, series.to_list())
    raise DataError(f"Column {name!r} is of type {series.dtype}, which is neither numbers nor text. {NO_NUMBERS}")


def _numbers(series: Any) -> npt.NDArray[np.float64]:
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _from_objects(name: str, objects: list[Any]) -> Column:
    """A column of objects that are all numbers or all text; None and NaN are missing values."""
    present = [thing for thing in objects if not _is_missing(thing)]
    texts = [thing for thing in present if isinstance(thing, str)]
    others = [thing for thing in present if not isinstance(thing, str | Real)]
    if others:
        raise DataError(
            f"Column {name!r} holds {shortened(repr(others[0]))} of type {type(others[0]).__name__}, which is neither "
            "a number nor text. Turn the column into numbers or drop it."
        )
    if texts and len(texts) < len(present):
        wrong = f"Column {name!r} mixes numbers and text ({shortened(texts[0])!r})."
        raise DataError(f"{wrong} Turn the text into numbers, or into None if it marks missing values.")
    if texts:
        return _from_texts(objects)
    try:
        values = np.array([np.nan if _is_missing(thing) else float(thing) for thing in objects])
    except OverflowError:
        raise DataError(f"Column {name!r} holds a number too large for float64. Rescale the column.") from None
    is_categorical = bool(present) and all(isinstance(thing, bool | np.bool_) for thing in present)
    return Column(values.astype(np.float64), kind="discrete" if is_categorical else None)


def _is_missing(thing: Any) -> bool:
    """Is the value None, NaN or pandas' NA (whose comparison with itself is neither true nor false)?"""
    if thing is None:
        return True
    try:
        return bool(thing != thing)
    except TypeError:
        return True
    except ValueError:
        return False


def _from_texts(texts: Iterable[Any], order: Iterable[Any] = ()) -> Column:
    """A column of text. Its labels are in the given order, else in alphabetical order."""
    present = [None if _is_missing(text) else str(text) for text in texts]
    place = {str(label): i for i, label in enumerate(order)}
    found = {text for text in present if text is not None}
    labels = tuple(sorted(found, key=lambda text: (place.get(text, len(place)), text)))
    position = {label: float(i) for i, label in enumerate(labels)}
    values = np.array([np.nan if text is None else position[text] for text in present], dtype=np.float64)
    return Column(values, labels)


def checked_column_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    """The names, checked: one per column, all different strings, none blank. X0, X1, ... if no names are given."""
    if names is None:
        return tuple(f"X{i}" for i in range(n))
    names = name_sequence(names)
    if len(names) != n:
        raise DataError(f"There must be one name per column: {n} columns, {len(names)} names.")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"Column names must be strings that are not blank; got {name!r}.")
        if len(name) > LONGEST_NAME:
            raise DataError(
                f"A column name may have up to {LONGEST_NAME:,} characters; {shortened(name)!r} has {len(name):,}. "
                "Does the first line of the file hold the names?"
            )
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataError(f"Column names must differ; {twice!r} comes twice. Rename or drop one of the two.")
    return tuple(map(str, names))


def require_columns(names: Iterable[str], there: Iterable[str], kind: str = "column") -> None:
    """Raises a `DataError`, which suggests similar names, unless all names are there."""
    known = dict.fromkeys(there)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DataError(absent(kind, unknown, list(known)))


def name_sequence(names: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple; a single string is refused, because it would be split into letters."""
    if isinstance(names, str):
        raise DataError(f"Names come as a list of strings; got the single string {names!r}.")
    return tuple(names)


def normal_scores(values: Floats) -> Floats:
    """(n, p) the normal quantiles of (rank - 1/2) / (number of values); ties share their mean rank, gaps stay gaps."""
    from scipy.special import ndtri

    return np.asarray(ndtri((mean_ranks(values) - 0.5) / np.sum(~np.isnan(values), axis=0)))


def mean_ranks(values: Floats) -> Floats:
    """(n, p) the rank of each value in its column, from 1; ties share the mean of their ranks, gaps stay gaps."""
    n, plain = len(values), np.arange(1.0, len(values) + 1)
    ranks = np.empty(values.shape[::-1])
    for column, rank in zip(np.ascontiguousarray(values.T), ranks, strict=True):
        order = np.argsort(column)
        rank[order] = plain
        ordered = column[order]
        is_new = ordered[1:] != ordered[:-1]
        if not is_new.all():
            ends = np.concatenate([[0], np.flatnonzero(is_new) + 1, [n]])
            rank[order] = np.repeat((ends[:-1] + 1 + ends[1:]) / 2, np.diff(ends))
        if n and np.isnan(ordered[-1]):
            rank[np.isnan(column)] = np.nan
    return ranks.T
