"""Numbers from result rows: what the figures show and the claims are held against. Nothing is run here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy.stats

from experiments.oracle import per_size, totals

Counts = npt.NDArray[np.int64]


class Ratio(NamedTuple):
    """A ratio, and the interval that holds 95 % of its values when the DAGs are drawn again (bootstrap)."""

    value: float
    low: float
    high: float


def growth(frame: pl.DataFrame) -> pl.DataFrame:
    """Oracle runs: `nodes`, `variant`, mean `total`, how many were `capped` (counted at the cap), how many `dags`."""
    return (
        totals(frame)
        .group_by("nodes", "variant")
        .agg(pl.col("total").mean(), pl.col("capped").sum(), dags=pl.len())
        .sort("nodes", "variant")
    )


def side_by_side(frame: pl.DataFrame, icd: str) -> pl.DataFrame:
    """Oracle runs, one row for each DAG: tests and seconds of FCI and of this variant."""
    columns = ("nodes", "seed", "total", "seconds", "capped")
    left, right = (totals(frame).filter(variant=name).select(columns) for name in ("fci", icd))
    return left.join(right, on=["nodes", "seed"], suffix="_icd").sort("nodes", "seed")


def mean_per_size(frame: pl.DataFrame) -> pl.DataFrame:
    """Oracle runs: mean `count` for `nodes`, `variant`, `size`; a DAG without tests of a size counts as 0."""
    dags = frame.group_by("nodes", "variant").agg(dags=pl.len())
    sums = per_size(frame).group_by("nodes", "variant", "size").agg(pl.col("count").sum())
    return (
        sums.join(dags, on=["nodes", "variant"])
        .with_columns(count=pl.col("count") / pl.col("dags"))
        .drop("dags")
        .sort("nodes", "variant", "size")
    )


def ratios_per_size(frame: pl.DataFrame, icd: str) -> pl.DataFrame:
    """Oracle runs: for every DAG and size that both have tests of, the `ratio` FCI / this variant."""
    counts = per_size(frame).filter(pl.col("count") > 0).select("nodes", "seed", "variant", "size", "count")
    left, right = (counts.filter(variant=name).drop("variant") for name in ("fci", icd))
    both = left.join(right, on=["nodes", "seed", "size"], suffix="_icd")
    return both.with_columns(ratio=pl.col("count") / pl.col("count_icd")).sort("nodes", "seed", "size")


def rank_correlation(x: pl.Series, y: pl.Series) -> float:
    """Spearman's: 1 if y only grows with x; 0 where one of them is constant."""
    if x.n_unique() < 2 or y.n_unique() < 2:
        return 0.0
    return float(scipy.stats.spearmanr(x.to_numpy(), y.to_numpy()).statistic)


def counts(frame: pl.DataFrame, variant: str, rows: int) -> Counts:
    """Data runs: the number of tests for each DAG, in the order of the seeds."""
    chosen = frame.filter(pl.col("variant") == variant, pl.col("rows") == rows).sort("seed")
    return chosen["tests"].to_numpy()


def t_prime(tests: Counts, share: float = 0.9) -> float:
    """The smallest t with F(t) ≥ 0.9 for the empirical distribution F of the number of tests."""
    return float(np.quantile(tests, share, method="inverted_cdf"))


def ratio_at_90(frame: pl.DataFrame, fci: str, icd: str, rows: int, n_bootstrap: int = 1000) -> Ratio:
    """t′ of FCI divided by t′ of ICD."""
    fcis, icds = counts(frame, fci, rows), counts(frame, icd, rows)
    random = np.random.default_rng(rows)
    draws = random.integers(0, len(fcis), (n_bootstrap, len(fcis)))
    again = [t_prime(fcis[draw]) / t_prime(icds[draw]) for draw in draws]
    low, high = np.quantile(again, [0.025, 0.975])
    return Ratio(t_prime(fcis) / t_prime(icds), float(low), float(high))


def kolmogorov_smirnov(frame: pl.DataFrame, icd: str, rows: int) -> tuple[float, float]:
    """The two-sample statistic and p-value of the numbers of tests of FCI and ICD."""
    answer = scipy.stats.ks_2samp(counts(frame, "fci", rows), counts(frame, icd, rows))
    return float(answer.statistic), float(answer.pvalue)


def finished(frame: pl.DataFrame) -> pl.DataFrame:
    """The runs on the DAGs on which no variant was capped: sizes and graphs can be compared on those."""
    return frame.filter((pl.col("capped").max() == 0).over("nodes", "rows", "seed"))


def mean_errors(frame: pl.DataFrame) -> pl.DataFrame:
    """Data runs: mean `extra`, `missing`, `marks` and their `total`, mean `tests`, over the finished DAGs."""
    means = [pl.col(name).mean() for name in ("extra", "missing", "marks", "tests")]
    return (
        finished(frame)
        .group_by("nodes", "rows", "variant")
        .agg(*means, dags=pl.len())
        .with_columns(total=pl.col("extra") + pl.col("missing") + pl.col("marks"))
        .sort("nodes", "rows", "variant")
    )


def errors_beside_fci(frame: pl.DataFrame, icd: str, fci: str = "fci") -> pl.DataFrame:
    """`mean_errors` of this variant (`_icd`) and of FCI, one row for each number of nodes and rows."""
    means = mean_errors(frame)
    left, right = (means.filter(variant=name).drop("variant") for name in (fci, icd))
    return left.join(right, on=["nodes", "rows"], suffix="_icd").sort("nodes", "rows")
