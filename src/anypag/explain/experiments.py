"""Which experiment decided a mark of an edge, in a result of several data sets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from anypag.explain.facts import PairFacts, by_end
from anypag.graphs.marks import Edge, Mark, MarkReason
from anypag.graphs.rules import RULES

Reasons = Mapping[tuple[str, str], list[MarkReason]]  # why marks were set, by `(at, other)`


def oriented_by(facts: PairFacts, edge: Edge) -> tuple[str, ...]:
    """Which experiment decided a mark of an edge, and by which rule; nothing if none did."""
    known = None if facts.learned is None else facts.learned.choices.knowledge
    contexts = set(known.contexts) if known else set()
    if not contexts or {edge.a, edge.b} & contexts:
        return ()
    reasons = facts.reasons if facts.by_tests else _reasons_in(facts)
    for at, other in ((edge.a, edge.b), (edge.b, edge.a)):
        found = _behind((at, other), reasons, contexts, set())
        if found is not None:
            return (f"An experiment decides a mark of this edge: {found[0]}, by {found[1]}.",)
    return ()


def _behind(
    end: tuple[str, str], reasons: Reasons, contexts: set[str], seen: set[tuple[str, str]]
) -> tuple[str, str] | None:
    """The first context among the reasons of a mark, or of the marks at its edge that these rest on; and the rule."""
    seen.add(end)
    for reason in reasons.get(end, [])[:1]:
        for name in (name for name in reason.because if name in contexts):
            return name, RULES[reason.rule].name
        for pair in product(end, reason.because if reason.rule else ()):  # R0 rests on no mark
            found = None if pair in seen else _behind(pair, reasons, contexts, seen)
            if found is not None:
                return found
    return None


def _reasons_in(facts: PairFacts) -> Reasons:
    """The rules by which the marks of a graph found by scores follow from its separations and the design."""
    from anypag.graphs.skeleton import Skeleton
    from anypag.graphs.validity import completed
    from anypag.knowledge.closure import SeparationsOf, orient_with_knowledge

    pag, known = facts.pag, facts.known
    if known is None:
        return {}
    mag = completed(pag.marks)[0]
    circles = (pag.marks != Mark.NONE).astype(np.uint8)
    log = orient_with_knowledge(circles, SeparationsOf(mag), known, Skeleton.of(mag), final=True).log
    return by_end(
        MarkReason(pag.names[j], pag.names[i], Mark(mark), rule, tuple(pag.names[k] for k in because if k >= 0))
        for rule, i, j, mark, *because in log.tolist()
    )
