"""Separation: which independences a graph implies.

A path between x and y *connects* them given Z if every collider on it (a node with two arrowheads: `*-> v <-*`) is in Z
or an ancestor of Z, and no other inner node is in Z. Nodes with no connecting path are separated: independent given Z
in every distribution that belongs to the graph. In a DAG this is d-separation, in a MAG m-separation; the search
is the same, and linear in the number of edges.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from anypag._kernels import separation as kernel
from anypag.errors import GraphError
from anypag.graphs.base import MixedGraph, Node
from anypag.graphs.pag import PAG


def is_separated(graph: MixedGraph, x: Node, y: Node, z: Iterable[Node] = ()) -> bool:
    """Does Z separate x and y?

    Args:
        graph: a DAG (d-separation) or a MAG (m-separation).
        x: a name or an index.
        y: another one.
        z: the nodes conditioned on, names or indices.

    >>> from anypag import DAG, is_separated
    >>> dag = DAG.from_string("A --> C; B --> C; C --> D")
    >>> is_separated(dag, "A", "B"), is_separated(dag, "A", "B", ["D"])
    (True, False)
    """
    if isinstance(z, str):
        raise GraphError(
            f"The condition set is a list of nodes; got the string {z!r}. Write [{z!r}] for a single node."
        )
    i, j, condition = graph.index(x), graph.index(y), [graph.index(node) for node in z]
    if i == j or i in condition or j in condition:
        raise GraphError(f"x and y must be two nodes outside the condition set; got x = {x!r}, y = {y!r}, z = {z!r}.")
    return bool(are_separated(graph, [i], [j], np.array([condition], np.int32).reshape(1, -1))[0])


def are_separated(
    graph: MixedGraph, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, *, always: npt.ArrayLike = ()
) -> npt.NDArray[np.bool_]:
    """Answer a batch of questions at once.

    Args:
        graph: a DAG or a MAG.
        x: (b,) indices.
        y: (b,) indices.
        z: (b, r) indices, one condition set a row.
        always: indices conditioned on in every question (selection).

    Returns:
        (b,) True where separated.
    """
    if isinstance(graph, PAG):
        raise GraphError("A PAG stands for many MAGs: ask one of them, `pag.to_mag()`.")
    x, y, z, always = (np.ascontiguousarray(part, dtype=np.int32) for part in (x, y, z, always))
    answer = np.empty(len(x), np.bool_)
    kernel.separated(*graph.edge_lists, x, y, z, always, answer)
    return answer
