"""Levels of one variable that stand in 0/1 columns of their own: of such columns never two are 1 in one row.

Two rare columns may never meet by chance. Under independence the number of rows in which both are 1 is about Poisson,
so that it is 0 with probability exp(−expected). A group begins with a pair of which that is less than one in a thousand
over all pairs of the table; a further column joins where it is less than one in a hundred over all columns.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anypag.data.findings import Finding
from anypag.data.kinds import has_fractions
from anypag.data.table import Table
from anypag.errors import listed

CHANCE = 0.001
CHANCE_OF_JOINING = 0.01
MOST_ROWS = 20_000
"""Rows in which groups are searched for; a group is reported if it holds in all rows."""
MOST_TOLD = 10


def indicator_findings(table: Table) -> list[Finding]:
    """Groups of 0/1 columns where no row has a 1 in two of them.

    >>> from anypag.data import as_table
    >>> health = np.random.default_rng(0).integers(0, 3, 300)
    >>> finding, = indicator_findings(as_table({"good": health == 1, "poor": health == 2}))
    >>> print(finding.message)
    Columns 'good', 'poor' hold 0 and 1, and never two of them are 1 in one row, as when the levels of one variable ...
    """
    chosen = _of_zeros_and_ones(table)
    values = table.values[:: math.ceil(table.n / MOST_ROWS), chosen]
    expected, together = _meetings(values)
    groups = _groups(np.where(together == 0, expected, -np.inf))
    found = [_finding(table, [chosen[k] for k in group]) for group in groups]
    return [finding for finding in found if finding is not None][:MOST_TOLD]


def _of_zeros_and_ones(table: Table) -> list[int]:
    perhaps = ~has_fractions(table.values)
    return [
        i for i in np.flatnonzero(perhaps).tolist() if table.labels[i] is None and _is_indicator(table.values[:, i])
    ]


def _is_indicator(column: npt.NDArray[np.float64]) -> bool:
    present = column[~np.isnan(column)]
    ones = present == 1.0
    return bool(np.logical_or(ones, present == 0.0).all() and ones.any() and not ones.all())


def _meetings(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Of every two columns: in how many rows both would be 1 if they were independent, and in how many they are."""
    present = (~np.isnan(values)).astype(np.float32)
    ones = (values == 1.0).astype(np.float32)
    counts, here = (present.T @ present).astype(np.float64), (ones.T @ present).astype(np.float64)
    return here * here.T / np.maximum(counts, 1.0), (ones.T @ ones).astype(np.float64)


def _groups(expected: npt.NDArray[np.float64]) -> list[list[int]]:
    """Columns that never meet though they should: begun with the clearest pair, each in one group at most.

    Args:
        expected: (p, p) of two columns that never meet, how often they should; −inf of those that do.
    """
    p = len(expected)
    enough, to_join = math.log(max(p * (p - 1) / 2, 1.0) / CHANCE), math.log(max(p, 1) / CHANCE_OF_JOINING)
    left, groups = expected.copy(), []
    np.fill_diagonal(left, -np.inf)
    while p and left.max() > enough:
        group = [int(k) for k in np.unravel_index(np.argmax(left), left.shape)]
        for k in range(p):
            if k not in group and left[k, group].sum() > to_join:  # -inf where it meets one of them
                group.append(k)
        groups.append(sorted(group))
        left[group, :] = left[:, group] = -np.inf
    return groups


def _finding(table: Table, columns: list[int]) -> Finding | None:
    """The group in words; None where it does not hold in all rows, or where one column is the other turned round."""
    values = table.values[:, columns]
    ones = np.nansum(values[~np.isnan(values).all(axis=1)], axis=1)
    is_copy = len(columns) == 2 and bool((ones == 1).all())  # a copy, which has a check of its own
    if ones.max() > 1 or is_copy:
        return None
    names = [table.names[i] for i in columns]
    n_levels = len(columns) + int(ones.min() == 0)
    message = (
        f"Columns {listed(names)} hold 0 and 1, and never two of them are 1 in one row, as when the levels of one "
        "variable stand in columns of their own (indicators, dummies). Each then tells of the others by how the table "
        "was made, and edges and marks there and elsewhere may be wrong."
    )
    rest = ', default_category="none"' if n_levels > len(columns) else ""
    remedy = (
        f"Put them together into one column of {n_levels} levels, in pandas "
        f"pd.from_dummies(df[{names}]{rest}), unless they are different variables."
    )
    return Finding("warning", "indicators", tuple(names), message, remedy)
