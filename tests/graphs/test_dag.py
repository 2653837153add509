"""DAGs: accepted are exactly the acyclic ones, and a refusal shows a cycle."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag import DAG
from anypag.errors import CycleError, GraphError
from strategies import dags


def has_cycle(arrows: set[tuple[int, int]], n: int) -> bool:
    """Does some node reach itself? By joining arrows until nothing new comes."""
    reach = set(arrows)
    while joined := {(a, d) for a, b in reach for c, d in reach if b == c} - reach:
        reach |= joined
    return any((v, v) in reach for v in range(n))


@given(st.integers(1, 6), st.data())
def test_accepted_are_exactly_the_acyclic_graphs(n: int, data: st.DataObject) -> None:
    pairs = list(product(range(n), range(n)))
    arrows = set(data.draw(st.lists(st.sampled_from(pairs), max_size=2 * n)))
    adjacency = np.zeros((n, n), int)
    for i, j in arrows:
        adjacency[i, j] = 1
    if not has_cycle(arrows, n):
        assert np.array_equal(DAG(adjacency).adjacency, adjacency)
        return
    with pytest.raises(CycleError) as error:
        DAG(adjacency)
    path = [int(name[1:]) for name in error.value.path]
    assert path[0] == path[-1]
    assert len(set(path)) == len(path) - 1 >= 1
    assert all(step in arrows for step in pairwise(path))
    assert str(error.value) == f"A DAG has no cycle; got {' --> '.join(error.value.path)}."


def test_a_cycle_of_awkward_names_is_quoted() -> None:
    with pytest.raises(CycleError, match=r'^A DAG has no cycle; got "a b" --> B --> "a b"\.$') as error:
        DAG([[0, 1], [1, 0]], ["a b", "B"])
    assert error.value.path == ("a b", "B", "a b")


def test_a_cycle_is_found_behind_other_nodes_too() -> None:
    with pytest.raises(CycleError) as error:
        DAG.from_string("R --> A; A --> B; B --> C; C --> A; C --> D; D --> E")
    assert set(error.value.path) == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("value", "shown"), [(2, "2"), (-1, "-1"), (0.5, "0.5"), (float("nan"), "nan"), ("1", "'0'"), (None, "None")]
)
def test_an_adjacency_holds_zeros_and_ones(value: Any, shown: str) -> None:
    with pytest.raises(GraphError) as error:
        DAG([[0, value], [0, 0]])
    place = "[0, 0]" if isinstance(value, str) else "[0, 1]"
    assert str(error.value) == f"The adjacency of a DAG holds 0 and 1; got {shown} at {place}."


@pytest.mark.parametrize("edge", ["<->", "---", "o->", "o-o", "<-o", "--o", "o--"])
def test_a_dag_has_arrows_only(edge: str) -> None:
    with pytest.raises(GraphError, match=rf"^The edges of a DAG are of the kinds --> <--; got A {edge} B\.$"):
        DAG.from_string(f"A {edge} B")


def test_truth_values_are_an_adjacency_too() -> None:
    assert DAG(np.array([[False, True], [False, False]])) == DAG([[0, 1], [0, 0]]) == DAG.from_string("X0 --> X1")


@given(dags())
def test_adjacency_and_topological_order(dag: DAG) -> None:
    assert DAG(dag.adjacency, dag.names) == dag
    order = dag.topological_order()
    assert sorted(order) == sorted(dag.names)
    for edge in dag.edges():
        parent, child = (edge.a, edge.b) if dag.adjacency[dag.index(edge.a), dag.index(edge.b)] else (edge.b, edge.a)
        assert order.index(parent) < order.index(child)
