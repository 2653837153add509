"""Sampled graphs: the states of their pairs, edges that change together, and path diagrams for effects.

In some sampled graphs two variables are joined differently than in the answer. `changes_with` lists the other edges
that differ in these graphs. `Diagrams` holds the graphs one by one, because each graph gives an effect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import isqrt
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats
from anypag.graphs.base import Marks
from anypag.graphs.marks import EDGE_SYMBOLS

STATES = {0: "", **{4 * int(left) + int(right): symbol for symbol, (left, right) in EDGE_SYMBOLS.items()}}
"""The text of each kind of edge, by its code: 4 times the mark at the first node plus the mark at the second."""
NUMBERS = {symbol: number for number, symbol in STATES.items()}

MOSTLY = 0.5  # a change is reported only if it has at least this share of the graphs in which the given pair changes
CLEARLY = 0.25  # and only if this share is larger, by this much, than its share of the graphs where the pair stays
MOST_CHANGES = 2  # the most changes that are reported
MOST_NODES = 200  # graphs with more nodes are not kept: 400 of them would take more than 8 MB

PairStates = npt.NDArray[np.uint8]


class PairChange(NamedTuple):
    """A change of `pair` in graphs where another pair changes: `pair` has the new `state` in this `share` of them."""

    pair: int
    state: int
    share: float


def states_of(pags: Marks) -> PairStates:
    """(c, p): the state of every pair i < j, row by row of the upper triangle, in every graph.

    >>> [STATES[state] for state in states_of(np.array([[[0, 2], [3, 0]], [[0, 0], [0, 0]]], np.uint8))[:, 0]]
    ['-->', '']
    """
    i, j = pairs_of(pags.shape[-1])
    return np.asarray(4 * pags[:, j, i] + pags[:, i, j], np.uint8)


@cache
def pairs_of(n: int) -> tuple[Counts, Counts]:
    """The pairs i < j of n nodes, row by row of the upper triangle."""
    return np.triu_indices(n, 1)


def changes_with(states: PairStates, counts: Counts, answers: PairStates, pair: int, state: int) -> list[PairChange]:
    """Changes of other pairs in the graphs where `pair` has `state`, not its state in the answer; the clearest first.

    A change is reported if most of these graphs have it, and if it is clearly rarer in the graphs in which `pair` has
    the answer's state. `states` (c, p): the states of the sampled classes. `answers` (k, p): the states of the answer;
    k > 1 if several graphs count as the answer.
    """
    often = state_shares(states, counts, states[:, pair] == state)
    usual = state_shares(states, counts, (states[:, pair] == answers[:, pair, None]).any(axis=0))
    gain = np.where(often >= MOSTLY, often - usual, 0.0)
    np.put_along_axis(gain, answers.astype(np.intp), 0.0, axis=0)  # states of the answer are no change
    gain[:, pair] = 0.0
    best = gain.argmax(axis=0)
    most_first = np.argsort(-gain.max(axis=0), kind="stable")[:MOST_CHANGES]
    return [
        PairChange(int(k), int(best[k]), float(often[best[k], k])) for k in most_first if gain[best[k], k] >= CLEARLY
    ]


def state_shares(states: PairStates, counts: Counts, which: Flags | slice = slice(None)) -> Floats:
    """(16, p): the share of the graphs (all, or `which`) in which each pair has each state; 0 if there are none."""
    chosen, times, p = states[which], counts[which], states.shape[1]
    graph, pair = np.nonzero(chosen)  # most pairs have no edge
    found = np.bincount(chosen[graph, pair] * np.int64(p) + pair, times[graph], 16 * p).reshape(16, p)
    found[NUMBERS[""]] = times.sum() - found.sum(axis=0)
    return np.asarray(found / max(1, times.sum()))


@dataclass(frozen=True, eq=False)
class Diagrams:
    """Sampled path diagrams, in the order in which they were sampled.

    Args:
        names: the names of the variables.
        states: (m, p) how each pair of nodes i < j is joined, row by row of the upper triangle (`STATES`).
        n_levels: the number of levels of each hidden cause of discrete columns; hidden causes are the last nodes.
        n_counted: the first `n_counted` graphs count in shares, the others serve effects only. None if all count.

    >>> Diagrams.of(np.array([[[0, 2], [3, 0]]], np.uint8), ("A", "B")).marks.tolist()
    [[[0, 2], [3, 0]]]
    """

    names: tuple[str, ...]
    states: PairStates
    n_levels: tuple[int, ...] = ()
    n_counted: int | None = None

    @classmethod
    def of(cls, marks: Marks, names: tuple[str, ...], n_levels: tuple[int, ...] = ()) -> Self:
        """The graphs with these (m, nodes, nodes) marks."""
        return cls(names, states_of(marks), n_levels)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def n_for_effects(self) -> tuple[int, int]:
        """The number of graphs for effects only: how many were drawn so far, and how many there will be in the end."""
        counted = len(self) if self.n_counted is None else self.n_counted
        return len(self) - counted, counted

    @property
    def marks(self) -> Marks:
        """(m, nodes, nodes) the marks of every graph: the inverse of `states_of`."""
        n = (1 + isqrt(1 + 8 * self.states.shape[1])) // 2
        i, j = pairs_of(n)
        marks = np.zeros((len(self), n, n), np.uint8)
        marks[:, j, i], marks[:, i, j] = self.states // 4, self.states % 4
        return marks

    def arranged(self, places: npt.NDArray[np.intp]) -> Self:
        """The diagrams with the variable at `places[i]` moved to place i."""
        hidden = np.arange(len(self.names), len(self.names) + len(self.n_levels))
        order = np.concatenate([places, hidden]).astype(np.intp)
        names = tuple(self.names[place] for place in places)
        return replace(self, names=names, states=states_of(self.marks[:, order][:, :, order]))
