"""Does a test fit the columns it is given?"""

from __future__ import annotations

import numpy as np

from anypag.data.audit.checks import ROWS_PER_LEVEL
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
    for i in (i for i in continuous if table.labels[i] is None):
        present = table.values[np.isfinite(table.values[:, i]), i]
        if not (present == np.floor(present)).all():
            findings.append(level_fit(table.names[i], table.n_levels(i), table.n))
    return findings


def level_fit(name: str, levels: int, n: int) -> Finding:
    """A column of fractions of which every value is taken as a level of its own."""
    severity: Severity = "error" if levels * ROWS_PER_LEVEL > n else "warning"
    little = ", and would find next to nothing." if severity == "error" else "."
    message = (
        f"Column {name!r} is continuous ({levels} different values in {n} rows), but the test "
        f"takes every value as a level of its own{little}"
    )
    return Finding(severity, "fit", (name,), message, _remedy("fisherz"))


def _as_numbers(table: Table, discrete: list[int]) -> list[Finding]:
    """Discrete columns with more than two levels under a test for numbers."""
    many = [i for i in discrete if table.labels[i] is None and table.n_levels(i) > 2]
    if not many:
        return []
    names = tuple(table.names[i] for i in many)
    message = (
        f"The test takes the levels of {listed(names, 5)} as numbers: right only if they are in order and evenly apart."
    )
    return [Finding("warning", "fit", names, message, _remedy("mixed"))]


def _remedy(better: str) -> Sentence:
    return Sentence("Choose ", Option("test", "auto"), " or ", Option("test", better), ", which fit such columns.")
