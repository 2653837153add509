"""Files as people have them: row numbers, encodings, gaps that may be levels, dates, sheets, no line of names."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import anypag as ap
from anypag.data import as_table
from anypag.data.sources.file import FileTable
from anypag.errors import DataError, MissingExtraError

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60), "c": RNG.normal(size=60)})


def problems(table: Any) -> set[str]:
    return {finding.problem for finding in ap.audit(table).findings}


@pytest.mark.parametrize("index", [None, [f"row {i}" for i in range(60)], list(range(1, 61))])
def test_the_row_numbers_of_pandas_are_left_out_and_it_is_said(tmp_path: Path, index: Any) -> None:
    path = tmp_path / "t.csv"
    (FRAME if index is None else FRAME.set_axis(index)).to_csv(path)
    table = as_table(path)
    assert table.names == ("a", "b", "c")
    assert "index" in problems(path)
    np.testing.assert_allclose(table.values, FRAME.to_numpy())
    if index is None:
        streamed = FileTable.of(path)
        assert streamed.moments().names == ("a", "b", "c")
        assert [finding.problem for finding in streamed.read] == ["index"]
    assert "index" not in problems(as_table(FRAME))


def test_a_nameless_column_that_is_no_index_is_refused_unless_others_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",a,b\n" + "".join(f"{i % 3},{i * i % 7},{i % 5}\n" for i in range(30)))
    with pytest.raises(DataError, match="has no name, and its values are no row numbers"):
        as_table(path)
    assert as_table(path, ["b", "a"]).names == ("b", "a")


def test_columns_are_chosen_before_the_others_are_looked_at() -> None:
    frame = FRAME.assign(when=pd.Timestamp("2020-01-01"), **{" ": 1.0})
    with pytest.raises(DataError, match="not blank"):
        as_table(frame)
    assert as_table(frame, ["a", "c"]).names == ("a", "c")
    with pytest.raises(DataError, match="did you mean 'a'"):
        as_table(frame, ["A"])


def test_an_encoding_is_never_guessed_wrong_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    text = "größe,ort\n" + "".join(f"{i / 7},{'Köln' if i % 2 else 'Łódź'[:1] + 'x'}\n" for i in range(30))
    path.write_bytes(text.replace("Łx", "Genève").encode("latin-1"))
    with pytest.raises(DataError, match=r"is not UTF-8 text.*encoding=\"latin-1\".*read_table"):
        as_table(path)
    table = ap.read_table(path, encoding="latin-1")
    assert table.names == ("größe", "ort")
    assert table.labels[1] == ("Genève", "Köln")
    with pytest.raises(DataError, match="names no encoding that Python knows: 'klingon'"):
        ap.read_table(path, encoding="klingon")


def test_an_encoding_that_goes_wrong_late_in_a_large_file_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1.5,x\n" * 250_000 + "2.5,é\n".encode("latin-1"))
    with pytest.raises(DataError, match="is not UTF-8 text"):
        as_table(path)
    assert ap.read_table(path, encoding="latin-1").labels[1] == ("x", "é")


def test_words_that_may_be_levels_are_said_and_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [("None", "NA", 1.5), ("Beer", "1", 2.5), ("Wine", "2", 0.5), ("None", "1", 7.1)] * 10
    pd.DataFrame(rows, columns=["drink", "n", "x"]).to_csv(path, index=False)
    (found,) = [finding for finding in as_table(path).read if finding.problem == "words"]
    assert str(found).startswith("In column 'drink', 'None' was taken for a missing value, 20 times. If it is a level")
    table = ap.read_table(path, gaps=["NA"])
    assert table.labels[0] == ("Beer", "None", "Wine")
    assert np.isnan(table.values[:, 1]).sum() == 10
    assert not table.read
    with pytest.raises(DataError, match="come as a list"):
        ap.read_table(path, gaps="NA")


def test_dates_get_a_sentence_that_helps(tmp_path: Path) -> None:
    dated = FRAME.assign(visit=pd.date_range("2020-01-31", periods=60).strftime("%d.%m.%Y"))
    path = tmp_path / "t.csv"
    dated.to_csv(path, index=False)
    with pytest.raises(DataError, match=r"'visit' holds dates or times, such as .* \(days since a start"):
        ap.learn(path, method="icd", singular="error")
    with pytest.raises(DataError, match="days since a start"):
        ap.learn(FRAME.assign(visit=pd.date_range("2020-01-31", periods=60)), method="icd", singular="error")
    assert "visit" not in ap.learn(path, method="icd").pag.names  # the default leaves it out


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv", ".feather", ".arrow", ".xlsx", ".parquet"])
def test_every_ending_reads_the_same_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    frame = pl.from_pandas(FRAME)
    if ending == ".csv.gz":
        path.write_bytes(gzip.compress(frame.write_csv().encode()))
    elif ending == ".tsv":
        frame.write_csv(path, separator="\t")
    elif ending == ".parquet":
        frame.write_parquet(path)
    elif ending == ".xlsx":
        pytest.importorskip("xlsxwriter")
        frame.write_excel(path)
    else:
        frame.write_ipc(path)
    np.testing.assert_allclose(as_table(path).values, FRAME.to_numpy(), atol=1e-9)
    assert ap.read_table(path).names == ("a", "b", "c")


def workbook(path: Path, sheets: dict[str, pd.DataFrame]) -> None:
    """An Excel file, written by hand: a few XML files in a zip."""
    import zipfile

    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w") as book:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
            'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
            f"{parts}</Types>",
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets, start=1))
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{space}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>'
        )
        links = "".join(
            f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{links}</Relationships>'
        )
        for i, frame in enumerate(sheets.values(), start=1):
            head = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in frame)
            rows = "".join(
                f"<row>{''.join(f'<c><v>{value!r}</v></c>' for value in row)}</row>"
                for row in frame.to_numpy().tolist()
            )
            book.writestr(
                f"xl/worksheets/sheet{i}.xml",
                f'<worksheet xmlns="{space}"><sheetData><row>{head}</row>{rows}</sheetData></worksheet>',
            )


def test_a_sheet_of_an_excel_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastexcel")
    path = tmp_path / "t.xlsx"
    workbook(path, {"One": FRAME, "Two": FRAME[["c", "a"]]})
    table = as_table(path)
    np.testing.assert_allclose(table.values, FRAME.to_numpy())
    assert "Of the 2 sheets of t.xlsx the first, 'One', was read." in str(table.read[0])
    assert ap.read_table(path, sheet="Two").names == ("c", "a")
    with pytest.raises(DataError, match="There is no sheet 'Tow'; the sheets are 'One', 'Two'"):
        ap.read_table(path, sheet="Tow")
    with pytest.raises(DataError, match=r"'encoding' does not apply to a \.xlsx file"):
        ap.read_table(path, encoding="latin-1")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtraError, match="pip install fastexcel"):
        as_table(path)


def test_a_file_without_a_line_of_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False, header=False)
    assert "header" in problems(path)
    table = ap.read_table(path, header=False)
    assert table.names == ("X0", "X1", "X2")
    assert table.n == 60
    assert "header" not in problems(table)


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("written", ["-999", "-999{}0", "-9.99e2"])
def test_a_number_that_stands_for_a_gap_does_so_however_it_is_written(
    tmp_path: Path, decimal: str, written: str
) -> None:
    path = tmp_path / "codes.csv"
    code = written.replace(".", decimal).format(decimal)
    path.write_text("".join(f"{a};{b}\n" for a, b in [("a", "b"), *[(f"1{decimal}5", 2), (code, -999), ("NA", 4)] * 4]))
    table = ap.read_table(path, gaps=["-999", "NA"])
    expected = [[1.5, 2.0], [np.nan, np.nan], [np.nan, 4.0]]
    np.testing.assert_array_equal(table.values, [row for row in expected * 4 if not np.isnan(row).all()])
    assert ap.read_table(path, gaps=["NA"]).values[1].tolist() == [-999.0, -999.0]


def test_points_and_commas_in_one_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("a;b\n" + "".join(f"{k % 7},5;{k * k % 11}.25\n" for k in range(60)))
    (found,) = ap.audit(path).errors
    assert found.columns == ("b",)
    assert "a file has one decimal sign, the point or the comma" in str(found)


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_words_for_gaps_hold_in_files_of_every_kind(tmp_path: Path, ending: str) -> None:
    frame = pl.DataFrame({"a": [1, 2, -999, 4], "b": [0.5, -999.0, 1.5, 2.5], "c": ["x", "?", "y", "x"]})
    path = tmp_path / f"codes{ending}"
    (frame.write_parquet if ending == ".parquet" else frame.write_ipc)(path)
    said = ap.read_table(path, gaps=["-999", "?"])
    np.testing.assert_array_equal(np.isnan(said.values).T, [[0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]])
    assert not np.isnan(ap.read_table(path).values).any()


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Enum(["x", "?", "y"])])
def test_words_for_gaps_hold_among_categories(tmp_path: Path, ending: str, kind: pl.DataType) -> None:
    frame = pl.DataFrame({"a": pl.Series(["x", "?", "y", "x"], dtype=kind), "b": [0.5, 1.0, 1.5, 2.5]})
    path = tmp_path / f"categories{ending}"
    (frame.write_parquet if ending == ".parquet" else frame.write_ipc)(path)
    said = ap.read_table(path, gaps=["?", "not there"])
    np.testing.assert_array_equal(np.isnan(said.values[:, 0]), [0, 1, 0, 0])
    assert said.labels[0] is not None and "?" not in said.labels[0]
    assert not np.isnan(ap.read_table(path).values).any()


@pytest.mark.parametrize("kind", [pl.Float32(), pl.Float64(), pl.Decimal(10, 3)])
def test_a_number_for_gaps_is_compared_as_the_column_holds_it(tmp_path: Path, kind: pl.DataType) -> None:
    path = tmp_path / "narrow.parquet"
    frame = pl.DataFrame({"a": [0.5, -99.9, 0.0, 2.5], "b": [1.5, 2.0, -99.875, -99.9]})
    frame.cast(kind).write_parquet(path)
    said = ap.read_table(path, gaps=["-99.9"])
    np.testing.assert_array_equal(np.isnan(said.values).T, [[0, 1, 0, 0], [0, 0, 0, 1]])


def test_a_number_for_gaps_that_a_column_cannot_hold_is_not_in_it(tmp_path: Path) -> None:
    path = tmp_path / "narrow.parquet"
    pl.DataFrame({"a": [0.5, 0.0, 1.5, np.inf]}).cast(pl.Float32).write_parquet(path)
    assert not np.isnan(ap.read_table(path, gaps=["1e-60", "1e60"]).values).any()


def test_digits_with_a_low_line_are_no_number(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n10,1.5\n20,2.5\n30,0.5\n")
    assert not np.isnan(ap.read_table(path, gaps=["1_0"]).values).any()


@pytest.mark.parametrize("word", ["n/a", "na", "NAN", "Null", "N/a", "none", "#N/A"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_other_spellings_of_missing_are_gaps_among_numbers_and_levels_among_texts(
    tmp_path: Path, word: str, decimal: str
) -> None:
    path = tmp_path / "t.csv"
    rows = [(word, "yes", 1.25), (2.5, word, 7.0), (0.5, "no", 3.5), (7.1, "yes", word), (4.5, "no", 0.5)] * 10
    frame = pd.DataFrame(rows, columns=["x", "smokes", "y"])
    numbers = frame.map(lambda value: str(value).replace(".", decimal) if isinstance(value, float) else value)
    numbers.to_csv(path, index=False, sep=";" if decimal == "," else ",")
    table = as_table(path)
    assert table.labels[0] is None and np.isnan(table.values[:, 0]).sum() == 10
    assert table.values[1, 0] == 2.5 and np.isnan(table.values[3, 2])
    assert table.labels[1] == tuple(sorted(["no", "yes", word])), "a level does not vanish"
    assert as_table(path, ["smokes"]).labels[0] == table.labels[1]
    moments = FileTable.of(path, ["x", "y"]).complete().moments()
    assert moments.n == 30


def test_a_word_that_was_said_to_be_a_gap_is_not_asked_about_again(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({"smokes": ["yes", "no", "n/a", "yes"] * 10, "x": np.arange(40) * 0.1}).to_csv(path, index=False)
    (asked,) = [finding for finding in ap.audit(path).findings if finding.problem == "code"]
    assert "'n/a'" in asked.message and 'gaps=["n/a"]' in str(asked.remedy)
    table = ap.read_table(path, gaps=["n/a"])
    assert np.isnan(table.values[:, 0]).sum() == 10 and not table.read


def test_rows_stay_together_where_lines_are_empty_and_words_are_levels(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1.5,x,2\n,,\nNA,NA,NA\n2.5,na,3\nna,y,4\n")
    table = as_table(path)
    assert table.labels[1] == ("na", "x", "y")
    np.testing.assert_array_equal(table.values, [[1.5, 1, 2], [2.5, 0, 3], [np.nan, 2, 4]])


def test_a_word_among_decimal_commas_is_named_and_not_the_commas(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = [f"{i},{i % 7};{i % 3},5" for i in range(40)] + ["ask again;1,5"]
    path.write_text("a;b\n" + "\n".join(lines) + "\n")
    (found,) = ap.audit(path).errors
    assert found.message == "Column 'a' holds text among numbers: 'ask again'."
    assert "'gaps'" in str(found.remedy) and "decimal point" not in str(found.remedy)
    assert ap.read_table(path, gaps=["ask again"]).kinds[0] == "continuous"
