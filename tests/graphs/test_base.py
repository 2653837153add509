"""What all graphs share: checks at the door, equality, queries, and that they never change."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from anypag import DAG, MAG, PAG, Edge, Mark
from anypag.errors import AnypagError, GraphError
from anypag.graphs.base import MixedGraph
from strategies import dags, mags, pag_like, seeded_mags

PAIR = [[0, 2], [1, 0]]  # X0 o-> X1
graphs = pag_like(6) | mags(5) | dags(6)


def message_of(make: Any, *args: Any) -> str:
    with pytest.raises(GraphError) as error:
        make(*args)
    assert isinstance(error.value, AnypagError)
    assert isinstance(error.value, ValueError)
    return str(error.value)


# --- checks at the door --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [PAG, MAG, DAG])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([0, 1], "A graph is a square matrix; got one of shape (2,)."),
        ([[0, 1, 0], [0, 0, 0]], "A graph is a square matrix; got one of shape (2, 3)."),
        (np.zeros((2, 2, 2)), "A graph is a square matrix; got one of shape (2, 2, 2)."),
        (3, "A graph is a square matrix; got one of shape ()."),
        ([[0, 1], [1]], "A graph is a square matrix; got rows of different lengths."),
    ],
)
def test_a_graph_is_a_square_matrix(kind: type[MixedGraph], matrix: Any, message: str) -> None:
    assert message_of(kind, matrix) == message


VALUES = "Marks are 0 (none), 1 (circle), 2 (arrow) or 3 (tail); got "


@pytest.mark.parametrize("kind", [PAG, MAG])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 4], [1, 0]], VALUES + "4 at [0, 1]."),
        ([[0, 2], [-1, 0]], VALUES + "-1 at [1, 0]."),
        ([[0, 1.5], [1, 0]], VALUES + "1.5 at [0, 1]."),
        ([[0, float("nan")], [1, 0]], VALUES + "nan at [0, 1]."),
        ([["0", "1"], ["1", "0"]], VALUES + "'0' at [0, 0]."),
        ([[0, None], [1, 0]], VALUES + "None at [0, 1]."),
        ([[0, {}], [1, 0]], VALUES + "{} at [0, 1]."),
        ([[0, 258], [1, 0]], VALUES + "258 at [0, 1]."),
        ([[0, 0], [0, 3]], "No node may have an edge with itself; marks[1, 1] is not 0."),
        (
            [[0, 2], [0, 0]],
            "Every edge needs a mark at both ends; the edge X0–X1 has one at X1 (marks[0, 1] = 2) "
            "and none at X0 (marks[1, 0] = 0).",
        ),
    ],
)
def test_marks_are_checked(kind: type[MixedGraph], matrix: Any, message: str) -> None:
    assert message_of(kind, matrix) == message


@pytest.mark.parametrize("kind", [PAG, MAG, DAG])
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["A"], "There must be one name per node: 2 nodes, 1 names."),
        (["A", "B", "C"], "There must be one name per node: 2 nodes, 3 names."),
        (["A", "A"], "Names must differ; 'A' comes twice."),
        (["A", ""], "Names must not be blank; got '' at position 1."),
        ([" \t", "B"], "Names must not be blank; got ' \\t' at position 0."),
        (["A", 1], "Names must be strings; got 1 at position 1."),
        (["A", None], "Names must be strings; got None at position 1."),
        ("AB", "Names come as a list of strings; got the single string 'AB'."),
    ],
)
def test_names_are_checked(kind: type[MixedGraph], names: Any, message: str) -> None:
    assert message_of(kind, np.zeros((2, 2)), names) == message


def test_numbers_of_any_type_are_taken() -> None:
    expected = PAG(PAIR)
    for dtype in (np.int8, np.int64, np.float32, object):
        assert PAG(np.array(PAIR, dtype)) == expected
    assert PAG([[Mark.NONE, Mark.ARROW], [Mark.CIRCLE, Mark.NONE]]) == expected
    assert expected.names == ("X0", "X1")
    assert expected.marks.dtype == np.uint8
    assert PAG(PAIR, list(np.array(["a", "b"]))).names == ("a", "b")


@pytest.mark.parametrize(
    ("mark_a", "mark_b", "shown"),
    [
        (Mark.NONE, Mark.ARROW, "<Mark.NONE: 0> and <Mark.ARROW: 2>"),
        (Mark.NONE, Mark.NONE, "<Mark.NONE: 0> and <Mark.NONE: 0>"),
        (Mark.TAIL, 7, "<Mark.TAIL: 3> and 7"),
    ],
)
@pytest.mark.parametrize("kind", [PAG, MAG, DAG])
def test_an_edge_has_a_mark_at_each_end(kind: type[MixedGraph], mark_a: Any, mark_b: Any, shown: str) -> None:
    message = message_of(kind.from_edges, [Edge("A", "B", mark_a, mark_b)], ["A", "B"])
    assert message == f"An edge has a circle, an arrowhead or a tail at each end; A–B has {shown}."


# --- equality, hashing, copies -------------------------------------------------------------------------------------


@given(graphs, st.data())
def test_the_order_of_the_nodes_does_not_matter(graph: MixedGraph, data: st.DataObject) -> None:
    turned = graph.subgraph(data.draw(st.permutations(graph.names)))
    assert turned == graph
    assert hash(turned) == hash(graph)
    assert {graph: 1}[turned] == 1


@given(pag_like(4), pag_like(4))
def test_graphs_are_equal_exactly_if_their_edges_are(one: PAG, other: PAG) -> None:
    def said(graph: PAG) -> tuple[set[str], set[Edge]]:
        return set(graph.names), {e for edge in graph.edges() for e in (edge, edge.reversed())}

    assert (one == other) == (said(one) == said(other))


def test_kinds_and_names_count() -> None:
    text = "A --> B"
    assert DAG.from_string(text) != MAG.from_string(text)
    assert MAG.from_string(text) != PAG.from_string(text)
    assert len({DAG.from_string(text), MAG.from_string(text), PAG.from_string(text)}) == 3
    assert PAG.from_string(text) != PAG.from_string("A --> C")
    assert PAG.from_string(text) != PAG.from_string("A --> B; C")
    assert PAG.from_string(text) != text
    assert PAG.from_string("A; B") != PAG.from_string("B; C")


@given(graphs)
def test_copies_and_pickles_are_equal_and_as_immutable(graph: MixedGraph) -> None:
    for twin in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert type(twin) is type(graph)
        assert twin == graph
        assert twin.names == graph.names
        assert np.array_equal(twin.marks, graph.marks)
        assert not twin.marks.flags.writeable


def test_a_graph_does_not_change() -> None:
    mine = np.array(PAIR)
    graph = PAG(mine)
    mine[0, 1] = 3
    assert graph == PAG(PAIR)
    with pytest.raises(ValueError, match="read-only"):
        graph.marks[0, 1] = 3
    for attribute in ("marks", "names", "anything"):
        with pytest.raises(AttributeError):
            setattr(graph, attribute, None)


# --- queries -------------------------------------------------------------------------------------------------------


@given(graphs | seeded_mags(6))
def test_relations_are_those_of_the_paths(graph: MixedGraph) -> None:
    marks = graph.marks.tolist()
    for v, name in enumerate(graph.names):
        assert graph.neighbours(name) == named(graph, naive.neighbours(marks, v))
        assert graph.parents(name) == named(graph, [w for w in range(len(graph)) if naive.is_parent(marks, w, v)])
        assert graph.children(v) == named(graph, [w for w in range(len(graph)) if naive.is_parent(marks, v, w)])
        assert graph.ancestors(name) == named(graph, sorted(naive.ancestors(marks, [v])))
        assert graph.possible_ancestors(v) == named(graph, sorted(naive.possible_ancestors(marks, v)))
        below = [w for w in range(len(graph)) if v in naive.ancestors(marks, [w])]
        assert graph.descendants(name) == named(graph, below)


def named(graph: MixedGraph, nodes: list[int]) -> tuple[str, ...]:
    return tuple(graph.names[v] for v in nodes)


def test_several_nodes_have_the_ancestors_of_each() -> None:
    graph = DAG.from_string("A --> B; C --> D; E")
    assert graph.ancestors("B", "D") == ("A", "B", "C", "D")
    assert graph.descendants("A", 2) == ("A", "B", "C", "D")
    assert graph.possible_ancestors("B", "E") == ("A", "B", "E")
    assert graph.ancestors() == ()


@given(graphs)
def test_edges_and_lists_say_what_the_matrix_says(graph: MixedGraph) -> None:
    assert type(graph).from_edges(graph.edges(), graph.names) == graph
    assert type(graph).from_edges([edge.reversed() for edge in graph.edges()], graph.names) == graph
    start, neighbour, near, far = graph.marked_edges
    for v in range(len(graph)):
        mine = slice(start[v], start[v + 1])
        assert neighbour[mine].tolist() == naive.neighbours(graph.marks.tolist(), v)
        assert near[mine].tolist() == [graph.marks[w, v] for w in neighbour[mine]]
        assert far[mine].tolist() == [graph.marks[v, w] for w in neighbour[mine]]
    assert len(graph) == len(graph.names) == len(graph.marks)


def test_an_edge_is_asked_for_by_name_or_index() -> None:
    graph = PAG.from_string("A o-> B; C")
    assert graph.edge("B", 0) == Edge("B", "A", Mark.ARROW, Mark.CIRCLE)
    assert graph.edge("A", "C") is None
    assert graph.is_adjacent(0, "B")
    assert not graph.is_adjacent("A", "A")
    assert graph.index(np.arange(3)[2]) == graph.index("C") == 2


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("D", "There is no node 'D'; the nodes are 'A', 'B', 'C'."),
        (3, "Indices go from 0 to 2; got 3."),
        (-1, "Indices go from 0 to 2; got -1."),
        (True, "A node is given by its name or its index; got True."),
        (1.0, "A node is given by its name or its index; got 1.0."),
        (None, "A node is given by its name or its index; got None."),
    ],
)
def test_an_unknown_node_is_refused_everywhere(node: Any, message: str) -> None:
    graph = PAG.from_string("A o-> B; C")
    asking = (graph.index, graph.neighbours, graph.parents, graph.children, graph.ancestors, graph.descendants)
    for method in (*asking, graph.possible_ancestors):
        assert message_of(method, node) == message
    assert message_of(graph.edge, "A", node) == message
    assert message_of(graph.is_adjacent, node, 0) == message
    assert message_of(graph.subgraph, [0, node]) == message


def test_a_long_list_of_nodes_is_cut_in_a_message() -> None:
    message = message_of(PAG(np.zeros((100, 100))).index, "Q")
    assert message.endswith("'X10', 'X11', … (100 in all).")


# --- making others -------------------------------------------------------------------------------------------------


@given(graphs, st.data())
def test_a_subgraph_has_the_edges_between_its_nodes(graph: MixedGraph, data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.sampled_from(graph.names), unique=True))
    small = graph.subgraph(keep)
    assert type(small) is type(graph)
    assert small.names == tuple(keep)
    assert all(small.edge(a, b) == graph.edge(a, b) for a in keep for b in keep)


def test_the_nodes_of_a_subgraph_are_a_list_without_repeats() -> None:
    graph = PAG.from_string("A o-> B; C")
    expected = "The nodes of a subgraph come as a list; got 'AB'. Write ['AB'] for a single node."
    assert message_of(graph.subgraph, "AB") == expected
    assert message_of(graph.subgraph, [0, "A"]) == "Names must differ; 'A' comes twice."


@given(graphs)
def test_relabelling_changes_names_and_nothing_else(graph: MixedGraph) -> None:
    new = graph.relabel(lambda name: f"{name} {name}")
    assert new.names == tuple(f"{name} {name}" for name in graph.names)
    assert np.array_equal(new.marks, graph.marks)
    assert new.relabel({f"{name} {name}": name for name in graph.names}) == graph
    assert graph.relabel({}) == graph


def test_relabelling_some_swapping_and_by_index() -> None:
    graph = DAG.from_string("A --> B; B --> C")
    assert graph.relabel({"A": "Z"}) == DAG.from_string("Z --> B; B --> C")
    assert graph.relabel({"A": "B", "B": "A"}) == DAG.from_string("B --> A; A --> C")
    assert graph.relabel({0: "Z"}) == graph.relabel({"A": "Z"})


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"Q": "Z"}, "There is no node 'Q'; the nodes are 'A', 'B'."),
        ({2: "Z"}, "Indices go from 0 to 1; got 2."),
        ({"A": "B"}, "Names must differ; 'B' comes twice."),
        ({"A": " "}, "Names must not be blank; got ' ' at position 0."),
        (len, "Names must be strings; got 1 at position 0."),
    ],
)
def test_relabelling_is_checked(names: Any, message: str) -> None:
    assert message_of(DAG.from_string("A --> B").relabel, names) == message
