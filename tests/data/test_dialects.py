"""Text files as spreadsheets write them: commas, semicolons or tabs between columns, commas or points in numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag.data import as_table
from anypag.data.sources.file import FileTable
from anypag.errors import DataError

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
    moments = FileTable.of(path).moments()
    np.testing.assert_allclose(moments.mean, np.mean(NUMBERS, axis=0))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).map(lambda row: [0.5, *row[1:]]), min_size=1, max_size=6
    )
)
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


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("t.txt", "height, cm\tweight, kg\n1.5\t2.5\n3.5\t4.5\n", ("height, cm", "weight, kg")),
        ("t.csv", "x;y;z,b\n1,2\n3,4\n", ("x;y;z", "b")),
        ("t.csv", "a;b\n1,5;2\n2,5;1\n", ("a", "b")),
    ],
)
def test_the_usual_separator_has_precedence_where_it_fits(
    tmp_path: Path, name: str, text: str, names: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text)
    assert as_table(tmp_path / name).names == names


def test_a_comma_that_may_mark_thousands_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b;c\n953;3;1,003\n900;4;900\n")
    with pytest.raises(DataError, match=r"not clear what 1,003 means, 1003 or 1\.003"):
        as_table(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("a;b;c\n953;3;1,003\n900;4,5;900\n")
    assert as_table(tmp_path / "t.csv").values[0, 2] == 1.003
