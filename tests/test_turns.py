"""Long kernels return to be called again: what they find does not depend on where, and none keeps a run waiting."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from anypag import _kernels, threads
from anypag.arrays import Floats
from anypag.graphs.projection import LatentDAG
from anypag.scores.base import Score, Trees
from anypag.scores.discrete import DiscreteScore
from anypag.scores.gaussian import GaussianScore
from anypag.scores.latent import LatentScore
from anypag.scores.mixed import MixedScore
from anypag.search.by_scores.chain import Landscape, Walker, advance, graph_of
from anypag.search.by_scores.orders import Orders, dag_marks, first_orders, found, swept
from naive_scores import grow_shrink

IN_TURNS = {
    ("orders", "sweep"),
    ("orders", "parents_in"),
    ("mag_chain", "total"),
    ("mag_chain", "advance"),
    ("discrete_score", "fit"),
    ("discrete_score", "draw"),
}
"""Kernels whose work is bounded by `room`."""

OF_BATCHES = {
    "additive",
    "candidates",
    "columns",
    "discrete",
    "gaussian",
    "joint_tables",
    "queries",
    "total_effects",
}
"""Files of kernels that get a batch of questions, a block of rows, one graph; `search.progress` sizes batches."""

OF_GRAPHS = {
    "ancestral_graphs",
    "pairs",
    "patience",
    "pools",
    "rules",
    "separation",
}
"""Files of kernels that go over a graph once, in polynomial time; those of rules R5, R9, R10 and R12 can be long."""

OF_SCORES = {
    ("gaussian_score", "component"),
    ("gaussian_score", "adding"),
    ("gaussian_score", "removing"),
    ("gaussian_score", "adding_blocks"),
    ("gaussian_score", "removing_blocks"),
    ("gaussian_score", "ricf"),
    ("gaussian_score", "undirected_deviance"),
    ("discrete_score", "component"),
    ("discrete_score", "adding"),
    ("discrete_score", "removing"),
    ("discrete_score", "of_set"),
    ("mag_chain", "edge_state"),
    ("mag_chain", "put"),
    ("mag_chain", "stays_ancestral"),
    ("mag_chain", "is_maximal"),
    ("mag_chain", "agrees"),
    ("mag_chain", "count_edges"),
}
"""Parts of one step of a kernel that goes in turns."""


def kernels() -> dict[tuple[str, str], list[str]]:
    """The arguments of every compiled function that others may call, by its file and name. Nothing is compiled."""
    return {
        (path.stem, node.name): [argument.arg for argument in node.args.args]
        for path in Path(_kernels.__file__).parent.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if any("njit" in ast.unparse(decorator) for decorator in node.decorator_list)
    }


def test_every_kernel_is_known_to_be_short_or_goes_in_turns() -> None:
    found_here = kernels()
    assert {key for key in found_here if key[0] not in OF_BATCHES | OF_GRAPHS} == IN_TURNS | OF_SCORES
    for key in IN_TURNS:
        assert found_here[key][-1] == "room"


def table_of(n: int, rows: int, seed: int, neighbours: float = 3.0) -> Floats:
    dag = ap.simulate.random_dag(n, neighbours, seed=seed)
    return np.column_stack(list(ap.simulate.linear_gaussian(dag, rows, seed=seed).values()))


def scores() -> dict[str, Score]:
    values = table_of(8, 200, 1)
    columns = {f"X{k}": values[:, k] for k in range(8)}
    levels = {name: (column > np.median(column)).astype(int) for name, column in columns.items()}
    return {
        "gaussian": GaussianScore.of(columns),
        "discrete": DiscreteScore.of(levels),
        "mixed": MixedScore.of({**columns, "X1": levels["X1"], "X4": levels["X4"]}),
    }


def all_settled(score: Score, orders: Orders, look: Callable[[], None]) -> Orders:
    while not orders.all_settled:
        orders = swept(orders, score, look)
    return orders


@pytest.mark.parametrize("kind", ["gaussian", "discrete", "mixed"])
def test_orders_are_the_same_however_short_the_turns_and_small_the_trees(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, looks = scores()[kind], list[int]()
    whole = all_settled(score, first_orders(8, 3), lambda: looks.append(1))
    dags = found(whole, score)
    assert not looks
    monkeypatch.setattr(threads, "ROOM", 1500)
    monkeypatch.setattr(Trees, "of", classmethod(lambda cls, n: small_trees(n)))
    again = scores()[kind]
    parts = all_settled(again, first_orders(8, 3), lambda: looks.append(1))
    np.testing.assert_array_equal(parts.order, whole.order)
    assert [(dag.score, dag.parents.tobytes()) for dag in found(parts, again)] == [
        (dag.score, dag.parents.tobytes()) for dag in dags
    ]
    assert len(looks) > 20


def small_trees(n: int) -> Trees:
    """Room for a few dozen nodes: they are cleared again and again."""
    used = np.full(n + 2, -1, np.int64)
    used[:2] = 0
    return Trees(used, np.empty(40), np.empty((40, 2), np.int64), np.empty(40 * n), np.empty(40 * n, np.int32))


@pytest.mark.parametrize("seed", range(6))
def test_the_parents_of_an_order_are_those_of_grow_shrink_by_hand(seed: int) -> None:
    score = GaussianScore.of(table_of(7, 150, seed))
    order = np.random.default_rng(seed).permutation(7)
    (dag,) = found(Orders(order[None].astype(np.int64), np.ones(1, np.bool_), np.zeros(7, np.int64)), score)
    for place, v in enumerate(order.tolist()):
        expected = grow_shrink(score.correlation, score.n, v, order[:place].tolist())
        assert set(np.flatnonzero(dag.parents[:, v]).tolist()) == expected


def test_chains_are_the_same_however_short_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(look: Callable[[], None]) -> Walker:
        landscape = Landscape.of(scores()["gaussian"])
        return advance(Walker.at(graph_of(np.zeros((8, 8), np.uint8)), landscape, 1, look), landscape, 2000, 1.5, look)

    looks = list[int]()
    whole = walked(lambda: looks.append(1))
    assert not looks
    monkeypatch.setattr(threads, "ROOM", 1000)
    parts = walked(lambda: looks.append(1))
    np.testing.assert_array_equal(parts.graph, whole.graph)
    np.testing.assert_array_equal(parts.scores, whole.scores)
    assert (parts.taken, parts.random[0]) == (whole.taken, whole.random[0])
    assert len(looks) > 100


def test_em_is_the_same_however_short_the_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    discrete = scores()["discrete"]
    assert isinstance(discrete, DiscreteScore)
    dag = LatentDAG(np.zeros((8, 8), np.bool_), np.ones((1, 8), np.bool_), (3,))
    looks = list[int]()
    whole = LatentScore(discrete, lambda: looks.append(1))
    expected = whole.of(dag), whole.drawn(dag, None, [1])
    assert not looks
    monkeypatch.setattr(threads, "ROOM", 1000)
    parts = LatentScore(discrete, lambda: looks.append(1))
    assert parts.of(dag) == expected[0]
    np.testing.assert_array_equal(parts.drawn(dag, None, [1]), expected[1])
    assert len(looks) > 100


class EnoughError(Exception):
    """Enough looks were made."""


class Looks:
    """The longest time between looks, in seconds of this thread; ends the work after some of them."""

    def __init__(self, most: int = 4) -> None:
        self.longest, self.left, self._last = 0.0, most, time.thread_time()

    def __call__(self) -> None:
        self.longest, self.left = max(self.longest, time.thread_time() - self._last), self.left - 1
        if self.left == 0:
            raise EnoughError
        self._last = time.thread_time()


LONGEST = 0.3
"""Seconds between looks; turns are made for 0.05."""


def test_a_sweep_over_200_dense_variables_looks_up_often() -> None:
    score = GaussianScore.of(table_of(200, 1000, 1, neighbours=8.0))
    orders = first_orders(200, 2)
    orders = Orders(orders.order[1:], orders.settled[1:], orders.tier)  # the reverse: long lists of parents
    swept(first_orders(8, 2), scores()["gaussian"])  # compiled
    looks = Looks()
    with pytest.raises(EnoughError):
        swept(orders, score, looks)
    assert looks.longest < LONGEST


def test_a_sweep_over_many_rows_of_levels_looks_up_often() -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 8, (20_000, 60)) // rng.integers(1, 3, 60)
    swept(first_orders(8, 2), scores()["discrete"])
    score, looks = DiscreteScore.of(levels), Looks()
    with pytest.raises(EnoughError):
        swept(first_orders(60, 2), score, looks)
    assert looks.longest < LONGEST


def test_a_chain_over_200_dense_variables_looks_up_often() -> None:
    score = GaussianScore.of(table_of(200, 1000, 1, neighbours=8.0))
    order = Orders(first_orders(200, 1).order, np.ones(1, np.bool_), np.zeros(200, np.int64))
    start = graph_of(dag_marks(found(order, score)[0].parents))
    landscape, looks = Landscape.of(score, ancestral=False), Looks()
    advance(Walker.at(graph_of(np.zeros((8, 8), np.uint8)), Landscape.of(scores()["gaussian"]), 1), landscape, 0, 1.0)
    walker = Walker.at(start, landscape, 1)
    with pytest.raises(EnoughError):
        advance(walker, landscape, 10**9, 2.0, looks)
    assert looks.longest < LONGEST


@pytest.mark.parametrize("method", ["boss", "gfci", "bayes"])
def test_a_run_ends_inside_a_sweep(method: str) -> None:
    """One sweep of this table takes many turns: the third look of the first sweep ends the run."""
    seen = list[int]()

    def tick(progress: object) -> None:
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt

    values = table_of(150, 400, 2, neighbours=8.0)
    result = ap.learn(ap.FisherZ(values), method=method, progress=tick)
    assert (result.stopped, result.complete, len(result.history)) == ("interrupt", False, 0)
