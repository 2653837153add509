"""Errors on data with known truth, cell by cell, beside the graphs of another tool on the same files.

    python benchmarks/grid.py DATA [--peers PEERS.json.gz] [--method bayes] [--effort 1] [--only GLOB] [--out ROWS.csv]

DATA is a folder of NAME.csv (a table) and NAME.json (`{"truth": [[i, j, mark at i, mark at j], ...]}`), where NAME is
KIND_nNN_rRR_NNNNN_sSEED; a cell is all but the seed. PEERS holds `{NAME: {tool: {"edges": [...]}}}`. Errors are extra
edges, missing edges and wrong marks on shared edges. Differences are taken in pairs, with standard errors over the
graphs of a cell. Seconds are CPU time with everything compiled. For methods with probabilities a second table says how
many of the marks said with a probability were right.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import anypag as ap

MARKS = {"o": 1, ">": 2, "-": 3}
TOOL = "Tetrad FCIT"
BINS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001)


@dataclass(frozen=True)
class Row:
    """One data set."""

    name: str
    errors: int
    extra: int
    missing: int
    peer: int | None
    valid: bool
    expected: float | None
    seconds: float

    @property
    def cell(self) -> str:
        """All that its data sets share."""
        return self.name.rsplit("_s", 1)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--method", default="bayes")
    parser.add_argument("--effort", type=float, default=1.0)
    parser.add_argument("--only", default="*")
    parser.add_argument("--out", type=Path, help="keep the rows; those that are there are not learned again")
    options = parser.parse_args()
    peers = json.loads(gzip.decompress(options.peers.read_bytes())) if options.peers else {}
    rows = list(kept_rows(options.out)) if options.out else []
    said = np.zeros((2, len(BINS) - 1))
    names = sorted(path.stem for path in options.data.glob("*.csv") if fnmatch.fnmatch(path.stem, options.only))
    warm_up(options.method)
    for name in names:
        if name not in {row.name for row in rows}:
            rows.append(learned(options.data / name, peers.get(name, {}), options.method, options.effort, said))
            if options.out:
                keep(options.out, rows)
    tell([row for row in rows if row.name in set(names)], said)


def warm_up(method: str) -> None:
    """Compile what will be timed."""
    rng = np.random.default_rng(0)
    ap.learn(rng.normal(size=(50, 4)), method=method)
    ap.learn(rng.integers(0, 2, size=(50, 4)), method=method)


def learned(path: Path, peer: dict[str, Any], method: str, effort: float, said: npt.NDArray[np.float64]) -> Row:
    """Learn from one data set, and compare."""
    info = json.loads(path.with_suffix(".json").read_text())
    more: dict[str, Any] = {"test": "gsq"} if info["kind"] == "disc" else {}
    if method in {"bayes", "boss"}:
        more["effort"] = effort
    began = time.process_time()
    result = ap.learn(path.with_suffix(".csv"), method=method, **more)
    seconds = time.process_time() - began
    truth = marks_of(info["truth"], len(result.pag))
    extra, missing, wrong = errors(result.pag.marks, truth)
    edges = peer.get(TOOL, {}).get("edges")
    posterior = result.posterior
    if posterior is not None:
        count_said(said, posterior.shares, result.pag.marks, truth)
    return Row(
        path.name,
        extra + missing + wrong,
        extra,
        missing,
        None if edges is None else sum(errors(marks_of(edges, len(truth)), truth)),
        bool(result.pag.validate()),
        None if posterior is None else round(posterior.expected_errors, 3),
        round(seconds, 3),
    )


def marks_of(edges: list[list[Any]], n: int) -> npt.NDArray[np.uint8]:
    marks = np.zeros((n, n), np.uint8)
    for i, j, at_i, at_j in edges:
        marks[i, j], marks[j, i] = MARKS[at_j], MARKS[at_i]
    return marks


def errors(learned: npt.NDArray[np.uint8], truth: npt.NDArray[np.uint8]) -> tuple[int, int, int]:
    has, should = learned != 0, truth != 0
    wrong = int((has & should & (learned != truth)).sum())
    return int((has & ~should).sum()) // 2, int((should & ~has).sum()) // 2, wrong


def count_said(said: npt.NDArray[np.float64], shares: Any, marks: Any, truth: Any) -> None:
    """Marks of the answer by the probability they are said with, and how many of them are right."""
    for i, j in np.argwhere(marks != 0):
        k = np.searchsorted(BINS, shares[marks[i, j], i, j], side="right") - 1
        said[:, k] += 1, marks[i, j] == truth[i, j]


def tell(rows: list[Row], said: npt.NDArray[np.float64]) -> None:
    print("| cell | sets | errors | FCIT | difference | ratio | extra / missing | expected | valid | exact | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    ratios = []
    for cell in sorted({row.cell for row in rows}):
        mine = [row for row in rows if row.cell == cell]
        both = [(row.errors, row.peer) for row in mine if row.peer is not None]
        ratio = np.mean([a for a, _ in both]) / np.mean([b for _, b in both]) if both else np.nan
        ratios.append(float(ratio))
        print(table_row(cell, mine, both, float(ratio)))
    print(f"\nmean ratio over cells {np.nanmean(ratios):.3f}, below 1 in {sum(r < 1 for r in ratios)} of {len(ratios)}")
    if said.sum():
        print("\n| said | marks | right |\n|---|---|---|")
        for k, (low, high) in enumerate(pairwise(BINS)):
            if said[0, k]:
                print(f"| {low:.2f}–{min(high, 1):.2f} | {said[0, k]:.0f} | {said[1, k] / said[0, k]:.2f} |")


def table_row(cell: str, mine: list[Row], both: list[tuple[int, int]], ratio: float) -> str:
    gap = np.array([a - b for a, b in both], float)
    spread = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else np.nan
    mean = {item.name: np.mean([getattr(row, item.name) or 0 for row in mine]) for item in fields(Row)[1:]}
    peer = np.mean([b for _, b in both]) if both else np.nan
    exact = np.mean([row.errors == 0 for row in mine])
    return (
        f"| {cell} | {len(mine)} | {mean['errors']:.1f} | {peer:.1f} | "
        f"{gap.mean() if len(gap) else np.nan:+.1f} ± {spread:.1f} | {ratio:.2f} | "
        f"{mean['extra']:.1f} / {mean['missing']:.1f} | {mean['expected']:.1f} | {mean['valid']:.2f} | "
        f"{exact:.2f} | {mean['seconds']:.2f} |"
    )


def keep(path: Path, rows: list[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [item.name for item in fields(Row)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def kept_rows(path: Path) -> Iterator[Row]:
    if not path.exists():
        return
    with path.open() as file:
        for row in csv.DictReader(file):
            counts = {name: int(row[name]) for name in ("errors", "extra", "missing")}
            peer, expected = row["peer"], row["expected"]
            yield Row(
                name=row["name"],
                peer=int(peer) if peer else None,
                valid=row["valid"] == "True",
                expected=float(expected) if expected else None,
                seconds=float(row["seconds"]),
                **counts,
            )


if __name__ == "__main__":
    main()
