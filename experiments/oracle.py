"""Figures 1–3: how many tests, of which sizes, and how much time, with a perfect oracle.

One row for each DAG and variant. `tests` holds the number of distinct tests for the sizes 0, 1, 2, ... of the condition
set, with blanks between; `capped` is 1 where the cap ended the run; `right` is 1 where the graph is the true PAG.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.results import Row, collect
from experiments.runs import run, system_of, test_of, warm_up
from experiments.settings import Settings, Task

SCHEMA = {
    "nodes": pl.Int64,
    "rows": pl.Int64,
    "seed": pl.Int64,
    "variant": pl.String,
    "latent": pl.Int64,
    "capped": pl.Int64,
    "right": pl.Int64,
    "seconds": pl.Float64,
    "tests": pl.String,
}


def collect_rows(settings: Settings, path: Path, *, show: bool = False) -> int:
    """Run what is not in the file yet: one run at a time, so that the times can be compared."""
    warm_up(settings.variants, settings.alpha)
    return collect(settings.tasks(), measure, path, SCHEMA, show=show)


def measure(task: Task) -> list[Row]:
    """The rows of one DAG."""
    system = system_of(task)
    truth, test = system.true_pag(), test_of(task, system)
    rows: list[Row] = []
    for variant in task.variants:
        result = run(variant, test, alpha=task.alpha, cap=task.cap)
        rows.append(
            {
                "nodes": task.nodes,
                "rows": task.rows,
                "seed": task.seed,
                "variant": variant,
                "latent": len(system.latent),
                "capped": int(result.pag is None),
                "right": int(result.pag == truth),
                "seconds": round(result.seconds, 6),
                "tests": " ".join(str(result.tests.get(size, 0)) for size in range(max(result.tests) + 1)),
            }
        )
    return rows


def per_size(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each DAG, variant and size: columns `size` and `count` in place of `tests`."""
    counts = frame.with_columns(count=pl.col("tests").str.split(" ").cast(pl.List(pl.Int64)))
    sizes = counts.with_columns(size=pl.int_ranges(0, pl.col("count").list.len()))
    return sizes.explode("count", "size").drop("tests")


def totals(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each DAG and variant, with the column `total`."""
    return frame.with_columns(total=pl.col("tests").str.split(" ").cast(pl.List(pl.Int64)).list.sum()).drop("tests")
