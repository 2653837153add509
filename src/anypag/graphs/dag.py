"""Directed acyclic graphs: causal systems, including latent and selection variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from anypag.errors import CycleError
from anypag.graphs.base import Marks, MixedGraph, check_edge_kinds, checked_names, square_matrix
from anypag.graphs.marks import Mark
from anypag.graphs.text import quote


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
    _allowed: ClassVar[frozenset[tuple[Mark, Mark]]] = frozenset({(Mark.TAIL, Mark.ARROW), (Mark.ARROW, Mark.TAIL)})

    def __init__(self, adjacency: npt.ArrayLike, names: Sequence[str] | None = None) -> None:
        array = square_matrix(adjacency, 1, "The adjacency of a DAG holds 0 and 1")
        names = checked_names(names, len(array))
        cycle = find_cycle(array.astype(np.uint8))
        if cycle:
            path = tuple(names[i] for i in cycle)
            raise CycleError(f"A DAG has no cycle; got {' --> '.join(map(quote, path))}.", path)
        # as plain integers the marks would take eight times the memory
        arrow, tail, none = np.uint8(Mark.ARROW), np.uint8(Mark.TAIL), np.uint8(Mark.NONE)
        super().__init__(np.where(array == 1, arrow, np.where(array.T == 1, tail, none)), names)

    @property
    def adjacency(self) -> Marks:
        """(n, n), 1 where the row is a parent of the column."""
        return np.asarray(self.marks == Mark.ARROW, np.uint8)

    def topological_order(self) -> tuple[str, ...]:
        """The names, every node after its parents."""
        order, _ = _peel(self.adjacency)
        return tuple(self.names[i] for i in order)

    @classmethod
    def _from_marks(cls, marks: Marks, names: Sequence[str]) -> Self:
        check_edge_kinds(cls.__name__, cls._allowed, marks, names)
        return cls((marks == Mark.ARROW).astype(np.uint8), names)


def find_cycle(adjacency: Marks) -> list[int]:
    """The nodes along a directed cycle, the first one again at the end; empty if there is none."""
    _, left = _peel(adjacency)
    if not left:
        return []
    walk, seen = [left[0]], {left[0]: 0}  # every remaining node has a remaining parent: walk up until a node repeats
    while True:
        parent = next(i for i in left if adjacency[i, walk[-1]])
        walk.append(parent)
        if parent in seen:
            return walk[seen[parent] :][::-1]
        seen[parent] = len(walk) - 1


def _peel(adjacency: Marks) -> tuple[list[int], list[int]]:
    """Remove nodes without parents repeatedly. Returns them in order, and those that stay (on or behind cycles)."""
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
