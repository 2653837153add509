"""The generalised adjustment criterion (Perković, Textor, Kalisch, Maathuis, JMLR 18, 2018) in a PAG.

A set Z is an adjustment set for the effect of X on Y, P(y | do(x)) = Σ_z P(y | x, z) P(z) in every system of the
graph's class, exactly if

1. every proper possibly directed path from X to Y starts with a visible edge out of X (*amenability*);
2. Z contains no *forbidden* node: no possible descendant of a node other than X on such a path;
3. Z blocks every proper path of definite status from X to Y that is not possibly directed.

A path is proper if only its first node is in X. Only sets of reachable nodes are needed, not paths, which takes linear
time. Given 1 and 2, the third condition holds in the PAG if and only if Z separates X and Y in any one member after the
first edges of the proper possibly directed paths are taken out.
"""

from __future__ import annotations

from typing import NamedTuple

from anypag.effects.identify.causal_graph import CausalGraph
from anypag.graphs.node_sets import NodeSet, members, spread


class Between(NamedTuple):
    """The nodes and edges between causes X and outcomes Y.

    `first`: the nodes that proper possibly directed paths from X to Y go to first. `forbidden`: the possible
    descendants of nodes on such a path; an adjustment set contains none of them. `hidden`: first edges of such paths
    that are not visible, as (node of X, next node). `given`: conditions, to which an adjustment set is added.
    """

    x: NodeSet
    y: NodeSet
    first: NodeSet
    forbidden: NodeSet
    hidden: tuple[tuple[int, int], ...]
    given: NodeSet = 0


def between(causal: CausalGraph, x: NodeSet, y: NodeSet, given: NodeSet = 0) -> Between:
    """The nodes and edges between X and Y."""
    near, everyone = causal.near, causal.everyone
    leading_to_y = spread(near.parents, y, everyone & ~x)
    first, hidden = 0, []
    for node in members(x):
        starts = near.children[node] & leading_to_y
        first |= starts
        hidden += [(node, other) for other in members(starts & ~near.visible[node])]
    return Between(x, y, first, spread(near.children, first, everyone), tuple(hidden), given)


def is_adjustment(causal: CausalGraph, way: Between, z: NodeSet) -> bool:
    """Is Z an adjustment set: P(y | do(x), given) = Σ_z P(y | x, z, given) P(z | given)?

    With conditions, neither they nor Z may be descendants of X; then do(x) does not change P(z | given).
    """
    is_allowed = not way.hidden and not (z | way.given) & ~_sound(causal, way)
    return is_allowed and causal.is_separated(way.x, way.y, z | way.given, way.first)


def allowed(causal: CausalGraph, way: Between, within: NodeSet) -> NodeSet:
    """The nodes that adjustment sets may hold."""
    return within & _sound(causal, way) & ~way.given


def _sound(causal: CausalGraph, way: Between) -> NodeSet:
    """The nodes that may be conditioned on."""
    after = spread(causal.near.children, way.x, causal.everyone) if way.given else way.x
    return causal.everyone & ~(way.y | way.forbidden | after)


def canonical(causal: CausalGraph, way: Between, within: NodeSet) -> NodeSet | None:
    """The canonical adjustment set: the allowed possible ancestors of X and Y; None if there is no adjustment set.

    >>> from anypag import PAG
    >>> from anypag.effects.identify.causal_graph import causal_graph_of
    >>> causal = causal_graph_of(PAG.from_string("A o-> X; B o-> X; X --> Y; A --> Y; C o-> Y"))
    >>> way = between(causal, 1 << causal.pag.index("X"), 1 << causal.pag.index("Y"))
    >>> causal.names(canonical(causal, way, causal.everyone))
    ('A', 'B', 'C')
    """
    above = spread(causal.near.parents, way.x | way.y | way.given, causal.everyone)
    z = above & allowed(causal, way, within)
    return z if is_adjustment(causal, way, z) else None
