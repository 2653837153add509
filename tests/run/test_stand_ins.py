"""Columns that are exact copies: one of them is searched with and stands for both, in all that is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pytest

import anypag as ap
from anypag.catalogue import METHODS
from anypag.errors import AnypagError, DataError, GraphError

KINDS = ("numbers", "levels", "both")


def columns(kind: str, rows: int = 300) -> dict[str, Any]:
    """a is a cause of b, c is apart; each comes twice."""
    rng = np.random.default_rng(0)
    a: Any = rng.normal(size=rows)
    c: Any = rng.normal(size=rows)
    b: Any = a + 0.5 * rng.normal(size=rows)
    if kind == "levels":
        a, b, c = (np.digitize(column, [-0.6, 0.6]) for column in (a, b, c))
    if kind == "both":
        b = np.digitize(b, [-0.6, 0.6])
    return {"a": a, "b": b, "a2": a, "c": c, "b2": b, "c2": c}


SAME = {"a2": "a", "b2": "b", "c2": "c"}


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_method_learns_from_one_of_each(kind: str, method: str) -> None:
    data = columns(kind)
    alone = {name: data[name] for name in ("a", "b", "c")}
    result, other = (ap.learn(some, method=method) for some in (data, alone))
    assert result.copies == SAME
    assert str(result.pag) == str(other.pag)


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
@pytest.mark.parametrize("test", ["permutation", "gsq", "chisq", "fisherz", "mixed", "additive", "gcm"])
def test_every_test_learns_from_one_of_each(test: str) -> None:
    result = ap.learn(columns("levels"), test=test, max_r=1)
    assert result.pag.names == ("a", "b", "c") and result.copies == SAME


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_files_and_engines_too(tmp_path: Path, kind: str) -> None:
    frame = polars.DataFrame(columns(kind))
    frame.write_csv(tmp_path / "t.csv")
    assert ap.learn(tmp_path / "t.csv", method="icd").copies == SAME
    if kind == "levels":  # of numbers, an engine tells sums only: the copies are exact relations there
        assert ap.learn(duckdb.sql("select * from frame"), method="icd").copies == SAME
    assert frame.width == 6


def test_it_is_said_before_and_after(tmp_path: Path) -> None:
    data = columns("numbers")
    assert not ap.audit(data).errors and "'a' stands for both" in str(ap.audit(data))
    with pytest.warns(ap.AnypagWarning, match="Columns 'a' and 'a2' are the same: 'a' stands for both"):
        result = ap.learn(data, method="icd", selection_bias=False)
    assert "a2, the same as a" in str(result)
    result.save(tmp_path / "r.json")
    read = ap.read_result(tmp_path / "r.json")
    assert isinstance(read, ap.Result)
    for some in (result, read):
        assert some.copies == SAME
        assert "a2 is the same column as a, which stands for both." in some.cautions
        said = some.explain("b2", "a")
        assert {said.a, said.b} == {"a", "b"} and "b2 is the same column as b" in str(said)
        with pytest.raises(GraphError, match="'a' and 'a2' are the same column"):
            some.explain("a", "a2")
        effect = some.effect("c2", "b2", data=data)
        assert "c2 is the same column as c, which stands for both." in effect.notes
        assert effect.status == some.effect("c", "b", data=data).status == "zero"
    result.save(tmp_path / "r.html")
    assert "the same column as a" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
def test_knowledge_of_a_copy_is_knowledge_of_what_stands_for_it() -> None:
    known = ap.Knowledge.from_text("tiers: a2 c2 | b2\na2 ~> b2")
    said = ap.Knowledge.from_text("tiers: a c | b\na ~> b")
    alone = {name: column for name, column in columns("numbers").items() if name in {"a", "b", "c"}}
    result, other = (
        ap.learn(columns("numbers"), method="icd", knowledge=known),
        ap.learn(alone, method="icd", knowledge=said),
    )
    assert str(result.pag) == str(other.pag)
    assert list(map(str, result.knowledge)) == list(map(str, other.knowledge))
    with pytest.raises(AnypagError, match="a"):
        ap.learn(columns("numbers"), method="icd", knowledge=ap.Knowledge.from_text("a ~> a2"))


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_resamples_are_of_the_columns_that_are_searched_with(kind: str) -> None:
    found = ap.bootstrap(columns(kind), method="icd", n=5)
    assert found.stability.names == ("a", "b", "c") and not found.stability.failures
    assert found.result.copies == SAME


def test_both_are_kept_where_that_is_asked_for_and_refused_where_nothing_else_is_wanted() -> None:
    with pytest.warns(ap.AnypagWarning, match="are the same"):
        result = ap.learn(columns("numbers"), singular="keep", max_r=1)
    assert len(result.pag.names) == 6 and result.copies == {}
    with pytest.raises(DataError, match="are the same"):
        ap.FisherZ(columns("numbers"))
    same = {"a": [1.0, 2.0, 3.0, 5.0, 8.0], "b": [1.0, 2.0, 3.0, 5.0, 8.0], "still": [1.0] * 5}
    with pytest.raises(DataError, match="constant"):
        ap.learn(same, method="icd", singular="error")
