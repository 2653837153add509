"""Expected errors against their definition, and the graph that has the fewest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_scores
from anypag import MAG
from anypag.search.by_scores.posterior import expected_errors, least_expected_error, mark_shares
from strategies import seeded_mags


@given(st.lists(seeded_mags(most=5).filter(lambda mag: len(mag) == 5), min_size=1, max_size=5), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_expected_errors_are_the_mean_of_errors(mags: list[MAG], seed: int) -> None:
    pags = np.array([mag.to_pag().marks for mag in mags])
    weights = np.random.default_rng(seed).integers(1, 9, len(pags))
    found = expected_errors(pags, mark_shares(pags, weights))
    by_hand = [naive_scores.expected_errors(pag.tolist(), pags.tolist(), weights.tolist()) for pag in pags]
    assert found == pytest.approx(by_hand)
    assert by_hand[least_expected_error(pags, mark_shares(pags, weights))] == pytest.approx(min(by_hand))


def test_what_is_certain_has_probability_one_and_no_more() -> None:
    certain = np.broadcast_to(np.array([[0, 2], [1, 0]], np.uint8), (7, 2, 2))
    for weights in np.random.default_rng(0).integers(1, 100, size=(200, 7)):
        assert mark_shares(certain, weights).max() <= 1.0
