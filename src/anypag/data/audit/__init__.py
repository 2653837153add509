"""`anypag.audit` finds, before a run, the problems of a table that would stop the run or weaken its result.

A problem that would make the result wrong is an error; one that makes it weaker, or looks like a mistake, is a warning.
Each finding names its columns and a remedy. The list of checks is in `anypag.data.audit.checklist`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anypag.choices import is_default, require
from anypag.data.audit.checklist import audited
from anypag.data.audit.left_out import leaving_out
from anypag.data.findings import Audit, Singular
from anypag.data.levels import common_kind
from anypag.data.sources.protocol import Needs, Source
from anypag.data.table import Missing, spelled_out


def audit(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "auto",
    singular: Singular = "auto",
    max_r: int | None = None,
) -> Audit:
    """The audit that a search of this table with `test="auto"` and these options reports.

    Args:
        data: any table that a search takes. Or a test of a table, such as `FisherZ.from_covariance(matrix, n)`: then
            the result is the test's own audit.
        names: see `as_table`.
        kinds: see `as_table`.
        missing: "auto", "error", "drop" or "pairwise": what a search will do about missing values.
        singular: what a search will do about columns that are functions of others: "auto" (leave them out, and
            constants and identifiers too), "error" or "keep".
        max_r: the size of the largest condition sets; by default the number of columns minus two.

    >>> found = audit({"a": [1.0, 2.5, 0.1, 4.0, 1.1] * 5, "b": [7.0] * 25, "c": [1, 0, 0, 1, 1] * 5}, max_r=1)
    >>> print(found.findings[0].message)
    Left out: 'b' (constant in the rows used).
    """
    from anypag.data.sources.door import as_source

    if hasattr(type(data), "pvalues") and isinstance(getattr(data, "audit", None), Audit):
        for name, value in {"names": names, "kinds": kinds, "missing": missing, "singular": singular}.items():
            require(is_default(name, value), name, "left out: a test was given in place of data", value)
        own: Audit = data.audit
        return own
    source = as_source(data, names, kinds).settled()

    def read(rest: Source, missing: Missing, singular: Singular) -> tuple[Audit, Audit]:
        needs = Needs(common_kind(rest.kinds), missing, singular, max_r, weighs=missing != "pairwise")
        found = audited(rest, needs).audit.with_stand_ins()
        if found.copies:
            rest = rest.take([name for name in rest.names if name not in found.copies])
            found = audited(rest, needs).audit.with_findings(found.stand_ins)
        return found, found

    found, left_out = leaving_out(source, missing, singular, spelled_out(kinds or {}, source.names), read)
    return found.with_findings(left_out)
