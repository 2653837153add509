from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anypag as ap
from anypag.data.sources.pooled import Pooled
from anypag.errors import DataError, ParameterError
from anypag.series.checks import series_findings
from anypag.series.lagged import lagged
from naive_series import Row, windows_by_hand

NUMBERS = np.random.default_rng(0).normal(size=600)


@given(st.data(), st.integers(1, 3), st.integers(0, 10_000))
def test_windows_are_those_found_by_hand(data: st.DataObject, max_lag: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    step = data.draw(st.sampled_from([1.0, 0.25, 7.0]))
    rows: list[Row] = []
    for unit in range(data.draw(st.integers(1, 3))):
        first = random.integers(0, 5)
        times = first + np.flatnonzero(random.random(14) < 0.9)
        gaps = random.random((len(times), 2)) < 0.03
        values = np.where(gaps, np.nan, random.normal(size=(len(times), 2)))
        rows += [(float(unit), float(step * t), tuple(map(float, row))) for t, row in zip(times, values, strict=True)]
    rows.append((9.0, 0.0, (0.1, 0.2)))
    rows += [(9.0, step * (t + 1), (float(NUMBERS[t]), float(NUMBERS[-t - 1]))) for t in range(12)]  # the usual step
    mixed = [rows[i] for i in random.permutation(len(rows))]
    units = dict.fromkeys(unit for unit, _, _ in mixed)
    table = {"unit": [row[0] for row in mixed], "time": [row[1] for row in mixed]}
    table |= {name: [row[2][i] for row in mixed] for i, name in enumerate("ab")}
    found = lagged(table, max_lag, time="time", unit="unit")
    assert [tuple(row) for row in found.table.values.tolist()] == windows_by_hand(mixed, max_lag, step)
    assert found.n_units == len(units)
    assert found.table.n + found.n_incomplete + found.n_without_past == found.n_rows


def test_windows_do_not_cross_units_or_gaps() -> None:
    table = {"who": [1, 1, 1, 2, 2, 2, 2], "t": [1, 2, 3, 1, 2, 4, 5], "x": [1.0, 2, 3, 10, 20, 40, 50]}
    found = lagged(table, 1, time="t", unit="who")
    assert found.table.values.tolist() == [[2, 1], [3, 2], [20, 10], [50, 40]]
    assert found.n_breaks == 1 and found.units.tolist() == [0, 0, 1, 1]
    assert "1 gap in time was not crossed" in found.told and "of 2 units" in found.told


@pytest.mark.parametrize(
    "dates",
    [
        ["2020-01", "2020-02", "2020-03", "2020-05", "2020-06"],
        ["2020-01-31", "2020-02-29", "2020-03-31", "2020-05-31", "2020-06-30"],
        ["2019Q1", "2019Q2", "2019Q3", "2020Q1", "2020Q2"],
        ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-05", "2020-01-06"],
        [
            "2020-01-01 00:00:00",
            "2020-01-01 06:00:00",
            "2020-01-01 12:00:00",
            "2020-01-02 00:00:00",
            "2020-01-02 06:00:00",
        ],
    ],
)
def test_dates_are_one_step_apart_whatever_the_step(dates: list[str]) -> None:
    order = [3, 0, 4, 2, 1]
    found = lagged({"when": [dates[i] for i in order], "x": [float(i) for i in order]}, 1, time="when")
    assert found.table.values.tolist() == [[1, 0], [2, 1], [4, 3]]


@pytest.mark.parametrize(
    "times",
    [
        [f"2020-01-01 {hour:02d}:00" for hour in range(9)],
        [f"2020-01-31 {hour:02d}:00" for hour in range(9)],
        [f"2020-01-01T00:00:00.{tenth}" for tenth in range(9)],
        [f"2020-01-0{day}T00:00:00+02:00" for day in range(1, 10)],
    ],
)
@pytest.mark.filterwarnings("error")
def test_times_may_be_hours_of_one_day_parts_of_seconds_and_have_zones(times: list[str]) -> None:
    assert lagged({"when": times, "x": NUMBERS[:9]}, 1, time="when").table.n == 8


def test_without_times_the_rows_of_each_unit_are_neighbours_wherever_they_stand() -> None:
    table = {"who": list("abbabaab"), "x": [1.0, 10, 20, 2, 30, 3, 4, 40]}
    found = lagged(table, 1, unit="who")
    assert found.table.values.tolist() == [[2, 1], [3, 2], [4, 3], [20, 10], [30, 20], [40, 30]]
    assert found.n_breaks == 0 and found.irregular == 0


def test_only_units_with_windows_are_drawn() -> None:
    found = lagged({"who": ["short", *["long"] * 40], "x": NUMBERS[:41]}, 1, unit="who")
    assert found.n_units == 2 and len(np.unique(found.clusters())) > 1


def test_kinds_and_labels_go_with_every_lag() -> None:
    found = lagged({"x": NUMBERS[:9], "state": ["on", "off", "on"] * 3}, 2)
    assert found.table.kinds == ("continuous", "discrete") * 3
    assert found.table.labels[1] == found.table.labels[5] == ("off", "on")
    given = lagged({"x": [1.0, 2.0, 3.0] * 9}, 1, kinds={"x": "continuous"})
    assert given.table.kinds == ("continuous", "continuous")


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(ParameterError, match="max_lag"):
        lagged({"x": NUMBERS}, 0)
    with pytest.raises(DataError, match="same time"):
        lagged({"t": [1, 1, 2, 3], "x": NUMBERS[:4]}, 1, time="t")
    with pytest.raises(DataError, match="cannot be read"):
        lagged({"t": ["Jan", "Feb"], "x": NUMBERS[:2]}, 1, time="t")
    with pytest.raises(DataError, match="no value of 't'"):
        lagged({"t": [1.0, math.nan, 3], "x": NUMBERS[:3]}, 1, time="t")
    with pytest.raises(DataError, match="no process"):
        lagged({"t": [1, 2, 3]}, 1, time="t")
    with pytest.raises(DataError, match="at least 2"):
        lagged({"x": NUMBERS[:3]}, 2)


def problems_of(columns: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]], max_lag: int = 1) -> list[str]:
    return [finding.problem for finding in series_findings(lagged(columns, max_lag))]


def autoregression(*weights: float, n: int = 600) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    x = NUMBERS[:n].copy()
    for t in range(len(weights), n):
        x[t] += sum(weight * x[t - lag - 1] for lag, weight in enumerate(weights))
    return x


def test_series_that_behave_raise_no_warning() -> None:
    assert problems_of({"x": autoregression(0.5)}) == []


def test_a_process_that_wanders_is_named() -> None:
    assert problems_of({"x": np.cumsum(NUMBERS)}) == ["trend"]
    assert problems_of({"x": NUMBERS + np.linspace(0, 9, 600)}) == ["trend", "memory"]


def test_more_memory_than_the_window_is_named() -> None:
    assert problems_of({"x": autoregression(0.2, 0.6)}) == ["memory"]
    assert problems_of({"x": autoregression(0.2, 0.6)}, 2) == []


def test_a_season_is_named() -> None:
    season = np.tile(np.sin(np.arange(12) * np.pi / 6), 50)
    found = series_findings(lagged({"x": NUMBERS + 3 * season}, 1))
    assert "every 12 steps" in str(next(one for one in found if one.problem == "season"))


def test_lasting_differences_between_units_are_named() -> None:
    units = np.repeat(np.arange(20), 30)
    alike, unlike = NUMBERS, NUMBERS + 3 * units
    for column, wanted in ((alike, []), (unlike, ["units"])):
        found = series_findings(lagged({"who": units, "x": column}, 1, unit="who"))
        assert [one.problem for one in found][:1] == wanted


@pytest.mark.parametrize("n_rows", [2, 3])
@pytest.mark.filterwarnings("error")
def test_units_with_few_rows_do_not_differ_by_chance(n_rows: int) -> None:
    units = np.repeat(np.arange(200), n_rows)
    level = np.random.default_rng(1).normal(size=200)[units]
    alike, unlike = NUMBERS[: len(units)], NUMBERS[: len(units)] + 3 * level
    assert series_findings(lagged({"who": units, "x": alike}, 1, unit="who")) == []
    found = [one.problem for one in series_findings(lagged({"who": units, "x": unlike}, 1, unit="who"))]
    assert ("units" in found) == (n_rows > 2)  # of one window nobody knows what lasts


def test_few_windows_and_uneven_times_are_named() -> None:
    assert problems_of({"x": NUMBERS[:12]}, 2) == ["windows"]
    times = np.cumsum(np.where(np.arange(300) % 4 == 3, 2.5, 1.0))
    found = series_findings(lagged({"t": times, "x": NUMBERS[:300]}, 1, time="t"))
    assert [one.problem for one in found] == ["times"] and "crosses these gaps (75)" in str(found[0])


def test_windows_do_not_cross_data_sets() -> None:
    sets = {
        "observed": {"who": [1, 1, 1, 2, 2], "x": [1.0, 2, 3, 10, 20]},
        "drug": {"who": [2, 2, 2], "x": [30.0, 40, 50]},
    }
    found = lagged(ap.pooled(sets), 1, unit="who")
    assert found.window.names == ("x", "x(t-1)", "drug") == found.table.names
    assert found.table.values.tolist() == [[2, 1, 0], [3, 2, 0], [20, 10, 0], [40, 30, 1], [50, 40, 1]]
    assert found.n_units == 3 and found.is_panel and found.units.tolist() == [0, 0, 1, 2, 2]
    assert isinstance(found.table, Pooled) and found.table.of_set.tolist() == [0, 0, 0, 1, 1]
    assert "of 3 units in 2 data sets ('observed' is the one with which others are compared)" in found.told
    for parts in sets.values():
        del parts["who"]
    found = lagged(ap.pooled(sets), 1)
    assert len(found.table.values) == 6 and not found.is_panel and found.clusters(1).tolist() == [0, 1, 2, 3, 4, 5]


def test_contexts_are_numbers_beside_numbers_though_times_are_texts() -> None:
    dates = [f"2020-01-{day:02d}" for day in range(1, 21)]
    sets = {name: {"when": dates, "x": NUMBERS[k : k + 20]} for k, name in enumerate(("observed", "drug"))}
    assert lagged(ap.pooled(sets), 1, time="when").table.kinds == ("continuous",) * 3
    one = lagged(ap.pooled(sets, contexts="one"), 1, time="when").table
    assert one.names[-1] == "context" and one.kinds[-1] == "continuous"


def test_a_data_set_without_windows_is_named() -> None:
    sets = {"observed": {"x": NUMBERS[:30]}, "drug": {"x": NUMBERS[:2]}}
    with pytest.raises(DataError, match="'drug' has no window"):
        lagged(ap.pooled(sets), 2)


def test_rows_of_sets_told_apart_by_a_column_need_times() -> None:
    """On, off, on: the second stretch does not follow the first one of its set."""
    table = {"t": range(9), "arm": ["off"] * 3 + ["on"] * 3 + ["off"] * 3, "x": NUMBERS[:9]}
    found = lagged(ap.pooled(table, by="arm"), 1, time="t")
    assert found.table.n == 6 and found.n_breaks == 1
    with pytest.raises(DataError, match="'arm'"):
        lagged(ap.pooled({name: table[name] for name in ("arm", "x")}, by="arm"), 1)


def test_the_checks_look_within_data_sets() -> None:
    sets = {"observed": {"x": NUMBERS[:300]}, "drug": {"x": NUMBERS[300:] + 100}}
    assert series_findings(lagged(ap.pooled(sets), 1)) == []


def test_contexts_may_be_named_among_the_processes_as_in_learn() -> None:
    sets = {name: {"A": NUMBERS[:30] + k, "B": NUMBERS[30:60]} for k, name in enumerate(("observed", "drug"))}
    pool = ap.pooled(sets)
    for names in (["A"], ["A", "drug"]):
        assert lagged(pool, 1, names=names).window.names == ("A", "A(t-1)", "drug")
