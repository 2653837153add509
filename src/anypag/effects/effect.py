"""`effect`: the effect of causes on outcomes, from a graph and optional data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from anypag.ci.resolve import takes_of
from anypag.data.sources.data_sets import in_sets
from anypag.data.sources.pooled import Pooled
from anypag.effects import question
from anypag.effects.answer import Effect
from anypag.effects.estimate.estimates import Model
from anypag.effects.estimate.learners import Learner
from anypag.effects.identify.adjustment import between, is_adjustment
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.formula_text import LATEX, TEXT, Style, effect_written, written
from anypag.effects.identify.sampled_classes import classes_of
from anypag.effects.identify.verdict import Verdict, holds_if_selected, reason, verdict
from anypag.effects.numbers import ZERO_NOTES, EffectBasis
from anypag.effects.question import AFewNodes, EffectAsked
from anypag.effects.sampled_effect import sampled_effect, shares_told
from anypag.effects.sampled_question import Question
from anypag.errors import GraphError, Option, ParameterError
from anypag.graphs.base import MixedGraph, Node
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.pag import DAG
from anypag.graphs.projection import of_data_alone
from anypag.knowledge.knowledge import Knowledge
from anypag.results.result import Result
from anypag.search.by_scores.sampled_graphs import Diagrams

CURVED = "Additive"  # the test whose graphs are scored with curves
CUT = (
    "The sampling of graphs for effects ended early: {more:,} of {all:,} graphs, in which an edge costs less, were "
    "sampled."
)
IN_THE_SAMPLE = "This holds among those in the sample, who may have been selected."
NOTHING_HIDDEN = (
    "Saying that two variables have no hidden common cause (!<->) identifies no effect if the sample may be "
    "selected. If the sample is not selected, say selection_bias=False (--no-selection-bias on the command line)."
)


def effect(
    graph: MixedGraph | Result,
    cause: AFewNodes,
    outcome: AFewNodes,
    given: AFewNodes = (),
    *,
    within: Iterable[Node] | None = None,
    selection_bias: bool | None = None,
    data: Any = None,
    model: Model | None = None,
    assume: str | Knowledge | None = None,
    learner: Learner | None = None,
    by: str | None = None,
    cluster: Any = None,
    confounding: float | None = None,
) -> Effect:
    """The effect of causes on outcomes: what happens to the outcomes when the causes are *set*, not just observed.

    Args:
        graph: the result of a search, or a graph (PAG, MAG or DAG).
        cause: the variable that is set, or several.
        outcome: the variable whose change is asked for, or several.
        given: variables to condition on; the answer is the effect in each group that their values define.
        within: search for adjustment sets among these columns only.
        selection_bias: False says that the sample is not selected. The default is the choice of the search; for a bare
            PAG or MAG it is True, for a DAG False. If the sample may be selected, a PAG found without knowledge
            answers only "zero" and "adjustment", which hold among those in the sample. A MAG, a DAG, and the single
            graph of a search with knowledge then answer nothing. Answers by sampled graphs are not refused.
        data: a table to estimate from; see `Effect.estimated` for more choices. With several data sets
            (`anypag.pooled`) the effect is the one in the observed set (the first), whose rows are used. The effect of
            a context (a column that tells sets apart) compares sets, and uses the rows of these sets. Instead of pooled
            data, you can give a table of the observed set, or one table of all sets with the column that names the set.
        model: how columns are treated: "linear" (as numbers), "tables" (every value a level) or "mixed" (regression
            with indicators of levels); the default follows from their kinds.
        assume: statements in the form of `Knowledge.from_text`, added to those of the search. For example, "smoking
            !<-> cancer" says that nothing hidden is a cause of both. Graphs are then sampled again from `data`, so the
            result must have sampled graphs (`method="auto"`). `unassumed` is the answer without these statements.
        learner: "splines", or regressors of your own, in place of straight lines (`Effect.estimated` has more).
        by: also report the effect in the groups of this column.
        cluster: a column of `data`, or a value for each row, that says which rows belong together.
        confounding: also report how far the estimate moves if arrows hide common causes (see `Effect.estimated`).

    Returns:
        The status ("zero", "adjustment", "formula" or "unidentified"; "identified" only by sampled graphs), the reason
        in words, adjustment sets and the formula. With data, also an estimate and its interval, or a range.

    Raises:
        GraphError: the graph contradicts itself, the search was not finished, or selection may distort the effect.
        ParameterError: causes, outcomes and conditions overlap, no cause or no outcome is given, or options conflict.

    >>> import anypag as ap
    >>> pag = ap.PAG.from_string("age o-> smoking; stress o-> smoking; smoking --> cancer; age --> cancer")
    >>> e = ap.effect(pag, "smoking", "cancer", selection_bias=False)
    >>> e.status, e.adjustment_set, list(e.minimal_sets())
    ('adjustment', ('age', 'stress'), [('age',)])
    >>> print(e)
    The effect of smoking on cancer: identified, by adjustment
      Adjusting for age and stress closes every path between smoking and cancer but the causal ones.
      P(cancer | do(smoking)) = Σ_{age, stress} P(cancer | age, smoking, stress) P(age, stress)
    >>> ap.effect(pag, "cancer", "smoking", selection_bias=False).status
    'zero'
    >>> print(ap.effect(pag, "stress", "smoking", selection_bias=False).reason)
    stress o-> smoking: this edge may hide a common cause of both, and may be due to that alone; to settle this, \
measure a further cause of stress that is related to smoking only through stress, if at all.
    """
    how: dict[str, Any] = {"model": model, "learner": learner, "by": by, "cluster": cluster, "confounding": confounding}
    if assume is not None:
        assumed = Knowledge.from_text(assume) if isinstance(assume, str) else assume
        ask = partial(effect, cause=cause, outcome=outcome, given=given, within=within, data=data, **how)
        ask = partial(ask, selection_bias=selection_bias)
        under = ask(searched_under(graph, data, assumed, selection_bias))
        return replace(under, assumed=tuple(str(assumed).splitlines()), unassumed=ask(graph))
    needless = [Option(name) for name, value in how.items() if value is not None]
    if data is None and needless:
        raise ParameterError(f"The option {needless[0]} goes with {Option('data')}: it says how rows are used.")
    (cause, outcome, given), same = question.without_copies(graph, cause, outcome, given)
    within = within if within is None or isinstance(within, str) else tuple(within)
    asked = EffectAsked(cause, outcome, given, within, selection_bias)
    sampled = graph.posterior if isinstance(graph, Result) else None
    if isinstance(graph, Result) and sampled is not None and sampled.diagrams is not None:
        answer = effect_of_samples(graph, sampled.diagrams, asked)
    else:
        answer = effect_of_graph(graph, asked)
    warnings = graph.misfit_told if isinstance(graph, Result) else ()
    warnings += question.curves_told(graph, answer.cause, answer.outcome)
    answer = replace(answer, notes=(*answer.notes, *same), warnings=warnings)
    return answer if data is None else answer.estimated(data, **how)


def effect_of_samples(result: Result, diagrams: Diagrams, asked: EffectAsked) -> Effect:
    """The answer by the sampled graphs of a result, with the answer of its single graph."""
    pag, parts = result.pag, (*asked.nodes(result.pag), asked.usable(result.pag))
    question.refuse_unfinished(result)
    selection = question.is_selection_possible(result, asked.selection_bias)
    classes = classes_of(diagrams, result.choices.knowledge, selection=selection)
    x, y, z, usable = (classes.nodes(tuple(pag.names[node] for node in members(part))) for part in parts)
    is_discrete, is_curved = takes_of(result.test_name) == "discrete", result.test_name == CURVED
    found = sampled_effect(Question(classes, x, y, z, usable), is_discrete=is_discrete, is_curved=is_curved)
    known, notes = result.choices.knowledge, [IN_THE_SAMPLE] * selection
    if selection and known is not None and known.facts(pag.names).unconfounded.any():
        notes.append(NOTHING_HIDDEN)
    more, every = diagrams.n_for_effects  # graphs for effects alone: how many there are, and how many there should be
    may_lack = more or result.stopped is not None or result.choices.time_budget is not None
    notes += [CUT.format(more=more, all=every)] if not is_discrete and more < every and may_lack else []
    by_graph = None
    try:
        by_graph = effect_of_graph(result, asked)
    except GraphError as error:
        notes.append(f"The single graph of the result gives no answer: {error}")
    causal, verdict_of_most = found.representative
    answer = _answered(result, causal, verdict_of_most, usable, shares_told(found))
    return replace(answer, status=found.status, sampled=found, graph_answer=by_graph, notes=tuple(notes))


def effect_of_graph(graph: MixedGraph | Result, asked: EffectAsked) -> Effect:
    """The answer by one graph; for a result, by its single graph."""
    x, y, z = asked.nodes(question.graph_of(graph))
    causal = question.checked_graph(graph, x, y, asked.selection_bias)
    usable = asked.usable(causal.pag)
    found = verdict(causal, x, y, z, usable)
    is_selected = question.is_selection_possible(graph, asked.selection_bias)
    if is_selected and not holds_if_selected(found):
        question.refuse_selection(question.graph_of(graph), x, y)
    why = reason(causal, found, within=None if asked.within is None else usable)
    notes = [IN_THE_SAMPLE] if is_selected else []
    if question.rests_on_knowledge(graph) and causal.pag == of_data_alone(graph.pag):
        notes.append(question.left_out(graph.pag, causal.pag, found.status, why))
    if found.status == "zero" and isinstance(graph, Result) and not graph.is_exact:
        notes += ZERO_NOTES
    return replace(_answered(graph, causal, found, usable, why), notes=tuple(notes))


def is_adjustment_set(
    graph: MixedGraph | Result, x: AFewNodes, y: AFewNodes, z: AFewNodes, *, selection_bias: bool | None = None
) -> bool:
    """Does adjusting for Z give the effect of X on Y: P(y | do(x)) = Σ_z P(y | x, z) P(z)?

    True if Z gives the effect in every system of the graph's class, else False. The generalised adjustment criterion
    (Perković et al. 2018) decides this, and is sound and complete. Results of unfinished searches and of contradictory
    data are refused, as by `effect`.

    Args:
        graph: a PAG, MAG or DAG, or the result of a search.
        x: the cause, or several.
        y: the outcome, or several.
        z: the set to adjust for.
        selection_bias: False says that the sample is not selected. If it may be selected, the answer is about those in
            the sample, and MAGs, DAGs and results with knowledge are refused. The default is the choice of the search,
            and False for a bare graph. A graph with `---` or `--o` is always refused.

    >>> from anypag import PAG, is_adjustment_set
    >>> pag = PAG.from_string("A o-> X; B o-> X; X --> Y; A --> Y")
    >>> is_adjustment_set(pag, "X", "Y", ["A"]), is_adjustment_set(pag, "X", "Y", [])
    (True, False)
    """
    causes, outcomes, chosen = EffectAsked(x, y, z).nodes(question.graph_of(graph))
    if selection_bias is None and not isinstance(graph, Result):
        selection_bias = False
    causal = question.checked_graph(graph, causes, outcomes, selection_bias)
    return is_adjustment(causal, between(causal, causes, outcomes), chosen)


def searched_under(result: MixedGraph | Result, data: Any, assumed: Knowledge, selection_bias: bool | None) -> Result:
    """The result of a new search, whose sampled graphs agree with an added assumption."""
    if not isinstance(result, Result) or result.probabilities is None or not isinstance(result.choices.test, str):
        raise ParameterError(
            f"With {Option('assume')}, graphs are sampled again from the data: give a result of "
            f"{Option('method', 'auto')} whose test was chosen by name."
        )
    if data is None:
        raise ParameterError(f"With {Option('assume')} a new search needs rows: give {Option('data')}.")
    from anypag.run.engine import Search

    choices, names = result.choices, result.pag.names
    known = assumed if choices.knowledge is None else choices.knowledge + assumed
    selection = choices.selection_bias if selection_bias is None else selection_bias
    of_one_run = {"names": None, "initial": None, "stop": None, "checkpoint": None, "resume": False, "progress": False}
    under = replace(choices, method=result.method, knowledge=known, selection_bias=selection, **of_one_run)  # type: ignore[arg-type]
    table = in_sets(data, result.reading, names, result.sets)
    if isinstance(table, Pooled) and len(table.sets) == 1:
        raise ParameterError("With ", Option("assume"), " the new search uses all data sets: give all their rows.")
    return Search(table.take(names), under).run()


def kinds_searched(source: MixedGraph | Result) -> Mapping[str, str]:
    """The kinds of columns in a search: from the user, else from the test, else inferred; {} for a graph."""
    if not isinstance(source, Result):
        return {}
    takes = takes_of(source.test_name)
    found = {item.name: item.kind for item in source.audit.kinds} if source.audit else {}
    kinds = found if takes == "any" else dict.fromkeys(source.pag.names, takes)
    return {**kinds, **(source.choices.kinds or {})}


def _answered(source: MixedGraph | Result, causal: CausalGraph, found: Verdict, within: NodeSet, why: str) -> Effect:
    """The answer by the verdict of a graph or of a class of sampled graphs."""
    way, of_file = found.way, (source.reading, source.sets) if isinstance(source, Result) else (None, None)
    return Effect(
        cause=causal.names(way.x),
        outcome=causal.names(way.y),
        given=causal.names(way.given),
        status=found.status,
        reason=why,
        adjustment_set=None if found.z is None else causal.names(found.z),
        formula=_equation(causal, found, TEXT),
        latex=_equation(causal, found, LATEX),
        basis=EffectBasis(causal, found, within, kinds_searched(source), isinstance(source, DAG), *of_file),
    )


def _equation(causal: CausalGraph, found: Verdict, style: Style) -> str | None:
    if found.formula is None:
        return None
    way, names = found.way, causal.pag.names
    return f"{effect_written(names, way.x, way.y, way.given, style)} = {written(found.formula, names, style)}"
