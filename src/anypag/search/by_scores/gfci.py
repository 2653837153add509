"""GFCI (Ogarrio, Spirtes & Ramsey 2016), with BOSS in place of greedy equivalence search.

BOSS finds the DAG that scores best. If this DAG has no edge between two nodes, the parents of the later node (the one
that is no ancestor of the other) separate them. FCI continues from this DAG's skeleton. The tests of its two phases,
adjacency and Possible-D-Sep, remove edges that the DAG has only because something is hidden. Then R0–R10 set marks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from anypag.arrays import Flags
from anypag.catalogue import METHODS
from anypag.graphs.base import ancestry, marks_of_arrows
from anypag.search.algorithm import Algorithm
from anypag.search.by_scores.boss import info_of, look_at, orders_of, settle_next, with_marks, with_orders
from anypag.search.by_scores.orders import FoundDAG, Orders, found
from anypag.search.by_tests import fci
from anypag.search.inquiry import Inquiry
from anypag.search.problem import Problem, complete_marks
from anypag.search.progress import Tick, no_tick
from anypag.search.state import PairTests, State, StepInfo, first_state, of_class
from anypag.stored import Nested, stored


@dataclass(frozen=True, eq=False, repr=False)
class GfciState(State):
    """A state of FCI, and the orders that are being improved before its first phase."""

    orders: Orders = stored(Nested(Orders), kw_only=True)


def init(problem: Problem) -> GfciState:
    return of_class(GfciState, replace(first_state(problem), phase="orders"), orders=orders_of(problem))


def step(state: GfciState, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """Improves one order; after the last order, tries one size of condition sets in one phase of FCI."""
    if state.phase != "orders":
        return fci.step(state, problem, tick)
    orders = settle_next(state.orders, problem, tick)
    after = with_orders(state, orders, problem, tick)
    if not orders.all_settled:
        return after, info_of("orders", state, after)
    inquiry = Inquiry(problem, 0, tick, state)
    after = _separated_by_parents(after, found(orders, problem.score_in_order, look_at(orders, tick))[0], inquiry)
    return replace(after, phase="iteration", asked=inquiry.asked), info_of("orders", state, after, inquiry.tests)


def _separated_by_parents(state: GfciState, dag: FoundDAG, inquiry: Inquiry) -> GfciState:
    """The state with the skeleton of a DAG, and with a separating set and a p-value for each pair without an edge."""
    state = with_marks(state, complete_marks(state.n))
    facts = inquiry.problem.facts
    is_joined = np.zeros((state.n, state.n), np.bool_) if facts is None else facts.joined
    for size, pairs in _parent_sets(dag, is_joined).items():
        x, y, z = (np.array(part, np.int32) for part in zip(*pairs, strict=True))
        p = inquiry.ask_padded(x, y, z.reshape(len(x), size), "orders")
        state = state.separating(PairTests(x, y, z.reshape(len(x), size), p), min(size, state.n - 1))
    return state


def _parent_sets(dag: FoundDAG, is_joined: Flags) -> dict[int, list[tuple[int, int, list[int]]]]:
    """{k: pairs without an edge whose later node has k parents}; a pair is (x, y, the parents of the later node)."""
    above = ancestry(marks_of_arrows(dag.parents))
    sets: dict[int, list[tuple[int, int, list[int]]]] = {}
    for x, y in np.argwhere(np.triu(((dag.parents | dag.parents.T) == 0) & ~is_joined, 1)).tolist():
        later = x if above[y, x] else y
        given = np.flatnonzero(dag.parents[:, later]).tolist()
        sets.setdefault(len(given), []).append((x, y, given))
    return sets


ALGORITHM = Algorithm("gfci", METHODS["gfci"], init, step, state=GfciState)  # type: ignore[arg-type]
