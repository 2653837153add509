"""Adjusting for a set, by straight lines or a learner: numbers, groups, robustness, and draws over sampled graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anypag.data.table import Table
from anypag.effects.estimate.draws import SEED, DrawnColumn
from anypag.effects.estimate.estimates import NOT_WEIGHTED, Estimate, Model
from anypag.effects.estimate.fitted_adjustment import Adjustment, Robustness
from anypag.effects.estimate.fitting import Sampling
from anypag.effects.estimate.learners import Learner, partially_linear
from anypag.effects.identify.adjustment import Between, between, canonical, is_adjustment
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.question import nodes_of
from anypag.effects.sampled_effect import SampledEffect
from anypag.effects.sampled_question import DrawnEffect
from anypag.errors import DataError, Option, ParameterError
from anypag.graphs.base import ancestry
from anypag.graphs.node_sets import NodeSet, members

MOST_SETS = 3  # at most this many adjustment sets are fitted: the most frequent in sampled graphs
ONE_PAIR = ("A learner takes one cause and one outcome, without conditions; say ", Option("by"), " for groups.")
NO_SET = ("A learner needs an adjustment set, and this effect has none: leave out ", Option("learner"), ".")


class Beside(NamedTuple):
    """The estimate of a learner (`numbers`), and additions: the effect in groups (`along`), robustness, and notes."""

    numbers: Estimate | None = None
    along: Estimate | None = None
    robustness: Robustness | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adjusting:
    """How to estimate an effect: the resampling, a learner, a column that makes groups (`by`), the model."""

    sampling: Sampling
    learner: Learner | None = None
    by: str | None = None
    model: Model | None = None
    confounding: float | None = None

    def beside(self, causal: CausalGraph, way: Between, z: NodeSet | None, table: Table) -> Beside:
        """A learner's estimate that adjusts for Z, and additions. Without a learner: additions, if `is_one_pair`."""
        if self.learner is not None:
            if z is None:
                raise ParameterError(*NO_SET)
            wider = z if self.by is None else _set_with(causal, way, z, self.by)
            fitted, level = self._fitted(causal, way, wider, table), self.sampling.level
            along = None if self.by is None else fitted.along(self.by, level)
            return Beside(fitted.estimate(level), along, fitted.robustness(level))
        if z is None or table.weights is not None or not is_one_pair(way):
            return Beside()
        try:
            fitted = self._fitted(causal, way, z, table)
            curved = fitted.curve_told(self.sampling.seed)
            return Beside(robustness=fitted.robustness(self.sampling.level), notes=(curved,) if curved else ())
        except DataError:  # labels, or a column that the others determine
            return Beside()

    def beside_draws(self, sampled: SampledEffect, table: Table, within: NodeSet) -> Beside:
        """The additions to draws, by adjusting for the set of the largest class that allows an effect and has a set.
        Graphs sampled with a lower penalty per edge count only if no other graph has such a class.
        """
        question, of, n = sampled.question, sampled.question.classes.of, len(sampled.question.verdicts)
        every, counts = (np.bincount(some, minlength=n) for some in (of, of[question.classes.counts]))
        for k in np.lexsort((-every, -counts)).tolist():
            causal, z = _set_of_class(sampled, k, within)
            if z is not None:
                found = self.beside(causal, between(causal, question.x, question.y, question.given), z, table)
                strength = found.robustness and replace(found.robustness, adjusting_for=causal.names(z))
                return found._replace(robustness=strength)
        return Beside()

    def drawn(self, sampled: SampledEffect, table: Table, within: NodeSet) -> SampledEffect:
        """The effect with draws from linear systems, tables or a learner (splines for graphs scored with curves)."""
        learner = "splines" if sampled.is_curved and self.learner is None else self.learner
        is_linear = learner is None and not sampled.is_discrete
        if self.confounding is not None and not (is_linear and 0 < self.confounding < 1):
            raise ParameterError(
                f"The option {Option('confounding')} is a correlation between 0 and 1. It goes with draws of linear "
                "systems, not with tables of levels or a learner."
            )
        if learner is None:
            return sampled.drawn(table, clusters=self.sampling.clusters, confounding=self.confounding)
        if not is_one_pair(sampled.question.verdicts[0].way):
            raise ParameterError(*ONE_PAIR)
        return self._by_learner(sampled, table, within, learner)

    def _by_learner(self, sampled: SampledEffect, table: Table, within: NodeSet, learner: Learner) -> SampledEffect:
        """The effect with draws: 0 for a graph without a directed path, else normal around its class's estimate."""
        question, classes, seed = sampled.question, sampled.question.classes, self.sampling.seed
        sets = [_set_of_class(sampled, k, within)[1] for k in range(len(question.verdicts))]
        of_graph = [sets[k] for k in classes.of.tolist()]
        there = [z for z in dict.fromkeys(of_graph) if z is not None]
        chosen = sorted(there, key=of_graph.count, reverse=True)[:MOST_SETS]
        if not chosen:
            return sampled
        causal, way = classes.classes[0].causal, question.verdicts[0].way
        fits = {z: replace(self, learner=learner)._fitted(causal, way, z, table) for z in chosen}
        unsure = [z for z, fit in fits.items() if fit.why_no_interval]
        plain = {z: partially_linear(fits[z].rows, learner, seed=seed) for z in unsure}
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
        unset, setting = first.levels or (None, None)
        cause = DrawnColumn(first.cause, setting, against=unset)
        line = DrawnEffect(cause, DrawnColumn(first.outcome), draws, if_causal[~is_zero])
        notes = [f"{fits[z].why_no_interval} So draws come from the partially linear estimate." for z in unsure[:1]]
        return replace(sampled.with_lines((line,), first.part.n), notes=tuple(notes))

    def _fitted(self, causal: CausalGraph, way: Between, z: NodeSet, table: Table) -> Adjustment:
        if table.weights is not None:
            raise ParameterError(NOT_WEIGHTED)
        return Adjustment.of(causal, way, z, table, self.learner, self.sampling)


def is_one_pair(way: Between) -> bool:
    """Is the question about one cause and one outcome, without conditions?"""
    return not (way.given or way.x & (way.x - 1) or way.y & (way.y - 1))


def _set_with(causal: CausalGraph, way: Between, z: NodeSet, by: str) -> NodeSet:
    """Z and the column `by`, which makes groups. Raises an error if adjusting for both gives a wrong effect."""
    added = nodes_of(causal.pag, by, "column to group by")
    if added & (way.x | way.y) or not is_adjustment(causal, between(causal, way.x, way.y, added), z & ~added):
        raise ParameterError(
            f"The option {Option('by')} also adjusts for its column; the graph forbids this for {by}. Name another."
        )
    return z | added


def _set_of_class(sampled: SampledEffect, k: int, within: NodeSet) -> tuple[CausalGraph, NodeSet | None]:
    """The graph of class k and its adjustment set; for an open class, those of a member whose arrows hide no cause."""
    question = sampled.question
    causal, z = question.classes.classes[k].causal, question.verdicts[k].z
    if question.said[k] != "open":
        return causal, z if question.said[k] == "identified" else None
    member = question.classes.trusted(k, question.x)
    if member is None:
        return causal, None
    return member, canonical(member, between(member, question.x, question.y, question.given), within)
