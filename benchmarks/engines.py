"""Tables in an engine: what it costs DuckDB to make the sums and counts that a test needs, by the number of rows.

    python benchmarks/engines.py                 # a million and ten million rows of ten columns
    python benchmarks/engines.py --wide          # 300 columns of 10,000 rows
    python benchmarks/engines.py --rows 1000000
    python benchmarks/engines.py --ranks         # the additive test's rounded ranks against exact ones

Prints a table for docs/scaling.md: seconds of CPU time (of all threads) and on the clock, from a Parquet file that was
read once before; the search itself is not in it, nor are the sums that the additive test asks for as it goes along.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import anypag as ap
from anypag.choices import Choices
from anypag.ci import additive
from anypag.ci.resolve import resolve_test

CHUNK = 100_000
KINDS = ("fisherz", "mixed", "gsq", "additive")


def chunk(kind: str, columns: int, rows: int, seed: int) -> pa.Table:
    """Correlated columns; for "mixed" every third one, for "gsq" all, of three levels."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns)) + 0.5 * rng.normal(size=(rows, 1))
    for i in range(columns):
        if kind == "gsq" or (kind == "mixed" and i % 3 == 0):
            values[:, i] = np.digitize(values[:, i], [-0.5, 0.5])
    return pa.table({f"x{i}": values[:, i] for i in range(columns)})


def write(path: Path, kind: str, columns: int, rows: int) -> None:
    """A file of so many rows; the same ten chunks again and again."""
    drawn = [chunk(kind, columns, min(CHUNK, rows), seed) for seed in range(min(10, -(-rows // CHUNK)))]
    with pq.ParquetWriter(path, drawn[0].schema) as writer:
        for k in range(-(-rows // CHUNK)):
            writer.write_table(drawn[k % len(drawn)])


def measured(path: Path, test: str) -> tuple[float, float, Any]:
    """CPU seconds and seconds of binding the test to the file, and the test."""
    relation = duckdb.connect().read_parquet(str(path))
    cpu, clock = time.process_time(), time.perf_counter()
    bound = resolve_test(relation, Choices(test=test))
    return time.process_time() - cpu, time.perf_counter() - clock, bound


def shaped(kind: str, rows: int, seed: int = 0) -> dict[str, Any]:
    """Seven columns of a random system, of one shape or another."""
    drawn = ap.simulate.random_system(8, 2.0, seed=seed).linear_gaussian(rows, seed=seed)
    columns = np.array([drawn[name] for name in drawn.names])
    columns /= columns.std(axis=1)[:, None]
    noise = np.random.default_rng(seed).normal(size=columns.shape)
    shapes: dict[str, Callable[[Any], Any]] = {
        "straight": lambda c: c,
        "curved": lambda c: c[[0, 1, 2, 0, 1, 2, 3]] ** 2 + np.tanh(c) + 0.5 * noise,
        "steep and far": lambda c: np.where(np.arange(len(c))[:, None] % 2, np.exp(2 * c), np.tan(1.5 * np.tanh(c))),
        "ties": lambda c: np.round(4 * c),
        "half levels": lambda c: np.where(np.arange(len(c))[:, None] % 2, np.digitize(c, [-0.5, 0.5]), c),
    }
    return dict(zip(drawn.names, shapes[kind](columns), strict=True))


def compared(kind: str, rows: int, folder: Path) -> str:
    """How far p-values of the additive test in an engine are from those in memory, and is the graph the same?"""
    table, path = shaped(kind, rows), folder / "table.parquet"
    pq.write_table(pa.table(table), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = ap.learn(table, test="additive")
        there = ap.learn(duckdb.connect().read_parquet(str(path)), test="additive")
    rng, far, near = np.random.default_rng(0), [], []
    for r in range(5):
        picks = rng.random((200, len(table))).argsort(axis=1)[:, : r + 2]
        asked = ap.Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
        one, other = (result.problem.bound_test.pvalues(asked) for result in (here, there))
        differences = np.abs(one - other)[np.maximum(one, other) > 1e-6]
        far.append(differences.max(initial=0.0))
        near += differences.tolist()
    by_size = ", ".join(f"{value:.3f}" for value in far)
    same = "yes" if here.pag == there.pag else "no"
    return f"| {kind} | {rows:,} | {by_size} | {np.median(near):.4f} | {same} |"


def ranks(sizes: Sequence[int]) -> None:
    """A table of differences."""
    additive.MOST_RANKED = 0
    print("| table | rows | largest difference of p, 0 to 4 in z | median | same graph |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("straight", "curved", "steep and far", "ties", "half levels"):
            for rows in sizes:
                print(compared(kind, rows, Path(folder)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--ranks", action="store_true")
    asked = parser.parse_args()
    if asked.ranks:
        ranks([20_000, 200_000])
        return
    columns, sizes = (300, [10_000]) if asked.wide else (10, asked.rows)
    print("| test | rows | columns | file, MB | CPU, s | clock, s |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS[: 1 if asked.wide else None]:
            for rows in sizes:
                path = Path(folder) / "table.parquet"
                write(path, kind, columns, rows)
                cpu, clock, test = min(
                    (measured(path, kind) for _ in range(1 if asked.wide else 2)), key=lambda m: m[0]
                )
                assert test.n == rows
                size = path.stat().st_size / 1e6
                print(f"| {kind} | {rows:,} | {columns} | {size:,.0f} | {cpu:.1f} | {clock:.1f} |", flush=True)


if __name__ == "__main__":
    main()
