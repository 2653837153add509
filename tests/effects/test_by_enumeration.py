"""Every class of three nodes and some of four and five; all of four, and more of five, in the slow tests."""

from __future__ import annotations

from collections.abc import Callable

import checks
import pytest
from checks import Tally
from enumeration import Class, classes, marks_of, sample, systems

from naive import canonical_dag, common_marks, project


def both_kinds_and_none_wrong(tally: Tally) -> None:
    assert tally.is_right, f"{tally.wrong_yes} said and not so, {tally.wrong_no} so and not said"
    assert tally.yes
    assert tally.no


SOME: dict[str, Callable[[], tuple[Class, ...]]] = {
    "three": lambda: classes(3) + sample(4, 30, seed=1),
    "four": lambda: classes(4),
    "five": lambda: sample(5, 60, seed=2),
}


@pytest.fixture(params=["three", *(pytest.param(key, marks=pytest.mark.slow) for key in ("four", "five"))])
def found(request: pytest.FixtureRequest) -> tuple[Class, ...]:
    """Classes on so many nodes; with those of three some of four, so that every kind of answer occurs."""
    return SOME[request.param]()


def test_the_classes_are_all_there() -> None:
    assert [len(classes(n)) for n in (2, 3, 4)] == [2, 11, 248]
    for pag, members in classes(3):
        assert pag == common_marks(members)


def test_every_system_looks_like_its_member() -> None:
    for _, members in SOME["three"]():
        for mag in members:
            dag, latent, _ = canonical_dag(mag)
            assert project(dag, latent, []) == mag
            assert systems(mag)
            assert all(system.n == len(marks_of(mag)) for system in systems(mag))


def test_visible_edges(found: tuple[Class, ...]) -> None:
    both_kinds_and_none_wrong(checks.visibility(found))


def test_adjustment_sets(found: tuple[Class, ...]) -> None:
    both_kinds_and_none_wrong(checks.adjustment(found))


def test_adjustment_sets_in_one_member() -> None:
    both_kinds_and_none_wrong(checks.adjustment_in_members(mag for found in SOME["three"]() for mag in found.members))


def test_sets_within_columns(found: tuple[Class, ...]) -> None:
    both_kinds_and_none_wrong(checks.sets_within(found))


def test_sets_given_conditions(found: tuple[Class, ...]) -> None:
    both_kinds_and_none_wrong(checks.sets_given(found))


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("formula", [checks.derived, checks.shown])
def test_formulas(found: tuple[Class, ...], formula: checks.Formula, given: bool) -> None:
    both_kinds_and_none_wrong(checks.identification(found, formula, most=2, given=given))


def test_an_adjustment_set_has_a_formula_by_idp_too(found: tuple[Class, ...]) -> None:
    both_kinds_and_none_wrong(checks.adjusted_and_derived(found))


def test_members(found: tuple[Class, ...]) -> None:
    assert checks.members(found).is_right
