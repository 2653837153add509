"""Ordered levels taken as ordinal, as unordered levels, and as numbers 0, 1, 2, ...

Linear Gaussian columns are cut into levels of unequal size. The first table has errors of graphs of systems with hidden
causes against the true PAG: extra edges, missing edges and wrong marks. The second has the share of p-values below 0.05
of x and y given z: "false" where they are independent given z before the cut, "found" where they are not. Seeds 0 to 9
are for choosing, 100 to 119 for reporting.

    python benchmarks/ordinal.py --seeds 100 120
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from statistics import mean
from typing import Any

import numpy as np
from scipy.special import ndtri

import anypag as ap
from anypag.arrays import Floats
from anypag.choices import Choices
from anypag.ci.base import Queries
from anypag.ci.resolve import resolve_test

WAYS = ("ordinal", "discrete", "continuous")
Columns = dict[str, Floats]


def cut(columns: Columns, levels: int, random: np.random.Generator) -> Columns:
    """The columns as levels 0, 1, ... with random shares."""
    found = {}
    for name, column in columns.items():
        shares = np.cumsum(random.dirichlet(np.full(levels, 3.0)))[:-1]
        found[name] = np.digitize((column - column.mean()) / column.std(), ndtri(shares)).astype(float)
    return {name: column for name, column in found.items() if column.min() < column.max()}


def errors(table: Columns, truth: ap.PAG, method: str) -> dict[str, int]:
    """The errors of each way."""
    found = {}
    for way in WAYS:
        how: Any = {"method": method, "kinds": dict.fromkeys(table, way)}
        learned = ap.learn(table, **how, effort=0.3) if method == "auto" else ap.learn(table, **how)
        found[way] = len(ap.metrics.differences(learned, truth.subgraph(learned.pag.names)))
    return found


def graphs(method: str, rows: int, levels: int, seeds: range) -> str:
    """A line of the first table."""
    found = []
    for seed in seeds:
        system = ap.simulate.random_system(10, 2.0, seed=seed)
        sample = system.linear_gaussian(rows, seed=seed)
        columns = {name: np.array(sample[name]) for name in sample.names}
        table = cut(columns, levels, np.random.default_rng(seed))
        found.append(errors(table, system.true_pag(), method))
    means = " | ".join(f"{mean(row[way] for row in found):.1f}" for way in WAYS)
    return f"| {method} | {rows:,} | {levels} | {means} |"


def shares(rows: int, levels: int, edge: float, seeds: range) -> dict[str, float]:
    """The share of p-values below 0.05 of each way."""
    below: dict[str, list[bool]] = {way: [] for way in WAYS}
    for seed in seeds:
        random = np.random.default_rng([seed, 1])
        z, x, y = random.normal(size=(3, rows))
        table = cut({"x": x + 0.8 * z, "y": y + 0.8 * z + edge * x, "z": z}, levels, random)
        for way in WAYS:
            test = resolve_test(table, Choices(kinds=dict.fromkeys(table, way)))
            below[way].append(bool(test.pvalues(Queries.one(0, 1, [2]))[0] < 0.05))
    return {way: mean(found) for way, found in below.items()}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 10))
    parser.add_argument("--methods", nargs="*", default=("icd", "auto"))
    parser.add_argument("--rows", nargs="*", type=int, default=(1000, 4000))
    parser.add_argument("--levels", nargs="*", type=int, default=(3, 5, 7))
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ap.AnypagWarning)
    print("| method | rows | levels | ordinal | discrete | continuous |\n|---|---|---|---|---|---|")
    for method, rows, levels in product(asked.methods, asked.rows, asked.levels):
        print(graphs(method, rows, levels, range(*asked.seeds)), flush=True)
    print("\n| | rows | levels | ordinal | discrete | continuous |\n|---|---|---|---|---|---|")
    for (about, edge), rows, levels in product((("false", 0.0), ("found", 0.15)), asked.rows, asked.levels):
        first, last = asked.seeds
        found = shares(rows, levels, edge, range(20 * first, 20 * last))
        told = " | ".join(f"{found[way]:.3f}" for way in WAYS)
        print(f"| {about} | {rows:,} | {levels} | {told} |", flush=True)


if __name__ == "__main__":
    main()
