"""Separation: which independences a graph implies.

A path between x and y *connects* them given Z if every collider on it (a node with two arrowheads: `*-> v <-*`) is in Z
or an ancestor of Z, and no other inner node is in Z. Nodes with no connecting path are separated. Then they are
independent given Z in every distribution that belongs to the graph. In a DAG this is d-separation, in a MAG
m-separation. One search serves both; its time is linear in the number of edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from anypag._kernels import separation as kernel
from anypag.arrays import Flags
from anypag.errors import GraphError
from anypag.graphs.base import Marks, MixedGraph, Node, arrows, reached_backwards
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.pag import PAG


def is_separated(graph: MixedGraph, x: Node, y: Node, z: Iterable[Node] = ()) -> bool:
    """Does Z separate x and y?

    Args:
        graph: a DAG (d-separation) or a MAG (m-separation).
        x: a name or an index.
        y: another name or index.
        z: the nodes conditioned on, names or indices.

    >>> from anypag import DAG, is_separated
    >>> dag = DAG.from_string("A --> C; B --> C; C --> D")
    >>> is_separated(dag, "A", "B"), is_separated(dag, "A", "B", ["D"])
    (True, False)
    """
    condition = graph.indices(z, "The nodes of the condition set")
    return bool(are_separated(graph, [graph.index(x)], [graph.index(y)], np.array([condition], np.int32))[0])


def are_separated(
    graph: MixedGraph, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, *, always: npt.ArrayLike = ()
) -> Flags:
    """(b,) True where row k of z (b, r), together with the nodes `always`, separates x[k] and y[k] in a DAG or MAG.

    >>> from anypag import DAG
    >>> are_separated(DAG.from_string("A --> B; B --> C"), [0, 0], [1, 2], [[2], [1]])
    array([False,  True])
    """
    if isinstance(graph, PAG):
        raise GraphError("A PAG stands for many MAGs: ask one of them, `pag.to_mag()`.")
    x, y, z, always = (np.ascontiguousarray(part, dtype=np.int32) for part in (x, y, z, always))
    if x.ndim != 1 or y.shape != x.shape or z.ndim != 2 or len(z) != len(x) or always.ndim != 1:
        shapes = ", ".join(str(part.shape) for part in (x, y, z, always))
        raise GraphError(f"A batch is x (b,), y (b,), z (b, r) and always (s,); got {shapes}.")
    answer = np.empty(len(x), np.bool_)
    wrong = kernel.separated(*graph.marked_edges, x, y, z, always, answer)
    if wrong >= 0:
        asked = [int(x[wrong]), int(y[wrong]), *z[wrong].tolist(), *always.tolist()]
        a, b, *given = (graph.names[graph.index(node)] for node in asked)
        raise GraphError(
            f"x and y must be two nodes outside the condition set; got x = {a!r}, y = {b!r}, z = {given!r}."
        )
    return answer


def is_definitely_connected(marks: Marks, adjacent: Flags, x: NodeSet, y: NodeSet, z: NodeSet) -> bool:
    """Does a walk of definite status from x to y connect them in a PAG, given z?

    A node inside a path is of *definite status* if it is a collider there (arrowheads on both sides), has a tail on one
    side, or has circles on both sides while its two neighbours on the path are not adjacent. In the last two cases it
    is a collider in no member of the class. Two nodes are separated in all members exactly if no path of such nodes
    connects them (Zhang 2008). `adjacent` has all edges of the PAG, even those cut from `marks` to identify an effect.
    """
    above_z = reached_backwards(arrows(marks), list(members(z)))
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


def _is_noncollider(marks: Marks, adjacent: Flags, u: int, v: int, w: int) -> bool:
    """Is it certain that v, between u and w, is a collider in no member of the class?"""
    ends = (marks[u, v], marks[w, v])
    return Mark.TAIL in ends or (ends == (Mark.CIRCLE, Mark.CIRCLE) and not adjacent[u, w])
