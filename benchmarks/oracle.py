"""Searches with a perfect oracle on the paper's generator: distinct tests and seconds per method and size.

    python benchmarks/oracle.py

25 systems of each size (rho = 2, half of the parentless nodes with two or more children latent). A run is given up
after a million tests; the table says how often that happened, and its means then count the million.
"""

from __future__ import annotations

import os
import time

import numpy as np

import anypag as ap

os.environ.setdefault("ANYPAG_PATIENCE", "0")  # what is timed is compiled at the first call

CAP = 1_000_000


def main() -> None:
    ap.learn(ap.simulate.random_system(10, 2.0, seed=0).oracle())  # compile
    ap.learn(ap.simulate.random_system(10, 2.0, seed=0).oracle(), method="fci")
    print(f"{'n':>3} {'method':>5} {'right':>6} {'capped':>6} {'mean tests':>12} {'median s':>9} {'total s':>8}")
    for n in (15, 20, 25, 35):
        systems = [ap.simulate.random_system(n, 2.0, seed=seed) for seed in range(25)]
        for method in ("icd", "fci"):
            row(n, method, systems)


def row(n: int, method: str, systems: list[ap.simulate.System]) -> None:
    """One line of the table."""
    tests, seconds, n_right, n_capped = [], [], 0, 0
    for system in systems:
        began = time.perf_counter()
        result = ap.learn(system.oracle(), method=method, max_tests=CAP)
        seconds.append(time.perf_counter() - began)
        tests.append(result.n_tests if result.complete else CAP)
        n_capped += not result.complete
        n_right += result.complete and result.pag == system.true_pag()
    counts = f"{n:3d} {method:>5} {n_right:6d} {n_capped:6d} {np.mean(tests):12,.0f}"
    print(counts, f"{np.median(seconds):9.3f} {sum(seconds):8.2f}", flush=True)


if __name__ == "__main__":
    main()
