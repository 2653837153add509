"""ICD against its naive twin on data, where tests err, sets compete and rules contradict each other."""

from __future__ import annotations

import numpy as np
import pytest

import naive_search as naive
from anypag import Oracle, Queries, Result, learn
from anypag.ci.base import CITest
from anypag.ci.gaussian import FisherZ
from anypag.ci.wrappers import Counted
from anypag.run.engine import Search
from anypag.search.by_tests import icd
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
@pytest.mark.parametrize(("max_sets", "early_sets"), [(0, 100), (4, 1), (1, 3), (1000, 100)])
def test_on_data(seed: int, max_sets: int, early_sets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icd, "EARLY_SETS", early_sets)
    rng = np.random.default_rng(seed)
    sample = random_system(rng, 6).linear_gaussian(int(rng.choice([60, 200, 1000])), seed=seed)
    test = FisherZ(sample)
    result = learn(Counted(test, distinct=True), method="icd", alpha=0.05, max_sets=max_sets)
    twin = naive.Search(
        6,
        p_of(test),
        alpha=0.05,
        exact=False,
        max_sets=max_sets,
        last_r=4,
        dependence=lambda x, y, z: float(test.strength(Queries.one(x, y, z))[0]),
    )
    twin.early_sets = early_sets
    check_twin(result, twin)


def test_early_sets_are_many_only_where_they_cost_nothing() -> None:
    """A hundred times as many sets of one and two nodes, unless every single answer costs."""

    class Slow(FisherZ):
        batch = 1

    sample = random_system(np.random.default_rng(0), 6).linear_gaussian(100, seed=0)
    for test, wanted in ((FisherZ(sample), [100_000, 100_000, 1000]), (Slow(sample), [1000, 1000, 1000])):
        problem = Search(test).problem
        assert [icd.most_sets(problem, r) for r in (1, 2, 3)] == wanted
    assert icd.most_sets(Search(random_system(np.random.default_rng(0), 6).oracle()).problem, 2) == 0


@pytest.mark.parametrize("seed", range(12))
def test_with_an_oracle(seed: int) -> None:
    system: System = (hard_system if seed % 2 else random_system)(np.random.default_rng(seed), 7)
    oracle: Oracle = system.oracle()
    p = p_of(oracle)
    twin = naive.Search(7, p, alpha=0.01, exact=True, max_sets=0, last_r=5, dependence=lambda x, y, z: 1 - p(x, y, z))
    check_twin(learn(oracle), twin)
