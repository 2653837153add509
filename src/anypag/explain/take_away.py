"""The first line of a report: what to take away from a result."""

from __future__ import annotations

from collections.abc import Sequence

from anypag.graphs.marks import Edge, Mark
from anypag.markup import shown_share
from anypag.results.result import Result

MOST_NAMED = 3
"""The most causes that are named."""
SURE = 0.8
"""The least probability of an edge that is worth a place in the first line."""


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
