"""`audited`, which runs all checks on a source, and the list of checks of usable columns (`CHECKS`).

`audited` first finds columns that cannot be used: text, dates, infinite values or no values. `CHECKS` skip these
columns. Each check reads the original rows, or the rows (perhaps transformed) that the test will read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress
from typing import NamedTuple

import numpy as np

from anypag.arrays import Flags
from anypag.choices import require
from anypag.data.audit import columns, copies, curves, determined, relations, rows
from anypag.data.findings import Audit, ColumnKind, Finding, Unchecked
from anypag.data.levels import kind_reason
from anypag.data.moments import Moments, Products
from anypag.data.sources.counted import weight_findings
from anypag.data.sources.protocol import Lacked, Needs, Source
from anypag.data.table import Table
from anypag.threads import single_blas

MOST_COLUMNS = 300  # the most columns for checks of all pairs or triples
OF_WINDOWS = frozenset({"order", "conditions"})  # problems of every table of windows of a time series: windows overlap
_LAG = re.compile(r"\(t-\d+\)$")
ALWAYS_CHECKED = ("text among numbers", "infinite and missing values", "too few rows", "names that come twice")


@dataclass(frozen=True, eq=False)
class Seen:
    """The usable columns of a source."""

    source: Source  # the original rows
    used: Source  # the rows that the test will read
    needs: Needs
    n_columns: int  # unusable columns too
    threads: int = 1
    on: Products | None = None  # a graphics card that multiplies matrices

    @property
    def largest(self) -> int:
        return rows.largest_set(self.n_columns, self.needs.max_r)

    @cached_property
    def table(self) -> Table:
        """The original rows: all of them, or the first ones of a long table."""
        return _rows_of(self.source)

    @cached_property
    def used_table(self) -> Table:
        """The rows that the test will read: all of them, or the first ones of a long table."""
        return _rows_of(self.used)

    @property
    def is_constant(self) -> Flags:
        """(p,) which columns never change in the rows that the test reads."""
        summary = self.used.summary()
        return np.equal(summary.low, summary.high)

    @cached_property
    def moments(self) -> Moments | None:
        """The moments of the continuous columns over rows without gaps; None if no column or too few rows are left."""
        used = self.used
        names = [name for name, kind in zip(used.names, used.kinds, strict=True) if kind == "continuous"]
        has_gaps = used.summary().n_complete < used.n
        n_complete = used.take(names).summary().n_complete if names and has_gaps else used.n
        if not names or n_complete < rows.LEAST_ROWS:
            return None
        return used.moments(names, threads=self.threads, on=self.on)

    @cached_property
    def copied(self) -> dict[str, str]:
        """{copy: earlier column} for columns that repeat an earlier column in the rows that the test reads."""
        whole = self.used_table
        return copies.copies_in(whole) if whole.n >= self.used.n else copies.copies_by_levels(self.used)


def _rows_of(source: Source) -> Table:
    """The sample of a source for checks, with the kinds that the source gives its columns."""
    table = source.sample()
    return table if table.kinds == source.kinds else table.with_kinds(dict(zip(table.names, source.kinds, strict=True)))


class Check(NamedTuple):
    """One check of an audit."""

    about: str  # what it looks for, in a few words
    find: Callable[[Seen], list[Finding]]
    wants: tuple[Lacked, ...] = ()  # it is skipped if the source lacks one of these
    most_columns: int = 1_000_000  # it is skipped if there are more columns
    is_needed: Callable[[Needs], bool] = lambda needs: True  # does the test need the check?

    def hindrance(self, seen: Seen) -> str | None:
        """Why the check cannot be made for a source; None if it can."""
        if seen.n_columns > self.most_columns:
            return f"not made for more than {self.most_columns} columns"
        return next((seen.source.lacks[part] for part in self.wants if part in seen.source.lacks), None)

    def is_partial(self, seen: Seen) -> bool:
        return "rows" in self.wants and seen.table.n < seen.source.n


def _many_levels(seen: Seen) -> list[Finding]:
    """Findings about columns with many levels, and a warning if rows are too few for the largest condition sets."""
    found, n = columns.level_findings(seen.used), seen.used.n
    if {*seen.used.kinds} != {"discrete"}:
        return [*found, *rows.large_set_findings(n, seen.largest)]
    levels = [len(seen.used.levels(i).values) for i in range(len(seen.used.names))]
    return [*found, *rows.sparse_findings(levels, n, seen.largest)]


def _relations(seen: Seen) -> list[Finding]:
    """Findings about exact linear relations, without copies and constants, which have checks of their own."""
    moments = seen.moments
    if moments is None:
        return []
    constant = {name for name, deviation in zip(moments.names, moments.deviation, strict=True) if deviation == 0}
    return relations.relation_findings(moments, seen.needs.singular, {*seen.copied, *constant})


def _of_rows(find: Callable[[Table], list[Finding]]) -> Callable[[Seen], list[Finding]]:
    return lambda seen: find(seen.table)


_of_pairs = partial(Check, wants=("rows",), most_columns=MOST_COLUMNS)
_for_lines = partial(_of_pairs, is_needed=lambda needs: not needs.sees_curves)  # for tests of straight lines

CHECKS = (
    Check("constant columns", lambda seen: columns.constant_findings(seen.used.names, seen.is_constant)),
    Check("columns with many levels", _many_levels),
    Check("copies", lambda seen: copies.copy_findings(seen.copied, seen.needs.singular)),
    Check("exact linear relations", _relations),
    Check("near copies", lambda seen: copies.near_copies(seen.moments, seen.threads)),
    Check("a missing line of column names", lambda seen: columns.header_findings(seen.source.names)),
    Check("a matrix in place of rows", _of_rows(columns.matrix_findings), ("rows",)),
    _of_pairs("near copies among levels", _of_rows(copies.level_copy_findings)),
    Check("identifiers", _of_rows(columns.identifier_findings), ("rows",)),
    Check("codes for missing values", lambda seen: columns.code_findings(seen.source), ("values",)),
    Check("repeated rows", _of_rows(rows.repeated_row_findings), ("rows", "order")),
    Check("a table of counts read as plain rows", _of_rows(rows.count_findings), ("rows",)),
    Check("several conditions in one table", _of_rows(rows.condition_findings), ("rows", "order")),
    Check("rows in time order", _of_rows(rows.order_findings), ("rows", "order")),
    _of_pairs("columns that one or two others determine", _of_rows(determined.determined_findings)),
    _of_pairs(
        "columns that are monotone functions of another",
        lambda seen: determined.monotone_findings(seen.table, seen.moments),
    ),
    _of_pairs("linear relations that few rows break", _of_rows(relations.broken_relation_findings)),
    _of_pairs("indicators of the levels of one variable", _of_rows(relations.indicator_findings)),
    _of_pairs("censored durations", _of_rows(columns.censoring_findings)),
    _for_lines("distorted numbers", lambda seen: curves.distorted_findings(seen.used_table.within_sets())),
    _for_lines("curved relations", lambda seen: curves.curve_findings(seen.used_table.within_sets())),
    Check(
        "columns that order the rows alike",
        lambda seen: determined.same_order_findings(seen.used_table, seen.needs.singular),
        ("rows",),
        is_needed=lambda needs: needs.score and needs.sees_curves,
    ),
)
"""The checks of usable columns. An audit lists their findings in this order, errors first."""


class Audited(NamedTuple):
    """The `audit` of a source; the `source` with the kinds and rows that the test reads; whether the rows have gaps."""

    audit: Audit
    source: Source
    has_gaps: bool


def audited(source: Source, needs: Needs, *, threads: int = 1, on: Products | None = None) -> Audited:
    """The audit of a source for a test; it lists errors, and ends early if no usable column or too few rows are left. A
    test of levels reads distinct rows with counts if these rows are few; with `missing="pairwise"`, other tests read
    the rows in memory.
    """
    require(needs.missing in ("error", "drop", "pairwise"), "missing", "'error', 'drop' or 'pairwise'", needs.missing)
    require(needs.singular in ("error", "keep"), "singular", "'error' or 'keep'", needs.singular)
    if needs.takes == "discrete":
        source = source.groups() or source
    elif needs.missing == "pairwise":
        source = source.rows()
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
    with single_blas:
        return made._replace(audit=_checked(seen, made.audit))


def _checked(seen: Seen, first: Audit) -> Audit:
    """The audit with the findings of all checks that can be made."""
    checks = [check for check in CHECKS if check.is_needed(seen.needs)]
    hindered = {check.about: why for check in checks if (why := check.hindrance(seen)) is not None}
    able = [check for check in checks if check.about not in hindered]
    beyond = f"beyond the first {seen.table.n:,} of {seen.source.n:,} rows"
    unchecked = hindered | {check.about: beyond for check in able if check.is_partial(seen)}
    unfit = {name for finding in first.findings if finding.problem == "fit" for name in finding.columns}
    found = [finding for check in able for finding in _found(check, seen)]
    contexts = set(getattr(seen.source, "contexts", ()))  # only the data of `anypag.pooled` have contexts
    told = [
        finding
        for finding in found
        if (finding.problem != "levels" or finding.columns[0] not in unfit)
        and not _by_design(finding, contexts)
        and not (seen.table.lags and finding.problem in OF_WINDOWS)
    ]
    told = _once_a_process(told) if seen.table.lags else told
    whole = (check.about for check in able if check.about not in unchecked)
    audit = Audit.of([*first.findings, *told], (*first.checked, *whole), first.kinds)
    unseen = [] if seen.needs.sees_curves else curves.curve_notes(seen.used_table.within_sets())
    notes = (*rows.power_notes(seen.used.n, seen.largest), *unseen)
    return replace(audit, notes=notes, unchecked=tuple(Unchecked(*item) for item in unchecked.items()))


def _once_a_process(found: list[Finding]) -> list[Finding]:
    """The findings about windows of a time series. A problem of the same variables at several lags is reported once."""
    by_processes = {(one.problem, *sorted({_LAG.sub("", name) for name in one.columns})): one for one in found[::-1]}
    return [one for one in found if one in by_processes.values()]


def _by_design(finding: Finding, contexts: set[str]) -> bool:
    """Is a finding only a consequence of pooling data sets: rows in blocks, or contexts that depend on each other?"""
    about = contexts.intersection(finding.columns)
    among_contexts = finding.problem not in {"duplicate", "constant"} and len(about) == len(finding.columns) > 0
    return bool(contexts) and (finding.problem in {"order", "conditions"} or among_contexts)


def _found(check: Check, seen: Seen) -> list[Finding]:
    """The findings of a check; if only the first rows of a long table were checked, they say so."""
    found = check.find(seen)
    if not check.is_partial(seen):
        return found
    where = f"In the first {seen.table.n:,} of {seen.source.n:,} rows: "
    return [replace(finding, message=where + finding.message) for finding in found]


def _costly(source: Source) -> str:
    """A clause on the columns whose gaps cost the most complete rows; "" without gaps, or for a long table."""
    if not source.summary().missing.any():
        return ""
    table = source.sample()
    return rows.costly_columns(table.names, np.isnan(table.values)) if table.n == source.n else ""


def _kinds(source: Source) -> tuple[ColumnKind, ...]:
    table = source.sample()
    of_values = zip(table.values.T, table.labels, table.given_kinds, table.fractions.tolist(), strict=True)
    return tuple(
        ColumnKind(name, kind, kind_reason(values, labels, given, kind, is_clear=is_clear))
        for name, kind, (values, labels, given, is_clear) in zip(source.names, source.kinds, of_values, strict=True)
    )
