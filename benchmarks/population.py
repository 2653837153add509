"""Is the answer right in the limit? `method="bayes"` on correlations without noise, as if of ten million rows.

    python benchmarks/population.py [--systems 200]

Random linear systems of 6 to 10 nodes, every other one dense, half of the possible confounders hidden. Where the answer
is not the true PAG it is said whether the search is at fault (more effort finds the truth, or a member of its class
scores better than the best graph met) or the score: an edge is worth less than its price, and data of so many rows do
not show it. A billion rows then do.
"""

from __future__ import annotations

import argparse

import numpy as np

import anypag as ap
from anypag.ci.base import score_for
from anypag.search.by_scores.chain import Landscape, graph_of

ROWS = 10**7
ALPHA = 1e-4


def test_of(system: ap.simulate.System, seed: int, rows: int) -> ap.FisherZ:
    """Fisher's z with the correlations that the system has."""
    rng, adjacency = np.random.default_rng(seed), np.asarray(system.dag.adjacency, float)
    weights = adjacency * rng.uniform(0.5, 1.5, adjacency.shape) * rng.choice((-1.0, 1.0), adjacency.shape)
    total = np.linalg.inv(np.eye(len(weights)) - weights.T)
    kept = [system.dag.index(name) for name in system.observed]
    return ap.FisherZ.from_covariance((total @ total.T)[np.ix_(kept, kept)], rows, list(system.observed))


def found(test: ap.FisherZ, effort: float) -> ap.Result:
    """What the method makes of it."""
    return ap.learn(test, method="bayes", effort=effort, alpha=ALPHA)


def why(system: ap.simulate.System, seed: int, best_score: float) -> str:
    """Who is at fault, and what would have helped."""
    test, truth = test_of(system, seed, ROWS), system.true_pag()
    ahead = Landscape.of(score_for(test)).score_of(graph_of(truth.to_mag().marks)) - best_score
    longer = found(test, 5).pag == truth
    at_fault = "the search" if longer or ahead > 0 else "an edge worth less than its price"
    more_rows = found(test_of(system, seed, 100 * ROWS), 0.1).pag == truth
    return (
        f"a MAG of the truth scores {ahead:+.1f} beside the best graph met: {at_fault}. Right with an effort of 5: "
        f"{'yes' if longer else 'no'}; with a billion rows: {'yes' if more_rows else 'no'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=200)
    wrong = wrong_by_tests = 0
    systems = parser.parse_args().systems
    for seed in range(systems):
        system = ap.simulate.random_system(6 + seed % 5, 2.0 if seed % 2 else 3.0, seed=seed)
        test, truth = test_of(system, seed, ROWS), system.true_pag()
        wrong_by_tests += ap.learn(test, method="icd", alpha=ALPHA).pag != truth
        result = found(test, 0.1)
        if result.pag != truth:
            wrong += 1
            assert result.posterior is not None
            print(f"system {seed}: {why(system, seed, result.posterior.best_score)}", flush=True)
    print(f"{wrong} of {systems} wrong; the search by tests is wrong on {wrong_by_tests}")


if __name__ == "__main__":
    main()
