"""The graphs that a chain sampled, one by one: what effects are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.graphs.base import Marks
from anypag.search.by_scores.posterior_changes import Codes, states_of

MOST_NODES = 200
"""Larger graphs are not kept one by one: 400 of them would take more than 8 MB."""


@dataclass(frozen=True, eq=False)
class Diagrams:
    """Sampled path diagrams, in the order in which they were sampled.

    Args:
        names: of the variables.
        states: (m, p) how each pair of nodes i < j is joined, row by row of the upper triangle (`STATES`).
        n_levels: of each hidden cause of discrete columns; hidden causes are the last nodes.

    >>> Diagrams.of(np.array([[[0, 2], [3, 0]]], np.uint8), ("A", "B")).marks.tolist()
    [[[0, 2], [3, 0]]]
    """

    names: tuple[str, ...]
    states: Codes
    n_levels: tuple[int, ...] = ()

    @classmethod
    def of(cls, marks: Marks, names: tuple[str, ...], n_levels: tuple[int, ...] = ()) -> Self:
        """The graphs with these (m, nodes, nodes) marks."""
        return cls(names, states_of(marks), n_levels)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def marks(self) -> Marks:
        """(m, nodes, nodes) the marks of every graph."""
        return marks_of_states(self.states)

    def arranged(self, places: npt.NDArray[np.intp]) -> Self:
        """The variables in another order: the one at `places[i]` comes to place i."""
        hidden = np.arange(len(self.names), len(self.names) + len(self.n_levels))
        order = np.concatenate([places, hidden]).astype(np.intp)
        names = tuple(self.names[place] for place in places)
        return replace(self, names=names, states=states_of(self.marks[:, order][:, :, order]))


def marks_of_states(states: Codes) -> Marks:
    """The inverse of `states_of`."""
    n = (1 + isqrt(1 + 8 * states.shape[1])) // 2
    i, j = np.triu_indices(n, 1)
    marks = np.zeros((len(states), n, n), np.uint8)
    marks[:, j, i], marks[:, i, j] = states // 4, states % 4
    return marks
