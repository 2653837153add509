"""Checks for discrete columns that one or two others determine, and for monotone functions among continuous columns."""

from __future__ import annotations

import math
from itertools import compress

import numpy as np

from anypag.arrays import Floats, in_units
from anypag.data.audit.copies import ADDS_NOTHING, NEARLY_THE_SAME
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.audit.rows import changes
from anypag.data.findings import Finding, Singular, as_one, warning
from anypag.data.moments import Moments
from anypag.data.table import Table
from anypag.errors import Option, Sentence

LEAST_ROWS = 20  # in fewer rows, a column may look like a function of another by chance
ROWS_PER_CELL = 5  # the fewest rows, on average, for each combination of levels that occurs
MOST_CELLS = 10_000  # the most combinations of levels of two columns
CHANCE = 0.001  # the largest p-value of a reported function, Bonferroni-corrected for all pairs or triples of columns
LEAST_LEVELS = 10  # with fewer distinct values a column may rise with another by chance
GLANCE = 1000  # at most this many rows, evenly spread over the table, are searched for complete rows
LOOK = 64  # a quick check in this many complete rows rules out nearly all pairs that are not monotone
FEW = 8  # a quicker check in this many of these rows, sorted by one column, rules out most pairs

DETERMINED = "columns are functions of the columns listed with them"


def determined_findings(table: Table) -> list[Finding]:
    """Warnings about discrete columns that one or two others determine."""
    from anypag._kernels.determined import determined_by_two

    chosen = table.of_kind("discrete")
    if len(chosen) < 2 or table.n < LEAST_ROWS:
        return []
    codes = np.stack([table.codes(i) for i in chosen]).astype(np.int64)
    levels, by_chance = codes.max(axis=1) + 1, math.log(CHANCE)
    limits = ROWS_PER_CELL, MOST_CELLS, LEAST_ROWS, by_chance
    found = [(*determined_by_two(codes, levels, c, *limits), c) for c in range(len(chosen))]
    findings, remedy = [], "Drop it, or the columns that it was made from."
    for a, b, c in ([table.names[chosen[k]] for k in row] for row in found if row[0] >= 0):
        by = repr(a) if a == b else f"{a!r} and {b!r}"
        message = (
            f"Column {c!r} is determined by {by} in these rows: given what determines it, such a column is independent "
            "of all others, so its edges may be wrong or missing."
        )
        findings.append(warning("determined", (c, *dict.fromkeys((a, b))), message, remedy))
    return as_one(findings, DETERMINED)


def monotone_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Warnings about continuous columns that are monotone functions of another column; near copies are left out."""
    if moments is None:
        return []
    chosen = [table.names.index(name) for name in moments.names]
    rows = table.values[:: math.ceil(table.n / GLANCE)]
    pairs = _worth_a_look((rows[:LOOK] if table.is_finite else rows)[:, chosen], moments)
    columns = [table.values[:, i] for i in chosen]
    found = [(i, j, way) for i, j in pairs if (way := _way(columns[i], columns[j])) is not None]
    findings = []
    for i, j, way in found:
        a, b = moments.names[i], moments.names[j]
        message = f"Column {way.format(a=a, b=b)}: {ADDS_NOTHING}"
        findings.append(warning("determined", (a, b), message, "Drop one of them."))
    return as_one(findings, DETERMINED)


def same_order_findings(table: Table, singular: Singular) -> list[Finding]:
    """Errors about continuous columns that order the complete rows as an earlier column does, or in reverse. Linear
    functions are left to the check of relations, unless `singular` is "keep". Short tables are not checked.
    """
    chosen = table.of_kind("continuous")
    values = table.values[:, chosen]
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) < LEAST_ROWS:
        return []
    seen: dict[bytes, int] = {}
    pairs = [(seen.setdefault(_order(column), k), k) for k, column in enumerate(values.T) if len(np.unique(column)) > 1]
    apart = [(i, k) for i, k in pairs if i != k and (singular == "keep" or _is_bent(values[:, [i, k]]))]
    return [same_order_finding(table.names[chosen[i]], table.names[chosen[k]]) for i, k in apart]


def _order(column: Floats) -> bytes:
    """A key that two columns share if they order the rows alike or in reverse: the ranks, or the reversed ranks."""
    _, ranks = np.unique(column, return_inverse=True)
    first = ranks[0] if 2 * ranks[0] != ranks.max() else ranks[np.argmax(2 * ranks != ranks.max())]
    return (ranks if 2 * first < ranks.max() else ranks.max() - ranks).tobytes()


def _is_bent(pair: Floats) -> bool:
    """Does the second of two columns differ from every linear function of the first?"""
    scaled, _ = in_units(np.ascontiguousarray(pair.T), axis=1)
    return bool(1 - np.asarray(np.corrcoef(scaled))[0, 1] ** 2 > NOTHING_LEFT)


def same_order_finding(a: str, b: str) -> Finding:
    """The finding for two columns that a score of ranks cannot tell apart."""
    message = (
        f"Columns {a!r} and {b!r} put the rows in the same order, or in opposite orders, so a score that uses only "
        "ranks cannot tell the two columns apart."
    )
    return Finding("error", "same order", (a, b), message, Sentence("Leave one of them out (", Option("names"), ")."))


def _worth_a_look(values: Floats, moments: Moments) -> list[tuple[int, int]]:
    """The pairs of columns that may be monotone functions of each other, judged by a few rows; without near copies."""
    values = values[~np.isnan(values).any(axis=1)][:LOOK]
    if len(values) < LEAST_ROWS or values.shape[1] < 2:
        return []
    order = np.argsort(values, axis=0)
    few = order[np.arange(FEW) * (len(values) - 1) // (FEW - 1)]
    rises, falls = changes(values[few])
    i, j = np.nonzero(~(rises & falls))
    is_near = (i != j) & (np.abs(moments.correlation[i, j]) < NEARLY_THE_SAME)
    i, j = i[is_near], j[is_near]
    along = np.not_equal(*changes(values[order[:, i], j])).tolist()
    return sorted({(min(pair), max(pair)) for pair in compress(zip(i.tolist(), j.tolist(), strict=True), along)})


def _way(x: Floats, y: Floats) -> str | None:
    """A phrase that says which of the columns {a} and {b} is a monotone function of the other; None if neither is."""
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if min(len(np.unique(x)), len(np.unique(y))) < LEAST_LEVELS:
        return None
    for way, turned in (("rises", y), ("falls", -y)):
        if _follows(x, turned):
            return f"{{b!r}} is a function of {{a!r}} that only {way}"
        if _follows(turned, x):
            return f"{{a!r}} is a function of {{b!r}} that only {way}"
    return None


def _follows(x: Floats, y: Floats) -> bool:
    """Is y a function of x that never falls?"""
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    is_same = x[1:] == x[:-1]
    return bool((y[1:] >= y[:-1]).all() and (y[1:] == y[:-1])[is_same].all())
