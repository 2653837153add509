"""Graphs as text: what is written is read back, whatever the names; what cannot be read is refused with a remedy."""

from __future__ import annotations

import json
from itertools import pairwise, permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anypag import DAG, MAG, PAG, Edge, Mark
from anypag.errors import FormatError, GraphError
from anypag.graphs.marks import EDGE_SYMBOLS, edge_symbol
from anypag.graphs.text import parse_graph, quote
from strategies import AWKWARD_NAMES, EVERY_EDGE, awkward_names


@st.composite
def named_graphs(draw: st.DrawFn) -> PAG:
    names = draw(st.lists(awkward_names, max_size=5, unique=True))
    edges = [
        Edge(a, b, *EDGE_SYMBOLS[symbol])
        for k, a in enumerate(names)
        for b in names[k + 1 :]
        if (symbol := draw(st.sampled_from((None, *EVERY_EDGE))))
    ]
    return PAG.from_edges(edges, names)


@given(named_graphs())
def test_a_graph_is_read_back_from_its_text(graph: PAG) -> None:
    assert PAG.from_string(str(graph)) == graph
    assert PAG.from_string(str(graph), graph.names).names == graph.names


@given(named_graphs())
def test_the_repr_holds_the_graph_on_one_line(graph: PAG) -> None:
    shown = repr(graph)
    assert "\n" not in shown
    assert eval(shown.replace("PAG(", "PAG.from_string(", 1)) == graph


@given(awkward_names)
@example("\u2028")
def test_a_name_is_quoted_exactly_if_it_could_be_misread(name: str) -> None:
    assert parse_graph(quote(name)) == ((name,), ())
    assert parse_graph(f"{quote(name)} o-> {quote(name + 'B')}")[0] == (name, name + "B")
    if quote(name) == name:
        assert '"' not in name
        assert not set(name) & set(" \t\n;")
    else:
        assert json.loads(quote(name)) == name


@pytest.mark.parametrize(
    "name", ["A", "x_1", "größe", "温度", "a.b", "it's", "x-y", "f(x)", "a,b", "50%", "C:/x", "-", "é"]
)
def test_ordinary_names_stand_bare(name: str) -> None:
    assert quote(name) == name


def test_all_awkward_names_at_once() -> None:
    graph = PAG.from_edges([Edge(a, b, *EDGE_SYMBOLS["o->"]) for a, b in _pairs(AWKWARD_NAMES)], AWKWARD_NAMES)
    assert PAG.from_string(str(graph)) == graph


def _pairs(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(pairwise(names))


@pytest.mark.parametrize("symbol", EVERY_EDGE)
def test_every_edge_in_both_writing_orders(symbol: str) -> None:
    one = PAG.from_string(f"A {symbol} B")
    edge = one.edge("A", "B")
    assert edge is not None
    assert str(edge) == f"A {symbol} B"
    assert edge.symbol == symbol == edge_symbol(edge.mark_a, edge.mark_b)
    assert one == PAG.from_string(str(edge.reversed()))
    assert edge.reversed().reversed() == edge == one.edges()[0]
    assert one.edge("B", "A") == edge.reversed()


def test_the_marks_of_the_symbols() -> None:
    assert EDGE_SYMBOLS["o->"] == (Mark.CIRCLE, Mark.ARROW)
    assert EDGE_SYMBOLS["<--"] == (Mark.ARROW, Mark.TAIL)
    assert len(set(EDGE_SYMBOLS.values())) == 9
    assert [int(mark) for mark in (Mark.NONE, Mark.CIRCLE, Mark.ARROW, Mark.TAIL)] == [0, 1, 2, 3]


def test_lines_semicolons_blanks_short_arrows_and_lone_names() -> None:
    text = "  A->B ;; \n\n"  # glued: refused below; here with blanks
    graph = DAG.from_string(text.replace("->", " -> ") + "\tC <- B\r\nD\nA\n")
    assert graph == DAG.from_string("A --> B; B --> C; D")
    assert graph.names == ("A", "B", "C", "D")
    assert str(graph) == "A --> B\nB --> C\nD"


def test_the_empty_text_is_the_empty_graph() -> None:
    for kind in (PAG, MAG, DAG):
        assert len(kind.from_string("")) == 0
        assert str(kind.from_string("")) == ""
        assert repr(kind.from_string(" \n;")) == f"{kind.__name__}('')"


def test_names_fix_the_order_and_may_add_nodes() -> None:
    for order in permutations("ABC"):
        graph = PAG.from_string("A o-> B", names=order)
        assert graph.names == order
        assert graph == PAG.from_string("A o-> B; C")


SYMBOLS = " ".join(EDGE_SYMBOLS)
THREE_WORDS = "An edge is written 'A o-> B', three words; got "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A o-> my variable", THREE_WORDS + "'A o-> my variable'. Put a name with blanks in double quotes."),
        ("A B", THREE_WORDS + "'A B'. Put a name with blanks in double quotes."),
        ("A o-> B C o-> D", THREE_WORDS + "'A o-> B C o-> D'. Put a name with blanks in double quotes."),
        ("A => B", f"An edge must be one of {SYMBOLS}; got '=>' in 'A => B'."),
        ("A - B", f"An edge must be one of {SYMBOLS}; got '-' in 'A - B'."),
        ('A "o->" B', f"An edge must be one of {SYMBOLS}; got '\"o->\"' in 'A \"o->\" B'."),
        ("A o-> -->", "A name was wanted; got '-->'. Put a name that looks like an edge in double quotes."),
        ("<->", "A name was wanted; got '<->'. Put a name that looks like an edge in double quotes."),
        (
            "A-->B",
            "'A-->B' is neither a name nor an edge: put blanks around the edge, or put the name in double quotes.",
        ),
        (
            "x<y o-o B",
            "'x<y' is neither a name nor an edge: put blanks around the edge, or put the name in double quotes.",
        ),
        ('"', 'The quoted name " does not end, or holds an escape that JSON does not know.'),
        (r'"\q"', r'The quoted name "\q" does not end, or holds an escape that JSON does not know.'),
        ('A o-> "B', THREE_WORDS + "'A o-> \" B'. Put a name with blanks in double quotes."),
    ],
)
def test_what_is_not_a_graph_is_refused_with_a_remedy(text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        PAG.from_string(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        ("A o-> B; B --> A", None, "There is at most one edge between two nodes; B–A comes twice."),
        ("A o-> A", None, "An edge joins two different nodes; got A–A."),
        ("A o-> B", ["A"], "The edge A–B names 'B', which is not among 'A'."),
        ("A o-> B", ["A", "B", "B"], "Names must differ; 'B' comes twice."),
        ("A o-> B", "AB", "Names come as a list of strings; got the single string 'AB'."),
        ('A o-> "  "', None, "Names must not be blank; got '  ' at position 1."),
    ],
)
def test_edges_that_make_no_graph_are_refused(text: str, names: list[str] | None, message: str) -> None:
    with pytest.raises(GraphError) as error:
        PAG.from_string(text, names)
    assert str(error.value) == message
