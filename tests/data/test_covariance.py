"""Covariance matrices in place of rows: in arrays, frames and files, and what is wrong with those that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest
from engine_examples import queries

import anypag as ap
from anypag.errors import DataError

ROWS = 300
FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(ROWS, 5)) @ np.random.default_rng(1).normal(size=(5, 5)))
FRAME.columns = list("abcde")


def assert_same(test: ap.FisherZ, names: str = "abcde") -> None:
    rows = ap.FisherZ(FRAME[list(names)])
    assert (test.names, test.n) == (tuple(names), ROWS)
    asked = queries(len(names), 2, b=30)
    np.testing.assert_allclose(test.pvalues(asked), rows.pvalues(asked), atol=1e-9)


@pytest.mark.parametrize("matrix", [FRAME.cov(), FRAME.corr(), polars.from_pandas(FRAME.cov())])
def test_frames_bring_their_names(matrix: Any) -> None:
    assert_same(ap.FisherZ.from_covariance(matrix, ROWS))
    assert_same(ap.FisherZ.from_covariance(matrix, ROWS, ["d", "a", "b", "e"]), "dabe")
    assert ap.learn(ap.FisherZ.from_covariance(matrix, ROWS), method="icd").pag == ap.learn(FRAME, method="icd").pag


def test_rows_may_come_in_another_order() -> None:
    assert_same(ap.FisherZ.from_covariance(FRAME.cov().loc[list("cabed")], ROWS))


def triangle(keep: Any) -> pd.DataFrame:
    return FRAME.cov().where(keep(np.ones((5, 5), bool)))


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("keep", [lambda flags: flags, np.tril, np.triu])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_files_with_and_without_names_of_rows(ending: str, keep: Any, index: bool, tmp_path: Path) -> None:
    path, matrix = tmp_path / f"cov{ending}", triangle(keep)
    if ending == ".parquet":
        polars.from_pandas(matrix.reset_index(names="variable") if index else matrix).write_parquet(path)
    else:
        matrix.to_csv(path, index=index, sep="," if ending == ".csv" else "\t")
    assert_same(ap.FisherZ.from_covariance(path, ROWS))
    assert_same(ap.FisherZ.from_covariance(str(path), ROWS, ["e", "b", "c", "a"]), "ebca")


def changed(**cells: float) -> pd.DataFrame:
    matrix = FRAME.corr()
    for place, value in cells.items():
        matrix.loc[place[0], place[1]] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (
            changed(ab=0.9),
            r"must be symmetric; 'a' and 'b' have 0.9 one way and .* Correct it, or leave one triangle empty",
        ),
        (changed(aa=-1.0), "must be positive; that of 'a' is -1. Correct it, or leave the column out"),
        (changed(ab=0.99, ba=0.99, bc=-0.99, cb=-0.99, ac=0.99, ca=0.99), "negative variance .* from complete rows"),
        (changed(ab=np.nan), "there is none for 'a' and 'b'. Only a whole triangle may be left empty"),
        (FRAME.corr().iloc[:3], r"is square, .* got one of shape \(3, 5\)"),
        (FRAME.corr().rename(index={"b": "z"}), "'z' is not among the columns"),
    ],
)
def test_what_is_no_covariance_matrix_is_refused(matrix: pd.DataFrame, message: str, tmp_path: Path) -> None:
    matrix.to_csv(tmp_path / "cov.csv")
    with pytest.raises(DataError, match=message):
        ap.FisherZ.from_covariance(tmp_path / "cov.csv", ROWS)


@pytest.mark.parametrize("n", [None, 2.5, 3, True, "many"])
def test_the_number_of_rows_goes_with_it(n: Any) -> None:
    with pytest.raises(DataError, match="needs the number of rows it was computed from, a whole number from 4"):
        ap.FisherZ.from_covariance(FRAME.cov(), n)


def test_text_in_the_matrix_and_unknown_names(tmp_path: Path) -> None:
    FRAME.cov().assign(c="x").to_csv(tmp_path / "cov.csv")
    with pytest.raises(DataError, match="holds numbers only; column 'c' holds something else"):
        ap.FisherZ.from_covariance(tmp_path / "cov.csv", ROWS)
    with pytest.raises(DataError, match="There is no column 'q'"):
        ap.FisherZ.from_covariance(FRAME.cov(), ROWS, ["a", "q"])
    with pytest.raises(DataError, match="numbers only"):
        ap.FisherZ.from_covariance([["x", "y"], ["y", "x"]], ROWS)


@pytest.mark.parametrize("index", [True, False])
def test_a_matrix_given_as_rows_is_noticed(index: bool, tmp_path: Path) -> None:
    FRAME.corr().to_csv(tmp_path / "cov.csv", index=index)
    with pytest.raises(DataError, match=r"The table is symmetric, .* Say how many rows"):
        ap.learn(tmp_path / "cov.csv", method="icd")


@pytest.mark.parametrize(
    ("matrix", "n", "message"),
    [
        (np.eye(2), 2**63, "from 4 to 9,007,199,254,740,992"),
        (np.eye(2) * (1 + 1j), 100, "holds real numbers; got complex ones"),
        (pd.DataFrame([[1, "x"], ["x", 1]], ["a", "b"], ["a", "b"]), 100, "holds numbers only"),
    ],
)
def test_what_is_no_matrix_of_real_numbers_is_refused(matrix: Any, n: int, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ap.FisherZ.from_covariance(matrix, n)
