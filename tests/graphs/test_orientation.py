"""Orientation: each rule proposes what its sentence says, and running them is a matter of the graph alone."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from anypag import MAG, PAG
from anypag._kernels import rules as kernel
from anypag.graphs.base import Marks
from anypag.graphs.marks import EDGE_SYMBOLS
from anypag.graphs.orientation import LogRows, Orientation, Pass, Paths, Scratch, as_circles, orient, orient_in_place
from anypag.graphs.projection import CollidersOf
from anypag.graphs.rules import RULES, Rule, discriminating_paths, rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.search.sepsets import Sepsets
from anypag.threads import do_nothing, in_turns
from strategies import pag_like, seeded_pag_like

Wanted = set[tuple[int, int, int]]
Sets = dict[tuple[str, str], tuple[str, ...]]

anything = pag_like(6) | seeded_pag_like(dict.fromkeys(EDGE_SYMBOLS, 1))
colliding = seeded_pag_like({"o->": 4, "-->": 2, "o-o": 3, "--o": 1}, least=5)
leading_on = seeded_pag_like({"o-o": 3, "o->": 4, "-->": 5, "--o": 1, "<->": 1}, least=6)
discriminating = seeded_pag_like({"<->": 3, "-->": 4, "o->": 2, "o-o": 1}, least=5)
rounds = seeded_pag_like({"o-o": 8, "o->": 1, "---": 1}, least=5)


def scratch(graph: PAG) -> tuple[Marks, LogRows]:
    return np.zeros_like(graph.marks), np.empty((4 * len(graph.edges()), 5), np.int32)


def proposed(rule: Any, *arguments: Any) -> int:
    """How many rows a rule has written, in as many turns as it takes."""
    if "room" not in inspect.signature(getattr(rule, "py_func", rule)).parameters:
        return int(rule(*arguments))
    stand = np.zeros(4 + 3 * len(arguments[0]), np.int64)
    in_turns(rule, *arguments, stand)
    return int(stand[0])


def proposals(rule: Callable[..., int], graph: PAG, *extra: object) -> list[tuple[int, int, int]]:
    wanted, rows = scratch(graph)
    marks = np.array(graph.marks)
    start, _, neighbour = Skeleton.of(marks)
    count = proposed(rule, marks, start, neighbour, *extra, wanted, rows)
    assert np.array_equal(marks, graph.marks)  # a rule only proposes
    return [(i, j, mark) for i, j, mark in rows[:count, :3].tolist()]


def proposals_of(rule: Rule, graph: PAG) -> list[tuple[int, int, int]]:
    run = Pass(np.array(graph.marks), Skeleton.of(graph.marks), None, Scratch(), do_nothing)
    count = rule.propose(run, CollidersOf(graph.marks))
    assert np.array_equal(run.marks, graph.marks)  # a rule only proposes
    return [(i, j, mark) for i, j, mark in run.rows[:count, :3].tolist()]


def fresh(wanted: Wanted, graph: PAG) -> Wanted:
    return {(i, j, mark) for i, j, mark in wanted if graph.marks[i, j] != mark}


@pytest.mark.parametrize("number", [1, 2, 3, 6, 7, 8])
@settings(max_examples=200)
@given(graph=anything | colliding)
def test_a_local_rule_proposes_what_its_sentence_says(number: int, graph: PAG) -> None:
    found = proposals_of(RULES[number], graph)
    assert len(set(found)) == len(found)
    assert set(found) == fresh(getattr(naive, f"rule_{number}")(graph.marks.tolist()), graph)


@pytest.mark.parametrize("number", [9, 10])
@settings(max_examples=200)
@given(graph=leading_on)
def test_a_rule_with_paths_follows_uncovered_walks(number: int, graph: PAG) -> None:
    marks = graph.marks.tolist()
    found = set(proposals(getattr(kernel, f"rule_{number}"), graph))
    assert found == getattr(naive, f"rule_{number}_with_walks")(marks)
    assert found >= getattr(naive, f"rule_{number}")(marks)


@pytest.mark.parametrize(
    ("text", "is_directed"),
    [
        ("A o-> C; A o-o M; A o-o W; M --> C; W --> C", True),
        ("A o-> C; A o-o M; A o-o W; M --> B; M --> D; W --> B; W --> D; B --> C; D --> C", True),
        ("A o-> C; A o-o M; A o-o W; M --> B; W --> B; B --> C", False),  # one parent of C only
        ("A o-> C; A o-o M; A o-o W; M --> C; W --> C; M o-o W", False),  # M and W adjacent
        ("A o-> C; A o-o M; M --> B; M --> D; B --> C; D --> C", False),  # M alone
    ],
)
def test_rule_10_wants_two_ways_to_two_parents(text: str, is_directed: bool) -> None:
    graph = PAG.from_string(text)
    expected = {(graph.index("C"), graph.index("A"), naive.TAIL)} if is_directed else set()
    assert set(proposals(kernel.rule_10, graph)) == naive.rule_10(graph.marks.tolist()) == expected


@given(pag_like(6, symbols=("o-o", "o->", "<-o")) | rounds)
def test_rule_5_finds_the_edges_that_come_round(graph: PAG) -> None:
    marks = graph.marks.tolist()
    found = set(proposals(kernel.rule_5, graph))
    assert found >= naive.rule_5(marks) | naive.rule_5_with_walks(marks)
    assert {(i, j) for i, j, _ in found} <= naive.on_uncovered_circle_rounds(marks)
    assert all((j, i, mark) in found and mark == naive.TAIL for i, j, mark in found)


def paths_of(graph: PAG) -> Paths:
    return discriminating_paths(Pass(graph.marks, Skeleton.of(graph.marks), None, Scratch(), do_nothing))


@settings(max_examples=300)
@given(pag_like(6) | discriminating)
def test_discriminating_paths_are_the_shortest_one_for_each_end(graph: PAG) -> None:
    rows = paths_of(graph)
    found = [tuple(v for v in row if v >= 0) for row in rows.tolist()]
    shortest: dict[tuple[int, int, int], int] = {}
    every = naive.discriminating_paths(graph.marks.tolist())
    for path in every:
        key = (path[0], path[-2], path[-1])
        shortest[key] = min(len(path), shortest.get(key, len(path)))
    assert set(found) <= set(every)
    assert {(path[0], path[-2], path[-1]): len(path) for path in found} == shortest
    assert len(found) == len(shortest)


def test_long_and_many_discriminating_paths_are_kept_whole() -> None:
    """D1, D2, ... o-> V1 <-> V2 <-> ... <-> Vk <-> B o-> C with every V a parent of C."""
    inner, ends = [f"V{k}" for k in range(20)], [f"D{k}" for k in range(40)]
    chain = [f"{a} <-> {b}" for a, b in zip(inner, [*inner[1:], "B"], strict=True)]
    edges = chain + [f"{v} --> C" for v in inner] + [f"{d} o-> V0" for d in ends] + ["B o-> C"]
    graph = PAG.from_string("\n".join(edges))
    rows = paths_of(graph)
    found = {tuple(graph.names[v] for v in row if v >= 0) for row in rows.tolist()}
    assert found == {(d, *inner, "B", "C") for d in ends}


@given(pag_like(6) | discriminating, st.data())
def test_rule_4_proposes_what_its_sentence_says(graph: PAG, data: st.DataObject) -> None:
    found = paths_of(graph)
    is_in_set = np.array(data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found))), np.bool_)
    paths = [tuple(v for v in row if v >= 0) for row in found.tolist()]
    answers = {(path[0], *path[-2:]): answer for path, answer in zip(paths, is_in_set.tolist(), strict=True)}
    expected = naive.rule_4(graph.marks.tolist(), lambda path: answers[path[0], path[-2], path[-1]])
    wanted, rows = scratch(graph)
    start, _, neighbour = Skeleton.of(graph.marks)
    count = proposed(kernel.rule_4, graph.marks, start, neighbour, found, is_in_set, wanted, rows)
    assert {tuple(row) for row in rows[:count, :3].tolist()} == fresh(expected, graph)


@given(pag_like(6), st.data())
def test_rule_0_asks_the_separating_sets(graph: PAG, data: st.DataObject) -> None:
    sets = data.draw(separating_sets(graph))
    known = sepsets_of(graph, sets)

    def is_collider(a: int, b: int, c: int) -> bool:
        found = sets.get((graph.names[a], graph.names[c]), sets.get((graph.names[c], graph.names[a])))
        return found is not None and graph.names[b] not in found

    expected = naive.rule_0(graph.marks.tolist(), is_collider)
    assert set(proposals(kernel.rule_0, graph, tuple(known.slots), known.members, 0, len(graph))) == fresh(
        expected, graph
    )


@given(pag_like(6))
def test_rule_0_reads_a_graph(graph: PAG) -> None:
    truth = graph.marks.tolist()
    blank = PAG(as_circles(graph.marks))
    expected = naive.rule_0(blank.marks.tolist(), lambda a, b, c: naive.is_collider(truth, a, b, c))
    assert set(proposals(kernel.rule_0_in_mag, blank, graph.marks)) == expected


@given(pag_like(4), st.data())
def test_proposals_are_set_at_once_unless_they_are_disputed(graph: PAG, data: st.DataObject) -> None:
    places = [(i, j) for i, j in np.argwhere(graph.marks).tolist()]
    every = [(i, j, mark) for i, j in places for mark in (2, 3) if graph.marks[i, j] != mark]
    chosen = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    disputed_before = {p: data.draw(st.sampled_from([0, 0, 4, 8, 12])) for p in places}
    wanted, rows = scratch(graph)
    disputed = np.zeros_like(graph.marks)
    for (i, j), bits in disputed_before.items():
        disputed[i, j] = bits
    for k, (i, j, mark) in enumerate(chosen):
        rows[k] = (i, j, mark, -1, -1)
        wanted[i, j] |= 1 << mark
    marks = np.array(graph.marks)
    was_set, conflicts = kernel.apply(marks, wanted, rows, len(chosen), disputed)

    free = [
        (i, j, mark)
        for i, j, mark in chosen
        if graph.marks[i, j] == 1 and not disputed_before[i, j] and (i, j, 5 - mark) not in chosen
    ]
    expected = np.array(graph.marks)
    for i, j, mark in free:
        expected[i, j] = mark
    assert [tuple(row) for row in was_set[:, :3].tolist()] == free
    assert np.array_equal(marks, expected)
    told = [p for p in chosen if p not in free and not disputed_before[p[0], p[1]] & (1 << p[2])]
    assert [tuple(row) for row in conflicts[:, :3].tolist()] == told
    assert not wanted.any()


# --- all rules together --------------------------------------------------------------------------------------------


@st.composite
def separating_sets(draw: st.DrawFn, graph: PAG) -> Sets:
    """A set, right or wrong, for some of the pairs, those with an edge included."""
    found: Sets = {}
    for k, a in enumerate(graph.names):
        for b in graph.names[k + 1 :]:
            others = [name for name in graph.names if name not in (a, b)]
            if draw(st.booleans()):
                found[a, b] = tuple(draw(st.lists(st.sampled_from(others), unique=True))) if others else ()
    return found


def sepsets_of(graph: PAG, sets: Sets) -> Sepsets:
    x, y = np.array([(graph.index(a), graph.index(b)) for a, b in sets], np.int32).reshape(-1, 2).T
    z = np.full((len(sets), len(graph)), -1, np.int32)
    for row, found in zip(z, sets.values(), strict=True):
        row[: len(found)] = [graph.index(name) for name in found]
    return Sepsets.none(len(graph)).adding(np.ascontiguousarray(x), np.ascontiguousarray(y), z)


class FromSets:
    """Colliders as separating sets show them; paths between nodes whose set is not known stay undecided."""

    def __init__(self, graph: PAG, sets: Sets) -> None:
        self.sets = sepsets_of(graph, sets)

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: LogRows) -> int:
        start, neighbour, known = skeleton.start, skeleton.neighbour, (tuple(self.sets.slots), self.sets.members)
        return int(kernel.rule_0(marks, start, neighbour, *known, 0, len(marks), wanted, rows))

    def decide(self, paths: Paths) -> tuple[Paths, npt.NDArray[np.bool_]]:
        kept, answers = [], []
        for row in paths:
            path = row[row >= 0]
            known = self.sets.get(path[0], path[-1])
            if known is not None:
                kept.append(row)
                answers.append(int(path[-2]) in known)
        return np.array(kept, np.int32).reshape(-1, paths.shape[1]), np.array(answers, np.bool_)


def oriented(graph: PAG, sets: Sets, rules: tuple[Rule, ...] | None = None) -> Orientation:
    return orient(graph.marks, FromSets(graph, sets), rules)


@settings(max_examples=200)
@given(pag_like(6) | leading_on | discriminating | rounds, st.data())
def test_marks_do_not_depend_on_the_order_of_nodes_even_where_rules_disagree(graph: PAG, data: st.DataObject) -> None:
    sets = data.draw(separating_sets(graph))
    compare_orders(graph, sets, data.draw(st.permutations(graph.names)))


def test_every_discriminating_path_of_a_triple_has_its_say() -> None:
    """Two shortest paths discriminate one triple; which A gets its arrowhead was decided by the order of nodes."""
    joined = {"A": "BCDEFG", "B": "CG", "C": "DF", "D": "FG", "F": "G"}
    graph = PAG.from_string("; ".join(f"{a} o-o {b}" for a, others in joined.items() for b in others))
    compare_orders(graph, {("B", "D"): (), ("B", "F"): ("A", "C", "G")}, list("BCADEFG"))


def compare_orders(graph: PAG, sets: Sets, order: list[str]) -> None:
    turned = graph.subgraph(order)
    here, there = oriented(graph, sets), oriented(turned, sets)
    assert PAG(here.marks, graph.names) == PAG(there.marks, turned.names)


@given(anything | leading_on | discriminating, st.data())
def test_known_marks_stay_and_the_log_tells_how_the_others_came(graph: PAG, data: st.DataObject) -> None:
    sets = data.draw(separating_sets(graph))
    result = oriented(graph, sets)
    known = graph.marks != naive.CIRCLE
    assert np.array_equal(result.marks[known], graph.marks[known])
    replayed = np.array(graph.marks)
    for rule, i, j, mark, _, _ in result.log.tolist():
        assert rule in RULES
        assert replayed[i, j] == naive.CIRCLE
        replayed[i, j] = mark
    assert np.array_equal(replayed, result.marks)
    told = [(i, j, mark) for _, i, j, mark, _, _ in result.conflicts.tolist()]
    assert len(set(told)) == len(told)
    assert all(result.marks[i, j] != mark for i, j, mark in told)


@given(st.lists(anything | leading_on | discriminating | rounds, min_size=2, max_size=3), st.data())
def test_scratch_tables_come_back_as_zeros(graphs: list[PAG], data: st.DataObject) -> None:
    """One graph after the other through the same tables: each as if it had its own."""
    kept = Scratch()
    for graph in graphs:
        sets, edges = data.draw(separating_sets(graph)), Skeleton.of(graph.marks)
        rules = rules_after_0(selection=True)
        found = orient_in_place(np.array(graph.marks), FromSets(graph, sets), rules, edges, scratch=kept)
        for got, wanted in zip(found, oriented(graph, sets), strict=True):
            np.testing.assert_array_equal(got, wanted)
        wanted_marks, disputed = tables = kept.take(len(graph.names))
        assert not wanted_marks.any() and not disputed.any()
        kept.tables = tables


def test_scratch_tables_of_who_fails_do_not_come_back() -> None:
    class Fails(FromSets):
        def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: LogRows) -> int:
            wanted[0, 1] = 4
            raise KeyboardInterrupt

    graph, kept = PAG.from_string("A o-o B; B o-o C"), Scratch()
    with pytest.raises(KeyboardInterrupt):
        orient_in_place(np.array(graph.marks), Fails(graph, {}), (), Skeleton.of(graph.marks), scratch=kept)
    assert not kept.take(3)[0].any()
    assert pickle.loads(pickle.dumps(kept)).take(2)[0].shape == (2, 2)


@given(pag_like(6, symbols=("o-o",)), st.data())
def test_without_selection_no_edge_becomes_undirected(graph: PAG, data: st.DataObject) -> None:
    result = oriented(graph, data.draw(separating_sets(graph)), rules_after_0(selection=False))
    assert set(result.log[:, 0].tolist()) <= {0, 1, 2, 3, 4, 8, 9, 10}
    assert not ((result.marks == naive.TAIL) & (result.marks.T == naive.TAIL)).any()


def test_two_rules_that_disagree_leave_a_circle_and_are_both_told() -> None:
    """R1 after A o-> B wants B --> C, after D o-> C it wants C --> B."""
    graph = PAG.from_string("A o-> B; B o-o C; C <-o D")
    result = oriented(graph, {})
    assert np.array_equal(result.marks, graph.marks)
    told = {(rule, i, j, mark) for rule, i, j, mark, _, _ in result.conflicts.tolist()}
    assert told == {(1, i, j, mark) for i, j in ((1, 2), (2, 1)) for mark in (naive.ARROW, naive.TAIL)}


def test_a_mark_that_stands_stays_and_the_other_one_is_told() -> None:
    """A o-> B with A and C not adjacent wants B --> C, but C is known not to be an effect.

    The tail at B alone would make B --- C, so that B affects selection, which A o-> B excludes.
    """
    graph = PAG.from_string("A o-> B; B o-- C")
    result = oriented(graph, {})
    assert PAG(result.marks, graph.names) == graph
    assert result.conflicts.tolist() == [[1, 1, 2, naive.ARROW, 0, -1], [1, 2, 1, naive.TAIL, 0, -1]]


@pytest.mark.parametrize(
    ("rule", "mag", "pag"),
    [
        (1, "A --> C; B --> C; C --> D", "A o-> C; B o-> C; C --> D"),
        (2, "A --> B; B --> C; B <-> D; C <-> D; E --> D", "A o-> B; B --> C; B <-> D; C <-> D; E o-> D"),
        (3, "A --> B; A --- C; A --> D; B <-> D; C --> D", "A o-o B; A o-o C; A o-> D; B o-> D; C o-> D"),
        (4, "A --> C; A --> D; B --> C; C --> D", "A o-> C; A --> D; B o-> C; C --> D"),
        (5, "A --- B; A --- C; B --- D; C --- D", "A --- B; A --- C; B --- D; C --- D"),
        (6, "A --- B; A --- D; B --- C; C --- D; C --- E", "A --- B; A --- D; B --- C; C --- D; C --o E"),
        (
            7,
            "A --> B; A --- C; C --- D; C --- F; D --- E; E --- F",
            "A --o B; A o-- C; C --- D; C --- F; D --- E; E --- F",
        ),
        (9, "A --- C; A --> D; B --- C; B --> D", "A o-o C; A --> D; B o-o C; B --> D"),
        (
            10,
            "A --- B; A --- C; A --- D; A --> E; B --- D; B --> E; C --- D; C --> E",
            "A o-o B; A o-o C; A o-o D; A --> E; B o-o D; B --> E; C o-o D; C --> E",
        ),
    ],
)
def test_each_rule_is_needed(rule: int, mag: str, pag: str) -> None:
    """Small graphs whose PAG, the marks the whole class shares, the other rules alone do not find.

    R8 has none here: what it orients on graphs this small another rule finds too.
    """
    truth = MAG.from_string(mag)
    members = naive.equivalence_class(truth.marks.tolist())
    assert truth.to_pag() == PAG.from_string(pag) == PAG(naive.common_marks(members), truth.names)
    others = [RULES[number] for number in range(1, 11) if number != rule]
    assert PAG(orient(as_circles(truth.marks), InMag(truth), others).marks, truth.names) != truth.to_pag()


class InMag:
    """Colliders as they are in a MAG."""

    def __init__(self, mag: MAG) -> None:
        self._mag = mag.marks

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: LogRows) -> int:
        return int(kernel.rule_0_in_mag(marks, skeleton.start, skeleton.neighbour, self._mag, wanted, rows))

    def decide(self, paths: Paths) -> tuple[Paths, npt.NDArray[np.bool_]]:
        whole = [[v for v in path if v >= 0] for path in paths.tolist()]
        answers = [not naive.is_collider(self._mag.tolist(), *path[-3:]) for path in whole]
        return paths, np.array(answers, np.bool_)
