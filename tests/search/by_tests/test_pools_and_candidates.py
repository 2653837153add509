"""Pools and candidate sets against twins that walk every walk and build every set."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_search as naive
from anypag import from_callable
from anypag._kernels import pools as kernel
from anypag._kernels.patience import plain
from anypag.arrays import Indices
from anypag.choices import Choices
from anypag.ci.wrappers import Counted
from anypag.graphs.skeleton import Skeleton
from anypag.search.by_tests.candidates import (
    Candidates,
    PDSep,
    Pools,
    neighbour_pools,
    pdsep_pools,
    possible_d_sep_pools,
)
from anypag.search.problem import Problem, Strength, pose
from anypag.search.state import State, first_state

Marks = npt.NDArray[np.uint8]

MARKS = (1, 2, 3)
EDGES = ((0, 0), (0, 0), *((a, b) for a in MARKS for b in MARKS))


def problem_of(n: int) -> Problem:
    return pose(Counted(from_callable(lambda x, y, z: 0.0, [f"V{i}" for i in range(n)])), Choices(method="icd"))


def state_of(marks: Marks) -> State:
    return replace(first_state(problem_of(len(marks))), marks=marks)


def pds_pools(
    state: State,
    x: Indices,
    y: Indices,
    r: int,
    *,
    tails_close: bool,
    max_sets: int,
    strength: npt.NDArray[np.float32] | None = None,
) -> Pools:
    problem = problem_of(state.n)
    problem = (
        problem
        if strength is None
        else replace(problem, strength=Strength(strength, np.arange(state.n, dtype=np.int32)))
    )
    return pdsep_pools(state, problem, x, y, PDSep(r, tails_close, max_sets))


@st.composite
def marked_graphs(draw: st.DrawFn, largest: int = 6) -> Marks:
    """Any marks at all, sound or not, with at least one edge."""
    n = draw(st.integers(2, largest))
    pairs = list(combinations(range(n), 2))
    chosen = draw(st.lists(st.sampled_from(EDGES), min_size=len(pairs), max_size=len(pairs)))
    marks = np.zeros((n, n), np.uint8)
    for (i, j), (at_i, at_j) in zip(pairs, chosen, strict=True):
        marks[j, i], marks[i, j] = at_i, at_j
    if not marks.any():
        marks[0, 1] = marks[1, 0] = 1
    return marks


@st.composite
def strengths(draw: st.DrawFn, n: int) -> npt.NDArray[np.float32]:
    """Symmetric, with ties."""
    values = draw(st.lists(st.integers(0, 3), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(values, np.float32).reshape(n, n), 1)
    return upper + upper.T


def pool_dicts(pools: Pools, k: int) -> tuple[dict[int, int], dict[int, int]]:
    """The two pools of edge k, as the twin has them."""
    spans = (slice(pools.first[p], pools.first[p + 1]) for p in (2 * k, 2 * k + 1))
    first, second = (dict(zip(pools.nodes[s].tolist(), pools.distances[s].tolist(), strict=True)) for s in spans)
    return first, second


def all_of(candidates: Candidates, room: int) -> list[tuple[int, tuple[int, ...]]]:
    """Every candidate, taken `room` at a time: its edge and its set."""
    taken = []
    while candidates.left:
        edge_of, queries = candidates.take(room)
        assert len(edge_of) == len(queries) <= room
        taken += [(int(k), tuple(z)) for k, z in zip(edge_of, queries.z.tolist(), strict=True)]
    return taken


@given(marked_graphs(largest=7))
def test_a_block_holds_what_lies_on_a_path_between_its_ends(marks: Marks) -> None:
    skeleton = Skeleton.of(marks)
    block, n_blocks = kernel.blocks(skeleton.start, skeleton.neighbour)
    assert set(block) == set(range(n_blocks))
    for e in range(len(block)):
        inside = {int(v) for v in skeleton.node[block == block[e]]}
        assert inside == naive.on_a_path(naive.graph_of(marks), int(skeleton.node[e]), int(skeleton.neighbour[e]))


@given(marked_graphs(largest=7))
def test_blocks_are_counted(marks: Marks) -> None:
    state = state_of(marks)
    block, n_nodes = state.blocks
    for k, size in enumerate(n_nodes.tolist()):
        assert size == len(set(state.skeleton.node[block == k].tolist()))


@given(marked_graphs(largest=7))
def test_anteriors_are_who_has_a_path(marks: Marks) -> None:
    state, graph = state_of(marks), naive.graph_of(marks)
    group, bits = state.anteriors
    for v in range(state.n):
        for x in set(range(state.n)) - {v}:
            found = int(bits[group[x], group[v] // 64]) >> int(group[v] % 64) & 1
            assert bool(found) == naive.is_possibly_anterior(graph, v, (x,))


@settings(max_examples=200)
@given(marked_graphs(largest=7), st.integers(1, 4), st.sampled_from([-1, 0, 1, 2, 5, 1000]))
def test_edges_are_closed_without_walking_exactly_if_a_pool_is_too_small(marks: Marks, r: int, max_sets: int) -> None:
    state = state_of(marks)
    x, y = state.edges()
    walked, bounded = (
        pdsep_pools(state, problem_of(state.n), x, y, PDSep(r, True, max_sets, open_only=open_only))
        for open_only in (False, True)
    )
    is_open = walked.n_large(r) == 2
    assert np.array_equal(bounded.n_large(r) == 2, is_open)
    for k in range(len(x)):
        assert pool_dicts(bounded, k) == (pool_dicts(walked, k) if is_open[k] else ({}, {}))


@settings(max_examples=150)
@given(marked_graphs(), st.integers(1, 4), st.booleans(), st.sampled_from([-1, 0, 1, 2, 5, 1000]))
def test_pools_are_what_walks_reach(marks: Marks, r: int, tails_close: bool, max_sets: int) -> None:
    state, graph = state_of(marks), naive.graph_of(marks)
    x, y = state.edges()
    pools = pds_pools(state, x, y, r, tails_close=tails_close, max_sets=max_sets)
    for k, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        both = naive.pools(graph, a, b, r, tails_close=tails_close, max_sets=max_sets)
        assert pool_dicts(pools, k) == both
        others = [both[1 - side].get(v, 0) for side in (0, 1) for v in pool_dicts(pools, k)[side]]
        assert pools.others[pools.first[2 * k] : pools.first[2 * k + 2]].tolist() == others


@settings(max_examples=150)
@given(st.data())
def test_candidates_come_nearest_first_and_once(data: st.DataObject) -> None:
    marks = data.draw(marked_graphs())
    state, strength = state_of(marks), data.draw(strengths(len(marks)))
    r, room = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1, 2, 7, 1000]))
    x, y = state.edges()
    pools = pds_pools(state, x, y, r, tails_close=True, max_sets=-1, strength=strength)
    is_open = pools.n_large(r) == 2
    taken = all_of(Candidates(x, y, r, pools, is_open), room)
    for k, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        dependence = strength[a] + strength[b]
        wanted = naive.candidates(pool_dicts(pools, k), r, lambda v, d=dependence: float(d[v]))  # type: ignore[misc]
        assert [z for edge, z in taken if edge == k] == (wanted if is_open[k] else [])


def test_of_equally_near_nodes_the_most_dependent_comes_first() -> None:
    strength = np.zeros((5, 5), np.float32)
    strength[0, 2:] = strength[2:, 0] = (0.1, 0.3, 0.2)
    state = state_of(np.ones((5, 5), np.uint8) - np.eye(5, dtype=np.uint8))
    x, y = np.array([0], np.int32), np.array([1], np.int32)
    pools = pds_pools(state, x, y, 1, tails_close=True, max_sets=-1, strength=strength)
    assert all_of(Candidates(x, y, 1, pools, np.array([True])), 10) == [(0, (3,)), (0, (4,)), (0, (2,))]


@given(marked_graphs())
def test_possible_d_sep(marks: Marks) -> None:
    state, graph = state_of(marks), naive.graph_of(marks)
    x, y = state.edges()
    pools, near = (of(state, problem_of(state.n))(x, y) for of in (possible_d_sep_pools, neighbour_pools))
    for k, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        for side, (end, other) in enumerate(((a, b), (b, a))):
            assert set(pool_dicts(pools, k)[side]) == naive.possible_d_sep(graph, end, len(marks)) - {other}
            assert set(pool_dicts(near, k)[side]) == set(naive.neighbours(graph, end)) - {other}


def test_a_large_pool_gives_its_first_sets_at_once() -> None:
    """2.6 thousand million sets; whoever built them all would not come back."""
    nodes = np.concatenate([np.arange(2, 62), np.arange(2, 62)]).astype(np.int32)
    distances = np.tile(np.repeat([1, 2, 4], 20), 2).astype(np.int32)
    pools = Pools(np.array([0, 60, 120]), nodes, distances, distances)
    ends = np.array([0], np.int32), np.array([1], np.int32)
    candidates = Candidates(*ends, 8, pools, np.array([True]))
    _, queries = candidates.take(5)
    assert queries.z.tolist() == [[2, 3, 4, 5, 6, 7, 8, k] for k in (9, 10, 11, 12, 13)]
    assert candidates.left == 1


@pytest.mark.parametrize("limit", [0, 1, 10, 1000])
def test_counting_sets_stops_at_the_limit(limit: int) -> None:
    for n in range(31):
        for k in range(31):
            assert plain(kernel._choose)(n, k, limit) == min(comb(n, k), limit + 1)


def test_few_large_sets_are_few() -> None:
    """20 of 20 choose 19 are no reason to narrow the pools."""
    n = 22
    state = state_of(np.where(np.eye(n), 0, 1).astype(np.uint8))
    marks = np.array(state.marks)
    marks[0, 5] = 2  # an arrowhead at 5 from all sides: possibly anterior to nothing
    marks[:, 5] = np.where(marks[:, 5], 2, 0)
    x, y = np.array([0], np.int32), np.array([1], np.int32)
    pools = pds_pools(replace(state, marks=marks), x, y, 19, tails_close=True, max_sets=1000)
    assert 5 in pools.nodes
    assert 5 not in pds_pools(replace(state, marks=marks), x, y, 19, tails_close=True, max_sets=0).nodes
