"""Closure of statements and agreement with a MAG, against stories and against logic."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from certify.members import facts, members
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_knowledge as twin
from anypag import DAG
from anypag.graphs.base import transitive
from anypag.knowledge.closure import seeded
from anypag.knowledge.facts import Facts


@st.composite
def saids(draw: st.DrawFn, n: int) -> twin.Said:
    """Statements that are true of some order, so that they never contradict each other."""
    order = draw(st.permutations(range(n)))
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
    causes = draw(st.sets(st.sampled_from(pairs), max_size=2))
    reached = twin._closure(causes)
    others = [pair for pair in permutations(range(n), 2) if pair not in reached]
    not_causes = draw(st.sets(st.sampled_from(others), max_size=3))
    not_selecting = draw(st.sets(st.integers(0, n - 1), max_size=2))
    return twin.Said(frozenset(causes), frozenset(not_causes), frozenset(not_selecting), selection=draw(st.booleans()))


def facts_of(said: twin.Said, n: int) -> Facts:
    return facts(
        n,
        causes=sorted(said.causes),
        not_causes=sorted(said.not_causes),
        not_selecting=sorted(said.not_selecting),
        selection=said.selection,
    )


@given(saids(3))
def test_a_mag_agrees_if_some_story_behind_it_does(said: twin.Said) -> None:
    known = facts_of(said, 3)
    for mag in naive.all_mags(3):
        assert known.agree_with(np.array(mag, np.uint8)) == twin.agrees(mag, said)


@given(saids(3))
def test_the_definition_is_its_twin(said: twin.Said) -> None:
    known, found = facts_of(said, 3), members(3)
    for c in range(found.n_classes):
        truth = found.truth(c, known)
        expected = twin.truth([twin.freeze(mag) for mag in found.of(c).tolist()], said)
        assert (None if truth is None else twin.freeze(truth.tolist())) == expected


@given(saids(4))
def test_the_closure_says_what_holds_in_all_orders_and_no_more(said: twin.Said) -> None:
    """Every DAG on four nodes in which the statements are true."""
    known = facts_of(said, 4)
    always, never = np.ones((4, 4), np.bool_), np.ones((4, 4), np.bool_)
    for relation in all_ancestries():
        has = {(int(a), int(b)) for a, b in np.argwhere(relation)}
        if said.causes <= has and not said.not_causes & has:
            always, never = always & relation, never & ~relation
    np.fill_diagonal(never, val=False)
    assert np.array_equal(known.causes, always)
    assert np.array_equal(known.not_causes, never)


_ANCESTRIES: list[np.ndarray[tuple[int, int], np.dtype[np.bool_]]] = []


def all_ancestries() -> list[np.ndarray[tuple[int, int], np.dtype[np.bool_]]]:
    if not _ANCESTRIES:
        found = {}
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        for order in permutations(range(4)):
            for bits in range(2 ** len(pairs)):
                table = np.zeros((4, 4), np.bool_)
                for k, (i, j) in enumerate(pairs):
                    table[order[i], order[j]] = bits >> k & 1
                reach = transitive(table)
                found[reach.tobytes()] = reach
        _ANCESTRIES.extend(found.values())
    return _ANCESTRIES


def test_not_selecting_is_handed_on_to_effects() -> None:
    known = facts(3, causes=[(0, 1)], not_selecting=[0])
    assert known.not_selecting.tolist() == [True, True, False]


@pytest.mark.parametrize("selection", [True, False])
def test_seeds(selection: bool) -> None:
    marks = np.ones((3, 3), np.uint8) - np.eye(3, dtype=np.uint8)
    known = facts(3, causes=[(0, 1)], not_causes=[(2, 0)], selection=selection)
    at = seeded(marks, known)
    assert at[1, 0] == naive.TAIL
    assert (at[0, 1], at[0, 2]) == ((naive.CIRCLE, naive.CIRCLE) if selection else (naive.ARROW, naive.ARROW))
    assert at[2, 0] == at[1, 2] == naive.CIRCLE


def test_facts_follow_the_nodes_when_these_are_renumbered() -> None:
    known = facts(3, causes=[(0, 1)], not_causes=[(2, 0)], not_selecting=[2])
    moved = known.reordered(np.array([2, 0, 1]))
    assert moved.causes[1, 2]
    assert moved.not_causes[0, 1]
    assert moved.not_selecting.tolist() == [True, False, False]


def test_tiers_are_recognised() -> None:
    tiers = facts(3, not_causes=[(1, 0), (2, 0)], selection=False)
    assert tiers.is_tiered
    assert not facts(3, not_causes=[(1, 0), (2, 0)]).is_tiered
    assert not facts(3, not_causes=[(1, 0)], selection=False).is_tiered
    assert len(DAG.from_string("A --> B").names) == 2


@given(st.integers(1, 6), st.data())
def test_reaching_is_its_twin(n: int, data: st.DataObject) -> None:
    bits = data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    table = np.array(bits, np.bool_).reshape(n, n)
    expected = twin._closure({(int(a), int(b)) for a, b in np.argwhere(table)})
    assert {(int(a), int(b)) for a, b in np.argwhere(transitive(table))} == expected
