"""Reported probabilities: a pair's sum to 1, what knowledge settles stays, nothing unsettled is certain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
import naive_posterior
from anypag.errors import GraphError
from anypag.graphs.pag import MAG
from anypag.knowledge.facts import Facts
from anypag.search.by_scores.bayes import BayesState
from anypag.search.by_scores.calibrated import (
    FINEST,
    LEAST,
    LEAST_NEAR,
    MOST,
    RARE,
    USUAL,
    WEIGHTS,
    WORTH,
    believed,
    calibrated,
    mark_probabilities,
    worth_of,
)
from anypag.search.by_scores.sampled_graphs import NUMBERS, state_shares, states_of
from strategies import seeded_mags

pytestmark = pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")


def shares_of(pags: np.ndarray) -> np.ndarray:
    return state_shares(states_of(pags), np.ones(len(pags), np.int64))


@given(st.lists(seeded_mags(most=5).filter(lambda mag: len(mag) == 5), min_size=1, max_size=4))
@settings(deadline=None, max_examples=40)
def test_probabilities_of_a_pair_sum_to_one_in_any_order_of_nodes(found: list[MAG]) -> None:
    pags = np.stack([mag.to_pag().marks for mag in found])
    cold, every, turned = shares_of(pags[:2]), shares_of(pags), [4, 2, 0, 1, 3]
    moved = pags[:, turned][:, :, turned]
    for from_counts in (False, True):
        states = calibrated(cold, every, pags[0], from_counts=from_counts)
        np.testing.assert_allclose(states.sum(axis=0), 1)
        assert states.min() >= 0 and 1 - states[0].max() > 0.001 and states[0].min() > 0.001  # nothing is certain
        marks = mark_probabilities(states, 5)
        np.testing.assert_allclose(marks.sum(axis=0), 1)
        np.testing.assert_allclose(marks[0], marks[0].T)
        again = calibrated(shares_of(moved[:2]), shares_of(moved), moved[0], from_counts=from_counts)
        np.testing.assert_allclose(mark_probabilities(again, 5), marks[:, turned][:, :, turned], atol=1e-12)


def test_an_edge_by_hand() -> None:
    pags = np.zeros((4, 3, 3), np.uint8)
    pags[:3, 0, 1], pags[:3, 1, 0] = 2, 3  # A --> B in three of four graphs
    states = calibrated(shares_of(pags), shares_of(pags), pags[0], from_counts=True)
    edge = LEAST + (MOST - LEAST) * 0.75
    assert states[NUMBERS["-->"], 0] == pytest.approx(edge * (0.842 + 0.158 * USUAL["-->"]))
    assert states[0].tolist() == pytest.approx([1 - edge, 1 - LEAST, 1 - LEAST])
    answer = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]], np.uint8)  # A and B share the neighbour C
    nothing = np.eye(16)[:, [0, 0, 0]]
    assert calibrated(nothing, nothing, answer, from_counts=True)[0].tolist() == pytest.approx(
        [1 - LEAST_NEAR, 1 - LEAST, 1 - LEAST]
    )


def test_with_many_variables_hardly_any_pair_without_an_edge_counts_as_one() -> None:
    """Of 200 variables a fixed share of 19,900 pairs would be hundreds of expected errors."""
    pairs = 200 * 199 // 2
    nothing = np.zeros((16, pairs))
    nothing[0] = 1
    found = calibrated(nothing, nothing, np.zeros((200, 200), np.uint8), from_counts=True)
    assert 1 - found[0] == pytest.approx(np.full(pairs, LEAST / 4))


def test_an_edge_by_few_graphs_is_nearer_to_even_odds() -> None:
    one, cold, every, _ = WEIGHTS
    shares = np.zeros((16, 3))
    shares[0], shares[NUMBERS["o-o"]] = [1.0, 0.0, 0.5], [0.0, 1.0, 0.5]

    def edges(n_samples: int, n: int = 3) -> np.ndarray:
        answer, wide = np.zeros((n, n), np.uint8), np.tile(shares[:, :1], (1, n * (n - 1) // 2))
        wide[:, :3] = shares
        return 1 - calibrated(wide, wide, answer, n_samples=n_samples)[0, :3]

    def by_hand(odds: float) -> float:
        return float(1 / (1 + np.exp(-one - (cold + every) * np.log(odds))))

    assert edges(20).tolist() == pytest.approx([by_hand(0.5 / 20.5), by_hand(20.5 / 0.5), by_hand(1)])
    assert edges(20, 60)[0] == pytest.approx(by_hand(0.5 * (20 + 180 / 4) / 200 / 20.5))
    assert edges(FINEST).tolist() == edges(10 * FINEST).tolist()
    assert edges(FINEST, 60)[0] == edges(FINEST)[0] == pytest.approx(by_hand(0.5 / 200.5))


def test_a_search_that_stops_early_expects_no_fewer_errors() -> None:
    table, said = ap.simulate.random_system(15, 2.0, seed=1).linear_gaussian(500, seed=1), list[float]()
    for state, _ in ap.iterate(table, method="bayes"):
        errors = state.posterior.expected_errors if isinstance(state, BayesState) else None
        said += [] if errors is None else [errors]
    assert len(said) == 10 and said[0] > said[-1] and min(said) > 0.85 * said[-1]  # 0.77 without allowing for few


def test_usual_marks_are_as_frequent_from_both_ends() -> None:
    assert sum(USUAL.values()) == pytest.approx(1)
    for often in (USUAL, WORTH):
        assert (often["o->"], often["-->"]) == (often["<-o"], often["<--"])


def test_marks_by_hand() -> None:
    pags = np.zeros((10, 8, 8), np.uint8)
    pags[:4, 0, 1], pags[:4, 1, 0] = 2, 3  # A --> B in four of ten graphs
    pags[4:8, 0, 1], pags[4:8, 1, 0] = 1, 1  # A o-o B in another four
    worth = {symbol: number**0.5 for symbol, number in WORTH.items()}  # 8 variables, twice as many as few
    weights = {symbol: number * (0.5 * (symbol in {"-->", "o-o"}) + 0.004) for symbol, number in worth.items()}
    given_edge = {symbol: weight / sum(weights.values()) for symbol, weight in weights.items()}
    cold, every = shares_of(pags[:5]), shares_of(pags)  # at temperature 1 all have the edge
    marks = believed(cold, every, 8)
    assert marks[0, 0, 1] == 0
    assert marks[2, 0, 1] == pytest.approx(sum(given_edge[symbol] for symbol in ("-->", "o->", "<->")))
    assert marks[1, 0, 1] == pytest.approx(sum(given_edge[symbol] for symbol in ("o-o", "<-o", "--o")))
    states = calibrated(cold, every, pags[0])
    assert states[NUMBERS["-->"], 0] / (1 - states[0, 0]) == pytest.approx(given_edge["-->"])


@given(st.lists(seeded_mags(most=5).filter(lambda mag: len(mag) == 5), min_size=1, max_size=5))
@settings(deadline=None, max_examples=30)
def test_marks_are_weighed_pair_by_pair(found: list[MAG]) -> None:
    states = states_of(np.stack([mag.to_pag().marks for mag in found]))
    shares, graphs = state_shares(states, np.ones(len(states), np.int64)), [(one, 1) for one in states.tolist()]
    said = calibrated(shares, shares, found[0].to_pag().marks)
    worth = {NUMBERS[symbol]: number for symbol, number in worth_of(5).items()}
    for pair in range(10):
        by_hand = naive_posterior.weighed(graphs, pair, worth, RARE)
        edge = 1 - said[0, pair]
        assert {state: said[state, pair] / edge for state in by_hand} == pytest.approx(by_hand)


def test_what_is_known_stays_certain() -> None:
    known = ap.Knowledge(causes=[("A", "B")], joined=[("A", "B")], not_joined=[("A", "C")], not_causes=[("C", "B")])
    facts: Facts = known.facts(("A", "B", "C"), selection=False)
    pags = np.zeros((1, 3, 3), np.uint8)
    pags[0, 0, 1], pags[0, 1, 0], pags[0, 1, 2], pags[0, 2, 1] = 2, 3, 1, 1
    states = calibrated(shares_of(pags), shares_of(pags), pags[0], facts, from_counts=True)
    np.testing.assert_allclose(states.sum(axis=0), 1)
    assert states[0].tolist() == pytest.approx([0, 1, 1 - MOST])
    assert states[NUMBERS["<--"], 0] == states[NUMBERS["<->"], 0] == states[NUMBERS["<-o"], 0] == 0
    assert states[NUMBERS["<--"], 2] == 0 < states[NUMBERS["-->"], 2]  # C is no cause of B


def test_results_say_reported_ones_and_keep_the_shares() -> None:
    data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 2000, seed=1)
    result = ap.learn(data, method="bayes", effort=0.1)
    posterior, said = result.posterior, result.probabilities
    assert posterior is not None and said is not None and posterior.reported is not None
    assert said.share_of("A", "C", "o->") == pytest.approx(dict(posterior.states("A", "C"))["o->"])
    assert posterior.reported[1:].max() < 0.97
    a, c = posterior.names.index("A"), posterior.names.index("C")
    assert posterior.shares[0, a, c] == 0 and 0.95 < said.of_any_edge("A", "C") < 1
    with pytest.raises(GraphError, match="There is no node 'zz'"):
        posterior.mark_probability("A", "zz")
    marks = posterior.mark_probability("A", "C")
    assert marks is not None and marks["arrow"] == pytest.approx(said.of_mark("C", "A", "<-o"))
    assert posterior.expected_errors == said.expected_errors > 0
