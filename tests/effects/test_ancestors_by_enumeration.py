"""Ancestors in some member and in all of them, against the members themselves."""

from __future__ import annotations

import numpy as np
import pytest
from checks import pag_of
from enumeration import Class, classes, marks_of, sample

from anypag.graphs.base import certain_ancestry
from naive import ancestors


def agrees(found: Class) -> bool:
    pag = pag_of(found.pag)
    for v in range(len(pag)):
        above = [ancestors(mag, [v]) for mag in found.members]
        possible = {pag.names[u] for u in set().union(*above)}
        if set(pag.possible_ancestors(v)) != possible:
            return False
    return True


def is_certain_exactly(found: Class) -> bool:
    marks = marks_of(found.pag)
    above = [
        [[u in ancestors(mag, [v]) for v in range(len(marks))] for u in range(len(marks))] for mag in found.members
    ]
    everyone = np.all(above, axis=0) & ~np.eye(len(marks), dtype=bool)
    return bool((certain_ancestry(marks) == everyone).all())


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_possible_ancestors(n: int) -> None:
    assert all(agrees(found) for found in classes(n))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_certain_ancestors(n: int) -> None:
    assert all(is_certain_exactly(found) for found in classes(n))


@pytest.mark.slow
def test_certain_ancestors_on_five_nodes() -> None:
    assert all(is_certain_exactly(found) for found in sample(5, 300))


@pytest.mark.slow
def test_certain_ancestors_in_all_classes_of_five_nodes() -> None:
    assert all(is_certain_exactly(found) for found in classes(5))
