"""A question to sampled graphs: the verdict of each class, groups of classes, draws by graph, and their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.data.table import Table
from anypag.effects.estimate.draws import DrawnColumn, Hidden, LinearColumns
from anypag.effects.estimate.estimates import number
from anypag.effects.estimate.tables import LevelTable
from anypag.effects.identify.sampled_classes import SampledClasses
from anypag.effects.identify.verdict import Verdict
from anypag.graphs.base import ancestry
from anypag.graphs.marks import with_and
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.text import quote

Said = Literal["zero", "identified", "open"]
IN_WORDS = {"zero": "no effect", "formula": "identified, by a formula", "unidentified": "left open"}
MOST_GROUPS = 3  # how many groups of classes are listed
LEAST_DRAWS = 20  # fewer draws give no interval, because the ends of a 95 % interval would be single draws


class ClassGroup(NamedTuple):
    """All sampled classes that have a certain verdict and adjustment set for an effect."""

    share: float  # of the sampled graphs, without those sampled with a lower penalty per edge
    verdict: str
    adjustment_set: tuple[str, ...] | None
    mean: float | None = None  # with data, the mean draw of these graphs

    def __str__(self) -> str:
        z = "" if self.adjustment_set is None else with_and(tuple(map(quote, self.adjustment_set))) or "nothing"
        words = f"identified, adjusting for {z}" if z else IN_WORDS[self.verdict]
        mean = "" if self.mean is None or self.verdict == "zero" else f", mean {number(self.mean)}"
        return f"{share(self.share)} of the graphs: {words}{mean}"


def share(of_graphs: float) -> str:
    """A share in per cent. Shares between 0 and 1 are never shown as 0% or 100%.

    >>> share(0.0), share(0.005), share(0.14), share(0.998)
    ('0%', '<1%', '14%', '>99%')
    """
    rounded = f"{of_graphs:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(rounded, rounded) if 0 < of_graphs < 1 else rounded


@dataclass(frozen=True, eq=False)
class Question:
    """A question about an effect, and the verdict of each class."""

    classes: SampledClasses
    x: NodeSet
    y: NodeSet
    given: NodeSet
    within: NodeSet

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return self.classes.verdicts(self.x, self.y, self.given, self.within)

    @cached_property
    def said(self) -> list[Said]:
        words: dict[str, Said] = {"zero": "zero", "unidentified": "open"}
        return [words.get(verdict.status, "identified") for verdict in self.verdicts]

    def share(self, word: Said) -> float:
        """The share of graphs whose class has the status `word`; without graphs of the lower penalty per edge."""
        return float(self.graphs_of(word)[self.classes.counts].mean())

    @property
    def zero_at_lower_price(self) -> float | None:
        """The share of "zero" among the graphs sampled with a lower penalty per edge; None without such graphs."""
        at_lower = ~self.classes.counts
        return float(self.graphs_of("zero")[at_lower].mean()) if at_lower.any() else None

    def graphs_of(self, word: Said) -> Flags:
        """(m,) True for graphs whose class has the status `word`."""
        return np.array([said == word for said in self.said])[self.classes.of]

    def groups(self, draws: Floats | None = None, same: Collection[str] = ()) -> tuple[ClassGroup, ...]:
        """The largest groups of classes with one verdict and set. Constant columns (`same`) are left out of sets."""
        classes, keys = self.classes, list[tuple[str, tuple[str, ...] | None]]()
        for verdict, of in zip(self.verdicts, classes.classes, strict=True):
            names = None if verdict.z is None else of.causal.names(verdict.z)
            keys.append((verdict.status, names and tuple(name for name in names if name not in same)))
        counted, found = Counter(keys[k] for k in classes.of[classes.counts].tolist()), list[ClassGroup]()
        for (status, z), count in counted.most_common(MOST_GROUPS):
            within = np.array([other == (status, z) for other in keys])[classes.of]
            known = np.zeros(0) if draws is None else draws[within & np.isfinite(draws)]
            found.append(ClassGroup(count / counted.total(), status, z, float(known.mean()) if len(known) else None))
        return tuple(found)

    def lines(
        self, rows: LinearColumns, of_all: AllDraws | None = None, confounding: float | None = None
    ) -> list[DrawnEffect]:
        """Draws for every cause and outcome. `of_all`: draws of the effect of each column on each other, to reuse."""
        causes, outcomes, together = rows.places(self.x), rows.places(self.y), bool(self.x & (self.x - 1))
        draw = partial(rows.drawn, x=causes, y=outcomes, together=together)
        drawn, causal = self._taken(of_all, causes, outcomes) if of_all and not together else self._drawn(draw)
        moved = None
        if confounding is not None:  # common causes behind all arrows that may hide one
            arrows = np.stack([self.classes.open_arrows(k) for k in self.classes.of.tolist()])
            moved = self._drawn(draw, Hidden(confounding, arrows))[1]
        return [
            DrawnEffect(rows.columns[cause], rows.columns[outcome], drawn[:, i, j].copy(), causal[:, i, j].copy(), hide)
            for (i, cause), (j, outcome) in product(enumerate(causes), enumerate(outcomes))
            for hide in [None if moved is None else moved[:, i, j].copy()]
        ]

    def _drawn(self, draw: Callable[..., Floats], hidden: Hidden | None = None) -> tuple[Floats, Floats]:
        """Draws of all graphs, and of those whose class allows an effect. In the second, a graph of an open class
        (one that leaves the effect open) is replaced by the member of the class that `members_if_causal` returns.
        """
        classes = self.classes
        drawn, causal, is_open = self._known(draw(classes.diagrams, classes.place, hidden=hidden))
        at, diagrams = classes.members_if_causal(self.x, is_open)
        hide = None if hidden is None else hidden._replace(arrows=hidden.arrows[at])
        causal[at] = draw(diagrams, classes.place[at], hidden=hide)
        return drawn, causal[~self.graphs_of("zero")]

    def _taken(self, of_all: AllDraws, causes: Counts, outcomes: Counts) -> tuple[Floats, Floats]:
        """The two arrays that `_drawn` returns, taken from existing draws of the effects between all columns."""
        drawn, causal, is_open = self._known(of_all.draws[:, causes][:, :, outcomes])
        causal[is_open] = of_all.if_causal(self.classes, self.x, is_open)[:, :, outcomes]
        return drawn, causal[~self.graphs_of("zero")]

    def lines_of_levels(self, rows: LevelTable) -> list[DrawnEffect]:
        """Risk differences drawn in each group of conditions, for all levels of cause and outcome except the first."""
        causes, given = (tuple(members(part)) for part in (self.x, self.given))
        return [
            DrawnEffect(cause, outcome, drawn[:, i, j].copy(), causal[:, i, j].copy(), group=group)
            for y, (group, own) in product(members(self.y), rows.groups(given))
            for drawn, causal in [self._of_levels(rows, causes, y, own)]
            for (i, cause), (j, outcome) in product(enumerate(rows.columns(causes)), enumerate(rows.columns((y,))))
        ]

    def _of_levels(self, rows: LevelTable, causes: tuple[int, ...], y: int, own: Flags | None) -> tuple[Floats, Floats]:
        """Draws of all graphs, and of those whose class allows an effect."""
        classes = self.classes
        drawn, causal, is_open = self._known(rows.drawn(classes.diagrams, classes.place, causes, y, own))
        at = np.unique(classes.of[is_open]).tolist()
        sets = {c: classes.set_if_causal(c, self.x, 1 << y, self.given) for c in at}
        causal[is_open] = np.nan
        for k, z in ((k, sets[int(classes.of[k])]) for k in is_open.tolist()):
            if z is not None:
                steps = [(tuple(members(z)) if x == causes[0] else (), x) for x in causes]
                causal[k] = rows.adjusted(steps, causes, y, int(classes.place[k]), rows=own)
        return drawn, causal[~self.graphs_of("zero")]

    def _known(self, drawn: Floats) -> tuple[Floats, Floats, Counts]:
        """Draws (NaN if a cause affects a condition in the graph), a copy, and which graphs are of open classes."""
        x, z = (list(members(part)) for part in (self.x, self.given))
        if z:
            drawn[[bool(ancestry(marks)[np.ix_(x, z)].any()) for marks in self.classes.diagrams]] = np.nan
        return drawn, drawn.copy(), np.flatnonzero(self.graphs_of("open"))


class AllDraws(NamedTuple):
    """The effects between all columns of a table, one draw for each sampled graph."""

    rows: LinearColumns
    draws: Floats  # (m, c, c) by graph, cause and outcome
    of_members: dict[NodeSet, tuple[Flags, Floats]]  # for a set of causes: (m,) is the graph done?, and draws

    @classmethod
    def of(cls, classes: SampledClasses, table: Table) -> Self:
        """The effects between all columns of a table, with an empty cache of members."""
        rows = LinearColumns.of(table)
        everyone = np.arange(len(rows.columns))
        return cls(rows, rows.drawn(classes.diagrams, classes.place, everyone, everyone), {})

    def if_causal(self, classes: SampledClasses, x: NodeSet, at: Counts) -> Floats:
        """(k, columns of x, c) draws for the k graphs `at`: by a member of the graph's class whose arrows hide no
        common cause, or by the graph itself if its class has no such member.
        """
        causes, everyone = self.rows.places(x), np.arange(len(self.rows.columns))
        if x not in self.of_members:
            self.of_members[x] = np.zeros(len(classes), np.bool_), self.draws[:, causes].copy()
        is_done, found = self.of_members[x]
        new = at[~is_done[at]]
        places, diagrams = classes.members_if_causal(x, new)
        found[places] = self.rows.drawn(diagrams, classes.place[places], causes, everyone)
        is_done[new] = True
        return np.asarray(found[at])


Shared = AllDraws | LevelTable  # computed once for many questions about the same rows


class Span(NamedTuple):
    """The median of draws, and the ends of the range that holds 95 % of them."""

    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: Floats) -> Self | None:
        """The median and interval of some draws; None if too few of them are finite."""
        known = draws[np.isfinite(draws)]
        if len(known) < LEAST_DRAWS:
            return None
        low, middle, high = np.quantile(known, (0.025, 0.5, 0.975)).tolist()
        return cls(middle, low, high)

    def __str__(self) -> str:
        return f"{number(self.estimate)} ({number(self.low)} to {number(self.high)})"


@dataclass(frozen=True, eq=False)
class DrawnEffect:
    """Draws of one number: how much an outcome changes with a cause."""

    cause: DrawnColumn  # the column that is set: a variable, or one level of it in place of the first
    outcome: DrawnColumn  # the column whose change is measured: a variable, or one level of it
    draws: Floats = field(repr=False)  # (m,) one for each sampled graph, zeros included; NaN if a graph gives none
    if_causal_draws: Floats = field(repr=False)  # of graphs whose class allows an effect, if no arrow hides a cause
    hidden_draws: Floats | None = field(default=None, repr=False)  # of the same graphs, if arrows hide causes
    group: str = ""  # in tables, the levels of the conditions, in words

    @property
    def label(self) -> str:
        what = self.outcome.as_outcome if self.outcome.level is None else f"change of {self.outcome.as_outcome}"
        return f"{what} {self.cause.as_cause}{self.group and f', given {self.group}'}"

    @cached_property
    def span(self) -> Span | None:
        """Median and interval of the draws, zeros included."""
        return Span.of(self.draws)

    @cached_property
    def if_causal(self) -> Span | None:
        """Median and interval over the graphs whose class allows an effect; None if there are too few of them."""
        return Span.of(self.if_causal_draws)

    @cached_property
    def if_hidden(self) -> Span | None:
        """Median and interval over the graphs whose class allows an effect, if arrows hide common causes."""
        return None if self.hidden_draws is None else Span.of(self.hidden_draws)

    @property
    def value(self) -> float:
        """The median of the draws; NaN if there are too few. The name is that of `MeanChange.value`."""
        return float("nan") if self.span is None else self.span.estimate

    @property
    def given_effect(self) -> tuple[float, float] | None:
        """The interval of the draws that are not 0."""
        span = Span.of(self.draws[self.draws != 0])
        return None if span is None else (span.low, span.high)

    @property
    def p_positive(self) -> float:
        return float((self._known > 0).mean()) if len(self._known) else float("nan")

    @property
    def mean(self) -> float:
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
