"""ICD: iterative causal discovery, one step applied again and again (Rohekar et al. 2020, Algorithm 1, repaired).

`step` is the paper's CDIteration (the paper's Main is `Search.steps` in `run.engine`). In the graph of iteration r - 1
it tests the edges X–Y given sets of exactly r nodes, all from PDSep_r(X, Y) or all from PDSep_r(Y, X), removes the
edges that a set separates, and orients. If the test is exact (never wrong), all missing edges, arrowheads and tails
are right after every step; the next step finds more of them.

Algorithm 1 as printed does not guarantee this. Three changes repair it: the graph is frozen while an iteration runs,
separating sets are made minimal, and orientation is checked (`by_tests.checked_orientation`). As marks are then
reliable, fewer sets need to be tried. PDSep_r(X, Y) and PDSep_r(Y, X) are the two pools of an edge. A walk that defines
a pool has no tail at a node between its ends. If the pools of an edge give too many sets (`most_sets`), nodes that
cannot be ancestors of X or Y are left out. If one pool has fewer than r nodes, the edge is no longer tested: if X and Y
could be separated, a subset of that pool would do it, and all its subsets were tested. The subsets of one pool would be
enough, but the search is limited to one pool only if the test of independence answers one question at a time
(`by_tests.one_side`). `docs/algorithm.md` has proofs.

`paper_step` is Algorithm 1 as published, for reproduction (`method="icd-paper"`). An edge is removed before the next
pair is tested. Candidates are all sets of exactly r nodes within PDS distance r (Definition 1); "within" means at most
r (the text of the paper also says "less than r"). The first separating set is taken, and orientation is not checked.
With a perfect oracle the final graph is right for every graph of up to 5 nodes, but **the anytime promise does not
hold**: a stopped run can show wrong arrowheads (`docs/algorithm.md` has an example with 10 nodes).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from anypag.arrays import Indices
from anypag.catalogue import METHODS
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.candidates import Candidates, PDSep, pdsep_pools
from anypag.search.by_tests.checked_orientation import Orient, check_and_orient
from anypag.search.by_tests.one_side import sizes_seen, test_one_side
from anypag.search.by_tests.tested_edges import Removal, TestedEdges, make_minimal, test_candidates, without_separated
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state, orientation_of
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state

EARLY_SETS = 100  # `max_sets` is multiplied by this for sets of one or two nodes (docs/performance.md)


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """The state after iteration r = state.r + 1, with condition sets of r nodes, and what was done. `tick` is called
    before each batch of tests; an exception in it abandons the step and leaves `state` unchanged.
    """
    inquiry = Inquiry(problem, state.r + 1, tick, state)  # line 2 of Algorithm 1
    seen = None if problem.test.batch > 1 else sizes_seen(state)  # one question at a time: one pool is enough
    before = state if seen is None else replace(state, seen_sizes=seen)
    test_some = partial(_test_pdsep_sets, state, inquiry, seen)  # lines 10 to 14
    most_singles = most_sets(problem, inquiry.r) if inquiry.r == 1 and seen is None else None
    removal = without_separated(before, inquiry, inquiry.r, test_some, make_minimal, most_singles)  # lines 9 to 15
    return iteration(state, removal, inquiry)


def iteration(
    state: State, removal: Removal, inquiry: Inquiry, orient: Orient = orientation_of
) -> tuple[State, StepInfo]:
    """The state and `StepInfo` after an iteration's tests: settles untried edges if the test is exact, then orients."""
    problem, r = inquiry.problem, inquiry.r
    tested = removal.state.settling(*removal.untried) if problem.test.exact else removal.state
    is_changed = r == problem.choices.r0 or tested.n_edges < state.n_edges  # with the same edges, marks stay the same
    after = check_and_orient(tested, inquiry, orient) if is_changed else tested  # line 17
    is_done = not removal.n_tried or r >= problem.last_r  # lines 8 and 12
    after = after.but(done=is_done, earlier_edges=after.skeleton)
    n_open = int(np.count_nonzero(after.marks[removal.tried]))
    return inquiry.finished("iteration", state, tested, after, n_open)


def _test_pdsep_sets(state: State, inquiry: Inquiry, seen: Indices | None, x: Indices, y: Indices) -> TestedEdges:
    """Test some edges given the r-subsets of their PDSep_r; an edge with a pool of fewer than r nodes is not tried."""
    walks = PDSep(inquiry.r, tails_close=True, max_sets=most_sets(inquiry.problem, inquiry.r), open_only=seen is None)
    pools = pdsep_pools(state, inquiry.problem, x, y, walks, inquiry.look)
    if seen is not None:
        return test_one_side(state, pools, inquiry, x, y, seen)
    candidates = Candidates(x, y, inquiry.r, pools, pools.n_large(inquiry.r) == 2)
    return test_candidates(candidates, inquiry, inquiry.problem.choices.sepset)


def most_sets(problem: Problem, r: int) -> int:
    """The limit on the candidate sets of an edge in iteration r. If its pools give more sets than this, nodes that, by
    the marks, cannot be ancestors of the ends are left out of them. For tests that answer many questions at a
    time the limit is larger while r is 0, 1 or 2, because marks then come from a dense graph and are least reliable.
    """
    limit = problem.choices.max_sets or 0
    return EARLY_SETS * limit if r <= 2 and problem.test.batch > 1 else limit


def paper_step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One iteration of the paper: edges are tested one by one, each in the graph left by the tests before it."""
    r = state.r + 1
    inquiry, after, n_tried = Inquiry(problem, r, tick, state), replace(state, r=r), 0
    for x, y in zip(*(end[:, None] for end in state.unsettled_edges()), strict=True):
        walks = PDSep(r, tails_close=False, max_sets=-1)
        pools = pdsep_pools(after, problem, x, y, walks, inquiry.look)
        best = test_candidates(Candidates(x, y, r, pools, pools.n_large(r) > 0), inquiry, "first")
        after = after.keeping(x, y, best.p).separating(best.separated(x, y, inquiry.alpha), r)
        n_tried += int(best.is_open[0])
    oriented = replace(orient_state(after, problem, inquiry.look), done=n_tried == 0 or r >= problem.last_r)
    return inquiry.finished("iteration", state, after, oriented, n_tried - (state.n_edges - after.n_edges))


ALGORITHM = Algorithm("icd", METHODS["icd"], first_state, step, on_data={"sepset": "largest-p", "max_sets": 1000})
PAPER = Algorithm("icd-paper", METHODS["icd-paper"], init=first_state, step=paper_step)
