"""Separation in a PAG itself: along paths on which every node's part is settled.

A node inside a path is of *definite status* if it is a collider there (arrowheads on both sides), has a tail on one
side, or has circles on both sides while its two neighbours on the path are not adjacent; the last two cannot be
colliders in any member. In a PAG two nodes are separated in all members exactly if no path of definite status connects
them (Zhang 2008). The same walk also judges graphs with edges taken out, which the rules of identification ask for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from anypag.errors import GraphError
from anypag.graphs.base import Marks, Node, reached_backwards
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, members, node_set
from anypag.graphs.pag import PAG


def is_definitely_separated(
    pag: PAG, x: Node | Iterable[Node], y: Node | Iterable[Node], z: Iterable[Node] = ()
) -> bool:
    """Does Z separate x and y in every member of the class that a PAG stands for?

    Args:
        pag: the graph; it must be a valid PAG for the answer to hold in its members.
        x: a node or several.
        y: others.
        z: the nodes conditioned on.

    >>> pag = PAG.from_string("A o-> C; B o-> C; C --> D")
    >>> is_definitely_separated(pag, "A", "B"), is_definitely_separated(pag, "A", "B", ["D"])
    (True, False)
    """
    sets = [_nodes(pag, x, "x"), _nodes(pag, y, "y"), node_set(pag.indices(z, "The nodes of the condition set"))]
    if not sets[0] or not sets[1] or sets[0] & sets[1] or (sets[0] | sets[1]) & sets[2]:
        raise GraphError("x and y must be different nodes outside the condition set, and neither may be empty.")
    return not is_definitely_connected(pag.marks, pag.marks != Mark.NONE, *sets)


def is_definitely_connected(marks: Marks, adjacent: npt.NDArray[np.bool_], x: NodeSet, y: NodeSet, z: NodeSet) -> bool:
    """Does a walk of definite status from x to y connect them given z?

    `marks` may be a PAG with edges taken out; `adjacent` says who was adjacent before.
    """
    above_z = reached_backwards((marks == Mark.ARROW) & (marks.T == Mark.TAIL), list(members(z)))
    neighbours = [np.flatnonzero(row).tolist() for row in marks]
    waiting = deque((u, v) for u in members(x) for v in neighbours[u] if not x >> v & 1)
    seen = set(waiting)
    while waiting:
        u, v = waiting.popleft()
        if y >> v & 1:
            return True
        for w in neighbours[v]:
            step = (v, w)
            if w == u or x >> w & 1 or step in seen:
                continue
            is_collider = marks[u, v] == Mark.ARROW and marks[w, v] == Mark.ARROW
            if above_z[v] if is_collider else (not z >> v & 1 and _is_noncollider(marks, adjacent, u, v, w)):
                seen.add(step)
                waiting.append(step)
    return False


def _is_noncollider(marks: Marks, adjacent: npt.NDArray[np.bool_], u: int, v: int, w: int) -> bool:
    """Is v, between u and w, a collider in no member?"""
    ends = (marks[u, v], marks[w, v])
    return Mark.TAIL in ends or (ends == (Mark.CIRCLE, Mark.CIRCLE) and not adjacent[u, w])


def _nodes(pag: PAG, nodes: Node | Iterable[Node], role: str) -> NodeSet:
    return node_set(pag.indices([nodes] if isinstance(nodes, (str, int)) else nodes, f"The nodes of {role}"))
