"""A process with little memory learns from a Parquet file that would not fit: `python limited.py FILE MEGABYTES TEST`.

Everything is loaded and compiled first, on a small table; then the address space may grow by so many megabytes only. A
table of the file's size is asked for, and must be refused; then the graph is learned inside DuckDB.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import duckdb
import numpy as np

import anypag as ap

CONNECTION = duckdb.connect(config={"memory_limit": "40MB", "threads": "1"})
"""Opened before the limit: a connection of its own takes some 64 MB of addresses, most of which it never uses."""


def relation(path: Path, rows: int | None = None) -> duckdb.DuckDBPyRelation:
    found = CONNECTION.read_parquet(str(path))
    return found if rows is None else found.limit(rows)


def size_now() -> int:
    """The address space of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def main(path: Path, extra: int, test: str) -> None:
    ap.learn(relation(path, 2000), test=test, max_r=1)
    most = size_now() + extra * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    whole = relation(path)
    rows, columns = whole.count("*").fetchall()[0][0], len(whole.columns)
    try:
        np.ones((rows, columns))
    except MemoryError:
        fits = False
    else:
        fits = True
    result = ap.learn(whole, test=test, max_r=1)
    x, y = np.triu_indices(columns, 1)
    pvalues = result.problem.bound_test.pvalues(ap.Queries(x, y, np.empty((len(x), 0))))
    told = {"fits": fits, "edges": str(result.pag), "rows": rows, "test": result.test_name, "p": pvalues.tolist()}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
