"""Tests of resamples, made from weights: the same as those of tables whose rows were taken one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import anypag as ap
from anypag.arrays import Counts
from anypag.choices import Choices
from anypag.ci.base import Queries
from anypag.ci.resample import ByCounts, BySums, resamples_of, rows_to_resample
from anypag.ci.resolve import resolve_test
from anypag.data.table import Table, as_table
from anypag.errors import DataError

QUESTIONS = [Queries.one(0, 1), Queries.one(1, 3, [2]), Queries.one(2, 0, [1, 3]), Queries.one(3, 4, [0, 1, 2])]


def table_of(seed: int, kind: str, gaps: bool, n: int = 60) -> Table:
    """Five columns: of levels (some of them rare), of numbers, or of both."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(n, 5))
    values[:, 1:] += values[:, :-1]
    is_discrete = np.array([kind == "discrete" or (kind == "mixed" and j % 2 == 0) for j in range(5)])
    levels = np.floor(np.abs(values[:, is_discrete]) * random.choice([0.5, 1.0, 2.0]))
    levels[:2] = [[0.0], [1.0]]  # none is constant in the whole
    values[:, is_discrete] = levels
    if gaps:
        values[2:][random.random((n - 2, 5)) < 0.05] = np.nan
    kinds: Any = {f"V{j}": "discrete" if is_discrete[j] else "continuous" for j in range(5)}
    return as_table(values, [f"V{j}" for j in range(5)], kinds=kinds)


def slow_test(table: Table, choices: Choices, counts: Counts) -> Any:
    """The test of the table with its rows repeated; None if a column cannot be used or repeats another."""
    try:
        made = resolve_test(table.take_rows(np.repeat(np.arange(table.n), counts)), choices)
    except DataError:
        return None
    return made if made.names == table.names else None


@given(
    seed=st.integers(0, 10_000),
    test=st.sampled_from(["permutation", "gsq", "chisq"]),
    missing=st.sampled_from(["error", "drop", "pairwise"]),
)
def test_weighted_counts_are_those_of_repeated_rows_to_the_bit(seed: int, test: str, missing: Any) -> None:
    table = table_of(seed, "discrete", gaps=missing != "error")
    choices = Choices(method="icd", test=test, missing=missing, singular="keep")
    rows = resamples_of(resolve_test(table, choices), table, choices)
    assert isinstance(getattr(rows.test, "__self__", None), ByCounts) and rows.n == table.n
    counts = np.bincount(np.random.default_rng(seed).integers(0, table.n, table.n), minlength=table.n)
    slow = slow_test(table, choices, counts)
    if slow is None:
        with pytest.raises(DataError):
            rows.test(counts)
        return
    fast: Any = rows.test(counts)
    assert fast.n == slow.n and np.array_equal(fast.codes, slow.codes)
    for question in QUESTIONS:
        for one, two in zip(fast.statistics(question), slow.statistics(question), strict=True):
            np.testing.assert_array_equal(one, two)


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["continuous", "mixed"]),
    missing=st.sampled_from(["error", "drop"]),
)
@example(seed=1322, kind="mixed", missing="drop").via("two columns are the same in the resample only")
def test_weighted_sums_are_those_of_repeated_rows(seed: int, kind: str, missing: Any) -> None:
    table = table_of(seed, kind, gaps=missing == "drop")
    test = "fisherz" if kind == "continuous" else "mixed"
    choices = Choices(method="icd", test=test, missing=missing, singular="error")
    rows = resamples_of(resolve_test(table, choices), table, choices)
    assert isinstance(getattr(rows.test, "__self__", None), BySums) and rows.n == table.n
    counts = np.bincount(np.random.default_rng(seed).integers(0, table.n, table.n), minlength=table.n)
    slow = slow_test(table, choices, counts)
    if slow is None:
        with pytest.raises(DataError):
            rows.test(counts)
        return
    fast: Any = rows.test(counts)
    assert fast.n == slow.n
    for question in QUESTIONS:
        np.testing.assert_allclose(fast.pvalues(question), slow.pvalues(question), rtol=1e-6, atol=1e-12)
        assert fast.effective_n(question) == slow.effective_n(question)


def test_a_level_that_is_not_drawn_is_no_level() -> None:
    """The most frequent level of the whole, which is left out there, may be missing in a resample."""
    random = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], [60, 30, 30])
    table = as_table({"group": group, "a": group + random.normal(size=120), "b": random.normal(size=120)})
    choices = Choices(method="icd", test="mixed")
    counts = np.where(group == 0, 0, 2)
    fast: Any = resamples_of(resolve_test(table, choices), table, choices).test(counts)
    slow = slow_test(table, choices, counts)
    assert fast.blocks.start.tolist() == slow.blocks.start.tolist() == [0, 1, 2, 3]
    question = Queries([0, 0], [1, 2], np.empty((2, 0)))
    np.testing.assert_allclose(fast.pvalues(question), slow.pvalues(question), rtol=1e-8)


@pytest.mark.parametrize(("kind", "test"), [("discrete", "permutation"), ("mixed", "mixed")])
def test_a_resample_that_makes_two_columns_the_same_fails(kind: str, test: str) -> None:
    table = table_of(3, kind, gaps=False)
    values = np.array(table.values)
    values[:, 2] = np.where(np.arange(table.n) < 20, values[:, 0], values[::-1, 0])
    changed = as_table(values, table.names, kinds=dict(zip(table.names, table.kinds, strict=True)))
    choices = Choices(method="icd", test=test)
    rows = resamples_of(resolve_test(changed, choices), changed, choices)
    with pytest.raises(DataError, match="Columns 'V0' and 'V2' are the same"):
        rows.test(np.where(np.arange(table.n) < 20, 3, 0))


def test_a_users_resample_must_be_about_the_same_variables() -> None:
    class Other:
        names, n = ("A", "B"), 20

        def pvalues(self, queries: Queries) -> Any:
            return np.zeros(len(queries))

        def resampled(self, counts: Counts) -> Any:
            other = Other()
            other.names = ("B", "A")
            return other

    s = ap.bootstrap(Other(), method="icd", n=2)
    assert s.n == 0 and "must be about the same variables, 'A', 'B'; it is about 'B', 'A'" in s.failures[0].why


def test_counts_are_resampled_without_writing_rows_out() -> None:
    table = table_of(1, "discrete", gaps=False, n=400)
    distinct, times = np.unique(table.values, axis=0, return_counts=True)
    columns: dict[str, Any] = dict(zip(table.names, distinct.T, strict=True))
    counts = ap.counted({**columns, "times": times}, "times")
    written = as_table(np.repeat(distinct, times, axis=0), table.names)
    choices = Choices(method="icd", test="gsq", singular="keep")
    rows = rows_to_resample(counts, choices)
    assert rows is not None and not isinstance(rows, Table)
    drawn = np.bincount(np.random.default_rng(2).integers(0, 400, 400), minlength=400)
    fast: Any = resamples_of(resolve_test(rows, choices), rows, choices).test(drawn)
    slow: Any = resamples_of(resolve_test(written, choices), written, choices).test(drawn)
    assert len(fast.weights) <= len(distinct) < slow.n == fast.n
    for question in QUESTIONS:
        assert fast.pvalues(question).tolist() == slow.pvalues(question).tolist()
    one, two = (ap.bootstrap(data, method="icd", n=3, test="gsq", singular="keep") for data in (counts, written))
    assert one.graphs == two.graphs


def test_a_table_in_an_engine_is_resampled_by_its_counts_or_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = duckdb.sql("select range % 2 as a, (range // 3) % 2 as b, range % 7 as c from range(500)")
    rows = rows_to_resample(frame, Choices(method="icd", test="gsq"))
    assert not isinstance(rows, Table) and rows.n == 500
    assert len(ap.bootstrap(frame, method="icd", n=2, test="gsq").graphs) == 2
    monkeypatch.setattr("anypag.ci.resample.MOST_NUMBERS", 1000)
    with pytest.raises(DataError, match=r"at most 1,000 numbers\. There are 1,500"):
        ap.bootstrap(frame, method="icd", n=2, test="fisherz")


def test_a_large_file_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "large.csv"
    file.write_text("a,b\n" + "1,2\n3,1\n" * 200)
    monkeypatch.setattr("anypag.data.sources.door.MOST_LOOKED_AT", 10)
    monkeypatch.setattr("anypag.ci.resample.MOST_NUMBERS", 100)
    with pytest.raises(DataError, match="Take a sample of the rows"):
        ap.bootstrap(file, method="icd", n=2)
