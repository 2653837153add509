"""What more effort buys: errors made, errors expected and seconds of `method="bayes"` for several values of `effort`.

    python benchmarks/effort.py DATA [--efforts 0.1 0.3 1 3] [--sets 3] [--only "*_n15_*"]

DATA is a folder as `grid.py` wants it. The first sets of every cell whose data are continuous are learned from with
every effort, so the rows of the table are about the same data; `difference` is that to an effort of 1, in pairs, with
its standard error. Seconds are CPU time with everything compiled, the median and the longest.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import anypag as ap
from grid import errors, truth_of, warm_up

USUAL = 1.0
"""The effort that the others are compared with."""


class Row(NamedTuple):
    """One table."""

    errors: int
    valid: bool
    expected: float
    seconds: float


def learned(path: Path, effort: float) -> Row:
    """Learn from one table, and compare."""
    began = time.process_time()
    result = ap.learn(path.with_suffix(".csv"), method="bayes", effort=effort)
    seconds = time.process_time() - began
    assert result.posterior is not None
    truth, _ = truth_of(json.loads(path.with_suffix(".json").read_text()), result.pag.names)
    made = sum(errors(result.pag.marks, truth))
    return Row(made, bool(result.pag.validate()), result.posterior.expected_errors or 0.0, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--efforts", type=float, nargs="+", default=[0.1, 0.3, 1.0, 3.0])
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--only", default="*")
    options = parser.parse_args()
    names = list(first_of_each_cell(options.data, options.only, options.sets))
    warm_up()
    rows: dict[float, list[Row]] = {effort: [] for effort in options.efforts}
    for name in names:
        for effort in options.efforts:  # in turn, so that a busy machine is busy for all of them
            rows[effort].append(learned(options.data / name, effort))
    tell(rows)


def first_of_each_cell(data: Path, only: str, sets: int) -> Iterator[str]:
    """The data sets with the smallest seeds, without tables of counts, whose search is another one."""
    seen: dict[str, int] = {}
    for path in sorted(data.glob("*.csv")):
        cell = path.stem.rsplit("_s", 1)[0]
        if fnmatch.fnmatch(path.stem, only) and not cell.startswith("disc"):
            seen[cell] = seen.get(cell, 0) + 1
            if seen[cell] <= sets:
                yield path.stem


def tell(rows: dict[float, list[Row]]) -> None:
    print("| effort | sets | errors | difference | expected | valid | exact | seconds | longest |")
    print("|---|---|---|---|---|---|---|---|---|")
    usual = [row.errors for row in rows.get(USUAL, [])]
    for effort, mine in rows.items():
        gap = np.subtract([row.errors for row in mine], usual or np.nan)
        seconds = [row.seconds for row in mine]
        print(
            f"| {effort:g} | {len(mine)} | {np.mean([row.errors for row in mine]):.1f} | "
            f"{gap.mean():+.2f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.2f} | "
            f"{np.mean([row.expected for row in mine]):.1f} | {np.mean([row.valid for row in mine]):.2f} | "
            f"{np.mean([row.errors == 0 for row in mine]):.2f} | {np.median(seconds):.2f} | {max(seconds):.1f} |"
        )


if __name__ == "__main__":
    main()
