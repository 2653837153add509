"""The rows an effect is read from: enough of them, finite, and of the kinds that the search was told."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.data.table import Table
from anypag.errors import AnypagWarning, DataError
from anypag.results.files import read_result
from anypag.results.result import Result

SYSTEM = ap.PAG.from_string("a o-> c; b o-> c; c --> d")


def chain(n: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    c = a + b + 0.5 * rng.normal(size=n)
    return {"a": a, "b": b, "c": c, "d": c + 0.5 * rng.normal(size=n)}


def coded(n: int) -> dict[str, Any]:
    """A cause of 25 codes, which look like a number, of two that are independent; and an outcome of two levels."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, (2, n))
    code = rng.binomial(24, 0.2 + 0.3 * a + 0.3 * b)
    return {"a": a, "b": b, "code": code, "ill": (24 * rng.random(n) < code).astype(int)}


def test_a_table_without_rows_is_refused() -> None:
    table = ap.data.as_table(chain(10)).take_rows(np.zeros(10, np.bool_))
    assert isinstance(table, Table)
    for test in ("fisherz", "gsq", "mixed", "additive"):
        with pytest.raises(DataError, match="at least 4 rows to test anything; got 0"):
            ap.learn(table, method="icd", test=test)


def test_rows_that_dropping_left_none_of_are_told_once() -> None:
    data = chain(6)
    data["a"][:3] = data["b"][3:] = np.nan
    with pytest.raises(DataError, match=r"^None of the 6 rows is complete") as raised:
        ap.learn(data, method="icd", missing="drop")
    assert "got 0" not in str(raised.value)


def test_kinds_the_search_was_told_are_those_of_the_estimate() -> None:
    data, kinds = coded(4000), {"code": "discrete"}
    result = ap.learn(data, method="icd", kinds=kinds, selection_bias=False)
    assert ap.data.as_table(data).kinds[2] == "continuous"
    found = result.effect("code", "ill", data=data)
    assert found.numbers is not None and found.numbers.model == "tables"
    assert len(found.numbers.entries) == 25 * 2


@pytest.mark.parametrize(("test", "model"), [("gsq", "tables"), ("fisherz", "linear")])
def test_kinds_that_a_test_takes_columns_for_are_those_of_the_estimate(test: str, model: str, tmp_path: Path) -> None:
    data = coded(4000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ap.learn(data, method="icd", test=test, selection_bias=False)
    result.save(tmp_path / "run.json")
    saved = read_result(tmp_path / "run.json")
    assert isinstance(saved, Result)
    for one in (result, saved):
        found = one.effect("code", "ill", data=data)
        assert found.numbers is not None and found.numbers.model == model
    other = result.effect("code", "ill", data=data, model="tables" if model == "linear" else "linear")
    assert other.numbers is not None and other.numbers.model != model


def test_kinds_that_a_mixed_table_had_hold_for_fewer_rows() -> None:
    """Ten rows of a number are all whole by chance; it is still a number."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 2000))
    c = a + b + 0.3 * rng.normal(size=2000)
    d = np.where(rng.random(2000) < 0.01, c + 0.25, np.round(c)).clip(-1, 1)
    table = {"a": a, "b": b, "c": c, "d": d, "w": rng.choice(["x", "y"], size=2000)}
    result = ap.learn(table, method="icd", selection_bias=False)
    whole = {name: column[d == np.floor(d)] for name, column in table.items()}
    assert ap.data.as_table(table).kinds[3] == "continuous" != ap.data.as_table(whole).kinds[3]
    assert ap.effect(result, "c", "d").basis.rows(whole).table.kinds[3] == "continuous"


def test_texts_stay_levels_where_the_search_had_numbers() -> None:
    data = chain(500)
    asked = ap.learn(data, method="icd", selection_bias=False).effect("c", "d")
    assert asked.basis.rows({**data, "c": np.where(data["c"] > 0, "more", "less")}).table.kinds[2] == "discrete"


def test_kinds_are_told_to_resamples_too(tmp_path: Path) -> None:
    data, kinds = coded(4000), {"code": "discrete"}
    told = ap.bootstrap(data, 2, method="icd", kinds=kinds, selection_bias=False)
    told.save(tmp_path / "run.json")
    saved = read_result(tmp_path / "run.json")
    assert isinstance(saved, Result)
    for result in (told.result, saved):
        found = result.effect("code", "ill", data={name: data[name] for name in ("code", "ill", "a", "b")})
        assert found.numbers is not None and found.numbers.model == "tables"


@pytest.mark.parametrize("model", ["linear", "tables", "mixed"])
def test_infinite_values_are_refused_as_by_the_search(model: Any) -> None:
    data = chain(200)
    data["c"][7] = np.inf
    asked = ap.effect(SYSTEM, "c", "d", selection_bias=False)
    with pytest.raises(DataError, match=r"Column 'c' has 1 infinite value\. Replace them by missing values"):
        asked.estimated(data, model=model)
    data["b"][0], data["c"][7] = -np.inf, 0.0  # a column that this effect needs too, for adjustment
    assert asked.adjustment_set is not None and "b" in asked.adjustment_set
    with pytest.raises(DataError, match="Column 'b' has 1 infinite value"):
        asked.estimated(data, model=model)


@pytest.mark.parametrize("power", [1010, -1015])
@pytest.mark.parametrize("model", ["linear", "mixed"])
def test_large_and_small_units_change_no_digit(model: Any, power: int) -> None:
    data = chain(200)
    asked = ap.effect(SYSTEM, "c", "d", selection_bias=False)
    plain = asked.estimated(data, model=model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        every = asked.estimated({name: np.ldexp(column, power) for name, column in data.items()}, model=model)
        cause = asked.estimated({**data, "c": np.ldexp(data["c"], power)}, model=model)
    assert (every.estimate, every.interval) == (plain.estimate, plain.interval)
    assert isinstance(plain.estimate, float) and cause.estimate == pytest.approx(np.ldexp(plain.estimate, -power))


def test_an_effect_that_no_number_can_tell() -> None:
    data = chain(200)
    data["c"], data["d"] = np.ldexp(data["c"], -600), np.ldexp(data["d"], 600)
    with pytest.raises(DataError, match="too large a number"):
        ap.effect(SYSTEM, "c", "d", selection_bias=False, data=data)


def test_few_rows_are_warned_of_by_the_search_itself() -> None:
    with pytest.warns(AnypagWarning, match="With 6 rows only strong"):
        ap.learn(chain(6), method="icd")
