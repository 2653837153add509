"""The verdict of a graph about one effect: zero, identified by adjustment or a formula, or not identified; and why."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from anypag.effects.identify.adjustment import Between, between, canonical
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import Expression, P, mentioned, product, simplified, summed
from anypag.effects.identify.idp import Stuck, Torn, identified_given
from anypag.graphs.base import Marks, possible_steps, way_to
from anypag.graphs.marks import Mark, with_and
from anypag.graphs.node_sets import NodeSet, bucket_sets, members, pc_component_set, rows_as_sets, spread
from anypag.graphs.text import quote
from anypag.markup import counted

Status = Literal["zero", "adjustment", "formula", "identified", "unidentified"]
"""Only the summary over sampled graphs uses "identified", for an adjustment set or a formula."""
MOST_EDGES = 3  # how many edges a reason or another message names


@dataclass(frozen=True)
class Verdict:
    """The verdict of a graph about the effect P(y | do(x), given)."""

    status: Status
    way: Between
    z: NodeSet | None = None  # the canonical adjustment set
    formula: Expression | None = None
    stopped: Stuck | Torn | None = None  # where identification failed


def verdict(causal: CausalGraph, x: NodeSet, y: NodeSet, given: NodeSet, within: NodeSet) -> Verdict:
    """The verdict of a graph. Adjustment sets may contain only the columns in `within`."""
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
    needs an arrowhead at X. So X does not affect selection, nor do its descendants. Then adjustment gives the effect in
    the sample. `tests/effects/test_selection.py` checks this by enumeration. For formulas there is no proof.
    """
    return found.z is not None or not found.way.first


def adjustment_formula(way: Between, z: NodeSet) -> Expression:
    """Σ_z P(y | x, z, given) P(z | given)."""
    return summed(z, product(P(way.y, way.x | way.given | z), P(z, way.given))) if z else P(way.y, way.x | way.given)


def shortened(causal: CausalGraph, formula: Expression, wanted: NodeSet) -> Expression:
    """The formula without conditions that make no difference in any distribution of the graph."""

    def without_needless_conditions(leaf: P) -> P:
        given = leaf.given
        for node in members(leaf.given):
            rest = given & ~(1 << node)
            if causal.is_separated(leaf.of, 1 << node, rest):
                given = rest
        return P(leaf.of, given)

    short = simplified(formula, without_needless_conditions)
    idle = short.free & ~wanted  # the value does not depend on these, so it is averaged over them
    return summed(idle, product(short, P(idle))) if idle else short


def reason(causal: CausalGraph, found: Verdict, *, within: NodeSet | None = None) -> str:
    """The reason for a verdict in words. `within`: the columns that adjustment sets were limited to, or None."""
    x, y, given = (named(causal, part) for part in (found.way.x, found.way.y, found.way.given))
    if found.formula is None:
        return _unidentified(causal, found)
    if found.status == "zero" and given:
        return f"Given {given}, {y} does not depend on what {x} is set to."
    if found.status == "zero":
        return f"{x} is not a cause of {y}: every path between the two has an arrowhead that points back."
    if found.z is not None:
        if not found.z:
            return f"Nothing needs to be adjusted for: no path between {x} and {y} is open but the causal ones."
        return f"Adjusting for {named(causal, found.z)} closes every path between {x} and {y} but the causal ones."
    if within is None:
        return f"No adjustment set gives the effect of {x} on {y}, but a formula does."
    path = _left_open(causal, found, within)
    which = f": {path} stays open" if path else ""
    others = mentioned(found.formula) & ~(within | found.way.x | found.way.y | found.way.given)
    also = f", which also uses {named(causal, others)}" if others else ""
    return f"No adjustment set among the allowed columns gives the effect of {x} on {y}{which}. A formula does{also}."


def named(causal: CausalGraph, nodes: NodeSet) -> str:
    return with_and(tuple(map(quote, causal.names(nodes))))


def _left_open(causal: CausalGraph, found: Verdict, within: NodeSet) -> str:
    """A shortest non-causal path that stays open after adjusting for the columns `within`; empty if there is none."""
    way, marks = found.way, causal.member.marks
    z = (within & ~way.forbidden & ~way.x & ~way.y) | way.given
    above = spread(rows_as_sets(possible_steps(marks).T), z, causal.everyone)
    waiting: deque[tuple[int, ...]] = deque((v,) for v in members(way.x))
    met = set[tuple[int, int]]()
    while waiting:
        path = waiting.popleft()
        if way.y >> path[-1] & 1:
            return causal.member.path_text(path)
        for v in np.flatnonzero(marks[path[-1]]).tolist():
            is_causal = len(path) == 1 and way.first >> v & 1 and marks[path[0], v] == Mark.ARROW
            is_new = v not in path and not way.x >> v & 1 and (path[-1], v) not in met
            if is_new and not is_causal and _passes(marks, path, v, z, above):
                met.add((path[-1], v))
                waiting.append((*path, v))
    return ""


def _passes(marks: Marks, path: tuple[int, ...], after: int, z: NodeSet, above: NodeSet) -> bool:
    """May an open path continue through its last node to `after`, given z? `above`: z and its ancestors."""
    if len(path) == 1:
        return True
    node, before = path[-1], path[-2]
    is_collider = marks[before, node] == Mark.ARROW and marks[after, node] == Mark.ARROW
    return bool((above if is_collider else ~z) >> node & 1)


def _unidentified(causal: CausalGraph, found: Verdict) -> str:
    if found.way.hidden and not found.way.given:
        # edges to an outcome come first
        edges = sorted(found.way.hidden, key=lambda edge: (not found.way.y >> edge[1] & 1, edge))
        told = [_hidden_edge(causal, a, b) for a, b in edges[:MOST_EDGES]]
        n_more = len(edges) - MOST_EDGES
        return " ".join([*told, *([f"The same holds for {counted(n_more, 'more edge')}."] if n_more > 0 else [])])
    assert found.stopped is not None
    return _undirected(causal, found.stopped) if isinstance(found.stopped, Torn) else _stuck(causal, found.stopped)


def _hidden_edge(causal: CausalGraph, a: int, b: int) -> str:
    edge = causal.pag.edge(a, b)
    assert edge is not None
    doubt = "this edge may hide a common cause of both"
    if edge.mark_a == Mark.CIRCLE:
        doubt += ", and may be due to that alone"
    if edge.mark_a == edge.mark_b == Mark.CIRCLE:
        doubt = "the graph does not say which of the two causes the other, or whether something hidden causes both"
    first, second = quote(edge.a), quote(edge.b)
    remedy = f"measure a further cause of {first} that is related to {second} only through {first}, if at all."
    return f"{edge}: {doubt}; to settle this, {remedy}"


def _stuck(causal: CausalGraph, stopped: Stuck) -> str:
    """The sentence that names a path along which hidden causes may join a cause and its descendant."""
    near, over = causal.near, stopped.known
    for bucket in bucket_sets(near, over):
        after = spread(near.children, bucket, over)
        met = pc_component_set(near, bucket, over) & after & ~bucket
        if bucket & ~stopped.wanted and met:
            if bucket & stopped.wanted:
                return _undirected(causal, bucket)
            path = _collider_path(causal, bucket, met, over)
            if len(path) == 2:
                return _hidden_edge(causal, *path)
            a, b = quote(causal.pag.names[path[0]]), quote(causal.pag.names[path[-1]])
            told = f"{a} may be a cause of {b}, and hidden causes along this path may also join the two."
            return f"{causal.pag.path_text(path)}: {told}"
    joined = named(causal, stopped.wanted)
    return f"Hidden common causes may join {joined}, so that the effect cannot be computed from the data."


def _undirected(causal: CausalGraph, bucket: NodeSet) -> str:
    return f"The graph does not say which of {named(causal, bucket)} causes which, and the effect depends on it."


def _collider_path(causal: CausalGraph, sources: NodeSet, targets: NodeSet, inside: NodeSet) -> tuple[int, ...]:
    """A shortest path from sources to targets by edges that are not visible; every inner node is a collider."""
    near = causal.near

    def steps(v: int) -> list[int]:
        found = (near.invisible if sources >> v & 1 else near.invisible_into)[v] & inside
        return [w for w in members(found) if (targets >> w | near.invisible_into[w] >> v) & 1]

    path = way_to(lambda w: bool(targets >> w & 1), members(sources), steps)
    assert path, "the targets are in the pc-component of the sources"
    return tuple(path)
