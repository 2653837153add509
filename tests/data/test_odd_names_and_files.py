"""Names that are easily mixed up, columns of row numbers, folders for files: a sentence each, nothing lost."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anypag as ap
from anypag.data.files.read_table import read_table
from anypag.data.table import as_table
from anypag.errors import DataError, ParameterError
from anypag.graphs.marks import Edge, Mark


@pytest.fixture
def frame() -> pd.DataFrame:
    values = np.random.default_rng(0).normal(size=(100, 4))
    values[:, 1] += values[:, 0]
    return pd.DataFrame(values, columns=["a", "b", "c", "d"])


def test_names_that_are_written_alike_are_refused(frame: pd.DataFrame) -> None:
    frame.columns = pd.Index(["0", 0, "b", "c"])
    with pytest.raises(DataError, match="'0' comes twice"):
        as_table(frame)
    assert as_table(frame, ["b", "c"]).names == ("b", "c")


def test_learn_says_it_too_when_names_come_twice(frame: pd.DataFrame) -> None:
    frame.columns = pd.Index(["a", "a", "b", "c"])
    with pytest.raises(DataError, match="must differ"):
        ap.learn(frame, method="icd")


def test_row_numbers_in_a_parquet_file_are_left_out(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame[frame.a > 0].to_parquet(tmp_path / "some.parquet")
    for found in (read_table(tmp_path / "some.parquet"), ap.learn(tmp_path / "some.parquet", method="icd").pag):
        assert found.names == ("a", "b", "c", "d")


def test_measurements_without_a_name_are_no_row_numbers(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.rename(columns={"a": ""}).to_csv(tmp_path / "no_name.csv", index=False)
    with pytest.raises(DataError, match="has no name"):
        ap.learn(tmp_path / "no_name.csv", method="icd")


def test_a_name_that_looks_like_a_reader_s_own_is_a_name(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.columns = pd.Index(["x", "x_duplicated_0", "c", "d"])
    frame.to_csv(tmp_path / "names.csv", index=False)
    for data in (frame, tmp_path / "names.csv"):
        assert ap.learn(data, method="icd").pag.names == tuple(frame.columns)
    text = (tmp_path / "names.csv").read_text().replace("x_duplicated_0", "x", 1)
    (tmp_path / "twice.csv").write_text(text)
    with pytest.raises(DataError, match="Two columns are named 'x'"):
        ap.learn(tmp_path / "twice.csv", method="icd")


def test_so_it_is_in_a_table_of_counts() -> None:
    table = {"x": [0, 0, 1, 1], "x_duplicated_0": [0, 1, 0, 1], "n": [30, 10, 15, 25]}
    assert ap.learn(ap.counted(table, "n"), method="icd").pag.names == ("x", "x_duplicated_0")


def test_decimal_commas_without_a_line_of_names(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "commas.csv", sep=";", decimal=",", index=False, header=False)
    table = read_table(tmp_path / "commas.csv", header=False)
    np.testing.assert_allclose(table.values, frame.to_numpy())


def test_a_folder_is_no_file(frame: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        ap.learn(tmp_path / "folder.csv", method="icd")
    with pytest.raises(ParameterError, match="it is a folder"):
        ap.learn(frame, method="icd").save(tmp_path / "folder.csv")


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ("sepal length (cm)", "pro-oxidant", "sepal length (cm) o-> pro-oxidant"),
        ("a --> b", "c", '"a --> b" o-> c'),
        (" a", "b;c", '" a" o-> "b;c"'),
    ],
)
def test_an_edge_is_written_so_that_it_cannot_be_misread(a: str, b: str, text: str) -> None:
    assert str(Edge(a, b, Mark.CIRCLE, Mark.ARROW)) == text


@pytest.mark.parametrize("encoding", ["rot13", "hex", "base64", "zlib", "undefined", "klingon", "a\0b"])
def test_what_is_no_encoding_of_texts_is_refused(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(DataError, match="names no encoding that Python knows"):
        read_table(tmp_path / "t.csv", encoding=encoding)


def test_a_doubled_quote_in_a_header_is_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,"e""f",c\n1,2,3\n4,5.5,6\n')
    assert read_table(tmp_path / "t.csv").names == ("a", 'e"f', "c")


def test_a_packed_file_that_is_too_large_unpacked_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("a,b\n" + "0,0\n" * 100_000)
    monkeypatch.setattr("anypag.data.files.dialects.MOST_UNPACKED", 10_000)
    with pytest.raises(DataError, match=r"once it is unpacked.*gunzip"):
        read_table(tmp_path / "t.csv.gz")
