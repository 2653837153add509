"""The parts of a PAG that identification takes apart: buckets, pc-components and regions (Jaber, Zhang, Bareinboim).

Each is asked of the part of the graph that a set of nodes spans, P_C: its edges and marks are those of P between nodes
of C, while an edge counts as visible if it is visible in the whole of P.
"""

from __future__ import annotations

from collections.abc import Iterable

from anypag.graphs.base import Node
from anypag.graphs.node_sets import Neighbours, NodeSet, members, node_set, spread
from anypag.graphs.pag import PAG


def buckets(pag: PAG, within: Iterable[Node] | None = None) -> tuple[tuple[str, ...], ...]:
    """The buckets: the largest sets of nodes that `o-o` edges connect.

    Args:
        pag: the graph.
        within: look only at this part of it.

    >>> buckets(PAG.from_string("A o-o B; B o-> C; D o-> C"))
    (('A', 'B'), ('C',), ('D',))
    """
    found = bucket_sets(Neighbours.of(pag.marks), _within(pag, within))
    return tuple(_named(pag, bucket) for bucket in found)


def pc_component(pag: PAG, nodes: Iterable[Node], within: Iterable[Node] | None = None) -> tuple[str, ...]:
    """The pc-component (possible c-component) of some nodes: those that a hidden common cause may join them to.

    That is the nodes themselves and all that a path leads to on which every inner node is a collider and no edge is
    visible; a single edge that is not visible is such a path.

    >>> pc_component(PAG.from_string("A o-> B; C o-> B; B --> D"), ["A"])
    ('A', 'B', 'C')
    """
    sources = node_set(pag.indices(nodes, "The nodes of a component"))
    return _named(pag, pc_component_set(Neighbours.of(pag.marks), sources, _within(pag, within)))


def region(pag: PAG, nodes: Iterable[Node], within: Iterable[Node] | None = None) -> tuple[str, ...]:
    """The region of some nodes: all buckets that their pc-component meets.

    >>> region(PAG.from_string("A o-> B; C o-> B; B --> D; C o-o E"), ["A"])
    ('A', 'B', 'C', 'E')
    """
    sources = node_set(pag.indices(nodes, "The nodes of a region"))
    return _named(pag, region_set(Neighbours.of(pag.marks), sources, _within(pag, within)))


def bucket_sets(near: Neighbours, inside: NodeSet) -> list[NodeSet]:
    """The buckets of a part of the graph, by their first node."""
    found, left = [], inside
    while left:
        bucket = spread(near.circles, left & -left, inside)
        found.append(bucket)
        left &= ~bucket
    return found


def pc_component_set(near: Neighbours, sources: NodeSet, inside: NodeSet) -> NodeSet:
    """The pc-component of some nodes in a part of the graph."""
    reached = passed = 0
    fresh = sources  # the nodes a path may go on from: the sources, and those it came into by an arrowhead
    while fresh:
        onward = 0
        for node in members(fresh):
            steps = (near.invisible if sources >> node & 1 else near.invisible_into)[node] & inside
            reached |= steps
            onward |= node_set(other for other in members(steps) if near.invisible_into[other] >> node & 1)
        passed |= fresh
        fresh = onward & ~passed
    return reached | sources


def region_set(near: Neighbours, sources: NodeSet, inside: NodeSet) -> NodeSet:
    """The union of the buckets that a pc-component meets, in a part of the graph."""
    return spread(near.circles, pc_component_set(near, sources, inside), inside)


def _within(pag: PAG, nodes: Iterable[Node] | None) -> NodeSet:
    chosen = range(len(pag)) if nodes is None else pag.indices(nodes, "The nodes of a part")
    return node_set(chosen)


def _named(pag: PAG, nodes: NodeSet) -> tuple[str, ...]:
    return tuple(pag.names[node] for node in members(nodes))
