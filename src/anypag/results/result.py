"""`Result`: the graph that a search found, and its grounds. Fresh, resumed and saved results have the same fields."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anypag.catalogue import Method
from anypag.choices import Choices
from anypag.data.files.scan import Reading
from anypag.data.findings import LEFT_OUT, Audit
from anypag.data.sources.data_sets import DataSets
from anypag.errors import GraphError, Option, ParameterError, Sentence, listed
from anypag.graphs.contradictions import Contradiction
from anypag.graphs.marks import MarkReason, Separation
from anypag.graphs.pag import PAG
from anypag.markup import block, heading, paragraphs, preformatted
from anypag.results.consistency import Consistency, Withdrawn, consistency_of, withdrawn_from
from anypag.results.grounds import Grounds, Searched
from anypag.results.probabilities import DOES_NOT_FIT, Misfit, Probabilities
from anypag.search.problem import Chosen, Problem
from anypag.search.state import State, StepInfo
from anypag.stored import Number, Object, stored_fields

if TYPE_CHECKING:
    from anypag.effects.answer import Effect
    from anypag.effects.estimate.estimates import Model
    from anypag.effects.estimate.learners import Learner
    from anypag.explain import Explanation
    from anypag.knowledge.knowledge import Knowledge
    from anypag.knowledge.statements import Outcome
    from anypag.results.stability import Stability
    from anypag.search.by_scores.posterior import Posterior


@dataclass(frozen=True)
class Iteration:
    """One finished step: the graph after it, what it did, how long it took (without compiling)."""

    pag: PAG
    info: StepInfo
    seconds: float

    @classmethod
    def of(cls, pag: PAG, said: Mapping[str, Any]) -> Self:
        """The step with this graph after it, and with the fields of `ITERATION` from a file."""
        info = {name: value for name, value in said.items() if name != "seconds"}
        return cls(pag, StepInfo(**info), said["seconds"])

    @property
    def r(self) -> int:
        """The size of the condition sets of this step."""
        return self.info.r


ITERATION = Object({**stored_fields(StepInfo), "seconds": Number(0, 1e12)}, get=dict.__getitem__)
"""What a step did and how long it took, in results and in checkpoints."""


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The graph that a search found, its grounds, and the steps of the search.

    `complete` is True if no further iteration could change the graph. Otherwise `stopped` says what ended the run
    ("max_r", "time", "tests", "interrupt", "stop", "error"), and the graph is that of the last finished iteration.
    A complete result has `stopped` "interrupt" if an interrupt ended the sampling of further graphs for effects.
    The claims rest on tests or scores, some of which may be wrong: see `contradictions` and `withdrawn`.
    """

    method: str
    facts: Method = field(repr=False)  # the facts about the method
    choices: Choices  # the choices of the search, all filled in
    history: tuple[Iteration, ...] = field(repr=False)
    complete: bool
    stopped: str | None

    grounds: Grounds = field(repr=False)  # the grounds of the graph, from which the properties below are read
    stability: Stability | None = field(default=None, repr=False)  # the outcome of resampling, if any (`bootstrap`)
    source: str | None = None  # the name of the data file; None for data in memory
    reading: Reading | None = field(default=None, repr=False)  # how that file was read (`read_table`), for `effect`
    sets: DataSets | None = field(default=None, repr=False)  # those of `anypag.pooled`; `effect` recognises their rows
    chosen: Chosen | None = None  # what `method="auto"` stands for, and why; None if the method was named
    before_scores: Result | None = field(default=None, repr=False)  # by tests, if a search by scores went on from it

    @property
    def from_scores(self) -> bool:
        """Do edges and marks come from scores? If not, they come from tests and rules, as in early steps of "auto"."""
        return self.facts.from_scores and (not self.facts.tests_by or self.before_scores is not None)

    @property
    def tests_done(self) -> bool:
        """Have the tests of "auto" ended, though scores have not changed the graph yet?"""
        steps = [step.info for step in self.history if step.info.has_r]
        return bool(self.facts.tests_by and not self.from_scores and steps) and steps[-1].n_open == 0

    @property
    def by_tests(self) -> Result | None:
        """The result of the search by tests, with separating sets, p-values, iterations and rules. It is this result
        itself if its graph comes from tests, and None for methods that use scores from the start.
        """
        if self.from_scores:
            return self.before_scores
        return replace(self, complete=True, stopped=None) if self.tests_done else self

    @property
    def compared(self) -> str | None:
        """A sentence that says in how many pairs the graph by tests alone differs; None without such a graph.

        >>> import anypag as ap
        >>> data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 500, seed=1)
        >>> ap.learn(data, method="auto", effort=0.1).compared
        'Searching by tests alone gives the same graph.'
        """
        if self.before_scores is None:
            return None
        ours, theirs = self.pag.marks, self.before_scores.pag.marks
        differ = int(np.triu((ours != theirs) | (ours.T != theirs.T), 1).sum())
        joined = int(np.triu((ours != 0) | (theirs != 0), 1).sum())
        said = f"differs in {differ:,} of {joined:,} pairs" if differ else "gives the same graph"
        return f"Searching by tests alone {said}."

    @property
    def state(self) -> State:
        """The state from which a next step would start; ParameterError for a result from a file, which has none."""
        return self._searched.state

    @property
    def problem(self) -> Problem:
        """What the search worked on: the test, the choices, the audit; ParameterError for a result from a file."""
        return self._searched.problem

    @property
    def _searched(self) -> Searched:
        if not isinstance(self.grounds, Searched):
            raise ParameterError("A result that was read from a file cannot be continued; a checkpoint can.")
        return self.grounds

    @property
    def pag(self) -> PAG:
        """The graph."""
        return self.grounds.pag

    @property
    def test_name(self) -> str | None:
        """The kind of test: "FisherZ", say."""
        return self.grounds.test

    @property
    def is_exact(self) -> bool:
        """Was the test perfect, an oracle?"""
        return self.grounds.exact

    @property
    def n_rows(self) -> int | None:
        """The number of rows of the data; None if the test has no rows (an oracle, a function)."""
        return self.grounds.n_rows

    @property
    def audit(self) -> Audit | None:
        """The audit of the data; None for a test without data."""
        return self.grounds.audit

    @property
    def copies(self) -> Mapping[str, str]:
        """For each column that is an exact copy of another: the column that stands for both in the graph."""
        return self.audit.copies if self.audit else {}

    @property
    def strengths(self) -> Mapping[tuple[str, str], str]:
        """How strong edges are, in a few words (correlations, or an association), by the names of their two ends."""
        return self.grounds.strengths

    @property
    def sepsets(self) -> Mapping[tuple[str, str], Separation]:
        """Why pairs have no edge, by pair of names in either order: `result.sepsets["A", "B"]`."""
        return self.grounds.sepsets

    @property
    def marks(self) -> tuple[MarkReason, ...]:
        """Every arrowhead and tail that a rule set, with the rule, in the order in which they were set."""
        return self.grounds.marks

    @property
    def conflicts(self) -> tuple[MarkReason, ...]:
        """Marks that a rule gives but that were not set, because another mark was there or rules disagreed."""
        return self.grounds.conflicts

    @property
    def knowledge(self) -> tuple[Outcome, ...]:
        """The outcome of each statement of knowledge, in the user's order.

        >>> import anypag as ap
        >>> oracle = ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D"))
        >>> known = ap.Knowledge.from_text("A ~> D\\nD !~> A")
        >>> for outcome in ap.learn(oracle, knowledge=known, selection_bias=False).knowledge:
        ...     print(outcome)
        A ~> D (line 1): used: a tail at A towards C
        D !~> A (line 2): implied by the data anyway
        """
        return self.grounds.knowledge

    @cached_property
    def posterior(self) -> Posterior | None:
        """How probable edges, marks and ancestors are, for methods that sample graphs ("auto", "bayes"); else None."""
        found, known = self.grounds.posterior, self.choices.knowledge
        if found is None or not known:
            return found
        return replace(found, facts=known.facts(found.names, selection=self.choices.selection_bias))

    @property
    def probabilities(self) -> Probabilities | None:
        """How probable edges are, in the form that files store; None if no graphs were sampled."""
        return self.grounds.probabilities

    @property
    def misfit(self) -> Misfit | None:
        """Does the table fit what the probabilities assume? None before orders settle, or without a posterior."""
        return self.grounds.misfit

    @property
    def misfit_told(self) -> tuple[str, ...]:
        """The warning that the table does not fit what the probabilities assume; empty if no misfit was found."""
        return self.misfit_lines("ap.pooled")

    def misfit_lines(self, how_to_pool: str) -> tuple[Sentence, ...]:
        """The warning of `misfit_told`, with `how_to_pool` in place of "ap.pooled"."""
        misfit, contexts = self.misfit, self.choices.knowledge.contexts if self.choices.knowledge else ()
        if misfit is None:
            return ()
        doubted = "the graph" if self.probabilities is None else "the probabilities"
        unused = {*contexts, *self.audit.left_out} if self.audit else set()
        kinds = [kind for kind in self.audit.kinds if kind.name not in unused] if self.audit else []
        amounts = [kind for kind in kinds if kind.kind == "continuous" and misfit.rows_per_number is None]
        codes = [kind.name for kind in amounts if kind.reason.endswith(("different ones", "per value"))]
        are_codes = f"If the numbers of {listed(codes, 3)} are codes"
        first = Sentence(f"{are_codes}, declare them discrete ({Option('kinds')}) or leave them out.") if codes else ""
        told = misfit.lines("" if contexts else how_to_pool, doubted, first)
        names = [kind.name for kind in kinds if "order not used" in kind.reason]
        ask = f"Say the kinds of {listed(names, 3)}: ordinal if levels have an order, continuous if they are amounts"
        return tuple(Sentence(line, f" {ask}; leave them if they are names." if names else "") for line in told)

    @property
    def misfit_in_short(self) -> str | None:
        """The warning of `misfit_told` in a few words, without reasons; None if no misfit was found."""
        doubted = "the graph" if self.probabilities is None else "them"
        return f"{DOES_NOT_FIT}: do not rely on {doubted}." if self.misfit_told else None

    @property
    def remarks(self) -> tuple[str, ...]:
        """At most two sentences on a search by scores: that the fit of the table was not checked, and `compared`."""
        is_checked = self.misfit is None or self.misfit.fits != "not checked"
        assumed_by = "scores" if self.probabilities is None else "probabilities"
        unchecked = None if is_checked else f"Not checked: whether the table fits what the {assumed_by} assume."
        return tuple(filter(None, (unchecked, self.compared)))

    def kept_p(self, a: str, b: str) -> float:
        """For an edge: the largest p-value among the tests that kept it (NaN if it is not known)."""
        return self.grounds.kept_p(a, b)

    @cached_property
    def consistency(self) -> Consistency:
        """Whether all claims of the result can be true; computed on first use."""
        return consistency_of(self)

    @property
    def valid(self) -> bool | None:
        """Does some causal system have exactly this graph? None if this is not known."""
        return self.consistency.valid

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """The contradictions, each as a minimal set of claims that cannot all be true, and as a sentence.

        >>> import anypag as ap
        >>> ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C"))).contradictions
        ()
        """
        return self.consistency.contradictions

    def independent_pairs(self, among: Collection[str]) -> list[tuple[str, str]]:
        """The pairs of these variables that are marginally independent."""
        return self.grounds.independent_pairs(among)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Sentences: the columns that are copies, and a warning if chance alone could explain the number of edges."""
        copies = self.copies.items()
        same = tuple(f"{name} is the same column as {first}, which stands for both." for name, first in copies)
        pairs, edges = len(self.pag) * (len(self.pag) - 1) // 2, self.pag.marks.astype(bool).sum() // 2
        by_chance = pairs * self.choices.alpha
        if self.is_exact or self.from_scores or by_chance <= edges or not edges:
            return same
        return (
            *same,
            f"Many tests: if all {pairs:,} pairs were independent, about {by_chance:,.1f} would seem dependent at "
            f"alpha = {self.choices.alpha:g}, and {edges:,} edges were found. A smaller alpha makes edges surer.",
        )

    @cached_property
    def withdrawn(self) -> tuple[Withdrawn, ...]:
        """Marks of earlier iterations whose claims later iterations withdrew; this happens only on data."""
        return tuple(withdrawn_from(self))

    @property
    def n_tests(self) -> int:
        """The number of tests that all finished iterations asked for."""
        return sum(item.info.n_tests for item in self.history)

    @property
    def tests(self) -> dict[int, int]:
        """The number of tests that were asked for, per size of the condition set."""
        sizes = sorted({size for item in self.history for size in item.info.tests})
        return {size: sum(item.info.tests.get(size, 0) for item in self.history) for size in sizes}

    @property
    def r(self) -> int:
        """The size of the largest condition sets tried in a finished iteration; -1 if none is finished."""
        return max((item.r for item in self.history), default=-1)

    def explain(self, a: str, b: str) -> Explanation:
        """What the result says about two variables, and why; see `anypag.explain.explain`."""
        from anypag.explain import explain

        return explain(self, a, b)

    def effect(
        self,
        cause: str | Iterable[str],
        outcome: str | Iterable[str],
        given: str | Iterable[str] = (),
        *,
        selection_bias: bool | None = None,
        data: Any = None,
        model: Model | None = None,
        assume: str | Knowledge | None = None,
        learner: Learner | None = None,
        by: str | None = None,
        cluster: Any = None,
        confounding: float | None = None,
    ) -> Effect:
        """The effect of causes on outcomes, from the graph and data; see `anypag.effect`."""
        asked = {name: value for name, value in locals().items() if name != "self"}
        from anypag.effects.effect import effect

        return effect(self, **asked)

    def effects(self, data: Any = None, *, selection_bias: bool | None = None) -> dict[str, list[Any]]:
        """The effects between all pairs, by sampled graphs, as a dict of columns; see `anypag.effects.all_pairs`."""
        from anypag.effects.all_pairs import effects_of_all_pairs

        return effects_of_all_pairs(self, data, selection_bias=selection_bias)

    def edge_table(self, *, non_edges: bool = True) -> dict[str, list[Any]]:
        """All pairs in columns that any dataframe library takes; see `anypag.explain.edge_table`."""
        from anypag.explain import edge_table

        return edge_table(self, non_edges=non_edges)

    def targets(self) -> dict[str, list[Any]]:
        """The variables that each experiment of pooled data sets (`anypag.pooled`) changed, in columns that any
        dataframe library takes: context, variable, directly (None: perhaps), probability.
        """
        from anypag.explain.summary import targets_table

        return targets_table(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all. The ending picks the format: .json (for
        `anypag.read_result`), .csv, .svg, .png, .pdf, .html (a report) or a format of graphs. See `anypag.saving.save`.
        """
        from anypag.saving import save

        save(self, path)

    def plot(self, ax: Any = None) -> Any:
        """A picture of the graph, by matplotlib (extra `plot`); see `anypag.plot.plot`."""
        from anypag.plot import plot

        return plot(self, ax)

    def _repr_svg_(self) -> str | None:
        from anypag.plot import svg_if_possible

        return svg_if_possible(self)

    def _repr_html_(self) -> str:
        """HTML for notebooks: a summary line, contradictions, and the picture (or the edges)."""
        picture = self._repr_svg_()
        warnings = [str(finding) for finding in self.audit.warnings] if self.audit else []
        return block(
            heading(self.summary()),
            paragraphs([*self.misfit_told, *self.consistency.lines()]),
            preformatted(str(self.pag)) if picture is None else picture,
            paragraphs(f"In the data: {warning}" for warning in warnings),
        )

    def __repr__(self) -> str:
        """One line: the numbers of variables and edges, and the summary."""
        n, m = len(self.pag), len(self.pag.edges())
        return f"<{type(self).__name__}: {n:,} variables, {m:,} edges; {self.summary()}>"

    def summary(self, expected_errors: float | None = None) -> str:
        """One line: method, progress, tests, complete or not. `expected_errors` is used instead of the result's own."""
        end = "complete" if self.complete else f"stopped ({self.stopped})"
        said = self.probabilities
        if said is None:
            return f"{self.method}, r = {self.r}, {self.n_tests} tests, {end}"
        said = said if expected_errors is None else replace(said, expected_errors=expected_errors)
        return f"{self.method}, {said.n_samples:,} graphs sampled; {said.errors_told}; {end}"

    def __str__(self) -> str:
        """The summary, cautions and the edges; with probabilities, also why edges are unlikely and what to add."""
        from anypag.explain.facts import what_to_say
        from anypag.explain.sampled import why_unlikely
        from anypag.explain.summary import contexts_told, edge_lines

        sets = None if self.sets is None else self.sets.told
        told = [self.summary(), sets, *self.misfit_told, *self.remarks, *self.consistency.lines()]
        told += [*edge_lines(self), *(f"{name}, the same as {first}" for name, first in self.copies.items())]
        told += contexts_told(self)
        if self.probabilities is not None:
            told += [why_unlikely(self.probabilities, self.pag), what_to_say(self, "knowledge=")]
        return "\n".join(filter(None, told))


def refuse_unsearched(source: object, *nodes: object) -> None:
    """Raise an error if a node is a column that was left out, a data set, or the column that tells data sets apart."""
    if not isinstance(source, Result):
        return
    findings = source.audit.findings if source.audit else ()
    left_out = {name: one.message for one in findings if one.problem == LEFT_OUT for name in one.columns}
    for name in (node for node in nodes if isinstance(node, str)):
        if name in left_out:
            raise GraphError(f"{name!r} is a column that was not searched over. {left_out[name]}")
        if source.sets is not None and (told := source.sets.became(name)):
            raise GraphError(told)
