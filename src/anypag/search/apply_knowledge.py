"""The end of a search with knowledge: the marks from data alone, the marks with knowledge, and where they differ.

Some conclusions from knowledge are valid only if all edges are right: those of rule R11, those from "no hidden common
cause", and the exact closure (the marks that are equal in all graphs that agree with data and knowledge;
`knowledge.closure`). The search draws such conclusions after its last step.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from anypag.catalogue import AtTheEnd
from anypag.errors import GraphError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Colliders, LogRows, Orientation, orient
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import pag_of_mag
from anypag.graphs.rules import CLOSURE, KNOWN, RULES, rules_after_0
from anypag.graphs.validity import completed, validate
from anypag.knowledge.closure import MOST_TRIALS, Closure, SeparationsOf, close, new_rows, orient_with_knowledge, seeded
from anypag.knowledge.facts import Facts
from anypag.search.algorithm import Algorithm
from anypag.search.orient import SepsetColliders, given_marks
from anypag.search.problem import Problem
from anypag.search.progress import Progress, Tick
from anypag.search.state import AnyState, State, StepInfo
from anypag.threads import Look, do_nothing

FEWEST_TRIALS = 20  # the exact closure may make this many trials; a trial looks for a graph that agrees with knowledge
WORK = 100_000  # more trials are allowed only up to this product of trials and edges: a second or two of work
NO_CLASS = "the graph that the data give is not the PAG of any MAG"


def is_final(algorithm: Algorithm, last: StepInfo) -> bool:
    """Are all edges known to be right after this last step?"""
    return last.n_open == 0 and algorithm.facts.promises.at_the_end is not AtTheEnd.SOUND


class Base(NamedTuple):
    """The marks from data alone."""

    orientation: Orientation
    mag: Marks | None  # a MAG of the equivalence class; None if there is none, or if edges may still be removed
    reason: str  # why `mag` is None; empty if there is a MAG or if marks come from scores
    colliders: Colliders | None  # decides which nodes are colliders; None if no separating sets and no MAG are known


def base_of(state: State, problem: Problem, *, final: bool, look: Look = do_nothing) -> Base:
    """The marks from data alone. Without `final`, edges may be wrong. R4 is then left out, as it needs more tests."""
    if not _has_separations(state, problem):
        return _base_of_scores(state)
    colliders = SepsetColliders(state.sepsets, given=problem.always_given)
    rules = rules_after_0(selection=problem.choices.selection_bias)
    rules = rules if final else tuple(rule for rule in rules if rule.number != 4)
    found = orient(given_marks(state, problem), colliders, rules, state.skeleton, look=look)
    if not final:
        return Base(found, None, "the search was not complete", colliders)
    verdict = validate(PAG(found.marks))
    if not verdict or verdict.mag is None:
        return Base(found, None, NO_CLASS, colliders)
    return Base(found, verdict.mag.marks, "", colliders)


def _has_separations(state: State, problem: Problem) -> bool:
    """Is a separating set known for every pair that the search separated? BOSS and the posterior know none."""
    is_apart = (state.marks == Mark.NONE) & (problem.given != Mark.NONE)
    return not bool((is_apart & ~state.sepsets.known()).any())


def _base_of_scores(state: State) -> Base:
    """The PAG that a search by scores chose, without marks that knowledge added later."""
    is_known = np.isin(state.evidence.log[:, 0], [number for number, rule in RULES.items() if rule.needs_knowledge])
    log = state.evidence.log[~is_known]
    try:
        mag = MAG(completed(state.marks)[0])
    except GraphError:
        return Base(Orientation(state.marks, log, state.evidence.conflicts), None, NO_CLASS, None)
    found = Orientation(pag_of_mag(mag).marks, log, state.evidence.conflicts)
    return Base(found, mag.marks, "", SeparationsOf(mag.marks))


class Closed(NamedTuple):
    """The marks that follow from data and knowledge."""

    orientation: Orientation
    closure: Closure | None  # None if the rules find everything, or if there is no class to enumerate


def closed_with(
    facts: Facts, base: Base, state: State, problem: Problem, *, final: bool, share: int = 1, look: Look = do_nothing
) -> Closed:
    """The marks that follow from data and facts, by rules or exact closure, with 1/`share` of the usual trials."""
    by_rules = _by_rules(facts, base, state, problem, final, look)
    if base.mag is None or facts.is_tiered or not facts.says_marks:
        return Closed(by_rules, None)
    trials = min(MOST_TRIALS, max(FEWEST_TRIALS, WORK // max(1, state.n_edges) // share))
    closure = close(base.orientation.marks, base.mag, facts, trials, look)
    if closure.agrees is False:
        return Closed(by_rules, closure)
    extra = new_rows(CLOSURE, by_rules.marks, closure.marks)
    return Closed(Orientation(closure.marks, np.concatenate([by_rules.log, extra]), by_rules.conflicts), closure)


def _by_rules(facts: Facts, base: Base, state: State, problem: Problem, final: bool, look: Look) -> Orientation:
    if base.colliders is not None and _has_separations(state, problem):
        given = given_marks(state, problem)
        return orient_with_knowledge(given, base.colliders, facts, state.skeleton, final=final, look=look)
    marks, log, conflicts = base.orientation  # marks from scores stay; known marks replace circles
    start = seeded(marks, facts)
    rows = new_rows(KNOWN, marks, start)
    if base.colliders is None:
        return Orientation(start, np.concatenate([log, rows]), conflicts)
    found = orient_with_knowledge(marks, base.colliders, facts, state.skeleton, final=final, look=look)
    more = new_rows(CLOSURE, start, np.where(start == Mark.CIRCLE, found.marks, start))
    return Orientation(found.marks, np.concatenate([log, rows, more]), conflicts)


def close_state(state: AnyState, problem: Problem, *, final: bool, look: Look = do_nothing) -> AnyState:
    """The last state of a search with all marks from knowledge. `final` says that all edges are known to be right."""
    assert problem.facts is not None
    base = base_of(state, problem, final=final, look=look)
    found = closed_with(problem.facts, base, state, problem, final=final, look=look).orientation
    against = contradictions(base.orientation, found.marks)
    done = state.with_orientation(found._replace(conflicts=np.concatenate([against, found.conflicts])))
    return _without_edges(done, problem.facts)


def closed_step(
    algorithm: Algorithm, state: AnyState, info: StepInfo, problem: Problem, tick: Tick
) -> tuple[AnyState, StepInfo]:
    """The last state of a search with all marks that follow from knowledge, and its `StepInfo`. Without knowledge both
    are returned unchanged.
    """
    if problem.facts is None:
        return state, info
    stands = Progress(info.r if info.has_r else -1, info.phase, 1, 1, info.n_evaluated, info.n_tests, asks=False)
    closed = close_state(state, problem, final=is_final(algorithm, info), look=partial(tick, stands))
    return closed, replace(info, n_edges=closed.n_edges, n_conflicts=len(closed.evidence.conflicts))


def contradictions(base: Orientation, marks: Marks) -> LogRows:
    """The log rows of marks from data alone where `marks` has the opposite: a tail for an arrowhead, or the reverse."""
    i, j, mark = base.log[:, 1], base.log[:, 2], base.log[:, 3]
    stands = marks[i, j]
    return np.asarray(base.log[(stands > Mark.CIRCLE) & (stands != mark)], np.int32)


def _without_edges(state: AnyState, facts: Facts) -> AnyState:
    """The state without the edges that knowledge excludes and that no test removed. Such an edge stays until all marks
    are set, because without the edge the rules would need a separating set for its ends.
    """
    if not bool((facts.not_joined & (state.marks != Mark.NONE)).any()):
        return state
    marks = np.where(facts.not_joined, Mark.NONE, state.marks).astype(np.uint8)
    return replace(state, marks=marks).listed()


def with_edges(state: State, problem: Problem) -> State:
    """The state with the edges that `_without_edges` took out."""
    assert problem.facts is not None
    is_out = problem.facts.not_joined & ~state.sepsets.known() & (problem.given != Mark.NONE)
    if not bool((is_out & (state.marks == Mark.NONE)).any()):
        return state
    marks = np.where(is_out, np.maximum(state.marks, Mark.CIRCLE), state.marks).astype(np.uint8)
    return replace(state, marks=marks, earlier_edges=None)
