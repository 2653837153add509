"""Errors where effects are curved: the search by score with and without functions of columns, and the search by tests.

    OMP_NUM_THREADS=1 python benchmarks/curves.py [--systems 20] [--rows 1000] [--first 0]

Systems of 15 nodes (ρ = 2, half of the possible confounders hidden). A node is the sum of f(parent), each scaled to
deviation 1 and multiplied by ±U(0.5, 2), and Gaussian noise; f is one of the shapes below, or a random network of 100
sigmoids, of each cause or of all k causes together (which interact; then multiplied by √k too). Errors are those of
`anypag.metrics.compare` against the true PAG: all, then extra and missing edges. Seconds are CPU time with everything
compiled.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import anypag as ap
from default_test import unit

Array = npt.NDArray[np.float64]

SHAPES: dict[str, Callable[[Array], Array]] = {
    "x": np.array,
    "tanh(1.5 x)": lambda x: np.tanh(1.5 * x),
    "x + 0.3 x³": lambda x: x + 0.3 * x**3,
    "x + 0.7 (x² - 1)": lambda x: x + 0.7 * (x**2 - 1),
    "sin(2 x)": lambda x: np.sin(2 * x),
}

NETWORKS = {"network of each cause": False, "network of all causes": True}

WAYS: dict[str, dict[str, Any]] = {
    "bayes": {"method": "bayes", "test": "fisherz"},
    "bayes, normal scores": {"method": "bayes", "test": "fisherz", "transform": "normal-scores"},
    "bayes, additive": {"method": "bayes", "test": "additive"},
    "icd, additive": {"test": "additive"},
}


def table_of(system: ap.simulate.System, shape: Callable[[Array], Array], rows: int, seed: int) -> dict[str, Array]:
    """A table of the system."""
    rng, dag = np.random.default_rng(seed), system.dag
    made: dict[str, Array] = {}
    for name in dag.topological_order():
        made[name] = rng.normal(size=rows)
        for i in np.flatnonzero(dag.adjacency[:, dag.index(name)]):
            weight = rng.uniform(0.5, 2) * rng.choice((-1.0, 1.0))
            made[name] = made[name] + weight * unit(shape(unit(made[dag.names[i]])))
    return {name: made[name] for name in system.observed}


def table_of_networks(system: ap.simulate.System, rows: int, seed: int, *, together: bool) -> dict[str, Array]:
    """A table of the system in which effects are random networks, of each cause or of all causes together."""
    rng, dag = np.random.default_rng([seed, together]), system.dag
    made: dict[str, Array] = {}
    for name in dag.topological_order():
        causes = [unit(made[dag.names[i]]) for i in np.flatnonzero(dag.adjacency[:, dag.index(name)])]
        made[name] = rng.normal(size=rows)
        for group in [causes] * bool(causes) if together else [[cause] for cause in causes]:
            weights, ends = (rng.uniform(0.5, 2, (k, 100)) * rng.choice((-1, 1), (k, 100)) for k in (len(group), 1))
            output = (1 / (1 + np.exp(-np.column_stack(group) @ weights))) @ ends[0]
            made[name] = made[name] + rng.uniform(0.5, 2) * len(group) ** 0.5 * unit(output)
    return {name: made[name] for name in system.observed}


def cell(system_tables: list[tuple[ap.simulate.System, dict[str, Array]]], options: dict[str, Any]) -> str:
    """What one way of learning makes of the tables."""
    found, seconds = [], []
    for system, table in system_tables:
        began = time.process_time()
        result = ap.learn(table, **{"method": "icd", **options})
        seconds.append(time.process_time() - began)
        differences = ap.metrics.compare(result.pag, system.true_pag())
        found.append((differences.errors, differences.extra_edges, differences.missing_edges))
    errors, extra, missing = np.mean(found, axis=0)
    return f"{errors:.1f} ({extra:.1f} / {missing:.1f}), {np.median(seconds):.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.first, options.first + options.systems)
    systems = [ap.simulate.random_system(15, 2.0, seed=seed) for seed in seeds]
    for way in WAYS.values():
        cell([(systems[0], table_of(systems[0], SHAPES["x"], 200, 0))], way)  # compiles
    print(f"| effects | {' | '.join(WAYS)} |")
    print("|---" * (1 + len(WAYS)) + "|")
    makers: dict[str, Callable[..., dict[str, Array]]] = {
        **{name: partial(table_of, shape=shape) for name, shape in SHAPES.items()},
        **{name: partial(table_of_networks, together=together) for name, together in NETWORKS.items()},
    }
    for name, make in makers.items():
        tables = [
            (system, make(system, rows=options.rows, seed=seed)) for seed, system in zip(seeds, systems, strict=True)
        ]
        print(f"| {name} | {' | '.join(cell(tables, way) for way in WAYS.values())} |", flush=True)


if __name__ == "__main__":
    main()
