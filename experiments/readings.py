"""What the paper leaves open: every reading of FCI against every reading of ICD, and which pair comes closest.

The rows are made as those of `samples`, for the variants that `variants` calls readings. A pair of readings is judged
by the four ratios of Figure 4: the mean of |ln(ours / the paper's)|, 0 if they agree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import polars as pl

from experiments import stats
from experiments.claims import CLOSE, PAPER_FEWER_MISSING, PAPER_RATIOS

FCIS = ("fci", "fci-original", "fci-path", "fci-path-original", "anytime-fci", "rfci")


class Pair(NamedTuple):
    """One reading of FCI and one of ICD: what Figure 4 and the text on errors would then show."""

    fci: str
    icd: str
    ratios: dict[int, float]
    """t′ of FCI / t′ of ICD, by number of rows."""
    distance: float
    """Of these ratios from the paper's."""
    fewer_missing: float
    """The largest share of FCI's missing edges that ICD does not miss."""
    more_extra: float
    more_marks: float
    """Where they differ most: mean extra edges, or wrong marks, of ICD less those of FCI."""
    least_error_ratio: float
    """FCI's errors / ICD's, where it is least."""
    errors_as_said: bool
    """All that the text says of errors holds."""


def pairs(frame: pl.DataFrame) -> list[Pair]:
    """All pairs, the closest first."""
    names = frame["variant"].unique(maintain_order=True)
    icds = [name for name in names if name not in FCIS]
    found = [_pair(frame, fci, icd) for fci in FCIS if fci in names for icd in icds]
    return sorted(found, key=lambda pair: pair.distance)


def as_close_as_the_closest(frame: pl.DataFrame, ranked: list[Pair], n_bootstrap: int = 200) -> list[Pair]:
    """The pairs that so many DAGs cannot tell from the closest one.

    The distance of the closest pair is computed again for DAGs drawn from these with replacement; pairs are as close if
    their distance is below 97.5 % of those values.
    """
    random = np.random.default_rng(0)
    best = ranked[0]
    tests = {rows: [stats.counts(frame, name, rows) for name in (best.fci, best.icd)] for rows in PAPER_RATIOS}
    again = []
    for _ in range(n_bootstrap):
        draws = {rows: random.integers(0, len(both[0]), len(both[0])) for rows, both in tests.items()}
        t_primes = {rows: [stats.t_prime(one[draws[rows]]) for one in both] for rows, both in tests.items()}
        again.append(_distance({rows: fci / icd for rows, (fci, icd) in t_primes.items()}))
    limit = float(np.quantile(again, 0.975))
    return [pair for pair in ranked if pair.distance <= max(limit, best.distance)]


def errors_of(frame: pl.DataFrame) -> pl.DataFrame:
    """For each reading, over 100 to 1,000 rows: mean errors; beside them mean tests with the perfect oracle."""
    means = stats.mean_errors(frame)
    on_data = means.filter(pl.col("rows") > 0).group_by("variant").agg(pl.col("extra", "missing", "marks").mean())
    exact = means.filter(rows=0).select("variant", oracle_tests="tests")
    return on_data.join(exact, on="variant", how="left").sort("variant")


def _pair(frame: pl.DataFrame, fci: str, icd: str) -> Pair:
    t_prime = {
        (name, rows): stats.t_prime(stats.counts(frame, name, rows)) for name in (fci, icd) for rows in PAPER_RATIOS
    }
    ratios = {rows: t_prime[fci, rows] / t_prime[icd, rows] for rows in PAPER_RATIOS}
    beside = stats.errors_beside_fci(frame, icd, fci).filter(pl.col("rows") >= 100)
    both = {name: beside[name].to_numpy() for name in beside.columns}
    extra, marks = (both[f"{kind}_icd"] - both[kind] for kind in ("extra", "marks"))
    fewer_missing = float(np.max(1 - both["missing_icd"] / both["missing"]))
    error_ratio = float(np.min(both["total"] / both["total_icd"]))
    is_similar = max(np.abs(extra / both["total"]).max(), np.abs(marks / both["total"]).max()) < CLOSE
    return Pair(
        fci,
        icd,
        ratios,
        _distance(ratios),
        fewer_missing,
        float(extra[np.abs(extra).argmax()]),
        float(marks[np.abs(marks).argmax()]),
        error_ratio,
        bool(is_similar and error_ratio >= 1 and abs(fewer_missing - PAPER_FEWER_MISSING[15]) < 0.03),
    )


def _distance(ratios: dict[int, float]) -> float:
    return sum(abs(math.log(ratios[rows] / paper)) for rows, paper in PAPER_RATIOS.items()) / len(PAPER_RATIOS)
