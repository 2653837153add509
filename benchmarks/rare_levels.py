"""False edges of a column that has a rare level and nothing to do with any other.

    OMP_NUM_THREADS=1 python benchmarks/rare_levels.py [--tables 40] [--rows 600 2000] [--shares 0.01 0.02 0.5]

Two kinds of tables of binary columns: five children of one hidden cause (nine of ten rows as it is), and random
systems of 10 nodes (two neighbours each, half of the possible confounders hidden). Beside them each table has a column
with a given share of ones, drawn on its own. Counted are the tables in which it has an edge, those in which it is
joined to all other columns, and its edges in all tables together; a share of 0.5 is there for comparison. A column
that is constant is drawn again.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import anypag as ap

METHODS = ("icd", "boss", "bayes")
ALONE = "alone"

Columns = dict[str, npt.NDArray[np.int64]]


def children_of_a_cause(rows: int, seed: int) -> Columns:
    """Five columns that agree because of one that is not there."""
    rng = np.random.default_rng(seed)
    cause = rng.integers(0, 2, rows)
    return {f"X{k}": np.where(rng.random(rows) < 0.9, cause, 1 - cause) for k in range(5)}


def columns_of_a_system(rows: int, seed: int) -> Columns:
    """The observed columns of a random system."""
    table = ap.simulate.random_system(10, 2.0, seed=seed).discrete(rows, levels=2, seed=seed)
    return {name: np.asarray(table[name], np.int64) for name in table}


def drawn_alone(rows: int, share: float, seed: int) -> npt.NDArray[np.int64]:
    """A column that depends on nothing."""
    rng = np.random.default_rng([seed, 1])
    while True:
        column = (rng.random(rows) < share).astype(np.int64)
        if 0 < column.sum() < rows:
            return column


def neighbours(table: Columns, method: str) -> int:
    """How many columns the one that stands alone is joined to."""
    pag = ap.learn(table, method=method, test="gsq").pag
    return int((pag.marks[pag.index(ALONE)] != 0).sum())


def cell(tables: list[Columns], method: str) -> str:
    """What a method makes of the tables."""
    found = [neighbours(table, method) for table in tables]
    some = sum(edges > 0 for edges in found)
    every = sum(edges == len(table) - 1 for edges, table in zip(found, tables, strict=True))
    return f"{some} / {every} / {sum(found)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--rows", type=int, nargs="+", default=[600, 2000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.02, 0.5])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds: dict[str, Callable[[int, int], Columns]] = {
        "five children of a hidden cause": children_of_a_cause,
        "random system": columns_of_a_system,
    }
    print(f"{options.tables} tables each: with an edge / with all edges / edges of the column that stands alone\n")
    print(f"| tables | rows | ones | {' | '.join(options.methods)} |")
    print("|---" * (3 + len(options.methods)) + "|")
    for name, make in kinds.items():
        for rows in options.rows:
            for share in options.shares:
                seeds = range(options.tables)
                tables = [make(rows, seed) | {ALONE: drawn_alone(rows, share, seed)} for seed in seeds]
                cells = " | ".join(cell(tables, method) for method in options.methods)
                print(f"| {name} | {rows:,} | {share:.0%} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
