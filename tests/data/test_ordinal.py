"""Ordinal columns: how they are declared, and the correlations of the numbers behind their levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr, ndtri
from scipy.stats import norm

import anypag as ap
from anypag.ci.base import Queries
from anypag.data import as_table
from anypag.data.audit.copies import copies_in
from anypag.data.worth import steps_of
from anypag.errors import DataError, ParameterError

LIKERT = ["none", "little", "much"]


def system(n: int, seed: int = 0) -> dict[str, Any]:
    """a → b → c as numbers."""
    random = np.random.default_rng(seed)
    a, noise, more = random.normal(size=(3, n))
    b = a + noise
    return {"a": a, "b": b, "c": b + more}


def cut(columns: dict[str, Any], *cuts: float) -> dict[str, Any]:
    return {name: np.digitize(column / column.std(), cuts).astype(float) for name, column in columns.items()}


def correlation_of_steps(rho: float, first: Any, second: Any, heights: Any) -> float:
    """The slow twin: the correlation of two step functions of normal variables, by integration."""

    def mean_given(z: float) -> float:
        below = np.concatenate([[0.0], ndtr((second - rho * z) / np.sqrt(1 - rho**2)), [1.0]])
        return float(np.diff(below) @ heights)

    shares = [np.diff(np.concatenate([[0.0], ndtr(cuts), [1.0]])) for cuts in (first, second)]
    means = [share @ heights for share in shares]
    deviations = [np.sqrt(share @ (heights - mean) ** 2) for share, mean in zip(shares, means, strict=True)]
    edges = [-8.0, *first, 8.0]
    parts = [
        heights[k] * quad(lambda z: norm.pdf(z) * mean_given(z), edges[k], edges[k + 1])[0] for k in range(len(heights))
    ]
    return float((sum(parts) - means[0] * means[1]) / (deviations[0] * deviations[1]))


@settings(max_examples=10, deadline=None)
@given(st.floats(-0.9, 0.9), st.integers(0, 100))
def test_the_sum_of_steps_is_the_correlation_of_levels(rho: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(4, 5.0), size=2)
    heights = np.arange(4.0)
    columns = [np.repeat(heights, np.rint(100_000 * share).astype(int)) for share in shares]
    cuts = [ndtri(np.cumsum(np.bincount(column.astype(int)) / len(column))[:-1]) for column in columns]
    of = [steps_of(column, None) for column in columns]
    assert np.sum(of[0] * of[1] * rho ** np.arange(1, len(of[0]) + 1)) == pytest.approx(
        correlation_of_steps(rho, cuts[0], cuts[1], heights), abs=3e-3
    )


@pytest.mark.parametrize("cuts", [(0.0,), (-0.5, 0.5), (-1.0, -0.2, 0.4, 1.5)])
def test_the_correlations_behind_levels_are_found(cuts: tuple[float, ...]) -> None:
    columns = system(20_000)
    table = as_table(cut(columns, *cuts), kinds={"?": "ordinal"})
    assert np.abs(table.moments().correlation - np.corrcoef(list(columns.values()))).max() < 0.03
    mixed = as_table({**columns, "b": cut(columns, *cuts)["b"]}, kinds={"b": "ordinal"})
    assert np.abs(mixed.moments().correlation - np.corrcoef(list(columns.values()))).max() < 0.03


def test_only_the_order_of_levels_counts() -> None:
    table = cut(system(500), -0.5, 0.5)
    other = {name: np.array([3.0, 10.0, 11.0])[column.astype(int)] for name, column in table.items()}
    found = [ap.learn(data, kinds={"*": "ordinal"}, method="icd") for data in (table, other)]
    queries = Queries([0, 0], [2, 1], [[1], [2]])
    p = [ap.ci.resolve.resolve_test(data, ap.choices.Choices(kinds={"*": "ordinal"})) for data in (table, other)]
    assert found[0].pag == found[1].pag and np.array_equal(*(test.pvalues(queries) for test in p))


def test_a_middle_variable_separates_although_only_its_level_is_known() -> None:
    columns = cut(system(3000), -0.5, 0.5)
    joined = {kind: ap.learn(columns, kinds={"*": kind}, method="icd").pag for kind in ("ordinal", "discrete")}
    assert not joined["ordinal"].is_adjacent("a", "c") and joined["discrete"].is_adjacent("a", "c")


def test_ordered_categories_are_ordinal_where_that_is_said() -> None:
    words = [LIKERT[k % 3] for k in range(30)]
    ordered = pd.Series(pd.Categorical(words, LIKERT, ordered=True))
    frame = pd.DataFrame({"a": ordered, "b": pd.Categorical(words), "c": words})
    table = as_table(frame)
    assert table.kinds == ("discrete",) * 3, "pandas.read_stata calls every labelled column ordered"
    said = as_table(frame, kinds={"a": "ordinal"})
    assert said.kinds[0] == "ordinal" and said.labels[0] == tuple(LIKERT)
    enum = pl.DataFrame({"a": pl.Series(words, dtype=pl.Enum(LIKERT))})
    assert as_table(enum).kinds == ("discrete",) and as_table(enum, kinds={"a": "ordinal"}).kinds == ("ordinal",)


def test_the_order_of_texts_is_asked_for() -> None:
    table = {"pain": [LIKERT[k % 3] for k in range(30)], "x": np.arange(30.0) ** 1.5}
    with pytest.raises(DataError, match="The order of the levels of 'pain' is not known"):
        as_table(table, kinds={"pain": "ordinal"})
    made = as_table(table, kinds={"pain": "none < little < much"})
    assert made.kinds[0] == "ordinal" and made.values[:3, 0].tolist() == [0, 1, 2] and made.labels[0] == tuple(LIKERT)
    with pytest.raises(DataError, match="'much' is missing in it"):
        as_table(table, kinds={"pain": "none < little"})
    with pytest.raises(ParameterError, match="'continuous', 'discrete' or 'ordinal'"):
        as_table(table, kinds={"pain": "ranked"})


def test_resamples_files_categories_and_effects_take_ordinal_columns(tmp_path: Path) -> None:
    columns = cut(system(400), -0.5, 0.5) | {"g": np.repeat(["x", "y", "z", "x"], 100)}
    pd.DataFrame(columns).to_csv(tmp_path / "data.csv", index=False)
    kinds = {"[abc]": "ordinal"}
    found = ap.bootstrap(tmp_path / "data.csv", n=3, kinds=kinds, method="icd")
    assert found.test_name == "DegenerateGaussian" and found.pag.is_adjacent("a", "b")
    learned = ap.learn(tmp_path / "data.csv", kinds=kinds, effort=0.1)
    learned.save(tmp_path / "result.json")
    again = ap.read_result(tmp_path / "result.json")
    assert isinstance(again, ap.Result) and again.choices.kinds == kinds
    told = ap.effect(ap.DAG.from_string("a --> b"), "a", "b", data=as_table(columns, kinds=kinds))
    assert told.estimate == pytest.approx(np.polyfit(columns["a"], columns["b"], 1)[0])
    assert ap.effect(learned, "a", "b", data=tmp_path / "data.csv", selection_bias=False).sampled is not None


def test_kinds_that_are_said_later_count() -> None:
    table, kinds = as_table(cut(system(500), -0.5, 0.5)), dict.fromkeys("abc", "ordinal")
    as_numbers = table.moments().correlation  # which are kept
    ordered = as_table(table, kinds=kinds)
    assert (
        ordered.moments().correlation == as_table(cut(system(500), -0.5, 0.5), kinds=kinds).moments().correlation
    ).all()
    assert (ordered.all_of_kind("continuous").moments().correlation == as_numbers).all()


@pytest.mark.parametrize("kinds", [["a"], "a"])
def test_kinds_that_are_no_mapping_are_refused(kinds: Any) -> None:
    with pytest.raises(ParameterError, match="Kinds are a mapping"):
        as_table(system(20), kinds=kinds)


def test_data_sets_keep_the_order_of_levels() -> None:
    levels, order = cut(system(400), -0.5, 0.5), {"a": " < ".join(LIKERT)}
    texts = levels | {"a": np.array(LIKERT)[levels["a"].astype(int)]}
    halves = [{name: column[rows] for name, column in texts.items()} for rows in (slice(200), slice(200, None))]
    one, two = (as_table(half, kinds=order) for half in halves)
    pool = ap.pooled({"one": one, "two": two})
    assert pool.labels[0] == tuple(LIKERT)
    assert (pool.values[:, 0] == levels["a"]).all()
    with pytest.raises(DataError, match="do not agree on one order of all levels of 'a'"):
        ap.pooled({"one": one, "two": as_table(halves[1], kinds={"a": " < ".join(reversed(LIKERT))})})


def test_a_checkpoint_of_other_kinds_is_refused(tmp_path: Path) -> None:
    levels, path = cut(system(300), -0.5, 0.5), tmp_path / "run.anypag"
    ordered, plain = (as_table(levels, kinds=dict.fromkeys("abc", kind)) for kind in ("ordinal", "discrete"))
    ap.learn(ordered, method="icd", test="mixed", checkpoint=path)
    with pytest.raises(ap.AnypagError, match="belongs to another run"):
        ap.learn(plain, method="icd", test="mixed", checkpoint=path, resume=True)


def test_the_order_of_columns_changes_no_bit_where_correlations_are_mended() -> None:
    random = np.random.default_rng(3)
    behind = random.normal(size=(60, 2)) @ random.normal(size=(2, 20)) + 0.3 * random.normal(size=(60, 20))
    names, order = [f"x{k:02}" for k in range(20)], random.permutation(20)
    table = as_table((behind > 0).astype(float), names).all_of_kind("ordinal")
    found = table.moments().correlation
    assert np.linalg.eigvalsh(found)[0] > 0
    assert (table.take([names[k] for k in order]).moments().correlation == found[np.ix_(order, order)]).all()


def test_ordinal_columns_are_the_same_if_their_orders_are() -> None:
    data = system(60)
    kinds = dict.fromkeys("abcd", "ordinal")
    table = as_table(data | {"d": np.exp(-data["a"])}, kinds=kinds)  # no two values are equal
    assert copies_in(table) == {"d": "a"}
