"""What experiments changed, by a result of several data sets: what each acts on directly, which marks it decided."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from anypag.explain.facts import PairFacts
from anypag.explain.sampled import text_of
from anypag.graphs.marks import Edge, Mark, MarkReason, listed
from anypag.graphs.rules import RULES
from anypag.graphs.text import quote
from anypag.markup import shown_share
from anypag.results.result import Result

MEANS_ONLY = (
    "Tests of straight lines compare means: what changes only the spread of a variable is seen with "
    'test="additive" (--test additive).'
)
MEANS = frozenset({"FisherZ", "DegenerateGaussian"})  # tests that see differences of means only
OF_RESAMPLES = "In brackets is the share of resamples that join the two."
BY_DESIGN = "joined by design, as they say which data set a row is from."
LIKELY = 0.5  # an experiment is said to act on a variable if that is at least as probable as this
Reasons = Mapping[tuple[str, str], list[MarkReason]]  # why marks were set, by `(at, other)`


class ActsOn(NamedTuple):
    """Whether a context acts on a variable directly (None: it may), and how sure that is: the share of sampled graphs,
    else of resamples, that join the two; None without either.
    """

    context: str
    variable: str
    directly: bool | None
    probability: float | None


def acts_on(result: Result, among: Collection[str] = ()) -> list[ActsOn]:
    """A row for each context and each other variable, or those `among` some; none without contexts."""
    contexts = result.choices.knowledge.contexts if result.choices.knowledge else ()
    there = [name for name in contexts if name in result.pag.names]
    others = [name for name in among or result.pag.names if name not in contexts]
    said, stability = result.probabilities, result.stability

    def share(a: str, b: str) -> float | None:
        if said is not None:
            return said.of_any_edge(a, b)
        if stability is None or not stability.n:
            return None
        return float(stability.adjacency[stability.names.index(a), stability.names.index(b)])

    return [ActsOn(a, b, _leads(result.pag.edge(a, b)), share(a, b)) for a in there for b in others]


def _leads(edge: Edge | None) -> bool | None:
    """Is there an edge out of its first variable? None if a circle leaves that open."""
    return None if edge is not None and edge.mark_a == Mark.CIRCLE else edge is not None and edge.mark_a == Mark.TAIL


def by_design(result: Result) -> list[str]:
    """The contexts that are joined by design, if there are several: their edges are told in one line."""
    known = result.choices.knowledge
    contexts = [name for name in known.design if name in result.pag.names] if known else []
    return contexts if len(contexts) > 1 else []


def edge_lines(result: Result) -> list[str]:
    """The edges as text, one a line, and variables without any; edges that are there by design in one line."""
    said, edges, contexts = result.probabilities, result.pag.edges(), by_design(result)
    lines = (str(result.pag) if said is None else text_of(result.pag, said)).split("\n")
    rest = [line for line, edge in zip(lines, edges, strict=False) if not {edge.a, edge.b} <= set(contexts)]
    design = [f"{', '.join(map(quote, contexts))}: {BY_DESIGN}"] if contexts else []
    return [*rest, *lines[len(edges) :], *design]


def targets_table(result: Result, among: Collection[str] = ()) -> dict[str, list[Any]]:
    """What experiments changed, in columns for any dataframe library: context, variable, directly, probability."""
    rows = acts_on(result, among)
    return {name: [getattr(row, name) for row in rows] for name in ActsOn._fields}


def contexts_told(result: Result, among: Collection[str] = ()) -> list[str]:
    """A sentence for each context, then what its numbers are and what the test cannot see; nothing without contexts or
    before a test. `among`: the variables to speak of; all by default.
    """
    rows = acts_on(result, among) if result.history else []
    of_each = {
        name: [row for row in rows if row.context == name] for name in dict.fromkeys(row.context for row in rows)
    }
    lines = [_told(some, result.pag.neighbours(name)) for name, some in of_each.items()]
    lines += [OF_RESAMPLES] if any(row.probability is not None for row in rows) and not result.probabilities else []
    return [*lines, MEANS_ONLY] if lines and result.test_name in MEANS else lines


def _told(rows: list[ActsOn], joined: Collection[str]) -> str:
    """`drug acts directly on pkc (0.98), may act directly on raf (0.40), on no other (at most 0.03, mek).` "No other"
    are variables that are not joined to the context, and less probable than those that are.
    """
    there = [row.probability for row in rows if row.variable in joined and row.probability is not None]
    on = [row for row in rows if row.directly and (row.probability is None or row.probability >= LIKELY)]
    free = [row for row in rows if row.variable not in joined]
    others = [row for row in free if (row.probability or 0.0) < min(there, default=1.0)]
    perhaps = [row for row in rows if row not in (*on, *others) and (row in free or row.directly is not False)]
    rest = max(others, key=lambda row: row.probability or 0.0, default=None)
    is_told = rest is not None and rest.probability is not None
    limit = f" (at most {shown_share(rest.probability)}, {rest.variable})" if is_told else ""  # type: ignore[union-attr, arg-type]
    ways = (("acts directly", on), ("may act directly", perhaps))
    told = [
        f"{verb} on {listed(tuple(f'{row.variable}{_shown(row)}' for row in named))}" for verb, named in ways if named
    ]
    if not told:
        return f"{rows[0].context} acts on nothing that was measured{limit}."
    return f"{rows[0].context} {', '.join(told)}{f', on no other{limit}' if rest is not None else ''}."


def _shown(row: ActsOn) -> str:
    return "" if row.probability is None else f" ({shown_share(row.probability)})"


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
    names, found = pag.names, dict[tuple[str, str], list[MarkReason]]()
    for rule, i, j, mark, *because in log.tolist():
        named = tuple(names[k] for k in because if k >= 0)
        found.setdefault((names[j], names[i]), []).append(MarkReason(names[j], names[i], Mark(mark), rule, named))
    return found
