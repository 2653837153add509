"""The list of checks for every source, and how they are run.

Checks of single columns come first, on all original rows: columns that they refuse are left out of the other checks.
Then rows are dropped and values transformed as chosen, and the other checks see the result.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from anypag.data.audit.columns import (
    censoring_findings,
    code_findings,
    constant_findings,
    date_findings,
    fit_findings,
    header_findings,
    identifier_findings,
    level_findings,
    matrix_findings,
    text_findings,
    usable_names,
)
from anypag.data.audit.copies import copy_findings, level_copy_findings, near_copies
from anypag.data.audit.curves import curve_findings, curve_notes
from anypag.data.audit.determined import determined_findings, monotone_findings, same_order_findings
from anypag.data.audit.relations import indicator_findings, relation_findings
from anypag.data.audit.rows import (
    condition_findings,
    costly_columns,
    dropped_findings,
    few_rows_findings,
    infinity_findings,
    large_set_findings,
    missing_findings,
    order_findings,
    power_notes,
    repeated_row_findings,
    sparse_findings,
)
from anypag.data.audit.seen import LEAST_ROWS, Check, Seen
from anypag.data.findings import Audit, ColumnKind, Finding, Unchecked, require_choice
from anypag.data.levels import kind_reason
from anypag.data.moments import Products
from anypag.data.sources.counted import weight_findings
from anypag.data.sources.protocol import Needs, Source

MOST_COLUMNS = 300
"""The most columns for checks of all pairs or triples."""
OF_WINDOWS = frozenset({"order", "conditions"})
"""What is found in every table whose rows are windows of a time series, because they overlap."""
_LAG = re.compile(r"\(t-\d+\)$")
ALWAYS_CHECKED = ("text among numbers", "infinite and missing values", "too few rows", "names that come twice")


def constants(seen: Seen) -> list[Finding]:
    """Columns that never change in the rows that the test reads."""
    summary = seen.used.summary()
    return constant_findings(seen.used.names, np.equal(summary.low, summary.high))


def many_levels(seen: Seen) -> list[Finding]:
    """Columns with many levels, and whether there are rows enough for the largest condition sets."""
    found, n = level_findings(seen.used), seen.used.n
    if {*seen.used.kinds} != {"discrete"}:
        return [*found, *large_set_findings(n, seen.largest)]
    levels = [len(seen.used.levels(i).values) for i in range(len(seen.used.names))]
    return [*found, *sparse_findings(levels, n, seen.largest)]


def copies(seen: Seen) -> list[Finding]:
    """Columns that repeat another one."""
    return copy_findings(seen.copied, seen.needs.singular)


def relations(seen: Seen) -> list[Finding]:
    """Exact linear relations, except copies and constants, which are reported already."""
    moments = seen.moments
    if moments is None:
        return []
    constant = {name for name, deviation in zip(moments.names, moments.deviation, strict=True) if deviation == 0}
    return relation_findings(moments, seen.needs.singular, {*seen.copied, *constant})


CHECKS = (
    Check("constant columns", constants),
    Check("columns with many levels", many_levels),
    Check("copies", copies),
    Check("exact linear relations", relations),
    Check("near copies", lambda seen: [] if seen.moments is None else near_copies(seen.moments, seen.threads)),
    Check("a missing line of names", lambda seen: header_findings(seen.source.names)),
    Check("a matrix in place of rows", lambda seen: matrix_findings(seen.table), ("rows",)),
    Check("near copies among levels", lambda seen: level_copy_findings(seen.table), ("rows",), MOST_COLUMNS),
    Check("identifiers", lambda seen: identifier_findings(seen.table), ("rows",)),
    Check("codes for missing values", lambda seen: code_findings(seen.table), ("rows",)),
    Check("repeated rows", lambda seen: repeated_row_findings(seen.table), ("rows", "order")),
    Check("several conditions in one table", lambda seen: condition_findings(seen.table), ("rows", "order")),
    Check("rows in time order", lambda seen: order_findings(seen.table), ("rows", "order")),
    Check(
        "columns that one or two others determine",
        lambda seen: determined_findings(seen.table),
        ("rows",),
        MOST_COLUMNS,
    ),
    Check(
        "columns that rise or fall with another",
        lambda seen: monotone_findings(seen.table, seen.moments),
        ("rows",),
        MOST_COLUMNS,
    ),
    Check("levels in columns of their own", lambda seen: indicator_findings(seen.table), ("rows",), MOST_COLUMNS),
    Check("censored durations", lambda seen: censoring_findings(seen.source)),
    Check(
        "curved relations",
        lambda seen: curve_findings(seen.used_table.within_sets()),
        ("rows",),
        MOST_COLUMNS,
        lambda needs: not needs.sees_curves,
    ),
    Check(
        "columns in the same order",
        lambda seen: same_order_findings(seen.used_table, seen.needs.singular),
        ("rows",),
        is_needed=lambda needs: needs.score and needs.sees_curves,
    ),
)
"""All checks of usable columns, in the order of their findings."""


class Audited(NamedTuple):
    """A source as a test reads it (kinds that it takes, dropped rows left out), and what was found in it."""

    audit: Audit
    source: Source
    has_gaps: bool


def audited(source: Source, needs: Needs, *, threads: int = 1, on: Products | None = None) -> Audited:
    """A source, checked against the needs of a test. All checks are made, so that all problems are reported together:
    columns that cannot be used are left out of later checks, and rows with gaps too.
    """
    require_choice("missing", needs.missing, ("error", "drop", "pairwise"))
    require_choice("singular", needs.singular, ("error", "keep"))
    kinds, found = _kinds(source.raw), [*source.read, *date_findings(source.raw)]
    if needs.takes != "any":
        found += fit_findings(source.raw, needs.takes)
        others = [kind != "ordinal" or needs.takes == "discrete" for kind in source.kinds]
        source = source.with_kinds(dict.fromkeys(compress(source.names, others), needs.takes))
    costly = _costly(source.raw)
    found += [*text_findings(source.raw), *_gap_findings(source.raw, needs, costly)]
    used = source.complete() if needs.missing == "drop" else source
    found += weight_findings(used, needs.weighs)
    found += dropped_findings(source.n, used.n, costly) if used.n < source.n else []
    found += few_rows_findings(used.n) if used.n or not any(one.problem == "dropped" for one in found) else []
    usable = usable_names(source.names, found)
    has_gaps = needs.missing != "drop" and source.summary().n_complete < source.n
    made = Audited(Audit.of(found, ALWAYS_CHECKED, kinds), used, has_gaps)
    if used.n < LEAST_ROWS or not usable:
        return made
    seen = Seen(source.raw.take(usable), used.take(usable), needs, len(source.names), threads, on)
    return made._replace(audit=_checked(seen, made.audit))


def _checked(seen: Seen, first: Audit) -> Audit:
    """The audit with the findings of all checks that can be made."""
    checks = [check for check in CHECKS if check.is_needed(seen.needs)]
    hindered = {check.about: why for check in checks if (why := check.hindrance(seen)) is not None}
    able = [check for check in checks if check.about not in hindered]
    unfit = {name for finding in first.findings if finding.problem == "fit" for name in finding.columns}
    found = [finding for check in able for finding in _found(check, seen)]
    contexts = set(getattr(seen.source, "contexts", ()))  # of `anypag.pooled`
    told = [
        finding
        for finding in found
        if (finding.problem != "levels" or finding.columns[0] not in unfit)
        and not _by_design(finding, contexts)
        and not (seen.table.lags and finding.problem in OF_WINDOWS)
    ]
    told = _once_a_process(told) if seen.table.lags else told
    audit = Audit.of([*first.findings, *told], (*first.checked, *(check.about for check in able)), first.kinds)
    curves = [] if seen.needs.sees_curves else curve_notes(seen.used_table.within_sets())
    notes = (*power_notes(seen.used.n, seen.largest), *curves)
    return replace(audit, notes=notes, unchecked=tuple(Unchecked(*item) for item in hindered.items()))


def _once_a_process(found: list[Finding]) -> list[Finding]:
    """The findings in windows of a time series, one for the same processes at several lags: the first."""
    by_processes = {(one.problem, *sorted({_LAG.sub("", name) for name in one.columns})): one for one in found[::-1]}
    return [one for one in found if one in by_processes.values()]


def _by_design(finding: Finding, contexts: set[str]) -> bool:
    """Is it the design of several data sets? Their rows stand in blocks, and contexts depend on each other."""
    about = contexts.intersection(finding.columns)
    among_contexts = finding.problem not in {"duplicate", "constant"} and len(about) == len(finding.columns) > 0
    return bool(contexts) and (finding.problem in {"order", "conditions"} or among_contexts)


def _found(check: Check, seen: Seen) -> list[Finding]:
    """The findings of a check; if only the first rows of a long table were checked, they say so."""
    found = check.find(seen)
    if "rows" not in check.wants or seen.table.n >= seen.source.n:
        return found
    where = f"In the first {seen.table.n:,} of {seen.source.n:,} rows: "
    return [replace(finding, message=where + finding.message) for finding in found]


def _gap_findings(source: Source, needs: Needs, costly: str) -> list[Finding]:
    summary = source.summary()
    if not summary.missing.any():
        return infinity_findings(source.names, summary.infinite)
    incomplete = summary.n - summary.n_complete
    told = (source.names, summary.missing, summary.n, needs.missing, incomplete, costly)
    return [*infinity_findings(source.names, summary.infinite), *missing_findings(*told)]


def _costly(source: Source) -> str:
    """Which columns cost most rows; empty if the rows are not in memory or no value is missing."""
    if not source.summary().missing.any():
        return ""
    table = source.sample()
    return costly_columns(table.names, np.isnan(table.values)) if table.n == source.n else ""


def _kinds(source: Source) -> tuple[ColumnKind, ...]:
    """What each column was taken for, and why."""
    table, kinds = source.sample(), source.kinds
    columns = zip(source.names, kinds, table.values.T, table.labels, table.given_kinds, strict=True)
    return tuple(
        ColumnKind(name, kind, kind_reason(values, labels, given, kind))
        for name, kind, values, labels, given in columns
    )
