"""Anytime FCI (Spirtes 2001): FCI with one cap n on *every* condition set, for n = 0, 1, 2, ...: one graph each."""

from __future__ import annotations

from dataclasses import replace

from anypag.catalogue import METHODS
from anypag.graphs.orientation import as_circles
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.adjacency import pools_of_adjacency_graph, remove_separated
from anypag.search.by_tests.candidates import neighbour_pools
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state, unshielded_colliders
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """FCI with no condition set larger than n = state.r + 1, on what the run for n - 1 left."""
    n = state.r + 1
    inquiry = Inquiry(problem, n, tick, state)
    skeleton = replace(state, marks=as_circles(state.marks))
    after, n_open = remove_separated(skeleton, inquiry, n, neighbour_pools)
    after = replace(after, adjacency_marks=unshielded_colliders(after, problem))
    for size in range(1, n + 1):  # Possible-D-Sep holds the neighbours: its last n_open counts them too
        after, n_open = remove_separated(after, inquiry, size, pools_of_adjacency_graph)
    is_last = n_open == 0 or n >= problem.last_r
    oriented = replace(orient_state(replace(after, r=n), problem), done=is_last)
    return inquiry.finished("iteration", state, after, oriented, n_open)


ALGORITHM = Algorithm("anytime-fci", METHODS["anytime-fci"], init=first_state, step=step)
