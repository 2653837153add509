"""A process with less memory than the table takes: the same graph, p-values to 1e-9 (`limited.py` is that process)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap

pytest.importorskip("duckdb")
arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="looks at its own size in /proc")

SYSTEM = ap.simulate.random_system(10, 2.0, seed=0)


def gaussian(rows: int, seed: int) -> dict[str, Any]:
    drawn = SYSTEM.linear_gaussian(rows, seed=seed)
    return {name: np.asarray(drawn[name], np.float64) for name in drawn.names}


def discrete(rows: int, seed: int) -> dict[str, Any]:
    drawn = SYSTEM.discrete(rows, levels=3, seed=seed)
    return {name: np.asarray(drawn[name], np.float64) for name in drawn.names}


def mixed(rows: int, seed: int) -> dict[str, Any]:
    table = gaussian(rows, seed)
    return {
        name: np.floor(np.clip(column, -1, 1)) if k % 3 == 0 else column
        for k, (name, column) in enumerate(table.items())
    }


def write_chunks(path: Path, draw: Callable[[int, int], dict[str, Any]], rows: int, chunk: int) -> dict[str, Any]:
    """A file written chunk by chunk, and the same rows in memory, to compare with."""
    drawn = [draw(chunk, seed) for seed in range(rows // chunk)]
    with parquet.ParquetWriter(path, arrow.table(drawn[0]).schema, compression="none", use_dictionary=False) as writer:
        for part in drawn:
            writer.write_table(arrow.table(part), row_group_size=20_000)
    return {name: np.concatenate([part[name] for part in drawn]) for name in drawn[0]}


def learned_in(path: Path, megabytes: int, test: str) -> dict[str, Any]:
    script = Path(__file__).parent / "limited.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), str(path), str(megabytes), test],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def assert_same(path: Path, table: dict[str, Any], megabytes: int, name: str) -> None:
    assert path.stat().st_size > megabytes * 2**20
    there = learned_in(path, megabytes, "auto")
    here = ap.learn(table, max_r=1)
    assert not there["fits"], "the table would have fitted, which shows nothing"
    assert there["test"] == here.test_name == name and there["rows"] == len(next(iter(table.values())))
    assert there["edges"] == str(here.pag)
    x, y = np.triu_indices(len(table), 1)
    pvalues = here.problem.bound_test.pvalues(ap.Queries(x, y, np.empty((len(x), 0))))
    np.testing.assert_allclose(there["p"], pvalues, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
def test_a_file_larger_than_the_memory_left(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = write_chunks(path, gaussian, 1_200_000, 100_000)
    assert_same(path, table, 60, "FisherZ")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
@pytest.mark.parametrize(
    ("draw", "test"), [(gaussian, "FisherZ"), (discrete, "PermutationChiSquared"), (mixed, "DegenerateGaussian")]
)
def test_a_file_twice_as_large_for_every_kind_of_table(draw: Any, test: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = write_chunks(path, draw, 4_000_000, 200_000)
    assert_same(path, table, 140, test)


def test_views_of_a_file_read_it_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anypag.data.sources import file

    (tmp_path / "rows.csv").write_text("a,b,c\n" + "\n".join(f"{k},{k * k % 7},{'xyz'[k % 3]}" for k in range(50)))
    whole = file.FileTable.of(tmp_path / "rows.csv")
    assert whole.kinds and whole.n == 50
    monkeypatch.setattr(file, "made_from_file", None)
    monkeypatch.setattr(file, "glance", None)
    for view in (whole.complete(), whole.with_kinds({"a": "discrete"}), whole.with_kinds({"b": "discrete"}).complete()):
        assert view.n == 50 and view.labels == whole.labels and len(view.sample().values) == 50
