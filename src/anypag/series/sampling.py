"""The search of `by_scores.auto` for time series: all copies of a pair of nodes in time have the same edge.

Markov chains of graphs change and score only the latest copy of a pair, which stands for all copies. The score is that
of the processes at lag 0 given the past. Edges within the past do not change the score, so in a chain they are fixed:
each node of the past causes all later nodes of the past. A sampled graph has copies of the latest edges instead.
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
    """A state in whose graphs all copies of a pair have the same edge."""

    has_rival = False  # the only knowledge is the order of time, so no best graph without knowledge is searched for

    @cached_property
    def window(self) -> Window:
        return Window.of(self.nodes.names)

    def landscape(self, problem: Problem) -> Landscape:
        """The scores and allowed edges of the chains; only pairs with a node at lag 0 can change."""
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
        """The graph with these marks at the latest copies, and with the fixed edges of the past."""
        before = self._in_past
        fixed = np.where(before, Mark.ARROW, np.where(before.T, Mark.TAIL, Mark.NONE))
        return graph_of(np.where(self._is_latest, marks, fixed).astype(np.uint8))

    def diagram_of(self, graph: Bits) -> Marks:
        """The marks of a graph (or several): all copies of a pair have the marks of its latest copy."""
        return marks_of(graph)[..., *self._latest_copy]

    def diagram_for_effects(self, diagram: Marks) -> Marks:
        """The diagram, with nodes of the past at different times joined: values before the window link all of them."""
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
        """(n, n) True where i and j are before lag 0, i before j (at one time, by the first of `orders`)."""
        rank = np.argsort(self.orders.order[0])[np.argsort(self.nodes.order)[self.nodes.order % self.window.k]]
        rank = rank - len(rank) * self._lags
        past = self._lags > 0
        return np.asarray((rank[:, None] < rank[None, :]) & past[:, None] & past[None, :])


def init(problem: Problem) -> ShiftedState:
    return of_class(ShiftedState, auto.init(problem))


# for windows without contexts; needs the order of time as knowledge, and a score that allows for hidden causes
ALGORITHM = replace(auto.ALGORITHM, init=init, state=ShiftedState)
