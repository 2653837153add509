"""Computes the PAG of a causal DAG in which some nodes are latent and some select the sample.

DAG over observed, latent and selection nodes → MAG over the observed ones (Richardson & Spirtes 2002) → PAG, the marks
that all MAGs with the same independences share (Zhang 2008).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np

from anypag._kernels import rules as rule_kernel
from anypag._kernels import separation as kernel
from anypag.arrays import Counts, Flags
from anypag.errors import GraphError
from anypag.graphs.base import Marks, MixedGraph, Node, arrows, marks_of_arrows, transitive
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import LogRows, Paths, as_circles, orient
from anypag.graphs.pag import DAG, MAG, PAG
from anypag.graphs.rules import rules_after_0
from anypag.graphs.skeleton import MarkedEdges, Skeleton
from anypag.threads import in_turns


def latent_projection(dag: DAG, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> MAG:
    """The MAG over the observed nodes of a DAG.

    Args:
        dag: the causal graph, with all its nodes.
        latent: the nodes that were not measured.
        selection: the nodes that decided who got into the sample; they are always conditioned on.

    Returns:
        A MAG. X and Y are adjacent in it if no set of observed nodes separates X from Y (given selection). A tail at X
        on the edge X–Y means that X is a cause of Y or of selection; an arrowhead at X means that X is neither.

    >>> from anypag import DAG
    >>> print(latent_projection(DAG.from_string("U --> A; U --> B; B --> C"), latent=["U"]))
    A <-> B
    B --> C
    """
    if not isinstance(dag, DAG):
        raise GraphError(f"A causal graph is a DAG; got a {type(dag).__name__}.")
    observed, is_latent, is_selection = roles(dag, latent, selection)
    marks = _projected(dag.marked_edges, is_latent, is_selection, observed)
    return MAG(marks, [dag.names[i] for i in observed])


def true_pag(dag: DAG, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> PAG:
    """The PAG that a perfect search would find: the PAG of the MAG `latent_projection(dag, latent, selection)`.

    >>> from anypag import DAG
    >>> print(true_pag(DAG.from_string("U --> B; U --> C; A --> B; D --> C"), latent=["U"]))
    B <-> C
    A o-> B
    D o-> C
    """
    return pag_of_mag(latent_projection(dag, latent, selection))


def pag_of_mag(mag: MAG) -> PAG:
    """The PAG of the Markov equivalence class of a MAG."""
    return PAG.trusted(marks_of_class(mag.marks), mag.names)


def marks_of_class(mag: Marks) -> Marks:
    """The marks of the PAG of a MAG, from the marks of the MAG (which are not checked again)."""
    return orient(as_circles(mag), CollidersOf(mag)).marks


def class_of(mag: Marks) -> Marks:
    """The result of `marks_of_class`, from a cache: sampled graphs often have a MAG or a class that was met before."""
    return _class_of(mag.tobytes(), len(mag))


@lru_cache(maxsize=1024)
def _class_of(mag: bytes, n: int) -> Marks:
    marks = np.frombuffer(mag, np.uint8).reshape(n, n)
    arrow, apart = marks == Mark.ARROW, marks == Mark.NONE
    np.fill_diagonal(apart, False)
    in_collider = arrow & (apart.astype(np.float32) @ arrow > 0)
    met = _classes_with((as_circles(marks) + in_collider).tobytes())
    for pag in met:  # a MAG with all arrowheads and tails of the PAG answers R4 alike, so the rules would end there too
        if ((pag == Mark.CIRCLE) | (pag == marks)).all():
            return pag
    met.append(marks_of_class(marks))
    return met[-1]


@lru_cache(maxsize=1024)
def _classes_with(colliders: bytes) -> list[Marks]:
    """The PAGs met so far of the MAGs with these edges and unshielded colliders; new ones are appended."""
    return []


class CollidersOf:
    """The colliders of a known MAG."""

    def __init__(self, mag: Marks) -> None:
        self._marks = mag

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: LogRows) -> int:
        return int(rule_kernel.rule_0_in_mag(marks, skeleton.start, skeleton.neighbour, self._marks, wanted, rows))

    def decide(self, paths: Paths) -> tuple[Paths, Flags]:
        length = (paths >= 0).sum(axis=1)
        every = np.arange(len(paths))
        b, c = paths[every, length - 2], paths[every, length - 1]
        return paths, self._marks[c, b] == Mark.TAIL


def roles(graph: MixedGraph, latent: Iterable[Node], selection: Iterable[Node]) -> tuple[Counts, Flags, Flags]:
    """The indices of the observed nodes, and flags of the latent and of the selection nodes of a graph."""
    is_latent, is_selection = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    is_latent[graph.indices(latent, "The latent nodes")] = True
    is_selection[graph.indices(selection, "The selection nodes")] = True
    both = np.flatnonzero(is_latent & is_selection)
    if len(both):
        raise GraphError(f"A node is latent or a selection node, not both; {graph.names[both[0]]!r} is given as both.")
    return np.flatnonzero(~is_latent & ~is_selection), is_latent, is_selection


def mag_of_diagram(marks: Marks, n_hidden: int = 0) -> Marks:
    """The marks of the MAG with the same independences as a graph of `-->`, `<->` and `---`. That graph must have no
    directed cycles and no arrowheads at the ends of `---`, but a `<->` may join a node and its ancestor. The last
    `n_hidden` nodes are hidden causes; with these, the graph must have no `---`.
    """
    n, arrow, tail = len(marks), marks == Mark.ARROW, marks == Mark.TAIL
    if not n_hidden and not (arrow & arrow.T).any():  # without `<->` it is a MAG
        return marks.copy()
    if not (tail & tail.T).any():
        is_hidden = np.arange(n) >= n - n_hidden
        edges = Skeleton.of(marks).with_marks(marks)
        return _projected(edges, is_hidden, np.zeros_like(is_hidden), np.arange(n - n_hidden))
    # projects a DAG that has a latent cause for every `<->` and a selection node for every `---`
    both, undirected = np.argwhere(np.triu(arrow & arrow.T)), np.argwhere(np.triu(tail & tail.T))
    size = n + len(both) + len(undirected)
    node = np.arange(size)
    is_selection = node >= n + len(both)
    is_latent = (node >= n) & ~is_selection
    adjacency = np.zeros((size, size), np.uint8)
    adjacency[:n, :n] = arrow & tail.T
    adjacency[node[is_latent, None], both] = 1
    adjacency[undirected, node[is_selection, None]] = 1
    return _projected(DAG(adjacency).marked_edges, is_latent, is_selection, np.arange(n))


def _projected(edges: MarkedEdges, is_latent: Flags, is_selection: Flags, observed: Counts) -> Marks:
    marks, stand = np.zeros((len(observed), len(observed)), np.uint8), np.zeros(1, np.int64)
    in_turns(kernel.project, *edges, is_latent, is_selection, observed, marks, stand)
    return marks


def of_data_alone(pag: PAG) -> PAG:
    """The PAG of the Markov equivalence class of `pag`, without marks from knowledge; assumes no selection."""
    found = orient(as_circles(pag.marks), CollidersOf(pag.marks), rules_after_0(selection=False))
    return PAG(found.marks, pag.names)


@dataclass(frozen=True, eq=False)
class LatentDAG:
    """A DAG of n measured variables and k hidden causes of them."""

    parents: Flags  # (n, n) True at [i, j] if i is a parent of j
    children: Flags  # (k, n) True at [h, j] if j is a child of the hidden cause h
    n_levels: tuple[int, ...]  # (k,) the number of levels of each hidden cause

    @classmethod
    def of_marks(cls, marks: Marks, n_levels: tuple[int, ...]) -> Self:
        """The LatentDAG of the marks of a DAG whose nodes are the measured variables, then the hidden causes."""
        n = len(marks) - len(n_levels)
        causes = arrows(marks)
        return cls(causes[:n, :n], causes[n:, :n], n_levels)

    @property
    def n(self) -> int:
        """The number of measured variables."""
        return len(self.parents)

    @property
    def causes(self) -> Flags:
        """(n + k, n + k) True where i is a direct cause of j. The hidden causes come last."""
        k = len(self.n_levels)
        causes = np.zeros((self.n + k, self.n + k), np.bool_)
        causes[: self.n, : self.n], causes[self.n :, : self.n] = self.parents, self.children
        return causes

    @property
    def marks(self) -> Marks:
        """(n + k, n + k) the marks of the DAG over all nodes. The hidden causes come last."""
        return marks_of_arrows(self.causes)

    def with_last_hidden(self) -> Self:
        """The LatentDAG in which all hidden causes except the last become measured variables, after the others."""
        causes = self.causes[:, :-1]
        return replace(self, parents=causes[:-1], children=causes[-1:], n_levels=self.n_levels[-1:])

    def components(self) -> list[list[int]]:
        """The hidden causes in groups: causes that share a child are in the same group."""
        share_child = self.children.astype(np.int64) @ self.children.T > 0
        together = transitive(share_child) | np.eye(len(share_child), dtype=np.bool_)
        return [np.flatnonzero(row).tolist() for k, row in enumerate(together) if not row[:k].any()]

    def with_only(self, causes: list[int]) -> Self:
        """The graph with only these hidden causes."""
        return replace(self, children=self.children[causes], n_levels=tuple(self.n_levels[h] for h in causes))

    def busy(self) -> list[int]:
        """The hidden causes with two or more children. The other hidden causes leave no trace in the data."""
        return [h for h in range(len(self.n_levels)) if self.children[h].sum() > 1]
