"""An effect by sampled graphs: shares of classes, and draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.data.table import Table
from anypag.effects.drawn_effect import DrawnEffect
from anypag.effects.estimate.draws import LinearColumns
from anypag.effects.estimate.estimates import number
from anypag.effects.estimate.tables import LevelTable
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.sampled_classes import SampledClasses
from anypag.effects.identify.verdict import Verdict
from anypag.effects.sampled_question import AllDraws, Question
from anypag.graphs.marks import listed
from anypag.graphs.node_sets import NodeSet
from anypag.graphs.text import quote

MOST_GROUPS = 3  # how many groups of classes are listed


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


def groups_of(
    classes: SampledClasses, verdicts: list[Verdict], draws: Floats | None, same: Collection[str] = ()
) -> tuple[ClassGroup, ...]:
    """The largest groups of classes that say the same; sets leave out columns that are the `same` in all rows."""
    keys = list[tuple[str, tuple[str, ...] | None]]()
    for verdict, of in zip(verdicts, classes.classes, strict=True):
        names = None if verdict.z is None else of.causal.names(verdict.z)
        keys.append((verdict.status, names and tuple(name for name in names if name not in same)))
    counted = Counter(keys[k] for k in classes.of[classes.counts].tolist())
    found = []
    for key, count in counted.most_common(MOST_GROUPS):
        within = np.array([other == key for other in keys])[classes.of]
        known = None if draws is None else draws[within & np.isfinite(draws)]
        mean = None if known is None or not len(known) else float(known.mean())
        found.append(ClassGroup(count / counted.total(), key[0], key[1], mean))
    return tuple(found)


def share(of_graphs: float) -> str:
    """A share in per cent; one that is not 0 or 1 is not rounded to it.

    >>> share(0.0), share(0.005), share(0.14), share(0.998)
    ('0%', '<1%', '14%', '>99%')
    """
    rounded = f"{of_graphs:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(rounded, rounded) if 0 < of_graphs < 1 else rounded


SURE_OF_NONE = 0.95
"""If at least this share of classes has no effect, at both prices of an edge, the answer is "no effect"."""
MOSTLY_OPEN = 0.5  # if at least this share of classes leaves the effect open, it is not identified


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
        """The status by shares of classes. It is "zero" only if graphs sampled at both prices of an edge say so."""
        at_less = self.question.zero_at_less
        if self.p_zero >= SURE_OF_NONE and (at_less is None or at_less >= SURE_OF_NONE):
            return "zero"
        return "unidentified" if self.p_open >= MOSTLY_OPEN or not self.p_identified else "identified"

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
        """With draws from linear systems, or from tables of levels.

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
            return replace(self.with_lines(lines, levels.n), notes=tuple(_missing_told(lines, self.question.given)))
        of_all = ready if isinstance(ready, AllDraws) else None
        rows = LinearColumns.of(table, clusters) if of_all is None else of_all.rows
        lines = tuple(self.question.lines(rows, of_all, confounding))
        found = self.with_lines(lines, rows.n)
        return replace(found, confounding=confounding, notes=tuple(_notes(lines, self.question.given, table)))

    def with_lines(self, lines: tuple[DrawnEffect, ...], n_rows: int) -> SampledEffect:
        """With numbers, and their means in each group of classes."""
        return replace(self, lines=lines, rows=n_rows).grouped()

    def grouped(self, same: Collection[str] = ()) -> SampledEffect:
        """With groups of classes whose sets leave out columns that are the `same` in all rows."""
        draws = self.lines[0].draws if len(self.lines) == 1 else None
        return replace(self, by_class=groups_of(self.question.classes, self.question.verdicts, draws, same))

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
    question = Question(classes, x, y, given, classes.verdicts(x, y, given, within))
    return SampledEffect(
        int(classes.counts.sum()),
        question.share("zero"),
        question.share("identified"),
        question.share("open"),
        groups_of(classes, question.verdicts, None),
        is_discrete=is_discrete,
        is_curved=is_curved,
        question=question,
    )


def _missing_told(lines: tuple[DrawnEffect, ...], given: NodeSet) -> list[str]:
    """How many of the draws behind the numbers that are shown are missing, and why that is if there are conditions."""
    shown = [(line.if_causal_draws, "sampled graphs that allow an effect") for line in lines]
    shown += [(lines[0].draws, "sampled graphs")] if len(lines) == 1 else []
    missing, n, of = max((int(np.isnan(draws).sum()), len(draws), of) for draws, of in shown)
    why = " A graph gives none if a condition comes after a cause in it." if given else ""
    return [f"Of {n:,} {of} {missing:,} gave no number and were left out.{why}"] if missing else []


def _notes(lines: tuple[DrawnEffect, ...], given: NodeSet, table: Table) -> list[str]:
    columns = zip(table.names, table.kinds, table.values.T, strict=True)
    two = [quote(name) for name, kind, column in columns if kind == "discrete" and len(np.unique(column)) == 2]
    as_numbers = [f"Columns with two levels are taken as numbers, 0 and 1: {listed(tuple(two))}."] if two else []
    return [*_missing_told(lines, given), *as_numbers]
