"""The most probable graphs of a sample beside the answer: how probable each is, and in what it differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from anypag.graphs.marks import EDGE_SYMBOLS, Edge
from anypag.graphs.pag import PAG
from anypag.metrics import Difference, differences, lines_of
from anypag.results.probabilities import Edges, Probabilities, edges_of
from anypag.results.result import Result

SELDOM = 0.05
"""Where no graph has a larger share than this, the graphs are no answers; their edges may be."""


class Probable(NamedTuple):
    """A graph of a sample, its share, and the pairs that it joins otherwise than the answer (`first` in each)."""

    share: float
    pag: PAG
    differences: tuple[Difference, ...]

    def lines(self) -> list[str]:
        """What differs, in words."""
        return lines_of(self.differences, "the answer", "this graph")


def probable_graphs(result: Result) -> tuple[Probable, ...]:
    """The most probable graphs, the first of them first; none where nothing was sampled.

    What follows from what was known beforehand is left out on both sides: sampled graphs do not have it.

    >>> import anypag as ap
    >>> data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C"), 500, seed=1)
    >>> first, *_ = probable_graphs(ap.learn(data, method="bayes", effort=0.1))
    >>> first.share > 0.5, first.lines()
    (True, [])
    """
    said = result.probabilities
    if said is None:
        return ()
    answer = _answer_as_sampled(result.pag, said)
    graphs = [(share, _pag(edges, result.pag)) for share, edges in said.graphs]
    return tuple(Probable(share, graph, differences(answer, graph)) for share, graph in graphs)


def about_probable(result: Result) -> Iterator[str]:
    """What to know of the most probable graphs of a result, a sentence each."""
    said, graphs = result.probabilities, probable_graphs(result)
    if said is None or not graphs:
        return
    if said.n_classes:
        met = f"{said.n_samples:,} graphs were sampled, {said.n_classes:,} different ones"
        yield f"{met}; met most often: these." if said.n_classes > len(graphs) else f"{met}."
    if graphs[0].share <= SELDOM:
        yield "None of them is probable as a whole: rely on the probabilities of single edges."
    if all(graph.differences for graph in graphs):
        yield "The answer, the graph with the fewest expected errors, is none of them."
    if not said.hidden:
        yield "Only graphs without hidden causes were sampled."
    if said.as_sampled:
        yield "Marks that follow from what was known beforehand are left out here."


def _answer_as_sampled(pag: PAG, said: Probabilities) -> PAG:
    changed = {frozenset(pair) for pair in said.as_sampled}
    kept = [edge for edge in edges_of(pag) if frozenset(edge[:2]) not in changed]
    before = [(a, b, symbol) for (a, b), symbol in said.as_sampled.items() if symbol]
    return _pag((*kept, *before), pag)


def _pag(edges: Edges, like: PAG) -> PAG:
    return PAG.from_edges([Edge(a, b, *EDGE_SYMBOLS[symbol]) for a, b, symbol in edges], like.names)
