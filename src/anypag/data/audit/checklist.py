"""The list of checks for every source, and how they are run.

Checks of single columns come first, on all original rows: columns that they refuse are left out of the other checks.
Then rows are dropped and values transformed as chosen, and the other checks see the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from anypag.choices import require
from anypag.data.audit import columns, copies, curves, determined, relations, rows
from anypag.data.audit.seen import Check, Seen
from anypag.data.findings import Audit, ColumnKind, Finding, Unchecked
from anypag.data.levels import kind_reason
from anypag.data.moments import Products
from anypag.data.sources.counted import weight_findings
from anypag.data.sources.protocol import Needs, Source
from anypag.data.table import Table

MOST_COLUMNS = 300  # the most columns for checks of all pairs or triples
OF_WINDOWS = frozenset({"order", "conditions"})
"""What is found in every table whose rows are windows of a time series, because they overlap."""
_LAG = re.compile(r"\(t-\d+\)$")
ALWAYS_CHECKED = ("text among numbers", "infinite and missing values", "too few rows", "names that come twice")


def _many_levels(seen: Seen) -> list[Finding]:
    """Columns with many levels, and whether there are rows enough for the largest condition sets."""
    found, n = columns.level_findings(seen.used), seen.used.n
    if {*seen.used.kinds} != {"discrete"}:
        return [*found, *rows.large_set_findings(n, seen.largest)]
    levels = [len(seen.used.levels(i).values) for i in range(len(seen.used.names))]
    return [*found, *rows.sparse_findings(levels, n, seen.largest)]


def _relations(seen: Seen) -> list[Finding]:
    """Exact linear relations, except copies and constants, which are reported already."""
    moments = seen.moments
    if moments is None:
        return []
    constant = {name for name, deviation in zip(moments.names, moments.deviation, strict=True) if deviation == 0}
    return relations.relation_findings(moments, seen.needs.singular, {*seen.copied, *constant})


def _of_rows(find: Callable[[Table], list[Finding]]) -> Callable[[Seen], list[Finding]]:
    """The check as one of the original rows."""
    return lambda seen: find(seen.table)


CHECKS = (
    Check("constant columns", lambda seen: columns.constant_findings(seen.used.names, seen.is_constant)),
    Check("columns with many levels", _many_levels),
    Check("copies", lambda seen: copies.copy_findings(seen.copied, seen.needs.singular)),
    Check("exact linear relations", _relations),
    Check("near copies", lambda seen: copies.near_copies(seen.moments, seen.threads)),
    Check("a missing line of names", lambda seen: columns.header_findings(seen.source.names)),
    Check("a matrix in place of rows", _of_rows(columns.matrix_findings), ("rows",)),
    Check("near copies among levels", _of_rows(copies.level_copy_findings), ("rows",), MOST_COLUMNS),
    Check("identifiers", _of_rows(columns.identifier_findings), ("rows",)),
    Check("codes for missing values", _of_rows(columns.code_findings), ("rows",)),
    Check("repeated rows", _of_rows(rows.repeated_row_findings), ("rows", "order")),
    Check("several conditions in one table", _of_rows(rows.condition_findings), ("rows", "order")),
    Check("rows in time order", _of_rows(rows.order_findings), ("rows", "order")),
    Check(
        "columns that one or two others determine", _of_rows(determined.determined_findings), ("rows",), MOST_COLUMNS
    ),
    Check(
        "columns that rise or fall with another",
        lambda seen: determined.monotone_findings(seen.table, seen.moments),
        ("rows",),
        MOST_COLUMNS,
    ),
    Check("levels in columns of their own", _of_rows(relations.indicator_findings), ("rows",), MOST_COLUMNS),
    Check("censored durations", lambda seen: columns.censoring_findings(seen.source)),
    Check(
        "curved relations",
        lambda seen: curves.curve_findings(seen.used_table.within_sets()),
        ("rows",),
        MOST_COLUMNS,
        lambda needs: not needs.sees_curves,
    ),
    Check(
        "columns in the same order",
        lambda seen: determined.same_order_findings(seen.used_table, seen.needs.singular),
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
    require(needs.missing in ("error", "drop", "pairwise"), "missing", "'error', 'drop' or 'pairwise'", needs.missing)
    require(needs.singular in ("error", "keep"), "singular", "'error' or 'keep'", needs.singular)
    kinds, found = _kinds(source.raw), [*source.read, *columns.date_findings(source.raw)]
    if needs.takes != "any":
        found += columns.fit_findings(source.raw, needs.takes)
        others = [kind != "ordinal" or needs.takes == "discrete" for kind in source.kinds]
        source = source.with_kinds(dict.fromkeys(compress(source.names, others), needs.takes))
    costly, summary = _costly(source.raw), source.raw.summary()
    found += [*columns.text_findings(source.raw), *rows.infinity_findings(source.names, summary.infinite)]
    found += rows.missing_findings(source.names, summary, needs.missing, costly)
    used = source.complete() if needs.missing == "drop" else source
    found += weight_findings(used, needs.weighs)
    found += rows.dropped_findings(source.n, used.n, costly) if used.n < source.n else []
    found += rows.few_rows_findings(used.n) if used.n or not any(one.problem == "dropped" for one in found) else []
    usable = columns.usable_names(source.names, found)
    has_gaps = needs.missing != "drop" and source.summary().n_complete < source.n
    made = Audited(Audit.of(found, ALWAYS_CHECKED, kinds), used, has_gaps)
    if used.n < rows.LEAST_ROWS or not usable:
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
    unseen = [] if seen.needs.sees_curves else curves.curve_notes(seen.used_table.within_sets())
    notes = (*rows.power_notes(seen.used.n, seen.largest), *unseen)
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


def _costly(source: Source) -> str:
    """Which columns cost most rows; empty if the rows are not in memory or no value is missing."""
    if not source.summary().missing.any():
        return ""
    table = source.sample()
    return rows.costly_columns(table.names, np.isnan(table.values)) if table.n == source.n else ""


def _kinds(source: Source) -> tuple[ColumnKind, ...]:
    """What each column was taken for, and why."""
    table = source.sample()
    of_each = zip(source.names, source.kinds, table.values.T, table.labels, table.given_kinds, strict=True)
    return tuple(
        ColumnKind(name, kind, kind_reason(values, labels, given, kind))
        for name, kind, values, labels, given in of_each
    )
