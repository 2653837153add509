"""Sampled graphs in words: the probability of an edge, its alternatives, and the most probable graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from anypag.graphs.marks import EDGE_SYMBOLS, Edge
from anypag.graphs.pag import PAG
from anypag.markup import shown_share
from anypag.metrics import Difference, differences, lines_of
from anypag.results.probabilities import Alternative, Probabilities, edges_of, graph_of
from anypag.results.result import Result

HEDGES = ((0.95, ""), (0.8, "Very probably: "), (0.5, "Probably: "), (0.0, "Perhaps: "))  # least probability, hedge
LIKELY = 0.5  # for a less likely edge the probability of any edge between the two is shown too
WHY_UNLIKELY = (
    f"The graph is chosen as a whole, so an edge with a probability below {LIKELY:.2f} may be listed; "
    '"joined" is the probability of any edge between the two, and explain names the other forms of such an edge.'
)
CORRECTED = "corrected by how often such shares are right"
LEAST_TOLD = 0.005  # kinds of edges with a smaller share are not mentioned
SELDOM = 0.05  # if no graph has a larger share than this, only single edges are reliable
IS_CAUSE = "Is {} a cause of {}? Of all sampled graphs {:.0%} say yes, {:.0%} no; the others leave it open."
MOST_OTHERS = 2  # how many further kinds of edges are mentioned, besides the answer and its alternative


def hedged(sentence: str, probability: float | None) -> str:
    """A claim with the hedge for its probability; unchanged without one.

    >>> hedged("A is a cause of B.", 0.7)
    'Probably: A is a cause of B.'
    """
    return f"{HEDGES[hedge_level(probability)][1]}{sentence}"


def hedge_level(probability: float | None) -> int:
    """The index in `HEDGES` for a probability; 0 (the surest) without one."""
    return next(k for k, (least, _) in enumerate(HEDGES) if (1.0 if probability is None else probability) >= least)


def certainty(said: Probabilities, edge: Edge) -> str:
    """The probability of an edge as text: `0.78`, or `0.16 (joined 0.98)` if it is unlikely."""
    joined = f" (joined {shown_share(said.of_any_edge(edge.a, edge.b))})" if is_unlikely(said, edge) else ""
    return f"{shown_share(said.of_edge(edge.a, edge.b, edge.symbol))}{joined}"


def is_unlikely(said: Probabilities, edge: Edge) -> bool:
    """Is the probability of an edge, as it is shown, below one half?"""
    return said.of_edge(edge.a, edge.b, edge.symbol) < LIKELY - 0.005


def why_unlikely(said: Probabilities, pag: PAG) -> str | None:
    """The sentence on why the answer has unlikely edges; None if it has none."""
    return WHY_UNLIKELY if any(is_unlikely(said, edge) for edge in pag.edges()) else None


def text_of(pag: PAG, said: Probabilities) -> str:
    """A graph as text, each edge with its probability."""
    edges, lines = pag.edges(), str(pag).split("\n")  # the edges in order, then variables without edges
    told = [f"{line}   {certainty(said, edge)}" for line, edge in zip(lines, edges, strict=False)]
    return "\n".join([*told, *lines[len(edges) :]])


def sampled_note(said: Probabilities, a: str, b: str, symbol: str) -> str:
    """The sentence on how often sampled graphs have the answer's edge, `symbol` ("" for none), or other edges."""
    alternative = said.alternative(a, b, symbol)
    kind = "sampled graphs" if said.hidden else "sampled graphs without hidden causes"
    n = round(said.share_of_edge(a, b, symbol) * said.n_samples)
    told = f"{shown_share(said.of_edge(a, b, symbol))} ({n:,} of {said.n_samples:,} {kind}, {CORRECTED})"
    told += _before_knowledge(said, a, b, symbol)
    if alternative is None or alternative.share < LEAST_TOLD:
        return f"{told}."
    return f"{told}; {_alternatively(said, a, b, alternative)}.{_others(said, a, b, symbol, alternative)}"


def cause_notes(said: Probabilities, a: str, b: str) -> tuple[str, ...]:
    """A sentence on the share of sampled graphs in which a causes b, and one for b and a; none if all graphs say no."""
    asked = ((one, other, said.is_cause(one, other)) for one, other in ((a, b), (b, a)))
    return tuple(IS_CAUSE.format(one, other, yes, no) for one, other, (yes, no, _) in asked if round(no, 2) < 1)


def _before_knowledge(said: Probabilities, a: str, b: str, symbol: str) -> str:
    """The clause on how many graphs have the edge as sampled, if its marks were changed afterwards; else ""."""
    sampled = said.sampled(a, b, symbol)
    if sampled == symbol:
        return ""
    n = round(said.share_of(a, b, sampled) * said.n_samples)
    says_less = symbol.count("o") > sampled.count("o")
    why = "" if says_less else ", from which this edge follows by what was known beforehand"
    return f", in {n:,} of them as {edge_text(a, b, sampled)}{why}"


def _alternatively(said: Probabilities, a: str, b: str, alternative: Alternative) -> str:
    n, changes = round(alternative.share * said.n_samples), list[str]()
    probability = f"{shown_share(alternative.probability)} ({n:,} of {said.n_samples:,})"
    named = f"the alternative is {edge_text(a, b, alternative.symbol)} with {probability}"
    if not alternative.then:
        return named
    for one, other, symbol, share in alternative.then:
        what = edge_text(one, other, symbol) if symbol else f"{one} and {other} are not joined"
        changes.append(f"{what} (in {round(share * n):,} of those {n:,})")
    return f"{named}, and then {' and '.join(changes)}"


def _others(said: Probabilities, a: str, b: str, symbol: str, alternative: Alternative) -> str:
    told = {said.sampled(a, b, symbol), alternative.symbol}
    rest = [way for way in said.states(a, b) if way[0] not in told and way[2] >= LEAST_TOLD]
    shown = [f"{edge_text(a, b, other)} {shown_share(probability)}" for other, probability, _ in rest[:MOST_OTHERS]]
    return f" Others: {', '.join(shown)}." if shown else ""


def edge_text(a: str, b: str, symbol: str) -> str:
    """An edge in the usual direction, or "no edge".

    >>> edge_text("A", "B", "<--"), edge_text("A", "B", "")
    ('`B --> A`', 'no edge')
    """
    return f"`{Edge(a, b, *EDGE_SYMBOLS[symbol]).forward()}`" if symbol else "no edge"


class Probable(NamedTuple):
    """A sampled graph, its share, and its differences from the answer. In these, `first` is the edge of the answer."""

    share: float
    pag: PAG
    differences: tuple[Difference, ...]

    def lines(self) -> list[str]:
        return lines_of(self.differences, "the answer", "this graph")


def probable_graphs(result: Result) -> tuple[Probable, ...]:
    """The most probable graphs, most probable first; empty without samples. If an edge of the answer was changed (see
    `Probabilities.as_sampled`), its earlier marks are compared, because edges of sampled graphs were not changed.

    >>> import anypag as ap
    >>> data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C"), 500, seed=1)
    >>> first, *_ = probable_graphs(ap.learn(data, method="bayes", effort=0.1))
    >>> first.share > 0.5, first.lines()
    (True, [])
    """
    said = result.probabilities
    if said is None:
        return ()
    changed = {frozenset(pair) for pair in said.as_sampled}
    kept = [edge for edge in edges_of(result.pag) if frozenset(edge[:2]) not in changed]
    before = [(a, b, symbol) for (a, b), symbol in said.as_sampled.items() if symbol]
    answer = graph_of((*kept, *before), result.pag.names)
    graphs = [(share, graph_of(edges, result.pag.names)) for share, edges in said.graphs]
    return tuple(Probable(share, graph, differences(answer, graph)) for share, graph in graphs)


def about_probable(result: Result) -> Iterator[str]:
    """The sentences about the most probable graphs of a result."""
    said, graphs = result.probabilities, probable_graphs(result)
    if said is None or not graphs:
        return
    if said.n_classes:
        met = f"{said.n_samples:,} graphs were sampled, {said.n_classes:,} different ones"
        is_listed = said.n_classes > len(graphs) and graphs[0].share > SELDOM
        yield f"{met}; these were met most often." if is_listed else f"{met}."
    if graphs[0].share <= SELDOM:
        yield "None of them is probable as a whole: rely on the probabilities of single edges."
    elif all(graph.differences for graph in graphs):
        yield "The answer, the graph with the fewest expected errors, is none of them."
    if not said.hidden:
        from anypag.search.by_scores.bayes import MOST_ROWS

        long = f"the table has more than {MOST_ROWS:,} rows"
        stuck = "the search for hidden causes starts at such a graph, and none was found that agrees with knowledge"
        why = long if (result.n_rows or 0) > MOST_ROWS else stuck
        yield f"Only graphs without hidden causes were sampled, because {why}."
    if said.as_sampled:
        yield "The answer is compared as it was before knowledge changed marks and before unsure marks became circles."
