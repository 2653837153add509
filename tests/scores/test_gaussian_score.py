"""Gaussian scores: against regressions, a general optimiser, closed forms, and each other within a class."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import numpy.typing as npt
import pytest
from certify.algorithms import classes
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag import DAG, MAG, AnypagError
from anypag._kernels.gaussian_score import PARENT, SPOUSE, ricf
from anypag.scores.gaussian import GaussianScore
from naive_scores import gaussian_deviance, regression_deviance
from score_examples import components, score_of
from strategies import dags, mags

Floats = npt.NDArray[np.float64]


def correlations(n: int, seed: int, rows: int = 60) -> Floats:
    """Of a sample of dependent columns."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(rows, n)) @ (np.eye(n) + 0.4 * rng.normal(size=(n, n)))
    return np.asarray(np.corrcoef(data.T))


def unpriced(correlation: Floats, rows: int = 2) -> GaussianScore:
    """A score that is minus the deviance: no prices, two rows' worth."""
    n = len(correlation)
    return GaussianScore(tuple(f"X{i}" for i in range(n)), rows + n, correlation, discount=0.0, stop=1e-13)


def deviance(graph: MAG | DAG, correlation: Floats) -> float:
    score = unpriced(correlation)
    return -score_of(score, graph) / (score.n / 2)


@given(dags(most=6), st.integers(0, 10**6))
@settings(deadline=None)
def test_a_dag_scores_by_its_regressions(dag: DAG, seed: int) -> None:
    s = correlations(len(dag), seed)
    by_hand = sum(regression_deviance(s, v, np.flatnonzero(dag.adjacency[:, v]).tolist()) for v in range(len(dag)))
    assert deviance(dag, s) == pytest.approx(by_hand, abs=1e-9)
    score = GaussianScore(dag.names, 100, s, discount=2.0, gamma=0.5)
    price = np.log(100) + np.log(len(dag))
    assert score_of(score, dag) == pytest.approx(-50 * by_hand - price * dag.adjacency.sum(), abs=1e-6)


FITTED = (
    "A <-> B; B <-> C; A --> D; D <-> B",
    "A --> B; C --> D; B <-> D",
    "A <-> B; B <-> C; C <-> D; A <-> D",
    "A --> B; B <-> C; C <-- D; A --> C",
    "A --- B; B --- C; C --- D; A --- D",
    "A --- B; A --> C; B --> D; C <-> D",
)


@pytest.mark.parametrize("text", FITTED)
def test_fitting_finds_what_a_general_optimiser_finds(text: str) -> None:
    graph = MAG.from_string(text)
    s = correlations(len(graph), 7)
    assert deviance(graph, s) == pytest.approx(gaussian_deviance(graph.marks.tolist(), s), abs=2e-5)


def test_pairs_and_chordal_parts_have_closed_forms() -> None:
    s = correlations(4, 3)
    pair = MAG.from_string("A <-> B; C; D")
    assert deviance(pair, s) == pytest.approx(np.linalg.slogdet(s[:2, :2])[1], abs=1e-9)
    path = MAG.from_string("A --- B; B --- C; C --- D")
    cliques = sum(np.linalg.slogdet(s[k : k + 2, k : k + 2])[1] for k in range(3))
    assert deviance(path, s) == pytest.approx(cliques, abs=1e-9)  # the separators have variance 1
    complete = MAG.from_string("A <-> B; A <-> C; A <-> D; B <-> C; B <-> D; C <-> D")
    assert deviance(complete, s) == pytest.approx(np.linalg.slogdet(s)[1], abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_members_of_a_class_score_the_same(n: int) -> None:
    from naive import all_classes

    s = correlations(n, n, rows=400)
    saturated = np.linalg.slogdet(s)[1]
    for members in all_classes(n).values():
        found = [deviance(MAG(np.array(member)), s) for member in members]
        assert np.ptp(found) < 2e-6
        assert min(found) > saturated - 1e-9
    assert len(all_classes(n)) == len(classes(n).truth)


@given(mags(most=6), st.integers(0, 10**6))
@settings(deadline=None)
def test_a_graph_is_the_sum_of_its_components(mag: MAG, seed: int) -> None:
    parts = components(mag.marks)
    members = sorted(int(v) for part in parts for v in part.nodes[: part.size])
    assert members == list(range(len(mag)))
    s = correlations(len(mag), seed)
    assert deviance(mag, s) >= np.linalg.slogdet(s)[1] - 1e-6


def test_other_orders_of_the_variables_score_the_same() -> None:
    mag = MAG.from_string("A --> B; B <-> C; C <-- D; B <-> D")
    s = correlations(4, 1)
    order = np.array([2, 0, 3, 1])
    turned = unpriced(s).taken(order)
    assert turned.names == ("X2", "X0", "X3", "X1")
    assert score_of(turned, mag.marks[np.ix_(order, order)]) == pytest.approx(score_of(unpriced(s), mag), abs=1e-9)


def test_bad_data_are_refused_in_a_sentence() -> None:
    with pytest.raises(AnypagError, match="at least 6 rows; got 5"):
        GaussianScore(tuple("ABCD"), 5, np.eye(4))
    with pytest.raises(AnypagError, match="discount and gamma"):
        GaussianScore(("A", "B"), 50, np.eye(2), discount=-1)


def test_members_that_are_functions_of_each_other_are_scored_without_a_crash() -> None:
    """Rounding can eat up a variance there: such a component cannot be fitted, or has a score that is a number."""
    x = np.random.default_rng(2).normal(size=(60, 4))
    x[:, 1] = 2.54 * x[:, 0] + 3
    x[:, 2] = np.sign(x[:, 0]) * np.sqrt(np.abs(x[:, 0]))
    x[:, 3] += x[:, 0]
    s = np.asarray(np.corrcoef(x.T))
    for order in permutations(range(4)):
        turned = np.ascontiguousarray(s[np.ix_(order, order)])
        for kinds in product((0, PARENT, SPOUSE), repeat=6):
            relation = np.zeros((4, 4), np.uint8)
            for (a, b), kind in zip(combinations(range(4), 2), kinds, strict=True):
                relation[b, a] = kind
                relation[a, b] = SPOUSE if kind == SPOUSE else 0
            assert not np.isnan(ricf(turned, 4, relation, 1e-6))
