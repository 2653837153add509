"""Checks of the rows: too few rows, gaps, repeated rows, counts, blocks of rows by condition, time order."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Floats, in_units
from anypag.catalogue import METHODS
from anypag.data.findings import Finding, warning
from anypag.data.moments import fisher_freedom
from anypag.data.sources.protocol import Summary
from anypag.data.table import Missing, Table
from anypag.errors import Option, Sentence, listed
from anypag.threads import slices

LEAST_ROWS = 4  # fewer rows are not enough for any test
FEW_ROWS = 20  # with fewer rows the audit warns, and some checks are not made
ROWS_PER_LEVEL = 5  # the fewest rows for each level, or each combination of levels
MOST_COSTLY, ENOUGH_COMPLETE = 5, 0.9  # costly columns are listed up to 5, or until 90 % of the rows are complete
MOST_GAPS = 8  # the most columns whose gaps a message counts
MOST_CELLS = 10_000  # a table with more rows is not checked for being a table of counts
VARIES = 0.3  # counts mostly have a standard deviation above this share of their mean; measurements have one below it
_COUNTS = re.compile(r"(n|f|freq.*|count.*|cnt|cases|number|times|observed|total|size|anzahl)$", re.IGNORECASE)
WEAK = 0.2  # a note is given if correlations larger than this may be missed
MOST_CONDITIONS = 20  # the most levels of a column that names conditions
MOSTLY, SURELY = 0.75, 1e-4
"""The least share of columns whose means differ between conditions, and the largest p-value of such a difference."""
LEAST_ORDERED, MOST_ORDERED = 20, 5000  # the fewest rows for the check of row order, and the most (first) that it reads
PANEL = 32  # columns handled at a time; so few stay in the cache
_GLANCE = 16  # this many first rows show that most columns are not sorted
_ROUNDING = 4 * np.finfo(np.float64).eps  # a generous bound on the relative rounding error of one product in a sum
_BY_SCORES = ", ".join(sorted(name for name, method in METHODS.items() if method.needs_score and not method.tests_by))
PAIRWISE = f"{Option('missing', 'pairwise')} (a test drops only rows with gaps in its columns; not for {_BY_SCORES})."
"""Searches by scores need the same rows for every set of columns."""


def infinity_findings(names: Sequence[str], counts: npt.NDArray[np.integer[Any]]) -> list[Finding]:
    found = {name: count for name, count in zip(names, counts.tolist(), strict=True) if count}
    told = {name: f"Column {name!r} has {count} infinite value{'s' * (count > 1)}." for name, count in found.items()}
    remedy = "Replace them by missing values or drop those rows."
    return [Finding("error", "infinite", (name,), message, remedy) for name, message in told.items()]


def missing_findings(names: Sequence[str], summary: Summary, missing: Missing, costly: str) -> list[Finding]:
    """An error about missing values, or a warning that says what `missing` does. `costly`: from `costly_columns`."""
    gaps = {name: count for name, count in zip(names, summary.missing.tolist(), strict=True) if count}
    if not gaps:
        return []
    empty = tuple(name for name, count in gaps.items() if count == summary.n)
    if empty:
        return [Finding("error", "empty", empty, f"There is no value in {listed(empty)}.", "Drop every empty column.")]
    shown = [f"{name!r} {count}" for name, count in gaps.items()]
    shown = shown if len(shown) <= MOST_GAPS else [*shown[:MOST_GAPS], f"… ({len(shown)} columns)"]
    message = f"Values are missing in some of the {summary.n} rows: {', '.join(shown)}."
    complete = f"only the {summary.n_complete:,} complete rows are used"
    if missing == "error":
        remedy = Sentence(f"Fill them in, or choose {Option('missing', 'drop')} ({complete}{costly}) or ", PAIRWISE)
        return [Finding("error", "missing", tuple(gaps), message, remedy)]
    used = complete.capitalize() if missing == "drop" else "The tests use fewer rows"
    left_out = summary.n - summary.n_complete if missing == "drop" else 0
    cost = f"{used}; this assumes that gaps do not depend on the values."
    return [Finding("warning", "missing", tuple(gaps), message, cost, left_out)]


def costly_columns(names: Sequence[str], gaps: Flags) -> str:
    """A clause on the columns whose gaps cost the most complete rows: how many remain if these columns are dropped."""
    out = costliest(gaps, ENOUGH_COMPLETE)[:MOST_COSTLY]
    whole = int((~np.delete(gaps, out, axis=1).any(axis=1)).sum())
    return f"; {whole:,} remain without {listed([names[k] for k in out])}" if out and len(out) < len(names) - 1 else ""


def costliest(gaps: Flags, share: float) -> list[int]:
    """The columns to drop until at least this share of the rows is complete, in the order of dropping."""
    left, out = gaps.copy(), list[int]()
    while int((~left.any(axis=1)).sum()) < share * len(gaps):
        alone = left[left.sum(axis=1) == 1].sum(axis=0)  # per column, the rows in which only it has a gap
        out.append(int(np.argmax(alone if alone.max() >= len(gaps) / 20 else left.sum(axis=0))))
        left[:, out[-1]] = False
    return out


def dropped_findings(before: int, after: int, costly: str) -> list[Finding]:
    """An error if no row is complete, a warning if fewer than half are."""
    if after == 0:
        remedy = Sentence("Drop the columns with most gaps, or choose ", PAIRWISE)
        return [Finding("error", "dropped", (), f"None of the {before} rows is complete{costly}.", remedy)]
    if 2 * after < before:
        remedy = Sentence("Consider dropping the columns with most gaps, or ", PAIRWISE)
        return [warning("dropped", (), f"Only {after} of {before} rows are complete{costly}.", remedy)]
    return []


def few_rows_findings(n: int) -> list[Finding]:
    """An error if there are too few rows for any test, a warning if only strong dependences show."""
    if n < LEAST_ROWS:
        message = f"There must be at least {LEAST_ROWS} rows to test anything; got {n}."
        return [Finding("error", "rows", (), message, "Collect more rows.")]
    if n < FEW_ROWS:
        message = (
            f"With {n} rows only strong dependences show (given no other columns, correlations above {_seen(n, 0):.2f}"
            "): dependent variables may look independent."
        )
        return [Finding("warning", "rows", (), message, "Collect more rows, or read a missing edge as 'not seen'.")]
    return []


def _seen(n: int, r: int) -> float:
    """The smallest partial correlation given r columns that is significant at 0.05 in n rows."""
    return math.tanh(1.96 / math.sqrt(fisher_freedom(n, r)))


def power_notes(n: int, largest: int) -> tuple[str, ...]:
    """A note on the correlations that n rows mostly miss; none if only weak ones are missed, or if a finding warns."""
    if n < FEW_ROWS or fisher_freedom(n, largest) <= 0 or _seen(n, largest) < WEAK:
        return ()
    others = f"{largest} other column{'s' * (largest > 1)}"
    given = f" ({_seen(n, largest):.2f} given {others})" if largest > 0 else ""
    unseen = f"correlations below about {_seen(n, 0):.2f} mostly go unseen{given}"
    return (f"With {n} rows, {unseen}: a missing edge may be an unseen one.",)


def largest_set(p: int, max_r: int | None) -> int:
    """The size of the largest condition set that may be asked for."""
    return p - 2 if max_r is None else min(max_r, p - 2)


def large_set_findings(n: int, largest: int) -> list[Finding]:
    """A warning if there are too few rows for partial correlations given the largest sets."""
    if fisher_freedom(n, largest) > 0:
        return []
    message = (
        f"With {n} rows no dependence can be found given more than {n - 4} columns: such a test answers "
        f"p = 1, but condition sets may have up to {largest} members."
    )
    return [warning("rows", (), message, Sentence(f"Set {Option('max_r')} to at most {n - 4}, or collect more rows."))]


def sparse_findings(levels: Sequence[int], n: int, largest: int) -> list[Finding]:
    """A warning if rows are too few for the largest condition sets, even for columns with the fewest levels."""
    with np.errstate(over="ignore"):  # an overflow to infinity is right: more combinations than rows
        wanted = np.cumprod(np.array(sorted(levels), dtype=np.float64)) * ROWS_PER_LEVEL
    enough = int(np.searchsorted(wanted, n, side="right"))
    if enough >= largest:
        return []
    message = (
        f"With {n} rows, condition sets of more than {enough} columns leave on average fewer than {ROWS_PER_LEVEL} "
        f"rows for a combination of levels: their tests will find little, but sets may have up to {largest} columns."
    )
    remedy = Sentence(f"Set {Option('max_r')} to {enough}, merge levels, or collect more rows.")
    return [warning("rows", (), message, remedy)]


def repeated_row_findings(table: Table) -> list[Finding]:
    """A warning about rows that occur more than once, if chance does not explain it."""
    chosen = table.of_kind("continuous")
    if len(table.names) < 2 or table.n < LEAST_ROWS or not chosen:
        return []
    weights = np.random.default_rng(0).normal(size=len(table.names))  # random, so that only equal rows have equal sums
    values = np.where(np.isnan(table.values), 0.5, table.values) if table.has_gaps else table.values
    with np.errstate(over="ignore", invalid="ignore"):
        repeated = table.n - len(np.unique(values @ weights))
    if repeated < max(2, table.n // 100) or all(len(np.unique(values[:, i])) <= table.n // 4 for i in chosen):
        return []
    message = f"{repeated} of {table.n} rows repeat another row; the tests count each as a case of its own."
    remedy = "Drop rows that were entered twice; keep cases that agree in all columns by chance."
    return [warning("rows", (), message, remedy)]


def count_findings(table: Table) -> list[Finding]:
    """A warning if whole numbers have a name or a spread like counts, and the other columns have no row twice."""
    p = len(table.names)
    if p < 3 or not 2 ** (p - 1) <= table.n <= MOST_CELLS or table.has_gaps:
        return []
    levels = [table.n_levels(i) for i in range(p)]
    name, column = table.names[many := int(np.argmax(levels))], table.values[:, many]
    others, sizes = np.delete(np.arange(p), many), np.delete(levels, many)
    is_count = table.labels[many] is None and column.min() >= 0 and bool((column % 1 == 0).all())
    if not is_count or min(sizes) < 2 or max(sizes) > MOST_CONDITIONS or math.prod(sizes.tolist()) != table.n:
        return []
    is_like_counts = _COUNTS.match(name) or column.std() >= VARIES * column.mean()
    if not is_like_counts or len(np.unique(table.values[:, others], axis=0)) < table.n:
        return []
    every = f"Every combination of {listed([table.names[i] for i in others])} occurs once"
    like = f"and {name!r} has whole numbers, as in a table of counts or a complete design"
    message = f"{every}, {like}. The tests count each row as one case."
    counted = f"ap.counted(table, {name!r}), or --counts {shlex.quote(name)} on the command line"
    remedy = f"If {name!r} says how many cases a row stands for, name it: {counted}. If it was measured, leave it."
    return [warning("counts", (name,), message, remedy)]


def condition_findings(table: Table) -> list[Finding]:
    """Warnings about discrete columns whose levels each fill one block of rows, if means differ in most columns."""
    numbers = table.complete().values[:, table.of_kind("continuous")]
    if numbers.shape[1] < 3:
        return []
    found = []
    for i in table.of_kind("discrete"):
        codes = table.complete().codes(i)
        n_levels, n_blocks = int(codes.max(initial=-1)) + 1, 1 + int((np.diff(codes) != 0).sum())
        is_in_blocks = 2 <= n_levels <= MOST_CONDITIONS and n_blocks == n_levels and len(codes) >= 20 * n_levels
        if is_in_blocks and (p_of_equal_means(in_units(numbers)[0], codes) < SURELY).mean() >= MOSTLY:
            message = (
                f"The rows stand in blocks by {table.names[i]!r}, with different means in most columns: this looks "
                "like several conditions or experiments in one table."
            )
            remedy = f"If so, choose {Option('context', table.names[i])} on the command line, or `ap.pooled` in Python."
            found.append(warning("conditions", table.names[i : i + 1], message, Sentence(remedy)))
    return found


def p_of_equal_means(numbers: Floats, codes: npt.NDArray[np.integer]) -> Floats:
    """(p,) for each column the p-value of equal means in all groups, by the F test."""
    from scipy.special import fdtrc

    counts = np.bincount(codes).astype(np.float64)
    sums = np.stack([np.bincount(codes, column) for column in numbers.T], axis=1)
    centred = numbers - numbers.mean(axis=0)
    between = (counts[:, None] * (sums / counts[:, None] - numbers.mean(axis=0)) ** 2).sum(axis=0)
    within = np.maximum((centred**2).sum(axis=0) - between, 1e-300)
    freedom = len(counts) - 1, len(codes) - len(counts)
    return np.asarray(fdtrc(*freedom, between / freedom[0] / (within / freedom[1])))


def order_findings(table: Table) -> list[Finding]:
    """A warning about columns with similar neighbouring values. Monotone columns are exempt: they may be sort keys."""
    rises, falls = changes(table.values[:_GLANCE])
    continuous = table.of_kind("continuous")
    chosen = [i for i in continuous if (rises[i] and falls[i]) or not is_monotone(table.values[:, i])]
    values = table.values[:MOST_ORDERED]
    if table.has_gaps:
        values = values[~np.isnan(values[:, chosen]).any(axis=1)]
    if len(values) < LEAST_ORDERED or not chosen:
        return []
    limit = max(5 / math.sqrt(len(values)), 0.2)
    panels = [chosen[some] for some in slices(len(chosen), PANEL)]
    after = np.concatenate([large_autocorrelations(values.T[panel], limit) for panel in panels])
    names = [table.names[chosen[k]] for k in np.flatnonzero(after)]
    if not names:
        return []
    largest = float(after[np.argmax(np.abs(after))])
    message = (
        f"Neighbouring rows are alike in {listed(names, 5)} (autocorrelation up to {largest:.2f}), as in a time series "
        "or a sorted table. The tests assume independent rows; in a time series they find too many edges."
    )
    remedy = (
        "Search a time series with its lags: `anypag learn-series`, or `anypag.learn_series` in Python; a table that "
        "was only sorted is fine."
    )
    return [warning("order", names, message, remedy)]


def is_monotone(column: Floats) -> bool:
    """Does a column only rise, or only fall, from row to row?"""
    rises, falls = changes(column[~np.isnan(column)])
    return not (rises and falls)


def changes(values: Floats) -> tuple[Flags, Flags]:
    """Do values of (k, ...) ever rise along the first axis, and do they ever fall?"""
    before, after = values[:-1], values[1:]  # not subtracted, as differences may overflow
    return np.asarray((before < after).any(axis=0)), np.asarray((before > after).any(axis=0))


def large_autocorrelations(columns: Floats, limit: float) -> Floats:
    """(p,) the correlation of neighbouring values in each row of (p, n) if its size is above the limit, else 0."""
    large, perhaps = np.zeros(len(columns)), np.flatnonzero(may_exceed(columns, limit))
    if len(perhaps):
        found = autocorrelations(columns[perhaps])
        large[perhaps] = np.where(np.abs(found) > limit, found, 0.0)
    return large


def autocorrelations(columns: Floats) -> Floats:
    """(p,) the correlation of neighbouring values in each row of (p, n); 0 for a constant row."""
    centred, _ = in_units(columns, axis=1)
    for _ in range(2):  # the second time removes the rounding error of the first mean
        centred -= centred.mean(axis=1)[:, None]
    variance = np.einsum("ij,ij->i", centred, centred)
    products = np.einsum("ij,ij->i", centred[:, 1:], centred[:, :-1])
    return np.asarray(products / np.where(variance > 0, variance, 1.0))


def may_exceed(columns: Floats, limit: float) -> Flags:
    """(p,) False if the correlation of neighbouring values in a row of (p, n) cannot exceed the limit in size. Three
    sums show this for nearly all columns, without a copy of the values, in a third of the time of `autocorrelations`.
    As rounding errors are allowed for, a column whose values are far from 0 usually needs the exact computation.
    """
    n = columns.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = columns.mean(axis=1)
        squares = np.einsum("ij,ij->i", columns, columns)
        products = np.einsum("ij,ij->i", columns[:, 1:], columns[:, :-1])
        ends = columns[:, 0] + columns[:, -1]
        together = products - mean * ((n + 1) * mean - ends)
        rounding = n * (_ROUNDING * squares + np.finfo(np.float64).tiny)  # `tiny` covers denormal numbers
        is_below: Flags = np.abs(together) + rounding <= limit * (squares - n * mean**2 - rounding)
    return np.logical_not(is_below)
