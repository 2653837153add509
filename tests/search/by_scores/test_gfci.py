"""GFCI: a DAG by score, then FCI's phases from there."""

from __future__ import annotations

import numpy as np
import pytest

import anypag as ap
import naive
from anypag.search.by_scores.gfci import _parent_sets
from anypag.search.by_scores.orders import FoundDAG


@pytest.mark.parametrize("seed", range(8))
def test_with_population_correlations_the_truth_is_found(seed: int) -> None:
    system = ap.simulate.random_system(8, 2.0, seed=seed)
    weights = np.asarray(ap.simulate.random_weights(system.dag, seed=seed))
    total = np.linalg.inv(np.eye(len(system.dag)) - weights)
    kept = [k for k, name in enumerate(system.dag.names) if name not in system.latent]
    covariance = (total.T @ total)[np.ix_(kept, kept)]
    test = ap.FisherZ.from_covariance(covariance, 10**7, [system.dag.names[k] for k in kept])
    assert ap.learn(test, method="gfci", alpha=1e-4).pag == system.true_pag()


def test_parents_separate_what_a_dag_does_not_join() -> None:
    rng, nothing = np.random.default_rng(0), np.zeros((6, 6), np.bool_)
    for _ in range(20):
        parents = np.triu(rng.random((6, 6)) < 0.4, 1).astype(np.uint8)
        shuffle = rng.permutation(6)
        parents = np.ascontiguousarray(parents[np.ix_(shuffle, shuffle)])
        marks = ap.DAG(parents).marks.tolist()
        sets = [row for rows in _parent_sets(FoundDAG(0.0, parents), nothing).values() for row in rows]
        assert len(sets) == 15 - parents.sum()
        for x, y, given in sets:
            assert naive.is_separated(marks, x, y, given)


def test_columns_in_another_order_give_the_same_graph() -> None:
    system = ap.simulate.random_system(9, 2.0, seed=5)
    data = ap.simulate.linear_gaussian(system.dag, 500, latent=system.latent, seed=5)
    first = ap.learn(data, method="gfci")
    for seed in range(3):
        names = np.random.default_rng(seed).permutation(list(data)).tolist()
        assert ap.learn({name: data[name] for name in names}, method="gfci").pag == first.pag
    assert {item.info.phase for item in first.history} == {"orders", "adjacency", "possible-d-sep"}
