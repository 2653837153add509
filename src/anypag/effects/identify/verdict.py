"""The verdict of a graph about one effect (zero, by adjustment, by a formula, not identified), and its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anypag.effects.identify.adjustment import Between, between, canonical
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import Expression, P, mentioned, product, simplified, summed
from anypag.effects.identify.idp import Stuck, Torn, identified_given
from anypag.graphs.marks import Mark
from anypag.graphs.marks import listed as in_a_sentence
from anypag.graphs.node_sets import NodeSet, bucket_sets, members, pc_component_set, spread
from anypag.graphs.text import quote
from anypag.markup import counted

Status = Literal["zero", "adjustment", "formula", "identified", "unidentified"]
"""The status of an effect; "identified" is used for sampled graphs only."""


@dataclass(frozen=True)
class Verdict:
    """What a graph says about P(y | do(x), given): zero, identified by adjustment, by a formula, or not identified;
    what lies between causes and outcomes; the canonical adjustment set and a formula, where there are such; and where
    identification failed (`stopped`).
    """

    status: Status
    way: Between
    z: NodeSet | None = None
    formula: Expression | None = None
    stopped: Stuck | Torn | None = None


def verdict(causal: CausalGraph, x: NodeSet, y: NodeSet, given: NodeSet, within: NodeSet) -> Verdict:
    """The verdict of a graph; adjustment sets are searched `within` some columns only."""
    way = between(causal, x, y, given)
    plain = without_formula(causal, way, within)
    if plain is not None:
        return plain
    found = identified_given(causal, x, y, given)
    if isinstance(found, Stuck | Torn):
        return Verdict("unidentified", way, stopped=found)
    formula = shortened(causal, found, x | y | given)
    return Verdict("formula" if formula.free & x else "zero", way, formula=formula)


def without_formula(causal: CausalGraph, way: Between, within: NodeSet) -> Verdict | None:
    """The verdict "zero" if no path can carry the effect, or "adjustment"; None if only a formula could identify it."""
    if not way.first and not between(causal, way.x, way.y | way.given).first:
        return Verdict("zero", way, formula=P(way.y, way.given))
    z = canonical(causal, way, within)
    return None if z is None else Verdict("adjustment", way, z, adjustment_formula(way, z))


def holds_if_selected(found: Verdict) -> bool:
    """Is a verdict from a PAG without `---` and `--o` valid if the sample may be selected? A visible arrow out of X
    needs an arrowhead at X, so X and its descendants do not affect selection: adjustment gives the effect among those
    in the sample.

    Without a possibly directed path there is no effect, selected or not. For formulas this is not proved;
    `tests/effects/test_selection.py` has the enumeration.
    """
    return found.z is not None or not found.way.first


def adjustment_formula(way: Between, z: NodeSet) -> Expression:
    """Σ_z P(y | x, z, given) P(z | given)."""
    return summed(z, product(P(way.y, way.x | way.given | z), P(z, way.given))) if z else P(way.y, way.x | way.given)


def shortened(causal: CausalGraph, formula: Expression, wanted: NodeSet) -> Expression:
    """The formula without conditions that make no difference by the graph; the value stays the same in every
    distribution of the graph.

    A variable that is neither wanted nor summed over cannot matter, so the mean over it is taken.
    """
    short = simplified(formula, lambda leaf: _without_needless_conditions(causal, leaf))
    idle = short.free & ~wanted
    return summed(idle, product(short, P(idle))) if idle else short


def _without_needless_conditions(causal: CausalGraph, leaf: P) -> P:
    given = leaf.given
    for node in members(leaf.given):
        rest = given & ~(1 << node)
        if causal.is_separated(leaf.of, 1 << node, rest):
            given = rest
    return P(leaf.of, given)


MOST_EDGES = 3  # how many edges a reason names


def reason(causal: CausalGraph, found: Verdict, *, within: NodeSet | None = None) -> str:
    """The reason for a verdict in words; `within`: the columns that adjustment sets were limited to, if they were."""
    x, y, given = (listed(causal, part) for part in (found.way.x, found.way.y, found.way.given))
    if found.status == "zero" and given:
        return f"Given {given}, {y} does not depend on what {x} is set to."
    if found.status == "zero":
        return f"{x} is not a cause of {y}: every path from one to the other meets an arrowhead pointing back."
    if found.status == "adjustment":
        chosen = listed(causal, found.z or 0)
        if not chosen:
            return f"Nothing needs to be adjusted for: no path between {x} and {y} is open but the causal ones."
        return f"Adjusting for {chosen} closes every path between {x} and {y} but the causal ones."
    if found.status == "formula":
        if within is None:
            return f"No adjustment set gives the effect of {x} on {y}, but a formula does."
        way, used = found.way, 0 if found.formula is None else mentioned(found.formula)
        others = used & ~(within | way.x | way.y | way.given)
        also = f", with {listed(causal, others)} besides" if others else ""
        return f"No adjustment set within the columns given gives the effect of {x} on {y}. A formula does{also}."
    return _unidentified(causal, found)


def listed(causal: CausalGraph, nodes: NodeSet) -> str:
    """Names for a sentence."""
    return in_a_sentence(tuple(map(quote, causal.names(nodes))))


def _unidentified(causal: CausalGraph, found: Verdict) -> str:
    if found.way.hidden and not found.way.given:
        # the edge to the outcome itself before the others
        edges = sorted(found.way.hidden, key=lambda edge: (not found.way.y >> edge[1] & 1, edge))
        told = [_hidden_edge(causal, a, b) for a, b in edges[:MOST_EDGES]]
        n_more = len(edges) - MOST_EDGES
        return " ".join([*told, *([f"The same holds for {counted(n_more, 'more edge')}."] if n_more > 0 else [])])
    assert found.stopped is not None
    if isinstance(found.stopped, Torn):
        return _undirected(causal, found.stopped.bucket)
    return _stuck(causal, found.stopped)


def _hidden_edge(causal: CausalGraph, a: int, b: int) -> str:
    edge = causal.pag.edge(a, b)
    assert edge is not None
    doubt = "this edge may hide a common cause of both"
    if edge.mark_a == Mark.CIRCLE:
        doubt += ", and be nothing else"
    if edge.mark_a == edge.mark_b == Mark.CIRCLE:
        doubt = "the graph does not say which of the two causes the other, if not something hidden"
    remedy = f"a measured cause of {quote(edge.a)} that has nothing else to do with {quote(edge.b)} would settle it."
    return f"{edge}: {doubt}; {remedy}"


def _stuck(causal: CausalGraph, stopped: Stuck) -> str:
    """The sentence that names nodes that hidden causes may join to what comes after them."""
    near, over = causal.near, stopped.known
    for bucket in bucket_sets(near, over):
        met = pc_component_set(near, bucket, over) & spread(near.children, bucket, over) & ~bucket
        if bucket & ~stopped.wanted and met:
            if bucket & stopped.wanted:
                return _undirected(causal, bucket)
            edge = next(((a, b) for a in members(bucket) for b in members(near.invisible[a] & met)), None)
            told = f"Hidden causes may join {listed(causal, bucket)} to {listed(causal, met)}, which comes after it."
            return told if edge is None else _hidden_edge(causal, *edge)
    return f"Hidden common causes may join {listed(causal, stopped.wanted)} in ways that leave the effect open."


def _undirected(causal: CausalGraph, bucket: NodeSet) -> str:
    return f"The graph does not say which of {listed(causal, bucket)} causes which, and the effect depends on it."
