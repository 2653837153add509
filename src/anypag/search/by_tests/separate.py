"""Tests candidate sets: which edges are removed, and by which separating set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag._kernels import candidates as kernel
from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.choices import Sepset
from anypag.ci.passes import BestSets, Passes
from anypag.search.by_tests.candidates import Candidates
from anypag.search.inquiry import Inquiry
from anypag.search.sepsets import padded
from anypag.search.state import PairTests

MOST_NEAR = 1024
"""The most nodes of a pool whose correlations are copied into one matrix (8 MB); sets from larger pools are tested one
by one.
"""

FIRST_SETS = 4096
MOST_SETS = 262_144  # sets that are tried between two ticks: some ten milliseconds


class Best(NamedTuple):
    """For each edge the candidate with the largest p-value."""

    z: Indices  # (m, r); arbitrary without a candidate
    p: Floats  # (m,) NaN without a candidate

    def separated(self, x: Indices, y: Indices, alpha: float) -> PairTests:
        """The edges x–y that are separated."""
        fallen = np.flatnonzero(self.p > alpha)
        return PairTests(x.take(fallen), y.take(fallen), self.z[fallen], self.p.take(fallen))


def test_candidates(candidates: Candidates, inquiry: Inquiry, sepset: Sepset | None) -> Best:
    """Test the candidates of every edge: up to its first separating set, or for "largest-p" all of them."""
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
    return best


def _best_by_passes(candidates: Candidates, inquiry: Inquiry, passes: Passes) -> Best:
    """The best set of each edge, by a pass that enumerates the sets. The first call is short: it may run uncompiled."""
    edges, best, room = candidates.pooled, BestSets.none(len(candidates.x), candidates.r), FIRST_SETS
    while best.n_done < len(candidates.x):
        if room > FIRST_SETS:  # it takes longer than the counting
            inquiry.expect(candidates.n_sets, len(candidates.x))
        inquiry.try_sets(passes, edges, best, room)
        room = min(4 * room, MOST_SETS)
    return Best(best.z, best.p)


def _best_by_questions(candidates: Candidates, inquiry: Inquiry, sepset: Sepset | None) -> Best:
    """The best set of each edge, by the p-value of every set."""
    m, total = len(candidates.x), candidates.left
    best = Best(np.empty((m, candidates.r), np.int32), np.full(m, np.nan))
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
        kernel.keep_best(edge_of, queries.z, p, best.z, best.p)
    return best


def make_minimal(found: PairTests, inquiry: Inquiry) -> PairTests:
    """Drop members while x and y stay independent: always the one whose loss leaves the largest p-value."""
    smallest = inquiry.problem.smallest_set
    if found.z.shape[1] <= smallest or not len(found.p):
        return found
    z, p = np.array(found.z), np.array(found.p)
    active = np.arange(len(p))
    while len(active):
        size = (z[active] >= 0).sum(axis=1)
        active = active[size > smallest]
        pair, smaller = _single_drops(z[active])
        rows = active[pair]
        answers = inquiry.ask_padded(found.x[rows], found.y[rows], smaller, "minimal sets")
        best = np.asarray(kernel.largest_of_each(rows, answers), np.int64)
        best = best[answers[best] > inquiry.alpha]
        active = rows[best]
        z[active], p[active] = smaller[best], answers[best]
    return PairTests(found.x, found.y, z, p)


def _single_drops(z: Indices) -> tuple[npt.NDArray[np.intp], Indices]:
    """Every set with one member left out: the row it comes from, and the smaller set (padding last)."""
    pair, place = np.nonzero(z >= 0)
    keep = np.arange(z.shape[1]) != place[:, None]
    smaller = z[pair][keep].reshape(len(pair), -1) if len(pair) else np.empty((0, max(0, z.shape[1] - 1)), np.int32)
    return pair, padded(smaller, z.shape[1])


def _up_to_first(edge_of: Counts, independent: Flags) -> Flags:
    """The rows that a search would reach if it stopped at an edge's first independence."""
    hits = np.flatnonzero(independent)
    edges, first = np.unique(edge_of[hits], return_index=True)
    if not len(edges):
        return np.ones(len(edge_of), np.bool_)
    place = np.minimum(np.searchsorted(edges, edge_of), len(edges) - 1)
    first_hit = np.where(edges[place] == edge_of, hits[first[place]], len(edge_of))
    return np.less_equal(np.arange(len(edge_of)), first_hit)
