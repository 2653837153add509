"""The additive test against least squares, against statsmodels, and what it promises: symmetry, invariance, size."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import betaln
from statsmodels.multivariate.manova import MANOVA

import anypag as ap
import naive_ci
from anypag._kernels.additive import cauchy, f_tail
from anypag.ci.additive import Additive
from anypag.ci.base import Queries
from anypag.data import Kind

Array = npt.NDArray[np.float64]
IS_DISCRETE = (False, True, True, False, False, False, True)
LEVELS = (0, 2, 3, 0, 0, 0, 2)
KINDS: dict[str, Kind] = {f"X{i}": "discrete" if d else "continuous" for i, d in enumerate(IS_DISCRETE)}


def mixed_columns(rows: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 7)) @ rng.normal(size=(7, 7)) * 0.5 + rng.normal(size=(rows, 7))
    for i, levels in enumerate(LEVELS):
        if levels:
            edges = np.quantile(values[:, i], np.linspace(0, 1, levels + 1)[1:-1])
            values[:, i] = np.digitize(values[:, i], edges)
    return values


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 4), rows=st.sampled_from([60, 150, 400]))
def test_agrees_with_least_squares(seed: int, r: int, rows: int) -> None:
    values = mixed_columns(rows, seed)
    x, y, *z = np.random.default_rng(seed).permutation(7)[: r + 2].tolist()
    expected = naive_ci.additive(values, IS_DISCRETE, x, y, z)
    found = Additive(values, kinds=KINDS).pvalues(Queries.one(x, y, z))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 2), min_size=5, max_size=6),
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.5]), min_size=6, max_size=6),
)
def test_the_variance_of_r2_is_that_of_all_permutations(levels: list[int], numbers: list[float]) -> None:
    n = len(levels)
    y, x = np.array(numbers[:n])[:, None], np.eye(3)[levels][:, :2]
    if np.ptp(y) == 0 or len(set(levels)) < 2:
        return
    hat_x, hat_y = naive_ci.hat_matrix(x), naive_ci.hat_matrix(y)
    found = [np.sum(hat_x * hat_y[np.ix_(order, order)]) for order in permutations(range(n))]
    assert naive_ci.explained_variance(hat_x, hat_y)[0] == pytest.approx(np.var(found), rel=1e-9, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(0, 2), rows=st.sampled_from([60, 400]))
def test_agrees_with_least_squares_where_columns_are_mostly_one_value(seed: int, r: int, rows: int) -> None:
    values, rng = mixed_columns(rows, seed), np.random.default_rng(seed)
    values[:, ~np.array(IS_DISCRETE)] *= rng.random((rows, 4)) < 0.1
    values[:, 2] = rng.choice(3, rows, p=[0.9, 0.06, 0.04])
    values[:8] = mixed_columns(8, seed)
    x, y, *z = rng.permutation(7)[: r + 2].tolist()
    expected = naive_ci.additive(values, IS_DISCRETE, x, y, z)
    found = Additive(values, kinds=KINDS, singular="keep").pvalues(Queries.one(x, y, z))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9)


def test_sizes_are_right_where_columns_are_mostly_zero() -> None:
    """1 % of the values are not zero: F without its correction rejects 8 % at 0.01."""
    rng, p = np.random.default_rng(5), np.empty(400)
    for k in range(len(p)):
        values = rng.exponential(size=(1000, 2)) * (rng.random((1000, 2)) < 0.01)
        p[k] = Additive(values, kinds={"X0": "continuous", "X1": "continuous"}).pvalues(Queries.one(0, 1))[0]
    assert (p < 0.01).mean() < 0.03 and (p < 0.001).mean() < 0.01


@pytest.mark.parametrize("r", range(4))
def test_is_the_f_test_of_statsmodels_both_ways(r: int) -> None:
    values = np.random.default_rng(r).normal(size=(300, 6)) @ np.random.default_rng(0).normal(size=(6, 6))
    x_columns, y_columns, z_columns = naive_ci.additive_design(values, [False] * 6, 0, 1, range(2, 2 + r))
    both = []
    for response, tested in ((x_columns[:, 0], y_columns), (y_columns[:, 0], x_columns)):
        small = sm.OLS(response, sm.add_constant(z_columns)).fit()
        both.append(
            sm.OLS(response, sm.add_constant(np.column_stack([z_columns, tested]))).fit().compare_f_test(small)[1]
        )
    found = Additive(values).pvalues(Queries.one(0, 1, range(2, 2 + r)))
    np.testing.assert_allclose(found, cauchy(*both), rtol=1e-9, atol=1e-10)


def test_several_levels_are_a_manova_of_statsmodels() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=400)
    values = np.column_stack(
        [(z + rng.normal(size=400) > 0.5) * 1.0 + (rng.random(400) < 0.4), z * z + rng.normal(size=400), z]
    )
    x, y, given = naive_ci.additive_design(values, [True, False, False], 0, 1, [2])
    y = y[:, :2]  # of functions that are tested in levels
    design = np.column_stack([np.ones(400), given, y])
    contrast = np.eye(design.shape[1])[-y.shape[1] :]
    tested = MANOVA(x, design).mv_test([("y", contrast)]).results["y"]["stat"].loc["Wilks' lambda", "Pr > F"]
    np.testing.assert_allclose(naive_ci.wilks_pvalue(x, y, given), float(tested), rtol=1e-8)
    backwards = naive_ci.wilks_pvalue(y[:, :1], x, given)
    found = Additive(values, kinds={"X0": "discrete", "X1": "continuous"}).pvalues(Queries.one(0, 1, [2]))
    np.testing.assert_allclose(found, cauchy(float(tested), backwards), rtol=1e-8)


@settings(max_examples=200, deadline=None)
@given(first=st.integers(1, 30), second=st.floats(0.5, 5000.0), quantile=st.floats(1e-12, 1.0))
def test_the_tail_of_f_is_that_of_scipy(first: int, second: float, quantile: float) -> None:
    statistic = stats.f.isf(quantile, first, second)
    share = float(1 / (1 + statistic * first / second))
    found = f_tail(first, second, max(share, 1e-300), float(np.exp(betaln(second / 2, 0.5))))
    expected = stats.beta.cdf(share, second / 2, first / 2)
    np.testing.assert_allclose(found, expected, rtol=2e-9, atol=1e-14)


def test_products_from_rows_are_those_of_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 300
    values = mixed_columns(rows, 5)
    asked = {r: [p[: r + 2] for p in permutations(range(7))][:: 5040 // 50] for r in (2, 3, 5)}
    whole = Additive(values, kinds=KINDS)
    columns, products = whole.basis.start[-1], len(whole.basis.cross)
    assert products > columns
    for most in (0.0, float(columns * products * rows)):  # nothing beforehand; all but products with each other
        monkeypatch.setattr("anypag.ci.additive.MOST_WORK", most)
        by_rows = Additive(values, kinds=KINDS)
        assert by_rows.basis.columns.size and (by_rows.basis.cross.size > 0) == (most > 0)
        for picks in asked.values():
            some = np.array(picks)
            queries = Queries(some[:, 0], some[:, 1], some[:, 2:])
            np.testing.assert_allclose(by_rows.pvalues(queries), whole.pvalues(queries), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("rows", [150, 500])
def test_the_largest_set_that_may_be_asked_for_changes_no_answer(rows: int) -> None:
    """Two members of z have several products where one of them has three levels or more."""
    values = mixed_columns(rows, 1)
    for z in ([2, 3], [1, 2], [2, 6], [3, 4]):
        x, y = (k for k in (0, 5))
        expected = naive_ci.additive(values, IS_DISCRETE, x, y, z)
        found = [Additive(values, kinds=KINDS, max_r=r).pvalues(Queries.one(x, y, z))[0] for r in (2, 3, None)]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10)


def test_increasing_and_decreasing_transforms_change_no_bit() -> None:
    values = np.random.default_rng(0).normal(size=(300, 5)) @ np.random.default_rng(1).normal(size=(5, 5))
    changed = np.column_stack(
        [np.exp(values[:, 0]), -values[:, 1], values[:, 2] ** 3, -np.arctan(values[:, 3]), values[:, 4]]
    )
    picks = np.array(list(permutations(range(5), 4)))
    queries = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
    assert np.array_equal(Additive(values).pvalues(queries), Additive(changed).pvalues(queries))


def test_the_order_of_columns_and_the_number_of_threads_change_no_bit() -> None:
    values = mixed_columns(500, 2)
    names = [f"X{i}" for i in range(7)]
    order = [3, 1, 6, 0, 5, 2, 4]
    one = Additive(values, names, kinds=KINDS)
    other = Additive(values[:, order], [names[i] for i in order], kinds=KINDS, threads=2)
    picks = np.array(list(permutations(range(7), 5)))[::20]
    place = np.argsort(order)
    asked, moved = Queries(picks[:, 0], picks[:, 1], picks[:, 2:]), place[picks]
    assert np.array_equal(one.pvalues(asked), other.pvalues(Queries(moved[:, 0], moved[:, 1], moved[:, 2:])))


def test_sees_what_fishers_z_does_not() -> None:
    x = np.linspace(-2, 2, 500)
    values = np.column_stack([x, x**2 + np.random.default_rng(1).normal(size=500)])
    assert ap.FisherZ(values).pvalues(Queries.one(0, 1)) > 0.01
    assert Additive(values).pvalues(Queries.one(0, 1)) < 1e-10


def test_pairwise_uses_the_rows_of_each_question() -> None:
    values = mixed_columns(400, 8)
    gappy = values.copy()
    gappy[:150, 5] = np.nan
    test = Additive(gappy, kinds=KINDS, missing="pairwise")
    queries = Queries([0, 0], [3, 3], [[4, 6], [4, 5]])
    assert test.effective_n(queries).tolist() == [400, 250]
    without = Additive(values, kinds=KINDS).pvalues(queries)
    np.testing.assert_allclose(test.pvalues(queries)[0], without[0], rtol=1e-7)


DEGENERATE: dict[str, Callable[[np.random.Generator], Array]] = {
    "few rows": lambda rng: rng.normal(size=(5, 6)),
    "as many rows as columns": lambda rng: rng.normal(size=(12, 6)),
    "copies": lambda rng: rng.normal(size=(50, 3))[:, [0, 1, 2, 0, 1, 2]],
    "monotone copies": lambda rng: np.exp(rng.normal(size=(50, 3))[:, [0, 1, 2, 0, 1, 2]]) ** [1, 1, 1, 2, 3, 0.5],
    "ties": lambda rng: np.round(rng.normal(size=(60, 6))),
    "nearly constant": lambda rng: (rng.random(size=(60, 6)) < 0.05) + np.eye(60, 6),
    "huge and tiny": lambda rng: rng.normal(size=(60, 6)) * [1e300, 1e-300, 1, 1e150, 1e-150, 5],
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_every_answer_is_a_number(case: str) -> None:
    values = DEGENERATE[case](np.random.default_rng(0))
    test = Additive(values, singular="keep", kinds={f"X{i}": "continuous" for i in range(6)})
    for r in range(5):
        picks = np.array(list(permutations(range(6), r + 2)))[:400]
        p = test.pvalues(Queries(picks[:, 0], picks[:, 1], picks[:, 2:]))
        assert ((p >= 0) & (p <= 1)).all()
        strength = test.strength(Queries(picks[:, 0], picks[:, 1], picks[:, 2:]))
        assert ((strength >= 0) & (strength <= 1)).all()


def test_nothing_is_left_of_a_copy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    test = Additive(np.column_stack([a, np.exp(a), a + b]), singular="keep")
    assert test.pvalues(Queries.one(0, 2, [1])).tolist() == [1.0]


def test_learns_the_curve_that_auto_loses() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=800)
    table = {"x": x, "z": x**2 + 0.5 * rng.normal(size=800), "u": rng.normal(size=800)}
    assert len(ap.learn(table, method="icd", test="additive").pag.edges()) == 1


def test_the_audit_names_the_test_that_sees_a_curve() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    table = {"x": x, "y": x**2 + rng.normal(size=500)}
    (found,) = (finding for finding in ap.FisherZ(table).audit.findings if finding.problem == "curve")
    assert 'test="additive"' in str(found)
    assert not [finding for finding in Additive(table).audit.findings if finding.problem == "curve"]
