"""Hidden causes with levels: their score against loops over every state of every row."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag import DAG
from anypag._kernels.discrete_score import draw
from anypag.data.levels import distinct_rows
from anypag.graphs.projection import LatentDAG, latent_projection, mag_of_diagram
from anypag.scores.discrete import ESS, DiscreteScore, rarity_of
from anypag.scores.latent import IMPOSSIBLE, MOST_CELLS, LatentScore
from anypag.threads import in_turns
from naive_scores import LatentFit, bdeu, cheeseman_stutz, price_of_edge, rarity, rows_apart
from score_examples import score_of
from strategies import dags

Levels = npt.NDArray[np.int32]


def levels_of(n: int, seed: int, rows: int = 60) -> Levels:
    """Columns with two to four levels, each near the one before."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2 + k % 3, rows) for k in range(n)]
    for k in range(1, n):
        columns[k] = np.where(rng.random(rows) < 0.5, columns[k], columns[k - 1] % (2 + k % 3))
    return np.array([np.unique(column, return_inverse=True)[1] for column in columns], np.int32)


def score_for(levels: Levels) -> DiscreteScore:
    return DiscreteScore(tuple(f"X{k}" for k in range(len(levels))), levels)


def hidden_of(draw_from: np.random.Generator, n: int, k: int) -> npt.NDArray[np.bool_]:
    children: npt.NDArray[np.bool_] = draw_from.random((k, n)) < 0.6
    children[:, 0] = True
    return children


@given(dags(most=4), st.integers(0, 10**6), st.integers(1, 2))
@settings(deadline=None, max_examples=30)
def test_the_score_is_that_of_loops_over_all_states(dag: DAG, seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    levels = levels_of(len(dag), seed)
    latent = LatentDAG(dag.adjacency.astype(bool), hidden_of(rng, len(dag), k), (2, 3)[:k])
    score = LatentScore(score_for(levels))
    layout = score._layout(latent)
    tables = rng.random((len(layout.n_rows), int((layout.n_rows * layout.n_levels).max()))) + 0.1
    for c, n_levels in enumerate(layout.n_levels):
        cells = tables[c, : layout.n_rows[c] * n_levels].reshape(-1, n_levels)
        cells /= cells.sum(axis=1, keepdims=True)
    shares = np.zeros((k, max(latent.n_levels)))
    for h, size in enumerate(latent.n_levels):
        shares[h, :size] = rng.dirichlet(np.ones(size))
    found = score._improved(layout, np.ones(levels.shape[1]), 1, tables, shares).score
    by_hand, posterior = cheeseman_stutz(*by_hand_of(latent, levels, tables, shares))
    assert found == pytest.approx(by_hand, abs=1e-7)
    drawn = np.zeros((k, levels.shape[1]), np.uint8)
    in_turns(draw, tuple(layout), tables, shares, np.full(levels.shape[1], 0.5), drawn, np.zeros(1, np.int64))
    medians = layout.level[(posterior.cumsum(axis=1) < 0.5).sum(axis=1)].T
    np.testing.assert_array_equal(drawn, medians)


def by_hand_of(
    latent: LatentDAG, levels: Levels, tables: npt.NDArray[np.float64], shares: npt.NDArray[np.float64]
) -> tuple[Levels, list[list[int]], list[list[int]], LatentFit]:
    """The same model for the twin: rows of the children first, then of all others, tables as dictionaries."""
    children = np.flatnonzero(latent.children.any(axis=0)).tolist()
    others = [v for v in range(latent.n) if v not in children]
    place = {v: at for at, v in enumerate([*children, *others])}
    many = levels.max(axis=1) + 1
    parents = [np.flatnonzero(latent.parents[:, v]).tolist() for v in children]
    hidden = [np.flatnonzero(latent.children[:, v]).tolist() for v in children]
    dictionaries = []
    for c, v in enumerate(children):
        sizes = [int(many[p]) for p in parents[c]] + [latent.n_levels[h] for h in hidden[c]]
        groups = product(*(range(size) for size in sizes))
        dictionaries.append({group: tables[c, g * many[v] : (g + 1) * many[v]] for g, group in enumerate(groups)})
    fitted = LatentFit([shares[h, :size] for h, size in enumerate(latent.n_levels)], dictionaries, ESS)
    return levels[[*children, *others]], [[place[p] for p in one] for one in parents], hidden, fitted


@given(dags(most=5), st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_without_hidden_causes_it_is_the_score_of_a_dag(dag: DAG, seed: int) -> None:
    levels = levels_of(len(dag), seed)
    score = DiscreteScore(dag.names, levels)
    latent = LatentDAG(dag.adjacency.astype(bool), np.zeros((0, len(dag)), bool), ())
    assert LatentScore(score).of(latent) == pytest.approx(score_of(score, dag), abs=1e-7)


@given(dags(most=4), st.integers(0, 10**6), st.integers(1, 2))
@settings(deadline=None, max_examples=20)
def test_rare_levels_are_paid_for_at_measured_and_at_hidden_edges(dag: DAG, seed: int, k: int) -> None:
    levels = levels_of(len(dag), seed)
    sizes = levels.max(axis=1) + 1
    plain = score_for(levels)
    priced = DiscreteScore(plain.names, levels, rarity=rarity_of(levels))
    latent = LatentDAG(dag.adjacency.astype(bool), hidden_of(np.random.default_rng(seed), len(dag), k), (2, 3)[:k])
    by_hand = sum(price_of_edge(levels, i, j) for i, j in np.argwhere(latent.parents))
    for h, child in np.argwhere(latent.children):
        by_hand += rarity(levels[child].tolist(), int(sizes[child])) * (latent.n_levels[h] - 1)
    assert LatentScore(plain).of(latent) - LatentScore(priced).of(latent) == pytest.approx(by_hand, abs=1e-7)
    columns = np.random.default_rng(seed).integers(0, 2, (k, levels.shape[1])).astype(np.uint8)
    as_seen = [score_of(one.with_hidden(columns, latent.n_levels), latent.marks) for one in (plain, priced)]
    assert as_seen[0] - as_seen[1] == pytest.approx(by_hand, abs=1e-7)


def test_rows_that_are_alike_are_fitted_once() -> None:
    levels = levels_of(3, 4, rows=200)
    latent = LatentDAG(np.zeros((3, 3), bool), np.ones((1, 3), bool), (2,))
    shuffled = levels[:, np.random.default_rng(0).permutation(200)]
    assert LatentScore(score_for(levels)).of(latent) == LatentScore(score_for(shuffled)).of(latent)


def test_a_longer_fit_is_no_worse_and_the_best_one_is_remembered() -> None:
    levels = levels_of(4, 2, rows=400)
    latent = LatentDAG(np.zeros((4, 4), bool), np.ones((1, 4), bool), (3,))
    score = LatentScore(score_for(levels))
    short, long = score.of(latent, sweeps=3), score.of(latent)
    assert short <= long == score.of(latent, sweeps=3)
    columns = score.drawn(latent, None, [0])
    assert score.of(latent, columns) >= long


def test_tables_that_are_too_large_are_not_fitted() -> None:
    levels = np.array([np.arange(90) % 30 for _ in range(5)], np.int32)
    parents = np.zeros((5, 5), bool)
    parents[:4, 4] = True
    latent = LatentDAG(parents, np.array([[True, False, False, False, True]]), (2,))
    score = LatentScore(score_for(levels))
    assert score.of(latent) <= IMPOSSIBLE / 2
    np.testing.assert_array_equal(score.drawn(latent, None, [0]), [np.arange(90) % 2])  # no level is drawn from them


def test_levels_that_are_drawn_are_never_all_the_same() -> None:
    """With one row each there is nothing to tell levels by, and a column that is constant has no score."""
    levels = np.array([[0, 1], [1, 0]], np.int32)
    latent = LatentDAG(np.zeros((2, 2), bool), np.ones((1, 2), bool), (2,))
    for seed in range(20):
        assert np.ptp(LatentScore(score_for(levels)).drawn(latent, None, [seed])) == 1


def test_a_cause_without_children_keeps_its_levels() -> None:
    levels = levels_of(3, 1)
    latent = LatentDAG(np.zeros((3, 3), bool), np.array([[True, True, False], [False] * 3]), (2, 2))
    before = np.random.default_rng(0).integers(0, 2, (2, levels.shape[1])).astype(np.uint8)
    after = LatentScore(score_for(levels)).drawn(latent, before, [1])
    np.testing.assert_array_equal(after[1], before[1])
    assert after.shape == before.shape


@given(dags(most=6), st.integers(0, 10**6), st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_the_mag_is_that_of_the_dag_with_latent_nodes(dag: DAG, seed: int, k: int) -> None:
    n = len(dag)
    children = hidden_of(np.random.default_rng(seed), n, k)
    latent = LatentDAG(dag.adjacency.astype(bool), children, (2,) * k)
    whole = np.zeros((n + k, n + k), np.uint8)
    whole[:n, :n], whole[n:, :n] = dag.adjacency, children
    names = [*dag.names, *(f"hidden {h}" for h in range(k))]
    expected = latent_projection(DAG(whole, names), names[n:])
    np.testing.assert_array_equal(mag_of_diagram(latent.marks, len(latent.n_levels)), expected.marks)
    again = LatentDAG.of_marks(latent.marks, latent.n_levels)
    np.testing.assert_array_equal(again.marks, latent.marks)


def test_very_many_children_of_one_cause_do_not_underflow() -> None:
    """Of 800 children a row is less likely than any number above 0."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 50)
    levels = np.where(rng.random((800, 50)) < 0.3, rng.integers(0, 3, (800, 50)), hidden).astype(np.int32)
    latent = LatentDAG(np.zeros((800, 800), bool), np.ones((1, 800), bool), (2,))
    score = LatentScore(score_for(levels))
    assert np.isfinite(score.of(latent))
    drawn = score.drawn(latent, None, [0])[0]
    assert np.array_equal(drawn, hidden) or np.array_equal(drawn, 1 - hidden)


def test_a_hidden_column_that_lacks_a_level_is_scored_with_all_it_has() -> None:
    """A level that no row has still is one: BDeu spreads its prior rows over all of them."""
    discrete = score_for(levels_of(2, 0, rows=300))
    hidden = (np.arange(300) % 2).astype(np.uint8)[None]
    dag = DAG.from_string('"hidden 1" --> X0; "hidden 1" --> X1', ("X0", "X1", "hidden 1"))
    of_three = score_of(discrete.with_hidden(hidden, [3]), dag)
    columns, sizes = np.vstack([discrete.levels, hidden]).astype(np.int32), [*discrete.n_levels, 3]
    by_hand = [bdeu(columns, v, parents, discrete.ess, sizes) for v, parents in ((0, [2]), (1, [2]), (2, []))]
    assert of_three == pytest.approx(sum(by_hand))
    assert abs(of_three - score_of(discrete.with_hidden(hidden, [2]), dag)) > 0.5
    assert discrete.with_hidden(hidden, [3]).taken(np.array([2, 0, 1])).n_levels == (3, *discrete.n_levels)


def test_the_levels_of_the_child_itself_count_towards_too_large_a_table() -> None:
    levels = np.array([np.arange(90) % 90, *(np.arange(90) % 15 for _ in range(3)), np.arange(90) % 2], np.int32)
    parents = np.zeros((5, 5), bool)
    parents[1:4, 0] = True
    latent = LatentDAG(parents, np.array([[True, False, False, False, True]]), (2,))
    assert 2 * 15**3 < MOST_CELLS < 2 * 15**3 * 90
    assert LatentScore(score_for(levels)).of(latent) <= IMPOSSIBLE / 2


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([2, 3, 100]))
@settings(deadline=None, max_examples=40)
def test_distinct_rows_are_those_of_a_dictionary(seed: int, k: int, many: int) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.choice(np.array([0, 1, many - 1]), (k, 30))
    first, group = distinct_rows(levels, np.full(k, many))
    assert (levels[:, first[group]] == levels).all()
    assert dict(zip(first.tolist(), np.bincount(group).tolist(), strict=True)) == rows_apart(levels)
    assert [tuple(row) for row in levels[:, first].T] == sorted(tuple(row) for row in levels[:, first].T)
