"""`result.save`: every format, what is said of others, and back again."""

from __future__ import annotations

from pathlib import Path

import pytest

import anypag as ap
from anypag.errors import ParameterError
from anypag.results.result import Result

RESULT = ap.learn(ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D")))


def test_json_comes_back_with_its_reasons(tmp_path: Path) -> None:
    RESULT.save(tmp_path / "pag.json")
    again = ap.read_result(tmp_path / "pag.json")
    assert isinstance(again, Result)
    assert again.pag == RESULT.pag and again.sepsets["A", "B"] == RESULT.sepsets["A", "B"]
    assert str(again.explain("A", "C")) == str(RESULT.explain("A", "C"))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "pag.json").read_bytes()


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("edges.csv", b"from,to,"),
        ("picture.svg", b"<svg"),
        ("picture.png", b"\x89PNG"),
        ("report.html", b"<!doctype html>"),
        ("graph.txt", b"A o-> C\n"),
        ("GRAPH.DOT", b"digraph"),
    ],
)
def test_the_ending_picks_the_format(tmp_path: Path, name: str, beginning: bytes) -> None:
    RESULT.save(str(tmp_path / name))
    assert (tmp_path / name).read_bytes().startswith(beginning)


def test_an_unknown_ending_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"The ending of 'pag.docx' is no known format; use one of .json, .csv"):
        RESULT.save(tmp_path / "pag.docx")
    with pytest.raises(ParameterError, match=r"cannot be written: there is no folder .*nowhere"):
        RESULT.save(tmp_path / "nowhere" / "pag.json")
    assert not list(tmp_path.iterdir())
