"""Visible edges, sets of nodes as the bits of an integer, and the parts of a PAG from which effects are identified.

A visible edge is an arrow that cannot hide a common cause of its two ends.

Identifying an effect takes thousands of small sets of nodes. As integers (bit v for node v), two sets are united or
intersected by a single operation, and they serve as keys of a cache.

Buckets, pc-components and regions (Jaber, Zhang, Bareinboim) are computed in P_C, the part of the graph P over a set of
nodes C. It has the edges of P between nodes of C, with their marks. An edge counts as visible if it is visible in P.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from anypag.arrays import Flags
from anypag.graphs.base import Marks, MixedGraph, Node, arrows, possible_steps, way_to
from anypag.graphs.marks import Mark

NodeSet = int  # a set of nodes: bit v for node v


def is_visible(graph: MixedGraph, a: Node, b: Node) -> bool:
    """Is `a --> b` *visible*: is it sure that no unmeasured variable causes both directly (Zhang 2008, Definition 8)?

    It is visible if some node C that is not adjacent to b has an edge into `a`, or a path into `a` on which all inner
    nodes are colliders and parents of b. A common cause of a and b would then make C and b adjacent. The graph is a
    PAG, or a MAG without selection.

    >>> from anypag import PAG, is_visible
    >>> is_visible(PAG.from_string("C o-> A; A --> B"), "A", "B")
    True
    >>> is_visible(PAG.from_string("A --> B; C o-> B"), "A", "B")
    False
    """
    return _is_visible(graph.marks, graph.index(a), graph.index(b))


def visible_edges(marks: Marks) -> Flags:
    """(n, n) True where row --> column is a visible edge."""
    visible = np.zeros(marks.shape, bool)
    for a, b in np.argwhere(arrows(marks)).tolist():
        visible[a, b] = _is_visible(marks, a, b)
    return visible


def _is_visible(marks: Marks, a: int, b: int) -> bool:
    if marks[a, b] != Mark.ARROW or marks[b, a] != Mark.TAIL:
        return False
    is_apart, is_parent = marks[:, b] == Mark.NONE, (marks[:, b] == Mark.ARROW) & (marks[b] == Mark.TAIL)
    is_apart[b] = False

    def steps(v: int) -> list[int]:
        leads_on = is_apart | (is_parent & (marks[v] == Mark.ARROW))
        return np.flatnonzero((marks[:, v] == Mark.ARROW) & leads_on).tolist()

    return bool(way_to(lambda u: bool(is_apart[u]), [a], steps))


def node_set(nodes: Iterable[int]) -> NodeSet:
    found = 0
    for node in nodes:
        found |= 1 << node
    return found


def members(nodes: NodeSet) -> Iterator[int]:
    """The nodes of a set, in ascending order."""
    while nodes:
        lowest = nodes & -nodes
        yield lowest.bit_length() - 1
        nodes ^= lowest


def rows_as_sets(flags: Flags) -> tuple[NodeSet, ...]:
    """For each row of a matrix of flags, the set of the nodes whose flag is True."""
    packed = np.packbits(flags, axis=1, bitorder="little")
    return tuple(int.from_bytes(row.tobytes(), "little") for row in packed)


def spread(steps: tuple[NodeSet, ...], sources: NodeSet, inside: NodeSet) -> NodeSet:
    """The sources, and all nodes that are reached from them by steps to nodes of `inside`."""
    reached = fresh = sources
    while fresh:
        found = 0
        for node in members(fresh):
            found |= steps[node]
        fresh = found & inside & ~reached
        reached |= fresh
    return reached


@dataclass(frozen=True)
class Neighbours:
    """For each node v of a PAG, six sets of its neighbours w. `children`: the edge's marks allow v to cause w.
    `parents`: the edge's marks allow w to cause v. `circles`: v o-o w. `visible`: v --> w is visible. `invisible`:
    neither v --> w nor w --> v is visible. `invisible_into`: nodes of `invisible` whose edge has an arrowhead at v.
    """

    children: tuple[NodeSet, ...]
    parents: tuple[NodeSet, ...]
    circles: tuple[NodeSet, ...]
    invisible: tuple[NodeSet, ...]
    invisible_into: tuple[NodeSet, ...]
    visible: tuple[NodeSet, ...]

    @classmethod
    def of(cls, marks: Marks, visible: Flags | None = None) -> Self:
        """The neighbours in a marks matrix; `visible` replaces the flags of `visible_edges`."""
        steps = possible_steps(marks)
        visible = visible_edges(marks) if visible is None else visible
        invisible = (marks != Mark.NONE) & ~visible & ~visible.T
        return cls(
            children=rows_as_sets(steps),
            parents=rows_as_sets(steps.T),
            circles=rows_as_sets((marks == Mark.CIRCLE) & (marks.T == Mark.CIRCLE)),
            invisible=rows_as_sets(invisible),
            invisible_into=rows_as_sets(invisible & (marks.T == Mark.ARROW)),
            visible=rows_as_sets(visible),
        )

    @property
    def everyone(self) -> NodeSet:
        return (1 << len(self.children)) - 1


def bucket_sets(near: Neighbours, inside: NodeSet) -> list[NodeSet]:
    """The buckets (nodes connected by `o-o` edges) within `inside`, in the order of their first nodes."""
    found, left = [], inside
    while left:
        bucket = spread(near.circles, left & -left, inside)
        found.append(bucket)
        left &= ~bucket
    return found


def pc_component_set(near: Neighbours, sources: NodeSet, inside: NodeSet) -> NodeSet:
    """The pc-component of `sources` within `inside`: these nodes, and every node that a path of invisible edges joins
    to one of them, if all inner nodes of the path are colliders.
    """
    reached = passed = 0
    fresh = sources  # the nodes from which a path may continue: the sources, and nodes entered by an arrowhead
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
    """The union of the buckets within `inside` that the pc-component of `sources` meets."""
    return spread(near.circles, pc_component_set(near, sources, inside), inside)
