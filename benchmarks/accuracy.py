"""How good the learned graphs are on data, and what each choice costs: the tables behind the defaults.

    python benchmarks/accuracy.py            # both tables, some minutes
    python benchmarks/accuracy.py --repeats 5

Random systems as in the paper (half of the parentless nodes with two or more children are latent), linear with
Gaussian noise, alpha = 0.01. "Strong" weights are ±Uniform(0.5, 2), as in the paper, "weak" ones ±Uniform(0.1, 0.6).
Errors are counted against the true PAG: extra edges / missing edges / wrong marks on shared edges = total (distinct
tests asked for), in the mean.

Columns are shuffled. Simulated ones come causes first, and a search that tries condition sets in the order of columns
then tries causes first: FCI gets half an error to a full one better for a reason no real table has
(`--causes-first` shows it). ICD does not care: its result does not depend on the order of columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import anypag as ap
from anypag.ci.wrappers import Counted
from anypag.simulate import System

NO_LIMIT = 10**12
WEIGHTS = {"strong": (0.5, 2.0), "weak": (0.1, 0.6)}
METHODS: dict[str, dict[str, Any]] = {
    "fci": {"method": "fci"},
    "icd, condition 2 always, first set": {"max_sets": 0, "sepset": "first"},
    "icd, never condition 2, first set": {"max_sets": NO_LIMIT, "sepset": "first"},
    "icd, never condition 2, largest p": {"max_sets": NO_LIMIT, "sepset": "largest-p"},
    "icd, as it comes": {},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=30, help="systems per kind of weights and density")
    parser.add_argument("--causes-first", action="store_true", help="leave the columns in causal order")
    options = parser.parse_args()
    small_table(options.repeats, options.causes_first)
    large_table(max(2, options.repeats // 4), options.causes_first)


def small_table(repeats: int, causes_first: bool) -> None:
    """13 variables: FCI and the choices of ICD, for three sample sizes."""
    cells = [(weights, rho) for weights in WEIGHTS for rho in (2.0, 3.5)]
    print(f"13 variables, {repeats} systems for each of {len(cells)} kinds, extra / missing / marks = total (tests)\n")
    for n_rows in (200, 1000, 5000):
        runs = [run for weights, rho in cells for run in systems(13, rho, weights, repeats)]
        for label, options in METHODS.items():
            row = scores([(s, w, n_rows) for s, w in runs], options, causes_first)
            print(f"N = {n_rows:5d}  {label:36s}", row, flush=True)
        print()


def large_table(repeats: int, causes_first: bool) -> None:
    """35 variables: what `max_sets` buys and costs."""
    print(f"35 variables, N = 1,000, {repeats} systems each, largest p\n")
    for weights, rho in (("strong", 2.0), ("strong", 3.5), ("weak", 3.5)):
        runs = [(s, w, 1000) for s, w in systems(35, rho, weights, repeats)]
        for max_sets in (0, 100, 1000, 10_000):
            row = scores(runs, {"max_sets": max_sets}, causes_first)
            print(f"rho = {rho}, {weights:6s}  max_sets = {max_sets:6d}", row, flush=True)
        print()


def systems(n: int, rho: float, weights: str, repeats: int) -> Iterator[tuple[System, Any]]:
    """Random systems with their weights."""
    low, high = WEIGHTS[weights]
    for seed in range(repeats):
        system = ap.simulate.random_system(n, rho, seed=1000 * int(rho * 10) + seed)
        yield system, ap.simulate.random_weights(system.dag, low=low, high=high, seed=seed)


def scores(runs: list[tuple[System, Any, int]], options: Mapping[str, Any], causes_first: bool) -> str:
    """Mean errors of one way to learn."""
    rows = []
    for seed, (system, weights, n_rows) in enumerate(runs):
        data = ap.simulate.linear_gaussian(
            system.dag, n_rows, latent=system.latent, selection=system.selection, weights=weights, seed=seed
        )
        names = list(data) if causes_first else np.random.default_rng(seed).permutation(list(data)).tolist()
        test = ap.FisherZ({name: data[name] for name in names})
        result = ap.learn(Counted(test, distinct=True), **{"method": "icd", "alpha": 0.01, **options})
        comparison = ap.metrics.compare(result.pag, system.true_pag())
        rows.append((comparison.extra_edges, comparison.missing_edges, comparison.wrong_marks, result.n_tests))
    extra, missing, marks, tests = np.mean(rows, axis=0)
    return f"{extra:5.1f} / {missing:5.1f} / {marks:5.1f} = {extra + missing + marks:6.1f} ({tests:9,.0f})"


if __name__ == "__main__":
    main()
