"""A posterior over graphs, and the PAG of least expected error.

1. Orders: BOSS from many starts gives DAGs that score well (`search.boss`).
2. Cooling: from the best of them, and from every graph handed in (that of a search by tests), a chain walks towards
   better scores (`search.chain`); the best graph met is kept. Its graphs are path diagrams: `-->`, `<->` and `---`
   without directed cycles. A `<->` may join a node and its ancestor, which a MAG writes with more edges than there are
   causes; so hidden causes cost what they are worth.
3. Sampling: from there chains at several temperatures exchange places (parallel tempering), and the PAG of each of
   their graphs is counted.
4. The answer is the PAG, among those met, with the least expected number of errors (`search.least_error`). It is the PAG
   of a MAG, that of a diagram, so it is always valid.

One step is one sweep of an order, one stretch of a chain, or one sample. A state holds arrays only; whoever stops after
any step has an answer: the PAG of the best graph so far, or of least expected error once there are samples.

Variables are worked on in an order that the data decide (`scores.base.strongest_first`), with random numbers from fixed
seeds: the same data give the same answer, however their columns are arranged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.projection import mag_of_diagram, marks_of_class
from anypag.scores.base import Score, strongest_first
from anypag.search import boss
from anypag.search.boss import Memory, Orders
from anypag.search.chain import Bits, Landscape, Prior, Walker, advance, graph_of, marks_of
from anypag.search.posterior import Posterior
from anypag.search.repair import ancestors

Phase = Literal["orders", "cooling", "sampling", "done"]


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Args:
        orders: starts of the search over orders.
        dags: how many of the DAGs found chains start from.
        cooling: stretches of each chain while it cools; a stretch is n² steps.
        samples: rounds of sampling, a stretch apart; each gives a graph of every chain.
        temperatures: of the chains that exchange places while sampling. The graphs of all count alike: a score is too
            sure of itself (its prices are points, its approximations sharp), and at 1 alone what it says will be wrong
            is a third of what is (`docs/accuracy.md`).
        hottest: where cooling begins.
    """

    orders: int = 10
    dags: int = 1
    cooling: int = 20
    samples: int = 200
    temperatures: tuple[float, ...] = (1.0, 1.6)
    hottest: float = 2.0

    @classmethod
    def of(cls, effort: float) -> Effort:
        """1 is fast, 5 thorough; work grows with the number."""
        return cls(
            orders=max(2, round(7.5 * effort + 2.5)),
            dags=max(1, round((effort + 1) / 2)),
            cooling=max(1, round(20 * effort)),
            samples=max(10, round(75 * effort + 125)),
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """What is searched, bound once: the score in the order of work, the prior, starts, and how long.

    Args:
        score: with its variables in the order of work.
        order: `order[k]` is the column that stands at place k.
        starts: (s, n, n) MAGs to start from beside the DAGs, in the order of work.
        effort: how long to search.
        prior: of the kinds of edges.
        selection: may edges be `---`?
        ancestral: walk over MAGs only, not over all path diagrams.
    """

    score: Score
    order: npt.NDArray[np.intp]
    starts: Marks
    effort: Effort
    prior: Prior
    selection: bool
    orders_memory: Memory
    ancestral: bool = False

    @classmethod
    def of(
        cls,
        score: Score,
        *,
        starts: Sequence[Marks] = (),
        effort: Effort | None = None,
        prior: Prior | None = None,
        selection: bool = True,
        ancestral: bool = False,
    ) -> Problem:
        """Bind a score (and starts, in the order of its variables) to a problem."""
        order = strongest_first(score)
        n = len(order)
        arranged = [np.asarray(start)[np.ix_(order, order)] for start in starts]
        return cls(
            score.taken(order),
            order,
            np.array(arranged, np.uint8).reshape(-1, n, n),
            Effort() if effort is None else effort,
            Prior() if prior is None else prior,
            selection,
            Memory.of_size(16 if n <= 20 else 20),
            ancestral,
        )

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.order)


@dataclass(frozen=True, eq=False)
class State:
    """How far the search has come: arrays, and nothing that they do not say.

    Args:
        orders: of step 1.
        near: (n, n) pairs that chains try more often; empty until the orders have settled.
        starts: (s, 4, n, words) graphs to cool from.
        ends: (s, 4, n, words) the best graph met from each start so far; `end_scores` are theirs.
        start: which start is being cooled.
        stretch: stretches made of it, and afterwards rounds of sampling.
        walkers: the chain that cools, or those that exchange places.
        pags, counts: the classes sampled, and how often.
        ancestors: (n, n) in how many samples i is an ancestor of j.
        best, best_score: the best graph of all.
    """

    orders: Orders
    near: npt.NDArray[np.bool_]
    starts: Bits
    start: int
    stretch: int
    walkers: tuple[Walker, ...]
    pags: Marks
    counts: npt.NDArray[np.int64]
    ancestors: npt.NDArray[np.int64]
    best: Bits
    best_score: float

    @property
    def phase(self) -> Phase:
        """What the next step belongs to."""
        if not len(self.starts):
            return "orders"
        return "cooling" if self.start < len(self.starts) else "sampling"


class Search:
    """The steps of a search on one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._landscape: Landscape | None = None

    def init(self) -> State:
        """Nothing done yet: the empty graph."""
        n = self.problem.n
        empty = graph_of(np.zeros((n, n), np.uint8))
        return State(
            boss.init(n, self.problem.effort.orders),
            np.zeros((0, 0), np.bool_),
            np.zeros((0, *empty.shape), np.uint64),
            0,
            0,
            (),
            np.zeros((0, n, n), np.uint8),
            np.zeros(0, np.int64),
            np.zeros((n, n), np.int64),
            empty,
            -np.inf,
        )

    def is_done(self, state: State) -> bool:
        """All samples are drawn."""
        return state.phase == "sampling" and state.stretch >= self.problem.effort.samples

    def step(self, state: State) -> State:
        """The next step."""
        return {"orders": self._order, "cooling": self._cool, "sampling": self._sample}[state.phase](state)

    def run(self) -> State:
        """All steps."""
        state = self.init()
        while not self.is_done(state):
            state = self.step(state)
        return state

    def answer(self, state: State) -> Posterior:
        """What can be said after any step, with variables in the order in which they were given."""
        back = np.argsort(self.problem.order)
        turned = np.ix_(back, back)
        most_first = np.argsort(-state.counts, kind="stable")
        best = marks_of(state.best)
        if state.phase == "orders":
            best = _dag_marks(boss.found(state.orders, self.problem.score)[0].parents)
        names = tuple(self.problem.score.names[i] for i in back)
        return Posterior(
            names,
            state.pags[most_first][:, back][:, :, back],
            state.counts[most_first],
            state.ancestors[turned],
            marks_of_class(mag_of_diagram(best))[turned],
            state.best_score,
        )

    def landscape(self, near: npt.NDArray[np.bool_]) -> Landscape:
        """What chains walk on; made once, with its memory."""
        if self._landscape is None:
            problem = self.problem
            self._landscape = Landscape.of(
                problem.score, prior=problem.prior, near=near, selection=problem.selection, ancestral=problem.ancestral
            )
        return self._landscape

    def _order(self, state: State) -> State:
        orders = boss.step(state.orders, self.problem.score, self.problem.orders_memory)
        state = replace(state, orders=orders)
        return self._first_starts(state) if orders.done else state

    def _first_starts(self, state: State) -> State:
        dags = boss.of_distinct_scores(boss.found(state.orders, self.problem.score))
        chosen = [_dag_marks(dag.parents) for dag in dags[: self.problem.effort.dags]]
        starts = np.stack([graph_of(marks) for marks in [*self.problem.starts, *chosen]])
        near = _near([dag.parents for dag in dags[:10]], self.problem.starts)
        landscape = self.landscape(near)
        scores = [landscape.score_of(start) for start in starts]
        best = int(np.argmax(scores))
        return replace(state, near=near, starts=starts, best=starts[best], best_score=scores[best])

    def _cool(self, state: State) -> State:
        effort, landscape = self.problem.effort, self.landscape(state.near)
        walker = state.walkers[0] if state.walkers else Walker.at(state.starts[state.start], landscape, state.start + 1)
        warmth = 1 - state.stretch / max(1, effort.cooling - 1)
        walker = advance(walker, landscape, self.problem.n**2, effort.hottest**warmth)
        state = replace(_with_best(state, walker), walkers=(walker,), stretch=state.stretch + 1)
        if state.stretch < effort.cooling:
            return state
        state = replace(state, walkers=(), start=state.start + 1, stretch=0)
        return state if state.phase == "cooling" else self._heated(state)

    def _heated(self, state: State) -> State:
        """The chains that will exchange places, all at the best graph."""
        landscape = self.landscape(state.near)
        seeds = range(1000, 1000 + len(self.problem.effort.temperatures))
        return replace(state, walkers=tuple(Walker.at(state.best, landscape, seed) for seed in seeds))

    def _sample(self, state: State) -> State:
        landscape, temperatures = self.landscape(state.near), self.problem.effort.temperatures
        walkers = [
            advance(walker, landscape, self.problem.n**2, temperature)
            for walker, temperature in zip(state.walkers, temperatures, strict=True)
        ]
        for walker in walkers:
            state = _counted(_with_best(state, walker), mag_of_diagram(marks_of(walker.graph)))
        return replace(state, walkers=exchanged(walkers, temperatures, state.stretch), stretch=state.stretch + 1)


def exchanged(walkers: Sequence[Walker], temperatures: Sequence[float], turn: int) -> tuple[Walker, ...]:
    """Neighbours in temperature, every other pair in turn, exchange graphs with the probability that keeps all laws."""
    places = list(walkers)
    for k in range(turn % 2, len(places) - 1, 2):
        low, high = places[k], places[k + 1]
        random = np.random.Generator(np.random.PCG64([int(low.random[0] >> np.uint64(1)), turn, k]))
        gain = (high.score - low.score) * (1 / temperatures[k] - 1 / temperatures[k + 1])
        if np.log(random.random()) < gain:
            places[k] = replace(low, graph=high.graph, scores=np.array([high.score, low.best_score]))
            places[k + 1] = replace(high, graph=low.graph, scores=np.array([low.score, high.best_score]))
    return tuple(places)


def _with_best(state: State, walker: Walker) -> State:
    if walker.best_score <= state.best_score:
        return state
    return replace(state, best=walker.best, best_score=walker.best_score)


def _counted(state: State, mag: Marks) -> State:
    """One more sample."""
    pag = marks_of_class(mag)
    above = state.ancestors + (np.asarray(ancestors(mag), np.bool_) & ~np.eye(len(mag), dtype=np.bool_))
    met = np.flatnonzero((state.pags == pag).all(axis=(1, 2)))
    if len(met):
        counts = state.counts.copy()
        counts[met[0]] += 1
        return replace(state, counts=counts, ancestors=above)
    return replace(
        state, pags=np.concatenate([state.pags, pag[None]]), counts=np.append(state.counts, 1), ancestors=above
    )


def _dag_marks(parents: Marks) -> Marks:
    marks: Marks = np.where(parents == 1, Mark.ARROW, np.where(parents.T == 1, Mark.TAIL, 0)).astype(np.uint8)
    return marks


def _near(dags: Sequence[Marks], starts: Marks) -> npt.NDArray[np.bool_]:
    """Pairs that are adjacent, or share a neighbour, in one of the graphs."""
    n = starts.shape[1]
    adjacent = np.zeros((n, n), np.bool_)
    for parents in dags:
        adjacent |= (parents | parents.T) != 0
    near = adjacent | (adjacent.astype(np.int64) @ adjacent > 0)
    near |= (starts != 0).any(axis=0) if len(starts) else False
    np.fill_diagonal(near, False)
    return near
