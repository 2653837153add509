"""BDeu and multinomial BIC: against their textbook sums."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag import DAG, AnypagError
from anypag.scores.discrete import DiscreteScore, rarity_of
from naive_scores import bdeu, price_of_edge
from score_examples import score_of
from strategies import dags

Shares = tuple[tuple[float, ...], ...]


def levels_of(n: int, seed: int, rows: int = 80) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, n)
    columns = [rng.integers(0, size, rows) for size in sizes]
    for k in range(1, n):
        columns[k] = np.where(rng.random(rows) < 0.5, columns[k], columns[k - 1] % sizes[k])
    return np.array([np.unique(column, return_inverse=True)[1] for column in columns], np.int32)


@given(dags(most=5), st.integers(0, 10**6), st.sampled_from([0.5, 5.0]))
@settings(deadline=None, max_examples=40)
def test_a_dag_scores_as_the_textbook_says(dag: DAG, seed: int, ess: float) -> None:
    levels = levels_of(len(dag), seed)
    parents = [np.flatnonzero(dag.adjacency[:, v]).tolist() for v in range(len(dag))]
    by_hand = sum(bdeu(levels, v, parents[v], ess) for v in range(len(dag)))
    assert score_of(DiscreteScore(dag.names, levels, ess=ess), dag) == pytest.approx(by_hand, abs=1e-7)


@given(dags(most=5), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_rare_levels_are_paid_for_edge_by_edge(dag: DAG, seed: int) -> None:
    levels = levels_of(len(dag), seed, rows=30)
    plain = score_of(DiscreteScore(dag.names, levels), dag)
    by_hand = plain - sum(price_of_edge(levels, i, j) for i, j in np.argwhere(dag.adjacency))
    score = DiscreteScore(dag.names, levels, rarity=rarity_of(levels))
    assert score_of(score, dag) == pytest.approx(by_hand, abs=1e-7)
    order = np.random.default_rng(seed).permutation(len(dag))
    assert score_of(score.taken(order), DAG(dag.adjacency[np.ix_(order, order)])) == pytest.approx(by_hand, abs=1e-7)


SHARES = ((0.5, 0.5), (0.99, 0.01), (0.9, 0.1))
THREE = ((0.4, 0.3, 0.3), (0.98, 0.01, 0.01))


@pytest.mark.parametrize(("shares", "others"), [(SHARES, SHARES), (SHARES, THREE), (THREE, THREE)])
def test_an_edge_costs_as_much_whatever_levels_are_rare(shares: Shares, others: Shares) -> None:
    """Two columns that are independent to the row: what an edge between them loses is its price alone."""
    lost = [lost_by_an_edge(np.outer(a, b) * 10_000) for a, b in product(shares, others)]
    assert np.ptp([priced for _, priced in lost]) < 0.25
    assert np.ptp([plain for plain, _ in lost]) > 1.5


def lost_by_an_edge(counts: npt.NDArray[np.float64]) -> tuple[float, float]:
    """By BDeu alone, and with the price of rare levels."""
    cells = np.argwhere(counts >= 0).repeat(np.rint(counts).astype(int).ravel(), axis=0)
    levels = np.ascontiguousarray(cells.T, np.int32)
    plain, priced = DiscreteScore(("A", "B"), levels), DiscreteScore(("A", "B"), levels, rarity=rarity_of(levels))
    empty, edge = (DAG.from_string(text, ("A", "B")) for text in ("A; B", "A --> B"))
    return score_of(plain, empty) - score_of(plain, edge), score_of(priced, empty) - score_of(priced, edge)


def test_large_tables_are_counted_as_small_ones_are() -> None:
    rng = np.random.default_rng(0)
    levels = np.array([rng.permutation(np.arange(120) % 30) for _ in range(5)], np.int32)  # 30**5 cells
    dag = DAG.from_string("A --> E; B --> E; C --> E; D --> E")
    by_hand = sum(bdeu(levels, v, [0, 1, 2, 3] if v == 4 else [], 5.0) for v in range(5))
    names = ("A", "B", "C", "D", "E")
    assert score_of(
        DiscreteScore(names, levels, ess=5.0), DAG(dag.adjacency[np.ix_([0, 2, 3, 4, 1], [0, 2, 3, 4, 1])], names)
    ) == (pytest.approx(by_hand, abs=1e-6))


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_cells_with_few_and_with_many_rows_in_tables_of_all_sizes(columns: int) -> None:
    """70 levels a column make 4,900 cells, 343,000, which are sorted, and 1.7 billion, whose numbers have three parts
    of 11 bits; a few rows are repeated 100 times.
    """
    rng = np.random.default_rng(columns)
    levels = rng.integers(0, 70, (columns, 400)).astype(np.int32)
    levels[:, 100:] = levels[:, rng.integers(0, 3, 300)]
    levels[:, 0] = 69
    names = tuple("ABCDE"[:columns])
    dag = DAG(np.triu(np.ones((columns, columns), np.uint8), 1), names)
    by_hand = sum(bdeu(levels, v, list(range(v)), 3.0) for v in range(columns))
    score = DiscreteScore(names, levels)
    assert score_of(score, dag) == pytest.approx(by_hand, abs=1e-7)


def test_equivalent_dags_score_the_same() -> None:
    levels = levels_of(3, 1)
    names = ("A", "B", "C")
    chains = ("A --> B; B --> C", "A <-- B; B --> C", "A <-- B; B <-- C")
    for score in (DiscreteScore(names, levels), DiscreteScore(names, levels, rarity=rarity_of(levels))):
        found = [score_of(score, DAG.from_string(text, names)) for text in chains]
        assert np.ptp(found) < 1e-9


def test_an_edge_of_the_priced_score_costs_the_log_of_the_number_of_columns() -> None:
    levels, names = levels_of(3, 1), ("A", "B", "C")
    rare = DiscreteScore(names, levels, rarity=rarity_of(levels))
    for text, edges in (("A; B; C", 0), ("A --> B; B --> C", 2)):
        dag = DAG.from_string(text, names)
        lost = score_of(rare, dag) - score_of(DiscreteScore.priced(names, levels), dag)
        assert lost == pytest.approx(edges * np.log(3), abs=1e-9)


def test_bad_data_are_refused_in_a_sentence() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(AnypagError, match="'B' is constant"):
        DiscreteScore.of({"A": rng.integers(0, 2, 30), "B": np.ones(30)})
    with pytest.raises(AnypagError, match="has 300 levels"):
        DiscreteScore.of({"A": np.arange(300), "B": rng.integers(0, 2, 300)})
    with pytest.raises(AnypagError, match="ess must be above 0"):
        DiscreteScore(("A",), rng.integers(0, 2, (1, 30)).astype(np.int32), ess=0.0)
