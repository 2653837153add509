"""`SampledEffect`: the shares of sampled graphs that exclude or identify an effect, its draws, and its text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from anypag.arrays import Counts
from anypag.data.table import Table
from anypag.effects.estimate.draws import LinearColumns
from anypag.effects.estimate.estimates import number
from anypag.effects.estimate.tables import LevelTable
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.verdict import Verdict
from anypag.effects.sampled_question import AllDraws, ClassGroup, DrawnEffect, Question, Shared, Span, share
from anypag.graphs.marks import with_and
from anypag.graphs.node_sets import NodeSet
from anypag.graphs.text import quote
from anypag.scores.base import GAMMA

SURE_OF_NONE = 0.95  # for "zero", this share of graphs must exclude an effect, at each of the two penalties per edge
MOSTLY_OPEN = 0.5  # status "unidentified": the classes of at least this share of graphs leave the effect open
LEAST_TOLD = 0.01  # groups of classes with a smaller share of the graphs are not listed
MUCH = 0.2  # a smaller difference between the shares of "no effect" at the two penalties per edge is not reported
IF_NONE_HIDDEN = "if no arrow hides a common cause of its ends"


@dataclass(frozen=True, eq=False)
class SampledEffect:
    """An effect by sampled graphs: shares of graphs and, with data, draws. Some graphs are sampled with a lower penalty
    per edge, so that weak edges stay. These graphs count in draws and for the status "zero", but not in shares.
    """

    n: int  # the number of graphs behind the shares
    p_zero: float  # the share whose class says that there is no effect
    p_identified: float  # the share whose class identifies the effect
    p_open: float  # the share whose class leaves the effect open
    by_class: tuple[ClassGroup, ...]  # at most three groups of classes with the same verdict, the largest first
    lines: tuple[DrawnEffect, ...] = ()  # with data, the draws of each number
    rows: int = 0  # with data, the number of rows behind the draws
    notes: tuple[str, ...] = ()  # sentences about limits of the draws
    is_curved: bool = False  # were the graphs scored with curves, so that numbers come from a learner?
    is_discrete: bool = False  # are draws made from tables of levels?
    confounding: float | None = None  # for `if_hidden`: the strongest correlation of the noises of an arrow's ends
    question: Question = field(kw_only=True, repr=False)

    @property
    def status(self) -> Literal["zero", "identified", "unidentified"]:
        """The status by shares of graphs. For "zero", graphs sampled with a lower penalty per edge must agree."""
        at_lower = self.question.zero_at_lower_price
        if self.p_zero >= SURE_OF_NONE and (at_lower is None or at_lower >= SURE_OF_NONE):
            return "zero"
        return "unidentified" if self.p_open >= MOSTLY_OPEN or not self.p_identified else "identified"

    @property
    def estimate(self) -> float | tuple[DrawnEffect, ...] | None:
        """The median of the draws; `lines` if there are several lines; None without draws."""
        if len(self.lines) != 1:
            return self.lines or None
        return None if self.lines[0].span is None else self.lines[0].span.estimate

    @property
    def interval(self) -> tuple[float, float] | tuple[tuple[float, float] | None, ...] | None:
        """The 2.5 and 97.5 % points of the draws, zeros included; one pair per line if there are several lines."""
        ends = tuple(None if line.span is None else (line.span.low, line.span.high) for line in self.lines)
        return ends if len(ends) > 1 else ends[0] if ends else None

    @property
    def representative(self) -> tuple[CausalGraph, Verdict]:
        """The most frequent class among those whose verdict agrees with the status, and its verdict."""
        question, word = self.question, "open" if self.status == "unidentified" else self.status
        counts = np.bincount(question.classes.of, question.classes.counts, minlength=len(question.verdicts))
        agreeing = [counts[k] * (said == word) for k, said in enumerate(question.said)]
        k = int(np.argmax(agreeing if any(agreeing) else counts))
        return question.classes.classes[k].causal, question.verdicts[k]

    def drawn(
        self, table: Table, kept: Shared | None = None, clusters: Counts | None = None, confounding: float | None = None
    ) -> SampledEffect:
        """The effect with draws from a table, whose columns are sorted by name. `kept`: draws or levels to reuse."""
        if self.is_discrete:
            n_levels = self.question.classes.n_levels
            levels = kept if isinstance(kept, LevelTable) else LevelTable(table, n_levels, clusters)
            lines, n = tuple(self.question.lines_of_levels(levels)), levels.n
        else:
            of_all = kept if isinstance(kept, AllDraws) else None
            rows = LinearColumns.of(table, clusters) if of_all is None else of_all.rows
            lines, n = tuple(self.question.lines(rows, of_all, confounding)), rows.n
        notes = _missing_told(lines, self.question.given) + ([] if self.is_discrete else _as_numbers_told(table))
        return replace(self.with_lines(lines, n), confounding=confounding, notes=tuple(notes))

    def with_lines(self, lines: tuple[DrawnEffect, ...], n_rows: int) -> SampledEffect:
        return replace(self, lines=lines, rows=n_rows).grouped()

    def grouped(self, same: Collection[str] = ()) -> SampledEffect:
        """The effect with groups of classes, whose adjustment sets are shown without the constant columns `same`."""
        draws = self.lines[0].draws if len(self.lines) == 1 else None
        return replace(self, by_class=self.question.groups(draws, same))

    def to_dict(self) -> dict[str, Any]:
        shares = {"graphs": self.n, "p_zero": self.p_zero, "p_identified": self.p_identified, "p_open": self.p_open}
        groups = [group._asdict() for group in self.by_class]
        return {**shares, "by_class": groups, "draws": [line.to_dict() for line in self.lines], "rows": self.rows}


def sampled_effect(question: Question, *, is_discrete: bool = False, is_curved: bool = False) -> SampledEffect:
    """The effect by the classes of sampled graphs, without draws; `SampledEffect.drawn` adds draws from data."""
    n, p_zero, p_open = int(question.classes.counts.sum()), question.share("zero"), question.share("open")
    found = SampledEffect(n, p_zero, question.share("identified"), p_open, question.groups(), question=question)
    return replace(found, is_discrete=is_discrete, is_curved=is_curved)


def _missing_told(lines: tuple[DrawnEffect, ...], given: NodeSet) -> list[str]:
    """A note on the shown number with the most missing draws, with the reason if `given`; empty if none is missing."""
    shown = [(line.if_causal_draws, "sampled graphs that allow an effect") for line in lines]
    shown += [(lines[0].draws, "sampled graphs")] if len(lines) == 1 else []
    missing, n, of = max((int(np.isnan(draws).sum()), len(draws), of) for draws, of in shown)
    why = " A graph in which a cause affects a condition gives no number." if given else ""
    return [f"{missing:,} of {n:,} {of} gave no number and were left out.{why}"] if missing else []


def _as_numbers_told(table: Table) -> list[str]:
    columns = zip(table.names, table.kinds, table.values.T, strict=True)
    two = [quote(name) for name, kind, column in columns if kind == "discrete" and len(np.unique(column)) == 2]
    return [f"Columns with two levels are taken as numbers, 0 and 1: {with_and(tuple(two))}."] if two else []


def headline(found: SampledEffect, heading: str) -> str:
    """The headline: the answer in one sentence."""
    none = f"{share(found.p_zero)} of the sampled graphs say that there is no effect"
    if found.status == "zero":
        return f"{heading}: none; {none}."
    spans = [line.if_causal for line in found.lines if line.if_causal is not None]
    condition = f", {IF_NONE_HIDDEN}" if found.p_open else ""
    if not spans:
        rest = f"{share(found.p_identified)} identify it, {share(found.p_open)} leave it open"
        return f"{heading}: {none}, {rest}."
    least, most = (number(end(span.estimate for span in spans)) for end in (min, max))
    is_one, numbers = len(found.lines) == 1, f"{len(found.lines)} numbers below, from {least} to {most}"
    answer = f"{_told(found.lines[0], spans[0]) if is_one else numbers}{condition}"
    answer = f"{none}; over the graphs that allow one, {answer}." if found.p_zero else f"{answer}; {none}."
    return answer if is_one else f"{heading}: {answer}"


def _told(line: DrawnEffect, span: Span) -> str:
    """The outcome's change in words: "X raises Y by 2 per unit (95 %: 1 to 3)", "X = b in place of a raises Y by 2"."""
    has_levels, outcome = line.cause.level is not None, line.outcome.as_outcome
    cause, per = (line.cause.as_cause.removeprefix("for "), "") if has_levels else (line.cause.name, " per unit")
    verb, sign = ("raises", 1) if span.low >= 0 else ("lowers", -1) if span.high <= 0 else ("changes", 1)
    low, high = sorted((sign * span.low, sign * span.high))
    return f"{cause} {verb} {outcome} by {number(sign * span.estimate)}{per} (95 %: {number(low)} to {number(high)})"


def told(found: SampledEffect) -> list[str]:
    """The lines below the headline."""
    lines = [shares_told(found)]
    if len(found.lines) > 1:
        lines += [f"{line.label}: {line.if_causal or 'not known'}" for line in found.lines]
        is_known = any(line.if_causal is not None for line in found.lines)
        lines += [f"These numbers hold {IF_NONE_HIDDEN}."] if found.p_open and is_known else []
    elif found.lines and found.lines[0].span is not None and str(found.lines[0].span) != str(found.lines[0].if_causal):
        lines.append(f"Over all sampled graphs, with 0 for those without an effect: {found.lines[0].span}.")
    lines += [
        f"If arrows hide common causes where they may (noises correlate by up to ±{found.confounding:g}), "
        f"{line.label}: {line.if_hidden}."
        for line in found.lines
        if line.if_hidden is not None
    ]
    groups = (str(group) for group in found.by_class if group.share >= LEAST_TOLD)
    return [*lines, *groups, *_limits(found), *found.notes]


def _limits(found: SampledEffect) -> list[str]:
    """The lines on the influence of the penalty per edge, and on the smallest effect that these rows would show."""
    lines, at_lower = list[str](), found.question.zero_at_lower_price
    depends_on_it = found.p_zero >= SURE_OF_NONE and found.status != "zero"
    if at_lower is not None and (abs(at_lower - found.p_zero) >= MUCH or depends_on_it):
        lines.append(f"Of graphs sampled with a lower penalty per edge, {share(at_lower)} say that there is no effect.")
    if found.rows and found.lines:
        least = smallest_seen(found.rows, 1 if found.is_discrete else len(found.question.classes.names))
        lines.append(f"With {found.rows:,} rows, edges with a partial correlation below {least:.2g} are mostly missed.")
    return lines


def smallest_seen(n: int, p: int) -> float:
    """The partial correlation whose gain in fit equals an edge's penalty (EBIC; BIC if p = 1) for n rows, p variables.

    >>> round(smallest_seen(400, 5), 2)
    0.15
    """
    return float(np.sqrt(1 - np.exp(-(np.log(n) + 4 * GAMMA * np.log(p)) / n)))


def shares_told(found: SampledEffect) -> str:
    return (
        f"Of {found.n:,} sampled graphs {share(found.p_zero)} say that there is no effect, "
        f"{share(found.p_identified)} identify it, {share(found.p_open)} leave it open."
    )
