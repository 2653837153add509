"""Verdicts in words."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from anypag.effects.conditional import Torn
from anypag.effects.ground import Ground
from anypag.effects.identify import Stuck
from anypag.effects.verdict import Verdict
from anypag.graphs.components import bucket_sets, pc_component_set
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, members, spread
from anypag.graphs.reasons import listed as in_a_sentence
from anypag.graphs.text import quote

MOST_EDGES = 3
"""How many edges a reason names."""


def reason(ground: Ground, found: Verdict, *, is_restricted: bool) -> str:
    """Why this is the verdict; `is_restricted`: adjustment sets were to hold certain columns only."""
    x, y, given = (listed(ground, part) for part in (found.way.x, found.way.y, found.way.given))
    if found.status == "zero":
        return _zero(found, x, y, given)
    if found.status == "adjustment":
        chosen = listed(ground, found.z or 0)
        if not chosen:
            return f"Nothing needs to be adjusted for: no path between {x} and {y} is open but the causal ones."
        return f"Adjusting for {chosen} closes every path between {x} and {y} but the causal ones."
    if found.status == "formula":
        where = "within the columns given " if is_restricted else ""
        return f"No adjustment set {where}gives the effect of {x} on {y}, but a formula does."
    return _unidentified(ground, found)


def listed(ground: Ground, nodes: NodeSet) -> str:
    """Names as a sentence has them."""
    return in_a_sentence(tuple(map(quote, ground.names(nodes))))


def _zero(found: Verdict, x: str, y: str, given: str) -> str:
    if given:
        return f"Given {given}, {y} does not depend on what {x} is set to."
    return f"{x} is not a cause of {y}: every path from one to the other meets an arrowhead pointing back."


def _unidentified(ground: Ground, found: Verdict) -> str:
    if found.way.hidden and not found.way.given:
        edges = _edges_first(ground, found)
        shown = [_hidden_edge(ground, a, b) for a, b in edges[:MOST_EDGES]]
        more = f" So do {len(edges) - MOST_EDGES} more edges." if len(edges) > MOST_EDGES else ""
        return " ".join(shown) + more
    assert found.stopped is not None
    if isinstance(found.stopped, Torn):
        return _undirected(ground, found.stopped.bucket)
    return _stuck(ground, found.stopped)


def _edges_first(ground: Ground, found: Verdict) -> list[tuple[int, int]]:
    """The first edges that are not visible, the edge to the outcome itself before the others."""
    return sorted(found.way.hidden, key=lambda edge: (not found.way.y >> edge[1] & 1, edge))


def _hidden_edge(ground: Ground, a: int, b: int) -> str:
    edge = ground.pag.edge(a, b)
    assert edge is not None
    first, second = quote(edge.a), quote(edge.b)
    remedy = f"a measured cause of {first} that has nothing else to do with {second} would settle it."
    if (edge.mark_a, edge.mark_b) == (Mark.CIRCLE, Mark.CIRCLE):
        return f"{edge}: the graph does not say which of the two causes the other, if not something hidden; {remedy}"
    if edge.mark_a == Mark.CIRCLE:
        return f"{edge}: this edge may hide a common cause of both, and be nothing else; {remedy}"
    return f"{edge}: this edge may hide a common cause of both; {remedy}"


def _stuck(ground: Ground, stopped: Stuck) -> str:
    """Name a path along which hidden causes may join a cause to what comes after it."""
    near, over = ground.near, stopped.known
    for bucket in bucket_sets(near, over):
        after = spread(near.children, bucket, over)
        met = pc_component_set(near, bucket, over) & after & ~bucket
        if bucket & ~stopped.wanted and met:
            if bucket & stopped.wanted:
                return _undirected(ground, bucket)
            return _joined(ground, _collider_path(ground, bucket, met, over))
    left = listed(ground, stopped.wanted)
    return f"Hidden common causes may join {left} in ways that leave the effect open."


def _undirected(ground: Ground, bucket: NodeSet) -> str:
    return f"The graph does not say which of {listed(ground, bucket)} causes which, and the effect depends on it."


def _joined(ground: Ground, path: tuple[int, ...]) -> str:
    if len(path) == 2:
        return _hidden_edge(ground, *path)
    a, b = quote(ground.pag.names[path[0]]), quote(ground.pag.names[path[-1]])
    text = a
    for v, w in pairwise(path):
        edge = ground.pag.edge(v, w)
        assert edge is not None
        text += f" {edge.symbol} {quote(edge.b)}"
    return f"{text}: along this path hidden causes may join {a} to {b}, which comes after it."


def _collider_path(ground: Ground, sources: NodeSet, targets: NodeSet, inside: NodeSet) -> tuple[int, ...]:
    """A shortest path of edges that are not visible, every inner node a collider."""
    near = ground.near
    before: dict[int, int] = dict.fromkeys(members(sources), -1)
    waiting = deque(before)
    while waiting:
        v = waiting.popleft()
        steps = (near.invisible if sources >> v & 1 else near.invisible_into)[v] & inside
        for w in members(steps):
            if targets >> w & 1:
                path = [w, v]
                while before[path[-1]] >= 0:
                    path.append(before[path[-1]])
                return tuple(path[::-1])
            if w not in before and near.invisible_into[w] >> v & 1:
                before[w] = v
                waiting.append(w)
    raise AssertionError("the targets are in the pc-component of the sources")
