"""Discrete tables: sets of columns counted once for all questions within them, beside counting for every test.

    OPENBLAS_NUM_THREADS=1 python benchmarks/tables.py

Systems of 20 nodes (ρ = 2.5, seeds 1 to 6; 18 or 19 observed) with two or three levels, 10,000 rows: whole searches,
CPU time, the two ways in turn, best of five. The p-values must be the same to the bit.
"""

from __future__ import annotations

import time
import warnings
from unittest.mock import patch

import numpy as np

import anypag as ap
from anypag.ci.base import Queries
from anypag.ci.discrete import ChiSquared, GSquared

ROWS = 10_000


def by_rows(test: object, queries: Queries) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """No question is for joint tables."""
    return np.zeros(len(queries), np.bool_)


def timed(test: GSquared | ChiSquared) -> tuple[float, list[tuple[object, str]], int]:
    """CPU seconds of a search, the p-values of its separations, and how many tests it asked for."""
    began = time.process_time()
    result = ap.learn(test)
    seconds = time.process_time() - began
    return seconds, [(pair, why.p.hex()) for pair, why in sorted(result.sepsets.items())], result.n_tests


def compared(kind: type[GSquared] | type[ChiSquared], seed: int) -> str:
    """One line of the table."""
    system, rng = ap.simulate.random_system(20, 2.5, seed=seed), np.random.default_rng(seed)
    levels = {name: int(k) for name, k in zip(system.dag.names, rng.integers(2, 4, len(system.dag.names)), strict=True)}
    test = kind(system.discrete(ROWS, levels=levels, seed=seed).rows)
    jointly, row_by_row = [], []
    for _ in range(6):  # the first compiles
        jointly.append(timed(test))
        with patch.object(kind, "_is_joint", by_rows):
            row_by_row.append(timed(test))
    now, before = (min(seconds for seconds, _, _ in runs[1:]) for runs in (jointly, row_by_row))
    same = "yes" if jointly[-1][1] == row_by_row[-1][1] else "NO"
    return f"| {kind.__name__} | {seed} | {jointly[0][2]:,} | {before:.4f} | {now:.4f} | {before / now:.2f} | {same} |"


def main() -> None:
    """The table."""
    warnings.simplefilter("ignore")
    print("| test | seed | tests | row by row, s | jointly, s | times as fast | same bits |")
    print("|---|---|---|---|---|---|---|")
    for kind in (GSquared, ChiSquared):
        for seed in range(1, 7):
            print(compared(kind, seed), flush=True)


if __name__ == "__main__":
    main()
