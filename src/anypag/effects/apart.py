"""A search in one part of the rows: what its answer is worth beside that of all rows."""

from __future__ import annotations

from anypag.effects.answer import HEADINGS, Effect
from anypag.graphs.base import MixedGraph
from anypag.graphs.reasons import listed
from anypag.graphs.text import quote

MOST_EDGES = 3
"""How many edges that differ are named."""

SAME = "The graph of all rows gives an answer of the same kind."
WHICH = (
    "An answer that changes with the rows is settled by neither graph. As a rule that of more rows errs less; the "
    "graphs of resamples of all rows (bootstrap) tell how often each answer comes."
)


def compared(found: Effect, part: MixedGraph, whole: Effect | None, of_all: MixedGraph) -> tuple[str, ...]:
    """How the answer of a part of the rows goes with that of all; `whole` is None where that was refused."""
    if whole is not None and (whole.status, whole.adjustment_set) == (found.status, found.adjustment_set):
        return (SAME,)
    says = "contradicts itself, so it gives none" if whole is None else f"says otherwise: {_in_short(whole)}"
    resamples = () if whole is None or whole.over is None else (f"Of all rows: {whole.over.lines()[0]}",)
    return (f"The graph of all rows {says}. {_differences(part, of_all)}", *resamples, WHICH)


def _in_short(effect: Effect) -> str:
    if effect.status != "adjustment":
        return HEADINGS[effect.status]
    chosen = listed(tuple(map(quote, effect.adjustment_set or ())))
    return f"{HEADINGS['adjustment']} for {chosen or 'nothing'}"


def _differences(part: MixedGraph, of_all: MixedGraph) -> str:
    """Which edges the graph of all rows has, where the other has another or none."""
    pairs = [(a, b) for k, b in enumerate(of_all.names) for a in of_all.names[:k]]
    differing = [pair for pair in pairs if part.edge(*pair) != of_all.edge(*pair)]
    shown = [f"{of_all.edge(*pair) or 'no edge'} there, {part.edge(*pair) or 'no edge'} here" for pair in differing]
    more = f"; and {len(shown) - MOST_EDGES} more" if len(shown) > MOST_EDGES else ""
    return f"The two graphs differ in {len(shown)} of {len(pairs)} pairs: {'; '.join(shown[:MOST_EDGES])}{more}."
