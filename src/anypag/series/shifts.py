"""ICD for time series: the search by tests in which all copies of a pair of nodes in time have the same edge.

A step is a step of `search.by_tests.icd` with these differences. Only the latest copy of a pair is tested, because it
has the most past in the window. If a test separates its two nodes, all copies lose their edge. The separating set is
kept for the latest copy only, because no rule reads separating sets of other copies. Causal relations do not change in
time, so a mark that a rule sets at one copy is set at all copies. Every edge has an arrowhead at its later node. A test
conditions on a candidate set and on the past of its two nodes: for each node, its copy one step earlier, if this copy
is known to cause the node (in a test on data: if it may cause the node). So fewer weak edges are lost (the idea of
LPCMCI, Gerhardus & Runge 2020). A set that separates two nodes still separates them if causes of the two are added.

A context (a variable that tells data sets apart) is a single node, without lags. Its pairs with the nodes of one
process are copies of each other.

With a perfect test all missing edges and all marks are right after every step; `certify --series` checks this on all
small systems. Rules R5 to R7 are left out: they are about selected samples, which this search does not allow for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Self

import numpy as np

from anypag._kernels.candidates import keep_best
from anypag.arrays import Flags, Indices
from anypag.catalogue import AtTheEnd, Method, OnTheWay, Promises
from anypag.graphs.base import Marks, ancestry
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import LogRows, Orientation, orient
from anypag.graphs.rules import rules_after_0
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.candidates import Candidates, PDSep, pdsep_pools
from anypag.search.by_tests.icd import iteration, most_sets
from anypag.search.by_tests.tested_edges import TestedEdges, make_minimal, without_separated
from anypag.search.inquiry import Inquiry
from anypag.search.orient import SepsetColliders, given_marks
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import GraphBlocks, PairTests, State, StepInfo, first_state, of_class
from anypag.series.window import Window
from anypag.stored import SQUARE, Array, stored
from anypag.threads import Look

FACTS = Method(
    "anypag.series.shifts",
    "iterative causal discovery for time series: all copies of a pair in time have the same edge",
    Promises(OnTheWay.CLAIMS, AtTheEnd.SOUND),
    uses=frozenset({"initial", "r0", "max_sets", "sepset", "threads", "n_jobs"}),
    takes_knowledge=False,
)


def icd_over_shifts(window: Window, joined: Flags | None = None) -> Algorithm:
    """The algorithm for a window whose nodes are the variables of the test. Pairs in `joined` keep their edge."""
    on_data = {"sepset": "largest-p", "max_sets": 1000}
    init = partial(first_of_window, window, joined)
    return Algorithm("icd-over-shifts", FACTS, init, step, on_data, state=WindowState)


@dataclass(frozen=True, eq=False, repr=False)
class WindowState(State):
    """A state in which the copies of a pair have the same edge."""

    joined: Flags = stored(Array("bool", SQUARE), kw_only=True)  # (n, n) pairs that are known to be joined

    @cached_property
    def window(self) -> Window:
        return Window.of(self.nodes.names)

    def separating(self, found: PairTests, r: int, threads: int = 1) -> Self:
        """The state without the separated edges and their copies. Separating sets are kept for latest copies only."""
        window, lags = self.window, self.window.lags
        found = found.take(~self.joined[found.x, found.y])
        shift = np.minimum(lags[found.x], lags[found.y])
        z = window.later(found.z, shift[:, None])  # drops nodes later than the pair: they cause neither end
        latest = PairTests(window.later(found.x, shift), window.later(found.y, shift), z, found.p)
        after = super().separating(latest, r, threads)
        marks = np.where(self.window.spread(after.marks) != Mark.NONE, after.marks, Mark.NONE).astype(np.uint8)
        return after.but(marks=marks, earlier_edges=None)

    @cached_property
    def blocks(self) -> GraphBlocks:
        """One block for all edges, because values before the window may link any two of its nodes."""
        return GraphBlocks(np.zeros(2 * self.n_edges, np.int64), np.array([self.n]))


def first_of_window(window: Window, joined: Flags | None, problem: Problem) -> WindowState:
    """The state before the first step. Only latest copies that are not known to be joined are open to tests."""
    state = first_state(problem)
    joined = np.zeros((len(window), len(window)), np.bool_) if joined is None else joined
    return of_class(WindowState, state, joined=joined, settled=~window.is_latest | joined)


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """The state after the next iteration; see `search.by_tests.icd.step`."""
    assert isinstance(state, WindowState)
    inquiry = Inquiry(problem, state.r + 1, tick, state)
    test_some = partial(_test_with_past, state, inquiry)
    shrunk = make_minimal if problem.test.exact else None  # with data, a separating set keeps the past of the pair
    removal = without_separated(state, inquiry, inquiry.r, test_some, shrunk)
    if not problem.test.exact:
        removal = removal._replace(state=_with_neighbours(removal.state, inquiry))
    return iteration(state, removal, inquiry, partial(_oriented, state.window))


def _test_with_past(state: WindowState, inquiry: Inquiry, x: Indices, y: Indices) -> TestedEdges:
    """The tests of some edges given r of their candidates (PDSep_r); the past of both ends is added to each set."""
    r, problem = inquiry.r, inquiry.problem
    walks = PDSep(r, tails_close=True, max_sets=most_sets(problem, r))
    pools = pdsep_pools(state, problem, x, y, walks, inquiry.look)
    is_open = pools.n_large(r) > 0  # one pool with r nodes is enough: removals at early copies may shrink the other
    candidates = Candidates(x, y, r, pools, is_open)
    past = _own_past(state, x, y, None if not problem.test.exact else ancestry(state.marks))
    best = TestedEdges(is_open, np.full((len(x), r + past.shape[1]), -1, np.int32), np.full(len(x), np.nan))
    total = candidates.left
    while candidates.left:
        edge_of, queries = candidates.take(inquiry.batch)
        inquiry.tick("candidates", total - candidates.left, total)
        z = _joined(queries.z, past[edge_of])
        keep_best(edge_of, z, inquiry.ask_padded(queries.x, queries.y, z, "candidates"), best.z, best.p)
        if problem.choices.sepset != "largest-p":
            candidates.drop(np.flatnonzero(best.p > inquiry.alpha))
    return best


def _with_neighbours(state: State, inquiry: Inquiry) -> State:
    """The state in which separating sets gain a common neighbour of their pair if that raises the p-value.
    Needed with data: a small set is found first, and R0 makes colliders of all common neighbours outside this set.
    """
    assert isinstance(state, WindowState)
    marks, window = state.marks, state.window
    rows = list[tuple[int, int, tuple[int, ...]]]()
    for x, y in zip(*(ends.tolist() for ends in window.latest), strict=True):
        own = None if marks[x, y] else state.sepsets.get(x, y)
        if own is not None:
            near = np.flatnonzero((marks[x] != Mark.NONE) & (marks[y] != Mark.NONE)).tolist()
            rows += [(x, y, (*own, b)) for b in near if b not in own]
    if not rows:
        return state
    width = max(len(z) for _, _, z in rows)
    x, y = np.array([row[:2] for row in rows], np.int32).T
    z = np.array([(*z, *(-1,) * (width - len(z))) for _, _, z in rows], np.int32)
    p = inquiry.ask_padded(x, y, z, "checks")
    before, _ = state.evidence.notes.of(state.n, x, y)
    better = np.flatnonzero(p > before)
    better = better[np.argsort(p[better], kind="stable")]  # of several sets of a pair the last one is kept
    return state.but(sepsets=state.sepsets.adding(x[better], y[better], z[better]))


def _own_past(state: WindowState, x: Indices, y: Indices, causes: Flags | None) -> Indices:
    """(m, 2) for each edge x–y, the copies of x and of y one step earlier; -1 for a copy that lies outside the window,
    is the other end of the edge, or is no cause of its node. `causes` holds the known causes; if `causes` is None,
    the copy counts as a cause unless the marks exclude that.
    """
    columns = []
    for node, other in ((x, y), (y, x)):
        before = node + state.window.k
        there = (before < state.window.n_moving) & (before != other)
        before = np.where(there, before, node)
        mark = state.marks[node, before]  # the mark at the earlier copy, on its edge to the node
        is_cause = np.isin(mark, (Mark.CIRCLE, Mark.TAIL)) if causes is None else causes[before, node]
        columns.append(np.where(there & is_cause, before, -1))
    return np.stack(columns, axis=1).astype(np.int32)


def _joined(z: Indices, past: Indices) -> Indices:
    """The sets with the past of the two nodes added. Each member occurs once; rows are padded with -1 at the end."""
    is_new = (past >= 0) & ~(past[:, :, None] == z[:, None, :]).any(axis=2)
    is_new[:, 1] &= past[:, 0] != past[:, 1]
    more = np.where(is_new, past, -1)
    more = np.where((more[:, :1] < 0), more[:, ::-1], more)
    return np.hstack([z, more]).astype(np.int32)


def _oriented(window: Window, state: State, colliders: SepsetColliders, problem: Problem, look: Look) -> Orientation:
    """All marks that follow by the rules, the same at all copies of a pair; circles where copies disagree."""
    given, log, conflicts = given_marks(state, problem), [], []
    disputed = np.zeros(given.shape, np.bool_)
    for rules in chain([()], repeat(rules_after_0(selection=False))):  # R0 alone first: the other rules need its marks
        found = orient(given, colliders, rules, state.skeleton, look=look)
        log.append(found.log)
        conflicts.append(found.conflicts)
        marks, against = same_at_copies(window, found.marks)
        disputed |= against
        marks[disputed & (marks != Mark.NONE)] = Mark.CIRCLE
        if rules and np.array_equal(marks, given):
            break
        given = marks
    rows = _for_copies(window, np.concatenate(log), marks)
    return Orientation(marks, rows, np.unique(np.concatenate(conflicts), axis=0))


def same_at_copies(window: Window, marks: Marks) -> tuple[Marks, Flags]:
    """The marks, with each mark set at all copies of its pair; and an (n, n) array, True where copies disagree."""
    is_arrow, is_tail = np.zeros(marks.shape, np.bool_), np.zeros(marks.shape, np.bool_)
    np.logical_or.at(is_arrow, window.latest_copy, marks == Mark.ARROW)
    np.logical_or.at(is_tail, window.latest_copy, marks == Mark.TAIL)
    found = np.where(is_arrow, Mark.ARROW, np.where(is_tail, Mark.TAIL, Mark.CIRCLE)).astype(np.uint8)
    found[marks == Mark.NONE] = Mark.NONE
    both = (is_arrow & is_tail).astype(np.uint8)
    return window.spread(found), window.spread(both).astype(np.bool_)


def _for_copies(window: Window, rows: LogRows, marks: Marks) -> LogRows:
    """The log, reduced to one row per mark of a latest copy: the row of the copy nearest to lag 0 that has one."""
    shift = np.minimum(window.lags[rows[:, 1]], window.lags[rows[:, 2]])
    latest = np.array(rows)
    latest[:, 1:3] = window.later(rows[:, 1:3], shift[:, None])
    stands = marks[latest[:, 1], latest[:, 2]] == latest[:, 3]
    numbers = latest[:, 1].astype(np.int64) * len(window) + latest[:, 2]
    order = np.lexsort((np.arange(len(rows)), shift, numbers))  # rows of the same mark together, the least shift first
    is_first = np.zeros(len(rows), np.bool_)
    is_first[order[np.diff(numbers[order], prepend=-1) != 0]] = True
    return np.asarray(latest[is_first & stands])
