"""A state's outline, the edge lists it is narrowed from, saves time and changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anypag import FisherZ
from anypag.run.engine import Search
from anypag.run.methods import ALGORITHMS
from anypag.search.state import State
from search_examples import random_system


def facts(state: State) -> tuple[bytes, ...]:
    arrays = (state.marks, state.sepsets.slot, state.sepsets.members, state.sepsets.p, state.log, state.conflicts)
    return tuple(array.tobytes() for array in arrays)


@pytest.mark.parametrize("method", ALGORITHMS)
def test_states_without_an_outline_lead_to_the_same(method: str) -> None:
    """As they come out of a checkpoint. In some of these systems the last phase of FCI removes edges."""
    for seed in range(25):
        sample = random_system(np.random.default_rng(seed), 13).linear_gaussian(300, seed=seed)
        with_it, without = (Search(FisherZ(sample), method=method, alpha=0.05) for _ in range(2))  # type: ignore[arg-type]
        state = without.start
        for wanted, _ in with_it.steps():
            state, _ = next(without.steps(replace(state, outline=None)))
            assert facts(state) == facts(wanted), (method, seed, state.phase)
        assert with_it.test.asked == without.test.asked
