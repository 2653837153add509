"""Orientation with checks: the edges that R0 and R4 rely on are tested before these rules are applied.

If superfluous edges are left, R0 and R4 can be wrong. For example, one of the two edges of an unshielded triple may be
superfluous. Then the middle node may be missing from the separating set although it causes one of the outer nodes. The
checks (Colombo et al. 2012) test such edges and may remove them. With an exact test every arrowhead and tail that is
set afterwards is right, even if the search is stopped early.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

import numpy as np

from anypag._kernels import rules as kernel
from anypag.arrays import Flags
from anypag.graphs.orientation import Orientation, Paths
from anypag.search.by_tests.tested_edges import make_minimal
from anypag.search.inquiry import Inquiry
from anypag.search.orient import SepsetColliders, orientation_of
from anypag.search.problem import Problem
from anypag.search.state import PairTests, State
from anypag.threads import Look

Orient = Callable[[State, SepsetColliders, Problem, Look], Orientation]
"""Returns all marks that follow from the edges of a state and their colliders."""
Checked = tuple[State, bool]  # the state after checks, and whether they removed an edge


class CheckedColliders(SepsetColliders):
    """Colliders from separating sets, with the check before R4, which tests the edges of a path. `state` records these
    tests and lacks the edges that they removed. After a removal no path is decided, because the graph is out of date.
    """

    def __init__(self, state: State, inquiry: Inquiry) -> None:
        super().__init__(state.sepsets, inquiry.threads, inquiry.problem.always_given)
        self._tester = inquiry
        self.state, self.has_removed = state, False

    def decide(self, paths: Paths) -> tuple[Paths, Flags]:
        known, is_in_set = super().decide(paths)
        nodes = [tuple(int(v) for v in path if v >= 0) for path in known]
        fresh = tuple(path for path in nodes if path not in self.state.checked_paths)
        if fresh and not self.has_removed:
            self.state, self.has_removed = _check_paths(self.state, fresh, self._tester)
        return (known[:0], is_in_set[:0]) if self.has_removed else (known, is_in_set)


def check_and_orient(state: State, inquiry: Inquiry, orient: Orient = orientation_of) -> State:
    """Check the edges that R0 and R4 rely on, remove the separated ones, and orient; repeat until none is removed."""
    while True:
        state, has_removed = _check_triples(state, inquiry)
        if not has_removed:
            colliders = CheckedColliders(state, inquiry)
            orientation = orient(state, colliders, inquiry.problem, inquiry.look)
            state = colliders.state
            if not colliders.has_removed:
                return state.with_orientation(orientation)


def _check_triples(state: State, inquiry: Inquiry) -> Checked:
    """Make the checks before R0 that were not made yet: for A–B–C test A ⟂ B and B ⟂ C given sepset(A, C) without B."""
    skeleton, sets = state.skeleton, state.sepsets
    lowest = inquiry.problem.smallest_set
    if lowest > 0 and len(sets.members) == 1:  # row 0, the empty set, is the only one
        return state, False
    keys = np.unique(kernel.check_keys(state.marks, skeleton.start, skeleton.neighbour, sets.slots, lowest))
    keys = keys[np.append(state.checked, -1)[np.searchsorted(state.checked, keys)] != keys]
    if not len(keys):
        return state, False
    state = state.but(checked=np.sort(np.append(state.checked, keys), kind="stable"))
    edge, slot = keys >> 32, keys & 0xFFFFFFFF
    x, y = (end.astype(np.int32) for end in np.divmod(edge, state.n))
    z, size = kernel.sets_without(sets.members, slot, x, y)
    asked = size >= lowest
    if inquiry.problem.facts is not None:
        asked &= ~inquiry.problem.facts.joined[x, y]
    x, y, z = x[asked], y[asked], z[asked]
    return _remove(state, PairTests(x, y, z, inquiry.ask_padded(x, y, z, "checks")), inquiry)


def _check_paths(state: State, paths: tuple[tuple[int, ...], ...], inquiry: Inquiry) -> Checked:
    """Make the checks before R4: test neighbours U, V on a path <D, ..., C> given subsets of sepset(D, C) - {U, V}."""
    facts = inquiry.problem.facts
    questions = dict.fromkeys(
        (u, v, z)
        for path in paths
        for u, v in pairwise(path)
        if facts is None or not facts.joined[u, v]
        for z in _subsets(state.sepsets.get(path[0], path[-1]) or (), (u, v))
        if len(z) >= inquiry.problem.smallest_set
    )
    width = max((len(z) for _, _, z in questions), default=0)
    z = np.array([(*z, *(-1,) * (width - len(z))) for _, _, z in questions], np.int32).reshape(len(questions), width)
    u, v = np.array([(u, v) for u, v, _ in questions], np.int32).reshape(-1, 2).T
    found = PairTests(u, v, z, inquiry.ask_padded(u, v, z, "checks"))
    state = state.but(checked_paths=state.checked_paths | set(paths))
    return _remove(state, found, inquiry)


def _subsets(sepset: tuple[int, ...], without: tuple[int, int]) -> list[tuple[int, ...]]:
    members = [k for k in sepset if k not in without]
    return [z for size in range(len(members) + 1) for z in combinations(members, size)]


def _remove(state: State, tested: PairTests, inquiry: Inquiry) -> Checked:
    """Remove the edges of independent pairs. Of the smallest sets of a pair, the one with the largest p is kept."""
    state = state.keeping(tested.x, tested.y, tested.p)
    found = tested.take(tested.p > inquiry.alpha)
    if not len(found.p):
        return state, False
    low, high = np.minimum(found.x, found.y), np.maximum(found.x, found.y)
    order = np.lexsort((-found.p, (found.z >= 0).sum(axis=1), high, low))
    is_first = np.diff(low[order].astype(np.int64) * state.n + high[order], prepend=-1) != 0
    return state.separating(make_minimal(found.take(order[is_first]), inquiry), inquiry.r, inquiry.threads), True
