"""Text files as spreadsheets write them: commas, semicolons or tabs between columns, commas or points in numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag.data import as_table, stream_moments

NUMBERS = [[0.5, -1.25, 3.0], [1e-3, 2.0, 7.5], [12.75, 0.0, -4.5], [8.0, 1.5, 2.25], [1.0, 2.5, 0.125]]


def written(path: Path, separator: str, point: str, numbers: list[list[float]] = NUMBERS) -> Path:
    rows = [separator.join(str(value).replace(".", point) for value in row) for row in numbers]
    path.write_text("\n".join([separator.join(["age", '"weight, kg"', "dose"]), *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "separator", "point"),
    [
        ("t.csv", ",", "."),
        ("t.csv", ";", "."),
        ("t.csv", ";", ","),
        ("t.csv", "\t", "."),
        ("t.txt", "\t", "."),
        ("t.txt", ",", "."),
        ("t.tsv", "\t", "."),
    ],
)
def test_every_way_of_writing_a_table(tmp_path: Path, name: str, separator: str, point: str) -> None:
    path = written(tmp_path / name, separator, point)
    table = as_table(path)
    assert table.names == ("age", "weight, kg", "dose")
    np.testing.assert_array_equal(table.values, NUMBERS)
    moments, _ = stream_moments(path)
    np.testing.assert_allclose(moments.mean, np.mean(NUMBERS, axis=0))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=6))
def test_any_numbers_with_decimal_commas(tmp_path_factory: pytest.TempPathFactory, numbers: list[list[float]]) -> None:
    path = written(tmp_path_factory.mktemp("comma") / "t.csv", ";", ",", numbers)
    np.testing.assert_array_equal(as_table(path).values, numbers)


def test_text_among_semicolons_keeps_its_commas(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('place;n\n"Bern, CH";1.5\n"Graz, AT";2.5\n')
    table = as_table(path)
    assert table.labels[0] == ("Bern, CH", "Graz, AT") and table.values[:, 1].tolist() == [1.5, 2.5]


def test_one_column_and_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a\n1\n2\n")
    assert as_table(tmp_path / "one.csv").names == ("a",)
    (tmp_path / "none.csv").write_text("")
    with pytest.raises(Exception, match="cannot be read as a"):
        as_table(tmp_path / "none.csv")
