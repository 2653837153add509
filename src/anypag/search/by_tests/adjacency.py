"""What FCI, anytime FCI and RFCI share: test all edges given the r-subsets of their pools, and remove what falls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from anypag.arrays import Indices
from anypag.search.by_tests.candidates import Candidates, Pools, no_pools, possible_d_sep_pools
from anypag.search.by_tests.chunks import TestedEdges, work_in_chunks
from anypag.search.by_tests.separate import test_candidates
from anypag.search.by_tests.whole_graph import without_independent_pairs
from anypag.search.inquiry import Inquiry
from anypag.search.problem import Problem
from anypag.search.state import State

PoolsOfEdges = Callable[[Indices, Indices], Pools]
PoolsOf = Callable[[State, Problem], PoolsOfEdges]


def remove_separated(state: State, inquiry: Inquiry, r: int, pools_of: PoolsOf) -> tuple[State, int]:
    """The state without the edges that sets of r nodes from their pools separate; how many had such sets and are left.

    The sets are minimal as they are found: all smaller ones from the same pools have been tried before.
    """
    if r == 0 and (after := without_independent_pairs(state, inquiry)) is not None:
        return after, after.n_edges
    x, y = state.unsettled_edges()
    pools_of_edges = pools_of(state, inquiry.problem)
    is_open, best = work_in_chunks(partial(_test_edges, pools_of_edges, inquiry, r), x, y, inquiry)
    found = best.separated(x, y, inquiry.alpha)
    after = replace(state, r=r).keeping(x, y, best.p).separating(found, r, inquiry.threads)
    return after, int(is_open.sum()) - len(found.x)


def _test_edges(pools_of_edges: PoolsOfEdges, inquiry: Inquiry, r: int, x: Indices, y: Indices) -> TestedEdges:
    pools = pools_of_edges(x, y) if r else no_pools(x)
    is_open = pools.n_large(r) > 0
    sepset = inquiry.problem.choices.sepset
    return TestedEdges(is_open, test_candidates(Candidates(x, y, r, pools, is_open), inquiry, sepset))


def pools_of_adjacency_graph(state: State, problem: Problem) -> PoolsOfEdges:
    """Possible-D-Sep in the graph that the adjacency phase left, as FCI reads it once."""
    assert state.adjacency_marks is not None
    adjacency = replace(state, marks=state.adjacency_marks, earlier_edges=None)  # it had more edges
    return possible_d_sep_pools(adjacency, problem)
