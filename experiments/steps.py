"""Algorithms that only serve to read the paper: FCI and Algorithm 1, each with one choice made differently.

They are put together from the parts the library's own algorithms are made of (`anypag.search`). What the paper leaves
open, and what each choice is called here:

- *original* or stable: a removed edge is gone for the next pair, or at the end of a size only.
- *path*: Possible-D-Sep of X and Y holds only nodes on a path between the two, as in Definition 1 (FCI_path in Colombo
  et al. 2012); else it is that of X and of Y alone.
- *free*: ICD without that condition.
- *closed*: only candidate sets that hold a whole PDS-path to each of their members, as Lemma 1 suggests.
- *ancestors*: only possible ancestors of X or Y as members, as in the authors' later work (NeurIPS 2021).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anypag._kernels import pools as kernel
from anypag.arrays import Indices
from anypag.ci.base import Queries
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.skeleton import Skeleton
from anypag.search.algorithm import Step
from anypag.search.by_tests.candidates import (
    Candidates,
    PDSep,
    Pools,
    neighbour_pools,
    pdsep_pools,
    possible_d_sep_pools,
)
from anypag.search.by_tests.tested_edges import test_candidates
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state, unshielded_colliders
from anypag.search.problem import Problem
from anypag.search.progress import Tick
from anypag.search.state import State, StepInfo

PoolsOf = Callable[[State, Problem, Indices, Indices, int], Pools]
CandidatesOf = Callable[[State, Indices, Indices, int, Pools], "Candidates"]
Removing = Callable[[State, Inquiry, int, PoolsOf], tuple[State, int]]

NEVER, ALWAYS = -1, 0
"""When the possible-ancestor condition is asked for (`max_sets` of `pds_pools`)."""


def fci(pools_of: PoolsOf, adjacency_phase: Removing) -> Step:
    """FCI: neighbours as condition sets, then subsets of these pools, then R0–R10."""

    def step(state: State, problem: Problem, tick: Tick) -> tuple[State, StepInfo]:
        inquiry = Inquiry(problem, state.r + 1, tick, state)
        is_adjacency = state.phase == "iteration"
        name, remove = ("adjacency", adjacency_phase) if is_adjacency else ("possible-d-sep", all_at_once)
        after, n_open = remove(state, inquiry, inquiry.r, _neighbours if is_adjacency else pools_of)
        if n_open and inquiry.r < problem.last_r:
            done = after
        elif is_adjacency:
            done = replace(after, r=0, phase="possible-d-sep", adjacency_marks=unshielded_colliders(after, problem))
        else:
            done = replace(orient_state(after, problem), done=True)
        return inquiry.finished(name, state, after, done, n_open)

    return step


def algorithm_1(pools_of: PoolsOf, candidates_of: CandidatesOf) -> Step:
    """The paper's Algorithm 1 with other pools or other candidate sets."""

    def step(state: State, problem: Problem, tick: Tick) -> tuple[State, StepInfo]:
        inquiry = Inquiry(problem, state.r + 1, tick, state)
        after, n_open = one_by_one(state, inquiry, inquiry.r, pools_of, candidates_of)
        done = replace(orient_state(after, problem), done=n_open == 0 or inquiry.r >= problem.last_r)
        return inquiry.finished("iteration", state, after, done, n_open)

    return step


def all_at_once(state: State, inquiry: Inquiry, r: int, pools_of: PoolsOf) -> tuple[State, int]:
    """Test all edges, then remove those that fell (the stable way); how many edges had candidates."""
    x, y = state.edges()
    return _remove(
        replace(state, r=r), inquiry, Candidates(x, y, r, *_open(pools_of(state, inquiry.problem, x, y, r), r))
    )


def one_by_one(
    state: State, inquiry: Inquiry, r: int, pools_of: PoolsOf, candidates_of: CandidatesOf | None = None
) -> tuple[State, int]:
    """Test edge after edge, each in the graph that the ones before it left; how many edges had candidates."""
    after, n_open = replace(state, r=r), 0
    for x, y in zip(*(end[:, None] for end in state.edges()), strict=True):
        candidates = (candidates_of or all_sets)(after, x, y, r, pools_of(after, inquiry.problem, x, y, r))
        after, is_open = _remove(after, inquiry, candidates)
        n_open += is_open
    return after, n_open


def all_sets(state: State, x: Indices, y: Indices, r: int, pools: Pools) -> Candidates:
    """All r-subsets of the pools."""
    return Candidates(x, y, r, *_open(pools, r))


def closed_sets(state: State, x: Indices, y: Indices, r: int, pools: Pools) -> Candidates:
    """Those r-subsets of the pools that hold a PDS-path to each of their members."""
    return _ClosedCandidates(x, y, r, *_open(pools, r), marks=state.marks) if r > 1 else all_sets(state, x, y, r, pools)


def node_pools(state: State, problem: Problem, x: Indices, y: Indices, r: int) -> Pools:
    """Possible-D-Sep of x, and of y, in the graph the adjacency phase left."""
    return possible_d_sep_pools(_adjacency_graph(state), problem)(x, y)


def path_pools(state: State, problem: Problem, x: Indices, y: Indices, r: int) -> Pools:
    """The same, but only nodes on a path between x and y."""
    return pdsep_pools(_adjacency_graph(state), problem, x, y, PDSep(state.n, tails_close=False, max_sets=NEVER))


def radius_pools(max_sets: int) -> PoolsOf:
    """Algorithm 1: PDS-paths of length ≤ r, on a path between x and y."""

    def pools_of(state: State, problem: Problem, x: Indices, y: Indices, r: int) -> Pools:
        return pdsep_pools(state, problem, x, y, PDSep(r, tails_close=False, max_sets=max_sets))

    return pools_of


ALL_AT_ONCE = 10**18
"""Room for all pools in one call (`anypag.threads.in_turns`)."""


def free_pools(max_sets: int) -> PoolsOf:
    """PDS-paths of length ≤ r, wherever they lead: the whole graph counts as one block."""

    def pools_of(state: State, problem: Problem, x: Indices, y: Indices, r: int) -> Pools:
        if r == 0:
            return pdsep_pools(state, problem, x, y, PDSep(r, tails_close=False, max_sets=max_sets))
        start, _, neighbour = Skeleton.of(state.marks)
        graph, one_block = (state.marks, start, neighbour), (np.zeros(len(neighbour), np.int64), np.array([state.n]))
        edges = x, y, np.zeros(len(x), np.int64)
        walks = PDSep(r, tails_close=False, max_sets=max_sets)
        rest = (walks, problem.strength, problem.not_anterior, np.array([ALL_AT_ONCE]))
        return Pools(*kernel.pools(graph, one_block, state.anteriors, edges, *rest))

    return pools_of


class _ClosedCandidates(Candidates):
    """Candidates with a PDS-path inside the set, from x or from y, to every member."""

    def __init__(
        self, x: Indices, y: Indices, r: int, pools: Pools, is_open: npt.NDArray[np.bool_], *, marks: Marks
    ) -> None:
        super().__init__(x, y, r, pools, is_open)
        self._marks = marks

    def take(self, room: int) -> tuple[npt.NDArray[np.int64], Queries]:
        edge_of, queries = super().take(min(room, 256))  # the check is slow, and most searches end early
        rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
        keep = np.array([is_closed(self._marks, x, z) or is_closed(self._marks, y, z) for x, y, z in rows], np.bool_)
        return edge_of[keep], queries.take(keep)


def is_closed(marks: Marks, x: int, members: list[int]) -> bool:
    """Does a PDS-path from x lead to every member through members only?"""
    waiting = [(x, v) for v in members if marks[x, v] != Mark.NONE]
    visited = set(waiting)
    while waiting:
        u, v = waiting.pop()
        for w in members:
            if w == u or marks[v, w] == Mark.NONE or (v, w) in visited:
                continue
            is_collider = marks[u, v] == Mark.ARROW and marks[w, v] == Mark.ARROW
            if is_collider or marks[u, w] != Mark.NONE:
                visited.add((v, w))
                waiting.append((v, w))
    return {v for _, v in visited} == set(members)


def _remove(state: State, inquiry: Inquiry, candidates: Candidates) -> tuple[State, int]:
    n_open = candidates.left
    best = test_candidates(candidates, inquiry, "first")
    found = best.separated(candidates.x, candidates.y, inquiry.alpha)
    after = state.keeping(candidates.x, candidates.y, best.p).separating(found, candidates.r)
    if isinstance(candidates, _ClosedCandidates):
        n_open = int((~np.isnan(best.p)).sum())
    return after, n_open


def _open(pools: Pools, r: int) -> tuple[Pools, npt.NDArray[np.bool_]]:
    return pools, pools.n_large(r) > 0


def _neighbours(state: State, problem: Problem, x: Indices, y: Indices, r: int) -> Pools:
    return neighbour_pools(state, problem)(x, y)


def _adjacency_graph(state: State) -> State:
    assert state.adjacency_marks is not None
    return replace(state, marks=state.adjacency_marks, earlier_edges=None)
