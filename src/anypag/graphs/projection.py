"""From cause to PAG: what can be seen of a causal DAG when some of its nodes are latent and some select the sample.

DAG over observed, latent and selection nodes → MAG over the observed ones (Richardson & Spirtes 2002) → PAG, the marks
that all MAGs with the same independences share (Zhang 2008).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from anypag._kernels import rules as rule_kernel
from anypag._kernels import separation as kernel
from anypag.errors import GraphError
from anypag.graphs.base import Marks, MixedGraph, Node
from anypag.graphs.dag import DAG
from anypag.graphs.mag import MAG
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Paths, Rows, as_circles, orient
from anypag.graphs.pag import PAG
from anypag.graphs.rules import rules_after_0
from anypag.graphs.skeleton import Skeleton


def latent_projection(dag: DAG, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> MAG:
    """The MAG over the observed nodes of a DAG.

    Args:
        dag: the causal graph, with all its nodes.
        latent: the nodes that were not measured.
        selection: the nodes that decided who got into the sample; always conditioned on.

    Returns:
        X and Y are adjacent if no set of observed nodes separates them (given selection). A tail at X means that X is a
        cause of Y or of selection, an arrowhead that it is not.

    >>> from anypag import DAG
    >>> print(latent_projection(DAG.from_string("U --> A; U --> B; B --> C"), latent=["U"]))
    A <-> B
    B --> C
    """
    if not isinstance(dag, DAG):
        raise GraphError(f"A causal graph is a DAG; got a {type(dag).__name__}.")
    observed, is_latent, is_selection = roles(dag, latent, selection)
    marks = kernel.project(*dag.marked_edges, is_latent, is_selection, observed)
    return MAG(marks, [dag.names[i] for i in observed])


def true_pag(dag: DAG, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> PAG:
    """The PAG that a perfect search would find: the graph of the observed nodes of a DAG, up to Markov equivalence.

    Args:
        dag: the causal graph, with all its nodes.
        latent: the nodes that were not measured.
        selection: the nodes that decided who got into the sample.

    >>> from anypag import DAG
    >>> print(true_pag(DAG.from_string("U --> B; U --> C; A --> B; D --> C"), latent=["U"]))
    B <-> C
    A o-> B
    D o-> C
    """
    return pag_of_mag(latent_projection(dag, latent, selection))


def pag_of_mag(mag: MAG) -> PAG:
    """The PAG of the Markov equivalence class of a MAG."""
    return PAG(marks_of_class(mag.marks), mag.names)


def marks_of_class(mag: Marks) -> Marks:
    """The marks of the PAG of a MAG, from the marks of the MAG (which are not checked again)."""
    return orient(as_circles(mag), CollidersOf(mag)).marks


class CollidersOf:
    """The colliders of a known MAG."""

    def __init__(self, mag: Marks) -> None:
        self._marks = mag

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: Rows) -> int:
        return int(rule_kernel.rule_0_in_mag(marks, skeleton.start, skeleton.neighbour, self._marks, wanted, rows))

    def decide(self, paths: Paths) -> tuple[Paths, npt.NDArray[np.bool_]]:
        length = (paths >= 0).sum(axis=1)
        every = np.arange(len(paths))
        b, c = paths[every, length - 2], paths[every, length - 1]
        return paths, self._marks[c, b] == Mark.TAIL


def roles(
    graph: MixedGraph, latent: Iterable[Node], selection: Iterable[Node]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The indices of the observed nodes, and flags of the latent and of the selection nodes of a graph."""
    is_latent, is_selection = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    is_latent[graph.indices(latent, "The latent nodes")] = True
    is_selection[graph.indices(selection, "The selection nodes")] = True
    both = np.flatnonzero(is_latent & is_selection)
    if len(both):
        raise GraphError(f"A node is latent or a selection node, not both; {graph.names[both[0]]!r} is given as both.")
    return np.flatnonzero(~is_latent & ~is_selection), is_latent, is_selection


def mag_of_diagram(marks: Marks) -> Marks:
    """The marks of the MAG with the independences of a graph of `-->`, `<->` and `---` that need not be ancestral.

    Args:
        marks: of a graph without directed cycles and without arrowheads at the ends of `---`.

    A `<->` may stand between a node and its ancestor here, as where a confounder of both was never measured. The MAG
    says the same of independence, with more edges.

    >>> print(MAG(mag_of_diagram(PAG.from_string("A --> B; B --> C; C --> D; B <-> D").marks), list("ABCD")))
    A --> B
    A --> D
    B --> C
    B --> D
    C --> D
    """
    if not ((marks == Mark.TAIL) & (marks.T == Mark.TAIL)).any():
        nobody = np.zeros(len(marks), np.bool_)
        return np.asarray(kernel.project(*Skeleton.of(marks).with_marks(marks), nobody, nobody, np.arange(len(marks))))
    return _mag_of_causes(marks)


def _mag_of_causes(marks: Marks) -> Marks:
    """The same by a DAG: a latent cause for every `<->`, a common effect that selects for every `---`."""
    n = len(marks)
    arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
    both, undirected = np.argwhere(np.triu(arrow & arrow.T)), np.argwhere(np.triu(tail & tail.T))
    size = n + len(both) + len(undirected)
    adjacency = np.zeros((size, size), np.uint8)
    adjacency[:n, :n] = arrow & tail.T
    for k, pair in enumerate(both):
        adjacency[n + k, pair] = 1
    for k, pair in enumerate(undirected):
        adjacency[pair, n + len(both) + k] = 1
    is_latent, is_selection = np.zeros((2, size), np.bool_)
    is_latent[n : n + len(both)] = True
    is_selection[n + len(both) :] = True
    return np.asarray(kernel.project(*DAG(adjacency).marked_edges, is_latent, is_selection, np.arange(n)))


def of_data_alone(pag: PAG) -> PAG:
    """The PAG of the same class, for a sample that nothing selected, without marks that rest on knowledge."""
    found = orient(as_circles(pag.marks), CollidersOf(pag.marks), rules_after_0(selection=False))
    return PAG(found.marks, pag.names)
