"""FCI+ (Claassen, Mooij & Heskes 2013): needs few tests in sparse graphs, also where neighbours do not separate.

An adjacency phase as in FCI, with minimal separating sets. An edge that is left although its ends can be separated is a
D-separating link. Links leave a pattern: if adding a node to a separating set destroys the independence, the node is no
ancestor of the tested nodes, which gives arrowheads at it; a link has arrowheads at both ends and at the nodes beyond
(`possible_links`). The set that separates a link is built from some neighbours of both ends by adding the separating
sets of every two of its nodes, repeatedly (the hierarchy). When no link is removed any more, these arrowheads are
dropped and R0–R10 orient.

Links are searched in a graph that is frozen while all of them are tested; this is repeated until none is removed. Until
the last step all marks are circles: missing edges are right after every step, marks only at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from anypag.arrays import Flags
from anypag.catalogue import METHODS
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.candidates import neighbour_pools
from anypag.search.by_tests.fci import remove_separated
from anypag.search.by_tests.tested_edges import make_minimal
from anypag.search.inquiry import Inquiry
from anypag.search.orient import given_marks, orient_state
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.sepsets import stacked
from anypag.search.state import PairTests, State, StepInfo, first_state


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One size of condition sets in the adjacency phase; then a look at all possible links."""
    if state.phase == "links":
        return _look(state, problem, tick)
    inquiry = Inquiry(problem, state.r + 1, tick, state)
    after, n_open = remove_separated(state, inquiry, inquiry.r, neighbour_pools)
    is_last = not n_open or inquiry.r >= problem.last_r
    after = replace(after, phase="links") if is_last else after
    return inquiry.finished("adjacency", state, after, after, n_open)


def _look(state: State, problem: Problem, tick: Tick) -> tuple[State, StepInfo]:
    """Test all possible links; if none falls, orient."""
    inquiry = Inquiry(problem, state.r, tick, state)
    links = possible_links(augmented(state, inquiry))
    found = [test for x, y in links if (test := _separated(state, inquiry, x, y)) is not None]
    if not found:
        done = replace(orient_state(state, problem, inquiry.look), done=True)
        return inquiry.finished("links", state, state, done, _n_cut(state, problem, links))
    x, y, z, p = zip(*found, strict=True)
    falling = PairTests(np.concatenate(x), np.concatenate(y), stacked(*z), np.concatenate(p))
    after = state.separating(make_minimal(falling, inquiry), state.r)
    return inquiry.finished("links", state, after, after, _n_cut(after, problem, links))


def _n_cut(state: State, problem: Problem, links: list[tuple[int, int]]) -> int:
    """How many edges have condition sets beyond `max_r`: larger sets of neighbours, or larger hierarchies."""
    if problem.choices.max_r is None:
        return 0
    last_r = problem.last_r
    if any(len(known) >= last_r for *_, known in _additions(state)):  # none was tested for breaking an independence
        return state.n_edges
    degree = np.diff(state.skeleton.start)
    x, y = state.edges()
    is_cut = np.maximum(degree[x], degree[y]) - 1 > last_r
    for a, b in links:
        beside = _beside(state, a, b)
        sizes = (
            len(hierarchy(state, {a, b, *chosen})) - 2
            for k in range(2, len(beside[0] + beside[1]) + 1)
            for chosen in _choices(beside, k)
        )
        is_cut |= (x == a) & (y == b) & any(size > last_r for size in sizes)
    return int(is_cut.sum())


def augmented(state: State, inquiry: Inquiry) -> Marks:
    """The marks with arrowheads at nodes that break an independence: such a node is no ancestor of those tested. For
    every pair with its separating set, each neighbour of any of these is added to the set.
    """
    marks = given_marks(state, inquiry.problem)
    asked = [item for item in _additions(state) if len(item[3]) < inquiry.problem.last_r]
    if not asked:
        return marks
    x, y = (np.array([item[k] for item in asked], np.int32) for k in range(2))
    width = max(len(known) for _, _, _, known in asked)
    given = np.array([(*known, node, *(-1,) * (width - len(known))) for _, _, node, known in asked], np.int32)
    p = inquiry.ask_padded(x, y, given, "links")
    for (a, b, node, known), is_joined in zip(asked, (p <= inquiry.alpha).tolist(), strict=True):
        for other in (a, b, *known):
            if is_joined and marks[other, node]:
                marks[other, node] = Mark.ARROW
    return marks


def _additions(state: State) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
    """Every separated pair, a neighbour of the pair or of its set, and the set."""
    largest = state.n - 3
    for a, b in combinations(range(state.n), 2):
        known = state.sepsets.get(a, b)
        if known is None or len(known) > largest:
            continue
        around = (state.marks[[a, b, *known]] != Mark.NONE).any(axis=0)
        for node in np.flatnonzero(around).tolist():
            if node not in (a, b, *known):
                yield a, b, node, known


def possible_links(marks: Marks) -> list[tuple[int, int]]:
    """Edges X <-> Y with U <-> X, Y <-> V, U and V not adjacent, and anterior paths from U to Y and from V to X."""
    is_two_headed = (marks == Mark.ARROW) & (marks.T == Mark.ARROW)
    leads = _leads(marks)
    found = []
    for x, y in np.argwhere(np.triu(is_two_headed)).tolist():
        u = np.flatnonzero(is_two_headed[x] & leads[:, y])
        v = np.flatnonzero(is_two_headed[y] & leads[:, x])
        apart = (marks[np.ix_(u, v)] == Mark.NONE) & (u[:, None] != v)
        if apart[u != y][:, v != x].any():
            found.append((x, y))
    return found


def _leads(marks: Marks) -> Flags:
    """(n, n) `[a, b]`: a path from a to b meets no arrowhead at the start of an edge."""
    leads = ((marks != Mark.NONE) & (marks.T != Mark.ARROW)) | np.eye(len(marks), dtype=np.bool_)
    for _ in range(max(len(marks) - 1, 0).bit_length()):
        leads = leads @ leads
    found: Flags = leads
    return found


def _separated(state: State, inquiry: Inquiry, x: int, y: int) -> PairTests | None:
    """The first hierarchy that separates a link; hierarchies of the fewest neighbours of x and y are tried first."""
    beside = _beside(state, x, y)
    tried: set[tuple[int, ...]] = set()
    for size in range(2, len(beside[0] + beside[1]) + 1):
        sets = [tuple(sorted(hierarchy(state, {x, y, *chosen}) - {x, y})) for chosen in _choices(beside, size)]
        fresh = [z for z in dict.fromkeys(sets) if z not in tried and len(z) <= inquiry.problem.last_r]
        tried |= set(fresh)
        for z in fresh:
            one, other, given = np.array([x], np.int32), np.array([y], np.int32), np.array([z], np.int32)
            p = inquiry.ask_padded(one, other, given, "links")
            if p[0] > inquiry.alpha:
                return PairTests(one, other, given, p)
    return None


def _beside(state: State, x: int, y: int) -> list[list[int]]:
    """The neighbours of each end, without the other end."""
    return [[int(k) for k in np.flatnonzero(state.marks[node]) if k not in (x, y)] for node in (x, y)]


def _choices(beside: list[list[int]], size: int) -> Iterator[tuple[int, ...]]:
    """Sets of `size` neighbours, with at least one of each end."""
    for count in range(1, size):
        for left in combinations(beside[0], count):
            for right in combinations(beside[1], size - count):
                yield (*left, *right)


def hierarchy(state: State, nodes: set[int]) -> set[int]:
    """The nodes, extended by the separating sets of every two of them until nothing is added."""
    found, fresh = set(nodes), set(nodes)
    while fresh:
        pairs = {(min(a, b), max(a, b)) for a in fresh for b in found if a != b}
        members = {k for a, b in pairs for k in state.sepsets.get(a, b) or ()}
        fresh = members - found
        found |= fresh
    return found


ALGORITHM = Algorithm("fci+", METHODS["fci+"], init=first_state, step=step)
