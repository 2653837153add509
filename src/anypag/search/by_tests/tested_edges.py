"""Finds the edges that an iteration removes, by the fastest of these ways that the test allows:

1. all pairs given the empty set, in one pass of the test over the graph (`anypag.ci.passes`);
2. all edges given each single node of their pools, in one pass;
3. the sets of an edge, enumerated by the test itself (`test_candidates`);
4. batches of questions (`search.inquiry`); slow batches are cut into chunks, so that a run soon reacts to a signal;
5. blocks of questions for workers, if the test takes one question at a time (`ci.wrappers`).

All ways give the same answers to the bit. The graph is frozen while an iteration runs, so edges do not depend on each
other. So they are tested in chunks by several threads, and the number of threads does not change the outcome.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from anypag._kernels import candidates as kernel_of_sets
from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.choices import Sepset
from anypag.ci.passes import BestSets, NearEdges, Passes
from anypag.search.by_tests.candidates import Candidates, places_of
from anypag.search.inquiry import Inquiry
from anypag.search.sepsets import padded
from anypag.search.state import PairTests, State
from anypag.threads import Made, map_in_threads, runs_of, slices

SAMPLE = 64  # to measure the cost of an edge, every 64th edge is tested first (of fewer than 128 edges two or three)
FEWEST_EDGES = 8  # fewer edges are not shared among threads
LEAST_CHUNK_SECONDS = 0.002  # a chunk should take at least this long; starting it on a thread takes a tenth of that
SECONDS_TO_START = 0.0003  # the cost of a chunk without questions
MOST_EDGES = 2048  # usually the most edges in a chunk; its pools are made at once, which takes memory and time
QUESTIONS_PER_EDGE = 32  # a chunk may have (questions in a batch) / 32 edges, if that is more than MOST_EDGES

LEAST_PAIRS, LEAST_SINGLES = 400_000, 150_000
"""The fewest questions for a thread at a time: a millisecond or two. With fewer, sharing costs more than it saves."""

MOST_NEAR = 1024  # the largest pool for passes, which copy its correlations into one matrix (8 MB)
FIRST_SETS = 4096  # the most sets that the first call of a pass tries
MOST_SETS = 262_144  # the most sets that are tried between two ticks: about ten milliseconds

_NO_NODES: Indices = np.empty(0, np.int32)


class TestedEdges(NamedTuple):
    """The outcome of testing edges: for each the tested set with the largest p-value."""

    is_open: Flags  # (m,) the edge had candidates
    z: Indices  # (m, r); arbitrary if the edge had no candidate
    p: Floats  # (m,) NaN if the edge had no candidate

    def separated(self, x: Indices, y: Indices, alpha: float) -> PairTests:
        apart = np.flatnonzero(self.p > alpha)
        return PairTests(x.take(apart), y.take(apart), self.z[apart], self.p.take(apart))


TestSome = Callable[[Indices, Indices], TestedEdges]  # tests some edges x–y given the sets of their pools


class Removal(NamedTuple):
    """The state after edges were removed, and the edges that were tested."""

    state: State
    n_tried: int  # how many edges had candidates
    tried: tuple[Indices, Indices]  # the ends of these edges; after a pass at r = 0, only of those that are left
    untried: tuple[Indices, Indices]  # the ends of the other edges


def without_separated(
    state: State,
    inquiry: Inquiry,
    r: int,
    test_some: TestSome,
    shrunk: Callable[[PairTests, Inquiry], PairTests] | None = None,
    most_singles: int | None = None,
) -> Removal:
    """The state without the edges that sets of r nodes separate.

    `test_some` tests some edges given the r-subsets of their pools. `shrunk` makes separating sets minimal; without it
    all smaller sets from the same pools must have been tried. With `most_singles` one pass tests all edges with at most
    this many pool nodes, and `test_some` tests the others. Callers may give `most_singles` only if r = 1, and if the
    pools are the neighbours of the ends in the edge's biconnected block.
    """
    if r == 0 and (after := _without_independent_pairs(state, inquiry)) is not None:
        return Removal(after, state.n * (state.n - 1) // 2, after.edges(), (_NO_NODES, _NO_NODES))
    x, y = state.unsettled_edges()
    tested = None if most_singles is None else _test_singles(state, inquiry, x, y, most_singles)
    if tested is None:
        tested = work_in_chunks(test_some, x, y, inquiry)
    elif len(left := np.flatnonzero(tested.is_open & np.isnan(tested.p))):  # these had too many candidates for the pass
        rest = work_in_chunks(test_some, x[left], y[left], inquiry)
        tested.is_open[left], tested.z[left], tested.p[left] = rest
    is_open, found = tested.is_open, tested.separated(x, y, inquiry.alpha)
    found = found if shrunk is None else shrunk(found, inquiry)
    after = state.but(r=r).keeping(x, y, tested.p).separating(found, r, inquiry.threads)
    return Removal(after, int(is_open.sum()), (x[is_open], y[is_open]), (x[~is_open], y[~is_open]))


def work_in_chunks(test_some: TestSome, x: Indices, y: Indices, inquiry: Inquiry) -> TestedEdges:
    """The value of `test_some(x, y)`, computed in `inquiry.threads` threads, a chunk of the edges at a time.

    The calling thread works too, and calls the tick. An exception from a tick, a signal or a chunk stops the other
    threads after their current batch. With several threads some edges are tested first to measure the cost of an edge.
    If the rest takes only a few milliseconds, it stays in the calling thread.
    """

    def test_chunk(chunk: slice | Counts) -> TestedEdges:
        tested = test_some(np.ascontiguousarray(x[chunk]), np.ascontiguousarray(y[chunk]))
        inquiry.advance(len(tested.is_open))
        return tested

    most = max(MOST_EDGES, inquiry.batch // (QUESTIONS_PER_EDGE if inquiry.r else 1))  # r = 0: one question each
    with inquiry.counting_edges(len(x)):
        if inquiry.threads == 1 or len(x) < FEWEST_EDGES:
            chunks = slices(len(x), most) if len(x) else [slice(0, 0)]
            tested = [test_chunk(chunk) for chunk in chunks]
            return tested[0] if len(tested) == 1 else joined(tested, chunks, len(x))
        one_of = min(SAMPLE, len(x) // 2)
        began = time.perf_counter()
        sample = [slice(0, None, one_of)]
        tested = [test_chunk(sample[0])]
        seconds = max(time.perf_counter() - began - SECONDS_TO_START, 0.0) * (one_of - 1)
        edges = np.flatnonzero(np.arange(len(x)) % one_of)
        n_shares = max(1, min(inquiry.threads, int(seconds / LEAST_CHUNK_SECONDS)))
        n_chunks = n_shares * -(-len(edges) // (n_shares * most))
        # a chunk takes edges from the whole list, because the few edges with most candidates may be neighbours there
        rest = [edges[k::n_chunks] for k in range(n_chunks)]
        tested += _mapped(test_chunk, rest, inquiry)
    return joined(tested, [*sample, *rest], len(x))


def joined(tested: Sequence[TestedEdges], chunks: Sequence[slice | Counts], n_edges: int) -> TestedEdges:
    r = tested[0].z.shape[1]
    whole = TestedEdges(np.empty(n_edges, np.bool_), np.empty((n_edges, r), np.int32), np.empty(n_edges))
    for chunk, part in zip(chunks, tested, strict=True):
        whole.is_open[chunk], whole.z[chunk], whole.p[chunk] = part
    return whole


def _without_independent_pairs(state: State, inquiry: Inquiry) -> State | None:
    """The state after iteration 0, if a pass of the test can test all pairs at once; None if not."""
    problem, n = inquiry.problem, state.n
    passes = inquiry.passes
    is_complete = state.marks is problem.given and problem.choices.initial is None and problem.facts is None
    if passes is None or not is_complete or problem.marginals is not None:
        return None
    order, alpha = problem.nodes.order, inquiry.alpha
    work = np.arange(n - 1, -1, -1)

    def test_run(run: slice) -> tuple[Indices, Indices, Floats]:
        inquiry.tick("candidates", 0, 0)
        found = passes.dependent_pairs(order, alpha, run)
        inquiry.advance(int(work[run].sum()))
        return found

    with inquiry.counting_edges(n * (n - 1) // 2):
        parts = _mapped(test_run, _runs_for(passes, work, LEAST_PAIRS, inquiry), inquiry)
    x, y, p = (np.concatenate(column) for column in zip(*parts, strict=True))
    inquiry.add(0, n * (n - 1) // 2)
    return state.but(r=0).joined_by(x, y, p, inquiry.threads)


def _test_singles(state: State, inquiry: Inquiry, x: Indices, y: Indices, max_sets: int) -> TestedEdges | None:
    """The outcome of a pass that tests edges given each single node of their pools; p is NaN for edges with more than
    `max_sets` pool nodes. None if no pass can do it.
    """
    problem = inquiry.problem
    passes = inquiry.passes
    if passes is None or problem.facts is not None or problem.choices.sepset != "largest-p":
        return None
    skeleton, blocks = state.skeleton, state.blocks
    edge_block = blocks.of_edge[places_of(skeleton, x, y)]

    def test_run(run: slice) -> tuple[TestedEdges, int]:
        inquiry.tick("candidates", 0, 0)
        edges = NearEdges(skeleton.start, skeleton.neighbour, blocks.of_edge, x[run], y[run], edge_block[run])
        found = passes.best_singles(problem.nodes.order, edges, max_sets)
        inquiry.advance(len(found.p))
        return TestedEdges(found.is_open, found.z, found.p), found.n_tests

    degree = np.diff(skeleton.start)
    runs = _runs_for(passes, degree[x] + degree[y], LEAST_SINGLES, inquiry)
    with inquiry.counting_edges(len(x)):
        parts = _mapped(test_run, runs, inquiry)
    inquiry.add(1, sum(n_tests for _, n_tests in parts))
    return joined([outcome for outcome, _ in parts], runs, len(x))


def _runs_for(passes: Passes, work: Counts, least: int, inquiry: Inquiry) -> list[slice]:
    """The slices of work for calls of a pass. They are longer for a device that takes many questions at once."""
    return runs_of(work, inquiry.threads, max(least, passes.at_once // 64), passes.at_once)


def _mapped(function: Callable[[Any], Made], runs: Sequence[Any], inquiry: Inquiry) -> list[Made]:
    """The function's value for every run, computed in the threads of the inquiry, which ticks meanwhile."""
    return map_in_threads(function, runs, inquiry.threads, meanwhile=inquiry.tick_again, on_error=inquiry.abandon)


def test_candidates(candidates: Candidates, inquiry: Inquiry, sepset: Sepset | None) -> TestedEdges:
    """Test the candidates of every edge: all of them for "largest-p", otherwise up to its first separating set."""
    passes = inquiry.passes if sepset == "largest-p" and candidates.r else None
    if passes is None:
        inquiry.expect(candidates.n_sets, len(candidates.x))
        return _best_by_questions(candidates, inquiry, sepset)
    has_large_pool = candidates.largest_pools > MOST_NEAR
    is_any_large = bool(has_large_pool.any())
    best = _best_by_passes(candidates.only(~has_large_pool) if is_any_large else candidates, inquiry, passes)
    if is_any_large:
        others = _best_by_questions(candidates.only(has_large_pool), inquiry, sepset)
        best.z[has_large_pool], best.p[has_large_pool] = others.z[has_large_pool], others.p[has_large_pool]
    return best._replace(is_open=candidates.is_open)


def _best_by_passes(candidates: Candidates, inquiry: Inquiry, passes: Passes) -> TestedEdges:
    """The best set of each edge, by a pass that enumerates sets. The first call is short, as it may run as Python."""
    edges, best, room = candidates.pooled, BestSets.none(len(candidates.x), candidates.r), FIRST_SETS
    while best.n_done < len(candidates.x):
        if room > FIRST_SETS:  # after the first call, so that counting the sets does not delay a short search
            inquiry.expect(candidates.n_sets, len(candidates.x))
        inquiry.try_sets(passes, edges, best, room)
        room = min(4 * room, MOST_SETS)
    return TestedEdges(candidates.is_open, best.z, best.p)


def _best_by_questions(candidates: Candidates, inquiry: Inquiry, sepset: Sepset | None) -> TestedEdges:
    m, total = len(candidates.x), candidates.left
    best = TestedEdges(candidates.is_open, np.empty((m, candidates.r), np.int32), np.full(m, np.nan))
    while candidates.left:
        edge_of, queries = candidates.take(inquiry.batch)
        done = total - candidates.left
        if not len(queries):  # none of the next candidates is needed, or there are none left
            inquiry.tick("candidates", done, total)
            continue
        p = inquiry.evaluate(queries, "candidates", done, total)
        if sepset != "largest-p":
            needed = _up_to_first(edge_of, p > inquiry.alpha)
            edge_of, queries, p = edge_of[needed], queries.take(needed), p[needed]
            candidates.drop(edge_of[p > inquiry.alpha])
        inquiry.count(queries)
        kernel_of_sets.keep_best(edge_of, queries.z, p, best.z, best.p)
    return best


def make_minimal(found: PairTests, inquiry: Inquiry) -> PairTests:
    """Minimal separating sets: while x and y stay independent, drops the member without which p is largest."""
    smallest = inquiry.problem.smallest_set
    if found.z.shape[1] <= smallest or not len(found.p):
        return found
    z, p = np.array(found.z), np.array(found.p)
    active = np.arange(len(p))
    while len(active):
        active = active[(z[active] >= 0).sum(axis=1) > smallest]
        pair, place = np.nonzero(z[active] >= 0)  # each member in turn is left out
        keep, rows = np.arange(z.shape[1]) != place[:, None], active[pair]
        smaller = padded(z[rows][keep].reshape(len(rows), z.shape[1] - 1), z.shape[1])
        answers = inquiry.ask_padded(found.x[rows], found.y[rows], smaller, "minimal sets")
        best = np.asarray(kernel_of_sets.largest_of_each(rows, answers), np.int64)
        best = best[answers[best] > inquiry.alpha]
        active = rows[best]
        z[active], p[active] = smaller[best], answers[best]
    return PairTests(found.x, found.y, z, p)


def _up_to_first(edge_of: Counts, independent: Flags) -> Flags:
    """(b,) True for the rows that a search would reach if it stopped at each edge's first independence."""
    hits = np.flatnonzero(independent)
    edges, first = np.unique(edge_of[hits], return_index=True)
    if not len(edges):
        return np.ones(len(edge_of), np.bool_)
    place = np.minimum(np.searchsorted(edges, edge_of), len(edges) - 1)
    first_hit = np.where(edges[place] == edge_of, hits[first[place]], len(edge_of))
    return np.less_equal(np.arange(len(edge_of)), first_hit)
