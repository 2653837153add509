"""ICD: iterative causal discovery, one step applied again and again (Rohekar et al. 2020, Algorithm 1, repaired).

`step` is the paper's CDIteration (its Main is `Search.steps` in `run.engine`): given the graph of iteration r - 1 it
tests the edges X–Y against sets of exactly r nodes, all from PDSep_r(X, Y) or all from PDSep_r(Y, X), removes the edges
that fall, and orients. After every step all missing edges, arrowheads and tails are right (with an exact test); the
next step finds more of them.

Algorithm 1 as printed does not keep that promise. Three changes repair it: the graph is frozen while an iteration runs,
separating sets are made minimal, and orientation is checked (`by_tests.checked_orientation`). With reliable marks fewer
sets need to be tried: walks do not pass tails, nodes that cannot be ancestors of X or Y are left out, and an edge with
a pool of fewer than r nodes is settled, since a separating set would lie within either pool. For tests that take one
question at a time one of the two pools is enough (`by_tests.one_side`). `docs/algorithm.md` has the proofs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from anypag._kernels import pairs as kernel
from anypag.arrays import Indices
from anypag.catalogue import METHODS
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.candidates import Candidates, PDSep, pdsep_pools
from anypag.search.by_tests.checked_orientation import check_and_orient
from anypag.search.by_tests.one_side import test_one_side
from anypag.search.by_tests.separate import make_minimal, test_candidates
from anypag.search.by_tests.tested_edges import TestedEdges, test_singles, without_independent_pairs, work_in_chunks
from anypag.search.inquiry import Inquiry
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state

EARLY_SETS = 100
"""Factor on `max_sets` for sets of one or two nodes (docs/performance.md)."""


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One iteration: condition sets of r = state.r + 1 nodes.

    Args:
        state: the state after iteration r - 1.
        problem: the test, the choices, the order of nodes.
        tick: called before each batch of tests; an exception in it abandons the step and leaves `state` unchanged.

    Returns:
        The state after iteration r, and what was done.
    """
    r = state.r + 1  # line 2
    inquiry = Inquiry(problem, r, tick, state)
    tested, was_open, still_open = _without_separated(state, inquiry)  # lines 9 to 15
    is_changed = r == problem.choices.r0 or tested.n_edges < state.n_edges  # otherwise the marks stay
    after = check_and_orient(tested, inquiry) if is_changed else tested  # line 17
    is_done = not was_open or r >= problem.last_r  # lines 8 and 12
    after = replace(after, done=is_done, earlier_edges=after.skeleton)
    n_open = int(kernel.count_marked(after.marks, *still_open))
    return inquiry.finished("iteration", state, tested, after, n_open)


def _without_separated(state: State, inquiry: Inquiry) -> tuple[State, bool, tuple[Indices, Indices]]:
    """The state without the edges that are separated; whether any edge had candidates, and the two ends of
    those that had.
    """
    problem, r = inquiry.problem, inquiry.r
    if r == 0 and (after := without_independent_pairs(state, inquiry)) is not None:
        return after, True, after.edges()
    x, y = state.unsettled_edges()  # line 9: for each edge
    seen = _seen(state, problem)
    is_open, best = _tested(state, inquiry, seen, x, y)  # lines 10 to 14
    found = make_minimal(best.separated(x, y, inquiry.alpha), inquiry)
    tested = replace(state, r=r, seen_sizes=seen).keeping(x, y, best.p).separating(found, r, inquiry.threads)  # line 15
    if problem.test.exact:
        tested = tested.settling(x[~is_open], y[~is_open])
    return tested, bool(is_open.any()), (x[is_open], y[is_open])


def _tested(state: State, inquiry: Inquiry, seen: Indices | None, x: Indices, y: Indices) -> TestedEdges:
    """Test edges given the r-subsets of their pools."""
    max_sets = most_sets(inquiry.problem, inquiry.r)
    singles = test_singles(state, inquiry, x, y, max_sets) if inquiry.r == 1 and seen is None else None
    if singles is None:
        return work_in_chunks(partial(_test_pdsep_sets, state, inquiry, seen), x, y, inquiry)
    left = np.flatnonzero(singles.is_open & np.isnan(singles.best.p))  # too many candidates for the pass over all edges
    if len(left):
        rest = work_in_chunks(partial(_test_pdsep_sets, state, inquiry, seen), x[left], y[left], inquiry)
        singles.is_open[left], singles.best.z[left], singles.best.p[left] = rest.is_open, rest.best.z, rest.best.p
    return singles


def most_sets(problem: Problem, r: int) -> int:
    """How many candidate sets an edge may have in iteration r before marks narrow its pools.

    The marks in iterations 1 and 2 come from a dense graph and are the least reliable. So for fast tests the limit on
    sets of one and two nodes is higher.
    """
    limit = problem.choices.max_sets or 0
    return EARLY_SETS * limit if r <= 2 and problem.test.batch > 1 else limit


def _seen(state: State, problem: Problem) -> Indices | None:
    """For tests with batch 1: a copy of the sizes that each side of an edge has tested."""
    if problem.test.batch > 1:
        return None
    return np.full((state.n, state.n), state.r, np.int32) if state.seen_sizes is None else np.array(state.seen_sizes)


def _test_pdsep_sets(state: State, inquiry: Inquiry, seen: Indices | None, x: Indices, y: Indices) -> TestedEdges:
    """Test some edges given the r-subsets of their PDSep_r; an edge with a pool of fewer than r nodes is skipped. For
    tests with batch 1 only one of the two pools is used (`by_tests.one_side`).
    """
    max_sets, sepset = most_sets(inquiry.problem, inquiry.r), inquiry.problem.choices.sepset
    walks = PDSep(inquiry.r, tails_close=True, max_sets=max_sets, open_only=seen is None)
    pools = pdsep_pools(state, inquiry.problem, x, y, walks)
    if seen is not None:
        return test_one_side(state, pools, inquiry, x, y, seen)
    is_open = pools.n_large(inquiry.r) == 2
    return TestedEdges(is_open, test_candidates(Candidates(x, y, inquiry.r, pools, is_open), inquiry, sepset))


ALGORITHM = Algorithm(
    "icd",
    METHODS["icd"],
    init=first_state,
    step=step,
    on_data={"sepset": "largest-p", "max_sets": 1000},
)
"""On data, marks narrow the pools only if an edge has too many candidate sets (`most_sets`)."""
