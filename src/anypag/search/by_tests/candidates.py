"""Candidate separating sets: the two pools of each edge, and their subsets in the order of `_kernels.candidates`.

The pool of X for an edge X–Y is PDSep_r(X, Y) of Rohekar et al. (2020): the nodes that a PDS-walk (`docs/algorithm.md`)
of at most r edges reaches from X. The candidates are the r-subsets of either pool. Sets with the least mean distance
(d̂ in the paper) come first. Of sets with equal means, those of X's pool come first. The nodes of a pool are sorted by
distance, then by dependence on X and Y. Sets are made on demand, so they cost nothing until they are tested.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anypag._kernels import candidates as kernel
from anypag._kernels import pools as pool_kernel
from anypag.arrays import Counts, Flags, Indices
from anypag.ci.base import Queries
from anypag.ci.passes import PooledEdges
from anypag.graphs.skeleton import Skeleton
from anypag.search.problem import Problem
from anypag.search.state import Anteriors, State
from anypag.threads import Look, do_nothing, in_turns

NO_ANTERIORS: Anteriors = (np.empty(0, np.int32), np.empty((0, 0), np.uint64))  # used if pools are never narrowed

Lists = tuple[Any, ...]
Needed = Callable[[Counts, Queries], Flags]  # (edge of each question, questions) -> which of them are worth a test


class Pools(NamedTuple):
    """The two pools of every edge: pool 2k is that of x[k], pool 2k + 1 that of y[k]."""

    first: Counts  # (2m + 1,) pool p is first[p]:first[p + 1] of the arrays below
    nodes: Indices
    distances: Indices
    others: Indices  # the distance in the other pool of the same edge, 0 if the node is not there

    def n_large(self, r: int) -> Counts:
        """(m,) how many of each edge's two pools, 0 to 2, have at least r nodes."""
        is_large = (self.first[1:] - self.first[:-1]).reshape(-1, 2) >= r
        return is_large[:, 0].astype(np.int64) + is_large[:, 1]


PoolsOfEdges = Callable[[Indices, Indices], Pools]


class PDSep(NamedTuple):
    """The walks that define a pool."""

    r: int  # the radius, and the size of the sets
    tails_close: bool  # True: a walk U, V, W in a triangle may have no tail at V (Definition 1 of the paper allows one)
    max_sets: int  # with more candidates, an edge's pools keep only possible ancestors of its ends; -1 for no limit
    open_only: bool = False  # leave both pools of an edge empty if one has fewer than r nodes


def no_pools(x: Indices, y: Indices) -> Pools:
    """Empty pools, enough for the empty condition set."""
    return Pools(np.zeros(2 * len(x) + 1, np.int64), *(np.empty(0, np.int32) for _ in range(3)))


def pdsep_pools(state: State, problem: Problem, x: Indices, y: Indices, walks: PDSep, look: Look = do_nothing) -> Pools:
    """The pools of ICD, PDSep_r. The pool of x has the nodes that PDS-walks of at most r edges reach from x and that
    lie on a path between x and y. Nodes known to cause neither x nor y nor selection are left out.
    """
    if walks.r == 0:
        return no_pools(x, y)
    skeleton = state.skeleton
    above = state.anteriors if walks.max_sets >= 0 else NO_ANTERIORS
    graph = (state.marks, skeleton.start, skeleton.neighbour)
    of_edges = state.blocks.of_edge[places_of(skeleton, x, y)]
    known = (problem.strength, problem.not_anterior)

    def make(done: int, room: Counts) -> Lists:
        edges = x[done:], y[done:], of_edges[done:]
        found: Lists = pool_kernel.pools(graph, state.blocks, above, edges, walks, *known, room)
        return found

    return Pools(*_lists_in_turns(make, len(x), 2, look))


def _lists_in_turns(make: Callable[[int, Counts], Lists], n: int, per_item: int, look: Look) -> Lists:
    """The `per_item` lists of each of n items. `make(done, room)` makes the lists of some items from `done` on."""
    parts, done = list[Lists](), 0

    def make_some(room: Counts) -> bool:
        nonlocal done
        parts.append(make(done, room))
        done += (len(parts[-1][0]) - 1) // per_item
        return done == n

    in_turns(make_some, look=look)
    if len(parts) == 1:  # nearly always
        return parts[0]
    firsts, *columns = zip(*parts, strict=True)
    sizes = np.concatenate([np.diff(first) for first in firsts])
    return np.concatenate([[0], np.cumsum(sizes)]), *map(np.concatenate, columns)


def neighbour_pools(state: State, problem: Problem, look: Look = do_nothing) -> PoolsOfEdges:
    """A function that returns the pools of edges in FCI's adjacency phase: the neighbours of x, and those of y."""
    return partial(_node_pools, state.skeleton.start, state.skeleton.neighbour, problem.not_anterior, None, look)


def possible_d_sep_pools(state: State, problem: Problem, look: Look = do_nothing) -> PoolsOfEdges:
    """A function that returns the pools of edges in FCI's last phase: Possible-D-Sep of x, and of y. With
    `possible_dsep="on-paths"` pools have only nodes on a path between x and y (Colombo et al. 2012).
    """
    skeleton = state.skeleton
    find = partial(pool_kernel.possible_d_sep, (state.marks, skeleton.start, skeleton.neighbour))
    first, nodes = _lists_in_turns(find, state.n, 1, look)
    on_paths = state if problem.choices.possible_dsep == "on-paths" else None
    return partial(_node_pools, first, nodes, problem.not_anterior, on_paths, look)


def _node_pools(
    first: Counts, nodes: Indices, not_anterior: Flags, on_paths: State | None, look: Look, x: Indices, y: Indices
) -> Pools:
    """Pools made of the lists of x and of y; with `on_paths`, only of nodes on a path from x to y in that state."""
    start = block = of_edges = np.empty(0, np.int64)
    if on_paths is not None:
        start, block = on_paths.skeleton.start, on_paths.blocks.of_edge
        of_edges = block[places_of(on_paths.skeleton, x, y)]

    def make(done: int, room: Counts) -> Lists:
        ends, lists = (x[done:], y[done:], of_edges[done:]), (first, nodes, not_anterior, start, block)
        found: Lists = pool_kernel.node_pools(*lists, *ends, room)
        return found

    return Pools(*_lists_in_turns(make, len(x), 2, look))


def places_of(skeleton: Skeleton, x: Indices, y: Indices) -> npt.NDArray[np.intp]:
    """The position of each edge x–y in the edge lists. These are sorted, so one `searchsorted` finds all edges."""
    n = np.int64(len(skeleton.start) - 1)
    return np.searchsorted(skeleton.node * n + skeleton.neighbour, x * n + y)


class Candidates:
    """The candidate sets of the edges with `is_open`, in batches, without sets that the filter `needed` rejects."""

    def __init__(
        self, x: Indices, y: Indices, r: int, pools: Pools, is_open: Flags, needed: Needed | None = None
    ) -> None:
        self.x, self.y, self.r = x, y, r
        self._pools, self.is_open, self._needed = pools, is_open, needed
        self._waiting, self._cursor = np.flatnonzero(is_open), np.zeros((len(x), 4 + r), np.int64)

    @property
    def pooled(self) -> PooledEdges:
        """The pools and edges, for a test whose passes enumerate the sets themselves."""
        return PooledEdges(*self._pools, self.x, self.y, self.is_open)

    @property
    def largest_pools(self) -> Counts:
        """(m,) the size of each edge's larger pool."""
        return np.asarray(np.diff(self._pools.first).reshape(-1, 2).max(axis=1))

    @property
    def n_sets(self) -> int:
        """The number of candidate sets of all edges; a set in both pools of an edge counts once."""
        if self.r == 0:
            return len(self._waiting)
        in_both = np.concatenate([[0], np.cumsum(self._pools.others > 0)])[self._pools.first]
        sizes, shared = (np.diff(ends).reshape(-1, 2)[self.is_open] for ends in (self._pools.first, in_both))
        return _n_subsets(sizes, self.r) - _n_subsets(shared[:, 0], self.r)

    def only(self, edges: Flags) -> Candidates:
        """The candidates of some of the edges, from the beginning."""
        return Candidates(self.x, self.y, self.r, self._pools, self.is_open & edges, self._needed)

    @property
    def left(self) -> int:
        """The number of edges that may have candidates left."""
        return len(self._waiting)

    def take(self, room: int) -> tuple[Counts, Queries]:
        """The next candidates, at most `room` in all: the edge of each row, and the questions. All edges get a share;
        the rows of an edge are adjacent and in order. There are no rows if `needed` rejects all, or if `left` is 0.
        """
        if self.r == 0:
            edge_of, self._waiting = self._waiting[:room], self._waiting[room:]
            z = np.empty((len(edge_of), 0), np.int32)
        else:
            share = max(1, room // max(1, self.left))
            z = np.empty((min(room, share * self.left), self.r), np.int32)
            edge_of = np.empty(len(z), np.int64)
            count = kernel.next_sets(*self._pools, self.r, self._waiting, share, self._cursor, z, edge_of)
            self._waiting = self._waiting[self._cursor[self._waiting, 0] != 2]
            edge_of, z = edge_of[:count], z[:count]
        queries = Queries(self.x.take(edge_of), self.y.take(edge_of), z)
        if self._needed is None:
            return edge_of, queries
        is_needed = self._needed(edge_of, queries)
        return edge_of[is_needed], queries.take(is_needed)

    def drop(self, edges: Counts) -> None:
        """Leave out all further candidates of these edges."""
        self._waiting = self._waiting[~np.isin(self._waiting, edges)]


def _n_subsets(sizes: Counts, r: int) -> int:
    """The number of r-subsets of sets of these sizes, added up."""
    distinct, counts = np.unique(sizes, return_counts=True)
    return sum(count * comb(size, r) for size, count in zip(distinct.tolist(), counts.tolist(), strict=True))
