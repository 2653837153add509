"""The numbers of an effect: the choice of rows, model, formula and adjustment set, and notes about the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from anypag.data.files.scan import Reading
from anypag.data.sources.data_sets import DataSets, in_sets
from anypag.data.sources.pooled import Pooled, comparable
from anypag.data.table import Kind, Table, clusters_in
from anypag.effects.estimate.estimates import Estimate, Model, Probability
from anypag.effects.estimate.fitting import Sampling, chosen_model, columns_of, complete_rows, estimated, rows_told
from anypag.effects.estimate.ranges import possible_effects
from anypag.effects.identify.adjustment import is_adjustment, smallest
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import Expression, P, mentioned
from anypag.effects.identify.verdict import Verdict, adjustment_formula
from anypag.effects.learned import Adjusting, Beside
from anypag.effects.question import AFewNodes, nodes_of
from anypag.effects.sampled_effect import SampledEffect
from anypag.errors import DataError, ParameterError, listed
from anypag.graphs.node_sets import NodeSet

if TYPE_CHECKING:
    from anypag.effects.answer import Effect

MOST_MEMBERS = 200  # a range is computed from at most this many members of a class; a larger class is sampled
BY_GRAPH = (
    "The graph alone says that there is no effect, whatever the rows show: one wrong arrowhead or missing edge is "
    "enough to deny a real effect."
)
HOW_OFTEN_FALSE = (  # the numbers of `docs/effects.md`, by `benchmarks/intervals.py`
    "Such answers are often false. In simulations with a real effect, 92 of 150 answers from 500 rows denied it, and "
    "32 of 145 from 32,000 rows."
)
ASK_OTHERS = (
    'Sampled graphs (method="auto") say how probable "no effect" is. Resamples (bootstrap) show how answers vary with '
    "the rows drawn, but not errors that every resample repeats: a test that does not fit the columns, a wrong "
    "assumption, rows that are not independent."
)
ZERO_NOTES = (BY_GRAPH, HOW_OFTEN_FALSE, ASK_OTHERS)
SAME_ROWS = (
    "The interval is too narrow if the graph was learned from the same rows: a search keeps edges that look strong in "
    'them. Draws over sampled graphs (method="auto"; --method auto on the command line) account for this.'
)
OWN_SET = "The numbers adjust for {set}, as you asked."
IN_OBSERVED_SET = "This is the effect in the set {set!r}: the numbers come from its {n:,} rows."
ACROSS_SETS = "This compares the sets {sets}: the numbers come from their {n:,} rows."
UNVARIED = "Contexts with a single value in these rows, {names}, are in the formula but not in the estimate."
ONE_SET = "The effect of {name!r} compares data sets: give the rows of all of them, not of the observed one alone."
NO_GROUP = "{name!r} is a context: it has one value in each data set, so it cannot make groups of rows."


class RowsUsed(NamedTuple):
    """The rows that the numbers of an answer come from."""

    table: Table
    cluster: Any = None
    told: tuple[str, ...] = ()  # notes about the choice of rows
    same: tuple[str, ...] = ()  # contexts (columns that tell data sets apart) that have one value in these rows


@dataclass(frozen=True, eq=False)
class EffectBasis:
    """What an answer rests on: a graph, its verdict and, after a search, how the file was read, and the data sets."""

    causal: CausalGraph
    verdict: Verdict
    within: NodeSet  # the columns that may be adjusted for
    kinds: Mapping[str, str]  # the kinds of the columns in the search
    is_given: bool  # is the graph a DAG? A DAG comes from the user, never from a search of the same rows
    reading: Reading | None
    sets: DataSets | None

    def rows(self, data: Any, cluster: Any = None, by: str | None = None) -> RowsUsed:
        """The rows that numbers come from. Columns have the kinds of the search; columns of text are discrete."""
        more = [cluster] if isinstance(cluster, str) else []
        found = in_sets(data, self.reading, self.causal.pag.names, self.sets, more)
        used = self._rows_of_sets(found, cluster, by) if isinstance(found, Pooled) else RowsUsed(found, cluster)
        table, said = used.table, dict[str, Kind]()
        for name, kind, labels in zip(table.names, table.kinds, table.labels, strict=True):
            are_levels = labels is not None or self.kinds.get(name, kind) == "discrete"
            said[name] = "discrete" if are_levels else "continuous"
        return used._replace(table=table.with_kinds(said))

    def _rows_of_sets(self, pool: Pooled, cluster: Any, by: str | None) -> RowsUsed:
        """The rows of the observed set; if contexts are causes or outcomes, the rows of all sets that these compare."""
        way, names = self.verdict.way, self.causal.names
        grouping = (*names(way.given), by, cluster if isinstance(cluster, str) else None)
        for name in pool.contexts:
            if name in grouping:
                raise ParameterError(NO_GROUP.format(name=name))
        asked = [name for name in (*names(way.x), *names(way.y)) if name in pool.contexts]
        if asked and len(pool.sets) == 1:
            raise ParameterError(ONE_SET.format(name=asked[0]))
        rows = comparable(pool, *asked) if asked else pool.of_set == 0
        there = [name for k, name in enumerate(pool.sets) if (pool.of_set[rows] == k).any()]
        told = (ACROSS_SETS if asked else IN_OBSERVED_SET).format(set=pool.sets[0], sets=listed(there), n=rows.sum())
        codes = None if isinstance(cluster, str) else clusters_in(cluster, pool)
        of_rows = cluster if codes is None else codes[rows]
        return RowsUsed(pool.for_estimates(rows), of_rows, (told, *pool.told), pool.same_in(rows))

    def all_columns(self, data: Any) -> tuple[Table, int]:
        """All columns in the order of nodes, as a table without rows that have gaps; and how many were left out."""
        return columns_of(self.causal, self.rows(data).table, self.causal.everyone)

    def adjustment_set(self, adjust_for: AFewNodes) -> NodeSet:
        """The set that the user chose. Raises an error if it is no adjustment set."""
        z = nodes_of(self.causal.pag, adjust_for, "columns to adjust for")
        if not is_adjustment(self.causal, self.verdict.way, z):
            named = ", ".join(self.causal.names(z)) or "no variable"
            raise ParameterError(f"This is no adjustment set for the effect: {named}.")
        return z

    def formula_for(self, table: Table, model: Model | None, adjust_for: AFewNodes | None) -> Expression:
        """The formula, with the adjustment set that suits the model."""
        formula, way = self.verdict.formula, self.verdict.way
        assert formula is not None
        if adjust_for is not None:
            return adjustment_formula(way, self.adjustment_set(adjust_for))
        z_least = smallest(self.causal, way, self.within) if self.verdict.status == "adjustment" else None
        if z_least is None:
            return formula
        part, _ = columns_of(self.causal, table, way.x | way.y | way.given | mentioned(formula))
        model = chosen_model(part, model, self.causal.names(way.y))
        return adjustment_formula(way, z_least) if model == "tables" else formula


def of_sampled_graphs(effect: Effect, sampled: SampledEffect, used: RowsUsed, how: Adjusting) -> Effect:
    """The answer with draws. If it has an answer by the single graph (`graph_answer`), this gets an estimate too."""
    basis = effect.basis
    part, n_dropped = basis.all_columns(used.table)
    sampling = how.sampling.of_rows(complete_rows(used.table, part.names))
    here, by_graph = replace(how, sampling=sampling), effect.graph_answer
    try:
        by_graph = by_graph and by_graph.estimated(used.table, model=how.model)
    except DataError as error:
        by_graph = by_graph and replace(by_graph, notes=(*by_graph.notes, str(error)))
    drawn = here.drawn(sampled, part, basis.within)
    beside = Beside() if sampled.status == "zero" else here.beside_draws(sampled, part, basis.within)
    strength = beside.robustness
    if used.same:  # adjustment sets are shown without contexts that do not vary in these rows
        drawn = drawn.grouped(used.same)
        if strength is not None and strength.adjusting_for is not None:
            left = tuple(name for name in strength.adjusting_for if name not in used.same)
            strength = replace(strength, adjusting_for=left)
    notes = (*effect.notes, *used.told, *rows_told(part, n_dropped), *beside.notes)
    return replace(effect, sampled=drawn, graph_answer=by_graph, notes=notes, along=beside.along, robustness=strength)


def of_one_graph(effect: Effect, used: RowsUsed, how: Adjusting, adjust_for: AFewNodes | None) -> Effect:
    """The answer by one graph with numbers: the estimate, the association if the status is "zero", or the range."""
    basis, way, table, model = effect.basis, effect.basis.verdict.way, used.table, how.model
    named = [name for name in used.same if effect.sampled is None and name in (effect.adjustment_set or ())]
    unvaried = (UNVARIED.format(names=" and ".join(named)),) if named else ()
    z = basis.verdict.z if adjust_for is None else basis.adjustment_set(adjust_for)
    own = () if adjust_for is None or z is None else (OWN_SET.format(set=listed(basis.causal.names(z)) or "nothing"),)
    notes = (*own, *effect.notes, *unvaried, *used.told)
    if basis.verdict.formula is None:
        found = possible_effects(basis.causal, way, table, model, MOST_MEMBERS, how.sampling.seed)
        return replace(effect, possible=found, notes=notes)
    if effect.status == "zero" and adjust_for is None:
        seen = _association(basis, table, model, how.sampling)
        others = (note for note in ZERO_NOTES if note not in notes)
        return replace(effect, association=seen, notes=(*notes, *seen.notes, *others))
    beside = how.beside(basis.causal, way, z, table.all_of_kind("continuous") if model == "linear" else table)
    numbers = beside.numbers
    if numbers is None:
        formula, is_formula = basis.formula_for(table, model, adjust_for), effect.status == "formula"
        numbers = estimated(basis.causal, formula, way, table, model, how.sampling, by_adjustment=not is_formula)
    notes = (*notes, *numbers.notes, *beside.notes, *(() if basis.is_given else (SAME_ROWS,)))
    return replace(effect, numbers=numbers, notes=notes, along=beside.along, robustness=beside.robustness)


def _association(basis: EffectBasis, table: Table, model: Model | None, sampling: Sampling) -> Estimate:
    """The association of outcomes and causes in the rows, adjusted only for the conditions."""
    way = basis.verdict.way
    found = estimated(basis.causal, P(way.y, way.x | way.given), way, table, model, sampling, by_adjustment=True)
    seen = (  # probabilities given the observed cause, not the cause set to a value
        replace(entry, do={}, given={**entry.do, **entry.given}) if isinstance(entry, Probability) else entry
        for entry in found.entries
    )
    return replace(found, entries=tuple(seen))
