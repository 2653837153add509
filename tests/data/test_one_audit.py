"""One list of checks for every source: where rows live changes what can be checked, never what is found."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anypag as ap
from anypag.choices import Choices
from anypag.ci import gpu
from anypag.ci.resolve import resolve_test
from anypag.data import as_table
from anypag.data.findings import Audit
from anypag.data.sources.file import FileTable
from anypag.errors import DataError, ParameterError
from numpy_card import NumpyCard

pytestmark = pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")


def audit_of(data: Any, **options: Any) -> Audit:
    test: Any = resolve_test(data, Choices(**options))
    found: Audit = test.audit
    return found


def series(n: int = 300) -> dict[str, Any]:
    """Columns in time order, one of which has the code -999 for a missing value."""
    random = np.random.default_rng(0)
    walk = np.cumsum(random.normal(size=(2, n)), axis=1)
    age = random.uniform(20, 80, n)
    age[::50] = -999
    return {"walk": walk[0], "other": walk[1] + random.normal(size=n), "age": age}


def problems(audit: Audit) -> set[str]:
    return {finding.problem for finding in audit.findings}


@pytest.mark.parametrize("test", ["auto", "fisherz"])
def test_a_file_is_audited_by_the_same_checks_whatever_the_test(test: str, tmp_path: Path) -> None:
    pd.DataFrame(series()).to_csv(tmp_path / "series.csv", index=False)
    from_file, in_memory = audit_of(tmp_path / "series.csv", test=test), audit_of(series(), test=test)
    assert {"code", "order"} <= problems(from_file)
    assert from_file.checked == in_memory.checked and from_file.unchecked == ()


@pytest.mark.parametrize("missing", ["auto", "drop"])
@pytest.mark.parametrize("test", ["fisherz", "mixed"])
def test_a_streamed_file_is_audited_as_the_same_rows_in_memory(test: str, missing: str, tmp_path: Path) -> None:
    table = series() | {"twice": series()["walk"], "same": np.ones(300)}
    frame = pd.DataFrame(table)
    frame.loc[5:20, "other"] = np.nan
    frame.to_csv(tmp_path / "series.csv", index=False)
    streamed = audit_of(FileTable.of(tmp_path / "series.csv"), test=test, missing=missing)
    assert {"code", "order", "copy", "left out", "missing"} <= problems(streamed)
    assert streamed == audit_of(as_table(tmp_path / "series.csv"), test=test, missing=missing)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("most_rows", [10**7, 100])
def test_gaps_of_text_columns_are_counted_in_a_streamed_file(
    ending: str, most_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame(series()).assign(word=lambda rows: np.where(rows["other"] > 0, "up", "down"))
    frame.loc[5:20, "other"], frame.loc[15:40, "word"] = np.nan, None
    monkeypatch.setattr("anypag.data.sources.file.MOST_LOOKED_AT", most_rows)
    path = tmp_path / f"series.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    streamed, table = FileTable.of(path), as_table(path)
    assert streamed.summary().missing.tolist() == [0, 16, 0, 26]
    for one, other in ((streamed, table), (streamed.complete(), table.complete())):
        for here, there in zip(one.summary()[:4], other.summary()[:4], strict=True):
            np.testing.assert_array_equal(here, there)
        assert one.n == other.n
    if most_rows > 1000:
        assert audit_of(streamed, test="mixed", missing="drop") == audit_of(table, test="mixed", missing="drop")


def test_normal_scores_are_audited_as_the_values_they_were() -> None:
    table = series()
    assert "code" in problems(audit_of(table, transform="normal-scores"))
    table["age"][3] = np.inf
    with pytest.raises(DataError, match="'age' has 1 infinite value"):
        audit_of(table, transform="normal-scores")


def test_codes_are_looked_for_in_rows_that_will_be_dropped_too() -> None:
    table = series()
    table["walk"][table["age"] == -999] = np.nan
    assert "code" in problems(audit_of(table, missing="drop"))


def test_a_table_in_an_engine_has_the_same_checks_but_those_of_order(monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(series())
    there, here = audit_of(duckdb.from_df(frame)), audit_of(frame)
    assert [item.about for item in there.unchecked] == [
        "repeated rows",
        "several conditions in one table",
        "rows in time order",
    ]
    assert set(there.checked) == set(here.checked) - {item.about for item in there.unchecked}
    assert "code" in problems(there) and there.kinds == here.kinds
    monkeypatch.setattr("anypag.data.sources.engine_queries.GLANCE", 100)
    (code,) = [finding for finding in audit_of(duckdb.from_df(frame)).findings if finding.problem == "code"]
    assert code.message.startswith("Column 'age' holds -999 (6 times")


def test_a_card_answers_for_a_table_in_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    made = NumpyCard()
    monkeypatch.setattr(gpu, "cuda_card", lambda: made)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)), columns=list("abcd"))
    test: Any = resolve_test(duckdb.from_df(frame), Choices(method="icd", test="fisherz", device="cuda"))
    assert made.has(test.correlation)
    ap.learn(test, method="icd")
    assert made.calls["pairs"] == 1


def test_a_table_of_counts_says_what_it_cannot_check() -> None:
    rows = np.random.default_rng(0).integers(0, 2, size=(200, 3))
    counts = pd.DataFrame(rows, columns=list("abc")).value_counts().reset_index(name="n")
    audit = audit_of(ap.counted(counts, "n"))
    assert [item.about for item in audit.unchecked] == [
        "repeated rows",
        "several conditions in one table",
        "rows in time order",
    ]
    assert "Not checked: repeated rows, several conditions in one table, rows in time order (a table of counts" in str(
        audit
    )
    assert "identifiers" in audit.checked


def test_rows_that_have_two_columns_decide_whether_one_determines_the_other() -> None:
    """A few rows without any gap may agree by chance, as in a study in which the dead have a year of death."""
    random = np.random.default_rng(0)
    quit_, death = random.integers(0, 2, (2, 800))
    year = np.where(death == 1, random.integers(0, 3, 800), np.nan)
    rare = np.where(random.random(800) < 0.06, 1.0, np.nan)
    table = {"quit": quit_, "group": quit_ * 2 + random.integers(0, 2, 800), "death": death, "year": year, "rare": rare}
    found = [f for f in ap.audit(table, missing="pairwise").findings if f.problem == "determined"]
    assert [finding.columns for finding in found] == [("quit", "group")]
    assert "Column 'quit' is determined by 'group' in these rows" in found[0].message


def test_a_rare_level_is_no_function_of_others_by_chance() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        table = {name: (random.random(300) < 0.01).astype(float) for name in "abcd"} | {"x": random.integers(0, 3, 300)}
        kept = {name: column for name, column in table.items() if len(np.unique(column)) > 1}
        assert "determined" not in problems(ap.audit(kept, kinds=dict.fromkeys(kept, "discrete"), singular="keep"))


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_the_columns_that_cost_most_rows_are_named(missing: Any) -> None:
    random = np.random.default_rng(0)
    table = dict(zip(["a", "b", "year", "month"], random.normal(size=(4, 200)), strict=True))
    table["year"][:150] = table["month"][:150] = table["a"][190:195] = np.nan
    assert "195 remain without 'year', 'month'" in str(ap.audit(table, missing=missing))


def test_persons_with_several_rows_each_are_named() -> None:
    random = np.random.default_rng(0)
    person = np.repeat(np.arange(150), 8)
    rows = {"x": random.normal(size=1200), "y": random.normal(size=1200)}
    for table in (rows | {"person": person}, rows | {"who": np.array([f"p{k}" for k in person])}):
        (finding,) = [one for one in ap.audit(table).findings if one.problem == "units"]
        assert "150 different values in 1,200 rows, 8.0 rows each" in finding.message
        assert "repeated measures" in finding.message


def test_curves_are_not_looked_for_in_columns_that_are_mostly_one_value() -> None:
    random = np.random.default_rng(0)
    for seed in range(20):
        random = np.random.default_rng(seed)
        rare = np.where(random.random((500, 4)) < 0.01, random.normal(size=(500, 4)), 0.0)
        kinds: Any = dict.fromkeys(["X0", "X1", "X2", "X3"], "continuous")
        audit = ap.audit(rare, kinds=kinds, singular="keep")
        assert "curve" not in problems(audit)
        assert any("curves were not looked for" in note for note in audit.notes)


def test_numbers_written_as_text_are_said_where_they_count_as_levels() -> None:
    prices = np.array([f"${k / 10:.2f}" for k in range(12)])
    table = {"price": np.tile(prices, 20), "b": np.random.default_rng(0).integers(0, 2, 240)}
    (finding,) = [one for one in audit_of(table, test="gsq").findings if one.problem == "fit"]
    assert "holds numbers that are written as text, such as '$0.00', '$0.10', '$0.20'" in finding.message


def test_a_covariance_matrix_has_all_checks_that_need_no_rows() -> None:
    values = np.random.default_rng(0).normal(size=(300, 3))
    values[:, 2] = values[:, 0] + 0.01 * values[:, 2]
    audit = ap.FisherZ.from_covariance(np.cov(values.T), 300).audit
    assert "near copy" in problems(audit) and {"exact linear relations", "near copies"} <= set(audit.checked)
    reasons = {item.about: item.reason for item in audit.unchecked}
    assert reasons["codes for missing values"] == reasons["rows in time order"] == "a covariance matrix has no rows"


@pytest.mark.parametrize("unit", [1.0, 1e300, 1e-300])
def test_conditions_in_blocks_are_seen_in_units_of_any_size(unit: float) -> None:
    condition = np.repeat(["control", "drug"], 100)
    numbers = np.random.default_rng(0).normal(size=(3, 200)) + 2.0 * (condition == "drug")
    table = {**dict(zip("abc", numbers * unit, strict=True)), "arm": condition}
    assert "conditions" in problems(ap.audit(table))


def sorted_rows(gap: bool = False) -> pd.DataFrame:
    """Three columns with fractions and few enough different rows for a table of counts, sorted by the first."""
    random = np.random.default_rng(0)
    x = np.round(random.normal(size=400), 1)
    y = np.round(x + random.normal(size=400), 1)
    frame = pd.DataFrame({"x": x, "y": y, "z": np.round(y + random.normal(size=400))}).sort_values(["x", "y", "z"])
    frame = frame.reset_index(drop=True)
    frame.loc[frame.index % 11 == 0, "y"] = np.nan if gap else 0.5
    return frame


def counts_of(frame: pd.DataFrame) -> Any:
    return ap.counted(frame.groupby(list(frame), dropna=False, sort=True).size().reset_index(name="n"), "n")


def engine_of(frame: pd.DataFrame) -> Any:
    pytest.importorskip("pyarrow")
    return pytest.importorskip("duckdb").from_df(frame)


WAYS: list[dict[str, Any]] = [
    *({"test": test} for test in ("auto", "fisherz", "mixed", "additive", "gcm")),
    *({"test": test, "missing": "pairwise"} for test in ("fisherz", "mixed", "additive")),
    {"transform": "normal-scores"},
    {"transform": "normal-scores", "test": "mixed", "missing": "drop"},
    {"kinds": {"z": "ordinal"}},
]


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("source", [counts_of, engine_of])
def test_a_source_without_order_has_none_after_its_rows_were_pulled(source: Any, options: dict[str, Any]) -> None:
    frame = sorted_rows(gap="missing" in options)
    in_memory, audit = audit_of(frame, **options), audit_of(source(frame), **options)
    assert "order" in problems(in_memory) and in_memory.unchecked == ()
    assert "order" not in problems(audit) and audit.unchecked == audit_of(source(sorted_rows())).unchecked
    assert {item.about for item in audit.unchecked} == set(in_memory.checked) - set(audit.checked)
    assert {"repeated rows", "several conditions in one table", "rows in time order"} == {
        item.about for item in audit.unchecked
    }


@pytest.mark.parametrize("source", [counts_of, engine_of])
def test_resamples_and_pooled_sets_keep_what_their_source_lacks(source: Any) -> None:
    frame = sorted_rows()
    lacked = audit_of(source(frame)).unchecked
    resampled = ap.bootstrap(source(frame), n=2, method="icd", max_r=0, seed=0)
    assert "order" not in problems(resampled.audit) and resampled.audit.unchecked == lacked
    together = ap.learn(ap.pooled({"a": source(frame), "b": frame}), method="icd", max_r=0).audit
    assert together is not None and together.unchecked == lacked
    assert as_table(source(frame)).take(["x", "z"]).complete().lacks.keys() == {"order"}


@pytest.mark.parametrize("times", [1, 5])
def test_counts_from_an_engine_name_the_engine(times: int) -> None:
    """Even if every row of the table is different, so that every count is 1."""
    frame = pd.DataFrame([*product(range(3), repeat=3)] * times, columns=list("abc"))
    by_counts, by_sums = (audit_of(engine_of(frame), test=test) for test in ("permutation", "fisherz"))
    assert {item.reason for item in by_counts.unchecked} == {"an engine keeps no order of rows"}
    assert by_counts.unchecked == by_sums.unchecked


def said_by_learn(data: Any, **options: Any) -> Audit:
    """The audit of a search by tests with the same options; an unusable table has it in its error."""
    try:
        found: Any = ap.learn(data, method="icd", max_r=1, **options).audit
    except DataError as error:
        found = error.audit
    assert isinstance(found, Audit)
    return found


def in_memory(frame: pd.DataFrame) -> Any:
    return frame


def weighted(frame: pd.DataFrame) -> Any:
    return ap.weighted(frame.assign(w=np.arange(len(frame)) % 3 + 0.5), "w")


def in_a_file(frame: pd.DataFrame, tmp_path: Path) -> Path:
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


TABLES: dict[str, pd.DataFrame] = {
    "sorted": sorted_rows(),
    "gaps": sorted_rows(gap=True),
    "copies": sorted_rows().assign(again=lambda rows: rows["x"], same=1.0, total=lambda rows: rows["x"] + rows["y"]),
    "levels": pd.DataFrame([*product(range(3), repeat=3)] * 15, columns=list("abc")).assign(
        d=lambda rows: 2 - rows["a"]
    ),
    "mixed": sorted_rows().assign(level=lambda rows: rows.index % 3),
}


@pytest.mark.parametrize("options", [{}, {"missing": "pairwise"}, {"kinds": {"z": "ordinal"}}], ids=str)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("source", [in_memory, counts_of, weighted, engine_of, "file", "large file", "larger file"])
def test_an_audit_says_what_a_search_with_the_default_test_says(
    source: Any, table: str, options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, options = TABLES[table], {"kinds": {"c": "ordinal"}} if table == "levels" and "kinds" in options else options
    if source != "file":
        monkeypatch.setattr("anypag.data.sources.door.MOST_LOOKED_AT", 0)
    if source == "larger file":
        monkeypatch.setattr("anypag.data.sources.file.LARGE_FILE", 0)
    made = in_a_file(frame, tmp_path) if isinstance(source, str) else source(frame)
    is_refused = (source is weighted and "missing" in options) or (
        source == "larger file" and "kinds" not in options and table in ("levels", "mixed")
    )
    if is_refused:
        with pytest.raises(DataError, match=r"counts all rows alike|is larger than 0 MB"):
            ap.learn(made, method="icd", max_r=1, **options)
    else:
        assert ap.audit(made, max_r=1, **options) == said_by_learn(made, **options)


def test_a_file_that_auto_refuses_is_audited_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = in_a_file(TABLES["mixed"], tmp_path)
    whole = ap.audit(path)
    monkeypatch.setattr("anypag.data.sources.door.MOST_LOOKED_AT", 0)
    monkeypatch.setattr("anypag.data.sources.file.LARGE_FILE", 0)
    assert ap.audit(path) == whole


def test_the_audit_of_a_test_is_its_own() -> None:
    matrix = ap.FisherZ.from_covariance(np.cov(np.random.default_rng(0).normal(size=(300, 3)).T), 300)
    assert ap.audit(matrix) == said_by_learn(matrix) and ap.audit(matrix).unchecked
    with pytest.raises(ParameterError, match="'missing' must be left out"):
        ap.audit(matrix, missing="drop")


def test_an_audit_of_pooled_sets_says_what_a_search_says() -> None:
    sets = ap.pooled({"a": TABLES["copies"].drop(columns="total"), "b": TABLES["copies"].drop(columns="total") + 1})
    assert ap.audit(sets, max_r=1) == said_by_learn(sets)


def long_table(n: int = 4000) -> pd.DataFrame:
    """Columns of numbers; in the last rows, one has a code, one a gap beside it, and one further levels."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(n, 3)), columns=list("abc")).round(3)
    frame["level"] = np.where(np.arange(n) < n - 200, random.integers(0, 3, n), random.integers(3, 60, n))
    frame.loc[n - 100 :: 10, "b"] = -999
    frame.loc[n - 50 :, "a"] = np.nan
    return frame


@pytest.mark.parametrize("missing", ["drop", "pairwise", "auto"])
@pytest.mark.parametrize("test", ["fisherz", "mixed", "gcm"])
@pytest.mark.parametrize("source", ["large file", engine_of])
def test_codes_in_the_last_rows_of_a_long_table_are_found(
    source: Any, test: str, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = long_table()[["a", "b", "c"]]
    monkeypatch.setattr("anypag.data.sources.file.MOST_LOOKED_AT", 3000)
    monkeypatch.setattr("anypag.data.sources.door.MOST_LOOKED_AT", 0)
    monkeypatch.setattr("anypag.data.sources.engine_queries.GLANCE", 1000)
    made = in_a_file(frame, tmp_path) if isinstance(source, str) else source(frame)
    (code,) = [one for one in audit_of(made, test=test, missing=missing).findings if one.problem == "code"]
    assert code.message.startswith("Column 'b' holds -999 (10 times, far from all other values)")
    (same,) = [one for one in audit_of(frame, test=test, missing=missing).findings if one.problem == "code"]
    assert same == code


@pytest.mark.parametrize("test", ["fisherz", "mixed"])
@pytest.mark.parametrize("source", ["large file", engine_of])
def test_what_was_looked_for_in_the_first_rows_alone_says_so(
    source: Any, test: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = long_table()[["a", "b", "c"]].iloc[:3900]
    monkeypatch.setattr("anypag.data.sources.file.MOST_LOOKED_AT", 3000)
    monkeypatch.setattr("anypag.data.sources.door.MOST_LOOKED_AT", 0)
    monkeypatch.setattr("anypag.data.sources.engine_queries.GLANCE", 1000)
    audit = audit_of(in_a_file(frame, tmp_path) if isinstance(source, str) else source(frame), test=test)
    partly = {item.about for item in audit.unchecked if item.reason == "beyond the first 1,000 of 3,900 rows"}
    assert {"identifiers", "censored durations", "curved relations"} <= partly and not partly & set(audit.checked)
    whole = {"codes for missing values", "exact linear relations", "near copies", "columns with many levels", "copies"}
    assert whole <= set(audit.checked) and audit.findings == ()
    assert {*audit.checked, *(item.about for item in audit.unchecked)} == set(audit_of(frame, test=test).checked)
    assert "identifiers" not in audit.all_clear
    assert re.search(r"Not checked: [^()]*identifiers[^()]* \(beyond the first 1,000 of 3,900 rows\)", str(audit))


def test_levels_of_a_streamed_file_are_those_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = long_table().assign(
        word=lambda rows: rows["level"].map(lambda level: f"w{level}"), twice=lambda rows: rows["level"]
    )
    monkeypatch.setattr("anypag.data.sources.file.MOST_LOOKED_AT", 3000)
    streamed, table = FileTable.of(in_a_file(frame, tmp_path)), as_table(frame)
    for one, other in ((streamed, table), (streamed.complete(), table.complete())):
        for i in (3, 4):
            assert one.levels(i).values == other.levels(i).values
            assert one.levels(i).counts.tolist() == other.levels(i).counts.tolist()
        assert one.beside(1, -999.0) == other.beside(1, -999.0)
    audit = audit_of(streamed, test="mixed")
    assert audit.copies == {"word": "level", "twice": "level"}
