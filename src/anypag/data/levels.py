"""The distinct values of a column, and their codes in each row, as `np.unique` gives them but without sorting.

Columns of categories hold a few whole numbers near each other. Counting these takes a third of the time of sorting, and
every check of a discrete column begins with it. Also: discrete columns as indicators, one column of zeros and ones for
every level but the most frequent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats
from anypag.data.moments import name_order
from anypag.errors import DataError, Option

Codes = npt.NDArray[np.int32]
MOST_APART = 1000  # whole numbers within this range are counted instead of sorted
_MOST = 2.0**52  # above this, float64 cannot tell neighbouring whole numbers apart


def distinct(values: Floats) -> Floats:
    """The distinct values, ascending; NaN occurs at most once, at the end."""
    counted = _counted_from_the_least(values)
    if counted is None:
        return np.unique(values)
    least, numbers = counted
    return np.asarray(np.flatnonzero(np.bincount(numbers)) + least, np.float64)


def coded(values: Floats) -> tuple[Floats, Codes]:
    """The distinct values, ascending, and the code (index among them) of each value."""
    counted = _counted_from_the_least(values)
    if counted is None:
        levels, places = np.unique(values, return_inverse=True)
        return levels, places.astype(np.int32)
    least, numbers = counted
    is_there = np.bincount(numbers) > 0
    if not is_there.all():
        numbers = (np.cumsum(is_there) - 1).astype(np.int32)[numbers]
    return np.asarray(np.flatnonzero(is_there) + least, np.float64), numbers


def codes_of(column: Floats) -> Codes:
    """The values as codes 0, 1, 2, ... in ascending order; -1 for a missing value."""
    present = ~np.isnan(column)
    if present.all():
        return coded(column)[1]
    codes = np.full(len(column), -1, np.int32)
    codes[present] = coded(column[present])[1]
    return codes


def _counted_from_the_least(values: Floats) -> tuple[float, Codes] | None:
    """The least of some whole numbers and their distances from it; None if values are not whole or too far apart."""
    if not len(values):
        return None
    least, most = float(values.min()), float(values.max())
    if not (least >= -_MOST and most <= _MOST and most - least <= MOST_APART):  # False if one is NaN, too
        return None
    return (least, (values - least).astype(np.int32)) if (values == np.floor(values)).all() else None


MOST_COLUMNS = 8000  # columns of zeros and ones that one correlation matrix (of half a gigabyte) can hold


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
            f"test for mixed data takes {MOST_COLUMNS}. Merge levels, or declare quantities continuous "
            f"({Option('kinds')})."
        )
