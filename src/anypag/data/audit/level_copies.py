"""Discrete columns that are nearly the same, whatever their levels are called."""

from __future__ import annotations

import numpy as np

from anypag.data.findings import Finding
from anypag.data.levels import coded
from anypag.data.moments import Moments
from anypag.data.table import Table

LEAST = 0.95
"""The share by which one column must cut the errors in guessing the other: 1 is a copy, 0 chance."""
MOST_LEVELS = 50
MOST_ROWS = 5000
LEAST_ROWS = 20
MOST_TOLD = 10


def level_copy_findings(table: Table, moments: Moments | None = None) -> list[Finding]:
    """Pairs of discrete columns that tell each other in nearly all rows; exact copies are told elsewhere.

    >>> import numpy as np
    >>> from anypag.data import as_table
    >>> colour = np.tile([0, 1, 2, 3], 50)
    >>> code = 9 - colour
    >>> code[[4, 9]] = 9
    >>> table = as_table({"colour": colour, "code": code}, kinds={"colour": "discrete", "code": "discrete"})
    >>> print(level_copy_findings(table)[0].message)
    Columns 'colour' and 'code' are nearly the same: one tells the other in 99.5 % of the rows. Given one, the ...
    """
    from anypag._kernels.determined import tell_each_other

    chosen = [i for i, kind in enumerate(table.kinds) if kind == "discrete"]
    values = table.values[:MOST_ROWS, chosen]
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < LEAST_ROWS or len(chosen) < 2:
        return []
    codes_of_each = [coded(column)[1] for column in values.T]
    few = [k for k, column in enumerate(codes_of_each) if 1 < column.max() + 1 <= MOST_LEVELS]
    if len(few) < 2:
        return []
    codes = np.stack([codes_of_each[k] for k in few]).astype(np.int64)
    found = tell_each_other(codes, codes.max(axis=1) + 1, LEAST)
    names = [table.names[chosen[k]] for k in few]
    told = [_finding(names[a], names[b], same / len(values)) for a, b, same in found[:MOST_TOLD]]
    return [*told, *_more(len(found) - MOST_TOLD)]


def _finding(a: str, b: str, share: float) -> Finding:
    message = (
        f"Columns {a!r} and {b!r} are nearly the same: one tells the other in {100 * share:.1f} % of the rows. Given "
        "one, the other tells next to nothing, and either may lose edges that it has."
    )
    return Finding("warning", "near copy", (a, b), message, "Drop one of them, or put them together.")


def _more(count: int) -> list[Finding]:
    message = f"There are {count} more pairs of columns with nearly the same levels."
    return [Finding("warning", "near copy", (), message, "Drop one of each.")] if count > 0 else []
