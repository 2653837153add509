"""What the Possible-D-Sep phase of FCI will cost, said before it starts.

It tries every subset of Possible-D-Sep of either end of every edge: 2^|Possible-D-Sep| of them, unless an edge falls or
a cap on the size ends it.
"""

from __future__ import annotations

import warnings
from math import comb

import numpy as np

from anypag.errors import AnypagWarning
from anypag.search.by_tests.adjacency import pools_of_adjacency_graph
from anypag.search.problem import Problem
from anypag.search.state import State

LONG = 60.0
"""Seconds above which people are told beforehand."""


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
