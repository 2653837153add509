"""Normal scores in engines: exact counts at some values, lines between them, close to those of exact ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars
import pytest
from engine_examples import in_dask, in_duckdb, written
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.choices import Choices
from anypag.ci.resolve import resolve_test
from anypag.data.columns import normal_scores
from anypag.data.sources import engine_ranks
from anypag.data.sources.engine_queries import Engine
from anypag.errors import DataError, ParameterError


def bent_table(rows: int = 3000) -> dict[str, Any]:
    """Steep, far out, with a heap of zeros, of whole numbers; the rows sorted by one of the columns."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 5)) @ (np.eye(5) + 0.4 * np.eye(5, k=1))
    x = x[np.argsort(x[:, 4])]
    heap, whole = np.maximum(x[:, 2], 0), np.round(8 * x[:, 3])
    steep, far = np.exp(2 * x[:, 0]), np.tan(1.5 * np.tanh(x[:, 1]))
    return {"steep": steep, "far": far, "heap": heap, "whole": whole, "sorted": x[:, 4]}


def lazily(table: dict[str, Any]) -> Engine:
    """The queries, put to polars."""
    return Engine(tuple(table), (False,) * len(table), nw.from_native(polars.LazyFrame(table)))


numbers = st.lists(st.integers(-20, 20).map(float) | st.floats(-1e6, 1e6), min_size=3, max_size=60)


@given(numbers, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
@settings(max_examples=50)
def test_shares_are_counted_exactly(values: list[float], edges: list[float]) -> None:
    column, wanted = np.array(values), np.unique([*edges, *values[:2]])
    found = engine_ranks._counted(lazily({"x": column}), "x", wanted, len(column))
    np.testing.assert_allclose(found.below, [(column < edge).mean() for edge in wanted])
    np.testing.assert_allclose(found.up_to, [(column <= edge).mean() for edge in wanted])


@pytest.mark.parametrize("name", bent_table())
def test_scores_are_close_to_those_of_exact_ranks_and_rise(name: str) -> None:
    column = bent_table()[name]
    engine = lazily({"x": column})
    scores = engine.frame.select(engine_ranks.knots_of(engine, engine)["x"].score(nw.col("x")).alias("s")).collect()
    found, exact = scores["s"].to_numpy(), normal_scores(column[:, None])[:, 0]
    assert np.abs(found - exact).max() < 0.2
    assert np.sqrt(np.square(found - exact).mean()) < 0.015
    assert (np.diff(found[np.argsort(column, kind="stable")]) >= -1e-9).all()


@pytest.mark.parametrize("test", ["auto", pytest.param("fisherz", marks=pytest.mark.slow)])
def test_graphs_and_correlations_are_those_of_exact_ranks(
    test: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.MOST_LOOKED_AT", 0)  # else it would be pulled
    table = bent_table()
    with pytest.warns(ap.AnypagWarning, match="The ranks of 5 columns are approximate: exact at about 64 values"):
        in_engine = ap.learn(in_duckdb(written(table, tmp_path)), method="icd", test=test, transform="normal-scores")
    in_memory = ap.learn(table, method="icd", test=test, transform="normal-scores")
    assert in_engine.pag == in_memory.pag
    here: Any = in_memory.problem.bound_test
    there: Any = in_engine.problem.bound_test
    np.testing.assert_allclose(there.correlation, here.correlation, atol=1e-3)
    assert there.n == here.n and there.names == here.names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("test", ["auto", "fisherz"])
def test_ranks_of_a_small_table_are_exact(test: str, tmp_path: Path) -> None:
    table, choices = bent_table(400), Choices(method="icd", transform="normal-scores", test=test)
    here: Any = resolve_test(table, choices)
    there: Any = resolve_test(in_duckdb(written(table, tmp_path)), choices)
    np.testing.assert_allclose(there.correlation, here.correlation, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("put", [in_duckdb, pytest.param(in_dask, marks=pytest.mark.slow)])
def test_gaps_and_discrete_columns(put: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.MOST_LOOKED_AT", 0)
    monkeypatch.setattr(engine_ranks, "ROUNDS", 1)
    rng = np.random.default_rng(1)
    table = {name: column.copy() for name, column in list(bent_table(1000).items())[:2]}
    table["steep"][rng.random(1000) < 0.1] = np.nan
    table["group"] = np.array(["a", "b"])[rng.integers(0, 2, 1000)]
    choices = Choices(method="icd", transform="normal-scores", missing="drop")
    here: Any = resolve_test(table, choices)
    there: Any = resolve_test(put(written(table, tmp_path)), choices)
    assert there.n == here.n and there.kinds == here.kinds == ("continuous", "continuous", "discrete")
    np.testing.assert_allclose(there.blocks.correlation, here.blocks.correlation, atol=5e-3)


@pytest.mark.filterwarnings("ignore")
def test_the_additive_test_is_that_of_the_rows(tmp_path: Path) -> None:
    table, asked = bent_table(300), ap.Queries([0, 0, 1], [1, 2, 4], [[3], [4], [2]])
    places = table, in_duckdb(written(table, tmp_path))
    here, there = (resolve_test(data, Choices(method="icd", test="additive")) for data in places)
    assert np.array_equal(there.pvalues(asked), here.pvalues(asked))


def test_too_many_rows_for_the_additive_test_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.MOST_PULLED", 100)
    with pytest.raises(DataError, match=r"up to 100 numbers of them.* Take a sample of the rows there"):
        ap.learn(in_duckdb(written(bent_table(100), tmp_path)), method="icd", test="additive")


def test_what_cannot_be_ranked_is_refused(tmp_path: Path) -> None:
    table = bent_table(200)
    table["far"] = np.where(np.arange(200) == 3, np.inf, table["far"])
    with pytest.raises(DataError, match="Column 'far' has 1 infinite value"):
        ap.learn(in_duckdb(written(table, tmp_path)), method="icd", transform="normal-scores")
    discrete = {"a": np.arange(60) % 2, "b": np.arange(60) % 3}
    with pytest.raises(ParameterError, match="no column is continuous"):
        ap.learn(in_duckdb(written(discrete, tmp_path)), method="icd", transform="normal-scores")
