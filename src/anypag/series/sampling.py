"""A posterior over shifts: the search of `by_scores.auto` that treats a pair of nodes and its copies in time as one.

Chains change a pair at its latest copy, which is scored once and stands for all copies. The score is that of the latest
slice given the past. So earlier nodes are joined to each other in every graph of a chain, and always in the same way:
each is a cause of all later ones. These edges are then left out of a sampled graph, and all others are copied in time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anypag.arrays import Counts, Flags, Indices
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.search.by_scores import auto
from anypag.search.by_scores.auto import AutoState
from anypag.search.by_scores.chain import CAUSE, EFFECT, Bits, Landscape, graph_of, marks_of
from anypag.search.by_scores.starting_graphs import allowed_states
from anypag.search.problem import Problem
from anypag.search.state import of_class
from anypag.series.window import Window


@dataclass(frozen=True, eq=False, repr=False)
class ShiftedState(AutoState):
    """A state whose graphs have an edge at all its copies."""

    has_rival = False  # the order of time is known, so no other order competes

    @cached_property
    def window(self) -> Window:
        return Window.of(self.nodes.names)

    def landscape(self, problem: Problem) -> Landscape:
        """What the chains walk on: only pairs with a node of the latest slice change."""
        assert problem.facts is not None, "the order of time is known"
        before, latest = self._in_past, self._is_latest
        fixed = np.where(before, CAUSE, EFFECT)
        allowed = np.where(latest, allowed_states(problem.facts), fixed).astype(np.uint8)
        score, near = problem.score_in_order, self.near & latest
        found = Landscape.of(score, near=near, allowed=allowed, selection=False, ancestral=False)
        terms, n_fixed = found.terms.copy(), int(before.sum())
        terms[:2, n_fixed:], terms[:2, :n_fixed] = found.terms[:2, : terms.shape[1] - n_fixed], found.terms[:2, :1]
        return replace(found, terms=terms, free=int(latest.sum()))

    def start_at(self, marks: Marks) -> Bits:
        """The latest copies of the marks, and the edges of the past."""
        before = self._in_past
        fixed = np.where(before, Mark.ARROW, np.where(before.T, Mark.TAIL, Mark.NONE))
        return graph_of(np.where(self._is_latest, marks, fixed).astype(np.uint8))

    def diagram_of(self, graph: Bits) -> Marks:
        """The marks of a graph (or several), those of each latest copy at all its copies."""
        return marks_of(graph)[..., *self._latest_copy]

    def diagram_for_effects(self, diagram: Marks) -> Marks:
        """The diagram with an edge from every earlier to every later node of the past: what came before joins them."""
        joins = self._in_past & (self._lags[:, None] > self._lags[None, :]) & (diagram == Mark.NONE)
        tails = np.swapaxes(joins, -1, -2)
        return np.where(joins, np.uint8(Mark.ARROW), np.where(tails, np.uint8(Mark.TAIL), diagram))

    @cached_property
    def _latest_copy(self) -> tuple[Indices, Indices]:
        order = self.nodes.order
        place = np.argsort(order).astype(np.int32)
        x, y = (nodes[np.ix_(order, order)] for nodes in self.window.latest_copy)
        return place[x], place[y]

    @cached_property
    def _lags(self) -> Counts:
        return self.window.lags[self.nodes.order]

    @cached_property
    def _is_latest(self) -> Flags:
        return self.window.is_latest[np.ix_(self.nodes.order, self.nodes.order)]

    @cached_property
    def _in_past(self) -> Flags:
        """(n, n) do both nodes lie before the latest slice, the first earlier? In a slice, by the first of `orders`."""
        rank = np.argsort(self.orders.order[0])[np.argsort(self.nodes.order)[self.nodes.order % self.window.k]]
        rank = rank - len(rank) * self._lags
        past = self._lags > 0
        return np.asarray((rank[:, None] < rank[None, :]) & past[:, None] & past[None, :])


def init(problem: Problem) -> ShiftedState:
    return of_class(ShiftedState, auto.init(problem))


# for windows without contexts, with the order of time as knowledge and a score of hidden causes
ALGORITHM = replace(auto.ALGORITHM, init=init, state=ShiftedState)
