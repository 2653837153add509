"""Tables on a Dask cluster of two workers, and in Spark: the same graphs and p-values as in memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from engine_examples import discrete_table, mixed_table, queries

import anypag as ap

pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore"),  # those of the cluster are its own
]


def gaussian_table(rows: int = 2000) -> dict[str, Any]:
    drawn = ap.simulate.random_system(7, 2.0, seed=4).linear_gaussian(rows, seed=4)
    return {name: 10.0 ** (3 * (k % 3)) * drawn[name] + 1e5 * (k % 2) for k, name in enumerate(drawn.names)}


TABLES = {"FisherZ": gaussian_table, "PermutationChiSquared": discrete_table, "DegenerateGaussian": mixed_table}


def assert_same(table: dict[str, Any], relation: Any, test: str) -> None:
    here, there = ap.learn(table, method="icd"), ap.learn(relation, method="icd")
    assert here.test_name == there.test_name == test
    assert there.pag == here.pag
    one, other = here.problem.bound_test, there.problem.bound_test
    for r in range(3):
        asked = queries(len(table), r)
        np.testing.assert_allclose(other.pvalues(asked), one.pvalues(asked), rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


def on_dask(table: dict[str, Any], folder: Path) -> Any:
    """Two files, one for each worker."""
    dataframe = pytest.importorskip("dask.dataframe")
    for k in range(2):
        half = {name: column[k::2] for name, column in table.items()}
        polars.DataFrame(half).write_parquet(folder / f"{k}.parquet")
    return dataframe.read_parquet(folder)


def test_two_workers_compute_what_is_needed(dask_cluster: Any, tmp_path: Path) -> None:
    table = dict(list(gaussian_table().items())[:4])
    assert_same(table, on_dask(table, tmp_path), "FisherZ")
    assert len(dask_cluster.scheduler_info()["workers"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("test", TABLES)
def test_two_workers_for_every_kind_of_table(test: str, dask_cluster: Any, tmp_path: Path) -> None:
    assert_same(TABLES[test](), on_dask(TABLES[test](), tmp_path), test)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", exc_type=ImportError)
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield session
    session.stop()


@pytest.mark.slow
@pytest.mark.parametrize("test", TABLES)
def test_spark_computes_what_is_needed(test: str, spark: Any, tmp_path: Path) -> None:
    table = TABLES[test]()
    polars.DataFrame(table).write_parquet(tmp_path / "table.parquet")
    assert_same(table, spark.read.parquet(str(tmp_path / "table.parquet")), test)
