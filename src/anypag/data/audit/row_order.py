"""Are rows like the rows before them? The correlation of neighbours in a column, and a quick look that spares it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anypag.arrays import in_units
from anypag.data.audit.columns import is_monotone
from anypag.data.findings import Finding, warning
from anypag.data.table import Table
from anypag.errors import listed
from anypag.threads import slices

Values = npt.NDArray[np.float64]

LEAST_ROWS = 20
MOST_ROWS = 5000
"""The first rows of a long table, which are checked."""
PANEL = 32
"""Columns worked on at once: few enough to stay in the cache."""
_GLANCE = 16
"""Rows in which most columns show that they are not sorted."""
_ROUNDING = 4 * np.finfo(np.float64).eps
"""What one rounded product adds to a sum at the most, as a share of the product, with room to spare."""


def order_findings(table: Table) -> list[Finding]:
    """Rows that are like the rows before them; columns that only ever rise or fall are row numbers, or sorted by."""
    zigzags = _both_ways(table.values[:_GLANCE])
    continuous = table.of_kind("continuous")
    chosen = [i for i in continuous if zigzags[i] or not is_monotone(table.values[:, i])]
    values = table.values[:MOST_ROWS]
    if table.has_gaps:
        values = values[~np.isnan(values[:, chosen]).any(axis=1)]
    if len(values) < LEAST_ROWS or not chosen:
        return []
    limit = max(5 / math.sqrt(len(values)), 0.2)
    panels = [chosen[some] for some in slices(len(chosen), PANEL)]
    after = np.concatenate([large_autocorrelations(values.T[panel], limit) for panel in panels])
    alike = np.flatnonzero(after).tolist()
    if not alike:
        return []
    names = [table.names[chosen[k]] for k in alike]
    largest = float(after[np.argmax(np.abs(after))])
    message = (
        f"Neighbouring rows are alike in {listed(names, 5)} (autocorrelation up to {largest:.2f}), as in a time series "
        "or a sorted table. The tests take rows as drawn one by one; in a time series they find too many edges."
    )
    remedy = "Of a time series take rows far apart, or model its lags; a table that was only sorted is fine."
    return [warning("order", names, message, remedy)]


def _both_ways(values: Values) -> npt.NDArray[np.bool_]:
    """(p,) do the columns rise as well as fall?"""
    before, after = values[:-1], values[1:]
    return np.logical_and((before < after).any(axis=0), (before > after).any(axis=0))


def large_autocorrelations(columns: Values, limit: float) -> Values:
    """(p,) the correlation of neighbours in each row of (p, n) where it is above the limit, either way, else 0.

    >>> large_autocorrelations(np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 3.0, -2.0, 0.0]]), 0.5).tolist()
    [-0.75, 0.0]
    """
    large = np.zeros(len(columns))
    perhaps = np.flatnonzero(may_exceed(columns, limit))
    if len(perhaps):
        found = autocorrelations(columns[perhaps])
        large[perhaps] = np.where(np.abs(found) > limit, found, 0.0)
    return large


def autocorrelations(columns: Values) -> Values:
    """(p,) the correlation of neighbours in each row of (p, n); 0 where it is constant.

    >>> autocorrelations(np.array([[1.0, -1.0, 1.0, -1.0], [2.0, 2.0, 2.0, 2.0]])).tolist()
    [-0.75, 0.0]
    """
    centred, _ = in_units(columns, axis=1)
    for _ in range(2):  # the second time removes the rounding error of the first mean
        centred -= centred.mean(axis=1)[:, None]
    variance = np.einsum("ij,ij->i", centred, centred)
    after: Values = np.einsum("ij,ij->i", centred[:, 1:], centred[:, :-1]) / np.where(variance > 0, variance, 1.0)
    return after


def may_exceed(columns: Values, limit: float) -> npt.NDArray[np.bool_]:
    """(p,) may the correlation of neighbours be above the limit, either way, in each row of (p, n)?

    Three sums, none of which writes the values anew, say so of nearly all columns, in a third of the time. What
    rounding may have done to them counts against the column: where it is far from 0 that is much, and a closer look is
    needed.

    >>> may_exceed(np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 3.0, -2.0, 0.0]]), 0.5).tolist()
    [True, False]
    """
    n = columns.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = columns.mean(axis=1)
        squares = np.einsum("ij,ij->i", columns, columns)
        products = np.einsum("ij,ij->i", columns[:, 1:], columns[:, :-1])
        ends = columns[:, 0] + columns[:, -1]
        together = products - mean * ((n + 1) * mean - ends)
        rounding = n * (_ROUNDING * squares + np.finfo(np.float64).tiny)  # also of what is too small to be a number
        is_below: npt.NDArray[np.bool_] = np.abs(together) + rounding <= limit * (squares - n * mean**2 - rounding)
    return np.logical_not(is_below)
