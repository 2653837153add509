"""Make the table the demo learns from: a small study in which the quality of the air was never measured.

    python examples/health.py health.csv [rows=2000] [seed=1]

The demo takes 1,000 rows and seed 3, where tests and scores give different graphs. Of the seeds 1 to 12 with 500, 1,000
and 2,000 rows, they do in 7 of 36 tables; there tests make 15 errors in all, scores 6.

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
    rows, seed = map(int, (*sys.argv[2:], *("2000", "1")[len(sys.argv) - 2 :]))
    sample = ap.simulate.linear_gaussian(CAUSES, rows, latent=UNMEASURED, weights=weights, seed=seed)
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(dict(sample)).write_csv(path, float_precision=4)


if __name__ == "__main__":
    main()
