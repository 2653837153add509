"""A result in a few sentences: what to take away, and how the search ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from anypag.catalogue import METHODS, method_named
from anypag.errors import Option
from anypag.graphs.marks import Edge, Mark
from anypag.markup import counted, shown_share, time_shown
from anypag.results.result import Result

MOST_NAMED = 3  # the most causes that are named
SURE = 0.8  # the least probability of an edge that is worth a place in the first line


def take_away(result: Result) -> str:
    """How much is known, and the surest causes, in two sentences.

    >>> import anypag as ap
    >>> print(take_away(ap.learn(ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D")))))
    3 edges among 4 variables. The graph shows one cause: C --> D.
    """
    edges = [edge.forward() for edge in result.pag.edges()]
    causes = [edge for edge in edges if (edge.mark_a, edge.mark_b) == (Mark.TAIL, Mark.ARROW)]
    doubted = {frozenset(pair) for item in result.contradictions for pair in item.pairs}
    causes = [edge for edge in causes if frozenset((edge.a, edge.b)) not in doubted]
    first = f"{len(edges):,} edge{'s' * (len(edges) != 1)} among {len(result.pag):,} variables"
    said = result.probabilities
    if said is None:
        return f"{first}. {_causes('The graph shows', [str(edge) for edge in causes], edges)}"
    share = {edge: said.of_edge(edge.a, edge.b, edge.symbol) for edge in edges}
    n_sure = sum(value >= SURE for value in share.values())
    surest: Sequence[Edge] = sorted((edge for edge in causes if share[edge] >= SURE), key=lambda edge: -share[edge])
    named = [f"{edge} ({shown_share(share[edge])})" for edge in surest]
    return f"{first}, {n_sure:,} of them with a probability of {SURE:.2f} or more. {_causes('They show', named, edges)}"


def _causes(begin: str, named: list[str], edges: Sequence[Edge]) -> str:
    """The sentence about the surest causes; two tails or two arrowheads leave no way open."""
    is_open = any(edge.mark_a != edge.mark_b or edge.mark_a == Mark.CIRCLE for edge in edges)
    if not named:
        none = "the data alone show no variable to be a cause of another one."
        return f"Which way causes run stays open: {none}" if is_open else none.capitalize()
    more = f" and {len(named) - MOST_NAMED:,} more" if len(named) > MOST_NAMED else ""
    how_many = "one cause" if len(named) == 1 else f"{len(named):,} causes"
    return f"{begin} {how_many}: {', '.join(named[:MOST_NAMED])}{more}."


_STOPPED = {
    "time": "the time budget is spent",
    "tests": "the test budget is spent",
    "interrupt": "interrupted",
    "error": "an error ended the run",
    "stop": "`stop` said so",
}


def end_told(result: Result, spell: Callable[[Option], str] = str) -> str:
    """How the search ended; for one by tests that was stopped, also what its method promises at such a stop."""
    method = method_named(result.method).tests_by or result.method
    has_r = bool(result.history) and not result.from_scores and not result.tests_done
    promised = METHODS[method].promises.on_the_way if method in METHODS and has_r and not result.complete else None
    return how_far(result, spell) + (f" With a perfect test {promised} at such a stop." if promised else "")


def how_far(result: Result, spell: Callable[[Option], str] = str, expected_errors: float | None = None) -> str:
    """Whether the run is complete; otherwise what ended it, and up to which r the graph is reliable. `expected_errors`
    takes the place of those in the graph.
    """
    spent = f"{counted(result.n_tests, 'test')}, {time_shown(sum(item.seconds for item in result.history))}"
    if result.from_scores and result.history:
        return f"{_how_far_by_score(result, expected_errors)} ({spent})."
    if is_at_limit(result):
        return f"Done up to r = {result.r}, as {spell(Option('max_r'))} says ({spent})."
    if result.complete:
        return f"Complete: no further iteration can change the graph (r = {result.r}, {spent})."
    if not result.history:
        step = "step" if method_named(result.method).needs_score else "iteration"
        return f"{_stopped_early(result)} before the first {step} was finished; nothing is known yet."
    return f"{_stopped_early(result)}. The graph is complete up to r = {result.r} ({spent})."


def _how_far_by_score(result: Result, expected_errors: float | None) -> str:
    said = result.probabilities
    if said is not None:
        said = said if expected_errors is None else replace(said, expected_errors=expected_errors)
        begin = "Complete: this" if result.complete else f"{_stopped_early(result)}. This"
        return (
            f"{begin} graph has the fewest expected errors of {counted(said.n_samples, 'sample')}; {said.errors_told}"
        )
    assumed = ", assuming that nothing is hidden" if method_named(result.method).hides_nothing else ""
    if result.complete:
        return f"Complete: the graph that scores best{assumed}"
    return f"{_stopped_early(result)}. The graph is the one that scores best so far{assumed}"


def _stopped_early(result: Result) -> str:
    return f"Stopped early: {_STOPPED.get(result.stopped or '', 'stopped')}"


def is_at_limit(result: Result) -> bool:
    """Did the run end at the largest condition sets that were asked for (`max_r`)?"""
    limit = result.choices.max_r
    at_limit = limit is not None and result.r >= limit and limit < len(result.pag) - 2
    return at_limit and (result.complete or result.stopped == "max_r")
