"""Kernel tests and tests by regression: same question same answer, size, power, regressors, workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import anypag as ap
from anypag import GCM, KCI, Queries
from anypag.ci.slow import MOST_ROWS_OF_KCI, _inflation
from anypag.errors import DataError

Array = npt.NDArray[np.float64]
CLASSES: dict[str, Any] = {"kci": KCI, "gcm": GCM}


def drawn(rng: np.random.Generator, rows: int, effect: float) -> Array:
    """x and y, with the same curves of two causes, and what x adds to y."""
    z, e = rng.normal(size=(rows, 2)), rng.normal(size=(rows, 2))
    mean = np.tanh(z[:, 0]) + np.abs(z[:, 1]) / 2
    x = mean + e[:, 0]
    return np.column_stack([x, mean + e[:, 1] + effect * e[:, 0], z])


@pytest.fixture(params=CLASSES)
def kind(request: pytest.FixtureRequest) -> Any:
    return CLASSES[request.param]


@pytest.mark.parametrize("exponent", [-1040, -500, 500, 1000])
def test_units_do_not_matter(kind: Any, exponent: int) -> None:
    values, asked = drawn(np.random.default_rng(0), 120, 0.3), Queries([0], [1], [[2, 3]])
    told = kind(np.ldexp(values, exponent), singular="keep").pvalues(asked)
    assert told == pytest.approx(kind(values).pvalues(asked), rel=1e-6)


def test_same_question_same_answer(kind: Any) -> None:
    values = drawn(np.random.default_rng(0), 120, 0.3)
    values[:, 3] = values[:, 3] > 0
    names = ["a", "b", "c", "d"]
    test = kind(values, names)
    whole = test.pvalues(Queries([0, 1, 0, 2], [1, 0, 1, 3], [[2, 3], [3, 2], [2, 3], [0, 1]]))
    assert whole[0] == whole[1] == whole[2]
    other = kind(values[:, [3, 1, 0, 2]], ["d", "b", "a", "c"])
    assert other.pvalues(Queries([2], [1], [[0, 3]]))[0] == whole[0]
    assert ((whole >= 0) & (whole <= 1)).all()
    assert test.batch == 1 and not test.exact


def test_the_size_is_about_right_and_effects_are_found() -> None:
    rng = np.random.default_rng(1)
    p = np.array([GCM(drawn(rng, 300, 0.0)).pvalues(Queries.one(0, 1, [2, 3]))[0] for _ in range(80)])
    assert np.mean(p < 0.05) < 0.15
    p = np.array([GCM(drawn(rng, 300, 0.8)).pvalues(Queries.one(0, 1, [2, 3]))[0] for _ in range(10)])
    assert p.max() < 0.01


def test_kci_finds_what_has_no_correlation() -> None:
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 150))
    values = np.column_stack([x, np.cos(3 * x) + 0.3 * rng.normal(size=150), z])
    assert KCI(values).pvalues(Queries.one(0, 1)) < 0.01
    assert KCI(values).pvalues(Queries.one(0, 2)) > 0.01


def test_kci_says_when_there_are_too_many_rows() -> None:
    values = np.random.default_rng(0).normal(size=(MOST_ROWS_OF_KCI + 1, 2))
    with pytest.raises(DataError, match="at most 3,000 rows"):
        KCI(values).pvalues(Queries.one(0, 1))


def test_what_depends_strongly_is_told_apart_below_what_draws_can_tell() -> None:
    rng = np.random.default_rng(3)
    z, levels = rng.normal(size=500), rng.integers(0, 3, 500)
    data = {"a": levels, "b": levels + 0.01 * rng.normal(size=500), "c": z}
    assert GCM(data, kinds={"a": "discrete"}).pvalues(Queries.one(0, 1, [2]))[0] < 1e-20


def test_any_regressor_of_scikit_learn() -> None:
    values = drawn(np.random.default_rng(4), 400, 0.0)
    straight = GCM(values, regressor=LinearRegression()).pvalues(Queries.one(0, 1, [2, 3]))
    forest = GCM(values, regressor=lambda: RandomForestRegressor(20, min_samples_leaf=20, random_state=0))
    assert straight < 0.01 < forest.pvalues(Queries.one(0, 1, [2, 3]))


def test_gcm_with_least_squares_is_the_statistic_of_the_paper() -> None:
    values = np.random.default_rng(5).normal(size=(200, 3)) @ np.random.default_rng(6).normal(size=(3, 3))
    design = np.column_stack([np.ones(200), values[:, 2]])
    left = [values[:, k] - design @ np.linalg.lstsq(design, values[:, k], rcond=None)[0] for k in (0, 1)]
    products = left[0] * left[1]
    expected = 2 * stats.norm.sf(abs(np.sqrt(200) * products.mean() / products.std()))
    found = GCM(values, regressor=LinearRegression()).pvalues(Queries.one(0, 1, [2]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_pairwise_leaves_out_rows(kind: Any) -> None:
    values = drawn(np.random.default_rng(0), 100, 0.3)
    values[:40, 2] = np.nan
    test = kind(values, missing="pairwise")
    assert test.effective_n(Queries([0, 0], [1, 1], [[3], [2]])).tolist() == [100, 60]
    values[:95, 2] = np.nan
    assert kind(values, missing="pairwise").pvalues(Queries.one(0, 1, [2])).tolist() == [1.0]


def test_workers_give_the_same_graph() -> None:
    table = dict(zip("abcd", drawn(np.random.default_rng(0), 150, 0.8).T, strict=True))
    one, two = (ap.learn(table, method="icd", test="gcm", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.pag == two.pag and one.n_tests == two.n_tests


def test_a_result_of_a_slow_test_is_saved_and_has_no_strengths(tmp_path: Path) -> None:
    table = dict(zip("abcd", drawn(np.random.default_rng(0), 100, 0.8).T, strict=True))
    result = ap.learn(table, method="icd", test="gcm")
    assert result.pag.edges() and not result.strengths
    result.save(tmp_path / "pag.json")
    assert ap.read_graph(tmp_path / "pag.json") == result.pag


def test_what_a_regression_takes_from_the_rows_is_allowed_for() -> None:
    """The variance of a sum of products of residuals, over that of the products: by draws of noise and by the rule."""
    rng = np.random.default_rng(0)
    given = rng.normal(size=(80, 25))
    left_out = np.eye(80) - given @ np.linalg.solve(given.T @ given + 0.001 * np.eye(25), given.T)
    noise = rng.normal(size=(2, 80, 20_000))
    products = (left_out @ noise[0]) * (left_out @ noise[1])
    expected = products.sum(axis=0).var() / np.square(products).sum(axis=0).mean()
    np.testing.assert_allclose(_inflation(left_out @ left_out), expected, rtol=0.05)
    assert expected > 1.3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows", "members"), [("kci", 200, 3), ("gcm", 200, 2), ("gcm", 500, 5)])
def test_p_values_are_not_too_small_over_2000_draws(name: str, rows: int, members: int) -> None:
    """The gamma approximation is no exact law: sizes are asked for, not a uniform law."""
    rng, p = np.random.default_rng(23), []
    for _ in range(2000):
        z, e = rng.normal(size=(rows, members)), rng.normal(size=(rows, 2))
        values = np.column_stack([0.7 * z.sum(axis=1, keepdims=True) + e, z])
        p.append(CLASSES[name](values, max_r=members).pvalues(Queries.one(0, 1, range(2, 2 + members)))[0])
    for alpha in (0.01, 0.05):
        assert np.mean(np.array(p) < alpha) < alpha + 4 * np.sqrt(alpha * (1 - alpha) / 2000)
    if name == "gcm":
        assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_the_largest_of_many_products_of_levels_has_the_right_size() -> None:
    """Two levels that meet in no row hardly vary together: every draw was rejected."""
    p = [GCM(np.random.default_rng(k).integers(0, 15, (400, 2))).pvalues(Queries.one(0, 1))[0] for k in range(20)]
    assert (np.array(p) < 0.05).mean() < 0.2
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 400)
    b = np.where(rng.random(400) < 0.35, a, rng.integers(0, 4, 400))
    assert GCM({"a": a, "b": b}).pvalues(Queries.one(0, 1))[0] < 0.001
