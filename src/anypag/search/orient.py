"""Orientation in a search: R0–R10 from separating sets, plain or *checked*.

With too few edges removed, R0 and R4 can go wrong: the middle node of an unshielded triple may stay out of the
separating set although it is a cause, because the edges beside it should not be there. The checks (Colombo et al.
2012) test exactly those edges before the rules rely on them. They ask the CI test and may remove edges; every
arrowhead and tail that is set after them is right, with an exact test, however early the search is stopped.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from anypag._kernels import checks as check_kernel
from anypag._kernels import rules as kernel
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Orientation, Paths, Rows, orient
from anypag.graphs.rules import rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.search.asking import Asking
from anypag.search.separate import Separated, minimal
from anypag.search.sepsets import UNKNOWN, Sepsets
from anypag.search.state import Params, State

Indices = npt.NDArray[np.int32]


class SepsetColliders:
    """Colliders as separating sets show them."""

    def __init__(self, sepsets: Sepsets) -> None:
        self._sepsets = sepsets

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: Rows) -> int:
        sets = self._sepsets
        return int(kernel.rule_0(marks, skeleton.start, skeleton.neighbour, sets.slot, sets.members, wanted, rows))

    def decide(self, paths: Paths) -> tuple[Paths, npt.NDArray[np.bool_]]:
        sets = self._sepsets
        every, length = np.arange(len(paths)), (paths >= 0).sum(axis=1)
        b, slot = paths[every, length - 2], sets.slot[paths[:, 0], paths[every, length - 1]]
        is_in_set = (sets.members[slot] == b[:, None]).any(axis=1)
        is_known = slot != UNKNOWN
        return paths[is_known], is_in_set[is_known]


class CheckedColliders(SepsetColliders):
    """The same, but before R4 relies on a path its edges are tested; `state` has the tests, and lacks what fell.

    Once an edge has fallen nothing more is decided: the rules work on a graph that is no longer the state's.
    """

    def __init__(self, state: State, asking: Asking, *, is_empty_known: bool) -> None:
        super().__init__(state.sepsets)
        self._asking = asking
        self._is_empty_known = is_empty_known
        self.state, self.fallen = state, False

    def decide(self, paths: Paths) -> tuple[Paths, npt.NDArray[np.bool_]]:
        known, is_in_set = super().decide(paths)
        nodes = [tuple(int(v) for v in path if v >= 0) for path in known]
        fresh = tuple(path for path in nodes if path not in self.state.checked_paths)
        if fresh and not self.fallen:
            self.state, self.fallen = _check_paths(self.state, fresh, self._asking, is_empty_known=self._is_empty_known)
        return (known[:0], is_in_set[:0]) if self.fallen else (known, is_in_set)


def oriented(state: State, params: Params) -> State:
    """All marks that follow from the separating sets, unchecked."""
    return _with_marks(state, _orientation(state, SepsetColliders(state.sepsets), params))


def checked_and_oriented(state: State, asking: Asking, params: Params, *, is_empty_known: bool) -> State:
    """Check what R0 and R4 rely on, remove the edges that fall, and orient; again until none falls.

    `is_empty_known`: every edge has been tested given the empty set, so the checks need not.
    """
    while True:
        state, fallen = _check_triples(state, asking, is_empty_known=is_empty_known)
        if not fallen:
            colliders = CheckedColliders(state, asking, is_empty_known=is_empty_known)
            orientation = _orientation(state, colliders, params)
            state = colliders.state
            if not colliders.fallen:
                return _with_marks(state, orientation)


def unshielded_colliders(state: State) -> Marks:
    """The marks after R0 alone."""
    return orient(_known_marks(state), SepsetColliders(state.sepsets), (), state.skeleton).marks


def _known_marks(state: State) -> Marks:
    """The edges left, all marks circles but those given beforehand."""
    node, neighbour = state.skeleton.node, state.skeleton.neighbour
    marks = np.zeros_like(state.marks)
    marks[node, neighbour] = np.maximum(state.known[node, neighbour], Mark.CIRCLE)
    return marks


def _orientation(state: State, colliders: SepsetColliders, params: Params) -> Orientation:
    return orient(_known_marks(state), colliders, rules_after_0(selection=params.selection_bias), state.skeleton)


def _with_marks(state: State, found: Orientation) -> State:
    return replace(state, marks=found.marks, log=found.log, conflicts=found.conflicts)


def _check_triples(state: State, asking: Asking, *, is_empty_known: bool) -> tuple[State, bool]:
    """One pass of the check before R0: for A–B–C test A ⟂ B and B ⟂ C given sepset(A, C) without B."""
    skeleton, sets = state.skeleton, state.sepsets
    lowest = 1 if is_empty_known else 0
    if len(sets.members) == lowest:
        return state, False
    a, b, c = check_kernel.unshielded_triples(state.marks, skeleton.start, skeleton.neighbour, sets.slot, lowest).T
    end, middle, slot = np.concatenate([a, c]), np.concatenate([b, b]), np.tile(sets.slot[a, c], 2)
    key = (np.minimum(end, middle).astype(np.int64) * state.n + np.maximum(end, middle) << 32) | slot
    key, first = np.unique(key, return_index=True)
    place = np.searchsorted(state.checked, key)
    is_fresh = np.append(state.checked, -1)[place] != key
    key, first, place = key[is_fresh], first[is_fresh], place[is_fresh]
    end, middle, slot = end[first], middle[first], slot[first]
    z = _without(sets.members[slot], middle)
    if is_empty_known:
        asked = (z >= 0).any(axis=1)
        end, middle, z = end[asked], middle[asked], z[asked]
    p = asking.ask_padded(end, middle, z, "checks")
    state = replace(state, checked=np.insert(state.checked, place, key))
    return _remove(state, Separated(end, middle, z, p), asking, is_empty_known=is_empty_known)


def _check_paths(
    state: State, paths: tuple[tuple[int, ...], ...], asking: Asking, *, is_empty_known: bool
) -> tuple[State, bool]:
    """The check before R4: neighbours on a path <D, ..., C>, given every subset of sepset(D, C) without the two."""
    questions = dict.fromkeys(
        (u, v, z)
        for path in paths
        for u, v in pairwise(path)
        for z in _subsets(state.sepsets.get(path[0], path[-1]) or (), (u, v))
        if z or not is_empty_known
    )
    width = max((len(z) for _, _, z in questions), default=0)
    z = np.array([(*z, *(-1,) * (width - len(z))) for _, _, z in questions], np.int32)
    z = z.reshape(len(questions), width)
    u, v = np.array([(u, v) for u, v, _ in questions], np.int32).reshape(-1, 2).T
    found = Separated(u, v, z, asking.ask_padded(u, v, z, "checks"))
    state = replace(state, checked_paths=state.checked_paths | set(paths))
    return _remove(state, found, asking, is_empty_known=is_empty_known)


def _subsets(sepset: tuple[int, ...], without: tuple[int, int]) -> list[tuple[int, ...]]:
    members = [k for k in sepset if k not in without]
    return [z for size in range(len(members) + 1) for z in combinations(members, size)]


def _remove(state: State, tested: Separated, asking: Asking, *, is_empty_known: bool) -> tuple[State, bool]:
    """Remove the edges found independent, each by its smallest set, then the one with the largest p-value."""
    state = replace(state, sepsets=state.sepsets.keeping(tested.x, tested.y, tested.p))
    found = tested.take(tested.p > asking.alpha)
    if not len(found.p):
        return state, False
    low, high = np.minimum(found.x, found.y), np.maximum(found.x, found.y)
    order = np.lexsort((-found.p, (found.z >= 0).sum(axis=1), high, low))
    is_first = np.diff(low[order].astype(np.int64) * state.n + high[order], prepend=-1) != 0
    found = minimal(found.take(order[is_first]), asking, is_empty_known=is_empty_known)
    return replace(state.without(found.x, found.y), sepsets=state.sepsets.adding(*found, asking.r)), True


def _without(z: Indices, node: Indices) -> Indices:
    """Each set without one node, the padding moved to the end."""
    gone = np.where(z == node[:, None], -1, z)
    return np.take_along_axis(gone, np.argsort(gone < 0, axis=1, kind="stable"), axis=1)
