"""Long kernels return to be called again: what they find does not depend on where, and none keeps a run waiting."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from anypag import _kernels, threads
from anypag._kernels import determined, mag_chain, pools, rules, separation
from anypag.arrays import Flags, Floats
from anypag.graphs.base import Marks, marks_of_arrows
from anypag.graphs.orientation import LogRows, Paths, Scratch, orient, orient_in_place
from anypag.graphs.projection import LatentDAG, mag_of_diagram
from anypag.graphs.rules import rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.scores.base import Score, Trees
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import LatentScore
from anypag.search.by_scores.chain import Landscape, Walker, advance, bits_of, graph_of
from anypag.search.by_scores.orders import Orders, first_orders, found, swept
from anypag.search.sepsets import Sepsets
from naive_scores import grow_shrink
from score_examples import gaussian_score, mixed_score

IN_TURNS = {
    "orders": {"sweep", "parents_in"},
    "mag_chain": {"total", "advance"},
    "discrete_score": {"fit", "draw"},
    "pools": {"pools", "possible_d_sep", "node_pools"},
    "separation": {"project", "contradicted"},
    "rules": {*("rule_3", "rule_4", "rule_5", "rule_9", "rule_10", "rule_11", "rule_12"), "discriminating_paths"},
}
"""Kernels whose work is bounded by `room`; each is run below on a dense input of 200 variables."""

OF_BATCHES = {
    "additive": {"additive_tests"},
    "candidates": {"next_sets", "keep_best", "largest_of_each", "pairs_from", "best_singles", "best_sets"},
    "discrete": {"count_statistics", "joint_statistics", "permutations_by_rows"},
    "gaussian": {*("partial_correlations", "fisher_z_pvalues", "pairwise_partial_correlations", "block_statistics")},
    "pairs": {*("correlations", "has_beyond", "reorder_rows", "all_in_range", "arranged", "keys_of", "add")},
    "separation": {"separated"},
}
"""Kernels that go once through a batch of questions, candidates or rows, whose number their caller bounds: tests answer
in batches that `search.progress.Pace` cuts to a fraction of a second, passes and tables in runs of `at_once` and less.
"""

WHOLE = {
    "determined": {"determined_by_two", "tell_each_other"},
    "mag_chain": {"keeps_apart"},
    "rules": {"check_keys", "rule_0", "rule_0_in_mag", "triples"},
    "separation": {"inducing_path"},
}
"""Kernels that do all their work in one call; each is timed below on a dense input of 200 variables."""

OUTSIDE = {"gaussian": {"fit", "total_effects"}}
"""Kernels that no run calls: effects are drawn one graph a call."""

PARTS = {
    "additive": {"f_tail", "cauchy", "rao", "degree_of_set", "degree_of_tested"},
    "determined": {"is_determined"},
    "discrete_score": {"component", "adding", "removing", "of_set"},
    "gaussian_score": {"component", "adding", "removing", "adding_blocks", "removing_blocks", "ricf"},
    "separation": {"chain_lists"},
    "mag_chain": {"put", "stays_ancestral", "is_maximal", "agrees"},
}
"""Parts of other kernels, which count their work: no Python of the package calls them, but hands some of them on."""

MOST_LOOPS = 3
"""Loops within each other, over nodes or over the edges of one: 200 variables make 8 million steps at most, some 10 ms.
All kernels that are not listed above have no more.
"""


def kernels() -> dict[str, dict[str, ast.FunctionDef]]:
    """Every function of every file of kernels. Nothing is compiled."""
    files = Path(_kernels.__file__).parent.glob("*.py")
    parsed = {path.stem: ast.parse(path.read_text()).body for path in files}
    return {
        stem: {node.name: node for node in body if isinstance(node, ast.FunctionDef)} for stem, body in parsed.items()
    }


def is_kernel(function: ast.FunctionDef) -> bool:
    made_by = " ".join(map(ast.unparse, function.decorator_list))
    is_compiled = "njit" in made_by or "patient" in made_by
    return is_compiled and not function.name.startswith("_")


def n_loops(node: ast.AST, functions: dict[str, ast.FunctionDef]) -> int:
    """How many loops stand within each other, those of called functions included; one over all edges counts twice."""
    most = 0
    for child in ast.iter_child_nodes(node):
        count = n_loops(child, functions)
        if isinstance(child, ast.For | ast.While):
            count += 2 if isinstance(child, ast.For) and "len(neighbour)" in ast.unparse(child.iter) else 1
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in functions:
            count = max(count, n_loops(functions[child.func.id], functions))
        most = max(most, count)
    return most


def test_every_kernel_goes_in_turns_or_is_known_to_be_short() -> None:
    for stem, functions in kernels().items():
        here = {name for name, function in functions.items() if is_kernel(function)}
        listed = [kind.get(stem, set()) for kind in (IN_TURNS, OF_BATCHES, WHOLE, OUTSIDE, PARTS)]
        assert sum(map(len, listed)) == len(set().union(*listed)), "each stands in one list"
        assert set().union(*listed) <= here, "no list has more"
        for name in IN_TURNS.get(stem, ()):
            assert functions[name].args.args[-1].arg == "room"
        for name in here.difference(*listed):
            assert n_loops(functions[name], functions) <= MOST_LOOPS, f"{stem}.{name}: let it go in turns, or list it"


def test_who_calls_what() -> None:
    """No Python calls a part of a kernel (scores hand theirs on); no search what stands outside of runs."""
    handed_on = {"component", "adding", "removing", "adding_blocks", "removing_blocks", "of_set"}
    root = Path(ap.__file__).parent
    for path in root.rglob("*.py"):
        room, text = path.relative_to(root).parts[0], path.read_text()
        if room == "_kernels":
            continue
        for stem, names in PARTS.items():
            imported = re.findall(rf"from anypag\._kernels\.{stem} import (.*)", text)
            assert not {name.strip() for line in imported for name in line.split(",")} & (names - handed_on)
        for stem, names in OUTSIDE.items():
            called = re.search(rf"_kernels\.{stem} import .*\b({'|'.join(names)})\b|_kernels import {stem}\b", text)
            assert called is None or room == "effects", path


def graph(density: float, kinds: dict[tuple[int, int], int], n: int = 200) -> tuple[Marks, Skeleton]:
    """Random marks: edges of these kinds, with these weights."""
    rng = np.random.default_rng(0)
    marks, pairs = np.zeros((n, n), np.uint8), np.argwhere(np.triu(rng.random((n, n)) < density, 1))
    weights = np.array(list(kinds.values()), float)
    drawn = np.array(list(kinds))[rng.choice(len(kinds), len(pairs), p=weights / weights.sum())]
    turned = np.where(rng.random(len(pairs)) < 0.5, 1, -1)[:, None]
    i, j = np.where(turned == 1, pairs, pairs[:, ::-1]).T
    marks[j, i], marks[i, j] = drawn.T
    return marks, Skeleton.of(marks)


CIRCLES = {(1, 1): 1}
LEADING = {(1, 1): 3, (1, 2): 4, (3, 2): 5}
DISCRIMINATING = {(2, 2): 3, (3, 2): 4, (1, 2): 2}

LONG_RULES = {
    "rule_3": LEADING,
    "rule_5": CIRCLES,
    "rule_9": LEADING,
    "rule_10": LEADING,
    "rule_11": LEADING,
    "rule_12": LEADING,
}


def work_of_turns(kernel: Callable[..., object], *arguments: object, most: int = 3) -> list[int]:
    """The work that the first turns of a kernel did."""
    spent = []
    for _ in range(most):
        room = np.array([threads.ROOM])
        is_done = kernel(*arguments, room) is True
        spent.append(threads.ROOM - int(room[0]))
        if is_done:
            break
    return spent


@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", LONG_RULES)
def test_a_rule_on_200_dense_nodes_does_little_more_than_a_turn_asks(name: str, density: float) -> None:
    marks, edges = graph(density, LONG_RULES[name])
    wanted, rows = np.zeros_like(marks), np.empty((2 * len(edges.neighbour), 5), np.int32)
    more, stand = (3,) if name == "rule_3" else (), np.zeros(4 + 3 * len(marks), np.int64)
    lists = marks, edges.start, edges.neighbour, *more, wanted, rows
    assert max(work_of_turns(getattr(rules, name), *lists, stand)) < 2 * threads.ROOM


@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
def test_discriminating_paths_of_200_dense_nodes_come_in_turns(density: float) -> None:
    marks, edges = graph(density, DISCRIMINATING)
    paths, stand, spent = np.full((16, 8), -1, np.int32), np.zeros(2, np.int64), [0]
    lists = marks, edges.start, edges.neighbour
    while stand[1] < len(edges.neighbour) and len(spent) < 4:
        room = np.array([threads.ROOM])
        paths = rules.discriminating_paths(*lists, paths, stand, room)
        spent.append(threads.ROOM - int(room[0]))
    wanted, rows = np.zeros_like(marks), np.empty((2 * len(edges.neighbour), 5), np.int32)
    decided = paths[: stand[0]], np.zeros(stand[0], np.bool_)
    spent += work_of_turns(rules.rule_4, *lists, *decided, wanted, rows, np.zeros(2, np.int64))
    assert max(spent) < 2 * threads.ROOM


@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
def test_pools_of_200_dense_nodes_are_made_in_turns(density: float) -> None:
    marks, edges = graph(density, CIRCLES)
    (block, n_blocks), n = pools.blocks(edges.start, edges.neighbour), len(marks)
    lists = marks, edges.start, edges.neighbour
    x, y = edges.node[edges.node < edges.neighbour], edges.neighbour[edges.node < edges.neighbour]
    of_edges, strength = np.zeros(len(x), np.int64), (np.zeros((1, 1), np.float32), np.zeros(n, np.int32))
    walks, nothing = (4, True, -1, True), np.empty((0, 0), np.bool_)
    of_blocks = block, pools.block_sizes(edges.start, block, n_blocks)
    above = np.zeros(n, np.int32), np.zeros((1, 1), np.uint64)
    spent = work_of_turns(pools.pools, lists, of_blocks, above, (x, y, of_edges), walks, strength, nothing, most=1)
    spent += work_of_turns(pools.possible_d_sep, lists, 0, most=1)
    neighbours = edges.start, edges.neighbour, nothing
    spent += work_of_turns(pools.node_pools, *neighbours, edges.start, block, x, y, of_edges, most=1)
    assert max(spent) < 2 * threads.ROOM


def random_dag(density: float) -> Marks:
    above = np.triu(np.random.default_rng(0).random((200, 200)) < density, 1)
    return np.where(above, 2, np.where(above.T, 3, 0)).astype(np.uint8)


@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
def test_contradictions_and_projections_of_200_dense_nodes_are_found_in_turns(density: float) -> None:
    marks, edges = graph(density, LEADING)
    rows = np.column_stack([edges.node, edges.neighbour, marks[edges.node, edges.neighbour]]).astype(np.int32)
    lists, one = (marks, edges.start, edges.neighbour), np.zeros(1, np.int64)
    spent = work_of_turns(separation.contradicted, *lists, rows, np.zeros(len(rows), np.bool_), one)
    dag, nobody, mag = random_dag(density), np.zeros(200, np.bool_), np.zeros((200, 200), np.uint8)
    of_dag, stand = Skeleton.of(dag).with_marks(dag), np.zeros(1, np.int64)
    spent += work_of_turns(separation.project, *of_dag, nobody, nobody, np.arange(200), mag, stand)
    assert max(spent) < 2 * threads.ROOM


@pytest.mark.parametrize("room", [3000, 30_000])
def test_marks_and_pools_are_the_same_however_short_the_turns(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = table_of(25, 300, 3, neighbours=6.0)
    whole = {method: ap.learn(ap.FisherZ(values), method=method) for method in ("icd", "fci")}
    monkeypatch.setattr(threads, "ROOM", room)
    looks = list[int]()
    for method, expected in whole.items():
        parts = ap.learn(ap.FisherZ(values), method=method, progress=lambda progress: looks.append(1))
        assert (parts.pag, parts.sepsets, parts.tests) == (expected.pag, expected.sepsets, expected.tests)
        np.testing.assert_array_equal(parts.state.evidence.log, expected.state.evidence.log)
        np.testing.assert_array_equal(parts.state.evidence.conflicts, expected.state.evidence.conflicts)
    assert len(looks) > 30


def test_an_orientation_that_is_ended_leaves_nothing_behind() -> None:
    marks, edges = graph(0.1, LEADING)
    before, scratch = marks.copy(), Scratch()
    with pytest.raises(EnoughError):
        orient(marks, Nowhere(), skeleton=edges, look=Looks(1))
    np.testing.assert_array_equal(marks, before)
    with pytest.raises(EnoughError):
        orient_in_place(marks, Nowhere(), rules_after_0(selection=True), edges, scratch=scratch, look=Looks(1))
    assert scratch.tables is None, "tables that may not be zero are not used again"


class Nowhere:
    """There are no colliders."""

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: LogRows) -> int:
        return 0

    def decide(self, paths: Paths) -> tuple[Paths, Flags]:
        return paths[:0], np.zeros(0, np.bool_)


def whole_calls() -> dict[str, Callable[[], object]]:
    """Calls of the kernels that do all their work at once, with 200 dense variables."""
    rng = np.random.default_rng(0)
    marks, edges = graph(0.5, LEADING)
    lists = marks, edges.start, edges.neighbour
    wanted, rows = np.zeros_like(marks), np.empty((2 * len(edges.neighbour), 5), np.int32)
    sets = Sepsets.none(200)
    x, y = (end.astype(np.int32) for end in np.nonzero(np.triu(marks == 0, 1)))
    sets = sets.adding(x, y, rng.integers(0, 200, (len(x), 2), np.int32))
    slots = tuple(sets.slots)
    dag = random_dag(0.5)
    of_dag = Skeleton.of(dag).with_marks(dag)
    codes = rng.integers(0, 3, (200, 1000))
    levels = np.full(200, 3)
    nothing_known, patterns = np.zeros((0, 0), np.bool_), np.array([[14, 14, 14, 14, 15, 15, 0]] * 2)  # all fit
    proposals = np.array([[[1, 0, 3, 2, 3], [0, 1, 2, 2, 3]]] * 2)
    hiding = random_dag(0.1)[::-1, ::-1].copy()  # the last ten nodes have no causes
    hiding[190:, 190:] = 0
    kept = np.pad(mag_of_diagram(hiding, 10) == 0, ((0, 0), (0, 10)))
    apart = np.stack([bits_of(np.pad(kept, ((0, 10), (0, 0))))[:190]] * 2)
    return {
        "determined_by_two": lambda: determined.determined_by_two(codes, levels, 0, 5, 1000, 50, -7.0),
        "tell_each_other": lambda: determined.tell_each_other(codes, levels, 0.9, 50),
        "check_keys": lambda: rules.check_keys(*lists, slots, 0),
        "rule_0": lambda: rules.rule_0(*lists, slots, sets.members, 0, 200, wanted, rows),
        "rule_0_in_mag": lambda: rules.rule_0_in_mag(*lists, dag, wanted, rows),
        "triples": lambda: rules.triples(*lists, nothing_known, patterns, proposals, wanted, rows),
        "inducing_path": lambda: separation.inducing_path(*of_dag),
        "keeps_apart": lambda: mag_chain.keeps_apart(graph_of(hiding), apart),
    }


@pytest.mark.parametrize("name", sorted(whole_calls()))
def test_a_call_with_200_dense_variables_is_short(name: str) -> None:
    seconds = []
    for _ in range(2):  # the first compiles
        call = whole_calls()[name]
        began = time.thread_time()
        call()
        seconds.append(time.thread_time() - began)
    assert seconds[1] < LONGEST


def table_of(n: int, rows: int, seed: int, neighbours: float = 3.0) -> Floats:
    dag = ap.simulate.random_dag(n, neighbours, seed=seed)
    return np.column_stack(list(ap.simulate.linear_gaussian(dag, rows, seed=seed).values()))


def scores() -> dict[str, Score]:
    values = table_of(8, 200, 1)
    columns = {f"X{k}": values[:, k] for k in range(8)}
    levels = {name: (column > np.median(column)).astype(int) for name, column in columns.items()}
    return {
        "gaussian": gaussian_score(columns),
        "discrete": DiscreteScore.of(levels),
        "mixed": mixed_score({**columns, "X1": levels["X1"], "X4": levels["X4"]}),
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
    score = gaussian_score(table_of(7, 150, seed))
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
    assert len(looks) > 10


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
    score = gaussian_score(table_of(200, 1000, 1, neighbours=8.0))
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
    score = gaussian_score(table_of(200, 1000, 1, neighbours=8.0))
    order = Orders(first_orders(200, 1).order, np.ones(1, np.bool_), np.zeros(200, np.int64))
    start = graph_of(marks_of_arrows(found(order, score)[0].parents))
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
