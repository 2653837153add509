"""FCI (Spirtes et al. 2000, in the stable form of Colombo & Maathuis 2014) and two variants, built from parts of ICD.

- FCI: an adjacency phase with neighbours as condition sets, then a phase with subsets of Possible-D-Sep, then R0–R10.
  Until the last step all marks are circles. Missing edges are right after every step, marks only at the end.
- Anytime FCI (Spirtes 2001): FCI with sets of at most n nodes in *both* phases, first for n = 0, then 1, 2, ...
- RFCI (Colombo et al. 2012): the adjacency phase, then checked orientation. No missing edge, arrowhead or tail is
  wrong, but some edges may stay that FCI would remove.

For each end of every edge, the Possible-D-Sep phase tries all 2^|Possible-D-Sep| subsets of Possible-D-Sep, until the
edge is removed or a cap on the size is reached. A warning says in advance how long it may take.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import comb

import numpy as np

from anypag.arrays import Indices
from anypag.catalogue import METHODS
from anypag.errors import AnypagWarning
from anypag.graphs.orientation import as_circles
from anypag.markup import duration
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.candidates import Candidates, PoolsOfEdges, neighbour_pools, no_pools, possible_d_sep_pools
from anypag.search.by_tests.checked_orientation import check_and_orient
from anypag.search.by_tests.tested_edges import TestedEdges, test_candidates, without_separated
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state, unshielded_colliders
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state
from anypag.threads import Look, do_nothing

LONG = 60.0  # a warning is given if the Possible-D-Sep phase may take more seconds than this

PoolsOf = Callable[[State, Problem, Look], PoolsOfEdges]


def remove_separated(state: State, inquiry: Inquiry, r: int, pools_of: PoolsOf) -> tuple[State, int]:
    """The state without the edges x–y for which some r-subset of a pool separates x and y; and how many of the other
    edges have pools with r-subsets. Separating sets are minimal, because all smaller sets from these pools were tried.
    """
    pools_of_edges = pools_of(state, inquiry.problem, inquiry.look) if r else no_pools
    removal = without_separated(state, inquiry, r, partial(_test_edges, pools_of_edges, inquiry, r))
    return removal.state, int(np.count_nonzero(removal.state.marks[removal.tried]))


def _test_edges(pools_of_edges: PoolsOfEdges, inquiry: Inquiry, r: int, x: Indices, y: Indices) -> TestedEdges:
    pools = pools_of_edges(x, y)
    candidates = Candidates(x, y, r, pools, pools.n_large(r) > 0)
    return test_candidates(candidates, inquiry, inquiry.problem.choices.sepset)


def pools_of_adjacency_graph(state: State, problem: Problem, look: Look = do_nothing) -> PoolsOfEdges:
    """Possible-D-Sep in the graph after the adjacency phase, as FCI defines it, even if edges were removed since."""
    assert state.adjacency_marks is not None
    adjacency = replace(state, marks=state.adjacency_marks, earlier_edges=None)  # its edges include those removed since
    return possible_d_sep_pools(adjacency, problem, look)


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """Tries one size of condition sets in one phase; the last step also orients."""
    inquiry = Inquiry(problem, state.r + 1, tick, state)
    is_adjacency = state.phase == "iteration"
    name, pools_of = ("adjacency", neighbour_pools) if is_adjacency else ("possible-d-sep", pools_of_adjacency_graph)
    last_r = problem.last_r if is_adjacency else last_dsep_r(problem)
    after, n_open = remove_separated(state, inquiry, inquiry.r, pools_of)
    if n_open and inquiry.r < last_r:
        return inquiry.finished(name, state, after, after, n_open)
    if is_adjacency and last_dsep_r(problem) > 0:
        after = replace(after, r=0, phase="possible-d-sep", adjacency_marks=unshielded_colliders(after, problem))
        warn_of_cost(after, problem, inquiry.look)
        return inquiry.finished(name, state, after, after, n_open)
    done = replace(orient_state(after, problem, inquiry.look), done=True)
    return inquiry.finished(name, state, after, done, n_open)


def last_dsep_r(problem: Problem) -> int:
    """The size of the largest condition sets of the Possible-D-Sep phase."""
    limit = problem.choices.dsep_max_r
    return problem.last_r if limit is None else min(limit, problem.last_r)


def most_tests(state: State, problem: Problem, look: Look = do_nothing) -> int:
    """How many tests the Possible-D-Sep phase makes if it removes no edge: all subsets of both pools of every edge."""
    x, y = state.unsettled_edges()
    if not len(x):
        return 0
    sizes = np.diff(pools_of_adjacency_graph(state, problem, look)(x, y).first).tolist()
    largest = last_dsep_r(problem)
    return sum(n * comb(size, r) for size, n in Counter(sizes).items() for r in range(1, min(size, largest) + 1))


def warn_of_cost(state: State, problem: Problem, look: Look = do_nothing) -> None:
    """Warn how many tests the Possible-D-Sep phase may take, if it may take long."""
    tests, rate = most_tests(state, problem, look), problem.pace.per_second
    if rate is None or tests / rate < LONG:
        return
    ways = [
        *(() if problem.choices.possible_dsep == "on-paths" else ("possible_dsep='on-paths' (only sets on paths)",)),
        f"a smaller dsep_max_r than {last_dsep_r(problem)} (smaller sets)",
        "time_budget, max_tests or Ctrl-C (the result is the graph so far)",
        "method='icd', which needs no such phase",
    ]
    warnings.warn(
        f"The Possible-D-Sep phase begins: up to {tests:.2g} tests for {state.n_edges} edges, about "
        f"{duration(tests / rate)} at {rate:,.0f} per second. To end it sooner, use {'; or '.join(ways)}.",
        AnypagWarning,
        stacklevel=2,
    )


def anytime_step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """FCI with condition sets of at most n = state.r + 1 nodes, starting from the graph of the run for n - 1."""
    n = state.r + 1
    inquiry = Inquiry(problem, n, tick, state)
    skeleton = replace(state, marks=as_circles(state.marks))
    after, n_open = remove_separated(skeleton, inquiry, n, neighbour_pools)
    after = replace(after, adjacency_marks=unshielded_colliders(after, problem))
    for size in range(1, n + 1):  # Possible-D-Sep contains all neighbours, so the last n_open covers both phases
        after, n_open = remove_separated(after, inquiry, size, pools_of_adjacency_graph)
    is_last = n_open == 0 or n >= problem.last_r
    oriented = replace(orient_state(replace(after, r=n), problem, inquiry.look), done=is_last)
    return inquiry.finished("iteration", state, after, oriented, n_open)


def rfci_step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """Tries one size of condition sets in the adjacency phase; the last step also orients, with checks."""
    inquiry = Inquiry(problem, state.r + 1, tick, state)
    after, n_open = remove_separated(state, inquiry, inquiry.r, neighbour_pools)
    if n_open and inquiry.r < problem.last_r:
        return inquiry.finished("adjacency", state, after, after, n_open)
    done = replace(check_and_orient(after, inquiry), done=True)
    return inquiry.finished("adjacency", state, after, done, n_open)


ALGORITHM = Algorithm("fci", METHODS["fci"], init=first_state, step=step)
ANYTIME_FCI = Algorithm("anytime-fci", METHODS["anytime-fci"], init=first_state, step=anytime_step)
RFCI = Algorithm("rfci", METHODS["rfci"], init=first_state, step=rfci_step)
