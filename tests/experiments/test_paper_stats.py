"""The numbers behind figures and claims, on rows written by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import claims, oracle, readings, samples, stats


def oracle_rows(*rows: tuple[int, int, str, int, float, str]) -> pl.DataFrame:
    """nodes, seed, variant, capped, seconds, tests."""
    return pl.DataFrame(
        [(nodes, 0, seed, variant, 1, capped, 1 - capped, s, tests) for nodes, seed, variant, capped, s, tests in rows],
        schema=oracle.SCHEMA,
        orient="row",
    )


def data_rows(counts: dict[tuple[str, int], list[int]], errors: tuple[int, int, int] = (1, 2, 3)) -> pl.DataFrame:
    return pl.DataFrame(
        [
            (15, rows, seed, variant, count, 0, *errors)
            for (variant, rows), tests in counts.items()
            for seed, count in enumerate(tests)
        ],
        schema=samples.SCHEMA,
        orient="row",
    )


TWO_DAGS = oracle_rows(
    (15, 0, "fci", 0, 0.4, "10 20 30"),
    (15, 0, "icd", 0, 0.1, "10 5"),
    (15, 1, "fci", 1, 0.6, "10 10"),
    (15, 1, "icd", 0, 0.2, "10 5"),
)


def test_tests_are_taken_apart_by_size() -> None:
    parts = oracle.per_size(TWO_DAGS).filter(variant="fci", seed=0).select("size", "count").rows()
    assert parts == [(0, 10), (1, 20), (2, 30)]
    assert oracle.totals(TWO_DAGS)["total"].to_list() == [60, 15, 20, 15]


def test_capped_runs_are_counted_and_named() -> None:
    assert stats.growth(TWO_DAGS).rows() == [(15, "fci", 40.0, 1, 2), (15, "icd", 15.0, 0, 2)]
    assert stats.finished(TWO_DAGS)["seed"].to_list() == [0, 0]


def test_a_size_without_tests_counts_as_none() -> None:
    means = stats.mean_per_size(TWO_DAGS).filter(variant="fci")
    assert means.select("size", "count").rows() == [(0, 10.0), (1, 15.0), (2, 15.0)]


def test_ratios_need_tests_on_both_sides() -> None:
    assert stats.ratios_per_size(TWO_DAGS, "icd").select("seed", "size", "ratio").rows() == [
        (0, 0, 1.0),
        (0, 1, 4.0),
        (1, 0, 1.0),
        (1, 1, 2.0),
    ]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=50))
def test_t_prime_is_the_smallest_number_that_nine_in_ten_do_not_exceed(tests: list[int]) -> None:
    t = stats.t_prime(np.array(tests))
    reaches = [value for value in tests if sum(other <= value for other in tests) >= 0.9 * len(tests)]
    assert t == min(reaches)


def test_the_ratio_at_90_has_an_interval_around_it() -> None:
    random = np.random.default_rng(0)
    counts = random.integers(100, 200, 300)
    frame = data_rows({("fci", 100): (2 * counts).tolist(), ("icd", 100): counts.tolist()})
    ratio = stats.ratio_at_90(frame, "fci", "icd", 100)
    assert ratio.value == pytest.approx(2.0)
    assert ratio.low <= 2.0 <= ratio.high


def test_kolmogorov_smirnov_tells_different_numbers_of_tests_apart() -> None:
    same, more = list(range(100)), list(range(60, 160))
    frame = data_rows({("fci", 100): same, ("icd", 100): same, ("icd-paper", 100): more})
    assert stats.kolmogorov_smirnov(frame, "icd", 100) == (0.0, 1.0)
    assert stats.kolmogorov_smirnov(frame, "icd-paper", 100)[1] < 0.01


def test_a_claim_says_same_where_it_is_and_different_where_it_is_not() -> None:
    verdicts = {claim.where: claim.findings["icd"] for claim in claims.oracle_claims(TWO_DAGS)}
    assert verdicts["1b"] == claims.Finding("fewer on 2 of 2", True)
    swapped = TWO_DAGS.with_columns(variant=pl.col("variant").replace({"fci": "icd", "icd": "fci"}))
    finding = {claim.where: claim.findings["icd"] for claim in claims.oracle_claims(swapped)}["1b"]
    assert finding == claims.Finding("fewer on 0 of 2", False)


def test_the_closest_pair_of_readings_comes_first() -> None:
    fci = {("fci", ell): [round(1000 * ratio)] for ell, ratio in claims.PAPER_RATIOS.items()}
    near = {("icd-paper", ell): [1000] for ell in claims.PAPER_RATIOS}
    far = {("icd", ell): [100] for ell in claims.PAPER_RATIOS}
    frame = data_rows(fci | near | far)
    first, second = ranked = readings.pairs(frame)
    assert readings.as_close_as_the_closest(frame, ranked) == [first]
    assert (first.icd, second.icd) == ("icd-paper", "icd")
    assert first.distance == pytest.approx(0, abs=0.01)
    assert second.distance == pytest.approx(np.log(10), abs=0.01)
    assert (first.fewer_missing, first.more_extra, first.more_marks, first.least_error_ratio) == (0.0, 0.0, 0.0, 1.0)
    assert not first.errors_as_said  # the paper says that fewer edges are missing
