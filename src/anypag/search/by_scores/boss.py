"""BOSS (Andrews et al. 2023): the PAG of the DAG that scores best, from many orders of the variables.

It assumes that nothing is hidden: no unmeasured common causes, no selection. It is a baseline, and the first phase of
`anypag.search.by_scores.bayes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from anypag.arrays import Floats
from anypag.catalogue import METHODS
from anypag.errors import KnowledgeError
from anypag.graphs.base import Marks, marks_of_arrows
from anypag.graphs.projection import mag_of_diagram, marks_of_class
from anypag.knowledge.facts import Facts
from anypag.search.algorithm import Algorithm
from anypag.search.by_scores.chain import Landscape, Walker, cooled, graph_of, marks_of
from anypag.search.by_scores.effort import Effort
from anypag.search.by_scores.orders import Orders, first_orders, found, settle_ahead, swept, turned
from anypag.search.by_scores.starting_graphs import agreeing, allowed_states, tiers_of, with_design, without_selection
from anypag.search.problem import Problem
from anypag.search.progress import Progress, Tick, no_tick
from anypag.search.state import AnyState, State, StepInfo, first_state, of_class
from anypag.stored import Array, Nested, marks_matrix, stored
from anypag.threads import Look

CLEARLY = 3.0
"""A `Rival` is reported if knowledge lowers the log score by at least this (a factor of 20; Kass & Raftery 1995)."""

SWEEPS_TIMES_PAIRS = 20_000
"""A step has at most SWEEPS_TIMES_PAIRS / n² sweeps (`by_scores.orders`), or one if this is below 1. So a killed run
loses little. Orders of up to 30 variables settle in one step."""

FEWEST_IN_THREADS = 30  # with fewer variables, all orders are swept in one thread: it takes milliseconds


@dataclass(frozen=True, eq=False)
class Rival:
    """A graph found without knowledge, if it fits the data much better than the best graph with knowledge."""

    pag: Marks | None = stored(marks_matrix(), default=None)  # its PAG; None if there is no rival
    gain: Floats = stored(Array("float64", (1,)), default_factory=lambda: np.zeros(1))
    """The score of this graph minus that of the best graph with knowledge."""

    @classmethod
    def of(cls, free: Marks, best: Marks, problem: Problem) -> Self:
        """The rival `free`, found without knowledge, if its score is clearly above that of `best`; else no rival."""
        free = free if problem.facts is None else with_design(free, problem.facts)
        landscape = Landscape.of(problem.score_in_order, facts=problem.facts, ancestral=False)
        gain = landscape.score_of(graph_of(free)) - landscape.score_of(graph_of(best))
        return cls() if gain < CLEARLY else cls(marks_of_class(mag_of_diagram(free)), np.array([gain]))


@dataclass(frozen=True, eq=False, repr=False)
class BossState(State):
    """The PAG of the best DAG so far, and the orders that are being improved."""

    orders: Orders = stored(Nested(Orders), kw_only=True)
    rival: Rival = stored(Nested(Rival), default_factory=Rival, kw_only=True)


def init(problem: Problem) -> BossState:
    """The first state. Raises an error if no DAG is found that agrees with the knowledge."""
    facts = problem.facts
    if facts is not None and agreeing(np.zeros_like(problem.given), without_selection(facts), hidden=False) is None:
        raise KnowledgeError(
            "The method 'boss' assumes that nothing is hidden, and no graph without hidden causes was found that "
            "agrees with the knowledge. If two variables are joined and neither causes the other, they need a hidden "
            "cause. Use another method ('bayes', say)."
        )
    return of_class(BossState, replace(first_state(problem), phase="orders"), orders=orders_of(problem))


def orders_of(problem: Problem) -> Orders:
    """The orders to start from; they respect the known tiers."""
    tier, effort = None if problem.facts is None else tiers_of(problem.facts), Effort.of(problem)
    return first_orders(problem.n, effort.orders + effort.turns, tier=tier)


def step(state: BossState, problem: Problem, tick: Tick = no_tick) -> tuple[BossState, StepInfo]:
    """Improves one order by sweeps until a sweep moves no variable; with many variables, by a few sweeps only."""
    orders = settle_next(state.orders, problem, tick)
    after = replace(with_orders(state, orders, problem, tick), done=orders.all_settled)
    if after.done and problem.facts is not None:
        after = _with_knowledge(after, problem, problem.facts, tick)
    return after, info_of("orders", state, after)


def _with_knowledge(state: BossState, problem: Problem, facts: Facts, tick: Tick) -> BossState:
    """The state with the best DAG that agrees with knowledge, improved by cooling, and with its `Rival`."""
    best, known = _best_dag(state.orders, problem, tick), without_selection(facts)
    if known.agree_with(best):
        best = _improved(best, problem, known, tick)
    rival = Rival.of(free_dag(problem, tick), best, problem)
    return with_marks(replace(state, rival=rival), marks_of_class(best))


def _improved(dag: Marks, problem: Problem, facts: Facts, tick: Tick) -> Marks:
    """The best DAG that agrees with knowledge, of those that a cooling chain meets. An order cannot express a required
    cause or a forbidden edge, and the changes by which `_best_dag` imposes them are seldom the best ones.
    """
    landscape = Landscape.of(problem.score_in_order, allowed=allowed_states(facts), facts=facts)
    landscape = replace(landscape, states=np.array([1, 2], np.uint8), largest=1)
    effort = Effort.of(problem)
    return marks_of(cooled(Walker.at(graph_of(dag), landscape, 1), landscape, effort, tick).best)


def free_dag(problem: Problem, tick: Tick) -> Marks:
    """The best DAG without knowledge."""
    effort = Effort.of(problem)
    orders = first_orders(problem.n, effort.orders + effort.turns)
    while not orders.all_settled:
        orders = settle_next(orders, problem, tick)
    return marks_of_arrows(found(orders, problem.score_in_order, look_at(orders, tick))[0].parents)


def with_marks(state: AnyState, marks: Marks) -> AnyState:
    """The state with these marks, which may have new edges."""
    return replace(state, marks=marks, earlier_edges=None)


def settle_next(orders: Orders, problem: Problem, tick: Tick) -> Orders:
    """The orders after more sweeps of the first order that has not settled. It is swept until it settles, or until the
    sweeps of one step are used up. The first `Effort.orders` orders start as they were drawn. Each later order,
    when its turn comes, starts from the best order so far, with a few edges of its DAG reversed (`orders.turned`).
    """
    at, look, starts = int(np.argmin(orders.settled)), look_at(orders, tick), Effort.of(problem).orders
    if problem.n >= FEWEST_IN_THREADS:
        settle_ahead(orders, slice(at, starts), problem.score_in_order, min(problem.threads, starts), look)
    for _ in range(max(1, SWEEPS_TIMES_PAIRS // problem.n**2)):
        look()
        orders = swept(orders, problem.score_in_order, look)
        if orders.settled[at]:
            break
    more = starts <= at + 1 < len(orders.order)
    return turned(orders, at + 1, problem.score_in_order, look) if orders.settled[at] and more else orders


def with_orders(state: AnyState, orders: Orders, problem: Problem, tick: Tick) -> AnyState:
    """The state with these orders, and with the marks of the best of them."""
    after = replace(state, orders=orders)  # type: ignore[call-arg]
    if orders.settled.any() and np.array_equal(orders.settled, state.orders.settled):  # type: ignore[attr-defined]
        return after
    return with_marks(after, best_marks(orders, problem, tick))


def look_at(orders: Orders, tick: Tick) -> Look:
    """The callback of long kernels: it reports how many orders have settled, and raises to end the run."""
    return partial(tick, Progress(-1, "orders", int(orders.settled.sum()), len(orders.settled), 0))


def best_marks(orders: Orders, problem: Problem, tick: Tick) -> Marks:
    """The PAG of the best DAG of the orders (`_best_dag`)."""
    return marks_of_class(_best_dag(orders, problem, tick))


def _best_dag(orders: Orders, problem: Problem, tick: Tick) -> Marks:
    """The best DAG of the settled orders; if none has settled, the DAG of the first order. An order respects tiers;
    other statements (a required cause, a forbidden edge) are imposed by changing a few edges.
    """
    rows = np.flatnonzero(orders.settled) if orders.settled.any() else [0]
    done = replace(orders, order=orders.order[rows], settled=orders.settled[rows])
    dag = marks_of_arrows(found(done, problem.score_in_order, look_at(orders, tick))[0].parents)
    known = None if problem.facts is None else agreeing(dag, without_selection(problem.facts), hidden=False)
    return dag if known is None else known


def info_of(phase: str, before: State, after: State, tests: dict[int, int] | None = None) -> StepInfo:
    """The `StepInfo` of a step by scores, with the tests that it asked, if any."""
    tests = {} if tests is None else tests
    counts = {"removed": max(before.n_edges - after.n_edges, 0), "n_evaluated": sum(tests.values())}
    counts |= dict.fromkeys(("removed_by_checks", "n_open", "n_conflicts"), 0)
    return StepInfo(r=max(after.r, 0), phase=phase, n_edges=after.n_edges, tests=tests, has_r=False, **counts)


ALGORITHM = Algorithm("boss", METHODS["boss"], init, step, state=BossState)  # type: ignore[arg-type]
