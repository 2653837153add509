"""Shuffled columns: the same data in another order, and what that changes, on rows written by hand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from experiments.runs import sample_of, system_of
from experiments.settings import Task

from experiments import order, samples

TASK = Task(12, 30, 5, ("fci",), cap=10, alpha=0.01, expected_neighbours=2.0)


def rows_of(*rows: tuple[int, str, int, int | None]) -> pl.DataFrame:
    """Seed, variant, capped, wrong marks; one extra and two missing edges where there is a graph."""
    return pl.DataFrame(
        [
            (15, 100, seed, variant, 50, capped, None if capped else 1, None if capped else 2, marks)
            for seed, variant, capped, marks in rows
        ],
        schema=samples.SCHEMA,
        orient="row",
    )


CAUSAL = rows_of((0, "fci", 0, 1), (0, "icd", 0, 5), (1, "fci", 0, 3), (1, "icd", 0, 5), (2, "fci", 0, 9))
SHUFFLED = rows_of((0, "fci", 0, 5), (0, "icd", 0, 5), (1, "fci", 0, 7), (1, "icd", 0, 5))
ORDERS = order.both_orders(CAUSAL, SHUFFLED)


def test_shuffled_columns_hold_the_same_values_under_the_same_names() -> None:
    system = system_of(TASK)
    causal, shuffled, again = (
        sample_of(replace(TASK, columns=columns), system) for columns in ("causal", "shuffled", "shuffled")
    )
    assert causal.names == system.observed
    assert causal.names != shuffled.names
    assert all((causal[name] == shuffled[name]).all() for name in causal.names)
    assert len(shuffled) == len(causal)
    assert shuffled == again


def test_every_seed_has_an_order_of_its_own() -> None:
    system = system_of(TASK)
    orders = {sample_of(replace(TASK, columns="shuffled", seed=seed), system).names for seed in range(5)}
    assert len(orders) == 5


def test_runs_count_that_were_made_in_both_orders() -> None:
    assert ORDERS.group_by("columns").len().sort("columns").rows() == [("causal", 4), ("shuffled", 4)]
    assert 2 not in ORDERS["seed"]


def test_a_dag_that_was_capped_in_one_order_counts_in_neither() -> None:
    capped = SHUFFLED.filter(~((pl.col("seed") == 1) & (pl.col("variant") == "fci"))).vstack(
        rows_of((1, "fci", 1, None))
    )
    assert order.both_orders(CAUSAL, capped)["seed"].unique().to_list() == [0]


def test_means_stand_beside_each_other() -> None:
    means = order.mean_errors(ORDERS).select("variant", "missing_causal", "marks_causal", "marks_shuffled")
    assert means.rows() == [("fci", 2.0, 2.0, 6.0), ("icd", 2.0, 5.0, 5.0)]


def test_the_ratio_of_errors_is_taken_within_an_order() -> None:
    causal, shuffled = (order.error_ratio(ORDERS, "icd", 100, columns) for columns in order.ORDERS)
    assert causal.value == pytest.approx((4 + 6) / 16)
    assert shuffled.value == pytest.approx((8 + 10) / 16)
    assert (causal.low, causal.high) == pytest.approx((4 / 8, 6 / 8))


def test_a_ratio_stands_where_some_graphs_are_faultless() -> None:
    faultless = ORDERS.with_columns(total=pl.when(pl.col("seed") == 0).then(0).otherwise("total"))
    assert order.error_ratio(faultless, "icd", 100, "shuffled") == pytest.approx((10 / 8, 10 / 8, 10 / 8))


def test_what_changes_is_counted_and_what_does_not() -> None:
    assert order.unmoved(ORDERS) == {"fci": (0, 2), "icd": (2, 2)}
