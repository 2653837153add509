"""Ancestors in some member, against the members themselves."""

from __future__ import annotations

import pytest
from checks import pag_of
from enumeration import Class, classes

from naive import ancestors


def agrees(found: Class) -> bool:
    pag = pag_of(found.pag)
    for v in range(len(pag)):
        above = [ancestors(mag, [v]) for mag in found.members]
        possible = {pag.names[u] for u in set().union(*above)}
        if set(pag.possible_ancestors(v)) != possible:
            return False
    return True


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_possible_ancestors(n: int) -> None:
    assert all(agrees(found) for found in classes(n))
