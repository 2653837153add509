"""Small functions of `anypag.data` and `anypag.ci`, by one example each."""

from __future__ import annotations

import numpy as np

from anypag import FisherZ, GSquared, from_callable
from anypag.ci.base import Queries, question_text, rows_behind, score_for
from anypag.ci.counting import whole_weights
from anypag.ci.data_test import excess_of_levels, excess_of_numbers, pvalues_of_traces
from anypag.ci.discrete import pvalues_of_cumulants, sparse_table_findings
from anypag.ci.passes import strength_at
from anypag.ci.wrappers import Parcel, opened, workers_of
from anypag.data import Audit, as_table, moments_of
from anypag.data.audit.determined import monotone_findings
from anypag.data.audit.left_out import gappy
from anypag.data.audit.relations import exact_relations, indicator_findings
from anypag.data.audit.rows import autocorrelations, costliest, costly_columns, p_of_equal_means, power_notes
from anypag.data.columns import mean_ranks
from anypag.data.findings import as_one, warning
from anypag.data.levels import (
    coded,
    codes_of,
    distinct,
    is_date,
    is_number,
    kind_of_levels,
    kind_reason,
    looks_like_number,
)
from anypag.data.sources.engine import unions_of
from anypag.data.sources.pooled import is_determined
from anypag.data.table import declared
from anypag.data.worth import effective_rows, steps_of
from anypag.knowledge.statements import PairStatement, names_in

NAN = float("nan")


def test_kinds() -> None:
    of_three = kind_reason(np.tile([0.0, 1.0, 2.0], 10), None, None, "discrete", is_clear=False)
    assert of_three.startswith("whole numbers, 3 different")
    assert kind_reason(np.full(25, 7.0), None, None, "continuous", is_clear=False) == "a single value"
    assert [is_number(text) for text in ("-1.5e3", "1_000", "A1")] == [True, False, False]
    dates = ("2020-01-31", "31.01.2020", "1/31/20 14:05", "2020-01-31T10:00:00Z", "12-3", "1.5")
    assert [is_date(text) for text in dates] == [True] * 4 + [False] * 2
    like = ("1,5", "1,234.5", "12.3 %", "€ 1 200", "01.02.2020", "A1")
    assert [looks_like_number(text) for text in like] == [True] * 4 + [False] * 2
    assert as_table(np.array([[1.5, 2.0], [1.0, 3.0]])).fractions.tolist() == [True, False]
    assert [kind_of_levels(np.array([0.0, 1.0]), n) for n in (9, 10)] == ["continuous", "discrete"]


def test_levels_and_ranks() -> None:
    assert distinct(np.array([3.0, 1.0, 3.0, -2.0])).tolist() == [-2.0, 1.0, 3.0]
    assert distinct(np.array([0.5, 0.25, 0.5])).tolist() == [0.25, 0.5]
    levels, codes = coded(np.array([3.0, 1.0, 3.0, -2.0]))
    assert (levels.tolist(), codes.tolist()) == ([-2.0, 1.0, 3.0], [2, 1, 2, 0])
    assert codes_of(np.array([3.0, NAN, 1.0])).tolist() == [1, -1, 0]
    assert mean_ranks(np.array([[5.0], [1.0], [5.0], [NAN]]))[:3, 0].tolist() == [2.5, 1.0, 2.5]
    ordered = declared(as_table({"pain": ["low", "none", "high"]}), {"pain": "none < low < high"})
    assert ordered.values[:, 0].tolist() == [1.0, 0.0, 2.0]


def test_what_rows_are_worth() -> None:
    weights = np.array([1.0, 1.0, 2.0, 2.0])
    assert effective_rows(weights) == 3.6
    whole, unit = whole_weights(weights, 3)
    assert (whole.tolist(), unit) == ([500, 500, 1000, 1000], 1000)
    assert steps_of(np.array([-1.0, 1.0] * 50), None)[:3].round(3).tolist() == [0.798, 0.0, -0.326]  # sqrt(2 / π), ...


def test_findings() -> None:
    found = [warning("curve", (name, "y"), f"{name!r} is curved: beware.", "Look.") for name in "abcd"]
    wanted = "4 pairs are curved: 'a' and 'y', 'b' and 'y', 'c' and 'y', 'd' and 'y'. Beware."
    assert as_one(found, "pairs are curved")[0].message == wanted
    assert list(gappy(as_table({"a": [1.0, NAN, NAN], "b": [1.0, 2.0, NAN], "c": [1.0, 2.0, 3.0]}))) == ["a"]
    gaps = np.array([[False, True, False]] * 8 + [[False, True, True]] + [[False, False, False]])
    assert costly_columns(["a", "b", "c"], gaps) == "; 9 remain without 'b'" and costliest(gaps, 0.5) == [1]
    assert power_notes(500, 3) == ()
    assert power_notes(72, 3)[0].startswith(
        "With 72 rows, correlations below about 0.23 mostly go unseen (0.24 given 3"
    )
    assert autocorrelations(np.array([[1.0, -1.0, 1.0, -1.0], [2.0] * 4])).tolist() == [-0.75, 0.0]
    two_groups = np.array([[0.0, 5.0], [1.0, 6.0], [10.0, 5.0], [11.0, 6.0]])
    assert p_of_equal_means(two_groups, np.array([0, 0, 1, 1])).round(3).tolist() == [0.005, 1.0]


def test_functions_of_other_columns() -> None:
    a, b = np.array([1.0, 2.0, 5.0, 3.0, 8.0, 1.0]), np.array([4.0, 2.0, 3.0, 3.0, 0.0, 7.0])
    moments = moments_of(np.column_stack([a, b, 2 * a - b + 1]), ["a", "b", "c"])
    assert exact_relations(moments) == [(("a", "b", "c"), "c = 2·a − b + 1")]
    health = np.random.default_rng(0).integers(0, 3, 300)
    (dummies,) = indicator_findings(as_table({"good": health == 1, "poor": health == 2}))
    assert dummies.message.startswith("Columns 'good', 'poor' hold 0 and 1, and no row has a 1 in two of them")
    income = np.random.default_rng(0).uniform(1, 10, 60)
    squared = as_table({"income": income, "squared": income**2})
    (rising,) = monotone_findings(squared, moments_of(squared.values, squared.names))
    assert rising.message.startswith("Column 'squared' is a function of 'income' that only rises: given either column")
    dose_and_drug = np.array([[0, 0], [2, 1], [3, 1]])
    assert is_determined(dose_and_drug, 1, [0]) and not is_determined(dose_and_drug, 0, [1])


def test_pvalues() -> None:
    assert [round(excess_of_levels(np.array(n)), 3) for n in ([50.0, 50.0], [99.0, 1.0])] == [0.0, 6.999]
    assert excess_of_numbers(np.array([1.0, 3.0, 97.0]), 100).round(3).tolist() == [0.0, 0.004, 6.925]
    one, excess = np.array([1]), np.array([0.0, 10.0])
    p = pvalues_of_traces(np.array([0.1, 0.1]), one, one, np.array([99]), excess)
    assert p.round(4).tolist() == [0.0013, 0.0309]
    p = pvalues_of_cumulants(np.array([4.0, 4.0]), np.array([[1.0, 2.0, 8.0], [1.0, 0.0, 0.0]]))
    assert p.round(4).tolist() == [0.0455, 1.0]
    assert round(float(strength_at(0.05, 97)), 4) == 0.1964
    (sparse,) = sparse_table_findings(["a", "b", "c"], np.array([15, 2, 12]), 500, "GSquared")
    assert sparse.columns == ("a", "c")


def test_tests_and_what_is_behind_them() -> None:
    assert rows_behind(from_callable(lambda x, y, z: 0.5, ["A", "B"])) is None
    assert score_for(FisherZ(np.random.default_rng(0).normal(size=(50, 3)))).n == 50
    test = GSquared.from_codes(("a", "b"), np.eye(2, dtype=np.int32), np.array([30, 20]), Audit.of(()))
    assert test.n == 50 and float(test.pvalues(Queries.one(0, 1))[0]) < 1e-10
    assert workers_of(3) == 3 and opened(Parcel(3)) == 3
    assert question_text(Queries([0], [1], [[2]]), ("A", "B", "C")) == "A ⟂ B | {C}"
    assert unions_of([(0, 1), (1, 2)], (2, 2, 2)) == {(0, 1): (0, 1, 2), (1, 2): (0, 1, 2)}
    assert names_in(PairStatement("causes", ("a", "b"), None)) == ("a", "b")
