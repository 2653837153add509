"""Where `icd` and `bayes` say the same of two variables, and which is right where they do not.

    OMP_NUM_THREADS=1 python benchmarks/agreement.py [--systems 40]

Systems of 12 nodes (half of the possible confounders hidden). Looked at are the pairs that one of three graphs joins:
the true PAG, that of `icd` and that of `bayes`. A graph is right about a pair if it joins it as the truth does, marks
included, or does not as the truth does not. "sure" are pairs of which `bayes` says what it says with 0.8 or more.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import anypag as ap
from curves import SHAPES, table_of

SURE = 0.8

Maker = Callable[[ap.simulate.System, int], Any]

BENT = SHAPES["x + 0.7 (x² - 1)"]

CELLS: dict[str, tuple[float, Maker, dict[str, Any]]] = {
    "linear, 200 rows": (2.0, lambda system, seed: system.linear_gaussian(200, seed=seed), {}),
    "linear, 1,000 rows": (2.0, lambda system, seed: system.linear_gaussian(1000, seed=seed), {}),
    "linear, 1,000 rows, three neighbours": (3.0, lambda system, seed: system.linear_gaussian(1000, seed=seed), {}),
    "linear, 10,000 rows": (2.0, lambda system, seed: system.linear_gaussian(10_000, seed=seed), {}),
    "three levels, 2,000 rows": (2.0, lambda system, seed: system.discrete(2000, levels=3, seed=seed), {}),
    "curved, 1,000 rows": (2.0, lambda system, seed: table_of(system, BENT, 1000, seed), {}),
    "curved, `additive`": (2.0, lambda system, seed: table_of(system, BENT, 1000, seed), {"test": "additive"}),
}


def symbol_of(pag: ap.PAG, a: str, b: str) -> str:
    """How two variables are joined; empty where they are not."""
    edge = pag.edge(a, b)
    return "" if edge is None else edge.symbol


def counted(system: ap.simulate.System, data: Any, options: dict[str, Any]) -> Counter[str]:
    """What the two methods say of the pairs of a table, and who is right."""
    truth, by_tests = system.true_pag(), ap.learn(data, method="icd", **options)
    by_score = ap.learn(data, method="bayes", **options)
    said, found = by_score.probabilities, Counter[str]()
    assert said is not None
    for a, b in combinations(truth.names, 2):
        true, icd, bayes = (symbol_of(pag, a, b) for pag in (truth, by_tests.pag, by_score.pag))
        if true or icd or bayes:
            case = "same" if icd == bayes else "sure" if said.of_edge(a, b, bayes) >= SURE else "unsure"
            found += Counter({case: 1, f"{case}, icd": icd == true, f"{case}, bayes": bayes == true})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| tables | both say the same: right | they differ, `bayes` sure: it / `icd` right | not sure: it / `icd` |")
    print("|---|---|---|---|")
    for name, (neighbours, make, choices) in CELLS.items():
        found = Counter[str]()
        for seed in range(options.systems):
            system = ap.simulate.random_system(12, neighbours, seed=seed)
            found += counted(system, make(system, seed), choices)
        differ = [
            f"{found[f'{case}, bayes']} / {found[f'{case}, icd']} of {found[case]}" for case in ("sure", "unsure")
        ]
        print(f"| {name} | {found['same, icd']} of {found['same']} | {' | '.join(differ)} |", flush=True)


if __name__ == "__main__":
    main()
