"""Tables for engines, and the engines that are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import anypag as ap


def discrete_table(rows: int = 2000, seed: int = 1) -> dict[str, Any]:
    """Seven columns of three levels, some of them text or truth values."""
    drawn = ap.simulate.random_system(8, 2.0, seed=seed).discrete(rows, levels=3, seed=seed)
    columns: dict[str, Any] = {name: np.asarray(drawn[name]) for name in drawn.names}
    first, second = list(columns)[:2]
    columns[first] = np.array(["low", "mid", "high"])[columns[first].astype(int)]
    columns[second] = columns[second] > 0
    return columns


def mixed_table(rows: int = 2000, seed: int = 2) -> dict[str, Any]:
    """Numbers, text with three labels, a truth value and a small count."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, rows)
    size = group + rng.normal(size=rows)
    return {
        "group": np.array(["a", "b", "c"])[group],
        "size": 1e4 + 100 * size,
        "weight": size + rng.normal(size=rows),
        "ill": size + rng.normal(size=rows) > 1,
        "visits": rng.integers(0, 4, rows),
        "luck": rng.normal(size=rows),
    }


def with_gaps(table: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """A twentieth of the values of two columns gone."""
    rng = np.random.default_rng(seed)
    gone = {name: rng.random(len(column)) < 0.05 for name, column in list(table.items())[:2]}
    return {
        name: [None if gone.get(name, [False] * len(column))[i] else value for i, value in enumerate(column.tolist())]
        for name, column in table.items()
    }


def queries(p: int, r: int, b: int = 150, seed: int = 0) -> ap.Queries:
    rng = np.random.default_rng(seed)
    picks = np.array([rng.permutation(p)[: r + 2] for _ in range(b)])
    return ap.Queries(picks[:, 0], picks[:, 1], picks[:, 2:])


def written(table: dict[str, Any], folder: Path) -> Path:
    path = folder / "table.parquet"
    polars.DataFrame(table).write_parquet(path)
    return path


def in_duckdb(path: Path) -> Any:
    return pytest.importorskip("duckdb").connect().read_parquet(str(path))


def in_dask(path: Path) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(polars.read_parquet(path).to_pandas(), npartitions=3)


def in_sqlframe(path: Path) -> Any:
    duckdb = pytest.importorskip("sqlframe.duckdb")
    return duckdb.DuckDBSession.builder.getOrCreate().read.parquet(str(path))


def in_ibis(path: Path) -> Any:
    return pytest.importorskip("ibis").read_parquet(str(path))


ENGINES = {"duckdb": in_duckdb, "dask": in_dask, "sqlframe": in_sqlframe, "ibis": in_ibis}
