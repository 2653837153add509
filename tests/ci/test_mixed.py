"""The degenerate-Gaussian test against residuals of regressions, and against the tests it comes close to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_ci
from anypag.ci.base import Queries
from anypag.ci.discrete import ChiSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian
from anypag.data import Kind
from anypag.data.levels import MOST_COLUMNS
from anypag.errors import DataError

IS_DISCRETE = (False, True, True, False, True, False, True)
LEVELS = (0, 2, 3, 0, 5, 0, 2)
KINDS: dict[str, Kind] = {f"X{i}": "discrete" if d else "continuous" for i, d in enumerate(IS_DISCRETE)}


def mixed_columns(rows: int, seed: int) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 7)) @ rng.normal(size=(7, 7))
    for i, levels in enumerate(LEVELS):
        if levels:
            edges = np.quantile(values[:, i], np.linspace(0, 1, levels + 1)[1:-1])
            values[:, i] = np.digitize(values[:, i], edges)
    return values


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 4))
def test_agrees_with_regression_residuals(seed: int, r: int) -> None:
    values = mixed_columns(200, seed)
    test = DegenerateGaussian(values, kinds=KINDS)
    x, y, *z = np.random.default_rng(seed).permutation(7)[: r + 2].tolist()
    expected = naive_ci.degenerate_gaussian(values, IS_DISCRETE, x, y, z)
    statistics, freedoms, rows = test.statistics(Queries.one(x, y, z))
    np.testing.assert_allclose(statistics, expected[0], rtol=1e-7, atol=1e-8)
    assert freedoms.tolist() == [expected[1]]
    assert rows.tolist() == [200]
    np.testing.assert_allclose(test.pvalues(Queries.one(x, y, z)), expected[2], rtol=1e-6, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 2))
def test_agrees_with_regression_residuals_where_levels_are_rare(seed: int, r: int) -> None:
    values, rng = mixed_columns(200, seed), np.random.default_rng(seed)
    values[:, [1, 2, 4]] = np.column_stack([rng.choice(k, 200, p=[0.9, *[0.1 / (k - 1)] * (k - 1)]) for k in (2, 3, 3)])
    values[:4, [1, 2, 4]] = [[0, 0, 1], [1, 1, 0], [0, 2, 2], [1, 0, 1]]
    x, y, *z = rng.permutation([1, 2, 4, 0])[: r + 2].tolist()
    expected = naive_ci.degenerate_gaussian(values, IS_DISCRETE, x, y, z)
    found = DegenerateGaussian(values, kinds=KINDS, singular="keep").pvalues(Queries.one(x, y, z))
    np.testing.assert_allclose(found, expected[2], rtol=1e-6, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 2))
def test_agrees_with_regression_residuals_where_levels_are_many_and_tails_heavy(seed: int, r: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_cauchy((120, 6))
    values[:, 0] = rng.choice(20, 120, p=1 / np.arange(1, 21) / np.sum(1 / np.arange(1, 21)))
    values[:, 1], values[:, 2] = rng.integers(0, 12, 120), rng.integers(0, 3, 120)
    values[:, 3] = rng.exponential(size=120) * (rng.random(120) < 0.1)
    is_discrete = (True, True, True, False, False, False)
    kinds: dict[str, Kind] = {f"X{i}": "discrete" if d else "continuous" for i, d in enumerate(is_discrete)}
    x, y, *z = rng.permutation(6)[: r + 2].tolist()
    expected = naive_ci.degenerate_gaussian(values, is_discrete, x, y, z)
    found = DegenerateGaussian(values, kinds=kinds, singular="keep").pvalues(Queries.one(x, y, z))
    np.testing.assert_allclose(found, expected[2], rtol=1e-6, atol=1e-10)


def test_sizes_are_right_where_levels_are_many_or_beside_heavy_tails() -> None:
    """χ² rejected half of the pairs of 40 levels, and an eighth beside heavy tails."""
    p = []
    for k in range(150):
        rng = np.random.default_rng(k)
        levels = rng.choice(40, (150, 2), p=1 / np.arange(1, 41) / np.sum(1 / np.arange(1, 41)))
        values = np.column_stack([levels, rng.lognormal(0, 1.5, 150), rng.standard_cauchy(150)])
        test = DegenerateGaussian(values, kinds={"X0": "discrete", "X1": "discrete"}, singular="keep")
        p.append(test.pvalues(Queries([0, 0, 1, 2], [1, 2, 3, 3], np.empty((4, 0)))))
    assert ((np.array(p) < 0.01).mean(axis=0) < 0.04).all() and (np.array(p) < 0.01).mean() < 0.02


def test_sizes_are_right_where_levels_are_rare() -> None:
    """Without its correction χ² rejects 10 % at 0.01."""
    p = np.empty(300)
    for k in range(len(p)):
        rng = np.random.default_rng(k)
        values = np.column_stack([rng.choice(3, (300, 2), p=[0.97, 0.02, 0.01]), rng.integers(0, 4, 300)])
        is_there = (np.ptp(values, axis=0) > 0).all()
        p[k] = DegenerateGaussian(values, singular="keep").pvalues(Queries.one(0, 1, [2]))[0] if is_there else 1.0
    assert (p < 0.01).mean() < 0.035 and (p < 0.05).mean() < 0.09


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 3))
def test_pairwise_is_the_test_on_the_complete_rows(seed: int, r: int) -> None:
    values = mixed_columns(200, seed)
    rng = np.random.default_rng(seed)
    values[rng.random(values.shape) < 0.1] = np.nan
    x, y, *z = rng.permutation(7)[: r + 2].tolist()
    used = [x, y, *z]
    complete = values[~np.isnan(values[:, used]).any(axis=1)]
    complete = np.where(np.isnan(complete), 0.0, complete)
    expected = naive_ci.degenerate_gaussian(complete, IS_DISCRETE, x, y, z)
    test = DegenerateGaussian(values, kinds=KINDS, missing="pairwise")
    np.testing.assert_allclose(test.pvalues(Queries.one(x, y, z)), expected[2], rtol=1e-6, atol=1e-9)
    assert test.effective_n(Queries.one(x, y, z)).tolist() == [len(complete)]


def test_two_continuous_columns_are_tested_as_by_fisher_z() -> None:
    values = np.random.default_rng(0).normal(size=(1000, 6))
    queries = Queries([0, 1, 2, 3], [1, 2, 3, 4], [[5], [5], [5], [5]])
    np.testing.assert_allclose(DegenerateGaussian(values).pvalues(queries), FisherZ(values).pvalues(queries), atol=2e-3)


def test_two_discrete_columns_are_tested_much_as_by_chi_squared() -> None:
    values = np.random.default_rng(1).integers(0, 3, size=(5000, 5))
    queries = Queries([0, 1, 2, 3], [1, 2, 3, 4], np.empty((4, 0)))
    np.testing.assert_allclose(
        DegenerateGaussian(values).pvalues(queries), ChiSquared(values).pvalues(queries), atol=5e-3
    )


def test_what_z_determines_has_no_degrees_of_freedom_left() -> None:
    rng = np.random.default_rng(0)
    fine = rng.integers(0, 4, size=300)
    table = {"coarse": fine // 2, "fine": fine, "other": rng.normal(size=300)}
    test = DegenerateGaussian(table)
    assert test.statistics(Queries.one(0, 2, [1]))[1].tolist() == [0]
    assert test.pvalues(Queries.one(0, 2, [1])).tolist() == [1.0]
    assert test.pvalues(Queries.one(0, 1)) < 1e-100


def test_more_levels_than_one_matrix_holds_are_refused() -> None:
    rng = np.random.default_rng(0)
    table = {"code": np.repeat(np.arange(MOST_COLUMNS + 5), 2), "size": rng.normal(size=2 * MOST_COLUMNS + 10)}
    with pytest.raises(DataError) as caught:
        DegenerateGaussian(table, kinds={"code": "discrete"})
    assert "'code' has 8005 levels" in str(caught.value)
    assert "Merge levels, or declare quantities continuous" in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 2))
def test_levels_that_do_not_occur_in_the_rows_used_are_no_degrees_of_freedom(seed: int, r: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(120, 4))
    values[:, 0] = rng.integers(0, 2, size=120) + 0.0
    values[:, 2] = np.where(values[:, 2] > 0, 1.0, 0.0)
    values[:40, [0, 2]] = rng.integers(2, 9, size=(40, 2))  # seven levels more, where column 1 has no value
    values[:40, 1] = np.nan
    values[40:, 1] += 0.5 * values[40:, 0]
    kinds: dict[str, Kind] = {"X0": "discrete", "X2": "discrete", "X1": "continuous", "X3": "continuous"}
    z = [2, 3][:r]
    statistic, freedom, p = naive_ci.degenerate_gaussian(values[40:], (True, False, True, False), 0, 1, z)
    test = DegenerateGaussian(values, kinds=kinds, missing="pairwise")
    statistics, freedoms, rows = test.statistics(Queries.one(0, 1, z))
    assert (freedoms.tolist(), rows.tolist()) == ([freedom], [80])
    np.testing.assert_allclose(statistics, statistic, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(test.pvalues(Queries.one(0, 1, z)), p, rtol=1e-6)
