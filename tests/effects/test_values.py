"""Values of formulas: quadratic forms and tables against exact models, with and without do."""

from __future__ import annotations

import numpy as np
import pytest
from checks import Truth, pag_of, queries
from enumeration import binary_model, classes, linear_effect, linear_model, sample, systems

import anypag as ap
from anypag.effects.estimate.linear import Linear, covariance_of, slopes
from anypag.effects.estimate.tables import Tables, empty_cells, tables_of
from anypag.effects.identify.adjustment import between
from anypag.effects.identify.causal_graph import causal_graph_of
from anypag.effects.identify.verdict import adjustment_formula, verdict
from anypag.graphs.node_sets import node_set


@pytest.mark.parametrize("n", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_quadratic_forms_give_the_effect(n: int) -> None:
    """Every formula, of every class tried, in a random linear-Gaussian model with its exact covariance."""
    rng, n_formulas = np.random.default_rng(0), 0
    for pag, members in sample(n, 60):
        causal = causal_graph_of(pag_of(pag))
        model = linear_model(systems(members[-1])[0], rng)
        for x, y, _ in queries(n):
            found = verdict(causal, node_set(x), node_set(y), 0, causal.everyone)
            if found.formula is not None:
                value = slopes(found.formula, found.way, model.covariance, range(n))
                np.testing.assert_allclose(value, linear_effect(model, x, y), atol=1e-9)
                n_formulas += found.status != "zero"
    assert n_formulas or n == 3


def test_tables_give_the_effect() -> None:
    """The same with tables whose counts are the exact probabilities."""
    rng, n_formulas = np.random.default_rng(0), 0
    cells = np.indices((2,) * 4).reshape(4, -1).T
    for pag, members in sample(4, 80):
        causal = causal_graph_of(pag_of(pag))
        truth = Truth(binary_model(systems(members[-1])[0], rng))
        tables = Tables(cells, truth.joint.reshape(-1), (2,) * 4, (0, 1, 2, 3))
        for x, y, others in queries(4):
            for z in ([], others[:1]):
                found = verdict(causal, node_set(x), node_set(y), node_set(z), causal.everyone)
                if found.formula is not None:
                    value = tables.values(found.formula, found.way)
                    wanted = np.moveaxis(truth.effect(x, y, z), [*x, *z, *y], range(len(x + y + z))).reshape(-1)
                    np.testing.assert_allclose(value, np.broadcast_to(wanted, value.shape), atol=1e-9)
                    n_formulas += found.status != "zero"
    assert n_formulas


def test_adjustment_is_regression() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    causal = causal_graph_of(ap.PAG.from_string("A o-> X; B o-> X; X --> Y; A --> Y", ["A", "B", "X", "Y"]))
    way = between(causal, node_set([2]), node_set([3]))
    for z in ([0], [0, 1]):
        value = Linear.of(rows, (0, 1, 2, 3)).values(adjustment_formula(way, node_set(z)), way)
        design = np.column_stack([rows[:, [2, *z]], np.ones(len(rows))])
        np.testing.assert_allclose(value[0], np.linalg.lstsq(design, rows[:, 3], rcond=None)[0][0])


def test_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(0)
    rows, counts = rng.normal(size=(20, 3)), rng.multinomial(20, np.full(20, 0.05)).astype(float)
    again = np.repeat(rows, counts.astype(int), axis=0)
    np.testing.assert_allclose(covariance_of(rows, counts), np.cov(again.T, bias=True))


def test_cells_without_rows_are_found_and_make_no_number() -> None:
    causal = causal_graph_of(ap.PAG.from_string("A o-> X; B o-> X; X --> Y; A --> Y", ["A", "B", "X", "Y"]))
    codes = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]])  # A = 1 never meets X = 1
    tables = tables_of(codes, (2, 2, 2, 2), (0, 1, 2, 3))
    way = between(causal, node_set([2]), node_set([3]))
    formula = adjustment_formula(way, node_set([0]))
    np.testing.assert_allclose(tables.values(formula, way), [0.75, 0.25, np.nan, np.nan])
    assert empty_cells(tables, formula, way.x) == [{0: 1, 2: 1}]


def test_three_nodes_are_all_zero_or_open() -> None:
    for pag, _ in classes(3):
        causal = causal_graph_of(pag_of(pag))
        for x, y, _ in queries(3):
            assert verdict(causal, node_set(x), node_set(y), 0, causal.everyone).status in ("zero", "unidentified")
