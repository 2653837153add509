"""Which test should `test="auto"` take? Errors of the learned graphs on four kinds of random systems.

    OMP_NUM_THREADS=1 python benchmarks/default_test.py [--systems 150]

Systems of 15 nodes as in the paper on ICD, half of the possible confounders hidden; the same table for every test.
Errors are those of `anypag.metrics.compare` against the true PAG; the difference comes with its standard error.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import anypag as ap

Array = npt.NDArray[np.float64]
NODES = 15
CURVES: tuple[Callable[[Array], Array], ...] = (np.array, np.square, np.tanh, lambda v: np.sin(2 * v), np.abs)


def values_of(system: ap.simulate.System, kind: str, n: int, rng: np.random.Generator) -> dict[str, Array]:
    """A table of the system: each node the sum of what its parents do, all of deviation 1, and noise of its own."""
    dag = system.dag
    made: dict[str, Array] = {}
    for place, name in enumerate(dag.topological_order()):
        parents = [dag.names[i] for i in np.flatnonzero(dag.adjacency[:, dag.index(name)])]
        curves = rng.integers(len(CURVES), size=len(parents)) if kind == "curved" else np.zeros(len(parents), int)
        weights = rng.uniform(0.5, 1.5, len(parents)) * rng.choice((-1.0, 1.0), len(parents))
        parts = [w * unit(CURVES[c](unit(made[p]))) for w, c, p in zip(weights, curves, parents, strict=True)]
        mean = np.sum(parts, axis=0) if parts else np.zeros(n)
        if kind == "half levels" and place % 2:
            made[name] = np.asarray(rng.random(n) < 1 / (1 + np.exp(-1.5 * mean)), np.float64)
        else:
            made[name] = mean + (rng.standard_t(3, n) if kind == "heavy tails" else rng.normal(size=n))
    return {name: made[name] for name in system.observed}


def unit(values: Array) -> Array:
    """Mean 0 and deviation 1."""
    centred: Array = values - values.mean()
    return centred / max(float(centred.std()), 1e-12)


def compared(kind: str, n: int, systems: int) -> str:
    """A line of the table: errors and seconds of today's choice and of the additive test, and the difference."""
    usual = "mixed" if kind == "half levels" else "fisherz"
    errors: dict[str, list[int]] = {usual: [], "additive": []}
    seconds = dict.fromkeys(errors, 0.0)
    warned = 0
    for seed in range(systems):
        system = ap.simulate.random_system(NODES, 2.5, seed=seed)
        table = values_of(system, kind, n, np.random.default_rng([seed, n]))
        warned += "curve" in {finding.problem for finding in ap.audit(table).findings}
        for test, found in errors.items():
            began = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = ap.learn(table, method="icd", test=test)
            seconds[test] += time.process_time() - began
            found.append(ap.metrics.compare(result.pag, system.true_pag()).errors)
    gain = np.array(errors["additive"]) - np.array(errors[usual])
    shown = " | ".join(f"{np.mean(errors[test]):.1f} ({seconds[test] / systems:.2f} s)" for test in errors)
    difference = f"{gain.mean():+.1f} ± {gain.std(ddof=1) / np.sqrt(systems):.1f}"
    return f"| {kind} | {n:,} | {usual} | {shown} | {difference} | {warned} of {systems} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=150)
    systems = parser.parse_args().systems
    compared("straight", 500, 2), compared("half levels", 500, 2)  # compiles
    print("| systems | rows | usual test | its errors | errors of `additive` | difference | a curve is named in |")
    print("|---|---|---|---|---|---|---|")
    for kind in ("straight", "heavy tails", "curved", "half levels"):
        for n in (500, 2000):
            print(compared(kind, n, systems), flush=True)


if __name__ == "__main__":
    main()
