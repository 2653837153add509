"""Where every test costs: tests and errors of ICD with both sides of an edge, with one, and with either sepset.

    python benchmarks/costly.py [classes] [oracles] [data]

First with a perfect oracle: distinct tests per graph, on the generator of the paper (25 systems a row) and on all
classes of four nodes. Then on data: the same Fisher's z, once as it is and once as a function that takes one question
at a time; errors against the true PAG.
"""

from __future__ import annotations

import sys
from typing import get_args

import numpy as np
from certify.algorithms import COSTLY, CostlyOracle, certify

import anypag as ap
from anypag.choices import Sepset

SYSTEMS = 25


def classes() -> None:
    """All classes of four nodes."""
    methods = ("icd", f"icd{COSTLY}", "fci", "fci+", "rfci")
    counts = "   ".join(f"{tally.method} {tally.mean_tests:.2f}" for tally in certify(4, methods))
    print(f"all classes, n = 4: {counts}")


def oracles() -> None:
    """The generator of the paper."""
    for n, rho in ((14, 2.0), (12, 4.0), (20, 2.0), (25, 2.0)):
        systems = [ap.simulate.random_system(n, rho, seed=seed) for seed in range(SYSTEMS)]
        both = np.mean([ap.learn(system.oracle()).n_tests for system in systems])
        one = np.mean([ap.learn(CostlyOracle(system.oracle())).n_tests for system in systems])
        plus = np.mean([ap.learn(system.oracle(), method="fci+").n_tests for system in systems])
        fewer = f"{1 - one / both:.0%} fewer"
        print(f"n = {n}, rho = {rho}: both sides {both:,.0f}, one {one:,.0f} ({fewer}), fci+ {plus:,.0f}", flush=True)


def data() -> None:
    """Errors and tests on 13 nodes, 1,000 rows."""
    systems = [ap.simulate.random_system(13, rho, seed=seed) for rho in (2.0, 3.5) for seed in range(30)]
    for sides in ("both sides", "one side"):
        for sepset in get_args(Sepset):
            errors, tests = [], []
            for seed, system in enumerate(systems):
                test = ap.FisherZ(system.linear_gaussian(1000, seed=seed), singular="keep")
                asked = test if sides == "both sides" else _one_by_one(test)
                result = ap.learn(asked, method="icd", sepset=sepset)
                errors.append(ap.metrics.compare(result.pag, system.true_pag()).errors)
                tests.append(result.n_tests)
            print(f"{sides:<10}, {sepset:<9}: {np.mean(errors):6.2f} errors, {np.mean(tests):8,.0f} tests")


def _one_by_one(test: ap.FisherZ) -> ap.CITest:
    return ap.from_callable(lambda x, y, z: float(test.pvalues(ap.Queries.one(x, y, z))[0]), test.names)


if __name__ == "__main__":
    parts = {part.__name__: part for part in (classes, oracles, data)}
    for name in sys.argv[1:] or parts:
        parts[name]()
