"""Tables in an engine: what it costs DuckDB to make the sums and counts that a test needs, by the number of rows.

    python benchmarks/engines.py                 # a million and ten million rows of ten columns
    python benchmarks/engines.py --wide          # 300 columns of 10,000 rows
    python benchmarks/engines.py --rows 1000000

Prints a table for docs/scaling.md: seconds of CPU time (of all threads) and on the clock, from a Parquet file that was
read once before; the search itself is not in it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from anypag.choices import Choices
from anypag.ci.resolve import resolve_test

CHUNK = 100_000
KINDS = ("fisherz", "mixed", "gsq")


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
    bound = resolve_test(relation, Choices(method="icd", test=test))
    return time.process_time() - cpu, time.perf_counter() - clock, bound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--wide", action="store_true")
    asked = parser.parse_args()
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
