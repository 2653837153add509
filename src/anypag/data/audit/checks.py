"""The checks without which a run breaks or answers wrongly: one small function each, from a table to findings.

Those without an underscore also serve files that are only streamed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.catalogue import SCORE_METHODS
from anypag.data.audit.relations import exact_relations
from anypag.data.findings import Finding, Severity, Singular
from anypag.data.kinds import is_date, is_number, looks_like_number
from anypag.data.levels import Codes
from anypag.data.moments import Moments
from anypag.data.table import Kind, Missing, Table
from anypag.errors import Option, Sentence, listed

MANY_LEVELS = 20
ROWS_PER_LEVEL = 5
LEAST_ROWS = 4
FEW_ROWS = 20
WEAK = 0.2
"""The correlation from which on it is worth a note that it goes unseen."""
_GLANCE, _BEGINNING = 8, 200
"""Rows that tell most columns from constant ones, and most discrete columns from each other."""
PAIRWISE = (
    Option("missing", "pairwise"),
    f" (each test uses the rows it can; not for {', '.join(sorted(SCORE_METHODS))}).",
)
"""What scores cannot take: they need the same rows for every question."""


def text_findings(table: Table) -> list[Finding]:
    """Columns of text where numbers are wanted."""
    return [
        Finding("error", "text", (table.names[i],), f"Column {table.names[i]!r} holds {what}.", remedy)
        for i, labels in enumerate(table.labels)
        if labels is not None and table.kinds[i] == "continuous"
        for what, remedy in [_text_and_remedy(labels)]
    ]


def _text_and_remedy(labels: Sequence[str]) -> tuple[str, Sentence]:
    """What stands in a column of text where numbers are wanted, and what to do about it."""
    words = [label for label in labels if not is_number(label)]
    like_numbers = [word for word in words if looks_like_number(word)]
    others = [word for word in words if word not in like_numbers]
    what = f"text, such as {listed(words or labels, 3)}{'' if words else ', written as text'}"
    one_sign = " (a file has one decimal sign, the point or the comma)" if any("." in label for label in labels) else ""
    do: tuple[object, ...] = ("Drop it",) if words else (f"Turn it into numbers{one_sign}",)
    if others and len(others) < len(labels):
        what = f"text among numbers: {listed(others, 3)}"
        do = (f"Turn it into numbers, with {listed(others, 3)} as missing (", Option("gaps"), " where a file is read)")
    elif like_numbers:
        what = f"numbers written in a way that is not read as numbers, such as {listed(like_numbers, 3)}"
        do = ("Write them with a decimal point and no other sign, as in 1234.5",)
    return what, Sentence(*do, ", or declare it discrete (", Option("kinds"), ").")


def date_findings(table: Table) -> list[Finding]:
    """Columns of dates, written out: no test takes them for what they are."""
    return [
        Finding(
            "error",
            "dates",
            (table.names[i],),
            f"Column {table.names[i]!r} holds dates or times, such as {listed(labels, 2)}.",
            "Turn it into a number (days since a start; in pandas (d - d.min()).dt.days) or into parts that matter, "
            "such as the month, or drop it.",
        )
        for i, labels in enumerate(table.labels)
        if labels is not None and len(labels) > MANY_LEVELS and 2 * sum(map(is_date, labels)) > len(labels)
    ]


def infinity_findings(names: Sequence[str], counts: npt.NDArray[np.integer[Any]]) -> list[Finding]:
    """Columns with infinite values."""
    return [
        Finding(
            "error",
            "infinite",
            (name,),
            f"Column {name!r} has {count} infinite {'value' if count == 1 else 'values'}.",
            "Replace them by missing values or drop those rows.",
        )
        for name, count in zip(names, counts.tolist(), strict=True)
        if count
    ]


def missing_findings(
    names: Sequence[str], counts: npt.NDArray[np.integer[Any]], n: int, missing: Missing, incomplete: int = 0
) -> list[Finding]:
    """Missing values: an error, or what the chosen way around them costs.

    Args:
        names: the columns.
        counts: how many values each lacks.
        n: the number of rows.
        missing: the way around them.
        incomplete: how many rows have gaps, if that was counted.
    """
    columns = tuple(name for name, count in zip(names, counts.tolist(), strict=True) if count)
    if not columns:
        return []
    shown = ", ".join(f"{name!r} {count}" for name, count in zip(names, counts.tolist(), strict=True) if count)
    message = f"Values are missing, of {n} rows: {shown}."
    empty = tuple(name for name, count in zip(names, counts.tolist(), strict=True) if count == n)
    if empty:
        return [empty_finding(empty)]
    if missing == "error":
        drop = (Option("missing", "drop"), " (only complete rows are used)")
        remedy = Sentence("Fill them in, or choose ", *drop, " or ", *PAIRWISE)
        return [Finding("error", "missing", columns, message, remedy)]
    left_out = incomplete if missing == "drop" else 0
    used = f"Only the {n - left_out:,} complete rows are used" if left_out else "The tests use fewer rows"
    cost = f"{used}; it is assumed that what is missing does not depend on the values."
    return [Finding("warning", "missing", columns, message, cost, left_out)]


def empty_finding(columns: tuple[str, ...]) -> Finding:
    """Columns without any value."""
    return Finding("error", "empty", columns, f"There is no value at all in {listed(columns)}.", "Drop it.")


def dropped_findings(before: int, after: int) -> list[Finding]:
    """Rows that dropping the incomplete ones costs: all of them is an error, more than half a warning."""
    if after == 0:
        remedy = Sentence("Drop the columns with most gaps, or choose ", *PAIRWISE)
        return [Finding("error", "dropped", (), f"None of the {before} rows is complete.", remedy)]
    if 2 * after < before:
        remedy = Sentence("Consider dropping the columns with most gaps, or ", *PAIRWISE)
        return [Finding("warning", "dropped", (), f"Only {after} of {before} rows are complete.", remedy)]
    return []


def few_rows_findings(n: int) -> list[Finding]:
    """Too few rows for any test, or for tests that find much."""
    if n < LEAST_ROWS:
        message = f"There must be at least {LEAST_ROWS} rows to test anything; got {n}."
        return [Finding("error", "rows", (), message, "Collect more rows.")]
    if n < FEW_ROWS:
        weakest = _seen(n, 0)
        message = (
            f"With {n} rows only strong dependences show (of two columns alone, a correlation above {weakest:.2f}): "
            "variables may look independent that are not."
        )
        return [Finding("warning", "rows", (), message, "Collect more rows, or read a missing edge as 'not seen'.")]
    return []


def _seen(n: int, r: int) -> float:
    """The partial correlation given r columns from which on n rows show it at the level 0.05."""
    return math.tanh(1.96 / math.sqrt(n - r - 3))


def power_notes(n: int, largest: int) -> tuple[str, ...]:
    """What so few rows cannot show, where that is much and no finding says so already.

    >>> power_notes(72, 3)
    ('With 72 rows, correlations below about 0.23 mostly go unseen (0.24 given 3 other columns): no edge may mean ...',)
    >>> power_notes(500, 3)
    ()
    """
    if n < FEW_ROWS or n - largest - 3 <= 0 or _seen(n, largest) < WEAK:
        return ()
    others = f"{largest} other column{'s' * (largest > 1)}"
    given = f" ({_seen(n, largest):.2f} given {others})" if largest > 0 else ""
    unseen = f"correlations below about {_seen(n, 0):.2f} mostly go unseen{given}"
    return (f"With {n} rows, {unseen}: no edge may mean not seen.",)


def largest_set(p: int, max_r: int | None) -> int:
    """The size of the largest condition set that may be asked for."""
    return p - 2 if max_r is None else min(max_r, p - 2)


def large_set_findings(n: int, largest: int) -> list[Finding]:
    """Too few rows for partial correlations given the largest sets."""
    if n - largest - 3 > 0:
        return []
    message = (
        f"With {n} rows no dependence can be shown given more than {n - 4} columns: such a test answers "
        f"p = 1, and sets may have up to {largest} members."
    )
    remedy = Sentence("Set ", Option("max_r"), f" to at most {n - 4}, or collect more rows.")
    return [Finding("warning", "rows", (), message, remedy)]


def sparse_findings(levels: Sequence[int], n: int, largest: int) -> list[Finding]:
    """Too few rows for counts given the largest sets, even if these are the columns with the fewest levels."""
    combinations = np.cumprod(np.array(sorted(levels), dtype=np.float64))
    enough = int(np.searchsorted(combinations * ROWS_PER_LEVEL, n, side="right"))
    if enough >= largest:
        return []
    message = (
        f"With {n} rows, sets of more than {enough} columns have more combinations of levels than a "
        f"{ROWS_PER_LEVEL}th of the rows: their tests will find little, and sets may have up to {largest} members."
    )
    remedy = Sentence("Set ", Option("max_r"), f" to {enough}, merge levels, or collect more rows.")
    return [Finding("warning", "rows", (), message, remedy)]


def usable_names(names: Sequence[str], findings: Iterable[Finding]) -> list[str]:
    """The columns that further checks make sense for."""
    bad = {"text", "infinite", "empty", "dates"}
    unusable = {name for finding in findings if finding.problem in bad for name in finding.columns}
    return [name for name in names if name not in unusable]


def constant_findings(names: Sequence[str], is_constant: npt.NDArray[np.bool_]) -> list[Finding]:
    """Columns that never change."""
    remedy = "Drop it: a constant is independent of everything."
    return [
        Finding("error", "constant", (name,), f"Column {name!r} is constant.", remedy)
        for name, constant in zip(names, is_constant.tolist(), strict=True)
        if constant
    ]


def relation_findings(moments: Moments, singular: Singular, explained: AbstractSet[str] = frozenset()) -> list[Finding]:
    """Columns that are exact linear functions of others; those in `explained` are reported already."""
    severity: Severity = "error" if singular == "error" else "warning"
    remedy = "Drop one of them."
    return [
        Finding(severity, "relation", columns, f"Exact linear relation: {text}.", remedy)
        for columns, text in exact_relations(moments)
        if not explained & set(columns)
    ]


def level_findings(table: Table) -> list[Finding]:
    """Discrete columns with more levels than the rows can speak for."""
    found = []
    for i, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        if kind == "discrete":
            found += level_finding(name, table.n_levels(i), int((table.codes(i) >= 0).sum()))
    return found


def level_finding(name: str, levels: int, present: int) -> list[Finding]:
    """A discrete column with more levels than the rows with a value can speak for."""
    if levels == present and levels > 2:
        message = f"In column {name!r} every value is different ({levels} levels), as in an identifier."
        remedy = Sentence("Drop it; if it is a quantity, declare it continuous (", Option("kinds"), ").")
        return [Finding("error", "levels", (name,), message, remedy)]
    if levels > MANY_LEVELS and levels * ROWS_PER_LEVEL > present:
        message = f"Column {name!r} has {levels} levels in {present} rows; its tests will find little."
        remedy = Sentence("Merge levels; if it is a quantity, declare it continuous (", Option("kinds"), ").")
        return [Finding("warning", "levels", (name,), message, remedy)]
    return []


def copy_findings(copies: Mapping[str, str], singular: Singular) -> list[Finding]:
    severity: Severity = "error" if singular == "error" else "warning"
    return [
        Finding(severity, "duplicate", (first, name), f"Columns {first!r} and {name!r} are the same.", "Drop one.")
        for name, first in copies.items()
    ]


def copies_in(table: Table) -> dict[str, str]:
    """Columns that repeat an earlier one (discrete ones perhaps under other labels), with the earlier one."""
    seen: dict[tuple[Kind, bytes], str] = {}
    copies = {}
    for i in _perhaps_copies(table):
        name, kind = table.names[i], table.kinds[i]
        content = (table.values[:, i] + 0.0).tobytes() if kind == "continuous" else _by_first_appearance(table.codes(i))
        first = seen.setdefault((kind, content), name)
        if first != name:
            copies[name] = first
    return copies


def _perhaps_copies(table: Table) -> list[int]:
    """The columns worth comparing: continuous ones whose sum another has too, discrete ones that begin like another.

    Discrete columns can be copies although their sums differ: the codes of their levels need not be the same.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = table.values.sum(axis=0)
    group = np.unique(sums, return_inverse=True, equal_nan=True)[1].tolist()
    sketch = [
        group[i] if kind == "continuous" else _by_first_appearance(table.codes(i)[:_BEGINNING])
        for i, kind in enumerate(table.kinds)
    ]
    count = Counter(sketch)
    return [i for i, one in enumerate(sketch) if count[one] > 1]


def coded_copies(names: Sequence[str], codes: npt.NDArray[np.int32]) -> dict[str, str]:
    """The same for the codes of discrete columns, (p, n) from -1 (a gap) on."""
    beginnings = [_by_first_appearance(column[:_BEGINNING]) for column in codes]
    count = Counter(beginnings)
    seen: dict[bytes, str] = {}
    copies = {}
    for name, column, beginning in zip(names, codes, beginnings, strict=True):
        first = seen.setdefault(_by_first_appearance(column), name) if count[beginning] > 1 else name
        if first != name:
            copies[name] = first
    return copies


def _by_first_appearance(codes: Codes) -> bytes:
    """The levels (from -1, a gap, on) numbered in the order in which they come, so that relabelled copies are equal."""
    first = np.full(int(codes.max(initial=-1)) + 2, len(codes), np.intp)
    first[codes[::-1] + 1] = np.arange(len(codes))[::-1]  # of several, the last one written stays
    number: npt.NDArray[np.intp] = np.argsort(np.argsort(first, kind="stable"))
    return number[codes + 1].tobytes()


def is_constant_column(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    # most columns show in their first rows that they are not; fmin and fmax pass over NaN
    is_constant: npt.NDArray[np.bool_] = ~(np.fmin.reduce(values[:_GLANCE]) < np.fmax.reduce(values[:_GLANCE]))
    rest = values[:, is_constant]
    is_constant[is_constant] = np.fmin.reduce(rest) == np.fmax.reduce(rest)
    return is_constant
