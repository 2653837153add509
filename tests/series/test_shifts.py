"""ICD over shifts, with a perfect test: nothing that it says is wrong, at any step."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from certify.series import System, random_systems, searched, seen_in, systems, tally_of, window_of

from anypag.choices import Choices
from anypag.ci.base import Oracle
from anypag.knowledge.knowledge import Knowledge
from anypag.run.engine import Search
from anypag.search.state import State
from anypag.series.learn import for_window

A_CHAIN = System(2, 0, ((0, 0, 1), (1, 1, 1), (0, 1, 1)))


@pytest.mark.parametrize("max_lag", [1, 2])
def test_small_systems_are_learned_without_an_error(max_lag: int) -> None:
    tally = tally_of("some", window_of(2, max_lag), islice(systems(2, 1), 0, None, 23))
    assert tally.is_right and tally.systems == 67 and tally.settled > 10


def test_three_processes_are_learned_without_an_error() -> None:
    tally = tally_of("some", window_of(3, 2), random_systems(3, 1, 2, 12, seed=5))
    assert tally.is_right and tally.settled > 10


def test_a_wrong_answer_is_counted() -> None:
    """The tally can fail: with the marks of another system most are wrong."""
    from certify.series import SeriesTally, _judge

    window, tally = window_of(2, 2), SeriesTally("wrong")
    other = System(2, 1, ((2, 2, 1), (2, 0, 0), (2, 1, 1)))
    _judge(tally, window, [seen_in(other, window)], searched(window, seen_in(A_CHAIN, window).mag))
    assert tally.wrong_adjacencies and tally.unsound and not tally.is_right


def test_a_set_need_not_lie_on_a_path_between_the_two() -> None:
    """Regression: a – c is separated only with b(t-2), which no path of the learned graph has between a and c."""
    system = System(3, 1, ((0, 0, 1), (1, 1, 1), (2, 2, 1), (1, 2, 2), (3, 0, 1), (3, 2, 0)))
    assert tally_of("one", window_of(3, 2), [system]).is_right


def test_other_rules_wait_until_r0_is_done_at_every_copy() -> None:
    """Regression: R1 went by an early copy of a triple whose collider was known at the latest copy only."""
    links = ((0, 0, 1), (2, 2, 1), (3, 3, 1), (1, 2, 0), (3, 2, 0), (0, 2, 0), (3, 0, 1), (3, 2, 1))
    assert tally_of("one", window_of(3, 2), [System(3, 1, links)]).is_right


def search_of(system: System, max_lag: int, known: str = "") -> Search:
    window = window_of(system.k, max_lag)
    knowledge = Knowledge.from_text(known) if known else None
    choices = Choices(method="icd", selection_bias=False, knowledge=knowledge)
    return Search(Oracle(seen_in(system, window).mag), for_window(window, choices))


def test_a_step_is_pure_and_copies_have_one_edge() -> None:
    search = search_of(A_CHAIN, 2)
    state: State = search.start
    while not state.done:
        (once, info), (again, same) = (
            search.algorithm.step(state, search.problem, lambda progress: None) for _ in "ab"
        )
        assert np.array_equal(once.marks, again.marks) and info == same
        assert np.array_equal(window_of(2, 2).spread(once.marks), once.marks)
        state = once


def test_knowledge_is_kept_to() -> None:
    plain, told = (search_of(A_CHAIN, 1, known).run().pag for known in ("", "a(t-1) ~> b"))
    assert str(plain.edge("a(t-1)", "b")) == "a(t-1) o-> b" and str(told.edge("a(t-1)", "b")) == "a(t-1) --> b"
    joined = search_of(A_CHAIN, 1, "b(t-1) *-* a").run().pag
    assert plain.edge("b(t-1)", "a") is None and joined.edge("b(t-1)", "a") is not None
    assert search_of(A_CHAIN, 1, "a !*-* b").run().pag.edge("a(t-1)", "b") is None
