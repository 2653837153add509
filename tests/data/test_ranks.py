"""Normal scores of ranks."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

import anypag as ap
from anypag import AnypagError
from anypag.data.columns import mean_ranks, normal_scores
from score_examples import gaussian_score


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=30))
def test_scores_are_quantiles_of_ranks(column: list[int]) -> None:
    """Ties get the mean rank; so each is counted by those below it and half of those beside it."""
    n = len(column)
    wanted = [NormalDist().inv_cdf((sum(v < x for v in column) + sum(v == x for v in column) / 2) / n) for x in column]
    found = normal_scores(np.array(column, float)[:, None])[:, 0]
    assert found == pytest.approx(wanted, abs=1e-9)


@given(st.lists(st.sampled_from([*range(-3, 4), 0.5, -0.0, float("inf"), float("nan")]), min_size=1, max_size=30))
def test_ranks_are_those_of_scipy(column: list[float]) -> None:
    values = np.array([column, np.arange(len(column))]).T
    np.testing.assert_array_equal(mean_ranks(values), rankdata(values, axis=0, nan_policy="omit"))


def test_steady_changes_of_a_column_change_nothing() -> None:
    data = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_allclose(normal_scores(data), normal_scores(np.exp(data)))
    one, other = (gaussian_score(normal_scores(table)) for table in (data, data**3))
    np.testing.assert_array_equal(one.correlation, other.correlation)
    assert not np.allclose(gaussian_score(data).correlation, one.correlation)


def test_gaps_stay_gaps() -> None:
    data = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 4.0]])
    scores = normal_scores(data)
    assert np.isnan(scores[1, 0])
    np.testing.assert_allclose(scores[[0, 2], 0], normal_scores(np.array([[1.0], [3.0]]))[:, 0])


def cubed() -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """a --> b <-- c, b --> d, seen through steady changes of shape."""
    rng = np.random.default_rng(3)
    a, c = rng.normal(size=(2, 1500))
    b = a + c + 0.5 * rng.normal(size=1500)
    return {"a": np.exp(3 * a), "b": b**5, "c": c**3, "d": np.exp(2 * (b + rng.normal(size=1500)))}


@pytest.mark.parametrize("method", ["icd", "bayes"])
def test_a_search_sees_through_steady_changes_of_shape(method: str) -> None:
    learned = ap.learn(cubed(), method=method, transform="normal-scores").pag
    assert learned == ap.PAG.from_string("a o-> b; c o-> b; b --> d")
    assert ap.learn(cubed(), method=method).pag != learned


def test_only_continuous_columns_are_transformed() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 400)
    table = {"group": group, "size": np.exp(2.0 * group + rng.normal(size=400))}
    test = ap.learn(table, method="icd", transform="normal-scores").problem.bound_test
    assert test.kinds == ("discrete", "continuous")  # type: ignore[attr-defined]
    with pytest.raises(AnypagError, match="no column is continuous"):
        ap.learn({"A": group, "B": group % 2}, method="icd", transform="normal-scores")
    with pytest.raises(AnypagError, match="a test of your own"):
        ap.learn(table, method="icd", test=lambda x, y, z: 0.5, transform="normal-scores")
