"""BOSS (Andrews et al. 2023): the PAG of the DAG that scores best, from many orders of the variables.

It assumes that nothing is hidden: no unmeasured common causes, no selection. A baseline, and the first phase of
`anypag.search.bayes`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from anypag.graphs.base import Marks
from anypag.graphs.projection import marks_of_class
from anypag.search.algorithm import Algorithm, AtTheEnd, OnTheWay, Promises
from anypag.search.effort import Effort
from anypag.search.orders import Orders, dag_marks, first_orders, found, swept
from anypag.search.problem import Problem
from anypag.search.progress import Progress, Tick, no_tick
from anypag.search.state import State, StepInfo, first_state
from anypag.search.stored import Nested, stored

Kind = TypeVar("Kind", bound=State)


@dataclass(frozen=True, eq=False, repr=False)
class BossState(State):
    """The PAG of the best DAG so far, and the orders that are being improved."""

    orders: Orders = stored(Nested(Orders), kw_only=True)


def init(problem: Problem) -> BossState:
    """Every pair joined, and the orders to start from."""
    return of_class(BossState, first_state(problem), orders=first_orders(problem.n, Effort.of(problem).orders))


def of_class(kind: type[Kind], state: State, **more: object) -> Kind:
    """A state as one of a class that keeps more."""
    return kind(**{name: getattr(state, name) for name in State.__dataclass_fields__}, **more)  # type: ignore[arg-type]


def step(state: BossState, problem: Problem, tick: Tick = no_tick) -> tuple[BossState, StepInfo]:
    """One order, until no sweep moves a variable of it."""
    orders = settle_next(state.orders, problem, tick)
    after = replace(state, orders=orders, done=orders.all_settled)
    after = with_marks(after, best_marks(orders, problem))
    return after, info_of("orders", state, after)


def with_marks(state: Kind, marks: Marks) -> Kind:
    """With other marks; its edges need not be among those that it had."""
    return replace(state, marks=marks, earlier_edges=None)


def settle_next(orders: Orders, problem: Problem, tick: Tick) -> Orders:
    """Sweep the first order that has not settled until it has."""
    at, total = int(np.argmin(orders.settled)), len(orders.settled)
    while not orders.settled[at]:
        tick(Progress(0, "orders", at, total, 0))
        orders = swept(orders, problem.score_in_order)
    return orders


def best_marks(orders: Orders, problem: Problem) -> Marks:
    """The PAG of the best DAG among the orders that have settled."""
    done = replace(orders, order=orders.order[orders.settled], settled=orders.settled[orders.settled])
    return marks_of_class(dag_marks(found(done, problem.score_in_order)[0].parents))


def info_of(phase: str, before: State, after: State, tests: dict[int, int] | None = None) -> StepInfo:
    """What a step that asks no tests did."""
    return StepInfo(
        r=max(after.r, 0),
        phase=phase,
        n_edges=after.n_edges,
        removed=max(before.n_edges - after.n_edges, 0),
        removed_by_checks=0,
        n_open=0,
        tests={} if tests is None else tests,
        n_evaluated=sum((tests or {}).values()),
        n_conflicts=0,
    )


ALGORITHM = Algorithm(
    name="boss",
    about="the PAG of the DAG that scores best; assumes that nothing is hidden",
    init=init,
    step=step,  # type: ignore[arg-type]
    promises=Promises(OnTheWay.NOTHING, AtTheEnd.NOTHING_HIDDEN),
    phases=("iteration",),
    uses=frozenset({"effort"}),
    orders_nodes=True,
    state=BossState,
    needs_score=True,
)
