"""Pools that knowledge narrows, against the twin that walks every walk."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
from certify.members import facts
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_search as naive
from anypag import from_callable
from anypag.choices import Choices
from anypag.ci.wrappers import Counted
from anypag.search.by_tests.candidates import PDSep, Pools, neighbour_pools, pdsep_pools, possible_d_sep_pools
from anypag.search.problem import Problem, pose
from anypag.search.state import State, first_state

KINDS = ((0, 0), *((a, b) for a in (1, 2, 3) for b in (1, 2, 3)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[State, Problem]:
    n = draw(st.integers(3, 6))
    marks = np.ones((n, n), np.uint8) - np.eye(n, dtype=np.uint8)
    for i, j in combinations(range(n), 2):
        marks[i, j], marks[j, i] = draw(st.sampled_from(KINDS))
    if not marks.any():
        marks[0, 1] = marks[1, 0] = 1
    tier = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    known = facts(
        n,
        not_causes=[(a, b) for a in range(n) for b in range(n) if tier[a] > tier[b]],
        not_selecting=sorted(draw(st.sets(st.integers(0, n - 1)))),
    )
    test = Counted(from_callable(lambda x, y, z: 0.0, [f"V{i}" for i in range(n)]))
    problem = replace(pose(test, Choices(method="icd")), facts=known)
    return replace(first_state(problem), marks=marks), problem


def out_of(problem: Problem, a: int, b: int) -> set[int]:
    """The nodes that are known to be causes neither of a nor of b nor of selection."""
    assert problem.facts is not None
    later = problem.facts.not_causes & problem.facts.not_selecting[:, None]
    return {v for v in range(problem.n) if later[v, a] and later[v, b]}


def as_dicts(pools: Pools, k: int) -> tuple[dict[int, int], ...]:
    spans = (slice(pools.first[p], pools.first[p + 1]) for p in (2 * k, 2 * k + 1))
    return tuple(dict(zip(pools.nodes[s].tolist(), pools.distances[s].tolist(), strict=True)) for s in spans)


def edges_of(state: State) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], list[tuple[int, int]]]:
    x, y = state.edges()
    return x, y, list(zip(x.tolist(), y.tolist(), strict=True))


@settings(max_examples=150)
@given(cases(), st.integers(1, 3), st.sampled_from([-1, 0, 2, 1000]))
def test_pools_of_icd(case: tuple[State, Problem], r: int, max_sets: int) -> None:
    state, problem = case
    x, y, edges = edges_of(state)
    pools = pdsep_pools(state, problem, x, y, PDSep(r, tails_close=True, max_sets=max_sets))
    for k, (a, b) in enumerate(edges):
        out = out_of(problem, a, b)
        assert as_dicts(pools, k) == naive.pools(naive.graph_of(state.marks), a, b, r, max_sets=max_sets, out=out)


@given(cases())
def test_pools_of_fci(case: tuple[State, Problem]) -> None:
    state, problem = case
    graph = naive.graph_of(state.marks)
    x, y, edges = edges_of(state)
    near, far = (of(state, problem)(x, y) for of in (neighbour_pools, possible_d_sep_pools))
    for k, (a, b) in enumerate(edges):
        out = out_of(problem, a, b)
        for side, (end, other) in enumerate(((a, b), (b, a))):
            assert set(as_dicts(near, k)[side]) == set(naive.neighbours(graph, end)) - {other} - out
            assert set(as_dicts(far, k)[side]) == naive.possible_d_sep(graph, end, problem.n) - {other} - out
