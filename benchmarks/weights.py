"""How often tests of weighted rows find a dependence that is not in the population, and one that is.

In the population x and y depend on a group, z, and with an edge y depends on x. Rows are drawn with unequal
probabilities, and have the inverse of them as weights:

    alike      weights have nothing to do with the columns
    by x, y    rows with a high x + y are drawn more often: unweighted, x and y look dependent
    by spread  rows with x near 0 are drawn more often: the tails are worth fewer rows than Kish's number says

Each line has the share of p-values of x and y given z below 0.05, without an edge ("false") and with one ("found").

    python benchmarks/weights.py --tables 1000
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from statistics import mean

import numpy as np

import anypag as ap
from anypag.arrays import Floats
from anypag.ci.base import Queries

TESTS = {"fisherz": ap.FisherZ, "mixed": ap.DegenerateGaussian, "chisq": ap.ChiSquared, "gsq": ap.GSquared}
CUT = {"fisherz": "", "mixed": "x", "chisq": "xy", "gsq": "xy"}
"""Which columns are cut into three levels."""
POPULATION, SAMPLE, ALPHA, EDGE = 4000, 600, 0.05, 0.15


def sampled(way: str, edge: float, random: np.random.Generator) -> dict[str, Floats]:
    """Rows that were drawn from a population, and their weights, w."""
    z = random.integers(0, 2, POPULATION).astype(float)
    x, y = random.normal(size=(2, POPULATION)) + 0.6 * (z - 0.5)
    y = y + edge * x
    chance = {
        "alike": np.exp(random.normal(0, 0.7, POPULATION)),
        "by x, y": 1 / (1 + np.exp(-1.5 * (x + y))),
        "by spread": np.exp(-0.5 * x**2),
    }[way]
    chance = np.minimum(chance * SAMPLE / chance.sum(), 1.0)
    drawn = random.random(POPULATION) < chance
    return {"x": x[drawn], "y": y[drawn], "z": z[drawn], "w": 1 / chance[drawn]}


def rejected(test: str, way: str, edge: float, seed: int) -> tuple[bool, bool]:
    """Is p below alpha, unweighted and weighted?"""
    rows = sampled(way, edge, np.random.default_rng(seed))
    rows |= {name: np.digitize(rows[name], [-0.5, 0.5]).astype(float) for name in CUT[test]}
    plain = {name: column for name, column in rows.items() if name != "w"}
    p, weighted = (TESTS[test](data).pvalues(Queries.one(0, 1, [2]))[0] for data in (plain, ap.weighted(rows, "w")))
    return bool(p < ALPHA), bool(weighted < ALPHA)


def main() -> None:
    """Print a line for each test and way of drawing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=100_000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ap.AnypagWarning)
    print("| test | rows drawn | false, unweighted | false | found, unweighted | found |\n|---|---|---|---|---|---|")
    for test, way in product(TESTS, ("alike", "by x, y", "by spread")):
        shares = []
        for edge in (0.0, EDGE):
            found = [rejected(test, way, edge, asked.seed + k) for k in range(asked.tables)]
            shares += [mean(row[i] for row in found) for i in (0, 1)]
        print(f"| {test} | {way} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    main()
