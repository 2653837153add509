"""Figures 4 and 5, and the structural errors: the number of tests, and what is wrong with the graph, on data.

One row for each DAG and variant: the number of distinct tests, extra edges, missing edges, wrong marks. A run that was
ended by the cap (`capped` is 1) has no final graph and no errors. With 0 rows the test is the perfect oracle.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

import anypag as ap
from experiments.results import Row, collect
from experiments.runs import run, system_of, test_of
from experiments.settings import Settings, Task

SCHEMA = {
    "nodes": pl.Int64,
    "rows": pl.Int64,
    "seed": pl.Int64,
    "variant": pl.String,
    "tests": pl.Int64,
    "capped": pl.Int64,
    "extra": pl.Int64,
    "missing": pl.Int64,
    "marks": pl.Int64,
}


def collect_rows(settings: Settings, path: Path, *, jobs: int = 1, show: bool = False) -> int:
    """Run what is not in the file yet."""
    return collect(settings.tasks(), measure, path, SCHEMA, jobs=jobs, show=show)


def measure(task: Task) -> list[Row]:
    """The rows of one DAG and its data."""
    system = system_of(task)
    truth, test = system.true_pag(), test_of(task, system)
    rows: list[Row] = []
    for variant in task.variants:
        result = run(variant, test, alpha=task.alpha, cap=task.cap)
        extra, missing, marks = _errors(result.pag, truth)
        rows.append(
            {
                "nodes": task.nodes,
                "rows": task.rows,
                "seed": task.seed,
                "variant": variant,
                "tests": result.n_tests,
                "capped": int(result.pag is None),
                "extra": extra,
                "missing": missing,
                "marks": marks,
            }
        )
    return rows


def _errors(pag: ap.PAG | None, truth: ap.PAG) -> tuple[int | None, int | None, int | None]:
    if pag is None:
        return None, None, None
    errors = ap.metrics.compare(pag, truth)
    return errors.extra_edges, errors.missing_edges, errors.wrong_marks
