"""Prints a result: edges, how far the run got, resamples, sampled graphs. Imported only when there is a result."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from anypag.cli.options import spelled
from anypag.cli.terminal import Terminal
from anypag.explain.facts import assumed_of, facts_of, what_to_say
from anypag.explain.pair import words_of
from anypag.explain.sampled import about_probable, certainty, hedge_level, hedged, probable_graphs, why_unlikely
from anypag.explain.summary import BY_DESIGN, by_design, contexts_told, how_far, is_at_limit
from anypag.graphs.contradictions import doubted_pairs
from anypag.graphs.marks import Edge
from anypag.markup import counted, shown_share
from anypag.results.result import Result
from anypag.results.stability import resample_lines

MOST_SHOWN = 100  # the most edges printed; a pipe gets all of them if no file has them
MOST_HEADINGS = 6
"""Edges are grouped by meaning and certainty. If that gives more groups than this, edges are grouped by certainty alone
(if graphs were sampled), or by their marks alone."""
SURENESS = ("Nearly sure (0.95 or more)", "Very probable (0.80 or more)", "Probable (0.50 or more)", "Less probable")
"""The headings of groups of edges, one for each range of probabilities in `HEDGES`."""
MOST_ALONE = 30  # the most variables without an edge that are named
MOST_WITHDRAWN = 10  # the most withdrawn claims shown
MOST_DIFFERENCES = 6  # the most differences shown between a probable graph and the answer
MARKED = "(contradicted, see below) "  # written before groups of edges whose claims contradict other claims
CONFLICTS = (
    "A conflict is an end of an edge where two rules wanted different marks; `anypag explain` says which ends. "
    "A contradiction is a set of claims of the graph that cannot all be true. One can occur without the other."
)


def misfit_told(result: Result) -> tuple[str, ...]:
    """The warning that the table contradicts the assumptions of the probabilities, with the options that may help."""
    return tuple(line.spelled(spelled) for line in result.misfit_lines("--context, or name=file for each"))


def what_next(result: Result) -> str | None:
    """A sentence about the changes that a next iteration could make; None if there are none."""
    if result.from_scores or (result.complete and not is_at_limit(result)):
        return None
    if not result.history:
        return "Every pair is joined until it has been tested."
    if result.tests_done:
        return "The tests are done; the search by scores had not begun to change the graph."
    info = result.history[-1].info
    all_or_some = "all" if info.n_open in {0, info.n_edges} else f"{info.n_open:,} of the"
    given = counted(result.r + 1, "other variable")
    on_data = "What the graph says so far is final." if result.is_exact else "Marks may be withdrawn, as tests err."
    return (
        f"A next iteration would test {all_or_some} {counted(info.n_edges, 'edge')} given {given}: "
        f"some may be removed, and circles may become arrowheads or tails. No edge is added. {on_data}"
    )


def what_is_known(result: Result) -> str | None:
    """The closing hint about knowledge; None if there is none."""
    if not result.history:
        return None
    if not result.choices.knowledge:
        return what_to_say(result, "--tiers, --knowledge")
    facts = result.choices.knowledge.facts(result.pag.names, selection=result.choices.selection_bias)
    if not (facts.not_causes & ~facts.not_selecting[:, None]).any():
        return None
    return (
        "A variable said to be no cause of another may still decide who is in the sample; then all marks at it "
        "are tails. If nothing in the table decided who is in the sample, add --no-selection-bias."
    )


class Group(NamedTuple):
    """Edges with the same meaning and about the same certainty; `sentence` has the placeholders {a} and {b}."""

    sentence: str
    edges: list[Edge]


def _edges(result: Result) -> tuple[list[Edge], set[Edge]]:
    """The edges, surest first, without edges that join contexts by design; and the set of the contradicted edges."""
    design = set(by_design(result))
    edges = [edge.forward() for edge in result.pag.edges() if not {edge.a, edge.b} <= design]
    contradicted = doubted_pairs(result.contradictions)
    doubted = {edge for edge in edges if frozenset((edge.a, edge.b)) in contradicted}
    return sorted(edges, key=lambda edge: -(_probability(result, edge) or 0.0)), doubted


def groups(result: Result) -> list[Group]:
    """The edges of `_edges`, grouped by meaning and certainty: the surest first, contradicted ones last."""
    facts, (edges, doubted) = facts_of(result), _edges(result)
    found: dict[tuple[bool, int, str, str], Group] = {}
    for edge in edges:
        is_doubted, probability = edge in doubted, _probability(result, edge)
        sentence = (MARKED if is_doubted else "") + hedged(words_of(facts, edge).summary, probability)
        key = (is_doubted, hedge_level(probability), edge.symbol, sentence)
        found.setdefault(key, Group(sentence, [])).edges.append(edge)
    if result.probabilities is not None:  # edges are sorted, the surest first, and a stable sort keeps that order
        return [group for _, group in sorted(found.items(), key=lambda item: item[0][:2])]
    return [group for _, group in sorted(found.items(), key=lambda item: (*item[0][:3], -len(item[1].edges)))]


def headings(result: Result) -> Iterator[tuple[str, list[str]]]:
    """The edges as they are printed: at most six headings, each with the lines below it."""
    found = groups(result)
    if len(found) > MOST_HEADINGS:
        yield from _few_groups(result)
        return
    for sentence, edges in found:
        first, told = edges[0], [_told(result, edge) for edge in edges]
        if len(edges) == 1:
            yield f"{told[0]}: {sentence.format(a=first.a, b=first.b)}", []
        else:
            yield f"A {first.symbol} B: {sentence.format(a='A', b='B')}", told


def _few_groups(result: Result) -> Iterator[tuple[str, list[str]]]:
    """The headings of a graph with many groups: ranges of certainty if graphs were sampled, else kinds of edges."""
    from anypag.plot.labels import legend_for

    edges, doubted = _edges(result)
    legend = legend_for(edges, selection=facts_of(result).selection).entries
    meanings = {entry.line.edge.forward().symbol: entry.text for entry in legend}

    def lines(some: Iterable[Edge]) -> list[str]:
        return [f"{_told(result, edge)}{f'  {MARKED.strip()}' if edge in doubted else ''}" for edge in some]

    if result.probabilities is None:
        for symbol, meaning in meanings.items():
            yield f"A {symbol} B: {meaning}", lines(edge for edge in edges if edge.symbol == symbol)
        return
    yield "What the marks say:", [f"A {symbol} B: {meaning}" for symbol, meaning in meanings.items()]
    for level, heading in enumerate(SURENESS):
        some = [edge for edge in edges if hedge_level(round(_probability(result, edge) or 0.0, 2)) == level]
        if some:
            yield f"{heading}:", lines(some)


def _probability(result: Result, edge: Edge) -> float | None:
    said = result.probabilities
    return None if said is None else said.of_edge(edge.a, edge.b, edge.symbol)


def _told(result: Result, edge: Edge) -> str:
    """An edge, with its probability if graphs were sampled."""
    return str(edge) if result.probabilities is None else f"{edge}   {certainty(result.probabilities, edge)}"


def tell_result(terminal: Terminal, result: Result, kept: Path | None = None) -> None:
    """Print a result. `kept`: a file with all its edges."""
    terminal.line()
    terminal.lines(misfit_told(result), "bold red")
    tell_edges(terminal, result, kept)
    tell_stability(terminal, result)
    terminal.line()
    for outcome in result.knowledge:
        terminal.line(f"known: {outcome}", "yellow" if outcome.became == "contradicted" else None)
    if result.knowledge:
        terminal.line()
    terminal.line(how_far(result, spelled), "bold green" if result.complete and not result.stopped else "bold yellow")
    terminal.lines(filter(None, (*result.remarks, what_next(result), what_is_known(result))))
    tell_contradictions(terminal, result)


def tell_edges(terminal: Terminal, result: Result, kept: Path | None) -> None:
    terminal.lines(filter(None, [assumed_of(result)]))
    if not result.pag.edges():
        alone = "every two variables are independent, some pairs only given other variables."
        given = any(why.given for why in result.sepsets.values())
        terminal.line(f"No edges: {alone if given else 'all pairs are independent.'}")
    left = MOST_SHOWN if kept or terminal.is_interactive else sys.maxsize
    for heading, lines in headings(result):
        terminal.line(heading, "cyan")
        terminal.items(lines[:left])
        if len(lines) > left:
            terminal.line(f"  ... and {len(lines) - left:,} more; {kept or '--out edges.csv'} has them all.")
        left = max(0, left - len(lines))
    if design := by_design(result):
        terminal.line(f"{', '.join(design)}: {BY_DESIGN}", "cyan")
    joined = {name for edge in result.pag.edges() for name in (edge.a, edge.b)}
    apart = [name for name in result.pag.names if name not in joined] if joined else []
    if apart:
        more = f" and {len(apart) - MOST_ALONE:,} more" if len(apart) > MOST_ALONE else ""
        terminal.line(f"Without an edge: {', '.join(apart[:MOST_ALONE])}{more}.")
    tell_why_unlikely(terminal, result)
    terminal.lines(contexts_told(result))


def tell_why_unlikely(terminal: Terminal, result: Result) -> None:
    if result.probabilities is not None:
        terminal.lines(filter(None, [why_unlikely(result.probabilities, result.pag)]))


def tell_probable(terminal: Terminal, result: Result) -> None:
    """Print the differences between the most probable sampled graphs and the answer."""
    about = " ".join(about_probable(result))
    if not about:
        return
    terminal.line()
    terminal.line(about, "bold")
    for graph in probable_graphs(result):
        listed = graph.lines() or ["the answer"]
        more = [f"and {len(listed) - MOST_DIFFERENCES:,} more"] if len(listed) > MOST_DIFFERENCES else []
        terminal.line(f"  {shown_share(graph.share)}  {'; '.join([*listed[:MOST_DIFFERENCES], *more])}")


def tell_contradictions(terminal: Terminal, result: Result) -> None:
    terminal.lines(result.cautions, "yellow")
    terminal.lines(result.consistency.lines(), "bold red" if result.contradictions else None)
    if result.history and result.history[-1].info.n_conflicts:
        terminal.line(CONFLICTS)
    if result.complete or result.is_exact or result.from_scores or not result.withdrawn:
        return  # a search by scores claims nothing before its end
    terminal.line("Earlier iterations said this, and later ones withdrew it:", "yellow")
    terminal.items([str(item) for item in result.withdrawn[:MOST_WITHDRAWN]])
    if len(result.withdrawn) > MOST_WITHDRAWN:
        terminal.line(f"  ... and {len(result.withdrawn) - MOST_WITHDRAWN} more; a .json file has them all.")


def tell_stability(terminal: Terminal, result: Result) -> None:
    stability = result.stability
    if stability is None:
        return
    terminal.line()
    first, *rest = resample_lines(stability, result.pag)
    terminal.line(first, "bold")
    terminal.lines(rest)
    failed, more = stability.failures[:3], len(stability.failures) - 3
    terminal.lines((f"Resample {failure.k} gave no graph: {failure.why}" for failure in failed), "yellow")
    if more > 0:
        terminal.line(f"{more} more resamples gave no graph; --json and .json files list them all.", "yellow")
