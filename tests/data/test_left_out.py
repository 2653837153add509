"""Columns that no search can use are left out, and one sentence names them all; nothing is left out in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anypag as ap
from anypag.choices import Choices
from anypag.ci.resolve import resolve_test
from anypag.data import as_table
from anypag.data.audit import audit
from anypag.data.audit.left_out import gappy
from anypag.data.audit.rows import costliest
from anypag.errors import DataError, GraphError

N = 200
RNG = np.random.default_rng(5)
A, B, C = RNG.normal(size=(3, N))


def with_gaps(column: Any, rows: Any) -> Any:
    return np.where(np.isin(np.arange(N), rows), np.nan, column)


RAW = {
    "seqn": np.arange(N) + 100,
    "a": A,
    "b": with_gaps(B, range(10)),
    "change": B - A,
    "c": C,
    "one": np.ones(N),
    "rare": with_gaps(C**2, range(150)),
    "drinks": (np.arange(N) >= 40).astype(int),
    "how much": with_gaps(A + C, range(40)),
}
"""A table as people have it."""


def test_a_raw_table_gets_to_a_graph_and_one_sentence_says_what_was_left_out() -> None:
    result = ap.learn(RAW, method="icd")
    assert result.pag.names == ("a", "b", "c", "drinks") and result.n_rows == 190
    assert result.audit is not None and set(result.audit.left_out) == {"seqn", "change", "one", "rare", "how much"}
    (told,) = [finding for finding in result.audit.warnings if finding.problem == "left out"]
    assert told.message == (
        "Left out: 'rare' (a value in fewer than half of the rows); 'how much' (a value only in rows with one "
        "value of 'drinks'); 'one' (constant in the rows used); 'change' (change = −a + b); "
        "'seqn' (a different whole number in every row)."
    )
    assert {finding.problem for finding in audit(RAW).errors} == set()
    assert audit(RAW).left_out == result.audit.left_out


def test_the_strict_ways_refuse_what_is_left_out_by_default() -> None:
    with pytest.raises(DataError, match="Values are missing"):
        ap.learn(RAW, method="icd", missing="error")
    with pytest.raises(DataError, match="Column 'one' is constant"):
        ap.learn(RAW, method="icd", singular="error", missing="drop")


def test_what_the_user_speaks_of_stays() -> None:
    kept = ap.learn(RAW, method="icd", kinds={"seqn": "continuous"})
    assert "seqn" in kept.pag.names
    known = ap.Knowledge(causes=[("a", "change")])
    assert "change" in ap.learn(RAW, method="icd", knowledge=known).pag.names
    tiers = ap.Knowledge(tiers=[["seqn", "a"], ["b", "rare", "c"]])
    assert ap.learn(RAW, method="icd", knowledge=tiers).pag.names == ("a", "b", "c", "drinks")


def test_resamples_have_the_columns_of_the_whole_table() -> None:
    again = ap.bootstrap(RAW, n=3, seed=0, method="icd")
    assert again.result.pag.names == ("a", "b", "c", "drinks") and again.stability.n == 3


@given(st.integers(0, 2**32 - 1))
def test_after_leaving_out_half_of_the_rows_are_complete(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(30, 6))
    values[rng.random((30, 6)) < rng.random(6) * 0.9] = np.nan
    table = as_table(values)
    kept = [name for name in table.names if name not in gappy(table)]
    rest = np.isnan(table.take(kept).values) if kept else np.zeros((30, 1), bool)
    assert (~rest.any(axis=1)).mean() >= 0.5
    assert len(set(costliest(np.isnan(values), 0.5))) == len(costliest(np.isnan(values), 0.5))


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_the_default_test_is_that_of_the_columns_that_are_left(kind: str) -> None:
    numbers = {"a": A, "b": B, "c": A + B + C}
    columns: dict[str, Any] = numbers if kind == "continuous" else {name: x > 0 for name, x in numbers.items()}
    days = [f"2020-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(N)]
    useless: Any = days if kind == "continuous" else np.arange(N) + 100
    whole, alone = (resolve_test(table, Choices(method="icd")) for table in ({"useless": useless, **columns}, columns))
    assert type(whole) is type(alone) and whole.names == ("a", "b", "c")
    whole_graph, alone_graph = (ap.learn(table, method="icd") for table in ({**columns, "useless": useless}, columns))
    assert str(whole_graph.pag) == str(alone_graph.pag)


def test_questions_about_a_column_that_was_left_out_say_so(tmp_path: Path) -> None:
    found = ap.learn(RAW, method="icd")
    kept = ap.read_result(_saved(found, tmp_path))
    assert isinstance(kept, ap.Result)
    for result in (found, kept):
        for question in (result.explain, result.effect):
            with pytest.raises(GraphError, match=r"'one' is a column that was not searched over\. Left out: 'rare'"):
                question("a", "one")
            with pytest.raises(GraphError, match="There is no node 'x'"):
                question("a", "x")


def _saved(result: ap.Result, folder: Path) -> Path:
    result.save(folder / "result.json")
    return folder / "result.json"
