"""Files as they come: odd names, other encodings, packed, damaged, with types that show late."""

from __future__ import annotations

import gzip
import multiprocessing
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from anypag.ci.gaussian import FisherZ
from anypag.data import as_table
from anypag.data.audit import audit
from anypag.errors import DataError

WRITERS = {"csv": "write_csv", "tsv": "write_csv", "parquet": "write_parquet", "arrow": "write_ipc"}


def frame(seed: int, rows: int = 40) -> polars.DataFrame:
    rng = np.random.default_rng(seed)
    return polars.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})


def write(path: Path, table: polars.DataFrame) -> Path:
    path.parent.mkdir(exist_ok=True)
    options: dict[str, Any] = {"separator": "\t"} if path.suffix == ".tsv" else {}
    getattr(table, WRITERS[path.suffix[1:]])(path, **options)
    return path


@pytest.mark.parametrize("ending", sorted(WRITERS))
@pytest.mark.parametrize(("name", "other"), [("d[1]", "d1"), ("e*", "ee"), ("f?", "fo"), ("{g,h}", "g"), ("~", "t")])
def test_a_name_is_the_name_of_one_file(tmp_path: Path, ending: str, name: str, other: str) -> None:
    write(tmp_path / f"{other}.{ending}", frame(1))
    path = write(tmp_path / f"{name}.{ending}", frame(2))
    np.testing.assert_array_equal(as_table(path).values, frame(2).to_numpy())
    assert FisherZ(path).n == 40


def test_a_folder_called_like_the_sign_for_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write(tmp_path / "home" / "t.csv", frame(1))
    write(tmp_path / "~" / "t.csv", frame(2))
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(as_table(Path("~/t.csv")).values, frame(2).to_numpy())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_other_encodings_by_their_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("Größe;Gewicht\n1,5;2\n2,5;3\n".encode(encoding))
    table = as_table(path)
    assert table.names == ("Größe", "Gewicht") and table.values.tolist() == [[1.5, 2.0], [2.5, 3.0]]


def test_what_begins_as_utf_16_and_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n1,2\n".encode("utf-16")[:-1])
    with pytest.raises(DataError, match="is not UTF-16 text, from byte 16 on"):
        as_table(path)


def test_latin_1_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("Größe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"is not UTF-8 text, from byte 2 on\. Save it as UTF-8"):
        as_table(path)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_packed_file_with_semicolons(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"a;b\n1,5;2\n2,5;3\n"))
    assert as_table(path).values.tolist() == [[1.5, 2.0], [2.5, 3.0]]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        as_table(path)


@pytest.mark.parametrize("late", ["1.5,2", "x,2"])
def test_a_column_that_is_whole_for_long(tmp_path: Path, late: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "3,1.5\n4,1\n" * 6000 + late + "\n")
    table = as_table(path)
    assert table.n == 12_001
    if late.startswith("x"):
        assert "holds text among numbers: 'x'" in str(audit(table))
        with pytest.raises(DataError, match="Column 'a' holds text among numbers: 'x'"):
            FisherZ(path)
    else:
        assert table.values[-1].tolist() == [1.5, 2.0]
        assert FisherZ(path).n == 12_001


@pytest.mark.parametrize("blank", ["", ",", "NA,"])
def test_lines_without_a_value_are_no_rows(tmp_path: Path, blank: str) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{a},{b}" for a, b in frame(3).rows())
    path.write_text("a,b\n" + f"{blank}\n" * 10_100 + rows + f"\n{blank}" * 3 + "\n\n\n")
    table = as_table(path)
    np.testing.assert_array_equal(table.values, frame(3).to_numpy())
    assert np.array_equal(FisherZ(path).correlation, FisherZ(table).correlation)


def test_a_column_that_begins_with_ten_thousand_gaps(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + ",1.5\n,2\n" * 5100 + "7.5,3\n8,3\n")
    assert as_table(path).labels == (None, None)
    assert np.nansum(as_table(path).values[:, 0]) == 15.5


@pytest.mark.parametrize(
    "form", ["{},5", "{}.5 %", "1,{:03},250.5", "1.{:03}.250,5", "€ {}", "1'{:03}'000"], ids=lambda form: repr(form)
)
def test_numbers_written_another_way_are_not_taken_for_labels(tmp_path: Path, form: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f'"{form.format(i % 100)}",{i}\n' for i in range(300)))
    shown = as_table(path).labels[0]
    assert shown is not None
    with pytest.raises(DataError) as caught:
        audit(as_table(path)).require_usable()
    message = str(caught.value)
    assert all(repr(label) in message for label in shown[:3]) and "decimal point" in message


def test_few_labels_that_look_like_numbers_stay_labels(tmp_path: Path) -> None:
    table = as_table({"dose": ["0,5", "1,5", "10 %"] * 20, "b": np.arange(60) + 0.5})
    assert table.kinds == ("discrete", "continuous")


def test_decimal_commas_that_begin_late(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "1;2\n" * 3000 + "1,5;2\n")
    assert as_table(path).values[-1].tolist() == [1.5, 2.0]


@pytest.mark.parametrize("where", ["cell", "name"])
def test_a_cell_of_ten_megabytes_does_not_fill_the_message(tmp_path: Path, where: str) -> None:
    path, huge = tmp_path / "t.csv", "x" * 10_000_000
    path.write_text(f"{huge},b\n1,2\n2,3\n" if where == "name" else f"a,b\n1,2\n{huge},3\n3,1\n")
    with pytest.raises(DataError) as caught:
        FisherZ(path)
    assert len(str(caught.value)) < 500


def test_dates_beyond_the_calendar_and_what_else_is_no_number(tmp_path: Path) -> None:
    days = polars.Series([0, 1, 2, 10_000_000], dtype=polars.Int32)
    path = write(tmp_path / "t.parquet", polars.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "day": days.cast(polars.Date)}))
    assert as_table(path).labels[1] == ("+29349-01-26", "1970-01-01", "1970-01-02", "1970-01-03")
    with pytest.raises(DataError, match="Column 'day' holds text, such as"):
        FisherZ(path)
    odd = {"span": days.cast(polars.Duration), "list": [[1], [2], [3], [4]]}
    for name, column in odd.items():
        path = write(tmp_path / "t.parquet", polars.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], name: column}))
        for read in (as_table, FisherZ):
            with pytest.raises(DataError, match=r"which is neither numbers nor text\. Turn it into numbers"):
                read(path)


@pytest.mark.parametrize("kind", [polars.exceptions.PanicException, polars.exceptions.ComputeError])
def test_an_interrupt_inside_the_reader_is_an_interrupt(
    kind: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """polars calls Python functions, and tells of their exceptions in its own."""

    def interrupted(*_: object, **__: object) -> None:
        monkeypatch.undo()  # nothing interrupts it a second time
        raise kind("python function failed: PyErr { type: <class 'KeyboardInterrupt'>, value: KeyboardInterrupt() }")

    path = write(tmp_path / "t.csv", frame(0))
    monkeypatch.setattr(polars.LazyFrame, "collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        as_table(path)


def test_a_panic_of_the_reader_is_an_error_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: object, **__: object) -> None:
        raise polars.exceptions.PanicException("range end index 8 out of range")

    monkeypatch.setattr(polars, "scan_parquet", panics)
    with pytest.raises(DataError, match=r"cannot be read as a \.parquet table: range end index 8 out of range"):
        as_table(write(tmp_path / "t.parquet", frame(0)))


def _read_in_a_fork(path: Path, lazy: bool, answers: Any) -> None:
    try:
        as_table(polars.LazyFrame({"a": [1.0]}) if lazy else path)
        answers.put("read")
    except DataError as error:
        answers.put(str(error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore")  # polars and Python warn of forks
@pytest.mark.parametrize("lazy", [False, True])
def test_a_forked_child_is_told_and_does_not_hang(tmp_path: Path, lazy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.csv", frame(0))
    as_table(path)
    monkeypatch.setattr("anypag.data.files.scan.SECONDS_TO_ANSWER", 1.0)
    fork = multiprocessing.get_context("fork")
    answers = fork.SimpleQueue()
    child = fork.Process(target=_read_in_a_fork, args=(path, lazy, answers))
    child.start()
    child.join(20)
    assert child.exitcode == 0, "the child hangs"
    assert "forked from one that had read files already" in answers.get()


def test_many_reasons_are_counted_not_all_listed() -> None:
    with pytest.raises(DataError) as caught:
        audit({f"c{k}": [float(k)] * 30 for k in range(500)}, max_r=1, singular="error").require_usable()
    message = str(caught.value)
    assert "for 500 reasons" in message and "'c11' is constant" in message and "and 488 more" in message
    assert len(message) < 2000


def test_lines_that_end_as_on_old_machines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a;b\r1,5;2\r2,5;3\r")
    assert as_table(path).values.tolist() == [[1.5, 2.0], [2.5, 3.0]]


def test_a_column_and_a_file_without_values(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,\n2,\n")
    with pytest.raises(DataError, match="There is no value in 'b'"):
        FisherZ(path)
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="got 0 rows and 2 columns"):
        FisherZ(path)


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_an_arrow_file_that_claims_an_impossible_length(tmp_path: Path, compression: Any) -> None:
    path = tmp_path / "t.arrow"
    table = frame(0, rows=400).with_columns(c=polars.lit("x").cast(polars.Categorical), d=polars.lit("word"))
    table.write_ipc(path, compression=compression)
    whole = path.read_bytes()
    assert as_table(path).n == 400
    at = whole.index((8 * 400).to_bytes(8, "little"))  # how long the first column is to be
    path.write_bytes(whole[:at] + (-5).to_bytes(8, "little", signed=True) + whole[at + 8 :])
    with pytest.raises(DataError, match=r"cannot be read as a \.arrow table.*length"):
        as_table(path)


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"ARROW1" * 5, bytes(40) + b"ARROW1"])
def test_what_is_no_arrow_file_is_left_to_the_reader(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.arrow"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"cannot be read as a \.arrow table"):
        as_table(path)
