"""Metrics: the counts equal a count edge by edge, and the conventions hold."""

from __future__ import annotations

from itertools import combinations
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag import DAG, PAG, Mark
from anypag.errors import GraphError
from anypag.graphs.base import MixedGraph
from anypag.metrics import Agreement, Comparison, Difference, compare, differences

NAMES = ("A", "B", "C", "D", "E")
EDGES = ("o-o", "o->", "<-o", "-->", "<--", "<->", "---", "o--", "--o")


@st.composite
def pags(draw: st.DrawFn) -> PAG:
    """Any PAG over A to E, its nodes in any order."""
    lines = []
    for a, b in combinations(NAMES, 2):
        symbol = draw(st.sampled_from((None, None, *EDGES)))
        lines += [f"{a} {symbol} {b}"] if symbol else []
    return PAG.from_string("\n".join(lines), draw(st.permutations(NAMES)))


def ends(graph: PAG, mark: Mark) -> set[tuple[str, str]]:
    """The ends that carry a mark: (other node, node it stands at)."""
    edges = [e for edge in graph.edges() for e in (edge, edge.reversed())]
    return {(edge.a, edge.b) for edge in edges if edge.mark_b == mark}


def naive(learned: PAG, truth: PAG) -> Comparison:
    """The same, one pair of nodes at a time."""
    extra = missing = wrong = shd = 0
    for a, b in combinations(NAMES, 2):
        mine, right = learned.edge(a, b), truth.edge(a, b)
        extra += mine is not None and right is None
        missing += mine is None and right is not None
        shd += mine != right
        if mine and right:
            wrong += (mine.mark_a != right.mark_a) + (mine.mark_b != right.mark_b)
    pairs = [{frozenset((e.a, e.b)) for e in graph.edges()} for graph in (learned, truth)]
    heads = [ends(graph, Mark.ARROW) for graph in (learned, truth)]
    tails = [ends(graph, Mark.TAIL) for graph in (learned, truth)]
    one, two, three = (Agreement(len(mine & right), len(mine), len(right)) for mine, right in (pairs, heads, tails))
    return Comparison(extra, missing, wrong, shd, one, two, three, naive_differences(learned, truth))


def naive_differences(first: PAG, second: PAG) -> tuple[Difference, ...]:
    """The edges of each pair, where they are not the same."""
    pairs = combinations(second.names, 2)
    edges = [(a, b, first.edge(a, b), second.edge(a, b)) for a, b in pairs]
    return tuple(
        Difference(a, b, mine.symbol if mine else "", other.symbol if other else "")
        for a, b, mine, other in edges
        if mine != other
    )


@given(pags(), pags())
def test_the_counts_are_those_of_a_walk_over_all_pairs(learned: PAG, truth: PAG) -> None:
    assert compare(learned, truth) == naive(learned, truth)


@given(pags(), pags(), st.permutations(NAMES))
def test_the_order_of_the_names_does_not_matter(learned: PAG, truth: PAG, order: list[str]) -> None:
    assert compare(learned.subgraph(order), truth) == compare(learned, truth)


@given(pags(), pags())
def test_turning_the_question_round_swaps_extra_with_missing_and_precision_with_recall(a: PAG, b: PAG) -> None:
    there, back = compare(a, b), compare(b, a)
    assert (there.extra_edges, there.wrong_marks, there.shd) == (back.missing_edges, back.wrong_marks, back.shd)
    assert there.arrowheads.precision == back.arrowheads.recall
    assert there.tails.f1 == back.tails.f1


@given(pags())
def test_a_graph_compared_with_itself_is_perfect(graph: PAG) -> None:
    found = compare(graph, graph)
    assert found.errors == found.shd == 0
    assert all(value == 1 for name, value in found.as_dict().items() if name.endswith(("precision", "recall", "f1")))


def test_shd_counts_a_pair_once_and_wrong_marks_count_ends() -> None:
    found = compare(PAG.from_string("A o-o B"), PAG.from_string("A --> B"))
    assert (found.shd, found.wrong_marks, found.errors) == (1, 2, 2)


def test_nothing_of_nothing_is_one_and_something_missed_is_zero() -> None:
    assert (Agreement(0, 0, 0).precision, Agreement(0, 0, 0).recall, Agreement(0, 0, 0).f1) == (1, 1, 1)
    assert (Agreement(0, 0, 3).precision, Agreement(0, 0, 3).recall, Agreement(0, 0, 3).f1) == (1, 0, 0)
    assert (Agreement(0, 3, 0).precision, Agreement(0, 3, 0).recall, Agreement(0, 3, 0).f1) == (0, 1, 0)


@pytest.mark.parametrize("score", [Agreement(1, 2, 4), Agreement(3, 3, 4), Agreement(2, 5, 2)])
def test_f1_is_the_harmonic_mean(score: Agreement) -> None:
    p, r = score.precision, score.recall
    assert score.f1 == pytest.approx(2 * p * r / (p + r))


def test_a_dag_may_be_compared_with_a_pag() -> None:
    assert compare(PAG.from_string("A --> B"), DAG.from_string("A --> B")).errors == 0


def test_the_table_is_aligned_and_holds_every_number() -> None:
    text = str(compare(PAG.from_string("A o-> B; C"), PAG.from_string("A --> B; B --> C")))
    text = text.partition("\n\nEdges that differ:")[0]
    table = text.splitlines()[5:]
    assert len({len(line) for line in table}) == 1
    assert [line.split() for line in text.splitlines()] == [
        ["extra", "edges", "0"],
        ["missing", "edges", "1"],
        ["wrong", "marks", "1"],
        ["SHD", "2"],
        [],
        ["precision", "recall", "F1"],
        ["adjacencies", "1.000", "0.500", "0.667"],
        ["arrowheads", "1.000", "0.500", "0.667"],
        ["tails", "1.000", "0.000", "0.000"],
    ]


def test_other_names_are_refused_with_both_sides_named() -> None:
    with pytest.raises(GraphError, match=r"only the learned graph has: 'X'; names that only the true one has: none\."):
        compare(PAG.from_string("A o-o B; X"), PAG.from_string("A o-o B"))
    with pytest.raises(GraphError, match=r"'N0', 'N1', 'N2', 'N3', 'N4', 'N5', … \(8 in all\)"):
        compare(PAG(np.zeros((8, 8)), [f"N{i}" for i in range(8)]), PAG.from_string("A"))


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(GraphError, match=r"A graph is wanted: a PAG, MAG or DAG, .*; got str"):
        compare(cast(MixedGraph, "A o-> B"), PAG.from_string("A o-> B"))


@given(pags(), pags())
def test_differences_of_two_graphs_are_those_of_every_pair(first: PAG, second: PAG) -> None:
    ours = differences(first, second)
    assert set(ours) == {
        Difference(a, b, mine.symbol if mine else "", other.symbol if other else "")
        for a, b in combinations(first.names, 2)
        for mine, other in [(first.edge(a, b), second.edge(a, b))]
        if mine != other
    }
    assert bool(ours) == (first != second)
    assert len(differences(second, first)) == len(ours)
