"""Levels of columns: the distinct values, the code of each row's value, indicators, and the kind of a column.

Levels that are whole numbers near each other are found by counting, in a third of the time that sorting takes.

Continuous or discrete? Truth values and categories are discrete. A column of text is discrete too, unless most of its
labels are numbers. If it has more than ten labels, labels that look like numbers (with a decimal comma, thousands
separators, a percent sign or the like) count as numbers. The audit reports continuous columns of text. A column of
numbers is discrete if all its numbers are whole, if it has two to ten different values, and if each value occurs at
least five times on average. All other columns of numbers are continuous.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.data.moments import name_order
from anypag.errors import DataError, Option

Codes = npt.NDArray[np.int32]
MOST_APART = 1000  # whole numbers that differ by at most this are counted instead of sorted
_MOST = 2.0**52  # float64 represents every whole number up to this one exactly
MOST_CODES = 2.0**53  # if codes could exceed this, rows get new codes 0, 1, 2, ...; floats are exact up to here
FEW_CELLS = 1 << 16  # up to this many codes, distinct rows are found by counting, which is faster than sorting
MOST_COLUMNS = 8000  # the most columns of a correlation matrix with indicators (half a gigabyte)
MOST_LEVELS = 10  # the most different values of a discrete column of numbers
MOST_LIKE_CODES = 20  # up to this many whole numbers may be codes, though they are taken for amounts
ROWS_PER_LEVEL = 5  # the fewest rows for each value of a discrete column of numbers, on average
_GLANCE = 1000  # how many first rows are looked at; most continuous columns of whole numbers show many levels there
_NUMBER_LIKE = re.compile(
    r"""\s* [-+−]? \s* [$€£¥]? \s*
    ( \d+ | \d*[.,]\d+ ([eE][-+]?\d+)? | \d{1,3} ([.,'’_\s]\d{3})+ ([.,]\d+)? )
    \s* [%‰$€£¥]? \s*""",
    re.VERBOSE,
)
_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([T\s]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?.{0,8})?\s*"
)


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
    """The least value, and how far each value is above it. None without values, or if not all are whole and close."""
    if not len(values):
        return None
    least, most = float(values.min()), float(values.max())
    if not (least >= -_MOST and most <= _MOST and most - least <= MOST_APART):  # also False if a value is NaN
        return None
    return (least, (values - least).astype(np.int32)) if (values == np.floor(values)).all() else None


def distinct_rows(levels: npt.NDArray[np.integer], n_levels: Counts) -> tuple[Counts, Counts]:
    """For (k, rows) levels: the first row with each combination that occurs, and the index of each row's combination.

    >>> distinct_rows(np.array([[1, 0, 1], [0, 1, 0]]), np.array([2, 2]))
    (array([1, 0]), array([1, 0, 1]))
    """
    code, cells = np.zeros(levels.shape[1], np.int64), 1.0
    for column, many in zip(levels, n_levels, strict=True):
        code, cells = code * many + column, cells * float(many)
        if cells > MOST_CODES:
            met, code = np.unique(code, return_inverse=True)
            cells = len(met)
    if cells > FEW_CELLS:
        _, first, group = np.unique(code, return_index=True, return_inverse=True)
        return first.astype(np.int64), group.astype(np.int64)
    first = np.full(int(cells), -1)
    first[code[::-1]] = np.arange(len(code))[::-1]  # the first row of a code is written last, so it stays
    is_met = first >= 0
    return first[is_met], (np.cumsum(is_met) - 1)[code]


def indicators(column: Floats) -> Floats:
    """(n, k - 1) a 0/1 column for each of the k levels except the most frequent; NaN for a missing value."""
    levels, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    others = np.delete(levels, counts.argmax())
    return np.where(np.isnan(column)[:, None], np.nan, column[:, None] == others)


def spread_out(values: Floats, kinds: Sequence[str]) -> list[Floats]:
    """For each column of (n, p) values an (n, k) array: its indicators if it is discrete, else the column itself."""
    pairs = zip(values.T, kinds, strict=True)
    return [indicators(column) if kind == "discrete" else column[:, None] for column, kind in pairs]


def starts_of(names: Sequence[str], widths: Sequence[int]) -> Counts:
    """(p + 1,) where each variable's spread-out columns begin, then their count. DataError if there are too many."""
    if sum(widths) > MOST_COLUMNS:
        worst = int(np.argmax(widths))
        raise DataError(
            f"The test for mixed data replaces k levels by k - 1 columns of 0 and 1. That makes {sum(widths)} columns, "
            f"but the test takes at most {MOST_COLUMNS}; {names[worst]!r} has {widths[worst] + 1} levels. Merge "
            f"levels, or declare quantities continuous ({Option('kinds')})."
        )
    return np.append(0, np.cumsum(widths)).astype(np.int64)


def sortable_names(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """A name for each spread-out column; these names sort in the order of the variables' names."""
    place = np.argsort(name_order(names))
    return [f"{place[i]:09d}.{j:09d}" for i, width in enumerate(widths) for j in range(width)]


def infer_kind(values: Floats, labels: Sequence[str] | None = None) -> Literal["continuous", "discrete"]:
    """The kind of a column of numbers, or of text with these labels."""
    if labels is not None:
        looks = is_number if len(labels) <= MOST_LEVELS else looks_like_number
        return "continuous" if 2 * sum(map(looks, labels)) > len(labels) else "discrete"
    if not _has_few_levels(values[:_GLANCE]):  # decides for most continuous columns without the other rows
        return "continuous"
    present = values[np.isfinite(values)]
    return kind_of_levels(distinct(present), len(present))


def common_kind(kinds: Sequence[str]) -> Literal["continuous", "discrete", "any"]:
    """ "continuous" if no column is discrete, "discrete" if all are, else "any"."""
    return "continuous" if "discrete" not in kinds else "discrete" if {*kinds} == {"discrete"} else "any"


def kind_reason(values: Floats, labels: Sequence[str] | None, given: str | None, kind: str, *, is_clear: bool) -> str:
    """Why a column has its kind, in a few words. `is_clear`: do its first rows have fractions?"""
    if given is not None:
        return "given by its type or by you"
    if labels is not None:
        return "text that reads as numbers" if kind == "continuous" else "text"
    if is_clear:
        return "numbers with fractions"
    present = values[np.isfinite(values)]
    if kind == "discrete":
        n = len(distinct(present))
        return f"whole numbers, {n} different ones{', their order not used' * (n > 2)}"
    if len(present) and present.min() == present.max():
        return "a single value"
    if len(present) and (present == np.floor(present)).all():
        few = "few rows per value" if _has_few_levels(values) else f"{len(distinct(present))} different ones"
        return f"whole numbers, but {'more than ten values' if len(distinct(present)) > MOST_LIKE_CODES else few}"
    return "numbers with fractions"


def is_number(text: str) -> bool:
    """Can the text be read as a number? 1_000 is a number in Python, but not in files."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_date(text: str) -> bool:
    """Would people read the text as a date, or as a date and a time?"""
    return _DATE.fullmatch(text) is not None


def looks_like_number(text: str) -> bool:
    """Would people read the text as a number, such as 1,5 or 1.234,5 or 12 % or $3?"""
    return is_number(text) or _NUMBER_LIKE.fullmatch(text) is not None


def _has_few_levels(values: Floats) -> bool:
    present = values[np.isfinite(values)]
    return bool(np.all(present == np.floor(present))) and len(distinct(present)) <= MOST_LEVELS


def kind_of_levels(levels: Floats, n: int) -> Literal["continuous", "discrete"]:
    """The kind of a column of numbers that has these different values in n rows."""
    is_few = 1 < len(levels) <= MOST_LEVELS and len(levels) * ROWS_PER_LEVEL <= n
    return "discrete" if is_few and bool((levels == np.floor(levels)).all()) else "continuous"
