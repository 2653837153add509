"""Simulation: the graphs, the hidden nodes and the samples follow the distributions they claim."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag import DAG, PAG, Queries
from anypag.errors import DataError, GraphError, ParameterError
from anypag.simulate import (
    Sample,
    System,
    discrete,
    implied_covariance,
    latents,
    linear_gaussian,
    random_dag,
    random_system,
    random_tables,
    random_weights,
    selection_children,
)

COLLIDER = DAG.from_string("A --> S; B --> S; A --> C")


def is_connected(dag: DAG) -> bool:
    reached, waiting = {dag.names[0]}, [dag.names[0]]
    while waiting:
        fresh = [name for name in dag.neighbours(waiting.pop()) if name not in reached]
        reached.update(fresh)
        waiting += fresh
    return len(reached) == len(dag)


# --- random graphs ------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.floats(0.01, 1), st.integers(0, 10**6))
def test_a_connected_dag_is_connected_and_in_causal_order(n: int, density: float, seed: int) -> None:
    dag = random_dag(n, density * (n - 1), seed=seed)
    assert is_connected(dag)
    assert not np.tril(dag.adjacency).any()


def test_a_large_sparse_dag_is_connected_too() -> None:
    dag = random_dag(800, 2, seed=1)
    assert is_connected(dag)
    assert 2.4 < dag.adjacency.sum() * 2 / 800 < 2.8


def test_connected_dags_have_exactly_the_distribution_of_those_redrawn_until_connected() -> None:
    n, probability, n_draws = 4, 0.4, 8_000
    pairs = list(combinations(range(n), 2))
    expected = {}
    for edges in product((0, 1), repeat=len(pairs)):
        adjacency = np.zeros((n, n), int)
        adjacency[tuple(np.transpose(pairs))] = edges
        if is_connected(DAG(adjacency)):
            expected[edges] = probability ** sum(edges) * (1 - probability) ** (len(pairs) - sum(edges))
    random = np.random.default_rng(7)
    seen = Counter(
        tuple(random_dag(n, probability * (n - 1), seed=random).adjacency[np.triu_indices(n, 1)].tolist())
        for _ in range(n_draws)
    )
    assert len(expected) == 38 and seen.keys() == expected.keys()
    counts = np.array([seen[edges] for edges in expected])
    weights = np.array(list(expected.values()))
    assert scipy.stats.chisquare(counts, weights / weights.sum() * n_draws).pvalue > 0.001


def test_without_connectedness_edges_are_independent_coins() -> None:
    n, neighbours, repeats = 30, 3.0, 400
    random = np.random.default_rng(1)
    dags = [random_dag(n, neighbours, connected=False, seed=random) for _ in range(repeats)]
    n_pairs, probability = n * (n - 1) / 2, neighbours / (n - 1)
    n_edges = np.array([dag.adjacency.sum() for dag in dags])
    spread = np.sqrt(n_pairs * probability * (1 - probability))
    assert abs(n_edges.mean() - n_pairs * probability) < 4 * spread / np.sqrt(repeats)
    assert 0.8 < n_edges.std() / spread < 1.2
    share = np.mean([dag.adjacency for dag in dags], axis=0)[np.triu_indices(n, 1)]
    assert np.abs(share - probability).max() < 5 * np.sqrt(probability * (1 - probability) / repeats)


def test_the_densest_and_the_smallest() -> None:
    assert random_dag(6, 5, seed=0).adjacency.sum() == 15
    assert len(random_dag(1, 0, seed=0)) == 1
    assert random_dag(5, 0, connected=False, seed=0).adjacency.sum() == 0
    assert random_dag(300, 1e-6, seed=0).adjacency.sum() == 299  # a tree: the sparsest connected graph


@pytest.mark.parametrize(
    ("n", "neighbours", "message"),
    [
        (0, 1, "at least 1; got n = 0"),
        (2.5, 1, "whole number of nodes"),
        (5, 4.5, r"can have 0 to 4 neighbours; got expected_neighbours = 4\.5"),
        (5, -1, "can have 0 to 4 neighbours"),
        (5, float("nan"), "can have 0 to 4 neighbours"),
        (5, 0, "without edges is not connected; .* connected=False"),
    ],
)
def test_impossible_graphs_are_refused(n: Any, neighbours: float, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        random_dag(n, neighbours, seed=0)


# --- seeds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, -1, 1.5, True, "1"])
def test_a_seed_must_be_given(seed: Any) -> None:
    with pytest.raises(ParameterError, match="A seed is a whole number from 0 on"):
        random_dag(5, 2, seed=seed)


def test_the_same_seed_gives_the_same_and_another_something_else() -> None:
    assert random_system(20, seed=5) == random_system(20, seed=5)
    assert random_dag(20, 2, seed=5) != random_dag(20, 2, seed=6)
    system = random_system(20, n_selection=1, seed=5)
    for draw in (system.linear_gaussian, system.discrete):
        assert draw(50, seed=1) == draw(50, seed=1) != draw(50, seed=2)


def test_a_generator_is_drawn_from() -> None:
    random = np.random.default_rng(1)
    assert random_dag(20, 2, seed=random) != random_dag(20, 2, seed=random)


# --- latent and selection nodes -----------------------------------------------------------------------------


@given(st.integers(2, 30), st.floats(0.1, 0.9), st.integers(0, 10**6))
def test_latents_are_half_of_the_parentless_nodes_with_two_children(n: int, density: float, seed: int) -> None:
    dag = random_dag(n, density * (n - 1), seed=seed)
    candidates = {name for name in dag.names if not dag.parents(name) and len(dag.children(name)) >= 2}
    chosen = latents(dag, seed=seed)
    assert set(chosen) <= candidates and len(set(chosen)) == len(candidates) // 2


def test_every_candidate_is_hidden_equally_often() -> None:
    dag = DAG.from_string("A --> X; A --> Y; B --> X; B --> Y; C --> X; C --> Y; D --> X; D --> Y")
    random = np.random.default_rng(3)
    counts = Counter(name for _ in range(2000) for name in latents(dag, seed=random))
    assert counts.keys() == {"A", "B", "C", "D"}
    assert all(abs(count - 1000) < 120 for count in counts.values())


@given(st.integers(2, 12), st.integers(0, 4), st.integers(0, 10**6))
def test_selection_children_have_parents_and_no_children(n: int, count: int, seed: int) -> None:
    dag = random_dag(n, 1, seed=seed)
    larger, names = selection_children(dag, count, seed=seed)
    assert larger.subgraph(dag.names) == dag
    assert larger.names == dag.names + names and len(names) == count
    assert all(len(larger.parents(name)) == 2 and not larger.children(name) for name in names)


def test_selection_nodes_take_no_name_that_is_taken() -> None:
    _, names = selection_children(DAG.from_string("S0 --> S1; A"), 2, n_parents=1, seed=0)
    assert names == ("S2", "S3")


@pytest.mark.parametrize("count", [-1, 1.0, True])
def test_a_number_of_selection_nodes_is_a_whole_number(count: Any) -> None:
    with pytest.raises(ParameterError, match="how many selection nodes to add"):
        selection_children(COLLIDER, count, seed=0)


def test_a_random_system_is_complete() -> None:
    system = random_system(40, 2, n_selection=2, seed=4)
    assert len(system.latent) > 0 and system.selection == ("S0", "S1")
    assert len(system.dag) == 42 and len(system.observed) == 40 - len(system.latent)
    assert system.linear_gaussian(10, seed=1).names == system.observed
    assert system.discrete(10, levels=3, seed=1).names == system.observed


def test_a_system_knows_its_truth() -> None:
    system = System(DAG.from_string("L --> A; L --> B; C --> B; A --> S; C --> S"), ("L",), ("S",))
    assert system.true_pag() == PAG.from_string("A o-o B; B o-o C; A o-o C")
    assert system.oracle().names == system.observed == ("A", "B", "C")


def test_a_system_checks_its_parts() -> None:
    with pytest.raises(ParameterError, match="latent or a selection node, not both; got 'S'"):
        System(COLLIDER, ("S",), ("S",))
    with pytest.raises(ParameterError, match="At least one node must be observed; all 4"):
        System(COLLIDER, ("A", "B", "C"), ("S",))
    with pytest.raises(GraphError, match="There is no node 'Q'"):
        System(COLLIDER, ("Q",))


# --- linear Gaussian ----------------------------------------------------------------------------------------


def covariance_of(sample: Sample) -> npt.NDArray[np.float64]:
    return np.asarray(np.cov(sample.rows, rowvar=False, ddof=0))


def assert_covariance(sample: Sample, expected: npt.NDArray[np.float64]) -> None:
    """Within five standard errors of a Gaussian covariance."""
    scale = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / sample.n_rows)
    assert (np.abs(covariance_of(sample) - expected) < 5 * scale).all()


def test_weights_are_on_the_edges_with_both_signs_between_a_half_and_two() -> None:
    dag = random_dag(60, 20, seed=1)
    weights = random_weights(dag, seed=1)
    sizes = np.abs(weights[weights != 0])
    assert ((weights != 0) == (dag.adjacency == 1)).all()
    assert scipy.stats.kstest(sizes, "uniform", (0.5, 1.5)).pvalue > 0.001
    assert abs((weights[weights != 0] > 0).mean() - 0.5) < 0.1


def test_the_implied_covariance_is_the_textbook_formula() -> None:
    dag = random_dag(12, 4, seed=2).relabel(lambda name: name + "'")
    dag = dag.subgraph(np.random.default_rng(0).permutation(12).tolist())  # not in causal order
    weights = random_weights(dag, seed=3)
    inverse = np.linalg.inv(np.eye(12) - weights)
    np.testing.assert_allclose(implied_covariance(dag, weights), inverse.T @ inverse, rtol=1e-9, atol=1e-9)


@settings(max_examples=15, deadline=None, derandomize=True)  # a statistical test: the same draws every time
@given(st.integers(2, 8), st.integers(0, 10**6))
def test_the_sample_has_the_implied_covariance_and_mean_zero(n: int, seed: int) -> None:
    dag = random_dag(n, min(2, n - 1), seed=seed)
    weights = random_weights(dag, seed=seed)
    sample = linear_gaussian(dag, 20_000, weights=weights, seed=seed)
    expected = implied_covariance(dag, weights)
    assert_covariance(sample, expected)
    assert (np.abs(sample.rows.mean(axis=0)) < 5 * np.sqrt(np.diag(expected) / 20_000)).all()


@settings(max_examples=15, deadline=None, derandomize=True)  # a statistical test: the same draws every time
@given(st.integers(3, 8), st.integers(1, 2), st.integers(0, 10**6))
def test_selected_rows_have_the_covariance_given_the_selection_variables(n: int, count: int, seed: int) -> None:
    dag, selection = selection_children(random_dag(n, 2, seed=seed), count, seed=seed)
    weights = random_weights(dag, seed=seed)
    sample = linear_gaussian(dag, 20_000, selection=selection, weights=weights, seed=seed)
    precision = np.linalg.inv(implied_covariance(dag, weights))
    assert_covariance(sample, np.linalg.inv(precision[:n, :n]))
    assert sample.names == dag.names[:n]


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 7), st.integers(0, 2), st.integers(0, 10**6), st.data())
def test_what_the_graph_separates_has_no_partial_correlation(
    n: int, count: int, seed: int, data: st.DataObject
) -> None:
    system = random_system(n, 2, n_selection=count, seed=seed)
    dag = system.dag
    covariance = implied_covariance(dag, random_weights(dag, seed=seed))
    x, y, *rest = data.draw(st.permutations(range(len(system.observed))))
    z = rest[: data.draw(st.integers(0, len(rest)))]
    kept = [dag.index(system.observed[i]) for i in (x, y, *z)] + [dag.index(name) for name in system.selection]
    precision = np.linalg.inv(covariance[np.ix_(kept, kept)])
    partial = precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1])
    separated = system.oracle().pvalues(Queries.one(x, y, z))[0] == 1
    assert abs(partial) < 1e-8 if separated else abs(partial) > 1e-12


def test_selected_rows_are_those_kept_with_the_stated_probability() -> None:
    weights = np.zeros((4, 4))
    weights[0, 1], weights[2, 1], weights[0, 3] = 1.0, -0.8, 0.7  # COLLIDER: A, S, B, C
    random = np.random.default_rng(0)
    everyone = linear_gaussian(COLLIDER, 200_000, latent=["S"], weights=weights, seed=1)
    explained = everyone["A"] - 0.8 * everyone["B"]
    kept = everyone.rows[random.random(200_000) < np.exp(-(explained**2) / 2)]
    sample = linear_gaussian(COLLIDER, len(kept), selection=["S"], weights=weights, seed=2)
    np.testing.assert_allclose(covariance_of(sample), np.cov(kept, rowvar=False), atol=0.03)
    for column in range(3):
        assert scipy.stats.ks_2samp(sample.rows[:, column], kept[:, column]).pvalue > 0.001
    assert np.corrcoef(sample["A"], sample["B"])[0, 1] > 0.2 > abs(np.corrcoef(everyone["A"], everyone["B"])[0, 1])


def test_hidden_columns_are_left_out_and_nothing_else_changes() -> None:
    dag = random_dag(10, 2, seed=1)
    full, part = linear_gaussian(dag, 30, seed=2), linear_gaussian(dag, 30, latent=["X3", 7], seed=2)
    assert part.names == tuple(name for name in dag.names if name not in {"X3", "X7"})
    np.testing.assert_array_equal(part.rows, np.delete(full.rows, [3, 7], axis=1))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0, 1], [0, 0], [0, 0]], r"shape \(2, 2\); got shape \(3, 2\)"),
        ([[0, np.nan], [0, 0]], "finite numbers"),
        ([[0, 0], [0, 0]], "A --> B is an edge and has weight 0"),
        ([[0, 1], [2, 0]], r"B --> A is no edge and has weight 2\.0"),
    ],
)
def test_weights_must_fit_the_graph(weights: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        linear_gaussian(DAG.from_string("A --> B"), 5, weights=weights, seed=0)


def test_weights_need_a_range() -> None:
    with pytest.raises(ParameterError, match="0 < low <= high; got low = 2, high = 1"):
        random_weights(COLLIDER, low=2, high=1, seed=0)


# --- discrete -----------------------------------------------------------------------------------------------


def joint(dag: DAG, tables: dict[str, npt.NDArray[np.float64]]) -> dict[tuple[int, ...], float]:
    """The probability of every row, by multiplying the tables."""
    rows = product(*(range(tables[name].shape[-1]) for name in dag.names))
    found = {}
    for row in rows:
        level = dict(zip(dag.names, row, strict=True))
        found[row] = float(
            np.prod([tables[name][(*(level[p] for p in dag.parents(name)), level[name])] for name in dag.names])
        )
    return found


def assert_distribution(rows: npt.NDArray[Any], expected: dict[tuple[int, ...], float]) -> None:
    seen = Counter(map(tuple, rows.tolist()))
    assert seen.keys() <= expected.keys()
    total = sum(expected.values())
    for row, probability in expected.items():
        p = probability / total
        assert abs(seen[row] - len(rows) * p) < 5 * np.sqrt(len(rows) * p * (1 - p)) + 5


@settings(max_examples=15, deadline=None, derandomize=True)  # a statistical test: the same draws every time
@given(st.integers(2, 4), st.integers(0, 10**6), st.data())
def test_the_sample_has_the_joint_distribution_of_its_tables(n: int, seed: int, data: st.DataObject) -> None:
    dag = random_dag(n, min(2, n - 1), seed=seed)
    dag = dag.subgraph(data.draw(st.permutations(dag.names)))
    levels = {name: data.draw(st.integers(2, 3)) for name in dag.names}
    tables = random_tables(dag, levels, seed=seed)
    sample = discrete(dag, 20_000, tables=tables, seed=seed)
    assert_distribution(sample.rows, joint(dag, tables))


def test_selected_rows_have_the_distribution_given_selection() -> None:
    dag = DAG.from_string("A --> S; B --> S; A --> C; S --> D; T; C --> T", names=list("ABCDST"))
    tables = random_tables(dag, {"A": 3}, seed=8)
    sample = discrete(dag, 30_000, selection=["S", "T"], tables=tables, seed=8)
    assert sample.names == ("A", "B", "C", "D")
    given_selection = {row[:4]: p for row, p in joint(dag, tables).items() if row[4:] == (1, 1)}
    assert_distribution(sample.rows, given_selection)


def test_levels_by_number_and_by_name() -> None:
    sample = discrete(COLLIDER, 2000, levels={"A": 4}, latent=["S"], seed=0)
    assert [len(np.unique(column)) for column in sample.rows.T] == [4, 2, 2]
    assert set(np.unique(discrete(COLLIDER, 2000, levels=3, seed=0).rows)) == {0, 1, 2}


def fair_coins(selection: list[float]) -> dict[str, npt.NDArray[np.float64]]:
    """Tables of COLLIDER in which nothing depends on anything, with the distribution of S given."""
    half = np.full(2, 0.5)
    return {"A": half, "B": half, "C": np.tile(half, (2, 1)), "S": np.tile(selection, (2, 2, 1))}


def test_hardly_any_selected_row_is_refused_with_the_numbers() -> None:
    tables = fair_coins([1.0, 0.0])
    with pytest.raises(ParameterError, match=r"0 of 100,000 drawn have level 1 .* fewer selection nodes"):
        discrete(COLLIDER, 10, selection=["S"], tables=tables, seed=0)


def test_rare_selection_is_waited_for() -> None:
    tables = fair_coins([0.99, 0.01])
    assert discrete(COLLIDER, 500, selection=["S"], tables=tables, seed=0).n_rows == 500


def test_tables_that_are_too_large_are_refused() -> None:
    adjacency = np.zeros((31, 31), int)
    adjacency[:30, 30] = 1
    with pytest.raises(ParameterError, match=r"table of 'X30' would have 2.1e\+09 entries \(30 parents\)"):
        discrete(DAG(adjacency), 10, seed=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"S": None}, "one table per node; 'S'"),
        ({"Q": [1.0]}, "one table per node; 'Q'"),
        ({"S": [0.5, 0.5]}, r"'S' must have one axis per parent \(A, B\) .* got shape \(2,\)"),
        ({"A": 1.0}, r"'A' must have one axis per parent \(none\)"),
        ({"A": [0.5, 0.6]}, "'A' must be non-negative and sum to 1"),
        ({"A": [1.5, -0.5]}, "'A' must be non-negative and sum to 1"),
        ({"A": [np.nan, 1]}, "'A' must be non-negative and sum to 1"),
    ],
)
def test_tables_must_fit_the_graph(change: dict[str, Any], message: str) -> None:
    tables = {**random_tables(COLLIDER, seed=0), **change}
    tables = {name: table for name, table in tables.items() if table is not None}
    with pytest.raises(ParameterError, match=message):
        discrete(COLLIDER, 10, tables=tables, seed=0)


@pytest.mark.parametrize("levels", [1, 2.5, True, {"A": 0}])
def test_levels_must_be_two_or_more(levels: Any) -> None:
    with pytest.raises(ParameterError, match="at least 2 levels; got"):
        discrete(COLLIDER, 10, levels=levels, seed=0)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(GraphError, match="There is no node 'Q'"):
        discrete(COLLIDER, 10, levels={"Q": 2}, seed=0)


# --- samples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_samples", [-1, 2.0, True])
def test_a_number_of_rows_is_a_whole_number(n_samples: Any) -> None:
    for draw in (linear_gaussian, discrete):
        with pytest.raises(ParameterError, match="n_samples is a whole number of rows"):
            draw(COLLIDER, n_samples, seed=0)


def test_no_rows_are_a_sample_too() -> None:
    assert linear_gaussian(COLLIDER, 0, selection=["S"], seed=0).rows.shape == (0, 3)
    assert discrete(COLLIDER, 0, selection=["S"], seed=0).rows.shape == (0, 3)


def test_a_sample_cannot_be_changed_and_becomes_what_others_need() -> None:
    sample = linear_gaussian(COLLIDER, 20, seed=0)
    with pytest.raises(ValueError, match="read-only"):
        sample.rows[0, 0] = 1
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (pandas.DataFrame(dict(sample)), polars.DataFrame(dict(sample))):
        np.testing.assert_array_equal(frame.to_numpy(), sample.rows)
        assert tuple(frame.columns) == sample.names
    np.testing.assert_array_equal(np.asarray(sample), sample.rows)
    assert np.array(sample, dtype=np.float32).dtype == np.float32
    assert repr(linear_gaussian(random_dag(9, 2, seed=0), 1, seed=0)).endswith("'X5', …)")


def test_a_sample_says_which_columns_it_has() -> None:
    sample = Sample(np.zeros((2, 1)), ["A"])
    assert dict(sample).keys() == {"A"} and len(sample) == 1 and "B" not in sample and sample.n_rows == 2
    with pytest.raises(KeyError, match="B"):
        sample["B"]
    with pytest.raises(DataError, match=r"one column per name; got shape \(2, 1\) for 2 names"):
        Sample(np.zeros((2, 1)), cast(Any, ["A", "B"]))
