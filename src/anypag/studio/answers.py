"""Answers to clicks, as blocks of text: [tag, class, text]. The page writes them as they are; a picture is
["svg", words, SVG of numbers alone].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anypag.effects.answer import Effect
from anypag.errors import AnypagError
from anypag.explain.facts import facts_of, facts_on_the_way
from anypag.explain.pair import A_MARK, CONTRADICTED, Explanation, explain_pair
from anypag.graphs.pag import PAG
from anypag.plot.effect_draws import draws_svg
from anypag.results.result import Result
from anypag.studio.columns_shown import spelled

Block = list[str]


def pair_told(result: Result, a: str, b: str) -> list[Block]:
    """Why two variables are joined as they are, or not; how sure that is; the alternatives."""
    facts = facts_of(result) if result.complete else facts_on_the_way(result)
    first, second = (a, b) if result.pag.index(a) < result.pag.index(b) else (b, a)
    return list(_explained(explain_pair(facts, first, second), facts.assumed))


def _explained(said: Explanation, assumed: str | None) -> Iterator[Block]:
    yield ["h2", "pair", str(said.edge) if said.edge else f"{said.a} and {said.b}: no edge"]
    yield from (["p", "doubt", f"{CONTRADICTED} {sentence}"] for sentence in said.contradictions)
    if said.probability is not None:
        yield ["p", "sure", f"Probability {said.probability:.2f}"]
    yield from ([["p", "soft", assumed]] if assumed else [])
    yield ["p", "", said.summary]
    for end in said.ends:
        yield ["h3", "", f"At {end.at} {A_MARK[end.mark]}"]
        yield ["p", "", end.meaning]
        yield from ([["p", "why", end.why]] if end.why else [])
        yield from (["p", "why conflict", text] for text in end.conflicts)
    yield from (["p", "soft", note] for note in said.notes)


def node_told(pag: PAG, i: int) -> list[Block]:
    """The edges of one variable."""
    name = pag.names[i]
    edges = [str(edge) for edge in pag.edges() if name in (edge.a, edge.b)]
    count = f"{len(edges)} edge{'s' * (len(edges) != 1)}" if edges else "No edges"
    listed = [["p", "", text] for text in edges]
    return [["h2", "pair", name], ["p", "soft", f"{count}. Click a second variable for the pair."], *listed]


def effect_told(result: Result, cause: str, outcome: str, data: Any) -> list[Block]:
    """How much a variable changes when another is set, with its density; or why that cannot be said."""
    try:
        found = result.effect(cause, outcome, data=data)
    except AnypagError as error:
        heading = f"The effect of {cause} on {outcome} is not told"
        return [["h3", "effect", heading], ["p", "soft", error.sentence.spelled(spelled)]]
    first, *rest = str(found).splitlines()
    return [["h3", "effect", first], *_drawn(found), *(["p", "soft", line.strip()] for line in rest)]


def _drawn(found: Effect) -> list[Block]:
    """The picture of draws over sampled graphs."""
    if found.sampled is None:
        return []
    said = found.sampled
    draws = said.lines[0].draws if len(said.lines) == 1 else None
    return [["svg", str(found).splitlines()[0], draws_svg(draws, (said.p_zero, said.p_identified, said.p_open))]]
