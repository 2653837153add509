"""Discrete columns spread out: a column of zeros and ones for every level but the most frequent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anypag.arrays import Floats
from anypag.data.moments import name_order
from anypag.errors import DataError, Option

MOST_COLUMNS = 8000
"""Columns of zeros and ones that one correlation matrix (of half a gigabyte) can hold."""


def indicators(column: Floats) -> Floats:
    """(n, k - 1) a column of zeros and ones for each of the k levels but the most frequent; NaN for a missing value."""
    levels, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    others = np.delete(levels, counts.argmax())
    return np.where(np.isnan(column)[:, None], np.nan, column[:, None] == others)


def sortable_names(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """A name for each spread-out column that sorts as its variable does."""
    place = np.argsort(name_order(names))
    return [f"{place[i]:09d}.{j:09d}" for i, width in enumerate(widths) for j in range(width)]


def require_few(names: Sequence[str], widths: Sequence[int]) -> None:
    if sum(widths) > MOST_COLUMNS:
        worst = int(np.argmax(widths))
        raise DataError(
            f"The discrete columns have {sum(widths)} levels in all, {names[worst]!r} alone {widths[worst] + 1}; the "
            f"test for mixed data takes {MOST_COLUMNS}. Merge levels, or declare quantities continuous (",
            Option("kinds"),
            ").",
        )
