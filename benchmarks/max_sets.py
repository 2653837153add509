"""What the limit on condition sets costs in errors: the rule as it is, flat limits, and no limit.

    python benchmarks/max_sets.py [DATA]      # DATA as for benchmarks/grid.py; dense systems of 100 nodes always

Errors are extra edges / missing edges / wrong marks on shared edges = their sum, in the mean; then the difference to
the rule as it is, in pairs, with its standard error; median CPU seconds with everything compiled. A search that takes
longer than `SECONDS` gives the graph of its last finished iteration, and is counted as cut short.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.search.by_tests import icd
from grid import errors, marks_of

os.environ.setdefault("ANYPAG_PATIENCE", "0")

NO_LIMIT = 10**12
SECONDS = 60.0
KINDS = ("strong", "weak", "conf", "sel")
SIZES = (15, 35)
DENSE = (3.0, 4.0, 6.0)
SYSTEMS = 5
ROWS = 2000


class Rule(NamedTuple):
    """A limit, and how many times it holds for sets of one and two nodes."""

    max_sets: int
    early: int


RULES = {
    "as it is": Rule(1000, icd.EARLY_SETS),
    "1,000": Rule(1000, 1),
    "10,000": Rule(10_000, 1),
    "none": Rule(NO_LIMIT, 1),
}


class Found(NamedTuple):
    """What one search found."""

    errors: tuple[int, int, int]
    seconds: float
    is_cut: bool


class Case(NamedTuple):
    """A table and its true marks."""

    data: Any
    truth: npt.NDArray[np.uint8]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a folder of tables with their truth")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"| systems | {' | '.join(RULES)} |\n|---|{'---|' * len(RULES)}")
    for label, cases in [*(grid_cases(options.data) if options.data else ()), *dense_cases()]:
        print(table_row(label, cases()), flush=True)


def grid_cases(folder: Path) -> Iterator[tuple[str, Callable[[], Iterator[Case]]]]:
    """The Gaussian tables of a folder, by their number of nodes."""
    for n in SIZES:
        paths = sorted(path for kind in KINDS for path in folder.glob(f"{kind}_n{n}_*.csv"))
        yield f"{n} variables, {len(paths)} tables", lambda paths=paths: map(read, paths)  # type: ignore[misc]


def read(path: Path) -> Case:
    """A table of the grid."""
    info = json.loads(path.with_suffix(".json").read_text())
    return Case(path, marks_of(info["truth"], info["observed"]))


def dense_cases() -> Iterator[tuple[str, Callable[[], Iterator[Case]]]]:
    """Systems of 100 nodes with many neighbours each."""
    for rho in DENSE:
        label = f"100 nodes, {rho:g} neighbours, {ROWS:,} rows, {SYSTEMS} systems"
        yield label, lambda rho=rho: (dense(rho, seed) for seed in range(7, 7 + SYSTEMS))  # type: ignore[misc]


def dense(rho: float, seed: int) -> Case:
    """One of them."""
    system = ap.simulate.random_system(100, rho, seed=seed)
    sample = system.linear_gaussian(ROWS, seed=seed)
    return Case(sample, system.true_pag().subgraph(sample.names).marks)


def table_row(label: str, cases: Iterator[Case]) -> str:
    """What every rule makes of the same cases."""
    found = [{name: learned(case, rule) for name, rule in RULES.items()} for case in cases]
    return f"| {label} | {' | '.join(cell(name, found) for name in RULES)} |"


def learned(case: Case, rule: Rule) -> Found:
    """One search, compared with the truth."""
    icd.EARLY_SETS = rule.early
    began = time.process_time()
    result = ap.learn(case.data, method="icd", max_sets=rule.max_sets, time_budget=SECONDS)
    return Found(errors(result.pag.marks, case.truth), time.process_time() - began, not result.complete)


def cell(name: str, found: Sequence[Mapping[str, Found]]) -> str:
    """Mean errors, the difference to the rule as it is, seconds."""
    counts = np.array([row[name].errors for row in found], float)
    gap = (counts - np.array([row["as it is"].errors for row in found], float)).sum(axis=1)
    extra, missing, wrong = counts.mean(axis=0)
    spread = gap.std(ddof=1) / np.sqrt(len(gap))
    difference = "" if name == "as it is" else f" ({gap.mean():+.2f} ± {spread:.2f})"
    seconds = np.median([row[name].seconds for row in found])
    n_cut = sum(row[name].is_cut for row in found)
    cut = f", {n_cut} cut short" if n_cut else ""
    return (
        f"{extra:.1f} / {missing:.1f} / {wrong:.1f} = {counts.sum(axis=1).mean():.1f}{difference}, {seconds:.3f} s{cut}"
    )


if __name__ == "__main__":
    main()
