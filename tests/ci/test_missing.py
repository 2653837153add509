"""Missing values: refused by default, dropped by row, or left out test by test."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
import naive_ci
from anypag.ci.base import Queries
from anypag.ci.data_test import DataTest
from anypag.ci.discrete import ChiSquared, GSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian
from anypag.errors import DataError

Array = npt.NDArray[np.float64]


def gappy(rows: int, seed: int) -> Array:
    """Six columns that depend on each other, the last without gaps."""
    rng = np.random.default_rng(seed)
    values: Array = rng.normal(size=(rows, 6)) @ rng.normal(size=(6, 6))
    gaps = rng.random(values.shape) < 0.1
    gaps[:, 5] = False
    values[gaps] = np.nan
    return values


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 4))
def test_pairwise_fisher_z_is_the_test_on_the_rows_that_are_complete_for_it(seed: int, r: int) -> None:
    values = gappy(60, seed)
    x, y, *z = np.random.default_rng(seed).permutation(6)[: r + 2].tolist()
    complete = values[~np.isnan(values[:, [x, y, *z]]).any(axis=1)]
    query = Queries.one(x, y, z)
    test = FisherZ(values, missing="pairwise")
    assert test.effective_n(query).tolist() == [len(complete)]
    expected = naive_ci.partial_correlation(complete, x, y, z)
    np.testing.assert_allclose(test.strength(query), expected, atol=1e-9)
    np.testing.assert_allclose(test.pvalues(query), naive_ci.fisher_z(complete, x, y, z), atol=1e-8)
    assert test.independent(query, 0.05).tolist() == (test.pvalues(query) > 0.05).tolist()


@pytest.mark.parametrize("make", [FisherZ, DegenerateGaussian])
def test_drop_is_the_test_on_complete_rows(make: type[FisherZ] | type[DegenerateGaussian]) -> None:
    values = gappy(200, seed=0)
    complete = values[~np.isnan(values).any(axis=1)]
    queries = Queries([0, 1, 2], [1, 2, 5], [[3], [4], [0]])
    dropped, clean = make(values, missing="drop"), make(complete)
    assert np.array_equal(dropped.pvalues(queries), clean.pvalues(queries))
    assert dropped.n == len(complete)
    assert dropped.effective_n(queries).tolist() == [len(complete)] * 3


@pytest.mark.parametrize("make", [FisherZ, DegenerateGaussian, GSquared, ChiSquared])
def test_the_default_refuses_and_counts(make: type[DataTest]) -> None:
    values = np.random.default_rng(0).integers(0, 3, size=(90, 3)).astype(float)
    values[:7, 1] = np.nan
    with pytest.raises(DataError) as caught:
        make(values, ["a", "b", "c"])  # type: ignore[arg-type, call-arg]
    assert "Values are missing in some of the 90 rows: 'b' 7." in str(caught.value)


@pytest.mark.parametrize("make", [FisherZ, DegenerateGaussian])
def test_no_common_rows_and_rows_that_never_change_give_p_one(make: type[FisherZ] | type[DegenerateGaussian]) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 4))
    values[:20, 0] = np.nan
    values[20:, 1] = np.nan  # columns 0 and 1 never come together
    values[20:, 2] = 1.0  # where column 0 has values, column 2 is constant
    test = make(values, missing="pairwise")
    queries = Queries([0, 0], [1, 2], np.empty((2, 0)))
    assert test.pvalues(queries).tolist() == [1.0, 1.0]
    assert test.effective_n(queries).tolist() == [0, 20]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 3), size=st.sampled_from([1e3, 1e6, 1e12, 1e150, 1e300]))
def test_what_stands_in_rows_a_test_does_not_use_has_no_say(seed: int, r: int, size: float) -> None:
    values = gappy(80, seed)
    rng = np.random.default_rng(seed)
    x, y, *z = rng.permutation(6)[: r + 2].tolist()
    values[:20, [x, *z]] = size * rng.normal(size=(20, r + 1))
    values[:20, y] = np.nan
    complete = values[~np.isnan(values[:, [x, y, *z]]).any(axis=1)]
    expected = naive_ci.fisher_z(complete, x, y, z)
    query = Queries.one(x, y, z)
    np.testing.assert_allclose(FisherZ(values, missing="pairwise").pvalues(query), expected, atol=1e-8)
    mixed, alone = DegenerateGaussian(values, missing="pairwise"), DegenerateGaussian(complete[:, [x, y, *z]])
    np.testing.assert_allclose(
        mixed.pvalues(query), alone.pvalues(Queries.one(0, 1, range(2, r + 2))), atol=1e-8, rtol=1e-6
    )


def test_a_member_that_does_not_change_in_the_rows_used_costs_no_degree_of_freedom() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 3))
    values[:, 1] += 0.3 * values[:, 0]
    values[20:, 2] = 1.0
    values[:20, 1] = np.nan
    query = Queries.one(0, 1, [2])
    for make in (FisherZ, DegenerateGaussian):
        test, alone = make(values, missing="pairwise"), make(values[20:, :2])
        np.testing.assert_allclose(test.pvalues(query), alone.pvalues(Queries.one(0, 1)), rtol=1e-9)
    assert FisherZ(values, missing="pairwise").left_out(query).tolist() == [1]


def test_pairwise_correlations_come_from_the_rows_that_both_columns_have() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=4000)
    values = np.column_stack([0.8 * a + 0.6 * rng.normal(size=4000), a + 5.0, rng.normal(size=4000)])
    values[rng.random(4000) < 0.4, 0] = np.nan
    test = FisherZ(values, ["late", "early", "luck"], missing="pairwise")
    complete = values[~np.isnan(values[:, 0])]
    np.testing.assert_allclose(test.correlation[0], np.atleast_2d(np.corrcoef(complete.T))[0], atol=1e-12)
    both = np.atleast_2d(np.corrcoef(values[:, 1:].T))
    np.testing.assert_allclose(test.correlation[1, 2], both[0, 1], atol=1e-12)
    result = ap.learn(values, method="icd", names=["late", "early", "luck"], test="fisherz", missing="pairwise")
    assert result.strengths["late", "early"] == "correlation +0.80"
