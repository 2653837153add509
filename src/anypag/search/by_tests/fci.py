"""FCI (Spirtes et al. 2000, in the stable form of Colombo & Maathuis 2014), from the parts ICD is made of.

An adjacency phase with neighbours as condition sets, then a phase with subsets of Possible-D-Sep, then R0–R10. Until
the last step all marks are circles: the missing edges are right at every moment, marks only at the end.

The Possible-D-Sep phase tries every subset of Possible-D-Sep of either end of every edge: 2^|Possible-D-Sep| of them,
unless an edge falls or a cap on the size ends it. What it will cost is said before it starts.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import comb

import numpy as np

from anypag.catalogue import METHODS
from anypag.errors import AnypagWarning
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.adjacency import pools_of_adjacency_graph, remove_separated
from anypag.search.by_tests.candidates import neighbour_pools
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state, unshielded_colliders
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state

LONG = 60.0
"""Seconds above which people are told beforehand."""


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One size of condition sets in one phase; with the last one, the orientation at its end."""
    inquiry = Inquiry(problem, state.r + 1, tick, state)
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


def last_dsep_r(problem: Problem) -> int:
    """The size of the largest condition sets of the phase."""
    limit = problem.choices.dsep_max_r
    return problem.last_r if limit is None else min(limit, problem.last_r)


def most_tests(state: State, problem: Problem) -> int:
    """How many tests the phase asks for if no more edge falls: all subsets of the two pools of every edge."""
    x, y = state.unsettled_edges()
    if not len(x):
        return 0
    sizes, counts = np.unique(np.diff(pools_of_adjacency_graph(state, problem)(x, y).first), return_counts=True)
    largest = last_dsep_r(problem)
    return sum(
        int(count) * sum(comb(int(size), r) for r in range(1, min(int(size), largest) + 1))
        for size, count in zip(sizes, counts, strict=True)
    )


def warn_of_cost(state: State, problem: Problem) -> None:
    """Say what the phase will cost, if that is much."""
    tests, rate = most_tests(state, problem), problem.pace.per_second
    if rate is None or tests / rate < LONG:
        return
    largest = last_dsep_r(problem)
    ways = [
        *(() if problem.choices.possible_dsep == "on-paths" else ("possible_dsep='on-paths' (only sets on paths)",)),
        f"a smaller dsep_max_r than {largest} (smaller sets)",
        "time_budget, max_tests or Ctrl-C (the graph so far)",
        "method='icd', which needs no such phase",
    ]
    warnings.warn(
        f"The Possible-D-Sep phase begins: up to {tests:.2g} tests for {state.n_edges} edges, about "
        f"{_duration(tests / rate)} at {rate:,.0f} a second. What ends it sooner: {'; '.join(ways)}.",
        AnypagWarning,
        stacklevel=2,
    )


def _duration(seconds: float) -> str:
    """In words, roughly.

    >>> _duration(90), _duration(7200), _duration(1e12)
    ('2 minutes', '2 hours', '31,710 years')
    """
    for name, unit in (("years", 31_536_000.0), ("days", 86_400.0), ("hours", 3600.0)):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds / 60:,.0f} minutes"


ALGORITHM = Algorithm("fci", METHODS["fci"], init=first_state, step=step)
