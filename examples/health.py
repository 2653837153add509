"""Make the table the demo learns from: a small study in which the quality of the air was never measured.

    python examples/health.py health.csv

The columns are drawn from the graph below; `air` is then left out, as it would be from a real study.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

import anypag as ap

CAUSES = ap.DAG.from_string("""
    workload --> stress
    stress --> smoking
    income --> smoking
    smoking --> tar
    tar --> cancer
    asbestos --> cancer
    tar --> cough
    air --> cough
    air --> asthma
    pollen --> asthma
""")
UNMEASURED = ("air",)


def main() -> None:
    weights = np.where(CAUSES.adjacency, 0.8, 0.0)
    weights[CAUSES.index("income"), CAUSES.index("smoking")] = -0.7
    sample = ap.simulate.linear_gaussian(CAUSES, 2000, latent=UNMEASURED, weights=weights, seed=1)
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(dict(sample)).write_csv(path, float_precision=4)


if __name__ == "__main__":
    main()
