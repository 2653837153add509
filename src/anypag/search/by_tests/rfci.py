"""RFCI (Colombo et al. 2012): the adjacency phase of FCI, then checked orientation.

Never a wrong missing edge, arrowhead or tail, but some edges may stay that FCI would remove.
"""

from __future__ import annotations

from dataclasses import replace

from anypag.catalogue import METHODS
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.adjacency import remove_separated
from anypag.search.by_tests.candidates import neighbour_pools
from anypag.search.by_tests.checked_orientation import check_and_orient
from anypag.search.inquiry import Inquiry
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One size of condition sets in the adjacency phase; after the last, checked orientation."""
    inquiry = Inquiry(problem, state.r + 1, tick, state)
    after, n_open = remove_separated(state, inquiry, inquiry.r, neighbour_pools)
    if n_open and inquiry.r < problem.last_r:
        return inquiry.finished("adjacency", state, after, after, n_open)
    done = replace(check_and_orient(after, inquiry), done=True)
    return inquiry.finished("adjacency", state, after, done, n_open)


ALGORITHM = Algorithm("rfci", METHODS["rfci"], init=first_state, step=step)
