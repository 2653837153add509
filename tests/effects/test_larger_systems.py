"""Systems of 8 to 15 observed nodes: formulas are right with exact moments, estimates converge to the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from enumeration import Values

import anypag as ap
from anypag.effects.estimate.linear import slopes
from anypag.effects.identify.causal_graph import causal_graph_of
from anypag.effects.identify.verdict import verdict
from anypag.graphs.node_sets import node_set
from anypag.simulate.gaussian import implied_covariance, random_weights


def system_of(seed: int) -> ap.simulate.System:
    return ap.simulate.random_system(10 + seed % 8, 2.0 + seed % 3, seed=seed)


def true_effect(weights: Values, x: list[int], y: list[int]) -> Values:
    cut = weights.copy()
    cut[:, x] = 0
    return np.asarray(np.linalg.inv(np.eye(len(cut)) - cut)[np.ix_(x, y)])


def questions(n: int, rng: np.random.Generator) -> Iterator[tuple[list[int], list[int]]]:
    """All pairs, and some sets."""
    yield from (([x], [y]) for x in range(n) for y in range(n) if x != y)
    for _ in range(100):
        order = rng.permutation(n).tolist()
        yield order[:2], order[2 : 3 + int(rng.integers(2))]


def check(seed: int) -> dict[str, int]:
    """Every identified effect of one system against the truth, with exact moments; how many of each kind."""
    system = system_of(seed)
    pag, causal = system.true_pag(), causal_graph_of(system.true_pag())
    weights = random_weights(system.dag, low=0.3, high=1.0, seed=seed)
    place = [system.dag.index(name) for name in pag.names]
    covariance = implied_covariance(system.dag, weights)[np.ix_(place, place)]
    found = {"zero": 0, "adjustment": 0, "formula": 0, "unidentified": 0}
    for x, y in questions(len(pag), np.random.default_rng(seed)):
        answer = verdict(causal, node_set(x), node_set(y), 0, causal.everyone)
        found[answer.status] += 1
        if answer.formula is not None:
            truth = true_effect(weights, [place[v] for v in sorted(x)], [place[v] for v in sorted(y)])
            value = slopes(answer.formula, answer.way, covariance, range(len(pag)))
            np.testing.assert_allclose(value, truth, atol=1e-6, err_msg=f"{pag} {x} {y}")
    return found


def test_formulas_with_exact_moments() -> None:
    total = [check(seed) for seed in range(25)]
    assert {kind: sum(found[kind] for found in total) > 0 for kind in total[0]} == dict.fromkeys(total[0], True)


def test_dense_graphs() -> None:
    """Formulas that lead nowhere are not written down: in a dense graph they would take for ever."""
    pag = ap.simulate.random_system(35, 8.0, seed=3).true_pag()
    rng, statuses = np.random.default_rng(0), set()
    for _ in range(300):
        *x, y = rng.permutation(len(pag))[: int(rng.integers(2, 7))].tolist()
        statuses.add(ap.effect(pag, x, y, selection_bias=False).status)
    assert statuses == {"zero", "adjustment", "formula", "unidentified"}


@pytest.mark.slow
def test_formulas_with_exact_moments_in_many_systems() -> None:
    for seed in range(25, 200):
        check(seed)


def in_the_limit(seed: int) -> int:
    """Estimates of the identified effects of one system from 100,000 rows; how many."""
    system = system_of(seed)
    weights = random_weights(system.dag, low=0.3, high=1.0, seed=seed)
    rows = ap.simulate.linear_gaussian(system.dag, 100_000, latent=system.latent, weights=weights, seed=seed)
    pag, n_checked = system.true_pag(), 0
    for cause in pag.names:
        for outcome in pag.names:
            answer = None if cause == outcome else ap.effect(pag, cause, outcome, selection_bias=False)
            if answer is None or answer.status not in ("adjustment", "formula"):
                continue
            low, high = np.array(answer.estimated(rows, resamples=40).interval)
            truth = true_effect(weights, [system.dag.index(cause)], [system.dag.index(outcome)])[0, 0]
            margin = 1.5 * (high - low) + 1e-9
            assert low - margin < truth < high + margin, f"{pag}: {cause} on {outcome}"
            assert margin < 0.2
            n_checked += 1
    return n_checked


@pytest.mark.slow
def test_estimates_converge() -> None:
    assert sum(in_the_limit(seed) for seed in range(4)) > 0


@pytest.mark.slow
def test_estimates_converge_in_many_systems() -> None:
    assert sum(in_the_limit(seed) for seed in range(4, 200)) > 100
