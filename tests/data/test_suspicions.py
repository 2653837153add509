"""What the audit once called "the data can be used as they are": each blind spot has a sentence and a remedy."""

from __future__ import annotations

import re
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anypag as ap
from anypag import AnypagWarning
from anypag.cli.options import spelled
from anypag.data import Finding, as_table
from anypag.data.audit import audit as audit_of
from anypag.data.audit.checklist import ALWAYS_CHECKED, CHECKS
from anypag.data.audit.copies import level_copy_findings
from anypag.data.audit.relations import _CLEARLY_LEFT, _is_regular
from anypag.errors import DataError

audit = partial(audit_of, missing="error", singular="error")
"""What is left out otherwise is an error here."""

RNG = np.random.default_rng(1)
N = 400
A, B, C = RNG.normal(size=(3, N))
X, Y = RNG.integers(0, 2, size=(2, N))


def found(problem: str, data: Any, **options: Any) -> Finding:
    (finding,) = [finding for finding in audit(data, **options).findings if finding.problem == problem]
    assert str(finding.remedy).endswith(".")
    return finding


def test_a_good_table_has_nothing_and_the_all_clear_names_every_check() -> None:
    clear = audit({"a": A, "b": B + 0.5 * A, "c": C})
    assert clear.findings == ()
    made = [check.about for check in CHECKS if check.about != "columns that order the rows alike"]  # for rank scores
    assert clear.checked == (*ALWAYS_CHECKED, *made) and clear.unchecked == ()
    assert str(clear) == f"No problems found. Checked for: {', '.join(clear.checked)}."


def test_columns_that_are_nearly_the_same() -> None:
    finding = found("near copy", {"a": A, "again": A + 0.05 * B, "c": C})
    assert finding.columns == ("a", "again") and "nearly the same (correlation 0.99" in finding.message
    many = audit(A[:, None] + 0.01 * RNG.normal(size=(N, 8))).findings
    assert [finding.message[:53] for finding in many] == ["28 pairs of columns are nearly the same: 'X0' and 'X1"]
    assert "and 22 more. Given either column, the other adds" in many[0].message


@pytest.mark.parametrize(
    "column", [np.arange(N), np.arange(N)[::-1] + 7.0, RNG.permutation(N) + 1000, 1_000_000 + 37 * np.arange(N)]
)
def test_identifiers_of_whole_numbers(column: Any) -> None:
    finding = found("identifier", {"record": column, "a": A, "b": B})
    assert finding.columns == ("record",) and "row numbers and identifiers" in finding.message


def test_an_identifier_by_its_name_and_a_quantity_that_is_none() -> None:
    scattered = RNG.choice(10**7, size=N, replace=False)
    assert found("identifier", {"patient_id": scattered, "a": A}).columns == ("patient_id",)
    assert audit({"income": scattered, "a": A}).findings == ()


@pytest.mark.parametrize("code", [-999, 999, -99, 9999, -9])
def test_codes_for_missing_values(code: int) -> None:
    ages = np.where(np.arange(N) % 40 == 3, code, RNG.integers(0, 5, size=N) + RNG.random(N))
    finding = found("code", {"age": ages, "a": A})
    assert f"Column 'age' holds {code} (10 times, far from all other values)" in finding.message
    assert "'missing'" in str(finding.remedy)
    assert f'(gaps=["{code}"], plus any other gap words)' in str(finding.remedy)
    assert f"(--gaps={code}, plus" in finding.sentence.spelled(spelled)


def test_a_word_for_missing_values_and_values_that_are_no_codes() -> None:
    words = np.array(["red", "green", "unknown"])[RNG.integers(0, 3, size=N)]
    assert "'unknown'" in found("code", {"colour": words, "a": A}).message
    assert '(gaps=["unknown"], ' in str(found("code", {"colour": words, "a": A}).remedy)
    assert audit({"percent": RNG.integers(0, 100, size=N) + 0.0, "a": A}).findings == ()
    assert audit({"a": 400 * A, "b": B}).findings == ()


def test_a_file_without_a_line_of_names(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    rows = "\n".join(f"{a:.3f},{b:.3f}" for a, b in zip(A, B, strict=True))
    path.write_text(f"87.0,101.0\n{rows}\n")
    assert "named by numbers ('87.0', '101.0')" in found("header", path).message
    assert ap.FisherZ(path).audit.warnings[0].problem == "header"
    pandas = pytest.importorskip("pandas")
    assert audit(pandas.DataFrame(np.column_stack([A, B]))).findings == ()  # 0 and 1 are pandas' own


def test_names_that_come_twice_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("a,b,a\n" + "\n".join(f"{a:.3f},{b:.3f},{c:.3f}" for a, b, c in zip(A, B, C, strict=True)) + "\n")
    finding = found("names", path)
    assert finding.severity == "error" and "Two columns are named 'a'" in finding.message
    with pytest.raises(DataError, match="a name of its own"):
        ap.learn(path, method="icd")


def test_repeated_rows() -> None:
    rows = np.column_stack([A, B, C])
    again = np.vstack([rows, rows[:60]])[RNG.permutation(N + 60)]
    assert "60 of 460 rows repeat another row" in found("rows", again).message
    coarse = RNG.integers(0, 3, size=(N, 4)) / 2
    assert [finding.problem for finding in audit(coarse[:, :2]).findings if finding.problem == "rows"] == []


def test_rows_in_time_order() -> None:
    walk = np.zeros(N)
    for k in range(1, N):
        walk[k] = 0.9 * walk[k - 1] + A[k]
    finding = found("order", {"walk": walk, "b": B})
    assert finding.columns == ("walk",) and "autocorrelation up to 0.8" in finding.message


def test_a_discrete_column_that_two_others_determine() -> None:
    finding = found("determined", {"tub": X, "lung": Y, "either": X | Y, "other": RNG.integers(0, 3, size=N)})
    assert finding.columns == ("either", "tub", "lung") and "determined by 'tub' and 'lung'" in finding.message
    ages = RNG.integers(0, 6, size=N)
    assert "determined by 'age'" in found("determined", {"age": ages, "old": ages > 2, "x": X}).message
    noisy = np.where(RNG.random(N) < 0.05, 1 - (X | Y), X | Y)
    assert audit({"tub": X, "lung": Y, "either": noisy}).findings == ()


def test_what_few_rows_determine_by_chance_is_no_finding() -> None:
    assert not [f for f in audit(RNG.integers(0, 4, size=(40, 4))).findings if f.problem == "determined"]


def test_a_quadratic_relation() -> None:
    finding = found("curve", {"a": A, "b": A**2 + 0.5 * B, "c": C})
    assert finding.columns == ("a", "b") and "The mean of 'b' seems to follow 'a' by a curve" in finding.message
    assert audit({"a": A, "b": 3 * A + B, "c": C}).findings == ()
    assert audit({"half": X + 0.5, "b": X + B, "c": C}).findings == ()  # two values make no curve
    beside_levels = found("curve", {"level": X, "a": A, "b": A**2 + 0.5 * B})
    assert (
        beside_levels.columns == ("a", "b") and "the test for mixed data sees straight lines" in beside_levels.message
    )


@pytest.mark.parametrize("bend", [np.exp, lambda x: x**3, lambda x: np.sign(x) * np.abs(x) ** 0.4])
def test_distorted_numbers(bend: Any) -> None:
    plain = {"a": A, "b": A + 0.5 * B, "c": A + B + 0.5 * C}
    bent = {name: bend(column / column.std()) for name, column in plain.items()}
    finding = found("distorted", bent)
    assert "Numbers seem to be distorted" in finding.message and 'transform="normal-scores"' in str(finding.remedy)
    assert "--transform normal-scores" in finding.sentence.spelled(spelled)
    twice = {**bent, "again": bent["a"] ** 3 if bend(-1.0) < 0 else np.log(bent["a"])}  # orders the rows as a does
    for quiet in (plain, {"a": A, "again": np.exp(A), "c": C}, {"a": bent["a"]}):
        assert "distorted" not in {one.problem for one in audit(quiet).findings}
    assert "distorted" in {one.problem for one in audit(twice).findings}
    bound: Any = ap.Additive(bent)  # it reads ranks anyway
    assert "distorted" not in {one.problem for one in bound.audit.findings}


@pytest.mark.parametrize("noise", ["normal", "exponential", "uniform"])
@pytest.mark.parametrize("seed", range(5))
def test_straight_lines_with_any_noise_are_not_distorted(noise: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    noises = getattr(rng, noise)(size=(6, 600))
    columns = [noises[0]]
    for k in range(1, 6):
        columns.append(columns[rng.integers(k)] + noises[k])
    assert "distorted" not in {one.problem for one in audit(np.array(columns).T).findings}


def test_simulated_systems_raise_no_suspicion() -> None:
    for seed in range(5):
        sample = ap.simulate.random_system(12, 2.0, seed=seed).linear_gaussian(500, seed=seed)
        assert [finding.problem for finding in audit(dict(sample)).findings] in ([], ["near copy"])


def test_everything_is_found_in_one_pass() -> None:
    data = {
        "text": ["1.5", "x"] * (N // 2),
        "gaps": np.where(np.arange(N) < 9, np.nan, A),
        "one": np.ones(N),
        "b": B,
        "again": B,
        "id": np.arange(N),
        "endless": np.where(np.arange(N) == 5, np.inf, C),
    }
    problems = [finding.problem for finding in audit(data, kinds={"text": "continuous"}).findings]
    assert set(problems) == {"text", "missing", "constant", "copy", "identifier", "infinite"}


def test_kinds_come_with_reasons() -> None:
    data = {"sex": X, "age": RNG.integers(0, 90, size=N), "size": A, "city": ["B", "C"] * (N // 2), "yes": Y > 0}
    kinds = {item.name: (item.kind, item.reason) for item in audit(data).kinds}
    assert kinds == {
        "sex": ("discrete", "whole numbers, 2 different ones"),
        "age": ("continuous", "whole numbers, but more than ten values"),
        "size": ("continuous", "numbers with fractions"),
        "city": ("discrete", "text"),
        "yes": ("discrete", "given by its type or by you"),
    }


# --- tests that do not fit, and who hears of it -----------------------------------------------------------------------


def test_a_test_that_counts_levels_refuses_columns_of_fractions() -> None:
    with pytest.raises(DataError, match=r"Column 'a' is continuous .400 different values in 400 rows."):
        ap.learn({"a": A, "b": X}, method="icd", test="gsq")
    with pytest.warns(AnypagWarning, match=r'takes every value as a level of its own. Choose test="auto"'):
        ap.learn({"a": np.round(np.clip(A, -2, 2)) / 2, "b": X}, method="icd", test="gsq")


def test_a_test_for_numbers_says_that_it_takes_levels_as_numbers() -> None:
    with pytest.warns(AnypagWarning, match="takes the levels of 'colour' as numbers"):
        ap.learn({"colour": RNG.integers(0, 4, size=N), "a": A}, method="icd", test="fisherz")


def test_python_hears_each_cause_once_and_can_turn_it_off() -> None:
    data = {"a": A, "again": A + 0.05 * B, "id": np.arange(N)}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default", AnypagWarning)
        for _ in range(3):
            result = ap.learn(data, method="icd")
    told = [str(warning.message) for warning in heard]
    assert result.audit is not None and told == [str(finding) for finding in result.audit.warnings]
    assert all(warning.filename == __file__ for warning in heard)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AnypagWarning)
        ap.learn(data, method="icd")
    with pytest.warns(AnypagWarning):
        next(iter(ap.iterate(data, method="icd")))


@pytest.mark.parametrize(("flips", "is_found"), [(0, False), (3, True), (40, False)])
def test_near_copies_among_levels(flips: int, is_found: bool) -> None:
    """Under other labels too; exact copies are an error of their own, and loose relations are none."""
    random = np.random.default_rng(0)
    colour = random.integers(0, 4, size=300)
    code = np.array(["d", "b", "a", "c"])[colour]
    code[:flips] = np.array(["b", "a", "c", "d"])[colour[:flips]]
    columns = {"colour": colour, "code": code, "other": random.integers(0, 2, 300)}
    table = as_table(columns, kinds=dict.fromkeys(columns, "discrete"))
    found = [finding for finding in level_copy_findings(table) if finding.problem == "near copy"]
    assert [finding.columns for finding in found] == ([("colour", "code")] if is_found else [])


def test_rare_levels_that_agree_by_chance_are_no_copies() -> None:
    random = np.random.default_rng(0)
    rare = {name: (random.random(1000) < 0.004).astype(str) for name in "abc"}
    assert level_copy_findings(as_table(rare)) == []


def test_many_near_copies_are_told_in_short() -> None:
    first = np.tile([0, 1, 2], 100)
    columns = {f"c{k}": np.roll(first, 0) for k in range(7)}
    for k, column in enumerate(columns.values()):
        column[3 * k] = 1
    found = level_copy_findings(as_table(columns, kinds=dict.fromkeys(columns, "discrete")))
    assert len(found) == 1 and found[0].message.startswith("21 pairs of columns are nearly the same: 'c0' and 'c1'")


# --- levels in columns of their own, functions that only rise, coarse columns, dates ----------------------------------


def indicators(levels: Any, n_levels: int) -> dict[str, Any]:
    return {f"level{k}": (levels == k).astype(float) for k in range(1, n_levels)}


def test_levels_that_stand_in_columns_of_their_own() -> None:
    health = RNG.choice(4, p=[0.5, 0.3, 0.15, 0.05], size=N)
    finding = found("indicators", {"a": A, "x": X, **indicators(health, 4)})
    assert finding.columns == ("level1", "level2", "level3") and finding.severity == "warning"
    assert "one column of 4 levels" in str(finding.remedy) and 'default_category="none"' in str(finding.remedy)
    overlapping = indicators(health, 4)
    overlapping["level2"][np.flatnonzero(health == 1)[0]] = 1.0
    assert "indicators" not in {f.problem for f in audit({"a": A, **overlapping}).findings if "level2" in f.columns}


def test_the_advice_for_levels_in_columns_gives_the_variable_back() -> None:
    health = RNG.integers(0, 4, size=N)
    frame = pd.DataFrame({"a": A, **indicators(health, 4)})
    remedy = str(found("indicators", frame).remedy)
    call = re.search(r"pd\.from_dummies\(.*\)", remedy)
    assert call is not None
    merged = eval(call[0], {"pd": pd, "df": frame}).squeeze()
    assert merged.tolist() == [f"level{k}" if k else "none" for k in health]


def test_the_advice_names_all_of_many_levels() -> None:
    many = RNG.integers(0, 16, size=10 * N)
    frame = pd.DataFrame(indicators(many, 16))
    call = re.search(r"pd\.from_dummies\(.*\)", str(found("indicators", frame).remedy))
    assert call is not None
    merged = eval(call[0], {"pd": pd, "df": frame}).squeeze()
    assert merged.nunique() == 16


def test_a_column_and_its_opposite_with_gaps_are_no_third_level() -> None:
    data = {"a": A, "m": (X > 0).astype(float), "f": (X <= 0).astype(float)}
    data["m"][:5] = data["f"][:5] = np.nan
    assert "indicators" not in {finding.problem for finding in audit(data, missing="pairwise").findings}


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_columns_that_seldom_meet_by_chance_are_no_levels(share: float) -> None:
    for seed in range(20):
        rare = np.random.default_rng(seed).random((200, 30)) < share
        assert not [f for f in audit(rare.astype(float), max_r=1).findings if f.problem == "indicators"]


def test_two_groups_of_levels_and_gaps_among_them() -> None:
    first, second = RNG.integers(0, 3, size=(2, N))
    data = {**indicators(first, 3), **{f"other{k}": (second == k).astype(float) for k in (1, 2)}}
    data["other1"][:10] = np.nan
    groups = {f.columns for f in audit(data, missing="pairwise").findings if f.problem == "indicators"}
    assert groups == {("level1", "level2"), ("other1", "other2")}


@pytest.mark.parametrize(
    ("function", "way"), [(np.square, "rises"), (np.log, "rises"), (lambda x: 1 / x, "falls"), (np.floor, None)]
)
def test_a_column_that_only_rises_or_falls_with_another(function: Any, way: str | None) -> None:
    income = np.exp(0.7 * A)
    data = {"income": income, "made": function(income), "b": B}
    told = [f for f in audit(data).findings if f.problem == "determined"]
    assert [f.columns for f in told] == ([] if way is None else [("income", "made")])
    assert way is None or f"only {way}" in told[0].message
    noisy = {**data, "made": function(income) + 0.3 * B}
    assert not [f for f in audit(noisy).findings if f.problem == "determined"]


def test_classes_of_a_quantity_are_a_function_of_it() -> None:
    age = RNG.uniform(20, 90, size=N)
    data = {"age": age, "class": np.floor(np.exp(age / 25)), "b": B}
    assert "'class' is a function of 'age'" in found("determined", data).message
    turned = {name: data[name] for name in ("class", "age", "b")}
    assert "'class' is a function of 'age'" in found("determined", turned).message


def test_rows_that_agree_in_coarse_columns_are_natural() -> None:
    coarse = np.round(RNG.normal(size=(2000, 3)) * 2) / 4
    assert not [f for f in audit(coarse).findings if f.problem == "rows"]


def test_a_column_of_dates_is_listed_with_all_else() -> None:
    days = pd.date_range("2020-01-31", periods=N)
    for data in (
        pd.DataFrame({"a": A, "day": days, "same": 1.0}),
        {"a": A, "day": days.to_numpy(), "same": np.ones(N)},
    ):
        assert {finding.problem for finding in audit(data).errors} == {"dates", "constant"}
    assert "days since a start" in str(found("dates", pd.DataFrame({"a": A, "day": [None, *days[1:]]})).remedy)


def test_it_is_said_that_the_order_of_a_scale_is_not_used() -> None:
    (scale, _) = audit({"scale": RNG.integers(1, 6, size=N), "a": A}).kinds
    assert scale.reason == "whole numbers, 5 different ones, their order not used"


def test_a_censored_duration_is_said_to_be_one() -> None:
    finding = found("censored", {"survival": np.exp(A), "censors": X, "age": B})
    assert finding.columns == ("censors",) and "still alive" in finding.message
    assert "censored" not in {f.problem for f in audit({"census": X, "licensed": Y, "a": A}).findings}


def test_censored_durations_are_seen_by_the_names_of_both_columns_or_by_the_end_of_the_study() -> None:
    rng = np.random.default_rng(1)
    lasts, stops = rng.exponential(5.0, size=N), rng.uniform(4.0, 5.0, size=N)
    time, status = np.minimum(lasts, stops), (lasts < stops).astype(int)
    for names in (("time", "status"), ("futime", "fustat"), ("survival_months", "died"), ("os_time", "vital.status")):
        finding = found("censored", dict(zip((*names, "age"), (time, status, B), strict=True)))
        assert finding.columns == names and f"which values of {names[0]!r} are censored" in finding.message
    for names in (("time", "y"), ("x", "status")):  # one name, and nearly all of the largest values are alike
        assert found("censored", dict(zip((*names, "age"), (time, status, B), strict=True))).columns == names
    ended = {"x": np.minimum(lasts, 4.0), "y": lasts < 4.0, "age": B}
    assert found("censored", ended).columns == ("x", "y")
    ordinary = {"time": lasts, "y": X, "hours": np.minimum(stops, 4.5), "job": Y, "marital_status": X}
    assert "censored" not in {finding.problem for finding in audit(ordinary).findings}


def test_a_table_of_counts_is_not_taken_for_persons() -> None:
    levels = pd.MultiIndex.from_product(
        [["yes", "no"], ["man", "woman"], [*"ABCDEF"]], names=["Admit", "Gender", "Dept"]
    )
    table = levels.to_frame(index=False).assign(Freq=RNG.integers(0, 500, size=24))
    finding = found("counts", table)
    assert (
        finding.columns == ("Freq",) and "Every combination of 'Admit', 'Gender', 'Dept' occurs once" in finding.message
    )
    assert "ap.counted(table, 'Freq')" in str(finding.remedy) and "--counts Freq" in str(finding.remedy)
    others = (table[1:], table.assign(Freq=table["Freq"] + 0.5), table.drop(columns="Dept"), ap.counted(table, "Freq"))
    assert all("counts" not in {finding.problem for finding in audit(other).findings} for other in others)


OATS = (  # yields of MASS::oats: six blocks, three varieties, four amounts of nitrogen
    "111 130 157 174 117 114 161 141 105 140 118 156 61 91 97 100 70 108 126 149 96 124 121 144 68 64 112 86 60 102 89 "
    "96 89 129 132 124 74 89 81 122 64 103 132 133 70 89 104 117 62 90 100 116 80 82 94 126 63 70 109 99 53 74 118 113 "
    "89 82 86 104 97 99 119 121"
)
ADMITTED = "512 313 89 19 353 207 17 8 120 205 202 391 138 279 131 244 53 138 94 299 22 351 24 317"  # UCBAdmissions


def test_measurements_of_a_complete_design_are_not_taken_for_counts() -> None:
    plots = [*product(range(6), ["Victory", "Golden rain", "Marvellous"], [0.0, 0.2, 0.4, 0.6])]
    design = pd.DataFrame(plots, columns=["block", "variety", "nitrogen"]).assign(Y=[int(y) for y in OATS.split()])
    assert "counts" not in {finding.problem for finding in audit(design).findings}
    assert found("counts", design.rename(columns={"Y": "count"})).columns == ("count",)
    cells = [*product(range(6), ["man", "woman"], ["admitted", "rejected"])]
    berkeley = pd.DataFrame(cells, columns=["department", "sex", "became"]).assign(y=[int(y) for y in ADMITTED.split()])
    finding = found("counts", berkeley)
    assert "as in a table of counts or a complete design" in finding.message
    assert str(finding.remedy).endswith("If it was measured, leave it.")


def test_what_few_rows_cannot_show_is_noted() -> None:
    few = audit(RNG.normal(size=(72, 5)))
    assert not few.findings
    assert few.notes == (
        "With 72 rows, correlations below about 0.23 mostly go unseen (0.24 given 3 other columns): "
        "a missing edge may be an unseen one.",
    )
    assert str(few).endswith(few.notes[0]) and few.notes[0] in few._repr_html_()
    assert audit({"a": A, "b": B, "c": C}).notes == ()


@pytest.mark.filterwarnings("error")
def test_more_combinations_of_levels_than_a_float_holds_are_no_warning_of_numpy() -> None:
    audit({f"c{i}": np.random.default_rng(i).integers(0, 2, 40) for i in range(1100)})


def test_a_column_without_a_value_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("a,b,c\n" + "".join(f"{k % 7}.5,,{k * k % 11}.5\n" for k in range(30)), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        ap.learn(path, method="icd", test="fisherz", missing="pairwise")
    assert str(caught.value) == "There is no value in 'b'. Drop every empty column."


@pytest.mark.parametrize("unit", [1.0, 1e200, 1e-200])
@pytest.mark.parametrize("wrong", [1.0, 400.0])
def test_linear_relations_that_few_rows_break(unit: float, wrong: float) -> None:
    age, education = RNG.integers(18, 64, N), RNG.integers(6, 18, N)
    table = {"age": age * unit, "education": education * unit, "experience": (age - education - 6) * unit, "wage": A}
    assert not [one for one in audit(table, singular="keep").findings if one.problem == "broken relation"]
    table["experience"][[7, 200]] += wrong * unit
    finding = found("broken relation", table)
    assert set(finding.columns) == {"age", "education", "experience"}
    assert finding.message.startswith("Linear relation in all but 2 of 400 rows: ")
    assert unit != 1.0 or "experience = age − education − 6." in finding.message or "age = education" in finding.message
    table["experience"][:40] += RNG.normal(size=40) * unit
    assert not [one for one in audit(table).findings if one.problem == "broken relation"]


def test_small_eigenvalues_are_looked_at_again() -> None:
    """A small eigenvalue is no relation if its vector is spread over many columns; a singular matrix is one."""
    spread = np.eye(4) - (1 - 0.7 * _CLEARLY_LEFT) / 4
    assert np.linalg.eigvalsh(spread)[0] < _CLEARLY_LEFT and _is_regular(spread)
    assert _is_regular(np.stack([spread, np.eye(4)]))
    assert not _is_regular(np.ones((4, 4))) and not _is_regular(np.stack([np.eye(4), np.ones((4, 4))]))


def test_columns_that_are_mostly_one_value_are_not_called_related() -> None:
    rare = np.where(RNG.random((3, N)) < 0.005, RNG.normal(size=(3, N)), 0.0)
    table = {"a": A, "b": A + rare[0], "c": rare[1], "d": rare[2], "e": C}
    related = [one.columns for one in audit(table, singular="keep").findings if one.problem == "broken relation"]
    assert not related  # a and b are near copies, which has a check of its own
