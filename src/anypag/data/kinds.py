"""Continuous or discrete? The rule, for columns whose type does not say.

Truth values and categories are discrete. Text is discrete too, unless most of its labels are numbers, or it has more
than ten labels most of which would be numbers without a decimal comma, thousands separators, a percent sign or the
like. Then it counts as a broken column of numbers, and the audit says so. A column of numbers is discrete if all are
whole, they take at most ten different values, and each value occurs five times on average; otherwise it is continuous.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from anypag.arrays import Flags, Floats
from anypag.data.levels import distinct

MOST_LEVELS = 10
ROWS_PER_LEVEL = 5
FRACTIONS = "numbers with fractions"
_FIRST = 16
_GLANCE = 1000
_NUMBER_LIKE = re.compile(
    r"""\s* [-+−]? \s* [$€£¥]? \s*
    ( \d+ | \d*[.,]\d+ ([eE][-+]?\d+)? | \d{1,3} ([.,'’_\s]\d{3})+ ([.,]\d+)? )
    \s* [%‰$€£¥]? \s*""",
    re.VERBOSE,
)


_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([T\s]+\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?.{0,8})?\s*"
)


def infer_kind(values: Floats, labels: Sequence[str] | None = None) -> Literal["continuous", "discrete"]:
    """The kind of a column of numbers, or of text with these labels.

    >>> infer_kind(np.tile([0.0, 1.0, 2.0], 10))
    'discrete'
    >>> infer_kind(np.linspace(0, 1, 30))
    'continuous'
    """
    if labels is not None:
        looks = is_number if len(labels) <= MOST_LEVELS else looks_like_number
        return "continuous" if 2 * sum(map(looks, labels)) > len(labels) else "discrete"
    # most continuous columns have a fraction within the first rows
    return "discrete" if _has_few_levels(values[:_GLANCE]) and _is_discrete(values) else "continuous"


def kind_reason(values: Floats, labels: Sequence[str] | None, given: str | None, kind: str) -> str:
    """Why a column has its kind, in a few words."""
    if given is not None:
        return "as its type or you say"
    if labels is not None:
        return "text that reads as numbers" if kind == "continuous" else "text"
    present = values[np.isfinite(values)]
    if kind == "discrete":
        return few_whole_numbers(len(distinct(present)))
    if len(present) and (present == np.floor(present)).all():
        return f"whole numbers, but {'more than ten' if not _has_few_levels(values) else 'few rows for each'}"
    return FRACTIONS


def few_whole_numbers(levels: int) -> str:
    """Why a column of numbers with this many different values is discrete."""
    return f"whole numbers, {levels} different ones{', their order not used' if levels > 2 else ''}"


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


def has_fractions(values: Floats) -> Flags:
    """(p,) does a column have fractions within its first rows, so that it is continuous?"""
    first = values[:_FIRST]
    found: Flags = (np.isfinite(first) & (first != np.floor(first))).any(axis=0)
    return found


def _has_few_levels(values: Floats) -> bool:
    present = values[np.isfinite(values)]
    return bool(np.all(present == np.floor(present))) and len(distinct(present)) <= MOST_LEVELS


def kind_of_levels(levels: Floats, n: int) -> Literal["continuous", "discrete"]:
    """The kind of a column of numbers that has these different values in n rows."""
    is_few = 1 < len(levels) <= MOST_LEVELS and len(levels) * ROWS_PER_LEVEL <= n
    return "discrete" if is_few and bool((levels == np.floor(levels)).all()) else "continuous"


def _is_discrete(values: Floats) -> bool:
    present = values[np.isfinite(values)]
    return kind_of_levels(distinct(present), len(present)) == "discrete"
