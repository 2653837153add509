"""The effects between pairs of variables, by the graph of a result and by its sampled graphs."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import permutations
from typing import Any

from anypag.effects.all_pairs import effects_of
from anypag.effects.answer import HEADINGS
from anypag.effects.effect import IN_THE_SAMPLE, effect_of_graph
from anypag.effects.question import EffectAsked, checked_graph, curves_told, is_selection_possible
from anypag.effects.sampled_effect import headline, told
from anypag.errors import ContradictionError, DataError, GraphError
from anypag.graphs.base import transitive
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.graphs.text import quote
from anypag.plot.effect_draws import effect_svg
from anypag.results.result import Result

MOST_VARIABLES = 60  # effects are not listed for larger graphs, where they would fill most of the report
MOST_PAIRS = 400
"""With more ordered pairs than this, effects are read from the graph only for pairs with an edge, because formulas of
some pairs of large graphs take seconds."""
MOST_SAMPLED = 60  # the same limit for effects by sampled graphs, which take a tenth of a second for each pair
NOT_ASKED = "In a graph of this size the report covers only pairs with an edge; `anypag effect` answers for this pair."
ZERO = "{a} is not a cause of {b}: setting {a} does not change {b}."


def effects_shown(result: Result, data: Any = None) -> dict[str, Any]:
    """The effects on the page. `pairs`: for each ordered pair with a possible effect the two nodes, a heading, the
    reason and the formula. `zero`: the heading and the sentence for all other pairs. `none`: the reason if no effects
    are shown. `sampled`: by sampled graphs, for each pair the two nodes, a headline, sentences and a picture (SVG).
    """
    why_none = _why_none(result)
    pairs = [] if why_none else _asked(result.pag, MOST_PAIRS)
    rows = [_row(result, i, j) for i, j in pairs] + ([] if why_none else list(_not_asked(result, {*pairs})))
    return {
        "none": why_none,
        "zero": [HEADINGS["zero"], f"{ZERO} {IN_THE_SAMPLE}" if is_selection_possible(result, None) else ZERO],
        "pairs": [row for row in rows if row is not None],
        "sampled": list(_sampled(result, data)),
    }


def _asked(pag: PAG, most: int) -> list[tuple[int, int]]:
    """All ordered pairs; if there are more than `most`, only those with an edge."""
    everyone = list(permutations(range(len(pag)), 2))
    return everyone if len(everyone) <= most else [(i, j) for i, j in everyone if pag.marks[i, j] != Mark.NONE]


def _not_asked(result: Result, asked: AbstractSet[tuple[int, int]]) -> Iterator[list[Any]]:
    """The rows of pairs whose effect is possible but not worked out here."""
    marks = result.pag.marks
    is_possible = transitive((marks != Mark.NONE) & (marks.T != Mark.ARROW)) | bool(result.conflicts)
    for i, j in permutations(range(len(marks)), 2):
        if (i, j) not in asked and is_possible[i, j]:
            yield [i, j, "not worked out", NOT_ASKED, None]


def _sampled(result: Result, data: Any) -> Iterator[list[Any]]:
    """The rows of effects by sampled graphs; in larger graphs only for pairs with an edge."""
    pag = result.pag
    posterior = result.posterior if result.complete and len(pag) <= MOST_VARIABLES else None
    if posterior is None or posterior.diagrams is None:
        return
    pairs = [(pag.names[i], pag.names[j]) for i, j in _asked(pag, MOST_SAMPLED)]
    try:
        answers = list(effects_of(result, pairs, data))
    except DataError:  # these rows give no sizes of effects (`effect` says why), so only shares are shown
        answers = list(effects_of(result, pairs))
    for (a, b), found in zip(pairs, answers, strict=True):
        heading = headline(found, f"The effect of {quote(a)} on {quote(b)}")
        yield [pag.index(a), pag.index(b), heading, [*curves_told(result, [a], [b]), *told(found)], effect_svg(found)]


def _why_none(result: Result) -> str | None:
    if len(result.pag) > MOST_VARIABLES:
        return f"Effects are listed for graphs of up to {MOST_VARIABLES} variables; `anypag effect` gives each effect."
    try:
        checked_graph(result, 0, 0, selection_bias=None)
    except GraphError as error:
        return str(error)
    return None


def _row(result: Result, i: int, j: int) -> list[Any] | None:
    """The row of a pair; None if there is no effect and no curve, because such pairs are too many to list."""
    try:
        found = effect_of_graph(result, EffectAsked(i, j))
    except ContradictionError as error:  # the rules disagreed about an edge that this effect depends on
        return [i, j, "contradicted", str(error), None]
    except GraphError as error:
        return [i, j, "not answered", str(error), None]
    curves = curves_told(result, [i], [j])
    if found.status == "zero" and not curves:
        return None
    return [i, j, HEADINGS[found.status], " ".join([*curves, found.reason, *found.notes[:1]]), found.formula]
