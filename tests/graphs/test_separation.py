"""Separation: on every small MAG and on random graphs it is what enumeration of all paths says."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from anypag import DAG, MAG, PAG, Oracle, Queries, is_separated
from anypag.ci.base import CITest
from anypag.errors import CITestError, GraphError
from anypag.graphs.base import MixedGraph
from anypag.graphs.separation import are_separated
from strategies import System, dags, mags, seeded_mags, systems

CHAIN = DAG.from_string("A --> B; B --> C; C --> D")


def rectangles(n: int) -> list[list[naive.Statement]]:
    """All statements about n nodes, in batches with condition sets of one size."""
    ordered = sorted(naive.statements(n), key=lambda statement: len(statement[2]))
    return [list(batch) for _, batch in groupby(ordered, key=lambda statement: len(statement[2]))]


def batch_of(statements: list[naive.Statement]) -> tuple[list[int], list[int], list[list[int]]]:
    return [x for x, _, _ in statements], [y for _, y, _ in statements], [list(z) for _, _, z in statements]


def model_of(graph: MixedGraph, n: int, always: list[int]) -> frozenset[naive.Statement]:
    """The statements about the first n nodes that the package says hold."""
    answers = [(batch, are_separated(graph, *batch_of(batch), always=always)) for batch in rectangles(n)]
    return frozenset(s for batch, answer in answers for s, holds in zip(batch, answer, strict=True) if holds)


@pytest.mark.parametrize("n", [3, 4])
def test_every_statement_of_every_mag_is_that_of_all_paths(n: int) -> None:
    for marks, model in naive.all_mags(n).items():
        assert model_of(MAG(marks), n, []) == model


@pytest.mark.parametrize("n", [3, 4])
def test_a_mag_separates_what_its_canonical_dag_separates(n: int) -> None:
    for marks, model in naive.all_mags(n).items():
        dag, _, selection = naive.canonical_dag(marks)
        assert model_of(dag_of(dag), n, selection) == model


def dag_of(marks: naive.Table) -> DAG:
    return DAG(np.array(marks) == naive.ARROW)


@given(dags() | mags(8) | seeded_mags(), st.data())
def test_random_graphs_separate_what_all_paths_say(graph: MixedGraph, data: st.DataObject) -> None:
    x, y, *z = data.draw(st.permutations(range(len(graph))))
    z = z[: data.draw(st.integers(0, len(z)))]
    expected = naive.is_separated(graph.marks.tolist(), x, y, z)
    assert is_separated(graph, x, y, z) == expected
    assert is_separated(graph, graph.names[y], graph.names[x], [graph.names[v] for v in z]) == expected


@given(systems(7))
def test_an_oracle_answers_about_observed_nodes_given_selection(system: System) -> None:
    dag, latent, selection = system
    oracle = Oracle(dag, latent, selection)
    observed = [v for v in range(len(dag)) if v not in latent and v not in selection]
    assert oracle.names == tuple(dag.names[v] for v in observed)
    table = dag.marks.tolist()
    for batch in rectangles(len(observed)):
        expected = [
            naive.is_separated(table, observed[x], observed[y], [*(observed[v] for v in z), *selection])
            for x, y, z in batch
        ]
        assert oracle.pvalues(Queries(*batch_of(batch))).tolist() == expected


def test_an_oracle_is_an_exact_test_and_reads_a_mag_too() -> None:
    oracle = Oracle(MAG.from_string("A <-> B; B <-> C"), latent=["B"])
    assert isinstance(oracle, CITest)
    assert oracle.exact
    answer = oracle.pvalues(Queries.one(0, 1))
    assert answer.dtype == np.float64
    assert answer.tolist() == [1.0]


def test_one_answer_does_not_depend_on_the_batch_it_is_in() -> None:
    graph = DAG.from_string("A --> C; B --> C; C --> D; D --> E", list("ABCDE"))
    batch = [(0, 1, [3]), (0, 1, [4]), (0, 3, [2]), (1, 0, [2]), (4, 0, [3])]
    x, y, z = ([question[k] for question in batch] for k in range(3))
    singly = [is_separated(graph, *question) for question in batch]
    assert are_separated(graph, x, y, z).tolist() == singly == [False, False, True, False, True]


def test_a_batch_may_be_empty_and_a_set_may_name_a_node_twice() -> None:
    assert are_separated(CHAIN, [], [], np.empty((0, 2))).tolist() == []
    assert is_separated(CHAIN, "A", "C", ["B", "B"])
    assert are_separated(CHAIN, [0], [2], [[1]], always=[1]).tolist() == [True]


NOT_APART = "x and y must be two nodes outside the condition set; got x = "


@pytest.mark.parametrize(
    ("x", "y", "z", "message"),
    [
        ("A", "A", (), NOT_APART + "'A', y = 'A', z = []."),
        ("A", "B", ["A"], NOT_APART + "'A', y = 'B', z = ['A']."),
        (0, 1, [2, 1], NOT_APART + "'A', y = 'B', z = ['C', 'B']."),
        ("A", "C", "B", "The nodes of the condition set come as a list; got 'B'. Write ['B'] for a single node."),
        ("A", "C", 1, "The nodes of the condition set come as a list; got 1. Write [1] for a single node."),
        ("Q", "C", (), "There is no node 'Q'; the nodes are 'A', 'B', 'C', 'D'."),
        ("A", "C", ["b"], "There is no node 'b'; did you mean 'B'?"),
        (0, 4, (), "Indices go from 0 to 3; got 4."),
        (0, 1, [-1], "Indices go from 0 to 3; got -1."),
        (0, 1.0, (), "A node is given by its name or its index; got 1.0."),
        (True, 2, (), "A node is given by its name or its index; got True."),
    ],
)
def test_what_is_not_a_question_is_refused(x: Any, y: Any, z: Any, message: str) -> None:
    with pytest.raises(GraphError) as error:
        is_separated(CHAIN, x, y, z)
    assert str(error.value) == message


def test_a_pag_has_no_separations_of_its_own() -> None:
    pag = PAG.from_string("A o-o B; B o-o C")
    with pytest.raises(GraphError, match=r"^A PAG stands for many MAGs: ask one of them, `pag.to_mag\(\)`\.$"):
        is_separated(pag, "A", "C")
    assert is_separated(pag.to_mag(), "A", "C", ["B"])


SHAPES = r"A batch is x \(b,\), y \(b,\), z \(b, r\) and always \(s,\); got "


@pytest.mark.parametrize(
    ("x", "y", "z", "always", "message"),
    [
        ([0], [99], [[]], [], "Indices go from 0 to 3; got 99."),
        ([0, 0], [1, 2], [[3], [-1]], [], "Indices go from 0 to 3; got -1."),
        ([0], [1], [[2]], [4], "Indices go from 0 to 3; got 4."),
        ([0], [1], [[2]], [1], NOT_APART + r"'A', y = 'B', z = \['C', 'B'\]"),
        ([0], [1, 2], [[]], [], SHAPES + r"\(1,\), \(2,\), \(1, 0\), \(0,\)"),
        ([0], [2], [1], [], SHAPES + r"\(1,\), \(1,\), \(1,\), \(0,\)"),
        ([0], [2], [[1], [3]], [], SHAPES + r"\(1,\), \(1,\), \(2, 1\), \(0,\)"),
        ([0], [2], [[1]], [[3]], SHAPES + r"\(1,\), \(1,\), \(1, 1\), \(1, 1\)"),
    ],
)
def test_a_batch_that_is_none_is_refused(x: Any, y: Any, z: Any, always: Any, message: str) -> None:
    with pytest.raises(GraphError, match="^" + message):
        are_separated(CHAIN, x, y, z, always=always)


@pytest.mark.parametrize("queries", [Queries([0], [2], [[]]), Queries([0], [-1], [[]]), Queries([0], [1], [[7]])])
def test_an_oracle_is_asked_about_its_own_variables(queries: Queries) -> None:
    oracle = Oracle(CHAIN, latent=["B"], selection=["D"])
    message = "^Indices go from 0 to 1, one for each of the 2 observed nodes; the queries hold others.$"
    with pytest.raises(CITestError, match=message):
        oracle.pvalues(queries)


def test_an_oracle_knows_no_pag_and_no_node_in_two_roles() -> None:
    with pytest.raises(CITestError, match=r"^An oracle reads a DAG or a MAG; got a PAG\.$"):
        Oracle(PAG.from_string("A o-o B"))
    message = "^A node is latent or a selection node, not both; 'B' is given as both.$"
    with pytest.raises(GraphError, match=message):
        Oracle(CHAIN, latent=["B"], selection=[1])
