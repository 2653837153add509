"""Tables in engines: moments computed there are those of the table in memory; so are the graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import anypag as ap
from anypag.data.moments import moments_of
from anypag.data.sources import engine_queries as engines
from anypag.data.sources.engine import EngineTable
from anypag.errors import DataError, MissingExtraError

duckdb = pytest.importorskip("duckdb")


def table(seed: int = 0, rows: int = 500) -> dict[str, Any]:
    system = ap.simulate.random_system(8, 2.0, seed=seed)
    drawn = system.linear_gaussian(rows, seed=seed)
    return {name: drawn[name] * 10.0 ** (3 * (k % 3)) + 1e6 * (k % 2) for k, name in enumerate(drawn.names)}


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    polars.DataFrame(table()).write_parquet(path)
    return path


def test_duckdb_gives_the_same_p_values_and_graph(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "EXPRESSIONS", 7)  # several queries
    relation = duckdb.connect().read_parquet(str(parquet))
    here, there = ap.FisherZ(table()), ap.FisherZ(relation)
    rng = np.random.default_rng(0)
    picks = np.array([rng.permutation(len(here.names))[:4] for _ in range(200)])
    queries = ap.Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
    np.testing.assert_allclose(there.pvalues(queries), here.pvalues(queries), atol=1e-9)
    assert there.names == here.names and there.n == here.n
    assert ap.learn(relation, method="icd").pag == ap.learn(table(), method="icd").pag


def test_only_sums_are_pulled(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.EngineTable.rows", lambda *_: pytest.fail("the rows were pulled"))
    ap.FisherZ(duckdb.connect().read_parquet(str(parquet)))


def test_moments_are_those_of_the_rows(parquet: Path) -> None:
    relation = duckdb.connect().read_parquet(str(parquet))
    found = EngineTable.of(relation).moments()
    values = np.column_stack(list(table().values()))
    expected = moments_of(values, list(table()))
    np.testing.assert_allclose(found.correlation, expected.correlation, atol=1e-11)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.deviation, expected.deviation, rtol=1e-11)
    np.testing.assert_allclose(found.kurtosis, expected.kurtosis, rtol=1e-9)


def test_gaps_and_what_is_wrong() -> None:
    rows = {name: np.array(column) for name, column in table().items()}
    first = next(iter(rows))
    rows[first][:50] = np.nan
    frame = polars.DataFrame(rows)
    relation = duckdb.sql("select * from frame")
    with pytest.raises(DataError, match="Values are missing"):
        ap.FisherZ(relation)
    dropped = ap.FisherZ(relation, missing="drop")
    assert dropped.n == 450
    here = ap.FisherZ(rows, missing="drop")
    np.testing.assert_allclose(dropped.correlation, here.correlation, atol=1e-10)
    constant = duckdb.sql("select *, 1.0 as still from frame")
    with pytest.raises(DataError, match="'still' is constant"):
        ap.FisherZ(constant, missing="drop")
    text = duckdb.sql("select *, 'a' as word from frame")
    with pytest.raises(DataError, match="word"):
        ap.FisherZ(text, missing="drop")
    assert frame.height == 500


def test_other_tests_pull_the_rows_if_these_fit(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    relation = duckdb.connect().read_parquet(str(parquet))
    assert ap.FisherZ(relation, missing="pairwise").n == 500
    monkeypatch.setattr("anypag.data.sources.engine.MOST_PULLED", 1000)
    with pytest.raises(DataError, match="has 500 rows and 7 columns"):
        ap.learn(relation, method="icd", test="additive")
    with pytest.raises(DataError, match="Take a sample"):
        ap.FisherZ(relation, missing="pairwise")


def test_no_query_has_more_expressions_than_is_said(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none of the products reads more columns than two blocks."""
    import narwhals

    monkeypatch.setattr(engines, "EXPRESSIONS", 9)
    sizes, select = [], narwhals.LazyFrame.select

    def noted(frame: Any, *what: Any) -> Any:
        sizes.append(len(what))
        return select(frame, *what)

    monkeypatch.setattr(narwhals.LazyFrame, "select", noted)
    EngineTable.of(duckdb.connect().read_parquet(str(parquet))).moments()
    assert max(sizes) <= 9
    assert len(sizes) >= 2 * 6  # three blocks of columns are six pairs, each a query of products of centred columns


def test_dask_gives_the_same(parquet: Path) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = dataframe.from_pandas(pandas.DataFrame(table()), npartitions=3)
    np.testing.assert_allclose(ap.FisherZ(frame).correlation, ap.FisherZ(table()).correlation, atol=1e-10)


@pytest.mark.slow
def test_a_wide_table_is_many_queries_of_a_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """300 columns have 45,150 products: 105 pairs of blocks."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 300)) + rng.normal(size=(1000, 1))
    polars.DataFrame(values, schema=[f"x{i:03d}" for i in range(300)]).write_parquet(tmp_path / "wide.parquet")
    asked, ask = [], engines.Engine.asked

    def noted(engine: Any, expressions: list[Any]) -> Any:
        asked.append(len(expressions))
        return ask(engine, expressions)

    monkeypatch.setattr(engines.Engine, "asked", noted)
    found = EngineTable.of(duckdb.connect().read_parquet(str(tmp_path / "wide.parquet"))).moments()
    np.testing.assert_allclose(found.correlation, np.corrcoef(values.T), atol=1e-11)
    products = asked[3:-1]
    assert sum(products) == 300 * 301 // 2 and max(products) <= engines.EXPRESSIONS and len(products) == 105


@pytest.mark.parametrize("gap", [np.nan, None])
def test_gaps_of_a_parquet_file_are_seen(gap: float | None, tmp_path: Path) -> None:
    """Its statistics say nothing of NaN, and DuckDB concludes from them that there is none."""
    rows = {name: column.tolist() for name, column in table().items()}
    first = next(iter(rows))
    rows[first][:50] = [gap] * 50
    polars.DataFrame(rows).write_parquet(tmp_path / "gaps.parquet")
    relation = duckdb.connect().read_parquet(str(tmp_path / "gaps.parquet"))
    with pytest.raises(DataError, match=f"Values are missing in some of the 500 rows: {first!r} 50"):
        ap.FisherZ(relation)
    assert ap.FisherZ(relation, missing="drop").n == 450


def test_what_an_engine_hides_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {name: np.array(column) for name, column in table().items()}
    rows[next(iter(rows))][:50] = np.nan
    frame = polars.DataFrame(rows)
    monkeypatch.setattr(engines.Engine, "gaps", lambda self: (np.zeros(7, int), np.zeros(7, int)))
    with pytest.raises(DataError, match="is not a number: the engine has values there"):
        ap.FisherZ(duckdb.sql("select * from frame"))
    assert frame.height == 500


def test_without_pyarrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    relation = duckdb.sql("SELECT random() AS a, random() AS b FROM range(100)")
    monkeypatch.setattr("anypag.data.sources.engine_queries.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="pip install pyarrow"):
        ap.learn(relation, method="icd")
