"""Orientation in a search: the marks that R0–R10 set from separating sets."""

from __future__ import annotations

import numpy as np

from anypag._kernels import rules as kernel
from anypag.arrays import Flags
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import LogRows, Orientation, Paths, orient_in_place
from anypag.graphs.rules import rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.search.problem import Problem
from anypag.search.sepsets import UNKNOWN, Sepsets
from anypag.search.state import State
from anypag.threads import Look, do_nothing, map_in_threads, runs_of

LEAST_PAIRS, MOST_PAIRS = 500_000, 100_000_000
"""The fewest and the most pairs of neighbours that a thread takes at a time; the fewest take about 1 ms."""


class SepsetColliders:
    """Colliders from separating sets. Nodes that are True in `given` belong to every set (`Problem.always_given`)."""

    def __init__(self, sepsets: Sepsets, threads: int = 1, given: Flags | None = None) -> None:
        self._sepsets, self._threads = sepsets, threads
        self._given = np.zeros(sepsets.n, np.bool_) if given is None else given

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: LogRows) -> int:
        start, sets = skeleton.start, self._sepsets
        known = (sets.slots, sets.members)
        first_row = 2 * start  # each node has rows of its own, two for each of its edges

        def propose_at(run: slice) -> int:
            own = rows[first_row[run.start] : first_row[run.stop]]
            return int(kernel.rule_0(marks, start, skeleton.neighbour, *known, run.start, run.stop, wanted, own))

        runs = runs_of(np.diff(start) ** 2, self._threads, LEAST_PAIRS, MOST_PAIRS)
        counts = map_in_threads(propose_at, runs, self._threads)
        total = 0
        for run, count in zip(runs, counts, strict=True):
            low = first_row[run.start]
            rows[total : total + count] = rows[low : low + count]
            total += count
        if not self._given.any():
            return total
        is_set = self._given[rows[:total, 1]]  # a node that is in every separating set is no collider
        wanted[rows[:total][is_set, 0], rows[:total][is_set, 1]] = 0
        left = rows[:total][~is_set]
        rows[: len(left)] = left
        return len(left)

    def decide(self, paths: Paths) -> tuple[Paths, Flags]:
        sets = self._sepsets
        every, length = np.arange(len(paths)), (paths >= 0).sum(axis=1)
        b, slot = paths[every, length - 2], sets.slot(paths[:, 0], paths[every, length - 1])
        is_in_set = (sets.members[slot] == b[:, None]).any(axis=1) | self._given[b]
        is_known = slot != UNKNOWN
        return paths[is_known], is_in_set[is_known]


def orient_state(state: State, problem: Problem, look: Look = do_nothing) -> State:
    """The state with all marks that follow from its separating sets, without the checks before R0 and R4."""
    colliders = SepsetColliders(state.sepsets, problem.threads, problem.always_given)
    return state.with_orientation(orientation_of(state, colliders, problem, look))


def unshielded_colliders(state: State, problem: Problem) -> Marks:
    """The marks after R0 alone."""
    given = given_marks(state, problem)
    colliders = SepsetColliders(state.sepsets, given=problem.always_given)
    return orient_in_place(given, colliders, (), state.skeleton).marks


def given_marks(state: State, problem: Problem) -> Marks:
    """The marks of the remaining edges: those given in advance, and circles at all other ends."""
    if problem.choices.initial is None:  # only circles were given
        return state.skeleton.circles(problem.threads)
    node, neighbour = state.skeleton.node, state.skeleton.neighbour
    marks = np.zeros(state.marks.shape, np.uint8)
    marks[node, neighbour] = np.maximum(problem.given[node, neighbour], Mark.CIRCLE)
    return marks


def orientation_of(state: State, colliders: SepsetColliders, problem: Problem, look: Look) -> Orientation:
    """All marks that follow from the edges, the colliders and knowledge."""
    if problem.facts is not None:
        from anypag.knowledge.closure import orient_with_knowledge

        return orient_with_knowledge(given_marks(state, problem), colliders, problem.facts, state.skeleton, look=look)
    rules, scratch = rules_after_0(selection=problem.choices.selection_bias), problem.scratch
    return orient_in_place(given_marks(state, problem), colliders, rules, state.skeleton, scratch=scratch, look=look)
