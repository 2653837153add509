"""FCI+ (Claassen, Mooij & Heskes 2013): few tests in sparse graphs, even for pairs that no set of neighbours separates.

It begins with the adjacency phase of FCI, whose separating sets are minimal. An edge that is then left although its
ends can be separated is a D-separating link. Links are recognised by arrowheads. If adding a node to a separating set
destroys the independence, the node is an ancestor neither of the pair nor of the set. So every edge that joins the node
to the pair or the set has an arrowhead at the node. A link X <-> Y has arrowheads at both ends, and each end is on
another `<->` (`possible_links`). The set that separates X and Y starts as X, Y and some neighbours of each. The
separating sets of every two of its nodes are added until nothing changes (the hierarchy); then X and Y are left out. At
the end R0–R10 set all marks anew, without these arrowheads.

A round tests all possible links in the graph as it was before the round. Rounds are repeated until one removes no link.
Missing edges are right after every step. All marks are circles until the last step sets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self

import numpy as np

from anypag.arrays import Floats, Indices
from anypag.catalogue import METHODS
from anypag.graphs.base import Marks, transitive
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
from anypag.search.state import PairTests, State, StepInfo, first_state, of_class
from anypag.stored import Array, Whole, stored

TESTS_A_STEP = 1000
"""A round over all links is cut into steps of about this many tests. A killed run resumes after its last step."""


@dataclass(frozen=True, eq=False, repr=False)
class LinksState(State):
    """A state of FCI+, and how far the round over all possible links is (`_part_of_round`). `adjacency_marks` has
    the arrowheads of this round, at nodes that were found to break an independence.
    """

    n_added: int = stored(Whole(), default=0, kw_only=True)  # how many additions to separating sets have been tested
    links: Indices | None = stored(Array("int32", (None, 2), 0, "n"), default=None, kw_only=True)
    """(k, 2) the possible links; None until all arrowheads are known."""
    n_tested: int = stored(Whole(), default=0, kw_only=True)  # how many of the links have been tested
    separated: Indices = stored(
        Array("int32", (None, None), -1, "n"), default_factory=lambda: np.empty((0, 2), np.int32), kw_only=True
    )
    """(k, 2 + w) the links that were separated in this round, each with its set, padded with -1."""
    separated_p: Floats = stored(Array("float64", (None,)), default_factory=lambda: np.empty(0), kw_only=True)

    @property
    def is_consistent(self) -> bool:
        is_pair = self.separated.shape[1] >= 2 and bool((self.separated[:, :2] >= 0).all())
        n_links = 0 if self.links is None else len(self.links)
        return is_pair and len(self.separated) == len(self.separated_p) and self.n_tested <= n_links

    @property
    def falling(self) -> PairTests:
        """The separated links; they are removed when all links have been tested."""
        x, y = (np.ascontiguousarray(self.separated[:, k]) for k in range(2))
        return PairTests(x, y, np.ascontiguousarray(self.separated[:, 2:]), self.separated_p)

    def with_falling(self, test: PairTests) -> Self:
        rows = stacked(self.separated, np.column_stack([test.x, test.y, test.z]))
        return replace(self, separated=rows, separated_p=np.append(self.separated_p, test.p))


def init(problem: Problem) -> LinksState:
    """The first state, in which every pair is joined."""
    return of_class(LinksState, first_state(problem))


def step(state: LinksState, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """Tries one size of condition sets in the adjacency phase; later, makes a part of a round over possible links."""
    if state.phase == "links":
        return _part_of_round(state, problem, tick)
    inquiry = Inquiry(problem, state.r + 1, tick, state)
    after, n_open = remove_separated(state, inquiry, inquiry.r, neighbour_pools)
    is_last = not n_open or inquiry.r >= problem.last_r
    after = replace(after, phase="links") if is_last else after
    return inquiry.finished("adjacency", state, after, after, n_open)


def _part_of_round(state: LinksState, problem: Problem, tick: Tick) -> tuple[State, StepInfo]:
    """Finds arrowheads, then tests as many links as fit into a step. After the last link, removes separated links."""
    inquiry = Inquiry(problem, state.r, tick, state)
    looked = state if state.links is not None else augmented(state, inquiry)
    if looked.links is None:
        return inquiry.finished("links", state, looked, looked, 0)
    links = [(int(x), int(y)) for x, y in looked.links]
    for x, y in links[looked.n_tested :]:
        if inquiry.n_asked >= TESTS_A_STEP:
            return inquiry.finished("links", state, looked, looked, 0)
        test = _separated(looked, inquiry, x, y)
        looked = replace(looked if test is None else looked.with_falling(test), n_tested=looked.n_tested + 1)
    found, after = looked.falling, replace(looked, adjacency_marks=None, n_added=0, links=None, n_tested=0)
    after = replace(after, separated=after.separated[:0, :2], separated_p=after.separated_p[:0])  # for the next round
    after = after.separating(make_minimal(found, inquiry), after.r) if len(found.x) else after
    done = after if len(found.x) else replace(orient_state(after, problem, inquiry.look), done=True)
    return inquiry.finished("links", state, after, done, _n_cut(after, problem, links))


def _n_cut(state: State, problem: Problem, links: list[tuple[int, int]]) -> int:
    """How many edges have condition sets beyond `max_r`: larger sets of neighbours, or larger hierarchies."""
    if problem.choices.max_r is None:
        return 0
    last_r = problem.last_r
    if any(len(known) >= last_r for *_, known in _additions(state)):  # adding a node would go beyond `max_r`
        return state.n_edges
    degree = np.diff(state.skeleton.start)
    x, y = state.edges()
    is_cut = np.maximum(degree[x], degree[y]) - 1 > last_r
    for a, b in links:
        beside = _beside(state, a, b)
        every = (chosen for k in range(2, sum(map(len, beside)) + 1) for chosen in _choices(beside, k))
        sizes = (len(hierarchy(state, {a, b, *chosen})) - 2 for chosen in every)
        is_cut |= (x == a) & (y == b) & any(size > last_r for size in sizes)
    return int(is_cut.sum())


def augmented(state: LinksState, inquiry: Inquiry) -> LinksState:
    """The state with arrowheads at nodes that break an independence. Such a node is no ancestor of the pair or its set.
    For every separated pair, each neighbour of the pair or of its set is added to the set, one at a time. A step makes
    up to `TESTS_A_STEP` of these additions; after the last one the possible links are known.
    """
    marks = given_marks(state, inquiry.problem) if state.adjacency_marks is None else np.array(state.adjacency_marks)
    additions = [item for item in _additions(state) if len(item[3]) < inquiry.problem.last_r]
    asked = additions[state.n_added : state.n_added + TESTS_A_STEP]
    if asked:
        x, y = (np.array([item[k] for item in asked], np.int32) for k in range(2))
        width = max(len(known) for _, _, _, known in asked)
        given = np.array([(*known, node, *(-1,) * (width - len(known))) for _, _, node, known in asked], np.int32)
        p = inquiry.ask_padded(x, y, given, "links")
        for (a, b, node, known), is_joined in zip(asked, (p <= inquiry.alpha).tolist(), strict=True):
            for other in (a, b, *known):
                if is_joined and marks[other, node]:
                    marks[other, node] = Mark.ARROW
    n_added = state.n_added + len(asked)
    is_last = n_added == len(additions)
    links = np.array(possible_links(marks), np.int32).reshape(-1, 2) if is_last else None
    return replace(state, adjacency_marks=marks, n_added=n_added, links=links)


def _additions(state: State) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
    """(a, b, node, set) for every separated pair a, b, its set, and each neighbour of a, b or the set."""
    largest = state.n - 3
    for a, b in combinations(range(state.n), 2):
        known = state.sepsets.get(a, b)
        if known is None or len(known) > largest:
            continue
        for node in np.flatnonzero((state.marks[[a, b, *known]] != Mark.NONE).any(axis=0)).tolist():
            if node not in (a, b, *known):
                yield a, b, node, known


def possible_links(marks: Marks) -> list[tuple[int, int]]:
    """Edges X <-> Y with U <-> X, Y <-> V, U and V not adjacent, and paths (`leads`) from U to Y and from V to X."""
    is_two_headed = (marks == Mark.ARROW) & (marks.T == Mark.ARROW)
    steps = (marks != Mark.NONE) & (marks.T != Mark.ARROW)
    # [a, b]: a path leads from a to b, and no edge on it begins with an arrowhead
    leads = transitive(steps) | np.eye(len(marks), dtype=np.bool_)
    found = []
    for x, y in np.argwhere(np.triu(is_two_headed)).tolist():
        u = np.flatnonzero(is_two_headed[x] & leads[:, y])
        v = np.flatnonzero(is_two_headed[y] & leads[:, x])
        apart = (marks[np.ix_(u, v)] == Mark.NONE) & (u[:, None] != v)
        if apart[u != y][:, v != x].any():
            found.append((x, y))
    return found


def _separated(state: State, inquiry: Inquiry, x: int, y: int) -> PairTests | None:
    """The test of the first hierarchy that separates a link, or None; hierarchies of few neighbours come first."""
    beside = _beside(state, x, y)
    tried: set[tuple[int, ...]] = set()
    for size in range(2, sum(map(len, beside)) + 1):
        sets = [hierarchy(state, {x, y, *chosen}) - {x, y} for chosen in _choices(beside, size)]
        fresh = [z for z in dict.fromkeys(tuple(sorted(nodes)) for nodes in sets) if z not in tried]
        fresh = [z for z in fresh if len(z) <= inquiry.problem.last_r]
        tried |= set(fresh)
        for z in fresh:
            one, other, given = np.array([x], np.int32), np.array([y], np.int32), np.array([z], np.int32)
            p = inquiry.ask_padded(one, other, given, "links")
            if p[0] > inquiry.alpha:
                return PairTests(one, other, given, p)
    return None


def _beside(state: State, x: int, y: int) -> list[list[int]]:
    return [[int(k) for k in np.flatnonzero(state.marks[node]) if k not in (x, y)] for node in (x, y)]


def _choices(beside: list[list[int]], size: int) -> Iterator[tuple[int, ...]]:
    """Sets of `size` neighbours of the two ends, with at least one neighbour of each end."""
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


ALGORITHM = Algorithm("fci+", METHODS["fci+"], init, step, state=LinksState)  # type: ignore[arg-type]
