"""The generalised adjustment criterion (Perković, Textor, Kalisch, Maathuis, JMLR 18, 2018) in a PAG.

A set Z is an adjustment set for the effect of X on Y if P(y | do(x)) = Σ_z P(y | x, z) P(z) in every system of the
graph's class. This is so exactly if

1. every proper possibly directed path from X to Y starts with a visible edge out of X (*amenability*);
2. Z contains no *forbidden* node (a possible descendant of a node that is on such a path and not in X);
3. Z blocks every proper path of definite status from X to Y that is not possibly directed.

A path is proper if only its first node is in X. Given 1 and 2, the third condition holds in the PAG if and only if Z
separates X and Y in one member (any will do) after the first edges of the proper possibly directed paths are taken out.

So adjustment sets are sets that separate X and Y in that member. Minimal sets contain only ancestors of X and Y. The
separating sets of such nodes are the cuts of an undirected graph. In this graph the nodes of a district (connected by
`<->`) and their parents are all joined to each other. A node that may not be used is removed, and its neighbours are
joined (Richardson & Spirtes 2002; van der Zander, Liśkiewicz, Textor 2019). Minimal cuts are enumerated by moving a cut
past one of its nodes (Berry, Bordat, Cogis 2000).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from anypag.effects.identify.causal_graph import CausalGraph
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, members, rows_as_sets, spread


class Between(NamedTuple):
    """The nodes and edges between causes X and outcomes Y."""

    x: NodeSet
    y: NodeSet
    first: NodeSet  # the nodes next to X on proper possibly directed paths from X to Y
    forbidden: NodeSet  # the possible descendants of those nodes on such paths that are not in X
    hidden: tuple[tuple[int, int], ...]  # first edges of such paths that are not visible, as (node of X, next node)
    given: NodeSet = 0


def between(causal: CausalGraph, x: NodeSet, y: NodeSet, given: NodeSet = 0) -> Between:
    near, everyone = causal.near, causal.everyone
    leading_to_y = spread(near.parents, y, everyone & ~x)
    first, hidden = 0, []
    for node in members(x):
        starts = near.children[node] & leading_to_y
        first |= starts
        hidden += [(node, other) for other in members(starts & ~near.visible[node])]
    return Between(x, y, first, spread(near.children, first, everyone), tuple(hidden), given)


def is_adjustment(causal: CausalGraph, way: Between, z: NodeSet) -> bool:
    """Is Z an adjustment set: P(y | do(x), given) = Σ_z P(y | x, z, given) P(z | given)?"""
    is_allowed = not way.hidden and not (z | way.given) & ~_usable(causal, way)
    return is_allowed and causal.is_separated(way.x, way.y, z | way.given, way.first)


def _usable(causal: CausalGraph, way: Between) -> NodeSet:
    """The nodes that may be conditioned on; with `given`, no descendants of X, because do(x) may change these."""
    after = spread(causal.near.children, way.x, causal.everyone) if way.given else way.x
    return causal.everyone & ~(way.y | way.forbidden | after)


def canonical(causal: CausalGraph, way: Between, within: NodeSet) -> NodeSet | None:
    """The canonical adjustment set: the allowed possible ancestors of X, Y and conditions; None if it is not valid."""
    above = spread(causal.near.parents, way.x | way.y | way.given, causal.everyone)
    z = above & within & _usable(causal, way) & ~way.given
    return z if is_adjustment(causal, way, z) else None


class Ways(NamedTuple):
    """An undirected graph whose cuts between X and Y are the sets that separate X and Y in the member."""

    joined: tuple[NodeSet, ...]
    x: NodeSet
    y: NodeSet
    inside: NodeSet  # X, Y and the nodes a cut may hold


def minimal_sets(causal: CausalGraph, way: Between, within: NodeSet) -> Iterator[NodeSet]:
    """An iterator over all minimal adjustment sets, each once; sets near X come first."""
    if canonical(causal, way, within) is None:
        return
    ways = ways_of(causal, way, within)
    first = _border(ways, _beside(ways, ways.x) | ways.x)
    seen, waiting = {first}, deque([first])
    while waiting:
        cut = waiting.popleft()
        yield cut
        side = spread(ways.joined, ways.x, ways.inside & ~cut)
        for node in members(cut & ~_beside(ways, ways.y)):
            wider = side | 1 << node
            following = _border(ways, wider | _beside(ways, wider))
            if following not in seen:
                seen.add(following)
                waiting.append(following)


def smallest(causal: CausalGraph, way: Between, within: NodeSet) -> NodeSet | None:
    """An adjustment set with the fewest members; None if there is none. Of several such sets, the one nearest to X."""
    return None if canonical(causal, way, within) is None else _least_cut(ways_of(causal, way, within))


def ways_of(causal: CausalGraph, way: Between, within: NodeSet) -> Ways:
    """The graph whose cuts are the allowed separating sets."""
    marks = causal.member.marks
    arrows = (marks == Mark.ARROW) & (marks.T == Mark.TAIL)
    arrows &= ~(causal.flags(way.x)[:, None] & causal.flags(way.first))  # first edges, which are arrows, are taken out
    parents = rows_as_sets(arrows.T)
    spouses = rows_as_sets((marks == Mark.ARROW) & (marks.T == Mark.ARROW))
    above = spread(parents, way.x | way.y | way.given, causal.everyone)
    joined, left = [0] * len(parents), above
    while left:
        district = spread(spouses, left & -left, above)
        left &= ~district
        _join(joined, reduce(or_, (parents[node] for node in members(district)), district))
    usable = (above & within & _usable(causal, way) & ~way.given) | way.x | way.y
    for node in members(above & ~(usable | way.given)):  # no cut may contain it, so its neighbours are joined
        around, joined[node] = joined[node], 0
        _join(joined, around, without=1 << node)
    return Ways(tuple(joined), way.x, way.y, usable)


def _join(joined: list[NodeSet], nodes: NodeSet, without: NodeSet = 0) -> None:
    """Join all of these nodes with one another, in place."""
    for node in members(nodes):
        joined[node] = (joined[node] | nodes) & ~(1 << node | without)


def _beside(ways: Ways, nodes: NodeSet) -> NodeSet:
    return reduce(or_, (ways.joined[node] for node in members(nodes)), 0) & ways.inside & ~nodes


def _border(ways: Ways, blocked: NodeSet) -> NodeSet:
    """The neighbours of the component of Y after `blocked` is removed."""
    return _beside(ways, spread(ways.joined, ways.y, ways.inside & ~blocked))


def _least_cut(ways: Ways) -> NodeSet:
    """A smallest cut, by a maximal flow from X to Y. Node v becomes an arc of capacity 1 from v to n + v."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    n = len(ways.joined)
    source, sink, plenty = 2 * n, 2 * n + 1, n + 1
    usable = members(ways.inside & ~(ways.x | ways.y))
    arcs = [(v, n + v, 1) for v in usable]
    arcs += [(source, n + v, plenty) for v in members(ways.x)] + [(v, sink, plenty) for v in members(ways.y)]
    arcs += [(n + u, v, plenty) for u in members(ways.inside) for v in members(ways.joined[u] & ways.inside)]
    start, end, capacity = np.array(arcs, np.int32).T
    network = csr_array((capacity, (start, end)), shape=(2 * n + 2, 2 * n + 2))
    left = (network - maximum_flow(network, source, sink).flow).tocsr()
    left.eliminate_zeros()
    reached = set(breadth_first_order(left, source, return_predecessors=False).tolist())
    return sum(1 << v for v in members(ways.inside) if v in reached and n + v not in reached)
