"""Any table comes in the same, whatever it is held in."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from anypag.data import as_table
from anypag.data.levels import infer_kind
from anypag.errors import DataError

COLUMNS: dict[str, list[Any]] = {
    "age": [31.5, None, 44.0, 29.0],
    "count": [3, 1, None, 2],
    "smokes": [True, False, None, True],
    "town": ["Ulm", "Bern", None, "Ulm"],
}


def values_are_right(table: Any) -> None:
    assert table.names == ("age", "count", "smokes", "town")
    expected = [[31.5, 3, 1, 1], [np.nan, 1, 0, 0], [44, np.nan, np.nan, np.nan], [29, 2, 1, 1]]
    np.testing.assert_array_equal(table.values, expected)
    assert table.labels == (None, None, None, ("Bern", "Ulm"))
    assert table.kinds == ("continuous", "continuous", "discrete", "discrete")
    assert table.values.flags.f_contiguous and table.values.dtype == np.float64


def test_mappings_and_frames() -> None:
    values_are_right(as_table({name: np.array(column, dtype=object) for name, column in COLUMNS.items()}))
    values_are_right(as_table(polars.DataFrame(COLUMNS)))
    values_are_right(as_table(polars.LazyFrame(COLUMNS)))
    values_are_right(as_table(pyarrow.table(COLUMNS)))
    values_are_right(as_table(pandas.DataFrame(COLUMNS)))
    values_are_right(as_table(pandas.DataFrame(COLUMNS).convert_dtypes()))
    values_are_right(as_table(pandas.DataFrame(COLUMNS).astype({"town": "category"})))
    values_are_right(as_table(polars.DataFrame(COLUMNS).with_columns(polars.col("town").cast(polars.Categorical))))


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "parquet", "arrow", "feather", "ipc"])
def test_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table.{ending}"
    frame = polars.DataFrame(COLUMNS)
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending in {"arrow", "feather", "ipc"}:
        frame.write_ipc(path)
    else:
        frame.write_csv(path, separator="," if ending == "csv" else "\t", null_value="NA")
    values_are_right(as_table(path))
    values_are_right(as_table(str(path)))


def test_arrays_of_all_types() -> None:
    numbers = [[1, 0], [0, 1], [1, 1]]
    for dtype in (np.int8, np.uint64, np.float16, np.float32, np.float64, np.longdouble, bool, object):
        table = as_table(np.array(numbers, dtype=dtype), ["a", "b"])
        assert table.names == ("a", "b")
        np.testing.assert_array_equal(table.values, numbers)
    text = as_table(np.array([["x", "u"], ["y", "u"]]))
    assert text.labels == (("x", "y"), ("u",))
    assert text.names == ("X0", "X1")
    assert as_table(numbers).values.tolist() == numbers


def test_masked_values_are_missing() -> None:
    table = as_table(np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]]))
    np.testing.assert_array_equal(table.values, [[1, np.nan], [3, 4]])


def test_names_that_are_no_strings_become_strings() -> None:
    assert as_table(pandas.DataFrame({0: [1.0], 1: [2.0]})).names == ("0", "1")
    assert as_table(pandas.DataFrame({("a", 1): [1.0], ("b", 2): [2.0]})).names == ("('a', 1)", "('b', 2)")


def test_names_choose_columns_of_what_has_names() -> None:
    table = as_table(polars.DataFrame(COLUMNS), ["town", "age"])
    assert table.names == ("town", "age")
    assert table.labels == (("Bern", "Ulm"), None)
    assert as_table(table, ["age"]).names == ("age",)


def test_the_table_is_a_copy() -> None:
    array = np.ones((3, 2))
    table = as_table(array)
    array[0, 0] = 7
    assert table.values[0, 0] == 1


def test_what_was_taken_for_what_is_shown() -> None:
    table = as_table({"age": [31.5, 40.25, None], "smokes": [True, False, True]})
    assert str(table) == "3 rows, 2 columns\nage: continuous, 31.5 to 40.25, 1 missing\nsmokes: discrete, 2 levels"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.repeat(np.arange(10.0), 5), "discrete"),
        (np.repeat(np.arange(11.0), 5), "continuous"),
        (np.repeat(np.arange(10.0), 4), "continuous"),
        (np.repeat([0.5, 1.5], 50), "continuous"),
        (np.append(np.repeat([0.0, 1.0], 50), np.nan), "discrete"),
        (np.append(np.repeat([0.0, 1.0], 1000), 0.5), "continuous"),
        (np.append(np.repeat([0.0, 1.0], 1000), np.arange(20.0)), "continuous"),
        (np.ones(50), "continuous"),
    ],
)
def test_the_rule_for_kinds(values: np.ndarray[Any, np.dtype[np.float64]], kind: str) -> None:
    assert infer_kind(values) == kind


def test_kinds_can_be_set() -> None:
    table = as_table(COLUMNS | {}, kinds={"count": "discrete"})
    assert table.kinds == ("continuous", "discrete", "discrete", "discrete")
    with pytest.raises(DataError, match="Kinds were given for 'counts', but the columns are 'age', 'count'"):
        as_table(COLUMNS, kinds={"counts": "discrete"})


REFUSED: list[tuple[Any, Any, str]] = [
    (np.ones(3), None, "A table is an array of shape (rows, columns); got one of shape (3,)"),
    (np.ones((0, 3)), None, "A table needs rows and columns; got 0 rows and 3 columns"),
    (np.ones((3, 0)), None, "A table needs rows and columns; got 3 rows and 0 columns"),
    ({}, None, "A table needs rows and columns; got 0 rows and 0 columns"),
    (np.ones((3, 2)), ["a"], "There must be one name per column: 2 columns, 1 names"),
    (np.ones((3, 2)), ["a", "a"], "Column names must differ; 'a' comes twice. Rename or drop one of the two."),
    (np.ones((3, 2)), ["a", " "], "Column names must be strings that are not blank; got ' '"),
    (np.ones((3, 2)), "ab", "Names come as a list of strings; got the single string 'ab'"),
    ({"a": [1, 2], "b": [1, 2, 3]}, None, "All columns must have the same number of rows; got [2, 3]"),
    ([[1, 2], [3]], None, "The rows of a table must all have the same number of values"),
    ({"a": np.array([1j, 2])}, None, "Column 'a' is of type complex128, which is neither numbers nor text"),
    ({"a": np.array([1, "n/a"], dtype=object)}, None, "Column 'a' mixes numbers and text ('n/a')"),
    ({"a": np.array([1, [2]], dtype=object)}, None, "Column 'a' holds [2] of type list"),
    ({"a": np.array([10**400, 1], dtype=object)}, None, "Column 'a' holds a number too large for float64"),
    ({"a": np.ones((2, 2))}, None, "Column 'a' must be one-dimensional"),
    (polars.DataFrame({"time": [datetime.timedelta(1)]}), None, "Column 'time' is of type Duration"),
    (polars.DataFrame({"a": [[1, 2]]}), None, "Column 'a' is of type List"),
    (polars.DataFrame({"a": [1]}), ["b"], "There is no column 'b'; the columns are 'a'"),
    (pandas.DataFrame([[1, 2]], columns=["a", "a"]), None, "Column names must differ; rename or drop"),
    (3, None, "Data come as an array, a mapping of columns, a data frame"),
    (None, None, "or the path of a file; got NoneType"),
    ("table.xls", None, "The ending of a file says what it holds: .csv, .tsv"),
    ("nowhere.csv", None, "There is no file nowhere.csv"),
]


@pytest.mark.parametrize(("data", "names", "message"), REFUSED, ids=[message[:30] for _, _, message in REFUSED])
def test_what_is_no_table_is_refused_in_words(data: Any, names: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        as_table(data, names)
    assert message in str(caught.value)


def test_a_file_that_is_not_what_its_name_says(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"table.parquet cannot be read as a .parquet table"):
        as_table(path)
    ragged = tmp_path / "table.csv"
    ragged.write_text("a,b\n1,2,3\n1\n")
    with pytest.raises(DataError, match=r"table.csv cannot be read as a .csv table"):
        as_table(ragged)
