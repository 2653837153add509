"""The edge lists of an earlier state, which a state's own are narrowed from, save time and change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anypag import FisherZ
from anypag.catalogue import TEST_METHODS
from anypag.choices import Choices
from anypag.run.engine import Search
from anypag.search.state import State
from search_examples import random_system


def facts(state: State) -> tuple[bytes, ...]:
    evidence = state.evidence
    arrays = (
        state.marks,
        state.sepsets.empty,
        state.sepsets.pairs,
        state.sepsets.rows,
        state.sepsets.members,
        evidence.notes.pairs,
        evidence.notes.p,
        evidence.log,
        evidence.conflicts,
    )
    return tuple(array.tobytes() for array in arrays)


@pytest.mark.parametrize("method", TEST_METHODS)
def test_states_without_earlier_edges_lead_to_the_same(method: str) -> None:
    """As they come out of a checkpoint. In some of these systems the last phase of FCI removes edges."""
    for seed in range(25):
        sample = random_system(np.random.default_rng(seed), 13).linear_gaussian(300, seed=seed)
        with_it, without = (Search(FisherZ(sample), Choices(method=method, alpha=0.05)) for _ in range(2))
        state: State | None = None
        for wanted, wanted_info in with_it.steps():
            state, info = next(without.steps(None if state is None else replace(state, earlier_edges=None)))
            assert facts(state) == facts(wanted), (method, seed, state.phase)
            assert info.tests == wanted_info.tests
