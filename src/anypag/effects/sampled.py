"""An effect by sampled graphs: shares of classes, and draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.data.table import Table
from anypag.effects.estimate.draws import DrawnColumn, Hidden, LinearColumns, drawn_effects
from anypag.effects.estimate.estimates import number
from anypag.effects.estimate.table_draws import LevelTable
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.sampled_classes import SampledClasses
from anypag.effects.identify.verdict import Verdict
from anypag.graphs.base import ancestry
from anypag.graphs.marks import listed
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.text import quote
from anypag.scores.base import GAMMA

MOST_GROUPS = 3
"""How many groups of classes are listed."""
SURE_OF_NONE = 0.95
"""From this share of classes without an effect on, at either price of an edge, the answer is "no effect"."""
MOSTLY_OPEN = 0.5
"""From this share of classes that leave the effect open on, it is not identified."""
LEAST_TOLD = 0.01
"""Smaller groups of classes are not told in words."""
MUCH = 0.2
"""A difference between shares that is told."""
QUANTILES = (0.025, 0.5, 0.975)
LEAST_DRAWS = 20
"""Fewer draws give no interval: the ends of one that holds 95 % of them would be single draws."""

Said = Literal["zero", "identified", "open"]


class Span(NamedTuple):
    """A median and the range that holds 95 % of the draws."""

    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: Floats) -> Self | None:
        """The median and interval of some draws; None if too few of them are known."""
        known = draws[np.isfinite(draws)]
        if len(known) < LEAST_DRAWS:
            return None
        low, middle, high = np.quantile(known, QUANTILES).tolist()
        return cls(middle, low, high)

    def __str__(self) -> str:
        return f"{number(self.estimate)} ({number(self.low)} to {number(self.high)})"


class ClassGroup(NamedTuple):
    """Sampled classes that say the same of an effect.

    Args:
        share: of all sampled graphs.
        verdict: "zero", "adjustment", "formula" or "unidentified".
        adjustment_set: the set, where there is one.
        mean: of the draws of these graphs, without those that are missing; None without data.
    """

    share: float
    verdict: str
    adjustment_set: tuple[str, ...] | None
    mean: float | None = None

    def __str__(self) -> str:
        said = {"zero": "no effect", "formula": "identified, by a formula", "unidentified": "left open"}
        if self.adjustment_set is None:
            words = said[self.verdict]
        else:
            words = f"identified, adjusting for {listed(tuple(map(quote, self.adjustment_set))) or 'nothing'}"
        mean = "" if self.mean is None or self.verdict == "zero" else f", mean {number(self.mean)}"
        return f"{share(self.share)} of the graphs: {words}{mean}"


@dataclass(frozen=True, eq=False)
class DrawnEffect:
    """Draws of one number: how much an outcome changes with a cause.

    Args:
        cause: the column that is set: a variable, or one level of it in place of the first.
        outcome: the column whose change is measured: a variable, or one level of it.
        draws: (m,) one for each sampled graph, zeros included; NaN if a graph gives none.
        if_causal_draws: draws of the classes that allow an effect; those that leave it open assume that no arrow hides
            a common cause.
        hidden_draws: the same draws if arrows hide common causes (`confounding`).
        group: in tables, the levels of the conditions, in words.
    """

    cause: DrawnColumn
    outcome: DrawnColumn
    draws: Floats = field(repr=False)
    if_causal_draws: Floats = field(repr=False)
    hidden_draws: Floats | None = field(default=None, repr=False)
    group: str = ""

    @property
    def label(self) -> str:
        """What the number is, in words."""
        return f"{self.outcome.as_outcome} {self.cause.as_cause}{self.group and f', given {self.group}'}"

    @cached_property
    def span(self) -> Span | None:
        """Median and interval of the draws, zeros included."""
        return Span.of(self.draws)

    @cached_property
    def if_causal(self) -> Span | None:
        """Median and interval over the classes that allow an effect; None where too few do."""
        return Span.of(self.if_causal_draws)

    @cached_property
    def if_hidden(self) -> Span | None:
        """Median and interval over the classes that allow an effect, if arrows hide common causes."""
        return None if self.hidden_draws is None else Span.of(self.hidden_draws)

    @property
    def value(self) -> float:
        """The median of the draws, so that it has a value like other estimates; NaN without draws."""
        return float("nan") if self.span is None else self.span.estimate

    @property
    def given_effect(self) -> tuple[float, float] | None:
        """The interval of the draws that are not 0."""
        span = Span.of(self.draws[self.draws != 0])
        return None if span is None else (span.low, span.high)

    @property
    def p_positive(self) -> float:
        """The share of draws above 0."""
        return float((self._known > 0).mean()) if len(self._known) else float("nan")

    @property
    def mean(self) -> float:
        """Of the draws."""
        return float(self._known.mean()) if len(self._known) else float("nan")

    @property
    def _known(self) -> Floats:
        return self.draws[np.isfinite(self.draws)]

    def to_dict(self) -> dict[str, Any]:
        """The numbers for machines, without the draws."""
        return {
            "cause": self.cause.variable,
            "outcome": self.outcome.variable,
            "label": self.label,
            "estimate": None if self.span is None else self.span.estimate,
            "interval": None if self.span is None else [self.span.low, self.span.high],
            "mean": self.mean,
            "p_positive": self.p_positive,
            "given_effect": None if self.given_effect is None else list(self.given_effect),
            "if_causal": None if self.if_causal is None else list(self.if_causal),
            "if_hidden": None if self.if_hidden is None else list(self.if_hidden),
        }


@dataclass(frozen=True, eq=False)
class SampledEffect:
    """What sampled graphs say about an effect.

    Args:
        n: the graphs that count in shares; draws come from more (`SampledClasses.counts`).
        p_zero: the share whose class says that there is no effect.
        p_identified: the share whose class identifies one.
        p_open: the share whose class leaves it open.
        by_class: at most three groups of classes that say the same, the largest first.
        lines: with data, a line for each number.
        rows: with data, the rows behind the draws.
        notes: what a reader must know.
        is_curved: whether the graphs were scored with curves, so that numbers come from a learner.
        is_discrete: are draws made from tables of levels?
        confounding: the largest correlation between the noises of an arrow's ends behind `if_hidden`.
    """

    n: int
    p_zero: float
    p_identified: float
    p_open: float
    by_class: tuple[ClassGroup, ...]
    lines: tuple[DrawnEffect, ...] = ()
    rows: int = 0
    notes: tuple[str, ...] = ()
    is_curved: bool = False
    is_discrete: bool = False
    confounding: float | None = None
    question: Question = field(kw_only=True, repr=False)

    @property
    def status(self) -> Literal["zero", "identified", "unidentified"]:
        """The status that follows from the shares of classes. What graphs say only while edges are dear is not said."""
        at_less = self.question.zero_at_less
        if self.p_zero >= SURE_OF_NONE and (at_less is None or at_less >= SURE_OF_NONE):
            return "zero"
        return "unidentified" if self.p_open >= MOSTLY_OPEN else "identified"

    @property
    def estimate(self) -> float | tuple[DrawnEffect, ...] | None:
        """The median of the draws; the lines where there are several; None without draws."""
        if len(self.lines) != 1:
            return self.lines or None
        return None if self.lines[0].span is None else self.lines[0].span.estimate

    @property
    def interval(self) -> tuple[float, float] | tuple[tuple[float, float] | None, ...] | None:
        """The 2.5 and 97.5 % points of the draws, zeros included; one pair for each line where there are several."""
        ends = tuple(None if line.span is None else (line.span.low, line.span.high) for line in self.lines)
        return ends if len(ends) > 1 else ends[0] if ends else None

    @property
    def representative(self) -> tuple[CausalGraph, Verdict]:
        """The class with the most frequent verdict among those that agree with the status, and this verdict."""
        question, word = self.question, "open" if self.status == "unidentified" else self.status
        counts = np.bincount(question.classes.of, question.classes.counts, minlength=len(question.verdicts))
        agreeing = [counts[k] * (said == word) for k, said in enumerate(question.said)]
        k = int(np.argmax(agreeing if any(agreeing) else counts))
        return question.classes.classes[k].causal, question.verdicts[k]

    def drawn(
        self,
        table: Table,
        ready: AllDraws | LevelTable | None = None,
        clusters: Counts | None = None,
        confounding: float | None = None,
    ) -> SampledEffect:
        """With draws from linear systems.

        Args:
            table: its columns are the variables in the order of their names.
            ready: draws between all of its columns, or the table of levels, if at hand.
            clusters: (n,) the cluster of each row; None if rows are independent.
            confounding: besides, draws if arrows hide common causes as strong as this.
        """
        if self.is_discrete:
            levels = ready if isinstance(ready, LevelTable) else None
            levels = levels or LevelTable(table, self.question.classes.n_levels, clusters)
            lines = tuple(self.question.lines_of_levels(levels))
            return replace(self.with_lines(lines, levels.n), notes=tuple(_missing_told(lines)))
        of_all = ready if isinstance(ready, AllDraws) else None
        rows = LinearColumns.of(table, clusters) if of_all is None else of_all.rows
        lines = tuple(self.question.lines(rows, of_all, confounding))
        found = self.with_lines(lines, rows.n)
        return replace(found, confounding=confounding, notes=tuple(_notes(lines, table)))

    def with_lines(self, lines: tuple[DrawnEffect, ...], n_rows: int) -> SampledEffect:
        """With numbers, and their means in each group of classes."""
        groups = _groups(self.question, lines[0].draws if len(lines) == 1 else None)
        return replace(self, lines=lines, rows=n_rows, by_class=groups)

    def to_dict(self) -> dict[str, Any]:
        """Shares and numbers as plain data."""
        return {
            "graphs": self.n,
            "p_zero": self.p_zero,
            "p_identified": self.p_identified,
            "p_open": self.p_open,
            "by_class": [group._asdict() for group in self.by_class],
            "draws": [line.to_dict() for line in self.lines],
            "rows": self.rows,
        }


@dataclass(frozen=True, eq=False)
class Question:
    """A question about an effect, and the verdict of each class."""

    classes: SampledClasses
    x: NodeSet
    y: NodeSet
    given: NodeSet
    verdicts: list[Verdict]

    @classmethod
    def of(cls, classes: SampledClasses, x: NodeSet, y: NodeSet, given: NodeSet, within: NodeSet) -> Self:
        """Ask every class."""
        return cls(classes, x, y, given, classes.verdicts(x, y, given, within))

    @cached_property
    def said(self) -> list[Said]:
        """The status by each class."""
        words: dict[str, Said] = {"zero": "zero", "unidentified": "open"}
        return [words.get(verdict.status, "identified") for verdict in self.verdicts]

    def share(self, word: Said) -> float:
        """The share of counted graphs whose class says so."""
        return float(self.graphs_of(word)[self.classes.counts].mean())

    @property
    def zero_at_less(self) -> float | None:
        """The share of the graphs sampled at a lower price of an edge whose class says "zero"; None without such."""
        at_less = ~self.classes.counts
        return float(self.graphs_of("zero")[at_less].mean()) if at_less.any() else None

    def graphs_of(self, word: Said) -> Flags:
        """(m,) whether a graph's class has this status."""
        return np.array([said == word for said in self.said])[self.classes.of]

    def lines(
        self, rows: LinearColumns, of_all: AllDraws | None = None, confounding: float | None = None
    ) -> list[DrawnEffect]:
        """Draws for every cause and outcome; `of_all` has those between all columns, one cause at a time."""
        causes, outcomes = (rows.places(np.array(list(members(part)))) for part in (self.x, self.y))
        is_set = np.isin(np.arange(len(rows.columns)), causes) if self.x & (self.x - 1) else None
        if of_all is None or is_set is not None:
            drawn = drawn_effects(self.classes.diagrams, self.classes.place, rows, causes, outcomes, is_set)
        else:
            drawn = of_all.draws[:, causes][:, :, outcomes].copy()
        drawn[self._is_spoilt()] = np.nan
        causal, moved = self._if_causal(drawn, rows, causes, outcomes, is_set, of_all=of_all), None
        if confounding is not None:
            hidden = Hidden(confounding, np.stack([self.classes.open_arrows(k) for k in self.classes.of.tolist()]))
            marks, place = self.classes.diagrams, self.classes.place
            moved = drawn_effects(marks, place, rows, causes, outcomes, is_set, hidden)
            moved[self._is_spoilt()] = np.nan
            moved = self._if_causal(moved, rows, causes, outcomes, is_set, hidden)
        found = []
        for (i, cause), (j, outcome) in product(enumerate(causes), enumerate(outcomes)):
            draws = (drawn[:, i, j].copy(), causal[:, i, j].copy(), None if moved is None else moved[:, i, j].copy())
            found.append(DrawnEffect(rows.columns[cause], rows.columns[outcome], *draws))
        return found

    def lines_of_levels(self, rows: LevelTable) -> list[DrawnEffect]:
        """Draws of risk differences for the levels of causes and outcomes but the first, in each group given."""
        causes, given = (tuple(members(part)) for part in (self.x, self.given))
        return [
            DrawnEffect(cause, outcome, drawn[:, i, j].copy(), causal[:, i, j].copy(), group=group)
            for y, (group, own) in product(members(self.y), rows.groups(given))
            for drawn, causal in [self._of_levels(rows, causes, y, own)]
            for (i, cause), (j, outcome) in product(enumerate(rows.columns(causes)), enumerate(rows.columns((y,))))
        ]

    def _of_levels(self, rows: LevelTable, causes: tuple[int, ...], y: int, own: Flags | None) -> tuple[Floats, Floats]:
        """Draws of all graphs, and of those whose class allows an effect."""
        classes, is_open = self.classes, np.flatnonzero(self.graphs_of("open"))
        drawn = rows.drawn(classes.diagrams, classes.place, causes, y, own)
        drawn[self._is_spoilt()] = np.nan
        causal, at = drawn.copy(), np.unique(classes.of[is_open]).tolist()
        sets = {c: classes.set_if_causal(c, self.x, 1 << y, self.given) for c in at}
        for k in is_open.tolist():
            z = sets[int(classes.of[k])]
            if z is None:
                causal[k] = np.nan
            else:
                steps = [(tuple(members(z)) if x == causes[0] else (), x) for x in causes]
                causal[k] = rows.adjusted(steps, causes, y, int(classes.place[k]), rows=own)
        return drawn, causal[~self.graphs_of("zero")]

    def _is_spoilt(self) -> Flags:
        """(m,) graphs in which a condition comes after a cause: the effect given it is no total effect."""
        if not self.given:
            return np.zeros(len(self.classes), np.bool_)
        marks = self.classes.diagrams
        x, z = (list(members(part)) for part in (self.x, self.given))
        return np.array([ancestry(m)[np.ix_(x, z)].any() for m in marks])

    def _if_causal(
        self,
        drawn: Floats,
        rows: LinearColumns,
        causes: Counts,
        outcomes: Counts,
        is_set: Flags | None,
        hidden: Hidden | None = None,
        of_all: AllDraws | None = None,
    ) -> Floats:
        """The draws of classes that identify the effect; of those that leave it open, draws of the member without
        hidden common causes of the ends of an arrow.
        """
        found = drawn.copy()
        is_open = np.flatnonzero(self.graphs_of("open"))
        if of_all is not None and is_set is None:
            found[is_open] = of_all.if_causal(self.classes, self.x, is_open)[:, :, outcomes]
            return np.asarray(found[~self.graphs_of("zero")])
        member = {int(k): self.classes.if_causal(int(k), self.x) for k in np.unique(self.classes.of[is_open])}
        known = [(k, marks) for k in is_open.tolist() if (marks := member[int(self.classes.of[k])]) is not None]
        if known:
            at, diagrams = [k for k, _ in known], np.stack([marks for _, marks in known])
            hide = None if hidden is None else hidden._replace(arrows=hidden.arrows[at])
            found[at] = drawn_effects(diagrams, self.classes.place[at], rows, causes, outcomes, is_set, hide)
        return np.asarray(found[~self.graphs_of("zero")])


class AllDraws(NamedTuple):
    """Draws of the effects between all columns of a table: (m, c, c).

    Args:
        rows: the columns.
        draws: (m, c, c) from the sampled graphs.
        of_members: by cause, for graphs that were asked for (m,), (m, columns of the cause, c) draws of the member of
            their class in which no arrow hides a common cause.
    """

    rows: LinearColumns
    draws: Floats
    of_members: dict[NodeSet, tuple[Flags, Floats]]

    @classmethod
    def of(cls, classes: SampledClasses, table: Table) -> Self:
        """One draw for each sampled graph."""
        rows = LinearColumns.of(table)
        everyone = np.arange(len(rows.columns))
        return cls(rows, drawn_effects(classes.diagrams, classes.place, rows, everyone, everyone), {})

    def if_causal(self, classes: SampledClasses, x: NodeSet, at: Counts) -> Floats:
        """(k, columns of x, c) the draws of these graphs if no arrow hides a common cause; as sampled where no member
        of their class is like that.
        """
        causes, everyone = self.rows.places(np.array(list(members(x)))), np.arange(len(self.rows.columns))
        if x not in self.of_members:
            self.of_members[x] = np.zeros(len(classes), np.bool_), self.draws[:, causes].copy()
        is_done, found = self.of_members[x]
        new = at[~is_done[at]]
        member = {int(k): classes.if_causal(int(k), x) for k in np.unique(classes.of[new])}
        known = [(k, marks) for k in new.tolist() if (marks := member[int(classes.of[k])]) is not None]
        if known:
            places, diagrams = [k for k, _ in known], np.stack([marks for _, marks in known])
            found[places] = drawn_effects(diagrams, classes.place[places], self.rows, causes, everyone)
        is_done[new] = True
        return np.asarray(found[at])


def sampled_effect(
    classes: SampledClasses,
    x: NodeSet,
    y: NodeSet,
    given: NodeSet,
    within: NodeSet,
    *,
    is_discrete: bool = False,
    is_curved: bool = False,
) -> SampledEffect:
    """What the classes of sampled graphs say; draws come with data (`SampledEffect.drawn`)."""
    question = Question.of(classes, x, y, given, within)
    return SampledEffect(
        int(classes.counts.sum()),
        question.share("zero"),
        question.share("identified"),
        question.share("open"),
        _groups(question, None),
        is_discrete=is_discrete,
        is_curved=is_curved,
        question=question,
    )


def _groups(question: Question, draws: Floats | None) -> tuple[ClassGroup, ...]:
    """The largest groups of classes that say the same."""
    classes = question.classes
    keys = [_key(classes, k, verdict) for k, verdict in enumerate(question.verdicts)]
    counted = Counter(keys[k] for k in classes.of[classes.counts].tolist())
    found = []
    for key, count in counted.most_common(MOST_GROUPS):
        within = np.array([other == key for other in keys])[classes.of]
        known = None if draws is None else draws[within & np.isfinite(draws)]
        mean = None if known is None or not len(known) else float(known.mean())
        found.append(ClassGroup(count / counted.total(), key[0], key[1], mean))
    return tuple(found)


def _key(classes: SampledClasses, k: int, verdict: Verdict) -> tuple[str, tuple[str, ...] | None]:
    return verdict.status, None if verdict.z is None else classes.classes[k].causal.names(verdict.z)


def _missing_told(lines: tuple[DrawnEffect, ...]) -> list[str]:
    """How many of the draws behind the numbers that are shown are missing."""
    shown = [(line.if_causal_draws, "sampled graphs that allow an effect") for line in lines]
    shown += [(lines[0].draws, "sampled graphs")] if len(lines) == 1 else []
    missing, n, of = max((int(np.isnan(draws).sum()), len(draws), of) for draws, of in shown)
    return [f"Of {n:,} {of} {missing:,} gave no number and were left out."] if missing else []


def _notes(lines: tuple[DrawnEffect, ...], table: Table) -> list[str]:
    told = _missing_told(lines)
    two = [
        name
        for name, kind, column in zip(table.names, table.kinds, table.values.T, strict=True)
        if kind == "discrete" and len(np.unique(column)) == 2
    ]
    if two:
        told.append(f"Columns with two levels are taken as numbers, 0 and 1: {listed(tuple(map(quote, two)))}.")
    return told


def share(of_graphs: float) -> str:
    """A share in per cent; one that is not 0 or 1 is not rounded to it.

    >>> share(0.0), share(0.005), share(0.14), share(0.998)
    ('0%', '<1%', '14%', '>99%')
    """
    rounded = f"{of_graphs:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(rounded, rounded) if 0 < of_graphs < 1 else rounded


IF_NONE_HIDDEN = "if no arrow hides a common cause of its ends"


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
    if len(found.lines) == 1:
        return f"{_told(found.lines[0], spans[0])}{condition}; {none}."
    least, most = (end(span.estimate for span in spans) for end in (min, max))
    numbers = f"{len(found.lines)} numbers below, from {number(least)} to {number(most)}"
    return f"{heading}: {numbers}{condition}; {none}."


def _told(line: DrawnEffect, span: Span) -> str:
    """How the outcome changes: "X raises Y by 2 per unit (95 %: 1 to 3)", "X = b in place of a raises Y by 2"."""
    has_levels, outcome = line.cause.level is not None, line.outcome.as_outcome
    cause, per = (line.cause.as_cause.removeprefix("for "), "") if has_levels else (line.cause.name, " per unit")
    if span.low >= 0 or span.high <= 0:
        verb, sign = ("raises", 1) if span.low >= 0 else ("lowers", -1)
        ends = sorted((sign * span.low, sign * span.high))
        return (
            f"{cause} {verb} {outcome} by {number(sign * span.estimate)}{per} "
            f"(95 %: {number(ends[0])} to {number(ends[1])})"
        )
    return (
        f"{cause} changes {outcome} by {number(span.estimate)}{per} (95 %: {number(span.low)} to {number(span.high)})"
    )


def told(found: SampledEffect) -> list[str]:
    """What stands below the headline."""
    lines = [shares_told(found)]
    if len(found.lines) > 1:
        lines += [f"{line.label}: {line.if_causal or 'not known'}" for line in found.lines]
        lines += [f"These numbers hold {IF_NONE_HIDDEN}."] if found.p_open else []
    elif found.lines and found.lines[0].span is not None:
        lines.append(f"If graphs without an effect count as 0: {found.lines[0].span}. Rows: {found.rows:,}.")
    lines += [
        f"If arrows hide common causes where they may (noises correlate by up to {found.confounding:g} either way), "
        f"{line.label}: {line.if_hidden}."
        for line in found.lines
        if line.if_hidden is not None
    ]
    groups = (str(group) for group in found.by_class if group.share >= LEAST_TOLD)
    return [*lines, *groups, *_limits(found), *found.notes]


def _limits(found: SampledEffect) -> list[str]:
    """How much depends on the price of an edge, and the smallest effect that these rows would show."""
    lines, at_less = list[str](), found.question.zero_at_less
    hangs_on_it = found.p_zero >= SURE_OF_NONE and found.status != "zero"
    if at_less is not None and (abs(at_less - found.p_zero) >= MUCH or hangs_on_it):
        lines.append(f"Of graphs in which an edge costs less, {share(at_less)} say that there is no effect.")
    if found.rows and found.lines:
        least = smallest_seen(found.rows, 1 if found.is_discrete else len(found.question.classes.names))
        lines.append(f"With {found.rows:,} rows, effects below {least:.2g} standard units would mostly not be seen.")
    return lines


def smallest_seen(n: int, p: int) -> float:
    """The partial correlation from which on an edge is worth its price (EBIC) to n rows of p variables; with p = 1 that
    of BIC, which the score of two columns with two levels comes to.

    >>> round(smallest_seen(400, 5), 2)
    0.15
    """
    return float(np.sqrt(1 - np.exp(-(np.log(n) + 4 * GAMMA * np.log(p)) / n)))


def shares_told(found: SampledEffect) -> str:
    """The three shares, in a sentence."""
    return (
        f"Of {found.n:,} sampled graphs {share(found.p_zero)} say that there is no effect, "
        f"{share(found.p_identified)} identify it, {share(found.p_open)} leave it open."
    )
