"""Leaves out columns that no search can use, for the defaults missing="auto" and singular="auto", and says which.

A graph that allows for hidden causes stays right if a column is left out: the column is one more variable that was not
measured. Rows without a gap are a selected sample; the graph allows for selection too. So unusable columns, and rows
with gaps, are left out without asking the user, and a finding says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from anypag.data.audit.relations import RELATION
from anypag.data.audit.rows import costliest
from anypag.data.findings import LEFT_OUT, Audit, Finding, Singular, warning
from anypag.data.sources.pooled import Pooled
from anypag.data.sources.protocol import Source
from anypag.data.table import Missing, Table
from anypag.errors import DataError, Option, Sentence, listed

FEWEST = 0.5  # the least share of rows with a value in a column, and the least share of complete rows
MANY_GAPS = 0.1  # a column with a larger share of gaps is left out if its values fill only rows that agree in another
_WHY = {
    "constant": "constant in the rows used",
    "relation": "an exact linear function of others",
    "levels": "a different value in every row",
    "identifier": "a different whole number in every row",
    "dates": "dates",
}
"""The reason for leaving out a column, by the problem that the audit found."""
MOST_SPELLED_OUT = 4  # the formula of a relation between more columns is not shown
Left = dict[str, str]  # the columns that are left out, each with the reason
Read = TypeVar("Read")


def leaving_out(
    source: Source, missing: Missing, singular: Singular, kept: Iterable[str], read: Callable[..., tuple[Read, Audit]]
) -> tuple[Read, list[Finding]]:
    """The result of `read` for the usable columns, and the finding that names the columns left out. `kept`: columns for
    which the user gave a kind or prior knowledge; they are never left out. `read` takes a source, `missing` and
    `singular`, never "auto". It returns its result and an audit, or raises a DataError that holds the audit.
    """
    strict: Singular = "error" if singular == "auto" else singular
    if isinstance(source, Pooled):  # a column must not be left out in some of the data sets only
        return read(source, "drop" if missing == "auto" else missing, strict)[0], []
    keep, out = frozenset(kept), dict[str, str]()
    if missing == "auto":
        out, missing = gappy(source, keep), "drop" if source.summary().missing.any() else "error"
    while True:
        rest = source.take([name for name in source.names if name not in out]) if out else source
        error, audit = None, Audit(())
        try:
            made, audit = read(rest, missing, strict)
        except DataError as raised:
            error, audit = raised, raised.audit if isinstance(raised.audit, Audit) else audit
        more = unusable(audit, keep) if singular == "auto" else {}
        if not more or len(rest.names) - len(more) < 2:
            if error is not None:
                raise error
            return made, _told(out)
        out |= more


def gappy(source: Source, keep: frozenset[str] = frozenset()) -> Left:
    """The columns to leave out because of gaps: columns with a value in fewer than half of the rows. If all rows are in
    memory, also those of `_skipped`, then those that cost the most complete rows, until half of the rows are complete.
    """
    summary = source.summary()
    many = (summary.n - summary.missing) < FEWEST * summary.n
    names = [name for name, is_gappy in zip(source.names, many.tolist(), strict=True) if is_gappy and name not in keep]
    out = dict.fromkeys(names, "a value in fewer than half of the rows")
    table = source.sample() if summary.missing.any() else None
    if table is None or table.n < source.n:
        return out
    out |= {name: why for name, why in _skipped(table).items() if name not in keep and name not in out}
    gaps = np.isnan(table.values)
    gaps[:, [name in out or name in keep for name in table.names]] = False
    costly = [table.names[k] for k in costliest(gaps, FEWEST)]
    return out | dict.fromkeys(costly, "the most gaps: with them, fewer than half of the rows would be complete")


def _skipped(table: Table) -> Left:
    """Columns with many gaps that have values only in rows that agree in another column. An example is a question that
    was put only to people who answered yes to an earlier question.
    """
    found, n_gaps = dict[str, str](), table.summary().missing
    varies = table.summary().low < table.summary().high
    for i in np.flatnonzero(n_gaps > MANY_GAPS * table.n).tolist():
        rest = table.values[~np.isnan(table.values[:, i])]
        is_constant = np.fmin.reduce(rest, initial=np.inf) == np.fmax.reduce(rest, initial=-np.inf)
        fixed = varies & (n_gaps < n_gaps[i]) & is_constant
        if fixed.any():
            found[table.names[i]] = f"a value only in rows with one value of {table.names[int(np.argmax(fixed))]!r}"
    return found


def unusable(audit: Audit, keep: frozenset[str]) -> Left:
    """The columns that an audit finds unusable, with the reasons; of a relation, only the last column not in `keep`."""
    found: Left = {}
    for finding in audit.findings:
        free = [name for name in finding.columns if name not in keep]
        is_new = bool(free) and not found.keys() & {*finding.columns}
        if is_new and finding.problem in _WHY and (finding.severity == "error" or finding.problem == "identifier"):
            is_relation = finding.problem == "relation"
            is_short = is_relation and len(finding.columns) <= MOST_SPELLED_OUT
            why = finding.message.removeprefix(RELATION).rstrip(".") if is_short else _WHY[finding.problem]
            found |= dict.fromkeys(free[-1:] if is_relation else free, why)
    return found


def _told(out: Mapping[str, str]) -> list[Finding]:
    if not out:
        return []
    reasons: dict[str, list[str]] = {}
    for name, why in out.items():
        reasons.setdefault(why, []).append(name)
    shown = "; ".join(f"{listed(names, 6)} ({why})" for why, names in reasons.items())
    remedy = Sentence(
        "A column left out counts as not measured, which the graph allows for. To keep it, give its kind "
        f"({Option('kinds')}); or, if the reason names other columns, leave out one of those."
    )
    return [warning(LEFT_OUT, out, f"Left out: {shown}.", remedy)]
