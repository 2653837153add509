"""`anypag.audit` finds, before a run, the problems of a table that would stop the run or weaken its result.

A problem that would make the result wrong is an error; one that makes it weaker, or looks like a mistake, is a warning.
Each finding names its columns and a remedy. The list of checks is in `anypag.data.audit.checklist`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from anypag.data.audit.checklist import audited
from anypag.data.audit.left_out import leaving_out
from anypag.data.findings import Audit, Singular
from anypag.data.sources.protocol import Needs, Source
from anypag.data.table import Missing, as_table, spelled_out


def audit(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "auto",
    singular: Singular = "auto",
    max_r: int | None = None,
) -> Audit:
    """The findings that a search with `test="auto"` and these options would report about a table.

    Args:
        data: any table; see `as_table`. A file is read whole.
        names: see `as_table`.
        kinds: see `as_table`.
        missing: "auto", "error", "drop" or "pairwise": what a search will do about missing values.
        singular: what a search will do about columns that are functions of others: "auto" (leave them out, and
            constants and identifiers too), "error" or "keep".
        max_r: the size of the largest condition sets; all columns but two if not given.

    >>> found = audit({"a": [1.0, 2.5, 0.1, 4.0, 1.1] * 5, "b": [7.0] * 25, "c": [1, 0, 0, 1, 1] * 5}, max_r=1)
    >>> print(found.findings[0].message)
    Left out: 'b' (constant in the rows used).
    """
    table = as_table(data, names, kinds=kinds)

    def read(rest: Source, missing: Missing, singular: Singular) -> tuple[Audit, Audit]:
        needs = Needs(missing=missing, singular=singular, max_r=max_r, weighs=missing != "pairwise")
        found = audited(rest, needs).audit.with_stand_ins()
        return found, found

    found, left_out = leaving_out(table, missing, singular, spelled_out(kinds or {}, table.names), read)
    return replace(found, findings=Audit.of([*left_out, *found.findings]).findings)
