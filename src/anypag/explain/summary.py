"""A result in a few sentences: the main findings, how the search ended, and what experiments changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from anypag.catalogue import METHODS
from anypag.errors import Option
from anypag.explain.sampled import text_of
from anypag.graphs.contradictions import doubted_pairs
from anypag.graphs.marks import Edge, Mark, with_and
from anypag.graphs.text import quote
from anypag.markup import counted, shown_share, time_shown
from anypag.results.probabilities import DOES_NOT_FIT
from anypag.results.result import Result

MOST_NAMED = 3  # at most this many causes are named
SURE = 0.8  # edges are counted, and causes are named, if they have at least this probability
_STOPPED = {
    "time": "the time budget is spent",
    "tests": "the test budget is spent",
    "interrupt": "interrupted",
    "error": "an error ended the run",
    "stop": "`stop` said so",
}
MEANS_ONLY = (
    "Tests of straight lines compare means: a change in only the spread of a variable is seen with "
    'test="additive" (--test additive).'
)
MEANS = frozenset({"FisherZ", "DegenerateGaussian"})  # tests that see differences of means only
OF_RESAMPLES = "In brackets is the share of resamples that join the two."
BY_DESIGN = "joined by design, as they say which data set a row is from."
LIKELY = 0.5  # a context is said to act on a variable if their edge has at least this probability


def take_away(result: Result) -> str:
    """Two sentences: the numbers of edges and variables, and the surest causes (none if the table does not fit).

    >>> import anypag as ap
    >>> print(take_away(ap.learn(ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D")))))
    3 edges among 4 variables. The graph shows one cause: C --> D.
    """
    edges = [edge.forward() for edge in result.pag.edges()]
    doubted = doubted_pairs(result.contradictions)
    directed = (edge for edge in edges if (edge.mark_a, edge.mark_b) == (Mark.TAIL, Mark.ARROW))
    causes = [edge for edge in directed if frozenset((edge.a, edge.b)) not in doubted]
    first = f"{counted(len(edges), 'edge')} among {len(result.pag):,} variables"
    if result.misfit_told:
        return f"{first}. {DOES_NOT_FIT}: no edge is sure."
    said = result.probabilities
    if said is None:
        return f"{first}. {_causes('The graph shows', [str(edge) for edge in causes], edges)}"
    share = {edge: said.of_edge(edge.a, edge.b, edge.symbol) for edge in edges}
    n_sure = sum(value >= SURE for value in share.values())
    surest: Sequence[Edge] = sorted((edge for edge in causes if share[edge] >= SURE), key=lambda edge: -share[edge])
    named = [f"{edge} ({shown_share(share[edge])})" for edge in surest]
    return f"{first}, {n_sure:,} of them with a probability of {SURE:.2f} or more. {_causes('They show', named, edges)}"


def _causes(begin: str, named: list[str], edges: Sequence[Edge]) -> str:
    """The sentence about the surest causes. If there are none, it says whether an edge leaves its direction open."""
    is_open = any(edge.mark_a != edge.mark_b or edge.mark_a == Mark.CIRCLE for edge in edges)
    if not named:
        none = "the data alone show no variable to be a cause of another one."
        return f"The direction of causes stays open: {none}" if is_open else none.capitalize()
    more = f" and {len(named) - MOST_NAMED:,} more" if len(named) > MOST_NAMED else ""
    how_many = "one cause" if len(named) == 1 else f"{len(named):,} causes"
    return f"{begin} {how_many}: {', '.join(named[:MOST_NAMED])}{more}."


def end_told(result: Result, spell: Callable[[Option], str] = str) -> str:
    """Sentences: how the search ended; if tests were stopped, what the method guarantees; remarks on the result."""
    is_by_tests = bool(result.history) and not result.complete and not result.from_scores and not result.tests_done
    promised = METHODS.get(result.facts.tests_by, result.facts).promises.on_the_way if is_by_tests else None
    guarantee = [f"If the test is perfect, at such a stop {promised}."] * bool(promised)
    return " ".join([how_far(result, spell), *guarantee, *result.remarks])


def how_far(result: Result, spell: Callable[[Option], str] = str, expected_errors: float | None = None) -> str:
    """The sentence on whether the run is complete. If not, it says what ended the run, and the last complete r."""
    spent = f"{counted(result.n_tests, 'test')}, {time_shown(sum(item.seconds for item in result.history))}"
    if result.from_scores and result.history:
        return f"{_how_far_by_score(result, expected_errors)} ({spent})."
    if is_at_limit(result):
        return f"Done up to r = {result.r}, as {spell(Option('max_r'))} says ({spent})."
    if result.complete:
        return f"Complete: no further iteration can change the graph (r = {result.r}, {spent})."
    if not result.history:
        step = "step" if result.facts.needs_score else "iteration"
        return f"{_stopped_early(result)} before the first {step} was finished; nothing is known yet."
    return f"{_stopped_early(result)}. The graph is complete up to r = {result.r} ({spent})."


def _how_far_by_score(result: Result, expected_errors: float | None) -> str:
    said, early = result.probabilities, _stopped_early(result)
    if said is not None:
        said = said if expected_errors is None else replace(said, expected_errors=expected_errors)
        samples = f"graph is expected to err least, given {counted(said.n_samples, 'sample')}; {said.errors_told}"
        if result.complete and result.stopped == "interrupt":
            diagrams = result.posterior.diagrams if result.posterior else None
            more, every = (0, 0) if diagrams is None else diagrams.n_for_effects
            done = f"The graph is complete; {more:,} of {every:,} graphs for effects were sampled."
            return f"{early}. {done} This {samples}"
        return f"Complete: this {samples}" if result.complete else f"{early}. This {samples}"
    assumed = ", assuming that nothing is hidden" if result.facts.hides_nothing else ""
    best = "Complete: the graph that" if result.complete else f"{early}. The graph is the one that"
    return f"{best} scores best{'' if result.complete else ' so far'}{assumed}"


def _stopped_early(result: Result) -> str:
    return f"Stopped early: {_STOPPED.get(result.stopped or '', 'stopped')}"


def is_at_limit(result: Result) -> bool:
    """Did the run end at the largest condition sets that were asked for (`max_r`)?"""
    limit = result.choices.max_r
    at_limit = limit is not None and result.r >= limit and limit < len(result.pag) - 2
    return at_limit and (result.complete or result.stopped == "max_r")


class ActsOn(NamedTuple):
    """Whether a context (a variable that says which data set a row is from) acts on a variable."""

    context: str
    variable: str
    directly: bool | None  # None: the graph leaves it open
    probability: float | None  # of an edge between the two; without sampled graphs, the share of resamples with an edge


def acts_on(result: Result, among: Collection[str] = ()) -> list[ActsOn]:
    """A row for each pair of a context and another variable (in `among`, if given); none without contexts."""
    contexts = result.choices.knowledge.contexts if result.choices.knowledge else ()
    there = [name for name in contexts if name in result.pag.names]
    others = [name for name in among or result.pag.names if name not in contexts]
    said, stability = result.probabilities, result.stability

    def share(a: str, b: str) -> float | None:
        if said is not None:
            return said.of_any_edge(a, b)
        if stability is None or not stability.n:
            return None
        return float(stability.adjacency[stability.names.index(a), stability.names.index(b)])

    def directly(a: str, b: str) -> bool | None:
        edge = result.pag.edge(a, b)
        return None if edge and edge.mark_a == Mark.CIRCLE else edge is not None and edge.mark_a == Mark.TAIL

    return [ActsOn(a, b, directly(a, b), share(a, b)) for a in there for b in others]


def by_design(result: Result) -> list[str]:
    """The contexts that the design joins, whose edges are shown in one line; empty for a single context."""
    known = result.choices.knowledge
    contexts = [name for name in known.design if name in result.pag.names] if known else []
    return contexts if len(contexts) > 1 else []


def edge_lines(result: Result) -> list[str]:
    """The edges as text, one per line, then variables without edges, then one line for contexts joined by design."""
    said, edges, contexts = result.probabilities, result.pag.edges(), by_design(result)
    lines = (str(result.pag) if said is None else text_of(result.pag, said)).split("\n")
    rest = [line for line, edge in zip(lines, edges, strict=False) if not {edge.a, edge.b} <= set(contexts)]
    design = [f"{', '.join(map(quote, contexts))}: {BY_DESIGN}"] if contexts else []
    return [*rest, *lines[len(edges) :], *design]


def targets_table(result: Result, among: Collection[str] = ()) -> dict[str, list[Any]]:
    """The rows of `acts_on`, as columns for any dataframe library."""
    rows = acts_on(result, among)
    return {name: [getattr(row, name) for row in rows] for name in ActsOn._fields}


def contexts_told(result: Result, among: Collection[str] = ()) -> list[str]:
    """A sentence for each context, then notes on the numbers and the limits of the test; none before the first step."""
    rows = acts_on(result, among) if result.history else []
    names = dict.fromkeys(row.context for row in rows)
    lines = [_told([row for row in rows if row.context == name], result.pag.neighbours(name)) for name in names]
    lines += [OF_RESAMPLES] if any(row.probability is not None for row in rows) and not result.probabilities else []
    return [*lines, MEANS_ONLY] if lines and result.test_name in MEANS else lines


def _told(rows: list[ActsOn], joined: Collection[str]) -> str:
    """A sentence: `drug acts directly on pkc (0.98), may act directly on raf (0.40), on no other (at most 0.03, mek).`
    `no other` stands for variables without an edge to the context. Their edges are less probable than all edges shown.
    """
    there = [row.probability for row in rows if row.variable in joined and row.probability is not None]
    on = [row for row in rows if row.directly and (row.probability is None or row.probability >= LIKELY)]
    free = [row for row in rows if row.variable not in joined]
    others = [row for row in free if (row.probability or 0.0) < min(there, default=1.0)]
    perhaps = [row for row in rows if row not in (*on, *others) and (row in free or row.directly is not False)]
    limit = ""
    if others:
        rest = max(others, key=lambda row: row.probability or 0.0)
        limit = "" if rest.probability is None else f" (at most {shown_share(rest.probability)}, {rest.variable})"
    ways = (("acts directly", on), ("may act directly", perhaps))
    told = [f"{verb} on {with_and(tuple(map(_shown, some)))}" for verb, some in ways if some]
    if not told:
        return f"{rows[0].context} acts on nothing that was measured{limit}."
    return f"{rows[0].context} {', '.join(told)}{f', on no other{limit}' if others else ''}."


def _shown(row: ActsOn) -> str:
    return row.variable if row.probability is None else f"{row.variable} ({shown_share(row.probability)})"
