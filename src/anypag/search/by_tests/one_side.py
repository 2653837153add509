"""Tests an edge given the sets of one of its two pools, for tests that take one question at a time.

If X and Y can be separated, a subset of X's pool does it, and so does a subset of Y's pool. So each iteration tests an
edge on the side (the pool) with fewer sets. A side that was not chosen for some iterations first tests the sizes it
missed, with its current pool. Sets of k nodes are drawn from the nodes of the pool within distance k. The separating
set of the completeness proof (`docs/algorithm.md`) is such a set for some k, so it is tried when this side tests sets
of k nodes. When a side has tested all subsets of its pool, the edge is settled. An edge may stay longer than if both
sides were tested, but claims are just as right.

Superfluous sets are skipped. Let Z be a candidate for the edge A–B and R a subset of Z. Suppose R separates A from
every member of Z outside R, or R ∪ {B} does. Then Z separates A and B only if R does (`docs/algorithm.md`). Z is
skipped only if all members of R are neighbours of the end whose pool the sets come from. Then R is in that pool too,
and is tested before Z because it is smaller. Only separations known at the start of the iteration are used, so the
result does not depend on the order of questions or on stops.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.ci.base import Queries
from anypag.search.by_tests.candidates import Candidates, Pools
from anypag.search.by_tests.tested_edges import TestedEdges, test_candidates
from anypag.search.inquiry import Inquiry
from anypag.search.sepsets import UNKNOWN, Sepsets, padded
from anypag.search.state import State


def test_one_side(state: State, pools: Pools, inquiry: Inquiry, x: Indices, y: Indices, seen: Indices) -> TestedEdges:
    """Test each edge x–y given the sets of one of its pools, of all sizes up to r that this side has not tested yet.
    `seen[a, b]` is the size up to which all sets of a's pool for the edge a–b are tested; this function updates it.
    """
    r, sepset = inquiry.r, inquiry.problem.choices.sepset
    within = _sizes_within(pools, r)
    done = np.column_stack([seen[x, y], seen[y, x]]).astype(np.int64)
    side = np.argmin(_cost(within, done), axis=1)
    every = np.arange(len(x))
    within, done = within[every, side], done[every, side]
    near, far = np.where(side == 0, x, y), np.where(side == 0, y, x)
    worth_a_test = partial(needed, state, inquiry.problem.choices.r0, near)
    best = TestedEdges(within[:, r] >= r, np.full((len(x), r), -1, np.int32), np.full(len(x), np.nan))
    for s in range(int(done.min(initial=r)) + 1, r + 1):
        is_open = (done < s) & (s <= within[:, s]) & ~(best.p > inquiry.alpha)
        candidates = Candidates(x, y, s, _one_of(pools, side, s), is_open, worth_a_test)
        best = _better(best, test_candidates(candidates, inquiry, sepset), inquiry.alpha)
    seen[near, far] = r
    if r == 0:
        seen[far, near] = 0  # the empty set belongs to both sides
    return best


def sizes_seen(state: State) -> Indices:
    """(n, n) the size up to which each side of an edge has tested all sets of its pool; always a new array."""
    return np.full((state.n, state.n), state.r, np.int32) if state.seen_sizes is None else np.array(state.seen_sizes)


def _sizes_within(pools: Pools, r: int) -> Counts:
    """(m, 2, r + 1) how many nodes of each pool are within distance 0, 1, ..., r."""
    of_pool = np.repeat(np.arange(len(pools.first) - 1), np.diff(pools.first))
    counts = np.zeros((len(pools.first) - 1, r + 1), np.int64)
    np.add.at(counts, (of_pool, pools.distances), 1)
    return counts.cumsum(axis=1).reshape(-1, 2, r + 1)


def _cost(within: Counts, done: Counts) -> Floats:
    """(m, 2) the cost of each side: the number of its untested sets, plus a small term for the size of its pool."""
    from scipy.special import comb

    sizes = np.arange(within.shape[2])
    left: Floats = np.where(sizes > done[:, :, None], comb(within, sizes), 0.0).sum(axis=2)
    return left + 1e-9 * within[:, :, -1]


def _one_of(pools: Pools, side: Counts, radius: int) -> Pools:
    """One pool of each edge, limited to nodes within the radius; the other pool is empty."""
    size = np.diff(pools.first)
    is_chosen: Flags = np.column_stack([side == 0, side == 1]).ravel()
    kept = np.repeat(is_chosen, size) & (pools.distances <= radius)
    first = np.concatenate([[0], np.cumsum(kept)])[pools.first]
    return Pools(first, pools.nodes[kept], pools.distances[kept], np.zeros(int(kept.sum()), np.int32))


def _better(best: TestedEdges, found: TestedEdges, alpha: float) -> TestedEdges:
    """For each edge the larger p-value, with its set; a set that already separates is kept."""
    is_better = ~(best.p > alpha) & (np.isnan(best.p) | (found.p > best.p))
    z = padded(found.z, best.z.shape[1])
    return best._replace(z=np.where(is_better[:, None], z, best.z), p=np.where(is_better, found.p, best.p))


def needed(state: State, least: int, near: Indices, edge_of: Counts, queries: Queries) -> Flags:
    """(b,) True if the candidate must be tested. `near`: for each edge, the end whose pool the sets come from."""
    is_needed = np.ones(len(queries), np.bool_)
    for k, (x, y, z) in enumerate(zip(queries.x, queries.y, queries.z, strict=True)):
        neighbours = frozenset(z[state.marks[near[edge_of[k]], z] != 0].tolist())
        is_needed[k] = not is_superfluous(state.sepsets, int(x), int(y), z, neighbours, least)
    return is_needed


def is_superfluous(sepsets: Sepsets, x: int, y: int, z: Indices, neighbours: frozenset[int], least: int) -> bool:
    """True if z need not be tested, because z can separate x and y only if a certain smaller subset of z does. The
    subset has at least `least` members, and all of them are in `neighbours`.
    """
    members = frozenset(z.tolist())
    for end, other in ((x, y), (y, x)):
        slots = sepsets.slot(np.full(len(z), end), z)
        sets = (frozenset(row[row >= 0].tolist()) for row in sepsets.members[slots])
        found = [None if slot == UNKNOWN else known for slot, known in zip(slots, sets, strict=True)]
        for given in {known for known in found if known is not None}:
            part = given - {other}
            is_asked = part < members and part <= neighbours and len(part) >= least
            if is_asked and all(known == given for w, known in zip(z, found, strict=True) if w not in part):
                return True
    return False
