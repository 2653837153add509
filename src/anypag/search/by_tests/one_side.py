"""One side is enough, where a test takes one question at a time: the sets of one pool of an edge, not of both.

If X and Y can be separated, a set within the pool of X does it, and one within that of Y. So in every iteration each
edge is tested on the side that takes fewer sets. A side that was passed over has sizes it has not seen; when it is
chosen later, these come first, with its pool as it is then. The set that the proof of completeness knows lies in the
pool at any time, as near as it is large (`docs/algorithm.md`), and is met when its size is. Once a side has seen all
subsets of its pool the edge is settled. An edge may stay a little longer than with both sides; what a graph claims is
as right.

A set that a smaller one makes superfluous is not asked about. Let Z be a candidate for the edge A–B and R a part of it.
If every other member of Z is separated from A by R, or every one by R with B, then Z separates A and B only if R does:
independences add up (`docs/algorithm.md`). And R is asked about as well, before Z, where its members are neighbours of
the end whose pool the sets are from. The separations are those that the state had when the iteration began; so neither
the order of questions nor a stop in between matters.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.ci.base import Queries
from anypag.search.by_tests.candidates import Candidates, Pools
from anypag.search.by_tests.separate import Best, test_candidates
from anypag.search.by_tests.tested_edges import TestedEdges
from anypag.search.inquiry import Inquiry
from anypag.search.sepsets import UNKNOWN, Sepsets, padded
from anypag.search.state import State


def test_one_side(state: State, pools: Pools, inquiry: Inquiry, x: Indices, y: Indices, seen: Indices) -> TestedEdges:
    """Test each edge x–y given the sets of one of its pools, of all sizes up to r that this side has not seen.

    Args:
        state: as it was when iteration r began.
        pools: of the edges.
        inquiry: of iteration r.
        x, y: the edges.
        seen: (n, n) `[a, b]`: the size up to which all sets of a's pool for the edge a–b are done; written.
    """
    r, sepset = inquiry.r, inquiry.problem.choices.sepset
    within = _sizes_within(pools, r)
    done = np.column_stack([seen[x, y], seen[y, x]]).astype(np.int64)
    side = np.argmin(_cost(within, done), axis=1)
    every = np.arange(len(x))
    within, done = within[every, side], done[every, side]
    near, far = np.where(side == 0, x, y), np.where(side == 0, y, x)
    worth_a_test = partial(needed, state, inquiry.problem.choices.r0, near)
    best = Best(np.full((len(x), r), -1, np.int32), np.full(len(x), np.nan))
    for s in range(int(done.min(initial=r)) + 1, r + 1):
        is_open = (done < s) & (s <= within[:, s]) & ~(best.p > inquiry.alpha)
        mine = _one_of(pools, side, s)
        candidates = Candidates(x, y, s, mine, is_open, worth_a_test)
        best = _better(best, test_candidates(candidates, inquiry, sepset), inquiry.alpha)
    seen[near, far] = r
    if r == 0:
        seen[far, near] = 0  # the empty set is the same for both
    return TestedEdges(within[:, r] >= r, best)


def _sizes_within(pools: Pools, r: int) -> Counts:
    """(m, 2, r + 1) how many nodes of each pool are as near as 0, 1, ..., r."""
    of_pool = np.repeat(np.arange(len(pools.first) - 1), np.diff(pools.first))
    counts = np.zeros((len(pools.first) - 1, r + 1), np.int64)
    np.add.at(counts, (of_pool, pools.distances), 1)
    return counts.cumsum(axis=1).reshape(-1, 2, r + 1)


def _cost(within: Counts, done: Counts) -> Floats:
    """(m, 2) how many sets each side has still to test, and a little for the size of its pool."""
    from scipy.special import comb

    sizes = np.arange(within.shape[2])
    left: Floats = np.where(sizes > done[:, :, None], comb(within, sizes), 0.0).sum(axis=2)
    return left + 1e-9 * within[:, :, -1]


def _one_of(pools: Pools, side: Counts, radius: int) -> Pools:
    """Only one pool of each edge, and of that the nodes within the radius; the other one empty."""
    size = np.diff(pools.first)
    is_chosen: Flags = np.column_stack([side == 0, side == 1]).ravel()
    kept = np.repeat(is_chosen, size) & (pools.distances <= radius)
    first = np.concatenate([[0], np.cumsum(kept)])[pools.first]
    return Pools(first, pools.nodes[kept], pools.distances[kept], np.zeros(int(kept.sum()), np.int32))


def _better(best: Best, found: Best, alpha: float) -> Best:
    """For each edge the larger p-value, with its set; one that separates is never given up for a larger set's."""
    is_better = ~(best.p > alpha) & (np.isnan(best.p) | (found.p > best.p))
    z = padded(found.z, best.z.shape[1])
    return Best(np.where(is_better[:, None], z, best.z), np.where(is_better, found.p, best.p))


def needed(state: State, least: int, near: Indices, edge_of: Counts, queries: Queries) -> Flags:
    """Which of these candidates have to be asked about.

    Args:
        state: as it was when the iteration began.
        least: the size of the smallest sets that the search asks about.
        near: (m,) of each edge, the end whose pool its candidates are from.
        edge_of: the edge of each question.
        queries: an edge and a candidate each.
    """
    is_needed = np.ones(len(queries), np.bool_)
    for k, (x, y, z) in enumerate(zip(queries.x, queries.y, queries.z, strict=True)):
        neighbours = frozenset(z[state.marks[near[edge_of[k]], z] != 0].tolist())
        is_needed[k] = not is_superfluous(state.sepsets, int(x), int(y), z, neighbours, least)
    return is_needed


def is_superfluous(sepsets: Sepsets, x: int, y: int, z: Indices, neighbours: frozenset[int], least: int) -> bool:
    """Would a part of z, of `least` members or more and all of them among `neighbours`, separate x and y if z did?"""
    members = frozenset(z.tolist())
    for end, other in ((x, y), (y, x)):
        found = _sets_between(sepsets, end, z)
        for given in {known for known in found if known is not None}:
            part = given - {other}
            is_asked = part < members and part <= neighbours and len(part) >= least
            if is_asked and all(known == given for w, known in zip(z, found, strict=True) if w not in part):
                return True
    return False


def _sets_between(sepsets: Sepsets, end: int, z: Indices) -> list[frozenset[int] | None]:
    """The set that separates each of z from an end; None where none is known."""
    slots = sepsets.slot(np.full(len(z), end), z)
    rows = sepsets.members[slots]
    return [
        None if slot == UNKNOWN else frozenset(row[row >= 0].tolist()) for slot, row in zip(slots, rows, strict=True)
    ]
