"""An adjustment for one cause and one outcome, fitted to rows by straight lines or a learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Self

import numpy as np

from anypag.arrays import Flags, Floats, in_units
from anypag.data.levels import indicators
from anypag.data.table import Table
from anypag.effects.estimate import learners
from anypag.effects.estimate.estimates import Estimate, EstimateModel, Level, MeanChange, levels_of, number, shown
from anypag.effects.estimate.fitting import Sampling, columns_of, complete_rows, rows_told
from anypag.effects.estimate.learners import AdjustedRows, Learner, Scores, WithError
from anypag.effects.estimate.linear import per_unit
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.errors import DataError
from anypag.graphs.marks import with_and
from anypag.graphs.node_sets import NodeSet
from anypag.graphs.text import quote

MOST_COMPARED = 20_000  # straight lines and splines are compared in at most this many rows, evenly spaced
FAR = 2.0  # if straight lines and a learner differ by more than this many standard errors, a note says so
LEAST_EACH = 5
"""The least number of rows per coefficient of the splines. With 5, up to 2% of tables with straight relations seem
curved, and standard errors are 1.3 times too small. With 1, 40% seem curved, and the errors are 3 times too small.
"""
BANDS = 4  # to report an effect by group, a column of numbers is divided into this many groups of equal size
RATIO_OF_DIFFERENCE = 0.91  # a standardised difference d is about a risk ratio of exp(0.91 d) (VanderWeele, Ding 2017)
FEW_ROWS = f"No doubly robust (AIPW) interval: in simulations reliable only from {learners.LEAST_ROWS:,} rows on."


@dataclass(frozen=True)
class Adjustment:
    """An adjustment for one cause and one outcome, fitted to rows by straight lines or a learner."""

    part: Table  # the columns, in complete rows
    cause: str
    outcome: str
    levels: tuple[Level, Level] | None  # the levels of a cause with two levels
    rows: AdjustedRows  # the columns, scaled by powers of 2 to numbers below 1; a cause with two levels as 0 and 1
    exponent: int  # a slope of the scaled columns, times 2**exponent, is in the units of the data
    scores: Scores
    n_dropped: int

    @classmethod
    def of(
        cls, causal: CausalGraph, way: Between, z: NodeSet, table: Table, learner: Learner | None, sampling: Sampling
    ) -> Self:
        """The adjustment, fitted by the learner, or by straight lines if `learner` is None."""
        part, n_dropped = columns_of(causal, table, way.x | way.y | z)
        (cause,), (outcome,) = causal.names(way.x), causal.names(way.y)
        (y, at_y), (x, at_x) = (in_units(_coded(part, name)) for name in (outcome, cause))
        found = levels_of(part, cause)
        levels = (found[0], found[1]) if len(found) == 2 else None
        if levels is not None:
            x, at_x = (x == x.max()).astype(np.float64), np.zeros_like(at_x)
        others = [_spread(part, name) for name in causal.names(z)]
        covariates = in_units(np.column_stack(others))[0] if others else np.empty((part.n, 0))
        rows = AdjustedRows(y, x, covariates, sampling.of_rows(complete_rows(table, part.names)).clusters)
        fit = learners.partially_linear if levels is None else learners.doubly_robust
        scores = learners.straight(rows) if learner is None else fit(rows, learner, seed=sampling.seed)
        return cls(part, cause, outcome, levels, rows, int(at_y) - int(at_x), scores, n_dropped)

    def number(self, scores: Scores | None = None, chosen: Flags | None = None) -> WithError:
        """The effect and its error, in the units of the data, from all rows or the `chosen` ones."""
        found = (scores or self.scores).number(chosen)
        ends = np.full(2, self.exponent, np.int32)
        value, error = per_unit(np.array([[found.value, found.error]]), np.zeros(1, np.int32), ends)[0].tolist()
        return WithError(value, error, found.freedom)

    def estimate(self, level: float) -> Estimate:
        """The estimate of a learner with its interval. If straight lines give another estimate, a note says so."""
        apart = _told_if_apart(self.number(learners.straight(self.rows)), self.number(), "the learner")
        notes = (*rows_told(self.part, self.n_dropped), *filter(None, (self.why_no_interval, apart)))
        return self._estimate([("", None)], level, notes)

    def along(self, by: str, level: float) -> Estimate:
        """The effect in each group of the column `by`, which is adjusted for."""
        return self._estimate(_groups(self.part, by), level)

    def _estimate(
        self, groups: Sequence[tuple[str, Flags | None]], level: float, notes: tuple[str, ...] = ()
    ) -> Estimate:
        (first, other), entries = self.levels or (None, None), list[MeanChange]()
        for where, chosen in groups:
            found = self.number(chosen=chosen)
            ends = (np.nan, np.nan) if self.why_no_interval else found.interval(level)
            entries.append(MeanChange(self.cause, self.outcome, found.value, *ends, other, first, where))
        fit: EstimateModel = "partially linear" if self.levels is None else "doubly robust"
        return Estimate(fit, tuple(entries), self.part.n, level, notes)

    def curve_told(self, seed: int) -> str:
        """A note if splines and straight lines differ; empty if they agree, or if they cannot be compared."""
        if "continuous" not in self.part.kinds:
            return ""
        rows = self.rows.thinned(MOST_COMPARED)
        if len(rows.y) < LEAST_EACH * learners.Splines().n_weights(rows.z):
            return ""
        try:
            line, splines = map(self.number, (learners.straight(rows), learners.partially_linear(rows, seed=seed)))
        except DataError:  # too few rows for folds
            return ""
        told = _told_if_apart(line, splines, "splines")
        return told and f'{told} For splines say learner="splines" (--learner splines on the command line).'

    def robustness(self, level: float) -> Robustness:
        freedom, found = len(self.rows.y) - self.rows.z.shape[1] - 2, self.scores.number()
        r2 = self.scores.partial_r2(freedom)
        values = (robustness_value(r2, freedom), robustness_value(r2, freedom, level))
        low, high = sorted(map(self._ratio, found.interval(level)))
        return Robustness(r2, *values, *e_values(self._ratio(found.value), low, high))

    def _ratio(self, step: float) -> float:
        """The risk ratio: of two risks if cause and outcome have two levels, else derived from the mean difference."""
        y, x, low, high = self.rows.y, self.rows.x, self.rows.y.min(), self.rows.y.max()
        if self.levels is None or len(np.unique(y)) > 2:
            return exp(RATIO_OF_DIFFERENCE * (step * (1.0 if self.levels else float(x.std())) / float(y.std())))
        base = (y.mean() - step * x.mean() - low) / (high - low)
        risks = np.clip([base, base + step / (high - low)], 1e-6, 1.0)
        return float(risks[1] / risks[0])

    @property
    def why_no_interval(self) -> str:
        """Why AIPW gives no interval; empty if it gives one."""
        if self.scores.clipped > learners.MOST_CLIPPED:
            return (
                f"No doubly robust (AIPW) interval: for {self.scores.clipped:.0%} of rows one level of {self.cause} is "
                "almost certain given the columns adjusted for, so hardly any such row has the other one (no overlap)."
            )
        return FEW_ROWS if self.levels is not None and self.part.n < learners.LEAST_ROWS else ""


def _told_if_apart(line: WithError, other: WithError, what: str) -> str:
    """The note that straight lines give a different number; empty if they do not."""
    if abs(line.value - other.value) <= FAR * other.error:
        return ""
    return (
        f"Relations are not straight: straight lines give {number(line.value)} and {what} {number(other.value)}, more "
        f"than {FAR:g} standard errors apart (standard error {number(other.error, 2)})."
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
    """(n, k) a column to adjust for; a column with three or more levels becomes indicators."""
    place = part.names.index(name)
    column = part.values[:, place]
    is_number = part.kinds[place] == "continuous" or len(np.unique(column)) <= 2
    return column[:, None] if is_number else np.asarray(indicators(column), np.float64)


def _groups(part: Table, by: str) -> list[tuple[str, Flags]]:
    """Groups of rows, in words and as (n,) flags: one for each level, or bands with about equally many rows."""
    place = part.names.index(by)
    column, levels = part.values[:, place], levels_of(part, by)
    if part.kinds[place] == "discrete" or len(levels) <= BANDS:
        pairs = zip(levels, np.unique(column), strict=True)
        return [(f"{by} = {shown(level)}", column == value) for level, value in pairs]
    band = np.searchsorted(np.quantile(column, np.arange(1, BANDS) / BANDS), column)
    flags = [band == k for k in np.unique(band)]
    return [(f"{by} from {number(column[own].min())} to {number(column[own].max())}", own) for own in flags]


@dataclass(frozen=True)
class Robustness:
    """How strong a hidden cause of both cause and outcome must be to make an estimate 0.

    Adjusting leaves variance in cause and outcome. A hidden cause that explains the share `value` of each of the two
    variances can make the estimate 0; with smaller shares it cannot (robustness value, Cinelli and Hazlett 2020).
    `e_value` is the risk ratio that the hidden cause must have with cause and with outcome (VanderWeele and Ding 2017).
    It follows from the risks at both levels if cause and outcome have two levels each, else from the standardised mean
    difference (per standard deviation of a numeric cause).
    """

    partial_r2: float  # the share of the remaining variance of the outcome that the cause explains
    value: float
    value_of_interval: float  # the least such share with which the interval contains 0
    e_value: float
    e_value_of_interval: float  # the least such ratio with which the interval holds "no effect"; 1 if it already does
    adjusting_for: tuple[str, ...] | None = None  # with sampled graphs: the set adjusted for

    def __str__(self) -> str:
        begin = "To"
        if self.adjusting_for is not None:
            z = with_and(tuple(map(quote, self.adjusting_for))) or "nothing"
            begin = f"In the most frequent class of graphs with an effect, adjusting for {z}: to"
        return (
            f"{begin} make the estimate 0, a hidden cause must explain {self.value:.1%} of the variance that adjusting "
            f"leaves in both cause and outcome ({self.value_of_interval:.1%} for the interval to hold 0); E-value "
            f"{self.e_value:.2f} ({self.e_value_of_interval:.2f} for the interval)."
        )


def robustness_value(partial_r2: float, freedom: float, level: float | None = None) -> float:
    """The share of the remaining variance of cause and outcome that a hidden cause must explain to make an estimate 0,
    or, with a `level`, to make its interval contain 0. The example is a study of Darfur in Cinelli and Hazlett (2020).

    >>> r2 = 4.184**2 / (4.184**2 + 783)
    >>> round(r2, 3), round(robustness_value(r2, 783), 3), round(robustness_value(r2, 783, 0.95), 3)
    (0.022, 0.139, 0.076)
    """
    from scipy.special import stdtrit  # quantiles of Student's t; scipy.stats takes 0.25 s to load

    if partial_r2 >= 1:
        return 1.0
    whole = sqrt(partial_r2 / (1 - partial_r2))
    spent = 0.0 if level is None else float(stdtrit(max(freedom - 1, 1), (1 + level) / 2)) / sqrt(max(freedom - 1, 1))
    left = whole - spent
    if left <= 0:
        return 0.0
    if spent > 0 and whole > 1 / spent:
        return (whole**2 - spent**2) / (1 + whole**2)
    return (sqrt(left**4 + 4 * left**2) - left**2) / 2


def e_value(ratio: float) -> float:
    """The E-value of a risk ratio.

    >>> round(e_value(3.9), 2), round(e_value(1 / 3.9), 2), e_value(1.0)
    (7.26, 7.26, 1.0)
    """
    larger = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    return larger + sqrt(larger * (larger - 1))


def e_values(ratio: float, low: float, high: float) -> tuple[float, float]:
    """The E-values of a risk ratio and of the value in its interval that is nearest to 1."""
    nearer = 1.0 if low <= 1 <= high else low if low > 1 else high
    return e_value(ratio), e_value(nearer)
