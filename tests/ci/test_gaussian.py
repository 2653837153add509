"""Fisher's z against regressions, and the rules for sets that are singular or too large."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_ci
from anypag.ci.base import Queries
from anypag.ci.gaussian import FisherZ
from anypag.data.table import Missing
from anypag.errors import CITestError, DataError


def correlated(rows: int, columns: int, seed: int) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns)) + rng.normal(size=columns)


def heavy(rows: int, columns: int, seed: int) -> npt.NDArray[np.float64]:
    """Independent columns with far values: zeros with exceptions, lognormal, Student's t, Cauchy, in turn."""
    rng = np.random.default_rng(seed)
    values = np.column_stack(
        [
            rng.lognormal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.1),
            rng.lognormal(9, 1.5, size=(rows, columns)),
            rng.standard_t(2, size=(rows, columns)),
            rng.standard_cauchy((rows, columns)),
        ]
    )
    values = values.reshape(rows, 4, columns)[:, np.arange(columns) % 4, np.arange(columns)]
    values[0, 0] = 1.0  # no column is constant
    return np.asarray(np.where(np.arange(rows)[:, None] == 1, values + 1e-3, values))


Make = Callable[[int, int, int], npt.NDArray[np.float64]]
MAKES: tuple[Make, ...] = (correlated, heavy)
ALL_OF_SIX = Queries(*np.triu_indices(6, 1), np.empty((15, 0)))


def random_queries(columns: int, r: int, count: int, seed: int) -> Queries:
    rng = np.random.default_rng(seed)
    picks = np.array([rng.permutation(columns)[: r + 2] for _ in range(count)])
    return Queries(picks[:, 0], picks[:, 1], picks[:, 2:])


@pytest.mark.parametrize("r", range(7))
def test_agrees_with_regression_residuals(r: int) -> None:
    values = correlated(60, 9, seed=r)
    queries = random_queries(9, r, 40, seed=r)
    triples = list(zip(queries.x, queries.y, queries.z.tolist(), strict=True))
    test = FisherZ(values)
    rho = [naive_ci.partial_correlation(values, x, y, z) for x, y, z in triples]
    p = [naive_ci.fisher_z(values, x, y, z) for x, y, z in triples]
    np.testing.assert_allclose(test.strength(queries), rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(test.pvalues(queries), p, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("r", range(4))
def test_agrees_with_residuals_and_permuted_variances_where_tails_are_heavy(r: int, missing: Missing) -> None:
    values, rng = heavy(60, 7, seed=r), np.random.default_rng(r)
    values[rng.random(values.shape) < (0.1 if missing == "pairwise" else 0.0)] = np.nan
    queries = random_queries(7, r, 40, seed=r)
    asked = list(zip(queries.x, queries.y, queries.z.tolist(), strict=True))
    rows = [np.nan_to_num(values[~np.isnan(values[:, [x, y, *z]]).any(axis=1)]) for x, y, z in asked]
    p = [naive_ci.fisher_z(some, *one) for some, one in zip(rows, asked, strict=True)]
    np.testing.assert_allclose(FisherZ(values, missing=missing).pvalues(queries), p, rtol=1e-7, atol=1e-10)


def test_sizes_are_right_where_tails_are_heavy() -> None:
    """Without permuted variances 2.5 % were rejected at 0.01."""
    p = np.array([FisherZ(heavy(100, 6, seed)).pvalues(ALL_OF_SIX) for seed in range(400)])
    assert (p < 0.01).mean() < 0.015 and (p < 0.05).mean() < 0.055


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 5), alpha=st.floats(1e-6, 0.5), make=st.sampled_from(MAKES))
def test_the_threshold_on_rho_decides_as_the_p_value_does(seed: int, r: int, alpha: float, make: Make) -> None:
    test = FisherZ(make(25, 8, seed))
    queries = random_queries(8, r, 30, seed)
    p = test.pvalues(queries)
    clear = np.abs(p - alpha) > 1e-12
    assert np.array_equal(test.independent(queries, alpha)[clear], (p > alpha)[clear])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 5))
def test_column_order_does_not_change_a_bit(seed: int, r: int) -> None:
    values, names = correlated(30, 8, seed), [f"v{i}" for i in range(8)]
    order = np.random.default_rng(seed).permutation(8)
    place = np.argsort(order)
    queries = random_queries(8, r, 20, seed)
    moved = Queries(place[queries.x], place[queries.y], place[queries.z])
    here, there = FisherZ(values, names), FisherZ(values[:, order], [names[i] for i in order])
    assert np.array_equal(here.pvalues(queries), there.pvalues(moved))


@pytest.mark.parametrize("scale", [1e-150, 1e-300, 1.0, 1e150, 1e300])
def test_scale_does_not_matter(scale: float) -> None:
    values = correlated(50, 4, seed=0)
    queries = random_queries(4, 2, 10, seed=0)
    np.testing.assert_allclose(
        FisherZ(values * scale).pvalues(queries), FisherZ(values).pvalues(queries), rtol=1e-9, atol=1e-300
    )


def test_a_large_offset_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, size=(200, 3)).astype(float)
    shifted = bits + 2.0**50
    queries = Queries([0, 0], [1, 2], [[2], [1]])
    np.testing.assert_allclose(FisherZ(shifted).strength(queries), FisherZ(bits).strength(queries), atol=1e-12)


@pytest.mark.parametrize("r", [2, 3, 4])
def test_a_member_that_adds_nothing_is_left_out(r: int) -> None:
    values = correlated(40, 7, seed=r)
    values[:, 5] = 2 * values[:, 2] - 3  # column 5 repeats column 2
    test = FisherZ(values, singular="keep")
    z = [2, 5, 3, 4][:r]
    with_copy, without = Queries.one(0, 1, z), Queries.one(0, 1, [i for i in z if i != 5])
    assert test.left_out(with_copy).tolist() == [1]
    assert test.left_out(without).tolist() == [0]
    np.testing.assert_allclose(test.pvalues(with_copy), test.pvalues(without), rtol=1e-6)


@pytest.mark.parametrize("r", [2, 3])
def test_which_of_two_near_copies_is_left_out_does_not_depend_on_how_the_set_is_written(r: int) -> None:
    values = correlated(40, 7, seed=r)
    values[:, 5] = values[:, 2] * (1 + 1e-6 * np.random.default_rng(r).normal(size=40))
    test = FisherZ(values, singular="keep")
    z = [2, 5, 3][:r]
    assert test.left_out(Queries.one(0, 1, z)).tolist() == [1]
    assert np.array_equal(test.pvalues(Queries.one(0, 1, z)), test.pvalues(Queries.one(0, 1, z[::-1])))
    only_first = Queries.one(0, 1, [i for i in z if i != 5])  # X2 comes before X5
    np.testing.assert_allclose(test.pvalues(Queries.one(0, 1, z)), test.pvalues(only_first), rtol=1e-12)


@pytest.mark.parametrize("r", [3, 4])
def test_sets_that_repeat_give_the_same_bits_as_sets_asked_for_alone(r: int) -> None:
    values = correlated(40, 9, seed=r)
    values[:, 8] = values[:, 6] + values[:, 7]
    test = FisherZ(values, singular="keep")
    sets = [[2, 3, 4, 5], [2, 3, 4, 5], [6, 7, 8, 2], [6, 7, 8, 2], [2, 3, 4, 5], [2, 3, 4, 5]]
    queries = Queries([0, 1, 0, 1, 0, 6], [1, 0, 1, 3, 6, 7], [z[:r] for z in sets])
    alone = [queries.take(slice(i, i + 1)) for i in range(6)]
    assert np.array_equal(test.pvalues(queries), [test.pvalues(query)[0] for query in alone])
    assert test.left_out(queries).tolist() == [0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("r", [1, 2, 3])
def test_what_z_determines_is_independent_given_z(r: int) -> None:
    values = correlated(40, 6, seed=r)
    values[:, 0] = values[:, 2 : 2 + r].sum(axis=1)
    test = FisherZ(values, singular="keep")
    assert test.pvalues(Queries.one(0, 1, range(2, 2 + r))).tolist() == [1.0]
    assert test.strength(Queries.one(0, 1, range(2, 2 + r))).tolist() == [0.0]


def test_perfect_correlation_is_p_zero() -> None:
    values = correlated(40, 3, seed=0)
    values[:, 1] = -values[:, 0]
    assert FisherZ(values, singular="keep").pvalues(Queries.one(0, 1)).tolist() == [0.0]


def test_too_few_rows_for_a_set_is_p_one_and_a_warning() -> None:
    values = correlated(6, 6, seed=0)
    test = FisherZ(values)
    assert test.pvalues(Queries.one(0, 1, [2, 3, 4])).tolist() == [1.0]
    assert 0 < test.pvalues(Queries.one(0, 1, [2, 3]))[0] < 1
    few, warning = test.audit.warnings
    assert "With 6 rows no dependence can be found given more than 2 columns" in warning.message
    assert FisherZ(values, max_r=2).audit.warnings == (few,)


def test_more_columns_than_rows_works() -> None:
    test = FisherZ(np.random.default_rng(0).normal(size=(20, 50)))
    queries = random_queries(50, 4, 100, seed=0)
    p = test.pvalues(queries)
    assert ((p > 0) & (p < 1)).all()
    assert not test.left_out(queries).any()


def test_from_covariance_is_the_same_test() -> None:
    values = correlated(80, 5, seed=3)
    queries = random_queries(5, 2, 20, seed=3)
    test = FisherZ.from_covariance(np.cov(values.T), 80)
    np.testing.assert_allclose(test.pvalues(queries), FisherZ(values).pvalues(queries), atol=1e-12)
    assert test.effective_n(queries).tolist() == [80] * 20


@pytest.mark.parametrize(
    ("covariance", "n", "message"),
    [
        ([[1.0, 0.0]], 10, "each variable; got one of shape (1, 2)"),
        ([[1.0, 0.5], [0.4, 1.0]], 10, "symmetric; 'X0' and 'X1' have 0.5 one way and 0.4 the other"),
        ([[1.0, np.nan], [np.nan, 1.0]], 10, "there is none for 'X0' and 'X1'"),
        ([[0.0, 0.0], [0.0, 1.0]], 10, "must be positive; that of 'X0' is 0"),
        ([[1.0, 0.5], [0.5, 1.0]], 3, "a whole number from 4 to 9,007,199,254,740,992; got 3"),
        ([[1.0, 2.0], [2.0, 1.0]], 10, "some combination of columns has negative variance"),
        ([[1.0, 1.0], [1.0, 1.0]], 10, "Exact linear relation: X1 = X0."),
    ],
)
def test_a_matrix_that_is_no_covariance_is_refused(covariance: object, n: int, message: str) -> None:
    with pytest.raises(DataError) as caught:
        FisherZ.from_covariance(covariance, n)
    assert message in str(caught.value)


@pytest.mark.parametrize("queries", [Queries.one(0, 3), Queries.one(-1, 1), Queries.one(0, 1, [7])])
def test_indices_outside_the_table_are_refused(queries: Queries) -> None:
    with pytest.raises(CITestError, match="Indices go from 0 to 2, one for each of the 3 columns"):
        FisherZ(correlated(20, 3, seed=0)).pvalues(queries)


def test_an_empty_batch_is_fine() -> None:
    empty = Queries([], [], np.empty((0, 2)))
    assert FisherZ(correlated(20, 3, seed=0)).pvalues(empty).shape == (0,)
