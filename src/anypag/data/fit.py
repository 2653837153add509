"""Does a test fit the columns it is given?"""

from __future__ import annotations

import numpy as np

from anypag.data.checks import ROWS_PER_LEVEL, count_levels
from anypag.data.findings import Finding, Severity
from anypag.data.table import Kind, Table
from anypag.errors import Option, Sentence, listed


def fit_findings(table: Table, wanted: Kind) -> list[Finding]:
    """The columns that a test for the other kind is given: refused where it could find nothing, else a warning."""
    others = [i for i, kind in enumerate(table.kinds) if kind != wanted and table.given_kinds[i] != wanted]
    if not others:
        return []
    return _as_levels(table, others) if wanted == "discrete" else _as_numbers(table, others)


def _as_levels(table: Table, continuous: list[int]) -> list[Finding]:
    """Columns of fractions under a test that counts levels; whole numbers may well be levels."""
    findings = []
    for i in continuous:
        column = table.values[:, i]
        present = column[np.isfinite(column)]
        if table.labels[i] is not None or (present == np.floor(present)).all():
            continue
        levels = count_levels(column)
        severity: Severity = "error" if levels * ROWS_PER_LEVEL > table.n else "warning"
        little = ", and would find next to nothing." if severity == "error" else "."
        message = (
            f"Column {table.names[i]!r} is continuous ({levels} different values in {table.n} rows), but the test "
            f"takes every value as a level of its own{little}"
        )
        findings.append(Finding(severity, "fit", (table.names[i],), message, _remedy("fisherz")))
    return findings


def _as_numbers(table: Table, discrete: list[int]) -> list[Finding]:
    """Discrete columns with more than two levels under a test for numbers."""
    many = [i for i in discrete if table.labels[i] is None and count_levels(table.values[:, i]) > 2]
    if not many:
        return []
    names = tuple(table.names[i] for i in many)
    message = (
        f"The test takes the levels of {listed(names, 5)} as numbers: right only if they are in order and evenly apart."
    )
    return [Finding("warning", "fit", names, message, _remedy("mixed"))]


def _remedy(better: str) -> Sentence:
    return Sentence("Choose ", Option("test", "auto"), " or ", Option("test", better), ", which fit such columns.")
