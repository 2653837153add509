"""A table of windows from a table in the order of time.

A window is one row: the values at a time and at the `max_lag` times before it. It lies within one unit (a person, say)
of a panel, and has no gap in time and no missing value. The times without a window are counted and reported.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.choices import is_whole, require
from anypag.data.sources.counted import refuse_weights
from anypag.data.sources.pooled import Pooled, beside, design_of
from anypag.data.table import Table, as_table, declared, parts_of
from anypag.errors import DataError, Option, listed
from anypag.markup import counted
from anypag.series.window import Window

NAME_UNIT = f"Name the column of units ({Option('unit')}), or join year and quarter in one column (2020Q1)."
HAS_HAVE = ("has", "have")
TOLERANCE = 1e-4  # a distance in time may differ from a step by this share of the step, because times may be rounded


@dataclass(frozen=True, eq=False)
class Lagged:
    """A table of windows, and how it was made."""

    window: Window
    table: Table = field(repr=False)
    """A row for each window: processes at lag 0, their earlier values, and contexts, which tell data sets apart."""
    units: Counts = field(repr=False)  # (n,) each window's unit, as a number in the order of the units' first rows
    runs: Counts = field(repr=False)  # (n,) the index of each window's stretch of rows; a stretch has no gap in time
    n_rows: int
    n_units: int
    n_breaks: int  # gaps in time inside units
    n_without_past: int  # rows with fewer than `max_lag` rows before them in their stretch
    n_incomplete: int  # windows that were left out because a value in them is missing
    irregular: float = 0.0  # the share of neighbouring times that are not one step apart

    @property
    def sets(self) -> tuple[str, ...]:
        """The names of the data sets; empty if there is only one."""
        return self.table.sets if isinstance(self.table, Pooled) else ()

    @property
    def is_panel(self) -> bool:
        """Are there several units in a data set?"""
        return self.n_units > max(1, len(self.sets))

    @property
    def told(self) -> str:
        """A sentence: how many windows there are, and why other rows or windows were left out.

        >>> data = {"x": [1.0, 2.0, 4.0, 3.0, 5.0, 4.5, float("nan"), 3.0]}
        >>> lagged(data, 2).told
        '4 windows of lags 0 to 2 from 8 rows: 2 rows have too little past, 2 windows have missing values.'
        """
        units = f" of {counted(self.n_units, 'unit')}" if self.is_panel else ""
        reference = f"({self.sets[0]!r} is the one with which others are compared)" if self.sets else ""
        units += f" in {len(self.sets)} data sets {reference}" if self.sets else ""
        lags = f"of lags 0 to {self.window.max_lag}"
        whole = f"{counted(self.table.n, 'window')} {lags} from {counted(self.n_rows, 'row')}{units}"
        reasons = (
            (self.n_breaks, "gap", ("in time was", "in time were"), "not crossed"),
            (self.n_without_past, "row", HAS_HAVE, "too little past"),
            (self.n_incomplete, "window", HAS_HAVE, "missing values"),
        )
        why = ", ".join(f"{counted(n, what)} {verbs[n > 1]} {rest}" for n, what, verbs, rest in reasons if n)
        return f"{whole}: {why}." if why else f"{whole}."

    def clusters(self, block: int | None = None) -> Counts:
        """(n,) the cluster of each window, as a number; resampling draws whole clusters: units, or blocks in time."""
        if block is None and len(np.unique(self.units)) > max(1, len(self.sets)):
            return self.units
        length = max(2 * (self.window.max_lag + 1), round(self.table.n ** (1 / 3))) if block is None else block
        require(is_whole(length, 1), "block", "a whole number from 1 on", block)
        return np.cumsum(self.places % length == 0).astype(np.int64) - 1

    @property
    def places(self) -> Counts:
        """(n,) the place of each window in its stretch of time; windows with missing values are not counted."""
        first = np.concatenate([[0], np.flatnonzero(np.diff(self.runs)) + 1])
        return np.asarray(np.arange(self.table.n) - np.repeat(first, np.diff([*first, self.table.n])))


def lagged(
    data: Any,
    max_lag: int,
    *,
    time: str | None = None,
    unit: str | None = None,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Lagged:
    """The windows of a table; the arguments are those of `learn_series`. Times are numbers, or dates: 2020-01-31,
    2020-01 or 2020Q1. DataError if there are fewer than two windows, a unit has a time twice, or a time cannot be read.
    """
    require(is_whole(max_lag, 1), "max_lag", "a whole number from 1 on", max_lag)
    whole = as_table(data)
    refuse_weights(whole, "time series")
    contexts = whole.contexts if isinstance(whole, Pooled) else ()
    apart = [name for name in (time, unit, *contexts) if name is not None]
    left_out = apart if names is None else contexts  # contexts are never processes
    processes = [name for name in (whole.names if names is None else names) if name not in left_out]
    if not processes:
        raise DataError(f"The table has no process: its only columns are {listed(apart)}.")
    series = declared(whole.take(processes), kinds or {})
    units = np.zeros(whole.n, np.int64) if unit is None else _codes(_whole_column(whole, unit)[0])
    if isinstance(whole, Pooled) and whole.by is not None and time is None:
        raise DataError(
            f"The column {whole.by!r} says to which data set a row belongs, but not the order in time of its rows. "
            f"Give the column of times with {Option('time')}."
        )
    if isinstance(whole, Pooled):  # units of different sets differ, so windows do not cross sets
        units = _codes((whole.of_set * whole.n + units).astype(np.float64))
    times = np.arange(whole.n, dtype=np.float64) if time is None else _times(whole, time)
    order = np.lexsort((times, units))
    units, times, values = units[order], times[order], series.values[order]
    if time is None:  # successive rows of a unit are one step apart, even with rows of other units between them
        times = np.arange(whole.n, dtype=np.float64)
    is_next, irregular = _follows(units, times, unit)
    windows, last = _cut(Window(series.names, int(max_lag), contexts), series, values, units, is_next, irregular)
    if isinstance(whole, Pooled):
        windows = replace(windows, table=_with_contexts(windows.table, windows.window, whole, order[last]))
    return windows


def _with_contexts(windows: Table, window: Window, pool: Pooled, last: Counts) -> Pooled:
    """The windows with the contexts of their data sets; `last`: for each window, the row of the pool at lag 0."""
    empty = [repr(name) for k, name in enumerate(pool.sets) if not (pool.of_set[last] == k).any()]
    if empty:
        raise DataError(f"The data set {empty[0]} has no window without a gap. Leave it out, or choose a smaller lag.")
    of_each = Table.take(pool, window.contexts).take_rows(np.unique(pool.of_set, return_index=True)[1])
    design = design_of(of_each, pool.sets, range(len(pool.sets)), continuous="discrete" not in windows.kinds)
    made, of_set = beside(windows, design, pool.of_set[last]), pool.of_set[last]
    targets = tuple(
        (by, tuple(a for name in on if name in window.processes for a, _ in window.copies(name, by)))
        for by, on in pool.targets
    )
    return replace(pool, **parts_of(made), contexts=window.contexts, targets=targets, of_set=of_set)


def _cut(
    window: Window, series: Table, values: Floats, units: Counts, is_next: Flags, irregular: float
) -> tuple[Lagged, Counts]:
    """The windows of ordered rows, and the row at lag 0 of each. `is_next`: is a row one step after the row before?"""
    runs = np.cumsum(~is_next) - 1
    first = np.flatnonzero(~is_next)
    past = np.arange(len(values)) - first[runs]
    ends = np.flatnonzero(past >= window.max_lag)
    rows = np.hstack([values[ends - lag] for lag in range(window.max_lag + 1)])
    whole = ~np.isnan(rows).any(axis=1)
    n_units, copies = int(units.max()) + 1, window.max_lag + 1
    if whole.sum() < 2:
        raise DataError(
            f"A series must have at least 2 windows of {copies} neighbouring rows without a gap (hundreds are useful); "
            f"this one has {whole.sum()}. Choose a smaller {Option('max_lag')}, fill in missing values, or space "
            "the times evenly."
        )
    table = Table(
        window.names[: window.n_moving],
        np.asfortranarray(rows[whole]),
        series.labels * copies,
        series.kinds * copies,
        series.read,
        series.reading,
        lags=window.max_lag,
    )
    counts = (len(first) - n_units, int((past < window.max_lag).sum()), int((~whole).sum()))
    found = Lagged(window, table, units[ends][whole], runs[ends][whole], len(values), n_units, *counts, irregular)
    return found, ends[whole]


def _codes(values: Floats) -> Counts:
    """(n,) the value of each row as a number from 0; values are numbered in the order of their first rows."""
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes].astype(np.int64)


def _whole_column(table: Table, name: str) -> tuple[Floats, tuple[str, ...] | None]:
    column = table.take([name])
    n_missing = np.isnan(column.values).sum()
    if n_missing:
        raise DataError(f"{n_missing:,} rows have no value of {name!r}. Fill in the values, or leave these rows out.")
    return column.values[:, 0], column.labels[0]


def _times(table: Table, time: str) -> Floats:
    """(n,) times as numbers. Dates are counted in months if no month has two different dates, and all dates fall on the
    same day of the month or all on its last day. Other dates are counted in microseconds.
    """
    values, labels = _whole_column(table, time)
    if labels is None:
        return values
    with warnings.catch_warnings():  # numpy warns that it converts times with a time zone to universal time
        warnings.simplefilter("ignore", UserWarning)
        dates = np.array([_date(text, time) for text in labels])[values.astype(np.int64)]
    months = dates.astype("datetime64[M]")
    days = (dates.astype("datetime64[D]") - months.astype("datetime64[D]")).astype(np.int64)
    is_last = (dates.astype("datetime64[D]") + 1).astype("datetime64[M]") > months
    is_monthly = len(np.unique(months)) == len(np.unique(dates)) and bool((days == days[0]).all() or is_last.all())
    found: Floats = months.astype(np.int64) if is_monthly else (dates - dates.min()).astype(np.int64)
    return found.astype(np.float64)


def _date(text: str, time: str) -> np.datetime64:
    quarter = re.fullmatch(r"(\d{4})-?[qQ]([1-4])", text)
    iso = f"{quarter[1]}-{3 * int(quarter[2]) - 2:02d}" if quarter else text
    try:
        return np.datetime64(iso, "us")
    except ValueError:
        message = f"The time {text!r} in column {time!r} cannot be read. Write 2020-01-31, 2020-01, 2020Q1 or a number."
        raise DataError(message) from None


def _follows(units: Counts, times: Floats, unit: str | None) -> tuple[Flags, float]:
    """`is_next` (n,): is a row one step after the row before it in its unit? `irregular`: the share of neighbouring
    rows of a unit that are not one step apart.
    """
    same, apart = np.diff(units) == 0, np.diff(times)
    if bool((same & (apart == 0)).any()):
        n = int((same & (apart == 0)).sum())
        whose, remedy = ("", NAME_UNIT) if unit is None else (" of its unit", "Keep one row for each time.")
        raise DataError(f"{counted(n, 'row')} {HAS_HAVE[n > 1]} the same time as an earlier row{whose}. {remedy}")
    if not same.any():
        return np.zeros(len(units), np.bool_), 0.0
    usual = np.median(apart[same])
    found, counts = np.unique(np.round(apart[same] / usual, 4), return_counts=True)
    step = found[np.argmax(counts)] * usual  # the most frequent distance; the smallest in a tie
    is_next = same & (np.abs(apart - step) <= TOLERANCE * step)
    return np.concatenate([[False], is_next]), float(1 - is_next[same].mean())
