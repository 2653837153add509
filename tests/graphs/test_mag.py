"""MAGs: accepted are exactly the maximal ancestral graphs, and a refusal shows the path."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import naive
from anypag import DAG, MAG, PAG, Mark
from anypag._kernels import separation as kernel
from anypag.errors import GraphError, NotMaximalOrAncestralError
from anypag.graphs.base import shortest_path
from strategies import mags, pag_like


@pytest.mark.parametrize(("n", "how_many", "classes"), [(3, 72, 11), (4, 3045, 251)])
def test_the_definition_gives_the_known_number_of_mags_and_classes(n: int, how_many: int, classes: int) -> None:
    assert len(naive.all_mags(n)) == how_many
    assert len(naive.all_classes(n)) == classes


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_accepted_are_exactly_the_maximal_ancestral_graphs(n: int) -> None:
    assert {marks for marks in naive.tables(n, naive.MAG_KINDS) if is_accepted(marks)} == set(naive.all_mags(n))


def is_accepted(marks: naive.Table) -> bool:
    try:
        MAG(marks)
    except NotMaximalOrAncestralError as error:
        assert_shows_why(marks, tuple(int(name[1:]) for name in error.path), str(error))
        return False
    return True


def assert_shows_why(marks: naive.Table, path: tuple[int, ...], message: str) -> None:
    """The path in the error is one of the graph, and is what the message says."""
    assert all(marks[a][b] for a, b in pairwise(path))
    if "an arrowhead points at an end of an undirected edge" in message:
        a, b, c = path
        assert marks[a][b] == naive.ARROW
        assert marks[b][c] == marks[c][b] == naive.TAIL
    elif "a directed cycle" in message:
        assert path[0] == path[-1]
        assert all(naive.is_parent(marks, a, b) for a, b in pairwise(path))
    elif "a node is an ancestor of its spouse" in message:
        *way, last = path
        assert last == path[0]
        assert all(naive.is_parent(marks, a, b) for a, b in pairwise(way))
        assert marks[way[-1]][last] == marks[last][way[-1]] == naive.ARROW
    else:
        assert "is not maximal" in message
        assert not marks[path[0]][path[-1]]
        assert path in naive.inducing_paths(marks, path[0], path[-1])


@given(pag_like(6, symbols=("-->", "<--", "<->", "---")))
def test_random_graphs_are_accepted_exactly_if_they_are_mags(graph: PAG) -> None:
    marks = graph.marks.tolist()
    assert is_accepted(marks) == (naive.is_ancestral(marks) and naive.is_maximal(marks))


@given(pag_like(7, symbols=("-->", "<--", "<->")))
def test_an_inducing_path_is_found_if_there_is_one(graph: PAG) -> None:
    marks, n = graph.marks.tolist(), len(graph)
    found = tuple(kernel.inducing_path(*graph.marked_edges).tolist())
    apart = [(x, y) for x in range(n) for y in range(x + 1, n) if not marks[x][y]]
    every = [path for x, y in apart for path in naive.inducing_paths(marks, x, y)]
    assert found in every if every else found == ()


@given(pag_like(7))
def test_a_directed_path_is_a_shortest_one(graph: PAG) -> None:
    marks, n = graph.marks.tolist(), len(graph)
    steps = (graph.marks == Mark.ARROW) & (graph.marks.T == Mark.TAIL)
    for a, b in ((a, b) for a in range(n) for b in range(n) if a != b):
        every = [
            path
            for path in naive.simple_paths(marks, a, b)
            if all(naive.is_parent(marks, v, w) for v, w in pairwise(path))
        ]
        found = tuple(shortest_path(steps, a, b))
        assert found in every if every else found == ()
        assert len(found) == min(map(len, every), default=0)


@pytest.mark.parametrize(
    ("text", "message", "path"),
    [
        ("A --> B; B --> C; C --> A", "This graph is not ancestral: it has a directed cycle: ", ("A", "B", "C")),
        (
            "A --> B; B --> C; A <-> C",
            "This graph is not ancestral: a node is an ancestor of its spouse: A --> B --> C <-> A.",
            ("A", "B", "C", "A"),
        ),
        (
            "A --> B; B --- C",
            "This graph is not ancestral: an arrowhead points at an end of an undirected edge: A --> B --- C.",
            ("A", "B", "C"),
        ),
        (
            "A <-> B; B --- C",
            "This graph is not ancestral: an arrowhead points at an end of an undirected edge: A <-> B --- C.",
            ("A", "B", "C"),
        ),
        (
            "A <-> B; B <-> C; C <-> D; B --> D; C --> A",
            "This graph is not maximal: nothing separates A and D, which are not adjacent, because of an inducing "
            "path: A <-> B <-> C <-> D.",
            ("A", "B", "C", "D"),
        ),
        (
            '"a b" <-> B; B <-> C; C <-> D; B --> D; C --> "a b"',
            'This graph is not maximal: nothing separates "a b" and D, which are not adjacent, because of an inducing '
            'path: "a b" <-> B <-> C <-> D.',
            ("a b", "B", "C", "D"),
        ),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(text: str, message: str, path: tuple[str, ...]) -> None:
    with pytest.raises(NotMaximalOrAncestralError) as error:
        MAG.from_string(text)
    assert str(error.value).startswith(message)
    assert set(error.value.path) == set(path)
    assert len(error.value.path) == len(path) or error.value.path[0] == error.value.path[-1]


@pytest.mark.parametrize("edge", ["o-o", "o->", "<-o", "o--", "--o"])
def test_a_mag_has_no_circles(edge: str) -> None:
    message = f"^The edges of a MAG are of the kinds --- --> <-- <->; got A {edge} B\\.$"
    with pytest.raises(GraphError, match=message):
        MAG.from_string(f"A {edge} B")


@given(mags(6))
def test_an_induced_subgraph_of_a_mag_is_a_mag(mag: MAG) -> None:
    for v in mag.names:
        rest = [name for name in mag.names if name != v]
        smaller = mag.subgraph(rest)
        assert smaller.names == tuple(rest)
        assert [smaller.edge(a, b) for a in rest for b in rest] == [mag.edge(a, b) for a in rest for b in rest]


def test_a_dag_over_observed_nodes_is_a_mag() -> None:
    dag = DAG.from_string("A --> B; A --> C; B --> D; C --> D")
    mag = MAG(dag.marks, dag.names)
    assert np.array_equal(mag.marks, dag.marks)
    assert mag.edge("D", "B") == ("D", "B", Mark.ARROW, Mark.TAIL)
