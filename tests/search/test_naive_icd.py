"""ICD against its naive twin on data, where tests err, sets compete and rules contradict each other."""

from __future__ import annotations

import numpy as np
import pytest

import naive_search as naive
from anypag import Oracle, Queries, Result, learn
from anypag.ci.base import CITest
from anypag.ci.gaussian import FisherZ
from anypag.ci.wrappers import Counted
from anypag.simulate import System
from search_examples import hard_system, random_system


def p_of(test: CITest) -> naive.PValue:
    return lambda x, y, z: float(test.pvalues(Queries.one(x, y, z))[0])


def check_twin(result: Result, twin: naive.Search) -> None:
    steps = list(twin.steps())
    assert len(steps) == len(result.history)
    for item, step in zip(result.history, steps, strict=True):
        assert naive.graph_of(item.pag.marks) == step.graph
        assert item.info.n_tests == step.n_asked
        assert item.info.n_open == step.n_open
    index = result.pag.index
    assert {
        frozenset(map(index, pair)): tuple(map(index, found.given)) for pair, found in result.sepsets.items()
    } == steps[-1].sepsets


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("max_sets", [0, 4, 1000])
def test_on_data(seed: int, max_sets: int) -> None:
    rng = np.random.default_rng(seed)
    sample = random_system(rng, 6).linear_gaussian(int(rng.choice([60, 200, 1000])), seed=seed)
    test = FisherZ(sample)
    result = learn(Counted(test, distinct=True), alpha=0.05, max_sets=max_sets)
    twin = naive.Search(
        6,
        p_of(test),
        alpha=0.05,
        exact=False,
        max_sets=max_sets,
        last_r=4,
        dependence=lambda x, y, z: float(test.strength(Queries.one(x, y, z))[0]),
    )
    check_twin(result, twin)


@pytest.mark.parametrize("seed", range(12))
def test_with_an_oracle(seed: int) -> None:
    system: System = (hard_system if seed % 2 else random_system)(np.random.default_rng(seed), 7)
    oracle: Oracle = system.oracle()
    p = p_of(oracle)
    twin = naive.Search(7, p, alpha=0.01, exact=True, max_sets=0, last_r=5, dependence=lambda x, y, z: 1 - p(x, y, z))
    check_twin(learn(oracle), twin)
