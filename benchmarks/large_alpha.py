"""Which alpha with thousands of variables: errors of whole searches on several systems a size.

    python benchmarks/large_alpha.py              # some minutes

Systems of the paper's generator (rho = 2, seeds 7 to 11), errors against the true PAG: extra edges / missing edges /
wrong marks on shared edges, then their sum with its range over the systems, for each 100 variables. The last column
says for how many systems each alpha made the fewest.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator

import numpy as np

import anypag as ap

os.environ.setdefault("ANYPAG_PATIENCE", "0")

ALPHAS = (0.05, 0.01, 0.001, 0.0001, 1e-6)
SIZES = ((1000, 1000), (1000, 300), (3000, 1000))
"""Nodes and rows."""
SEEDS = range(7, 12)


def errors_of(nodes: int, rows: int) -> Iterator[list[tuple[float, float, float]]]:
    """For each system the errors at each alpha, for each 100 variables."""
    for seed in SEEDS:
        system = ap.simulate.random_system(nodes, 2.0, seed=seed)
        sample = system.linear_gaussian(rows, seed=seed)
        truth, share = system.true_pag(), len(sample.names) / 100
        yield [_errors(sample, truth, alpha, share) for alpha in ALPHAS]


def _errors(sample: object, truth: ap.PAG, alpha: float, share: float) -> tuple[float, float, float]:
    found = ap.metrics.compare(ap.learn(sample, method="icd", alpha=alpha, threads=0).pag, truth)
    return found.extra_edges / share, found.missing_edges / share, found.wrong_marks / share


def main() -> None:
    warnings.simplefilter("ignore")
    columns = ["nodes, rows", *(f"α = {alpha:g}" for alpha in ALPHAS), "best"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for nodes, rows in SIZES:
        found = np.array(list(errors_of(nodes, rows)))  # systems, alphas, kinds of errors
        totals = found.sum(axis=2)
        cells = [
            f"{' / '.join(f'{kind:.1f}' for kind in found[:, k].mean(axis=0))} = "
            f"**{totals[:, k].mean():.1f}** ({totals[:, k].min():.1f}–{totals[:, k].max():.1f})"
            for k in range(len(ALPHAS))
        ]
        wins = np.bincount(totals.argmin(axis=1), minlength=len(ALPHAS)).tolist()
        best = ", ".join(f"{alpha:g}: {count}" for alpha, count in zip(ALPHAS, wins, strict=True) if count)
        print(f"| {nodes:,}, {rows:,} | {' | '.join(cells)} | {best} |", flush=True)


if __name__ == "__main__":
    main()
