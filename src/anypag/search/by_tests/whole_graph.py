"""Steps over the whole graph at once, where the test has all correlations at hand (`anypag.ci.passes`).

They find what the same step finds question by question, to the bit: which pairs the empty set separates, and for every
edge the best set of one node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from anypag._kernels import pairs as kernel
from anypag.arrays import Floats, Indices
from anypag.ci.passes import NearEdges, Passes
from anypag.search.by_tests.candidates import places_of
from anypag.search.by_tests.chunks import TestedEdges, joined
from anypag.search.by_tests.separate import Best
from anypag.search.inquiry import Inquiry
from anypag.search.state import State
from anypag.threads import map_in_threads, runs_of

Made = TypeVar("Made")

LEAST_PAIRS = 400_000
LEAST_SINGLES = 150_000
"""Questions that a thread should have at a time: a millisecond or two. With fewer, sharing costs more than it saves."""


def without_independent_pairs(state: State, inquiry: Inquiry) -> State | None:
    """The state after iteration 0, all pairs tested given nothing; None where that is to be done one by one."""
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
        parts = _mapped(test_run, runs_of(work, inquiry.threads, _least(passes, LEAST_PAIRS), passes.at_once), inquiry)
    x, y, p = (np.concatenate(column) for column in zip(*parts, strict=True))
    inquiry.add(0, n * (n - 1) // 2)
    return replace(state, r=0).joined_by(x, y, p, inquiry.threads)


def test_singles(state: State, inquiry: Inquiry, x: Indices, y: Indices, max_sets: int) -> TestedEdges | None:
    """What testing edges given each one node of their pools gives, but for edges with more than `max_sets` of them.

    These are open and have no best set yet. None where all has to be done question by question.
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
        return TestedEdges(found.is_open, Best(found.z, found.p)), found.n_tests

    work, least = kernel.work_of_singles(skeleton.start, x, y), _least(passes, LEAST_SINGLES)
    runs = runs_of(work, inquiry.threads, least, passes.at_once)
    with inquiry.counting_edges(len(x)):
        parts = _mapped(test_run, runs, inquiry)
    inquiry.add(1, sum(n_tests for _, n_tests in parts))
    return joined([outcome for outcome, _ in parts], runs, len(x))


def _least(passes: Passes, least: int) -> int:
    """The minimum work per call: larger for a device that takes many questions at once."""
    return max(least, passes.at_once // 64)


def _mapped(function: Callable[[slice], Made], runs: list[slice], inquiry: Inquiry) -> list[Made]:
    """The function of every run, worked out in the threads of the inquiry, which ticks meanwhile."""
    return map_in_threads(function, runs, inquiry.threads, meanwhile=inquiry.tick_again, on_error=inquiry.abandon)
