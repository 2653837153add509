"""What the audit finds: sentences, columns and remedies, errors apart from warnings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_ci
from anypag import FisherZ, GSquared, counted
from anypag.data import Finding, moments_of
from anypag.data.audit import audit as audit_of
from anypag.data.audit import relations
from anypag.data.audit.curves import MOSTLY, _curves, mostly_one
from anypag.data.audit.determined import _worth_a_look
from anypag.data.audit.relations import exact_relations
from anypag.data.moments import Moments
from anypag.errors import DataError

audit = partial(audit_of, missing="error", singular="error")
"""What is left out otherwise is an error here."""

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(3, 40))
WORDS = np.array(["red", "green", "blue"])[RNG.integers(0, 3, size=40)]


def only(data: Any, **options: Any) -> Finding:
    (finding,) = audit(data, **options).findings
    return finding


def test_nothing_found() -> None:
    assert audit({"a": A, "b": B, "c": WORDS}).findings == ()
    clear = str(audit({"a": A, "b": B}))
    assert clear.startswith("No problems found. Checked for: text among numbers, infinite and missing values,")
    assert "curved relations." in clear


def test_constant_columns() -> None:
    finding = only({"a": A, "b": B, "one": np.ones(40)})
    assert finding == Finding(
        "error", "constant", ("one",), "Column 'one' is constant.", "Drop it: a constant is independent of everything."
    )
    assert only({"a": A, "w": np.full(40, "same")}).columns == ("w",)


def test_duplicated_columns() -> None:
    finding = only({"a": A, "b": B, "again": A}, singular="keep")
    assert (finding.severity, finding.problem, finding.columns) == ("warning", "duplicate", ("a", "again"))
    assert str(finding) == "Columns 'a' and 'again' are the same. Leave one out ('names'): the other stands for both."
    finding = only({"a": A, "b": B, "again": A})
    assert (finding.severity, finding.problem, finding.columns) == ("warning", "copy", ("a", "again"))
    assert finding.message == "Columns 'a' and 'again' are the same: 'a' stands for both."


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (2 * A - B, "c = 2·a − b"),
        (A + B + 1, "c = a + b + 1"),
        (-A / 3, "c = −0.3333·a"),
        (100 - A - B, "c = −a − b + 100"),
        (1e9 * A, "c = 1e+09·a"),
    ],
)
def test_exact_linear_relations_are_named(column: Any, text: str) -> None:
    finding = only({"a": A, "b": B, "other": C, "c": column})
    assert finding.severity == "error"
    assert finding.message == f"Exact linear relation: {text}."
    assert finding.columns[-1] == "c"


def test_several_relations_are_all_named() -> None:
    found = audit({"a": A, "b": B, "sum": A + B, "difference": A - B, "c": C})
    assert [str(finding.message) for finding in found.findings] == [
        "Exact linear relation: sum = a + b.",
        "Exact linear relation: difference = a − b.",
    ]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), p=st.integers(2, 8), rows=st.integers(4, 40))
def test_no_relation_is_seen_where_there_is_none(seed: int, p: int, rows: int) -> None:
    values = np.random.default_rng(seed).normal(size=(rows, p))
    assert exact_relations(moments_of(values, [f"v{i}" for i in range(p)])) == []


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), p=st.integers(3, 8), place=st.integers(0, 8))
def test_a_relation_holds_as_it_is_written(seed: int, p: int, place: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(50, p)) + rng.normal(size=p)
    weights = np.where(rng.random(p - 1) < 0.6, rng.integers(1, 9, size=p - 1), 0)
    weights[0] = 2
    values = np.insert(values[:, 1:], place % p, values[:, 1:] @ weights + 3, axis=1)
    names = [f"v{i}" for i in range(p)]
    ((columns, text),) = exact_relations(moments_of(values, names))
    assert len(columns) == 1 + np.count_nonzero(weights)
    left, right = text.replace("·", "*").replace("−", "-").split(" = ")
    held = eval(right, {name: values[:, i] for i, name in enumerate(names)})
    np.testing.assert_allclose(held, values[:, names.index(left)], rtol=1e-2, atol=2e-2)  # four digits are shown


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.integers(3, 60),
    alike=st.sampled_from([0.0, 1.0, 10.0, 100.0]),
    noise=st.sampled_from([0.0, 1e-9, 1e-4, 1e-2]),
)
def test_the_quick_look_hides_no_relation(seed: int, p: int, alike: float, noise: float) -> None:
    """Columns that are much alike, a relation with large and small weights, and something like a relation."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(80, p)) + alike * rng.normal(size=(80, 1))
    chosen, last = rng.permutation(p)[: rng.integers(1, p)], int(rng.integers(p))
    chosen = chosen[chosen != last]
    weights = rng.choice([-1, 1], size=len(chosen)) * 10.0 ** rng.uniform(-2, 2, size=len(chosen))
    values[:, last] = values[:, chosen] @ weights + noise * rng.normal(size=80)
    if np.ptp(values[:, last]) == 0:
        return
    moments = moments_of(values, [f"v{i}" for i in range(p)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "_is_clear", lambda moments: False)
        wanted = exact_relations(moments)
    assert exact_relations(moments) == wanted


def test_text_where_numbers_are_wanted() -> None:
    finding = only({"a": A, "b": [*(str(value) for value in B[:-1]), "n/a"]})
    assert str(finding) == (
        "Column 'b' holds text among numbers: 'n/a'. Turn it into numbers, with 'n/a' as missing "
        "('gaps' if it comes from a file), or declare it discrete ('kinds')."
    )
    assert "such as '1'" in str(only({"a": A, "b": ["1", "2"] * 20}))
    assert audit({"a": A, "b": ["1", "2"] * 20}, kinds={"b": "discrete"}).findings == ()
    assert "Drop it, or declare it discrete" in str(only({"a": A, "w": WORDS}, kinds={"w": "continuous"}))


def test_infinities() -> None:
    finding = only({"a": np.where(np.arange(40) < 2, np.inf, A), "b": B})
    assert str(finding) == ("Column 'a' has 2 infinite values. Replace them by missing values or drop those rows.")


def test_missing_values_per_column() -> None:
    gaps = {"a": np.where(np.arange(40) < 3, np.nan, A), "b": np.where(np.arange(40) > 37, np.nan, B), "c": C}
    error = only(gaps)
    assert error.severity == "error" and error.columns == ("a", "b")
    assert error.message == "Values are missing in some of the 40 rows: 'a' 3, 'b' 2."
    assert 'missing="drop"' in str(error.remedy) and '"pairwise"' in str(error.remedy)
    dropped = only(gaps, missing="drop")
    assert dropped.severity == "warning" and "Only the 35 complete rows are used" in str(dropped)
    assert audit(gaps, missing="drop").rows_left_out == 5
    assert only(gaps, missing="pairwise").severity == "warning"
    assert audit(gaps, missing="pairwise").rows_left_out == audit(gaps).rows_left_out == 0


def test_rows_left_out_are_counted_however_a_table_comes(tmp_path: Path) -> None:
    numbers = pd.DataFrame({"a": np.where(np.arange(40) < 3, np.nan, A), "b": B})
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    assert FisherZ(tmp_path / "numbers.csv", missing="drop").audit.rows_left_out == 3
    counts = {"u": ["x", "y", None, "x"], "v": ["p", "p", "q", "q"], "times": [10, 20, 5, 7]}
    assert GSquared(counted(counts, "times"), missing="drop").audit.rows_left_out == 5


def test_scores_are_not_told_of_rows_of_each_test() -> None:
    """Where pairwise is named, so is whom it is for: methods by score refuse it."""
    gaps = {"a": np.where(np.arange(40) < 30, np.nan, A), "b": B, "c": C}
    for missing in ("error", "drop"):
        named = [str(finding) for finding in audit(gaps, missing=missing).findings if "pairwise" in str(finding)]
        assert named
        assert all("not for bayes, boss, gfci)." in text for text in named)
    error = str(audit(gaps).errors[0])
    assert error.endswith(
        "Fill them in, or choose missing=\"drop\" (only the 10 complete rows are used; 40 remain without 'a') or "
        'missing="pairwise" (a test drops only rows with gaps in its columns; not for bayes, boss, gfci).'
    )


def test_dropping_rows_has_a_price() -> None:
    most = np.arange(40) < 30
    found = audit({"a": np.where(most, np.nan, A), "b": B}, missing="drop")
    assert "Only 10 of 40 rows are complete." in str(found)
    none = audit({"a": np.where(most, np.nan, A), "b": np.where(most, B, np.nan)}, missing="drop")
    assert "None of the 40 rows is complete." in str(none.errors[0])
    empty = audit({"a": np.full(40, np.nan), "b": B}, missing="pairwise")
    assert str(empty.errors[0]) == "There is no value in 'a'. Drop every empty column."


def test_too_few_rows() -> None:
    assert only(RNG.normal(size=(3, 2))).message == "There must be at least 4 rows to test anything; got 3."
    few, sets = audit(RNG.normal(size=(6, 9))).warnings
    assert few.message == (
        "With 6 rows only strong dependences show (given no other columns, correlations above 0.81): dependent "
        "variables may look independent."
    )
    assert sets.remedy == "Set 'max_r' to at most 2, or collect more rows."
    assert audit(RNG.normal(size=(6, 9)), max_r=2).findings == (few,)
    assert audit(RNG.normal(size=(20, 3))).findings == ()


def test_high_cardinality() -> None:
    codes = np.array([f"code {i // 2}" for i in range(60)])
    finding = only({"code": codes, "a": RNG.normal(size=60)})
    assert finding.severity == "warning"
    assert finding.message == "Column 'code' has 30 levels in 60 rows; its tests will find little."
    key = only({"key": [f"row {i}" for i in range(60)], "a": RNG.normal(size=60)})
    assert key.severity == "error" and "every value is different" in key.message


def test_all_errors_come_at_once() -> None:
    with pytest.raises(DataError) as caught:
        FisherZ({"a": A, "again": A, "one": np.ones(40)})
    assert str(caught.value).startswith("The data cannot be used as they are, for 2 reasons:\n- Column 'one'")
    assert "- Columns 'a' and 'again' are the same." in str(caught.value)


def test_too_few_rows_for_sets_of_discrete_columns() -> None:
    coins = RNG.integers(0, 2, size=(90, 8))
    finding = only(coins)
    assert finding.severity == "warning"
    assert finding.message == (
        "With 90 rows, condition sets of more than 4 columns leave on average fewer than 5 rows for a combination "
        "of levels: their tests will find little, but sets may have up to 6 columns."
    )
    assert audit(coins, max_r=4).findings == ()


CELLS = st.sampled_from([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, float("inf"), float("-inf"), float("nan")])


@settings(max_examples=300)
@given(st.lists(CELLS, min_size=1, max_size=12))
def test_a_column_that_is_mostly_one_value_is_found_whatever_the_order_of_its_rows(cells: list[float]) -> None:
    present = [cell for cell in cells if cell == cell]
    most = max((present.count(cell) for cell in present), default=0)
    assert mostly_one(np.array([cells, [0.5] * len(cells)]).T).tolist() == [most > MOSTLY * max(len(present), 1), True]


BASES: dict[str, Callable[[Any], Any]] = {
    "normal": lambda z: z,
    "far values": lambda z: np.sinh(2 * z),
    "uniform": lambda z: np.mod(z, 1.0),
    "rounded": lambda z: np.round(2 * z) + 0.5,
    "three values": lambda z: np.sign(np.round(z)) + 0.5,
    "one far value": lambda z: np.where(np.arange(len(z)) == 3, 1e3, z),
    "far from zero": lambda z: 1e9 + z,
}
SHAPES: dict[str, Callable[[Any], Any]] = {
    "line": lambda u: u,
    "square": np.square,
    "sine": lambda u: np.sin(2 * u),
    "cube": lambda u: u**3 - 2 * u,
    "exponential": np.exp,
}


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(20, 120),
    st.lists(st.tuples(st.sampled_from(sorted(BASES)), st.sampled_from(sorted(SHAPES))), min_size=2, max_size=4),
    st.sampled_from([0.1, 0.5, 1.0, 2.0]),
)
def test_curves_are_those_of_the_rule_pair_by_pair(
    seed: int, n: int, kinds: list[tuple[str, str]], noise: float
) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n)]
    for base, shape in kinds:
        columns.append(SHAPES[shape](np.clip(columns[0], -2, 2)) + noise * rng.normal(size=n))
        columns[-1] = BASES[base](columns[-1])
    values = np.column_stack(columns)
    values = values[:, ~mostly_one(values)]
    found = {(i, j): share for i, j, share in _curves(values, values.shape[1])}
    pairs = permutations(range(values.shape[1]), 2)
    wanted = {pair: share for pair in pairs if (share := naive_ci.curve(values, *pair)) is not None}
    assert found == pytest.approx(wanted, rel=1e-6)


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(20, 80), st.integers(2, 30))
def test_the_few_rows_that_are_looked_at_first_hide_no_monotone_pair(seed: int, n: int, n_values: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, n_values, size=(2, n)).astype(float)
    values = np.column_stack([x, y, np.floor(x / 3), -(x**3), x + (np.arange(n) == 5), y])

    def goes_along(i: int, j: int) -> bool:
        steps = np.diff(values[np.argsort(values[:64, i]), j])
        return bool((steps > 0).any() != (steps < 0).any())

    moments = Moments(tuple("abcdef"), n, np.zeros(6), np.ones(6), np.eye(6), np.zeros(6))
    wanted = [pair for pair in combinations(range(6), 2) if goes_along(*pair) or goes_along(*pair[::-1])]
    assert _worth_a_look(values, moments) == wanted
