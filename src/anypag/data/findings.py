"""`Audit`: the problems found in a table (`Finding`), and the checks that were made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

from anypag.errors import DataError, Option, Sentence
from anypag.markup import block, counted, paragraphs, table

Severity = Literal["error", "warning"]
Singular = Literal["auto", "error", "keep"]

MOST_APART = 3  # the most findings of one check that stay separate; more become one finding
MOST_TOLD = 6  # the most pairs or columns that the message of the combined finding names
MOST_REASONS = 12  # the most errors that one message lists
STANDS_FOR_BOTH = "copy"  # the problem of a finding that says which of two columns stands for both
LEFT_OUT = "left out"  # the problem of the finding that names the columns that are left out


@dataclass(frozen=True)
class Finding:
    """One problem of the data.

    Args:
        severity: "error" if the result would be wrong, "warning" if it would be weaker.
        problem: a fixed word for the problem: "missing", "constant", "duplicate", "relation", ...
        columns: the names of the columns that have it; empty if the whole table has it.
        message: what is wrong, in one sentence or more.
        remedy: what to do about it, one sentence.
        rows_left_out: how many rows are left out for this problem; result files lack this number, so `==` ignores it.
    """

    severity: Severity
    problem: str
    columns: tuple[str, ...]
    message: str
    remedy: str | Sentence
    rows_left_out: int = field(default=0, compare=False)

    @property
    def sentence(self) -> Sentence:
        return Sentence(f"{self.message} ", self.remedy)

    @property
    def brief(self) -> str:
        """The first sentence of the message."""
        first, more, _ = self.message.partition(". ")
        return f"{first}." if more else self.message

    def __str__(self) -> str:
        return str(self.sentence)


def _standing_in(finding: Finding) -> Finding:
    """The finding. The error that two columns are equal becomes a warning that the first one stands for both."""
    if finding.problem != "duplicate" or finding.severity != "error":
        return finding
    first, name = finding.columns
    message = f"Columns {first!r} and {name!r} are the same: {first!r} stands for both."
    remedy = Sentence(f"Answers about {first!r} hold for both; {Option('singular', 'keep')} keeps them separate.")
    return Finding("warning", STANDS_FOR_BOTH, finding.columns, message, remedy)


def warning(problem: str, columns: Iterable[str], message: str, remedy: str | Sentence) -> Finding:
    return Finding("warning", problem, tuple(columns), message, remedy)


def as_one(findings: list[Finding], heading: str) -> list[Finding]:
    """The findings if there are at most three; else one finding for all, with a heading such as "pairs are curved"."""
    if len(findings) <= MOST_APART:
        return findings
    some = ", ".join(" and ".join(map(repr, finding.columns)) for finding in findings[:MOST_TOLD])
    more = f" and {len(findings) - MOST_TOLD:,} more" if len(findings) > MOST_TOLD else ""
    rest = findings[0].message.partition(": ")[2]
    message = f"{len(findings):,} {heading}: {some}{more}." + (f" {rest[0].upper()}{rest[1:]}" if rest else "")
    columns = dict.fromkeys(name for finding in findings for name in finding.columns)
    return [replace(findings[0], columns=tuple(columns), message=message)]


class Unchecked(NamedTuple):
    """A check that was not made, or not in all rows, and why."""

    about: str
    reason: str


class ColumnKind(NamedTuple):
    """The kind of a column, and the reason for it."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True, repr=False)
class Audit:
    """All findings about a table, errors first; the checks that were made; the kind of each column."""

    findings: tuple[Finding, ...]
    checked: tuple[str, ...] = ()  # the checks that were made in all rows, in a few words each
    kinds: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()  # remarks about the table that are not problems
    unchecked: tuple[Unchecked, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding], checked: Sequence[str] = (), kinds: Sequence[ColumnKind] = ()) -> Self:
        """An audit with these findings, errors first."""
        return cls(tuple(sorted(findings, key=lambda finding: finding.severity)), tuple(checked), tuple(kinds))

    @property
    def all_clear(self) -> str:
        """The sentence that is shown if nothing was found."""
        return f"No problems found. Checked for: {', '.join(self.checked)}." if self.checked else "No problems found."

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that would make the result wrong."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that make the result weaker."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def stand_ins(self) -> tuple[Finding, ...]:
        """The warnings that one of two equal columns stands for both."""
        return tuple(finding for finding in self.findings if finding.problem == STANDS_FOR_BOTH)

    @property
    def copies(self) -> dict[str, str]:
        """{copy: the column that stands for both}, from the warnings about equal columns."""
        return {one.columns[1]: one.columns[0] for one in self.stand_ins}

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that a search leaves out, because no test can use them or they have too many gaps."""
        return tuple(name for one in self.findings if one.problem == LEFT_OUT for name in one.columns)

    def with_stand_ins(self) -> Audit:
        """The audit in which errors about equal columns become warnings that the first one stands for both."""
        return replace(self, findings=Audit.of(map(_standing_in, self.findings)).findings)

    def with_findings(self, found: Iterable[Finding]) -> Audit:
        """The audit with further findings, which come first among those of the same severity."""
        return replace(self, findings=Audit.of([*found, *self.findings]).findings)

    @property
    def rows_left_out(self) -> int:
        """How many rows are left out because they have gaps; 0 if no finding counts them."""
        return sum(finding.rows_left_out for finding in self.findings)

    @property
    def lines(self) -> list[str]:
        """The findings, or the sentence that there are none; then the notes."""
        found = [f"{finding.severity}: {finding}" for finding in self.findings] or [self.all_clear]
        return [*found, *(f"note: {note}" for note in self.all_notes)]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, then the checks that were not made, or not in all rows, with the reasons."""
        reasons: dict[str, list[str]] = {}
        for about, reason in self.unchecked:
            reasons.setdefault(reason, []).append(about)
        return (*self.notes, *(f"Not checked: {', '.join(some)} ({why})." for why, some in reasons.items()))

    def __repr__(self) -> str:
        """The number of findings, in one line; `print` lists them."""
        return f"<Audit: {counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}>"

    def _repr_html_(self) -> str:
        findings = [(finding.severity, finding.problem, str(finding)) for finding in self.findings]
        told = table(("", "problem", "what it is, and what to do"), findings) or paragraphs([self.all_clear])
        return block(told, paragraphs(self.all_notes), table(("column", "taken for", "why"), self.kinds))

    def require_usable(self) -> None:
        """Raises a `DataError` if there are errors; its message lists them, at most `MOST_REASONS`."""
        if not self.errors:
            return
        told = self.errors[0].sentence
        if len(self.errors) > 1:
            lines = [part for finding in self.errors[:MOST_REASONS] for part in ("\n- ", finding.sentence)]
            rest = len(self.errors) - MOST_REASONS
            more = f"\n- and {rest:,} more, which an audit lists." if rest > 0 else ""
            told = Sentence(f"The data cannot be used as they are, for {len(self.errors)} reasons:", *lines, more)
        error = DataError(told)
        error.audit = self
        raise error
