"""Best order score search: against all orders, and the same whatever the order of columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

import anypag as ap
from anypag import DAG
from anypag.graphs.base import marks_of_arrows
from anypag.graphs.projection import marks_of_class
from anypag.scores.base import Score
from anypag.scores.discrete import DiscreteScore
from anypag.scores.gaussian import GaussianScore
from anypag.search.by_scores.boss import BossState
from anypag.search.by_scores.orders import (
    FoundDAG,
    Orders,
    class_key,
    first_orders,
    found,
    of_distinct_classes,
    swept,
    turned,
)
from naive_scores import best_order, regression_deviance
from score_examples import Component, asked, components, gaussian_score, mixed_score, score_of

Floats = npt.NDArray[np.float64]


def data_of(n: int, seed: int, rows: int = 200) -> Floats:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5), 1)
    mixed: Floats = rng.normal(size=(rows, n)) @ np.linalg.inv(np.eye(n) - weights)
    return mixed


def gaussian(data: Floats) -> GaussianScore:
    return gaussian_score(dict(zip((f"X{i}" for i in range(data.shape[1])), data.T, strict=True)))


def settled(score: Score, starts: int, tier: list[int] | None = None) -> list[FoundDAG]:
    orders = first_orders(len(score.names), starts, tier=tier)
    while not orders.all_settled:
        orders = swept(orders, score)
    return found(orders, score)


def test_the_best_of_ten_orders_is_the_best_of_all_nearly_always() -> None:
    """On 20 systems of 5 variables; and the score said is that of the DAG."""
    hits = 0
    for seed in range(20):
        score = gaussian(data_of(5, seed))
        s, half = score.correlation, score.n / 2

        def local(v: int, parents: tuple[int, ...], s: Floats = s, half: float = half) -> float:
            return float(-half * regression_deviance(s, v, parents) - np.log(2 * half) / 2 * len(parents))

        best = settled(score, 10)[0]
        assert score_of(score, DAG(best.parents)) == pytest.approx(best.score, abs=1e-6)
        exhaustive = best_order(5, local)
        assert best.score <= exhaustive + 1e-6
        hits += best.score > exhaustive - 1e-6
    assert hits >= 19


def test_sweeps_never_lower_the_score() -> None:
    score = gaussian(data_of(8, 3))
    orders = first_orders(8, 3)
    before = [-np.inf] * 3
    while not orders.all_settled:
        orders = swept(orders, score)
        after = [sum_of_order(score, row) for row in orders.order]
        assert all(b >= a - 1e-6 for a, b in zip(before, after, strict=True))
        before = after


def test_a_turned_order_has_some_effects_before_their_causes_and_keeps_to_tiers() -> None:
    score = gaussian(data_of(8, 3))
    for tier in (None, [0, 0, 0, 0, 1, 1, 1, 1]):
        orders = first_orders(8, 4, tier=tier)
        while not orders.settled[:3].all():
            orders = swept(orders, score)
        best = max(orders.order[:3], key=lambda row: sum_of_order(score, row))
        after = turned(orders, 3, score)
        assert np.array_equal(after.order[:3], orders.order[:3])
        assert np.array_equal(turned(orders, 3, score).order, after.order)
        assert sorted(after.order[3]) == list(range(8))
        assert (np.diff(orders.tier[after.order[3]]) >= 0).all()
        assert not np.array_equal(after.order[3], best)


def test_orders_of_counts_after_the_first_begin_at_the_best() -> None:
    """The best DAG is at least as good as that of the four starts, and its PAG is the answer."""
    rng = np.random.default_rng(5)
    levels = rng.integers(0, 2, (300, 7))
    levels[:, 1:] = np.where(rng.random((300, 6)) < 0.6, levels[:, :-1], levels[:, 1:])
    state = list(ap.iterate(levels, method="boss", test="gsq"))[-1][0]
    assert isinstance(state, BossState)
    in_order = np.ascontiguousarray(levels.T[state.nodes.order], np.int32)
    score = DiscreteScore.priced(state.nodes.names, in_order)
    scores = [sum_of_order(score, row) for row in state.orders.order]
    assert len(scores) == 34
    assert max(scores) >= max(scores[:4])
    best = found(state.orders, score)[0]
    assert np.array_equal(marks_of_class(marks_of_arrows(best.parents)), state.marks)


def sum_of_order(score: Score, order: npt.NDArray[np.int64]) -> float:
    orders = Orders(order[None], np.ones(1, np.bool_), np.zeros(len(order), np.int64))
    return found(orders, score)[0].score


def test_columns_in_another_order_give_the_same_graph() -> None:
    data = data_of(7, 1)
    columns = {f"X{i}": data[:, i] for i in range(7)}
    graphs = []
    for seed in range(4):
        names = np.random.default_rng(seed).permutation(list(columns)).tolist()
        graphs.append(ap.learn({name: columns[name] for name in names}, method="boss").pag)
    assert all(graph == graphs[0] for graph in graphs)
    assert graphs[0].validate()


def test_where_nothing_is_hidden_the_truth_is_found() -> None:
    dag = DAG.from_string("A --> C; B --> C; C --> D; D --> E; B --> E")
    result = ap.learn(ap.simulate.linear_gaussian(dag, 5000, seed=1), method="boss")
    assert result.pag == ap.true_pag(dag)
    assert result.complete
    assert result.posterior is None
    assert result.n_tests == 0


def test_every_stop_leaves_the_pag_of_a_dag() -> None:
    for state, info in ap.iterate(data_of(6, 4), method="boss"):
        assert state.pag.validate()
        assert info.phase == "orders"


def test_tiers_are_kept() -> None:
    score = gaussian(data_of(6, 2))
    tier = [2, 0, 1, 0, 2, 1]
    for dag in settled(score, 6, tier):
        for i, j in np.argwhere(dag.parents):
            assert tier[i] <= tier[j]


def test_a_rare_level_is_seldom_joined_by_chance() -> None:
    """By BDeu alone the rare column has 32 edges in these 40 tables, and should have none."""
    edges = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = {f"X{k}": rng.integers(0, 2, 600) for k in range(5)} | {"rare": np.arange(600) % 100 == 0}
        edges += int(np.count_nonzero(ap.learn(table, method="boss", test="gsq").pag.marks[-1]))
    assert edges <= 8


@pytest.mark.parametrize("kind", ["discrete", "discrete, rare levels", "mixed"])
def test_other_scores_find_what_they_should(kind: str) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 3, 800), rng.integers(0, 2, 800)
    c = (a + b + (rng.random(800) < 0.1)) % 3
    d = (c + (rng.random(800) < 0.2)) % 3
    table = {"A": a, "B": b, "C": c, "D": d}
    discrete = DiscreteScore.of(table)
    scores: dict[str, Score] = {
        "discrete": discrete,
        "discrete, rare levels": replace(discrete, rarity=(0.3, 0.0, 0.2, 1.5)),
        "mixed": mixed_score({**table, "E": d + rng.normal(size=800)}),
    }
    score = scores[kind]
    best = settled(score, 4)[0]
    parents = best.parents
    assert score_of(score, DAG(parents)) == pytest.approx(best.score, abs=1e-6)
    assert (parents | parents.T)[2, 3] == 1
    assert (parents | parents.T)[0, 3] == 0
    for part in components(DAG(parents).marks):  # no parent can be taken away, or added among earlier ones, with gain
        for k in range(1, len(part.nodes)):
            less = np.delete(part.nodes, k)
            relation = np.ones((1, len(less)), np.uint8)
            relation[0, 0] = 0
            assert asked(score, Component(less, 1, relation)) <= asked(score, part) + 1e-6


def random_parents(rng: np.random.Generator, n: int) -> npt.NDArray[np.uint8]:
    order = rng.permutation(n)
    parents = np.triu(rng.random((n, n)) < 0.6, 1).astype(np.uint8)
    return np.ascontiguousarray(parents[np.ix_(order, order)])


def test_dags_have_one_key_exactly_where_they_have_one_pag() -> None:
    rng = np.random.default_rng(0)
    dags = [random_parents(rng, n) for n in (3, 3, 4) for _ in range(60)]
    pags = [marks_of_class(marks_of_arrows(parents)).tobytes() for parents in dags]
    keys = [class_key(parents) for parents in dags]
    assert [[a == b for b in keys] for a in keys] == [[a == b for b in pags] for a in pags]


def test_classes_of_nearly_equal_scores_stay_apart() -> None:
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.uint8)
    collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], np.uint8)
    dags = [FoundDAG(-10.0, chain), FoundDAG(-10.0002, collider), FoundDAG(-10.3, np.ascontiguousarray(chain.T))]
    assert of_distinct_classes(dags) == dags[:2]


def test_dags_of_nearly_equal_scores_are_all_found() -> None:
    """Of one class or of two, with scores that differ by less than 0.001."""
    score = gaussian(data_of(3, 0))
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.uint8)
    collider = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], np.uint8)
    dags = [FoundDAG(-10.0, chain), FoundDAG(-10.0002, collider), FoundDAG(-10.0004, np.ascontiguousarray(chain.T))]
    orders = Orders(np.array([[0, 1, 2], [0, 2, 1], [2, 1, 0]]), np.ones(3, np.bool_), np.zeros(3, np.int64))
    score.of_orders.update((row.tobytes(), dag) for row, dag in zip(orders.order, dags, strict=True))
    assert found(orders, score) == dags
