"""The edges of a result in symbols and words: those that say the same stand together under one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from anypag.catalogue import method_named

if TYPE_CHECKING:
    from anypag.cli.terminal import Terminal
    from anypag.graphs.marks import Edge
    from anypag.results.result import Result

MOST_SHOWN = 300
"""On a terminal; a pipe gets them all."""


MOST_WITHDRAWN = 10
"""Claims that were withdrawn, on a terminal."""

MOST_DIFFERENCES = 6
"""Between a probable graph and the answer."""

MARKED = "(contradicted, see below) "
"""Before the words for edges whose claims contradict others."""


CONFLICTS = (
    "A conflict, as a run counts them, is an end of an edge where two rules wanted different marks; explain says "
    "where. A contradiction is what cannot be true in the graph as it stands, so there may be one without the other."
)


class Group(NamedTuple):
    """Edges with one meaning, said with about the same certainty; `sentence` has the places {a} and {b}."""

    sentence: str
    edges: list[Edge]

    @property
    def heading(self) -> str:
        """`A o-> B` and what it means; of a single edge with its own names."""
        first = self.edges[0]
        a, b = (first.a, first.b) if len(self.edges) == 1 else ("A", "B")
        return f"{a} {first.symbol} {b}: {self.sentence.format(a=a, b=b)}"


def groups(result: Result) -> list[Group]:
    """All edges, each written the usual way round, by what they mean and how sure it is."""
    from anypag.explain.facts import known_of
    from anypag.explain.pair import reading_of
    from anypag.explain.sampled import hedged

    selection, known = result.choices.selection_bias, known_of(result)
    by_tests = not method_named(result.method).from_scores
    contradicted = {frozenset(pair) for item in result.contradictions for pair in item.pairs}
    found: dict[tuple[str, str], Group] = {}
    for edge in (edge.forward() for edge in result.pag.edges()):
        words = reading_of(result.pag, edge, selection=selection, final=result.complete, by_tests=by_tests, known=known)
        doubt = MARKED if frozenset((edge.a, edge.b)) in contradicted else ""
        sentence = doubt + hedged(words.summary, _probability(result, edge))
        found.setdefault((edge.symbol, sentence), Group(sentence, [])).edges.append(edge)
    return sorted(found.values(), key=lambda group: (group.edges[0].symbol, -len(group.edges)))


def _probability(result: Result, edge: Edge) -> float | None:
    said = result.probabilities
    return None if said is None else said.of_edge(edge.a, edge.b, edge.symbol)


def _certainty(result: Result, edge: Edge) -> str:
    """What stands behind an edge: its probability, where graphs were sampled."""
    from anypag.explain.sampled import certainty

    return "" if result.probabilities is None else f"   {certainty(result.probabilities, edge)}"


def tell_edges(terminal: Terminal, result: Result) -> None:
    """Print the edges of a result."""
    from anypag.explain.facts import assumed_of

    assumed = assumed_of(result)
    if assumed is not None:
        terminal.line(assumed)
    if not result.pag.edges():
        terminal.line(f"No edges: {_why_none(result)}")
    left = MOST_SHOWN if terminal.is_interactive else len(result.pag.edges())
    for group in groups(result):
        terminal.line(group.heading, "cyan")
        if len(group.edges) > 1 or result.probabilities is not None:
            terminal.items([f"{edge}{_certainty(result, edge)}" for edge in group.edges[:left]])
        if len(group.edges) > left:
            terminal.line(f"  ... and {len(group.edges) - left} more; --out edges.csv has them all.")
        left = max(0, left - len(group.edges))
    tell_why_unlikely(terminal, result)


def tell_why_unlikely(terminal: Terminal, result: Result) -> None:
    """Print once why edges can stand in the answer that are unlikely as they are, where some do."""
    from anypag.explain.sampled import why_unlikely

    if result.probabilities is not None and (why := why_unlikely(result.probabilities, result.pag)):
        terminal.line(why)


def _why_none(result: Result) -> str:
    if any(why.given for why in result.sepsets.values()):
        return "every two variables are independent, some of them only given others."
    return "all pairs are independent."


def tell_probable(terminal: Terminal, result: Result) -> None:
    """Print the most probable graphs, where graphs were sampled: what differs from the answer."""
    from anypag.explain.probable import about_probable, probable_graphs

    about = " ".join(about_probable(result))
    if not about:
        return
    terminal.line()
    terminal.line(about, "bold")
    for graph in probable_graphs(result):
        listed = graph.lines() or ["the answer"]
        more = [f"and {len(listed) - MOST_DIFFERENCES:,} more"] if len(listed) > MOST_DIFFERENCES else []
        terminal.line(f"  {graph.share:.2f}  {'; '.join([*listed[:MOST_DIFFERENCES], *more])}")


def tell_contradictions(terminal: Terminal, result: Result) -> None:
    """Print what cannot all be true, and what was said and taken back on the way."""
    for caution in result.cautions:
        terminal.line(caution, "yellow")
    for line in result.consistency.lines():
        terminal.line(line, "bold red" if result.contradictions else None)
    if result.history and result.history[-1].info.n_conflicts:
        terminal.line(CONFLICTS)
    if result.complete or result.is_exact or method_named(result.method).from_scores or not result.withdrawn:
        return  # a search by score says on its way what is best so far, and promises nothing
    terminal.line("Earlier iterations said this, and later ones withdrew it:", "yellow")
    terminal.items([str(item) for item in result.withdrawn[:MOST_WITHDRAWN]])
    if len(result.withdrawn) > MOST_WITHDRAWN:
        terminal.line(f"  ... and {len(result.withdrawn) - MOST_WITHDRAWN} more; a .json file has them all.")
