"""Weighted rows: moments, tests and effects against repeated rows and other libraries; what cannot weight refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import anypag as ap
from anypag.ci.base import Queries
from anypag.data import moments_of
from anypag.data.worth import effective_rows
from anypag.errors import DataError, ParameterError

N = 400


def survey(seed: int = 0, *, levels: bool = False) -> dict[str, Any]:
    """a → b → c and d; rows with a high a + d are drawn more often, and w says how much each stands for."""
    random = np.random.default_rng(seed)
    a, d, *noise = random.normal(size=(4, 20 * N))
    b = a + noise[0]
    chance = 1 / (1 + np.exp(-2 * (a + d))) / 5 + 0.01
    table = {"a": a, "b": b, "c": b + noise[1], "d": d}
    table = (
        {name: np.digitize(column, [-0.5, 0.5]).astype(float) for name, column in table.items()} if levels else table
    )
    drawn = random.random(20 * N) < chance
    return {name: column[drawn] for name, column in (table | {"w": 1 / chance}).items()}


def repeated(table: dict[str, Any], times: Any) -> dict[str, Any]:
    return {name: np.repeat(column, times) for name, column in table.items() if name != "w"}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3))
def test_weighted_moments_are_those_of_repeated_rows(seed: int, unit: int) -> None:
    random = np.random.default_rng(seed)
    values, times = random.normal(3, 1, size=(40, 3)) * [1e-200, 1.0, 1e200], random.integers(1, 5, 40)
    found = moments_of(values, ["a", "b", "c"], (times * unit).astype(np.float64))
    whole = moments_of(np.repeat(values, times, axis=0), ["a", "b", "c"])
    assert np.allclose(found.correlation, whole.correlation, atol=1e-12)
    assert np.allclose(found.mean, whole.mean, rtol=1e-12) and np.allclose(found.kurtosis, whole.kurtosis)
    assert found.n == whole.n * unit
    assert np.allclose(found.deviation / whole.deviation, np.sqrt((1 - 1 / whole.n) * found.n / (found.n - 1)))


@pytest.mark.parametrize("test", [ap.FisherZ, ap.DegenerateGaussian, ap.ChiSquared, ap.GSquared])
def test_equal_weights_change_nothing(test: Callable[[Any], Any]) -> None:
    table = survey(levels=test is not ap.FisherZ)
    plain, same = test(repeated(table, 1)), test(ap.weighted(table | {"w": np.full(len(table["w"]), 2.5)}, "w"))
    queries = Queries([0, 0, 1], [1, 2, 3], [[2], [1], [0]])
    assert same.n == plain.n and np.allclose(same.pvalues(queries), plain.pvalues(queries), rtol=1e-6)


@pytest.mark.parametrize("test", [ap.ChiSquared, ap.GSquared])
@pytest.mark.parametrize("condition", [[], [2], [1, 2]])
def test_statistics_of_levels_are_those_of_repeated_rows_made_smaller(test: Any, condition: list[int]) -> None:
    table = survey(levels=True)
    times = np.random.default_rng(1).integers(1, 5, len(table["w"]))
    found, whole = test(ap.weighted(table | {"w": times / 7}, "w")), test(repeated(table, times))
    queries = Queries.one(0, 3, condition)
    (statistic, freedom, rows), (of_all, same_freedom, n) = found.statistics(queries), whole.statistics(queries)
    assert statistic / rows == pytest.approx(of_all / n, rel=1e-2) and freedom == same_freedom
    assert found.effective_n(queries) == rows and found.n == pytest.approx(effective_rows(times.astype(float)), rel=0.1)


@pytest.mark.parametrize("levels", [False, True])
def test_the_independences_of_the_population_are_found(levels: bool) -> None:
    table = survey(levels=levels)
    joined = {frozenset(edge[:2]) for edge in ap.learn(repeated(table, 1), method="icd").pag.edges()}
    weighted = ap.learn(ap.weighted(table, "w"), method="icd")
    assert frozenset(("a", "d")) in joined
    assert frozenset(("a", "d")) not in {frozenset(edge[:2]) for edge in weighted.pag.edges()}
    assert weighted.audit is not None
    (told,) = [one.message for one in weighted.audit.findings if one.problem == "weights"]
    assert told.startswith(f"{len(table['w']):,} weighted rows are worth ")
    assert weighted.n_rows == len(table["w"])


def test_resamples_draw_rows_with_their_weights() -> None:
    table = ap.weighted(survey(), "w")
    found = ap.bootstrap(table, n=4, method="icd").stability
    plain = ap.bootstrap(repeated(survey(), 1), n=4, method="icd").stability
    assert found is not None and plain is not None
    assert found.adjacency[0, 3] < plain.adjacency[0, 3]


def test_effects_are_those_in_the_population() -> None:
    table, dag = survey(), ap.DAG.from_string("b --> c")
    found = ap.effect(dag, "b", "c", data=ap.weighted(table, "w"))
    x, y, w = table["b"], table["c"], table["w"]
    slope = np.polyfit(x, y, 1, w=np.sqrt(w))[0]
    assert found.estimate == pytest.approx(slope) and "Rows are weighted" in str(found)
    assert found.interval[0] < slope < found.interval[1]  # type: ignore[index]


def test_effects_of_levels_are_weighted_shares() -> None:
    table, dag = survey(levels=True), ap.DAG.from_string("a --> b")
    found = ap.effect(dag, "a", "b", data=ap.weighted({name: table[name] for name in "abw"}, "w"), model="tables")
    chosen = table["a"] == 0
    share = np.average(table["b"][chosen] == 0, weights=table["w"][chosen])
    assert found.numbers is not None and found.numbers.entries[0].value == pytest.approx(share)


def test_draws_come_from_weighted_moments() -> None:
    table = ap.weighted(survey(), "w")
    found = ap.effect(ap.learn(table, effort=0.1), "a", "b", data=table)
    assert found.sampled is not None and found.sampled.rows == table.worth.n  # type: ignore[union-attr]
    assert "Rows are weighted" in str(found)


@pytest.mark.parametrize("test", ["permutation", "additive", "kci", "gcm"])
def test_tests_that_count_all_rows_alike_refuse_weights(test: str) -> None:
    with pytest.raises(DataError, match="Rows are weighted here"):
        ap.learn(ap.weighted(survey(levels=test == "permutation"), "w"), test=test)


def test_what_cannot_weight_rows_says_so() -> None:
    table, dag = ap.weighted(survey(), "w"), ap.DAG.from_string("a --> b; b --> c")
    with pytest.raises(DataError, match="Rows are weighted here"):
        ap.learn(table, missing="pairwise")
    with pytest.raises(DataError, match="several data sets count all rows alike"):
        ap.pooled({"one": table, "two": table})
    with pytest.raises(DataError, match="time series count all rows alike"):
        ap.learn_series(table, max_lag=1)
    with pytest.raises(ParameterError, match="Rows are weighted here"):
        ap.effect(dag, "a", "b", data=table, learner="splines")


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([1.0, -1.0], "row 2 has -1"),
        ([1.0, np.nan], "row 2 has nothing"),
        (["a", "b"], "got text"),
        ([0.0, 0.0], "all 0"),
        ([1e300, 1e299], "the largest is 1e\\+300"),
        ([1e-300, 1e-301], "the largest is 1e-300"),
    ],
)
def test_wrong_weights_are_refused(weights: list[Any], told: str) -> None:
    with pytest.raises(DataError, match=told):
        ap.weighted({"a": [1.0, 2.0], "w": weights}, "w")


def test_a_row_without_weight_is_left_out() -> None:
    assert ap.weighted({"a": [1.0, 2.0], "w": [0.0, 0.5]}, "w").n == 1


def test_weighted_columns_that_others_determine_are_named() -> None:
    data, dag = survey(), ap.DAG.from_string("a --> b; g --> a; g --> b; h --> a; h --> b")
    group = np.arange(len(data["a"])) % 3
    for h, told in ((group // 2, "'h' is determined by 'g'"), (0 * group, "'h' is constant")):
        with pytest.raises(DataError, match=told):
            ap.effect(dag, "a", "b", data=ap.weighted({**data, "g": group, "h": h}, "w"))


def test_the_threads_of_linear_algebra_change_no_bit() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6000, 150))
    weights = np.exp(rng.normal(size=len(values)))
    names = [f"x{k:03}" for k in range(values.shape[1])]
    with threadpool_limits(2, user_api="blas"):
        by_two = moments_of(values, names, weights).correlation
    with threadpool_limits(1, user_api="blas"):
        assert (moments_of(values, names, weights).correlation == by_two).all()


def test_kinds_that_were_inferred_stay_so() -> None:
    table = ap.weighted(survey(), "w")
    assert set(table.given_kinds) == {None}


def test_weights_are_given_once() -> None:
    with pytest.raises(DataError, match="Rows have weights already"):
        ap.weighted(ap.weighted({"a": [1.0, 2.0], "v": [1.0, 2.0], "w": [1.0, 2.0]}, "w"), "v")
