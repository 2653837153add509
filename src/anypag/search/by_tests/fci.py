"""FCI (Spirtes et al. 2000, in the stable form of Colombo & Maathuis 2014), from the parts ICD is made of.

An adjacency phase with neighbours as condition sets, then a phase with subsets of Possible-D-Sep, then R0–R10. Until
the last step all marks are circles: the missing edges are right at every moment, marks only at the end.
"""

from __future__ import annotations

from dataclasses import replace

from anypag.catalogue import METHODS
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.adjacency import pools_of_adjacency_graph, remove_separated
from anypag.search.by_tests.candidates import neighbour_pools
from anypag.search.by_tests.dsep_cost import last_dsep_r, warn_of_cost
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state, unshielded_colliders
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One size of condition sets in one phase; with the last one, the orientation at its end."""
    inquiry = Inquiry(problem, state.r + 1, tick, state.asked)
    is_adjacency = state.phase == "iteration"
    name, pools_of = ("adjacency", neighbour_pools) if is_adjacency else ("possible-d-sep", pools_of_adjacency_graph)
    last_r = problem.last_r if is_adjacency else last_dsep_r(problem)
    after, n_open = remove_separated(state, inquiry, inquiry.r, pools_of)
    if n_open and inquiry.r < last_r:
        return inquiry.finished(name, state, after, after, n_open)
    if is_adjacency and last_dsep_r(problem) > 0:
        after = replace(after, r=0, phase="possible-d-sep", adjacency_marks=unshielded_colliders(after, problem))
        warn_of_cost(after, problem)
        return inquiry.finished(name, state, after, after, n_open)
    done = replace(orient_state(after, problem), done=True)
    return inquiry.finished(name, state, after, done, n_open)


ALGORITHM = Algorithm("fci", METHODS["fci"], init=first_state, step=step)
