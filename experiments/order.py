"""The order of the columns: the DAGs and data of `samples` again, with the columns shuffled.

Simulated columns come causes first. A search that tries condition sets in the order of the columns then tries causes
first, which no table of the world lets it do. The rows are made as those of `samples`, which are the causal order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from experiments import stats
from experiments.results import KEY
from experiments.settings import Columns

KINDS = ("extra", "missing", "marks", "total")
ORDERS: tuple[Columns, ...] = ("causal", "shuffled")


def both_orders(causal: pl.DataFrame, shuffled: pl.DataFrame) -> pl.DataFrame:
    """The runs that were made in both orders of `columns`, on the DAGs on which none was capped; `total` errors."""
    frames = [causal.join(shuffled, on=KEY, how="semi"), shuffled.join(causal, on=KEY, how="semi")]
    named = [frame.with_columns(columns=pl.lit(order)) for frame, order in zip(frames, ORDERS, strict=True)]
    together = stats.finished(pl.concat(named))
    return together.with_columns(total=pl.col("extra") + pl.col("missing") + pl.col("marks"))


def mean_errors(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each number of nodes and rows and variant: mean errors in each order, as `extra_causal`, ..."""
    key = ["nodes", "rows", "variant"]
    each = [
        stats.mean_errors(frame.filter(columns=columns)).select(*key, pl.col(KINDS).name.suffix(f"_{columns}"))
        for columns in ORDERS
    ]
    return each[0].join(each[1], on=key).sort(key)


def error_ratio(frame: pl.DataFrame, icd: str, rows: int, columns: Columns, n_bootstrap: int = 1000) -> stats.Ratio:
    """All errors of FCI divided by all errors of this variant, in one order of the columns."""
    fcis, icds = (_totals(frame, name, rows, columns) for name in ("fci", icd))
    draws = np.random.default_rng(rows).integers(0, len(fcis), (n_bootstrap, len(fcis)))
    draws = draws[icds[draws].any(axis=1)]  # of few DAGs it can happen that only faultless graphs are drawn
    again = fcis[draws].sum(axis=1) / icds[draws].sum(axis=1)
    low, high = np.quantile(again, [0.025, 0.975])
    return stats.Ratio(float(fcis.sum() / icds.sum()), float(low), float(high))


def unmoved(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """For each variant, on how many DAGs tests and errors are the same in both orders, and of how many."""
    n_ways = pl.struct("tests", *KINDS).n_unique()
    each = frame.group_by("variant", "nodes", "rows", "seed").agg(is_same=n_ways == 1)
    counts = each.group_by("variant").agg(pl.col("is_same").sum(), dags=pl.len()).sort("variant")
    return {variant: (same, dags) for variant, same, dags in counts.iter_rows()}


def _totals(frame: pl.DataFrame, variant: str, rows: int, columns: Columns) -> npt.NDArray[np.int64]:
    return frame.filter(variant=variant, rows=rows, columns=columns).sort("nodes", "seed")["total"].to_numpy()
