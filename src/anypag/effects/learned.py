"""Adjusting for a set, by straight lines or a learner: numbers, groups, robustness, and draws over sampled graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from anypag.arrays import Flags, Floats, in_units
from anypag.data.levels import indicators
from anypag.data.table import Table
from anypag.effects.drawn_effect import DrawnEffect
from anypag.effects.estimate.draws import SEED, DrawnColumn
from anypag.effects.estimate.estimates import Along, Contrast, Estimate, EstimateModel, Level, Slope, number, shown
from anypag.effects.estimate.fitting import Sampling, columns_of, complete_rows, levels_of
from anypag.effects.estimate.learners import (
    LEAST_ROWS,
    MOST_CLIPPED,
    AdjustedRows,
    Learner,
    Scores,
    WithError,
    doubly_robust,
    partially_linear,
    straight,
)
from anypag.effects.estimate.linear import per_unit
from anypag.effects.estimate.sensitivity import Robustness, e_values, ratio_of_difference, robustness_value
from anypag.effects.identify.adjustment import Between, between, canonical, is_adjustment
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.question import nodes_of
from anypag.effects.sampled import SampledEffect
from anypag.errors import DataError, Option, ParameterError
from anypag.graphs.base import ancestry
from anypag.graphs.node_sets import NodeSet, members

MOST_SETS = 3
"""How many adjustment sets of sampled graphs are fitted, those of the most graphs."""
MOST_COMPARED = 20_000
"""Rows in which straight lines are compared with splines; of more rows this many are taken, spread evenly."""
FAR = 2.0
"""Standard errors from which on straight lines and a learner are said to differ."""
BANDS = 4
"""Into how many groups of equal size a number is divided to report an effect by group."""

ONE_PAIR = ("A learner takes one cause and one outcome, without conditions; say ", Option("by"), " for groups.")
NO_SET = ("A learner adjusts for a set of columns, and this effect has none: leave out ", Option("learner"), ".")
NOT_HIDDEN = (
    f"The option {Option('confounding')} is a correlation between 0 and 1, for draws of linear systems; tables of "
    "levels and learners have none."
)
FEW_ROWS = f"No interval: those of AIPW were seen to hold the truth from {LEAST_ROWS:,} rows on."


@dataclass(frozen=True)
class Adjustment:
    """An adjustment for one cause and one outcome, fitted to rows.

    `part`: the columns, without the `n_dropped` rows with gaps. `levels`: of a cause with two levels, the first and the
    other. `rows`: the columns as numbers below 1, such a cause as 0 and 1; slopes of these are to be multiplied by 2 to
    the power of `exponent`. `scores`: of straight lines or of a learner.
    """

    part: Table
    cause: str
    outcome: str
    levels: tuple[Level, Level] | None
    rows: AdjustedRows
    exponent: int
    scores: Scores
    n_dropped: int

    @classmethod
    def of(
        cls, causal: CausalGraph, way: Between, z: NodeSet, table: Table, learner: Learner | None, sampling: Sampling
    ) -> Self:
        """Fitted by a learner, or by straight lines if there is none."""
        part, n_dropped = columns_of(causal, table, way.x | way.y | z)
        (cause,), (outcome,) = causal.names(way.x), causal.names(way.y)
        (y, at_y), (x, at_x) = (in_units(_coded(part, name)) for name in (outcome, cause))
        found = levels_of(part, cause)
        levels = (found[0], found[1]) if len(found) == 2 else None
        if levels is not None:
            x, at_x = (x == x.max()).astype(np.float64), np.zeros_like(at_x)
        others = [_spread(part, name) for name in causal.names(z)]
        covariates = in_units(np.column_stack(others))[0] if others else np.empty((part.n, 0))
        clusters = None if sampling.clusters is None else sampling.clusters[complete_rows(table, part.names)]
        rows = AdjustedRows(y, x, covariates, clusters)
        fit = partially_linear if levels is None else doubly_robust
        scores = straight(rows) if learner is None else fit(rows, learner, seed=sampling.seed)
        return cls(part, cause, outcome, levels, rows, int(at_y) - int(at_x), scores, n_dropped)

    def number(self, scores: Scores | None = None, chosen: Flags | None = None) -> WithError:
        """The number in the units of the data."""
        found = (scores or self.scores).number(chosen)
        ends = np.full(2, self.exponent, np.int32)
        value, error = per_unit(np.array([[found.value, found.error]]), np.zeros(1, np.int32), ends)[0].tolist()
        return WithError(value, error, found.freedom)

    def estimate(self, level: float) -> Estimate:
        """The number of a learner with its interval, and that of straight lines where they differ."""
        found, line, untold = self.number(), self.number(straight(self.rows)), self.why_no_interval
        ends = (np.nan, np.nan) if untold else found.interval(level)
        apart = _are_apart(line, found, "the learner")
        notes = (gaps_told(self.n_dropped) if self.n_dropped else "", untold, apart)
        entry = self._entry(found.value, *ends)
        return Estimate(self._fit, (entry,), self.part.n, level, tuple(note for note in notes if note))

    def along(self, by: str, level: float) -> Estimate:
        """The number in the groups of a column that is adjusted for."""
        entries = []
        for where, chosen in _groups(self.part, by):
            found = self.number(chosen=chosen)
            ends = (np.nan, np.nan) if self.why_no_interval else found.interval(level)
            entries.append(Along(self._entry(found.value, *ends).label, where, found.value, *ends))
        return Estimate(self._fit, tuple(entries), self.part.n, level, ())

    def curve_told(self, seed: int) -> str:
        """That splines say something else than straight lines, where they do; else nothing."""
        if "continuous" not in self.part.kinds:
            return ""
        rows = self.rows.thinned(MOST_COMPARED)
        try:
            line, splines = self.number(straight(rows)), self.number(partially_linear(rows, seed=seed))
        except DataError:  # too few rows for folds
            return ""
        told = _are_apart(line, splines, "splines")
        return told and f'{told} Ask for them with learner="splines" (--learner splines on the command line).'

    def robustness(self, level: float) -> Robustness:
        """What would explain the number away."""
        freedom, found = len(self.rows.y) - self.rows.z.shape[1] - 2, self.scores.number()
        r2 = self.scores.partial_r2(freedom)
        values = (robustness_value(r2, freedom), robustness_value(r2, freedom, level))
        low, high = sorted(map(self._ratio, found.interval(level)))
        return Robustness(r2, *values, *e_values(self._ratio(found.value), low, high))

    def _ratio(self, step: float) -> float:
        """The risk ratio of an effect: of two risks where cause and outcome have two levels, else by its standardised
        mean difference.
        """
        y, x, low, high = self.rows.y, self.rows.x, self.rows.y.min(), self.rows.y.max()
        if self.levels is None or len(np.unique(y)) > 2:
            return ratio_of_difference(step * (1.0 if self.levels else float(x.std())) / float(y.std()))
        base = (y.mean() - step * x.mean() - low) / (high - low)
        risks = np.clip([base, base + step / (high - low)], 1e-6, 1.0)
        return float(risks[1] / risks[0])

    @property
    def column(self) -> DrawnColumn:
        """The cause as a column of draws."""
        return (
            DrawnColumn(self.cause) if self.levels is None else DrawnColumn(self.cause, self.levels[1], self.levels[0])
        )

    @property
    def _fit(self) -> EstimateModel:
        return "partially linear" if self.levels is None else "doubly robust"

    @property
    def why_no_interval(self) -> str:
        """Why AIPW tells no interval; empty where it does."""
        if self.scores.clipped > MOST_CLIPPED:
            return (
                f"No interval: for {self.scores.clipped:.0%} of the rows one level of {self.cause} is all but certain "
                "by what is adjusted for, so there is hardly anybody to compare them with (no overlap)."
            )
        return FEW_ROWS if self.levels is not None and self.part.n < LEAST_ROWS else ""

    def _entry(self, value: float, low: float, high: float) -> Slope | Contrast:
        if self.levels is None:
            return Slope(self.cause, self.outcome, value, low, high)
        return Contrast(self.cause, self.outcome, self.levels[1], self.levels[0], value, low, high)


def gaps_told(n_dropped: int) -> str:
    """That rows were left out."""
    return f"{n_dropped:,} rows with missing values were left out."


def _are_apart(line: WithError, other: WithError, what: str) -> str:
    """That straight lines give another number, where they do; else nothing."""
    if abs(line.value - other.value) <= FAR * other.error:
        return ""
    return (
        f"Relations are not straight: straight lines give {number(line.value)}, more than {FAR:g} standard errors away "
        f"from {what} with {number(other.value)} (standard error {number(other.error, 2)})."
    )


def _coded(part: Table, name: str) -> Floats:
    """(n,) a cause or an outcome as numbers."""
    place = part.names.index(name)
    column, labels = part.values[:, place], part.labels[place]
    n_levels = len(np.unique(column))
    if n_levels < 2:
        raise DataError(f"The column {name!r} has one value only, so it shows no effect.")
    if labels and n_levels > 2:
        raise DataError(f"A learner takes numbers and columns with two levels; {name!r} has {n_levels} labels.")
    return column


def _spread(part: Table, name: str) -> Floats:
    """(n, k) a column to adjust for: indicators of three or more levels."""
    place = part.names.index(name)
    column = part.values[:, place]
    is_number = part.kinds[place] == "continuous" or len(np.unique(column)) <= 2
    return column[:, None] if is_number else np.asarray(indicators(column), np.float64)


def _groups(part: Table, by: str) -> list[tuple[str, Flags]]:
    """The levels of a column, or bands of a number with as many rows each, in words; and their rows."""
    place = part.names.index(by)
    column, levels = part.values[:, place], levels_of(part, by)
    if part.kinds[place] == "discrete" or len(levels) <= BANDS:
        pairs = zip(levels, np.unique(column), strict=True)
        return [(f"{by} = {shown(level)}", column == value) for level, value in pairs]
    band = np.searchsorted(np.quantile(column, np.arange(1, BANDS) / BANDS), column)
    flags = [band == k for k in np.unique(band)]
    return [(f"{by} from {number(column[own].min())} to {number(column[own].max())}", own) for own in flags]


class Beside(NamedTuple):
    """The number of a learner, and what stands beside numbers: groups, robustness, what a reader must know."""

    numbers: Estimate | None = None
    along: Estimate | None = None
    robustness: Robustness | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adjusting:
    """How an adjustment is estimated: by straight lines or a learner, along a column, from which rows."""

    sampling: Sampling
    learner: Learner | None = None
    by: str | None = None

    @classmethod
    def of(cls, way: Between, sampling: Sampling, learner: Learner | None, by: str | None) -> Self:
        """As asked for; refused where a learner cannot."""
        chosen = "splines" if learner is None and by is not None else learner
        if chosen is not None and not _is_one_pair(way):
            raise ParameterError(*ONE_PAIR)
        return cls(sampling, chosen, by)

    def for_rows(self, chosen: Flags) -> Adjusting:
        """For some of the rows."""
        clusters = self.sampling.clusters
        return replace(self, sampling=replace(self.sampling, clusters=None if clusters is None else clusters[chosen]))

    def beside(self, causal: CausalGraph, way: Between, z: NodeSet | None, table: Table) -> Beside:
        """What comes of adjusting for Z; without a learner nothing where there is no single number."""
        if self.learner is not None:
            if z is None:
                raise ParameterError(*NO_SET)
            wider = z if self.by is None else _set_with(causal, way, z, self.by)
            fitted = self._fitted(causal, way, wider, table)
            level = self.sampling.level
            along = None if self.by is None else fitted.along(self.by, level)
            return Beside(fitted.estimate(level), along, fitted.robustness(level))
        if z is None or not _is_one_pair(way):
            return Beside()
        try:
            fitted = self._fitted(causal, way, z, table)
            curved = fitted.curve_told(self.sampling.seed)
            return Beside(robustness=fitted.robustness(self.sampling.level), notes=(curved,) if curved else ())
        except DataError:  # labels, or a column that the others determine
            return Beside()

    def beside_draws(self, sampled: SampledEffect, table: Table, within: NodeSet) -> Beside:
        """What comes of adjusting for the set of the largest class that allows an effect."""
        question = sampled.question
        counts = np.bincount(question.classes.of, minlength=len(question.verdicts))
        for k in np.argsort(-counts, kind="stable").tolist():
            causal, z = _set_of_class(sampled, k, within)
            if z is not None:
                return self.beside(causal, between(causal, question.x, question.y, question.given), z, table)
        return Beside()

    def drawn(self, sampled: SampledEffect, table: Table, within: NodeSet, confounding: float | None) -> SampledEffect:
        """Sampled graphs with draws: of linear systems or tables, or by a learner where there is one, or no such system
        stands for the graphs.
        """
        question = sampled.question
        learner = "splines" if sampled.is_curved and self.learner is None else self.learner
        is_linear = learner is None and not sampled.is_discrete
        if confounding is not None and not (is_linear and 0 < confounding < 1):
            raise ParameterError(NOT_HIDDEN)
        if learner is None:
            return sampled.drawn(table, clusters=self.sampling.clusters, confounding=confounding)
        if not _is_one_pair(question.verdicts[0].way):
            raise ParameterError(*ONE_PAIR)
        return replace(self, learner=learner)._drawn_by_learner(sampled, table, within)

    def _drawn_by_learner(self, sampled: SampledEffect, table: Table, within: NodeSet) -> SampledEffect:
        """For the three sets of the most graphs one fit each; for each graph a normal draw around the number of its
        set, and 0 where it has no directed path.
        """
        question, classes = sampled.question, sampled.question.classes
        sets = [_set_of_class(sampled, k, within)[1] for k in range(len(question.verdicts))]
        of_graph = [sets[k] for k in classes.of.tolist()]
        there = [z for z in dict.fromkeys(of_graph) if z is not None]
        chosen = sorted(there, key=of_graph.count, reverse=True)[:MOST_SETS]
        if not chosen:
            return sampled
        causal, way = classes.classes[0].causal, question.verdicts[0].way
        fits = {z: self._fitted(causal, way, z, table) for z in chosen}
        seed = self.sampling.seed
        plain = {
            z: partially_linear(fit.rows, self.learner or "splines", seed=seed)
            for z, fit in fits.items()
            if fit.why_no_interval
        }
        numbers = {z: fit.number(plain.get(z)) for z, fit in fits.items()}
        (x,), (y,), is_zero = members(way.x), members(way.y), question.graphs_of("zero")
        draws, if_causal = np.full((2, len(classes)), np.nan)
        for k, z in enumerate(of_graph):
            if z in numbers:
                random = np.random.default_rng([SEED, int(classes.place[k])])
                if_causal[k] = random.normal(numbers[z].value, numbers[z].error)
                draws[k] = if_causal[k] if ancestry(classes.diagrams[k])[x, y] else 0.0
        draws[is_zero] = 0.0
        first = fits[chosen[0]]
        line = DrawnEffect(first.column, DrawnColumn(first.outcome), draws, if_causal[~is_zero])
        notes = (f"{first.why_no_interval} The draws are partially linear.",) if plain else ()
        return replace(sampled.with_lines((line,), first.part.n), notes=notes)

    def _fitted(self, causal: CausalGraph, way: Between, z: NodeSet, table: Table) -> Adjustment:
        return Adjustment.of(causal, way, z, table, self.learner, self.sampling)


def _is_one_pair(way: Between) -> bool:
    return not (way.given or way.x & (way.x - 1) or way.y & (way.y - 1))


def _set_with(causal: CausalGraph, way: Between, z: NodeSet, by: str) -> NodeSet:
    """The set, with the column by which the effect is reported. Raises an error if the column may be an effect of the
    cause.
    """
    added = nodes_of(causal.pag, by, "column to tell the effect along")
    if added & (way.x | way.y) or not is_adjustment(causal, between(causal, way.x, way.y, added), z & ~added):
        raise ParameterError(
            f"The option {Option('by')} is a column that the cause cannot change; by the graph it may change {by}."
        )
    return z | added


def _set_of_class(sampled: SampledEffect, k: int, within: NodeSet) -> tuple[CausalGraph, NodeSet | None]:
    """The set that class k adjusts for, if need be in its member in which no arrow hides a common cause; with the graph
    in which it is one. No set where the class says that there is no effect.
    """
    question = sampled.question
    causal, z = question.classes.classes[k].causal, question.verdicts[k].z
    if question.said[k] != "open":
        return causal, z if question.said[k] == "identified" else None
    member = question.classes.trusted(k, question.x)
    if member is None:
        return causal, None
    return member, canonical(member, between(member, question.x, question.y, question.given), within)
