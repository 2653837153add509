"""A valid graph near one that contradicts itself."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from anypag import MAG, PAG
from anypag.graphs.projection import mag_of_diagram
from anypag.search.by_scores.starting_graphs import is_ancestral, near_mag
from strategies import seeded_mags


@given(seeded_mags(most=7))
@settings(deadline=None, max_examples=50)
def test_a_valid_pag_without_selection_keeps_its_edges(mag: MAG) -> None:
    pag = mag.to_pag()
    near = near_mag(pag.marks, np.ones(pag.marks.shape))
    assert ((near != 0) >= (pag.marks != 0)).all()
    MAG(near)


@given(st.integers(2, 7), st.integers(0, 10**6))
@settings(deadline=None, max_examples=80)
def test_any_marks_lead_to_a_mag(n: int, seed: int) -> None:
    """With every edge that was there; edges more only where a path leaves no choice."""
    rng = np.random.default_rng(seed)
    marks = (rng.integers(1, 4, (n, n)) * np.triu(rng.random((n, n)) < 0.5, 1)).astype(np.uint8)
    marks += (rng.integers(1, 4, (n, n)) * (marks != 0)).T.astype(np.uint8)
    near = near_mag(marks, rng.random((n, n)))
    assert MAG(near)
    assert ((near != 0) >= (marks != 0)).all()
    assert PAG(marks) is not None


def test_what_fits_is_kept() -> None:
    text = "A o-> B; C o-> B; B --> D; E <-> D"
    near = MAG(near_mag(PAG.from_string(text).marks, np.ones((5, 5))), list("ABCDE"))
    pag = PAG.from_string(text)
    fixed = pag.marks > 1
    assert (near.marks[fixed] == pag.marks[fixed]).all()


@given(seeded_mags(most=6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=50)
def test_added_edges_keep_the_independences(mag: MAG, seed: int) -> None:
    """An ancestral graph without one of its edges may not be maximal; filling it up changes no independence."""
    marks: npt.NDArray[np.uint8] = mag.marks.copy()
    edges = np.argwhere(np.triu(marks, 1))
    if len(edges):
        i, j = edges[seed % len(edges)]
        marks[i, j] = marks[j, i] = 0
    assert is_ancestral(marks) == naive.is_ancestral(marks.tolist())
    filled = mag_of_diagram(marks)
    assert naive.independence_model(filled.tolist()) == naive.independence_model(marks.tolist())
    MAG(filled)
