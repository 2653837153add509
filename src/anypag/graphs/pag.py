"""Partial ancestral graphs (PAG), maximal ancestral graphs (MAG) and directed acyclic graphs (DAG). A PAG stands for a
class of MAGs. A DAG is a causal system with all its latent and selection variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, Self

import numpy as np
import numpy.typing as npt

from anypag._kernels.separation import inducing_path
from anypag.errors import CycleError, GraphError, NotMaximalOrAncestralError
from anypag.graphs.base import Marks, MixedGraph, ancestry, checked_names, marks_of_arrows, shortest_path, square_matrix
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.graphs.text import quote

if TYPE_CHECKING:
    from anypag.graphs.validity import Validity


class PAG(MixedGraph):
    """A partial ancestral graph. It has circles where the members of its Markov equivalence class differ.

    Args:
        marks: (n, n), `marks[i, j]` the mark at j on the edge i–j (see `Mark`), 0 where there is no edge.
        names: one per node; X0, X1, ... if left out.

    Any marks are accepted, because a graph learned from finite data is not always the PAG of a MAG. `validate()` says
    whether a graph is one.

    >>> pag = PAG.from_string("smoking o-> tar; tar --> cancer")
    >>> print(pag.edge("tar", "smoking"))
    tar <-o smoking
    """

    __slots__ = ()
    _allowed = frozenset(EDGE_SYMBOLS.values())

    def to_mag(self) -> MAG:
        """A member of the equivalence class of this PAG.

        Raises:
            GraphError: no MAG has this PAG; the message says why.

        >>> print(PAG.from_string("A o-o B; B o-> C; D o-> C").to_mag())
        A --> B
        B --> C
        D --> C
        """
        verdict = self.validate()
        if verdict.mag is None or not verdict:
            raise GraphError(f"No MAG has this PAG: {verdict.reason}")
        return verdict.mag

    def validate(self) -> Validity:
        """Is this the PAG of some MAG, and if not, why not?"""
        from anypag.graphs.validity import validate

        return validate(self)


class MAG(MixedGraph):
    """A maximal ancestral graph, with edges `-->`, `<->` and `---`.

    Args:
        marks: (n, n), `marks[i, j]` the mark at j on the edge i–j: 2 arrow, 3 tail, 0 where there is no edge.
        names: one per node; X0, X1, ... if left out.

    Ancestral: no node is an ancestor of itself or of a spouse (`<->`), and no arrowhead points at the end of a `---`.
    Maximal: two nodes without an edge are separated by some set. For other graphs a GraphError names an offending path.

    >>> mag = MAG.from_string("A --> B; B <-> C")
    >>> mag.is_adjacent("A", "C")
    False
    """

    __slots__ = ()
    _allowed = frozenset(EDGE_SYMBOLS[symbol] for symbol in ("-->", "<--", "<->", "---"))

    def __init__(self, marks: npt.ArrayLike, names: Sequence[str] | None = None) -> None:
        super().__init__(marks, names)
        self.check()

    def to_pag(self) -> PAG:
        """The PAG of the Markov equivalence class of this MAG."""
        from anypag.graphs.projection import pag_of_mag

        return pag_of_mag(self)

    def check(self) -> None:
        """Raise NotMaximalOrAncestralError if the graph is not ancestral or not maximal."""
        tail, arrow = self.marks == Mark.TAIL.value, self.marks == Mark.ARROW.value
        for b, c in np.argwhere(tail & tail.T & arrow.any(axis=0)[:, None])[:1].tolist():
            a = int(np.argmax(arrow[:, b]))
            self._refuse("is not ancestral: an arrowhead points at an end of an undirected edge", (a, b, c))
        steps, spouses = arrow & tail.T, arrow & arrow.T
        cycle = find_cycle(steps.astype(np.uint8))
        if cycle:
            self._refuse("is not ancestral: it has a directed cycle", cycle)
        for a, b in np.argwhere(spouses & ancestry(self.marks))[:1].tolist() if spouses.any() else ():
            self._refuse("is not ancestral: a node is an ancestor of its spouse", (*shortest_path(steps, a, b), a))
        path = inducing_path(*self.marked_edges)
        if len(path):
            apart = f"{quote(self.names[path[0]])} and {quote(self.names[path[-1]])}, which are not adjacent"
            self._refuse(f"is not maximal: nothing separates {apart}, because of an inducing path", path.tolist())

    def _refuse(self, reason: str, path: Sequence[int]) -> NoReturn:
        names = tuple(self.names[i] for i in path)
        raise NotMaximalOrAncestralError(f"This graph {reason}: {self.path_text(names)}.", names)


class DAG(MixedGraph):
    """A directed acyclic graph.

    Args:
        adjacency: (n, n), `adjacency[i, j] = 1` where i → j, else 0.
        names: one per node; X0, X1, ... if left out.

    >>> dag = DAG([[0, 1, 1], [0, 0, 1], [0, 0, 0]], ["A", "B", "C"])
    >>> print(dag)
    A --> B
    A --> C
    B --> C
    """

    __slots__ = ()
    _allowed = frozenset({EDGE_SYMBOLS["-->"], EDGE_SYMBOLS["<--"]})

    def __init__(self, adjacency: npt.ArrayLike, names: Sequence[str] | None = None) -> None:
        array = square_matrix(adjacency, 1, "The adjacency of a DAG holds 0 and 1")
        names = checked_names(names, len(array))
        cycle = find_cycle(array.astype(np.uint8))
        if cycle:
            path = tuple(names[i] for i in cycle)
            raise CycleError(f"A DAG has no cycle; got {' --> '.join(map(quote, path))}.", path)
        super().__init__(marks_of_arrows(array == 1), names)

    @property
    def adjacency(self) -> Marks:
        """(n, n), 1 where the row is a parent of the column."""
        return np.asarray(self.marks == Mark.ARROW, np.uint8)

    def topological_order(self) -> tuple[str, ...]:
        """The names, each node after its parents."""
        order, _ = _peel(self.adjacency)
        return tuple(self.names[i] for i in order)

    @classmethod
    def _from_marks(cls, marks: Marks, names: Sequence[str]) -> Self:
        cls.check_kinds(marks, names)
        return cls((marks == Mark.ARROW).astype(np.uint8), names)


def find_cycle(adjacency: Marks) -> list[int]:
    """The nodes along a directed cycle, with the first node repeated at the end; empty if there is no cycle."""
    _, left = _peel(adjacency)
    if not left:
        return []
    walk, seen = [left[0]], {left[0]: 0}  # every node in `left` has a parent in `left`; walk up until a node repeats
    while True:
        parent = next(i for i in left if adjacency[i, walk[-1]])
        walk.append(parent)
        if parent in seen:
            return walk[seen[parent] :][::-1]
        seen[parent] = len(walk) - 1


def _peel(adjacency: Marks) -> tuple[list[int], list[int]]:
    """The nodes in an order with parents first, and the nodes left over, which are on cycles or descend from them."""
    n_parents: list[int] = adjacency.sum(axis=0, dtype=np.int64).tolist()
    children: list[list[int]] = [[] for _ in n_parents]
    for node, child in np.argwhere(adjacency).tolist():
        children[node].append(child)
    taken: list[int] = []
    ready = [node for node, count in enumerate(n_parents) if count == 0][::-1]
    while ready:
        taken.append(ready.pop())
        for child in children[taken[-1]]:
            n_parents[child] -= 1
        ready.extend(child for child in reversed(children[taken[-1]]) if n_parents[child] == 0)
    return taken, [node for node, count in enumerate(n_parents) if count > 0]
