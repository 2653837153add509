"""Make the table of a small cohort study in three waves: baseline, exposure, outcome.

    python examples/cohort.py cohort.csv

The columns are drawn from the graph below. Stress was never measured, and so it is left out of the table.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

WEIGHTS = {
    "age": {},
    "education": {},
    "stress": {},
    "smoking": {"education": -0.7},
    "tar": {"smoking": 0.8},
    "activity": {"age": -0.7, "stress": -0.7},
    "pressure": {"activity": -0.6, "stress": 0.7},
    "infarct": {"tar": 0.7, "pressure": 0.7},
}
"""How strongly each variable depends on its causes; causes come before their effects."""


def cohort(rows: int = 4000, seed: int = 1) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """The columns that were measured."""
    rng = np.random.default_rng(seed)
    columns: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for name, causes in WEIGHTS.items():
        columns[name] = rng.normal(size=rows) + sum(weight * columns[cause] for cause, weight in causes.items())
    return {name: np.round(values, 4) for name, values in columns.items() if name != "stress"}


if __name__ == "__main__":
    pl.DataFrame(cohort()).write_csv(Path(sys.argv[1] if len(sys.argv) > 1 else "cohort.csv"))
