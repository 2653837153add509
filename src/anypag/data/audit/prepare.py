"""A table made ready for a test: audited in one pass, its incomplete rows dropped where that was chosen."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from anypag.data.audit.checks import (
    LEAST_ROWS,
    constant_findings,
    copies_in,
    copy_findings,
    date_findings,
    dropped_findings,
    few_rows_findings,
    infinity_findings,
    is_constant_column,
    large_set_findings,
    largest_set,
    level_findings,
    missing_findings,
    power_notes,
    relation_findings,
    sparse_findings,
    text_findings,
    usable_names,
)
from anypag.data.audit.fit import fit_findings
from anypag.data.audit.suspicions import SUSPICIONS, near_copies
from anypag.data.findings import Audit, ColumnKind, Finding, Singular, require_choice
from anypag.data.kinds import FRACTIONS, has_fractions, kind_reason
from anypag.data.moments import Moments, Products, moments_of
from anypag.data.table import Kind, Missing, Table

CHECKED = (
    "text among numbers",
    "infinite and missing values",
    "too few rows",
    "constant columns",
    "columns with many levels",
    "copies",
    "exact linear relations",
    "near copies",
    "names that come twice",
)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table as a test can use it, with what was found on the way.

    `moments` are those of the continuous columns over the rows without gaps; None if there are no such columns or rows,
    or if the audit has errors.
    """

    table: Table
    audit: Audit
    moments: Moments | None
    has_gaps: bool


def prepare(
    table: Table,
    *,
    missing: Missing,
    singular: Singular,
    max_r: int | None,
    threads: int = 1,
    multiplier: Products | None = None,
    as_kind: Kind | None = None,
) -> Prepared:
    """Audits a table and drops its incomplete rows if `missing` says so.

    All checks are made at once: where a column cannot be used, on the others; where values are missing, on the rows
    that are there. With `as_kind` every column is then taken as of this kind, and those it does not fit are named.
    """
    require_choice("missing", missing, ("error", "drop", "pairwise"))
    require_choice("singular", singular, ("error", "keep"))
    kinds = _kinds(table)
    findings = [*table.read, *date_findings(table)]
    findings += [] if as_kind is None else fit_findings(table, as_kind)
    table = table if as_kind is None else table.all_of_kind(as_kind)
    findings += [*text_findings(table), *_gap_findings(table, missing)]
    has_gaps = table.has_gaps and missing != "drop"
    if missing == "drop" and table.has_gaps:
        before = table.n
        table = table.take_rows(np.logical_not(np.isnan(table.values).any(axis=1)))
        findings += dropped_findings(before, table.n)
    is_told = any(finding.problem == "dropped" for finding in findings)  # that dropping left no row
    findings += [] if is_told and not table.n else few_rows_findings(table.n)
    usable = _usable(table, findings)
    if table.n < LEAST_ROWS or usable is None:
        return Prepared(table, Audit.of(findings, CHECKED, kinds), None, has_gaps)
    unfit = {name for finding in findings if finding.problem == "fit" for name in finding.columns}
    findings += _column_findings(usable, largest_set(len(table.names), max_r), unfit)
    moments, related = _related(usable, singular, threads, multiplier)
    findings += related
    fitting = [item for item in SUSPICIONS if len(table.names) <= item.most_columns]
    findings += [finding for item in fitting for finding in item.find(usable, moments)]
    audit = Audit.of(findings, (*CHECKED, *(item.about for item in fitting)), kinds)
    audit = replace(audit, notes=power_notes(table.n, largest_set(len(table.names), max_r)))
    return Prepared(table, audit, None if audit.errors else moments, has_gaps)


def _kinds(table: Table) -> tuple[ColumnKind, ...]:
    fractions = has_fractions(table.values)

    def reason(i: int) -> str:
        labels, given = table.labels[i], table.given_kinds[i]
        is_clear = fractions[i] and labels is None and given is None
        return FRACTIONS if is_clear else kind_reason(table.values[:, i], labels, given, table.kinds[i])

    return tuple(ColumnKind(name, table.kinds[i], reason(i)) for i, name in enumerate(table.names))


def _gap_findings(table: Table, missing: Missing) -> list[Finding]:
    if table.is_finite:
        return []
    gaps = np.isnan(table.values)
    return [
        *infinity_findings(table.names, np.isinf(table.values).sum(axis=0)),
        *missing_findings(table.names, gaps.sum(axis=0), table.n, missing, int(gaps.any(axis=1).sum())),
    ]


def _usable(table: Table, findings: list[Finding]) -> Table | None:
    """The columns that further checks make sense for; None if there are none."""
    names = usable_names(table.names, findings)
    if len(names) == len(table.names):
        return table
    return table.take(names) if names else None


def _column_findings(table: Table, largest: int, unfit: Collection[str]) -> list[Finding]:
    """What is wrong with single columns, and whether there are rows enough for the largest sets."""
    if "continuous" in table.kinds:
        sets = large_set_findings(table.n, largest)
    else:
        sets = sparse_findings([table.n_levels(i) for i in range(len(table.names))], table.n, largest)
    levels = [finding for finding in level_findings(table) if finding.columns[0] not in unfit]
    return [*constant_findings(table.names, is_constant_column(table.values)), *levels, *sets]


def _related(
    table: Table, singular: Singular, threads: int, multiplier: Products | None
) -> tuple[Moments | None, list[Finding]]:
    """The moments of the continuous columns, and which columns are functions of others, exactly or nearly."""
    copies = copies_in(table)
    findings = copy_findings(copies, singular)
    moments = _continuous_moments(table, threads, multiplier)
    if moments is not None:
        constant = {name for name, deviation in zip(moments.names, moments.deviation, strict=True) if deviation == 0}
        findings += relation_findings(moments, singular, {*copies, *constant})
        findings += near_copies(moments, threads)
    return moments, findings


def _continuous_moments(table: Table, threads: int, multiplier: Products | None) -> Moments | None:
    chosen = [i for i, kind in enumerate(table.kinds) if kind == "continuous"]
    values = table.values if len(chosen) == len(table.names) else table.values[:, chosen]
    complete = values[~np.isnan(values).any(axis=1)] if table.has_gaps else values
    if not chosen or len(complete) < LEAST_ROWS:
        return None
    return moments_of(complete, [table.names[i] for i in chosen], threads=threads, multiplier=multiplier)
