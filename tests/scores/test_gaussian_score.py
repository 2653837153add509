"""Gaussian scores: against regressions, a general optimiser, closed forms, and each other within a class."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import numpy.typing as npt
import pytest
from certify.algorithms import classes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anypag import DAG, MAG, AnypagError, FisherZ, simulate
from anypag._kernels.gaussian_score import CEILING, FIT, MORE, PARENT, RISE, SPOUSE, TIMES, ricf
from anypag.scores.base import Score
from anypag.scores.gaussian import GaussianScore
from anypag.search.by_scores.chain import Landscape, Walker, advance, graph_of, marks_of
from naive_scores import gaussian_deviance, least_deviance, parabola_gain, regression_deviance
from score_examples import Component, asked, components, mixed_score, score_of
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
            assert not np.isnan(ricf(turned, 4, relation, 1e-6, np.zeros((4, 4)), np.zeros((4, 4))))


def both(score: Score, part: Component) -> tuple[float, float]:
    """The score of a component, and its ceiling."""
    return asked(score, part), asked(score, part, CEILING)


def diagram(n: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Marks of `-->` from earlier to later nodes and of `<->`, also between a node and its ancestor."""
    kinds = np.array([[0, 0], [2, 3], [2, 2]])[rng.choice(3, p=[0.4, 0.25, 0.35], size=(n, n))]
    marks = np.triu(kinds[..., 0], 1) + np.triu(kinds[..., 1], 1).T
    return np.asarray(marks, np.uint8)


@given(st.integers(2, 8), st.integers(0, 10**6), st.sampled_from([30, 1000, 10**6]))
@settings(deadline=None, max_examples=200)
def test_no_score_of_a_district_is_above_its_ceiling(n: int, seed: int, rows: int) -> None:
    """And the ceiling is the sum of regressions that it is meant to be."""
    rng = np.random.default_rng(seed)
    score = GaussianScore(tuple(f"X{i}" for i in range(n)), rows, correlations(n, seed), gamma=0.5)
    for part in components(diagram(n, rng)):
        found, ceiling = both(score, part)
        assert found <= ceiling
        if np.isfinite(ceiling) and part.size > 1:
            s = score.correlation[np.ix_(part.nodes, part.nodes)]
            n_edges = (part.relation == PARENT).sum() + (part.relation == SPOUSE).sum() / 2
            by_hand = -rows / 2 * least_deviance(s, part.size, part.relation) - n_edges * score.bound.numbers[1:3].sum()
            assert ceiling == pytest.approx(by_hand, abs=2e-3 + 2e-6 * rows / 2)


@given(mags(most=7), st.integers(0, 10**6))
@settings(deadline=None)
def test_no_score_of_a_mag_is_above_its_ceiling(mag: MAG, seed: int) -> None:
    score = GaussianScore(mag.names, 200, correlations(len(mag), seed, rows=200))
    for part in components(mag.marks):
        found, ceiling = both(score, part)
        assert found <= ceiling


@pytest.mark.parametrize("text", ["A <-> B; B <-> C; A <-> C; D", "A <-> B; C --> B; D"])
def test_the_ceiling_of_a_part_with_a_closed_form_is_its_score(text: str) -> None:
    score = unpriced(correlations(4, 3))
    for part in components(MAG.from_string(text).marks):
        found, ceiling = both(score, part)
        assert found <= ceiling <= found + 2e-3


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_no_score_of_variables_with_several_columns_is_above_its_ceiling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(300, 5)) @ (np.eye(5) + 0.5 * rng.normal(size=(5, 5)))
    table = {f"x{i}": np.digitize(values[:, i], [-1, 0, 1]) if i % 2 else values[:, i] for i in range(5)}
    score = mixed_score(table)
    for part in components(diagram(5, rng)):
        found, ceiling = both(score, part)
        assert found <= ceiling


def test_columns_that_nearly_determine_each_other_have_no_ceiling() -> None:
    s = np.array([[1.0, 0.99999, 0.5], [0.99999, 1.0, 0.5], [0.5, 0.5, 1.0]])
    score = GaussianScore(("A", "B", "C"), 100, s)
    (part,) = components(MAG.from_string("A <-> B; B <-> C").marks)
    assert both(score, part)[1] == np.inf


def rise(score: Score, marks: npt.NDArray[np.uint8], i: int, j: int, kind: int) -> float:
    """By how much the score rises at most if j becomes a parent or a spouse of i."""
    ends, fits = [i, j] if kind == SPOUSE else [i], score.of_components[2]
    parts = [part for part in components(marks) if {*ends} & {*part.nodes[: part.size].tolist()}]
    for part in parts:
        asked(score, part, FIT)
    first = np.array([part.nodes[0] for part in parts])
    parameter = j + len(marks) * (kind == SPOUSE)
    return float(score.component(*score.bound, first, i, parameter, np.zeros((0, 0), np.uint8), fits, RISE))


def joined(marks: npt.NDArray[np.uint8], i: int, j: int, kind: int) -> npt.NDArray[np.uint8]:
    """The marks with j as a parent or a spouse of i."""
    more = marks.copy()
    more[j, i], more[i, j] = 2, 3 if kind == PARENT else 2
    return more


@given(st.integers(2, 6), st.integers(0, 10**6), st.sampled_from([PARENT, SPOUSE]))
@settings(deadline=None, max_examples=60)
def test_what_an_edge_gains_is_that_of_a_parabola(n: int, seed: int, kind: int) -> None:
    rng = np.random.default_rng(seed)
    score, marks = unpriced(correlations(n, seed)), diagram(n, rng)
    apart = np.argwhere(np.triu((marks == 0) & (marks.T == 0), 1))
    districts = [{*part.nodes[: part.size].tolist()} for part in components(marks)]
    if kind == SPOUSE:  # between two districts, second derivatives are those of uncorrelated errors
        apart = np.array([pair for pair in apart.tolist() if any({*pair} <= district for district in districts)])
    assume(len(apart))
    j, i = rng.choice(apart).tolist()
    whole = np.zeros((n, n), np.uint8)
    for part in components(marks):
        whole[np.ix_(part.nodes[: part.size], part.nodes)] = part.relation
    b, inverse = np.zeros((n, n)), np.zeros((n, n))
    ricf(score.correlation, n, whole, 1e-13, b, inverse)
    assume(np.linalg.cond(inverse) < 100)  # differences of nearly singular matrices say little
    whole[i, j] = kind
    whole[j, i] = SPOUSE if kind == SPOUSE else 0
    by_hand = parabola_gain(score.correlation, b, np.asarray(np.linalg.inv(inverse)), whole, (i, j))
    found = (rise(score, marks, i, j, kind) - MORE) / TIMES / (score.n / 2)
    assert found == pytest.approx(by_hand, rel=1e-2, abs=1e-6) or found == np.inf  # at a saddle


@pytest.mark.parametrize("seed", range(6))
def test_hardly_an_edge_gains_more_than_is_said(seed: int) -> None:
    """Edges added to sampled graphs, with data of systems that have hidden causes."""
    system = simulate.random_system(9, 2.5, seed=seed)
    score = replace(FisherZ(system.linear_gaussian(500, seed=seed)).score(), gamma=0.5)
    n, landscape = len(score.names), Landscape.of(score, selection=False, ancestral=False)
    walker = Walker.at(graph_of(np.zeros((n, n), np.uint8)), landscape, seed)
    more = []
    for _ in range(10):
        walker = advance(walker, landscape, 300, 1.5)
        marks = marks_of(walker.graph)
        before = score_of(score, marks)
        causes = np.linalg.matrix_power(np.eye(n) + ((marks == 2) & (marks.T == 3)), n) > 0
        for j, i in np.argwhere((marks == 0) & ~causes.T & ~np.eye(n, dtype=bool)).tolist():
            for kind in (PARENT, SPOUSE):
                gain = score_of(score, joined(marks, i, j, kind)) - before
                more.append(gain > rise(score, marks, i, j, kind))
    assert sum(more) <= len(more) / 200 and len(more) > 200
