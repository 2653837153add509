"""Expected errors against their definition, and the graph that has the fewest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_scores
from anypag import MAG
from anypag.search.least_error import expected_errors, least_expected_error, mark_shares
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
