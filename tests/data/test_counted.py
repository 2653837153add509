"""Tables of counts: the same answers as from the rows written out, to the bit where columns are discrete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from engine_examples import discrete_table, queries
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.data.sources import counted as counting
from anypag.data.sources.counted import counted
from anypag.data.table import as_table
from anypag.errors import DataError


def grouped(table: dict[str, Any]) -> pd.DataFrame:
    """The different rows, with how often each comes, by pandas."""
    frame = pd.DataFrame(table)
    return frame.groupby(list(frame.columns), dropna=False).size().reset_index(name="n")


@pytest.mark.parametrize("test", [ap.PermutationChiSquared, ap.GSquared, ap.ChiSquared])
def test_counts_answer_as_repeated_rows_to_the_bit(test: Any) -> None:
    table = discrete_table()
    here, there = test(table), test(counted(grouped(table), "n"))
    assert (there.names, there.n) == (here.names, here.n) and len(there.weights) < here.n
    for r in range(5):
        asked = queries(len(here.names), r)
        for one, other in zip(there.statistics(asked), here.statistics(asked), strict=True):
            np.testing.assert_array_equal(one, other)
    assert ap.learn(counted(grouped(table), "n"), method="icd").pag == ap.learn(table, method="icd").pag


rows = st.lists(st.tuples(*[st.integers(0, 2)] * 4, st.integers(0, 6)), min_size=5, max_size=25)


@given(rows, st.sampled_from(["drop", "pairwise"]))
@settings(max_examples=60)
def test_any_counts_are_rows(drawn: list[tuple[int, ...]], missing: Any) -> None:
    """Also zero counts, rows that come twice, and gaps (level 2 of the last column)."""
    frame = pd.DataFrame(drawn, columns=["a", "b", "c", "d", "n"]).astype({"d": float})
    frame["d"] = frame["d"].replace(2.0, np.nan)
    written_out = frame.loc[frame.index.repeat(frame["n"]), ["a", "b", "c", "d"]]
    if not len(written_out):
        with pytest.raises(DataError, match="must stand for 1 to"):
            counted(frame, "n")
        return
    table = counted(frame, "n")
    np.testing.assert_array_equal(as_table(table).values, written_out.to_numpy(float))
    assert table.kinds == as_table(written_out).kinds == as_table(table).kinds
    answers: list[Any] = []
    for data in (table, written_out):
        try:
            test = ap.GSquared(data, missing=missing, singular="keep")
        except DataError as error:
            answers.append({str(error).split(" for ")[0]})
        else:
            answers.append([test.n, *test.statistics(ap.Queries([0, 0], [1, 2], [[3], [3]]))])
    np.testing.assert_equal(*answers)


def test_all_is_told_at_once_also_beside_an_empty_column() -> None:
    """Found by chance: a column without a value hid what was wrong with others."""
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "c": [0] * 4, "d": [np.nan] * 4, "n": [1, 1, 2, 2]})
    with pytest.raises(DataError, match=r"(?s)no value in 'd'.*Column 'c' is constant"):
        ap.GSquared(counted(frame, "n"), missing="pairwise")


def test_what_works_on_rows_gets_them() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 3))
    times = rng.integers(0, 5, 60)
    table = counted({"a": values[:, 0], "b": values[:, 1], "c": values[:, 2], "n": times}, "n")
    np.testing.assert_array_equal(
        ap.FisherZ(table).correlation, ap.FisherZ(np.repeat(values, times, axis=0)).correlation
    )
    assert ap.learn(table, method="icd").test_name == "FisherZ"
    assert ap.bootstrap(counted(grouped(discrete_table(300)), "n"), n=2, max_r=0).n == 2


def test_a_billion_rows_of_counts_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 2²⁴ rows nothing is repeated, and with all counts a thousand times as large, so is the statistic."""
    frame = grouped(discrete_table())
    small = ap.GSquared(counted(frame, "n"))
    frame["n"] *= 500_000
    large = ap.GSquared(counted(frame, "n"))
    assert large.n == 10**9
    for r in range(4):
        asked = queries(7, r)
        np.testing.assert_allclose(large.statistics(asked)[0], 500_000 * small.statistics(asked)[0], rtol=1e-9)
    with pytest.raises(DataError, match=r"stand for 1,000,000,000 rows of 7 columns\. This step needs the rows"):
        ap.learn(counted(frame, "n"), method="icd", test="mixed")
    with pytest.raises(DataError, match="A score reads the rows one by one"):
        ap.learn(counted(frame, "n"), method="boss")
    gaps = frame.astype({"X4": object})
    gaps.loc[:50, "X4"] = None
    assert ap.GSquared(counted(gaps, "n"), missing="pairwise").pvalues(queries(7, 2)).min() >= 0


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, -2, 3], "row 2 has -2. Correct that row"),
        ([1, 2.5, 3], "row 2 has 2.5. Weights are not counts"),
        ([1, 2, None], "row 3 has nothing"),
        ([1, np.inf, 2], "row 2 has inf"),
        (["a", "b", "c"], "got text, such as 'a'"),
        ([0, 0, 0], "must stand for 1 to 2,147,483,647 rows; got 0"),
        ([2**31, 1, 1], "got 2,147,483,650"),
    ],
)
def test_what_are_no_counts_is_refused(counts: list[Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        counted({"a": [0, 1, 1], "n": counts}, "n")
    assert "The counts in column 'n' must" in str(caught.value) and message in str(caught.value)


def test_the_column_must_be_there_beside_others() -> None:
    with pytest.raises(DataError, match="There is no column 'm'"):
        counted({"a": [0, 1], "n": [1, 2]}, "m")
    with pytest.raises(DataError, match="columns beside the column of counts; got 'n' alone"):
        counted({"n": [1, 2]}, "n")


def test_errors_speak_of_the_rows_that_counts_stand_for() -> None:
    with pytest.raises(DataError, match="Values are missing in some of the 60 rows: 'b' 20"):
        ap.GSquared(counted({"a": [0, 1, 0], "b": [0, 1, None], "n": [15, 25, 20]}, "n"))
    with pytest.raises(DataError, match="Column 'b' is constant"):
        ap.GSquared(counted({"a": [0, 1], "b": [1, 1], "n": [15, 25]}, "n"))
    assert counting.MOST_ROWS == 2**31 - 1


def test_counts_in_a_file(tmp_path: Path) -> None:
    grouped(discrete_table()).to_csv(tmp_path / "t.csv", index=False)
    assert ap.learn(counted(tmp_path / "t.csv", "n"), method="icd").pag == ap.learn(discrete_table(), method="icd").pag
