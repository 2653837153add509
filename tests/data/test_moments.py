"""Means, deviations and correlations of a table and of a file, against numpy's and against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from anypag.ci.base import Queries
from anypag.ci.gaussian import FisherZ
from anypag.data import Moments, moments, moments_of
from anypag.data.moments import PANEL
from anypag.data.sources.file import FileTable
from anypag.errors import DataError

NAMES = ["d", "a", "c", "b"]


def table(rows: int, seed: int, scale: float = 1.0) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(rows, 4)) @ rng.normal(size=(4, 4)) + [1e6, 0.0, -3.0, 1e-3]) * scale


def written(path: Path, values: npt.NDArray[np.float64]) -> Path:
    frame = polars.DataFrame(dict(zip(NAMES, values.T, strict=True)))
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".arrow":
        frame.write_ipc(path)
    else:
        frame.write_csv(path)
    return path


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(5, 100))
def test_moments_are_numpys(seed: int, rows: int) -> None:
    values = table(rows, seed)
    moments = moments_of(values, NAMES)
    np.testing.assert_allclose(moments.mean, values.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.covariance, np.cov(values.T), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(moments.kurtosis, stats.kurtosis(values, fisher=False), rtol=1e-6)
    assert np.array_equal(moments.correlation, moments.correlation.T)


@pytest.mark.parametrize("threads", [2, 3])
def test_panels_and_threads_give_the_same_bits(threads: int) -> None:
    """More columns than a panel has, and the same whatever their order and the number of threads."""
    rng = np.random.default_rng(5)
    p = PANEL + PANEL // 3
    values, names = rng.normal(size=(50, p)) @ rng.normal(size=(p, p)), [f"c{i}" for i in range(p)]
    one = moments_of(values, names)
    np.testing.assert_allclose(one.correlation, np.corrcoef(values.T), rtol=0, atol=1e-12)
    assert np.array_equal(one.correlation, moments_of(values, names, threads=threads).correlation)
    order = rng.permutation(p)
    other = moments_of(values[:, order], [names[i] for i in order], threads=threads)
    assert np.array_equal(one.correlation[np.ix_(order, order)], other.correlation)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "CHUNK", 4 * 17)
    monkeypatch.setattr("anypag.data.sources.door.MOST_LOOKED_AT", 0)  # files are read in parts


def in_one_chunk(values: npt.NDArray[np.float64]) -> Moments:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "CHUNK", 10**9)
        return moments_of(values, NAMES)


def same_bits(one: Moments, other: Moments) -> bool:
    return all(
        np.array_equal(getattr(one, part), getattr(other, part))
        for part in ("n", "mean", "deviation", "correlation", "kurtosis")
    )


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
@pytest.mark.parametrize("scale", [1.0, 1e150, 1e-150])
def test_a_file_in_parts_has_the_same_moments(tmp_path: Path, ending: str, scale: float) -> None:
    values = table(200, seed=1, scale=scale)
    streamed = FileTable.of(written(tmp_path / f"t.{ending}", values)).moments()
    whole = in_one_chunk(values)
    assert streamed.names == tuple(NAMES) and streamed.n == 200
    assert same_bits(streamed, moments_of(values, NAMES))
    np.testing.assert_allclose(streamed.mean, whole.mean, rtol=1e-13)
    np.testing.assert_allclose(streamed.deviation, whole.deviation, rtol=1e-12)
    np.testing.assert_allclose(streamed.kurtosis, whole.kurtosis, rtol=1e-9)
    np.testing.assert_allclose(streamed.correlation, whole.correlation, rtol=0, atol=1e-12)


@pytest.mark.usefixtures("small_parts")
def test_parts_of_very_different_size_are_joined(tmp_path: Path) -> None:
    values = table(100, seed=2)
    values[50:] *= 1e200
    streamed = FileTable.of(written(tmp_path / "t.parquet", values)).moments()
    np.testing.assert_allclose(streamed.correlation, in_one_chunk(values).correlation, atol=1e-12)


@pytest.mark.usefixtures("small_parts")
def test_fisher_z_of_a_file_is_that_of_the_table(tmp_path: Path) -> None:
    values = table(200, seed=3)
    values[7, 2] = np.nan
    path = written(tmp_path / "t.parquet", values)
    queries = Queries([0, 1, 2], [1, 2, 3], [[2], [3], [0]])
    for missing in ("drop", "pairwise"):
        of_file, of_table = FisherZ(path, missing=missing), FisherZ(values, NAMES, missing=missing)
        assert np.array_equal(of_file.pvalues(queries), of_table.pvalues(queries))
        assert of_file.effective_n(queries).tolist() == of_table.effective_n(queries).tolist()
    assert FisherZ(path, ["b", "a"]).names == ("b", "a")


@pytest.mark.usefixtures("small_parts")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(20, 90), share=st.sampled_from([0.0, 0.02, 0.3]))
def test_a_file_and_the_same_frame_give_the_same_bits(tmp_path: Path, seed: int, rows: int, share: float) -> None:
    """Also where dropping incomplete rows moves the others to other chunks."""
    values = table(rows, seed)
    values[1:][np.random.default_rng(seed).random((rows - 1, 4)) < share] = np.nan
    path = written(tmp_path / "t.parquet", values)
    complete = values[~np.isnan(values).any(axis=1)]
    if len(complete) >= 8:
        streamed = FileTable.of(path).complete().moments()
        assert same_bits(streamed, moments_of(complete, NAMES))


def with_value(value: Any) -> npt.NDArray[np.float64]:
    values = table(50, seed=4)
    values[3, 2] = value
    return values


def constant() -> npt.NDArray[np.float64]:
    values = table(50, seed=4)
    values[:, 1] = 7
    return values


def related() -> npt.NDArray[np.float64]:
    values = table(50, seed=4)
    values[:, 3] = values[:, 1] + 2 * values[:, 2]
    return values


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        (with_value(np.nan), "Values are missing in some of the 50 rows: 'c' 1."),
        (with_value(np.inf), "Column 'c' has 1 infinite value."),
        (constant(), "Column 'a' is constant."),
        (related(), "Exact linear relation: b = a + 2·c."),
        (table(3, seed=0), "There must be at least 4 rows to test anything; got 3."),
        (table(0, seed=0), "A table needs rows and columns; got 0 rows and 4 columns."),
    ],
)
def test_a_file_is_audited_as_a_table_is(tmp_path: Path, values: npt.NDArray[np.float64], message: str) -> None:
    with pytest.raises(DataError) as caught:
        FisherZ(written(tmp_path / "t.parquet", values))
    assert message in str(caught.value)
    with pytest.raises(DataError) as same:
        FisherZ(values, NAMES)
    assert message in str(same.value)


def test_text_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1.5,x\n2.5,unknown\n3.5,x\n")
    with pytest.raises(DataError) as caught:
        FisherZ(path)
    assert "Column 'b' holds text, such as 'unknown', 'x'." in str(caught.value)
