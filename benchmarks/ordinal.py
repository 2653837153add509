"""How best to take ordered levels: as unordered levels, as numbers 0, 1, 2, ..., or as normal scores of their ranks.

Linear Gaussian systems with hidden causes are cut into five levels of unequal size, and the graph of each way is
compared with the true PAG: errors are extra edges, missing edges and wrong marks. Seeds 0 to 9 are for choosing,
100 to 119 for reporting.

    python benchmarks/ordinal.py --seeds 100 120
"""

from __future__ import annotations

import argparse
import warnings
from statistics import mean
from typing import Any

import numpy as np

import anypag as ap
from anypag.data.columns import normal_scores

CUTS = ((-0.8, 0.0, 0.7, 1.3), (0.4, 0.9, 1.4, 1.9))
"""Where columns are cut, in standard deviations: every second one is mostly at its lowest level."""


def cut(sample: Any) -> dict[str, np.ndarray]:
    """The columns of a sample as levels 0 to 4."""
    columns = {name: (np.array(sample[name]) - np.mean(sample[name])) / np.std(sample[name]) for name in sample.names}
    return {name: np.digitize(column, CUTS[k % 2]).astype(float) for k, (name, column) in enumerate(columns.items())}


def errors(table: dict[str, np.ndarray], truth: ap.PAG, method: str) -> dict[str, int]:
    """The errors of each way."""
    scores = normal_scores(np.column_stack(list(table.values())))
    ways: dict[str, tuple[Any, Any]] = {
        "levels": (table, "discrete"),
        "numbers": (table, "continuous"),
        "normal scores": (dict(zip(table, scores.T, strict=True)), "continuous"),
    }
    found = {}
    for way, (data, kind) in ways.items():
        effort = 0.3 if method == "auto" else 1.0
        learned = ap.learn(data, method=method, kinds=dict.fromkeys(data, kind), effort=effort)
        found[way] = len(ap.metrics.differences(learned, truth.subgraph(learned.pag.names)))
    return found


def main() -> None:
    """Print the mean errors of each way, for tests and for scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 10))
    parser.add_argument("--rows", type=int, default=1000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ap.AnypagWarning)
    print("| method | systems | levels | numbers | normal scores |\n|---|---|---|---|---|")
    for method in ("icd", "auto"):
        rows = []
        for seed in range(*asked.seeds):
            system = ap.simulate.random_system(10, 2.0, seed=seed)
            rows.append(errors(cut(system.linear_gaussian(asked.rows, seed=seed)), system.true_pag(), method))
        means = " | ".join(f"{mean(row[way] for row in rows):.1f}" for way in rows[0])
        print(f"| {method} | {len(rows)} | {means} |", flush=True)


if __name__ == "__main__":
    main()
