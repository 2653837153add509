"""Formats: what goes out comes back, other tools' files are read, and no text makes a reader stumble."""

from __future__ import annotations

import builtins
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anypag import DAG, MAG, PAG, Mark
from anypag.errors import FormatError, ParameterError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.registry import (
    EXTENSIONS,
    FORMATS,
    dumps,
    from_causal_learn,
    from_networkx,
    loads,
    read_graph,
    to_networkx,
    write_graph,
)
from anypag.graphs.marks import EDGE_SYMBOLS, Edge

AWKWARD = (
    "two words",
    "naïve größe 温度",
    'say "hi"',
    "a;b",
    "<script>alert(1)</script>",
    "line\nend",
    "it's",
    "C:\\x",
    "a,b",
    "o->",
    "{x}",
    "node",
    "1.",
    "#1",
    "\ttab",
)
MANY_SYMBOLS = " ".join(EDGE_SYMBOLS).split()
KEEP_KIND = ("json", "dagitty")
READ = [name for name, form in FORMATS.items() if form.parse is not None]

names_anywhere = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
plain_names = st.text("abcxyzµ_019.'<>&\"", min_size=1, max_size=5)


@st.composite
def pags(draw: st.DrawFn, names: st.SearchStrategy[str] = names_anywhere) -> PAG:
    chosen = draw(st.lists(names, min_size=0, max_size=5, unique=True))
    edges = []
    for a, b in combinations(chosen, 2):
        symbol = draw(st.sampled_from(["", *MANY_SYMBOLS]))
        edges += [Edge(a, b, *EDGE_SYMBOLS[symbol])] if symbol else []
    return PAG.from_edges(edges, chosen)


def same(a: MixedGraph, b: MixedGraph) -> bool:
    """The same names, in the same order, and the same marks."""
    return a == b and a.names == b.names and np.array_equal(a.marks, b.marks)


# --- there and back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", READ)
@pytest.mark.parametrize("symbol", EDGE_SYMBOLS)
@pytest.mark.parametrize("names", [("A", "B"), ("B", "A")])
def test_every_edge_in_both_writing_orders(format: str, symbol: str, names: tuple[str, str]) -> None:
    pag = PAG.from_edges([Edge("A", "B", *EDGE_SYMBOLS[symbol])], names)
    assert loads(dumps(pag, format), format) == pag
    assert from_networkx(to_networkx(pag)) == pag


@pytest.mark.parametrize("format", [name for name in READ if name != "tetrad"])
@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_names(format: str, name: str) -> None:
    pag = PAG.from_string("A o-> B; C <-> B; D").relabel({"B": name, "D": f"{name} alone"})
    assert loads(dumps(pag, format), format) == pag
    assert from_networkx(to_networkx(pag)) == pag


@pytest.mark.parametrize("format", READ)
@given(pag=pags(plain_names))
def test_any_graph_with_plain_names_comes_back(format: str, pag: PAG) -> None:
    back = loads(dumps(pag, format), format)
    assert back == pag if format in {"text", "edges"} else same(back, pag)  # the text has names in order of appearance


@pytest.mark.parametrize("format", READ)
@given(pag=pags())
@settings(max_examples=200)
def test_any_graph_comes_back_or_is_refused_with_its_name(format: str, pag: PAG) -> None:
    try:
        text = dumps(pag, format)
    except FormatError as error:
        assert format in {"tetrad", "dagitty"}
        assert any(repr(name) in str(error) for name in pag.names)
        return
    assert loads(text, format) == pag


@given(pag=pags())
def test_networkx_carries_everything(pag: PAG) -> None:
    assert same(from_networkx(to_networkx(pag)), pag)


@pytest.mark.parametrize("format", READ)
@pytest.mark.parametrize(
    "graph",
    [DAG.from_string("A --> B; C"), MAG.from_string("A --> B; B <-> C; D --- E"), PAG.from_string("A --> B")],
    ids=["DAG", "MAG", "PAG"],
)
def test_the_kind_is_kept_where_it_can_be_and_can_be_asked_for(format: str, graph: MixedGraph) -> None:
    text = dumps(graph, format)
    assert loads(text, format, kind=type(graph)) == graph
    assert type(loads(text, format)) is (type(graph) if format in KEEP_KIND else PAG)
    assert np.array_equal(loads(text, format, kind=PAG).marks, graph.marks)
    assert from_networkx(to_networkx(graph)) == graph


def test_a_kind_that_does_not_fit_is_refused() -> None:
    with pytest.raises(FormatError, match="The edges of a DAG are of the kinds --> <--; got A o-> B"):
        loads("A o-> B", "text", kind=DAG)
    with pytest.raises(FormatError, match="A DAG has no cycle; got"):
        loads('dag { "A" -> "B" -> "C" -> "A" }', "dagitty")
    with pytest.raises(FormatError, match="not ancestral"):
        loads('mag { "A" -> "B" "A" <-> "B2" "B" -> "B2" "B2" -- "C" }', "dagitty")


# --- the writing of each format -----------------------------------------------------------------------------

EXAMPLE = PAG.from_string("X1 o-> X2; X2 --> X3; X3 <-> X4; X5 <-- X2; X5 o-- X4; X1 o-o X4; X4 --- X6")


def test_tetrad_text() -> None:
    assert dumps(EXAMPLE, "tetrad") == (
        "Graph Nodes:\nX1;X2;X3;X4;X5;X6\n\nGraph Edges:\n1. X1 o-> X2\n2. X1 o-o X4\n3. X2 --> X3\n"
        "4. X2 --> X5\n5. X3 <-> X4\n6. X4 --o X5\n7. X4 --- X6\n"
    )


def test_caugi_json() -> None:
    document = json.loads(dumps(PAG.from_string("B <-o A; C"), "json"))
    assert document == {
        "$schema": "https://caugi.org/schemas/caugi-v1.schema.json",
        "format": "caugi",
        "version": "1.0.0",
        "graph": {"class": "UNKNOWN", "nodes": ["B", "A", "C"], "edges": [{"from": "A", "to": "B", "edge": "o->"}]},
        "meta": {"tags": ["PAG"]},
    }
    assert json.loads(dumps(DAG.from_string("A --> B"), "json"))["graph"]["class"] == "DAG"


def test_pcalg_csv() -> None:
    assert dumps(PAG.from_string('A o-> "b ""'.replace('""', '\\""')), "pcalg") == (
        '"","A","b """\n"A",0,2\n"b """,1,0\n'
    )


def test_causal_learn_matrix() -> None:
    pag = PAG.from_string("i --> j; j o-> k; k --- l")
    expected = np.array([[0, -1, 0, 0], [1, 0, 2, 0], [0, 1, 0, -1], [0, 0, -1, 0]])
    assert from_causal_learn(expected, ["i", "j", "k", "l"]) == pag
    with pytest.raises(FormatError, match=r"causal-learn codes marks as .* got 3 for 'B' and 'A'"):
        from_causal_learn([[0, 3], [1, 0]], ["A", "B"])


def test_dot() -> None:
    assert dumps(PAG.from_string('A o-> "b\\"c"'), "dot") == (
        'digraph PAG {\n  "A";\n  "b\\"c";\n  "A" -> "b\\"c" [dir=both, arrowtail=odot, arrowhead=normal];\n}\n'
    )


def test_dagitty() -> None:
    lines = dumps(EXAMPLE, "dagitty").splitlines()
    assert (lines[0], lines[-1]) == ("pag {", "}")
    assert lines[7:-1] == [
        '"X1" @-> "X2"',
        '"X1" @-@ "X4"',
        '"X2" -> "X3"',
        '"X2" -> "X5"',
        '"X3" <-> "X4"',
        '"X4" --@ "X5"',
        '"X4" -- "X6"',
    ]


def test_networkx_graphs() -> None:
    made = to_networkx(PAG.from_string("A o-> B"))
    assert dict(made.edges) == {("A", "B"): {"mark": "arrow"}, ("B", "A"): {"mark": "circle"}}
    dag = to_networkx(DAG.from_string("A --> B; C"))
    assert (list(dag.edges), list(dag.nodes), dag.graph) == ([("A", "B")], ["A", "B", "C"], {"kind": "DAG"})


@pytest.mark.parametrize("name", ["two words", "a;b", "a\u2003b", "x\n"])
def test_tetrad_refuses_names_it_would_split(name: str) -> None:
    with pytest.raises(FormatError, match=r"cannot hold a name with a blank or a ';'; got .* graph.relabel"):
        dumps(PAG(np.zeros((1, 1)), [name]), "tetrad")


@pytest.mark.parametrize("format", ["dot", "dagitty"])
@pytest.mark.parametrize("name", ["end\\", 'a\\"b', "a\\\nb"])
def test_dot_refuses_names_its_quoting_cannot_hold(format: str, name: str) -> None:
    with pytest.raises(FormatError, match="cannot hold a name with a backslash at its end"):
        dumps(PAG(np.zeros((1, 1)), [name]), format)


@pytest.mark.parametrize("format", READ)
def test_half_a_surrogate_pair_is_refused_both_ways(format: str) -> None:
    with pytest.raises(FormatError, match="half of a surrogate pair"):
        dumps(PAG(np.zeros((1, 1)), ["\ud800"]), format)
    with pytest.raises(FormatError, match="half of a surrogate pair"):
        loads(dumps(PAG(np.zeros((1, 1)), ["HERE"]), format).replace("HERE", "a\udfff"), format)


def test_an_unknown_format_is_refused_with_the_list() -> None:
    with pytest.raises(ParameterError, match=r"Formats are 'text', 'json', .*; got 'xml'"):
        dumps(EXAMPLE, "xml")


# --- files of other tools -----------------------------------------------------------------------------------


def test_tetrad_flags_probabilities_and_scores_are_passed_over() -> None:
    text = """Graph Nodes:
X1;X2;X3;X4

Graph Edges:
1. X1 o-> X2
2. X2 --> X3 dd nl
3. X4 <-o X3 [X3 o-> X4]:0.9;[no edge]:0.1;

Graph Attributes:
BIC: -123.4
"""
    assert same(loads(text, "tetrad"), PAG.from_string("X1 o-> X2; X2 --> X3; X3 o-> X4"))


def test_what_r_writes_for_amat_pag() -> None:
    text = '"","a b","c"\r\n"a b",0,2\r\n"c",3,0\r\n'
    assert loads(text, "pcalg") == PAG.from_string('"a b" --> c')


def test_dot_is_written_only(tmp_path: Path) -> None:
    write_graph(EXAMPLE, tmp_path / "g.dot")
    with pytest.raises(FormatError, match=r"g\.dot, read as 'dot': 'dot' is written only; \.json, \.csv, .* are read"):
        read_graph(tmp_path / "g.dot")


def test_dagitty_of_other_tools() -> None:
    text = 'dag { bb="0,0,1,1"\n x [exposure,pos="0.1,-2.5"]\n y [outcome]\n u [latent] ; u -> x -> y\n y <- u }'
    assert loads(text, "dagitty") == DAG.from_string("u --> x; x --> y; u --> y")
    assert loads("pag { a @-@ b <-@ c --@ d @-- e <-> f -- g }", "dagitty") == PAG.from_string(
        "a o-o b; b <-o c; c --o d; d o-- e; e <-> f; f --- g"
    )


def test_caugi_documents_without_meta_and_with_reversed_edges() -> None:
    text = """{"format": "caugi", "version": "1.2", "graph": {"class": "AG", "nodes": ["A", "B"],
              "edges": [{"from": "A", "to": "B", "edge": "<-o"}]}, "meta": null}"""
    assert loads(text, "json") == PAG.from_string("B o-> A")


def test_a_plain_digraph_of_networkx_is_a_dag() -> None:
    networkx = pytest.importorskip("networkx")
    assert from_networkx(networkx.DiGraph([("A", "B"), ("B", "C")])) == DAG.from_string("A --> B; B --> C")


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("text", "A o-> B C", "three words"),
        ("text", "A --> A", "An edge joins two different nodes"),
        ("text", "A --> B; B o-> A", "at most one edge"),
        ("json", "{", "The text is no JSON"),
        ("json", "[" * 100_000, "The text is no JSON"),
        ("json", "[1]", r"a JSON object; got \[1\]"),
        ("json", '{"format": "other"}', 'says "format": "caugi"; got \'other\''),
        ("json", '{"format": "caugi", "version": "2.0"}', "Version 1 .* got version '2.0'"),
        ("json", '{"format": "caugi", "version": 1}', "Version 1 .* got version 1"),
        ("json", '{"format": "caugi", "version": "1"}', 'an object under "graph"; got None'),
        ("json", '{"format": "caugi", "version": "1", "graph": {"nodes": {}}}', 'a list under "nodes"'),
        (
            "json",
            '{"format": "caugi", "version": "1", "graph": {"nodes": [1], "edges": []}}',
            "A node is a text; got 1",
        ),
        ("json", '{"format": "caugi", "version": "1", "graph": {"nodes": [], "edges": [1]}}', "An edge is an object"),
        (
            "json",
            '{"format": "caugi", "version": "1", "graph": {"nodes": ["A"], "edges": [{"edge": "->"}]}}',
            "An edge must be one of .*; got '->'",
        ),
        (
            "json",
            '{"format": "caugi", "version": "1", "graph": {"nodes": [], "edges":[{"edge":"-->","from":""}]}}',
            'The "to" of an edge is a text; got None',
        ),
        ("tetrad", "", "begins with 'Graph Nodes:'; got nothing"),
        ("tetrad", "Graph Nodes:\nA;B", "has a section 'Graph Edges:'"),
        ("tetrad", "Graph Nodes:\nA\nB\nGraph Edges:\n", "in one line, separated by ';'; got a second line 'B'"),
        ("tetrad", "Graph Nodes:\nA;B\nGraph Edges:\nA --> B", r"written '1\. A o-> B'; got 'A --> B'"),
        ("tetrad", "Graph Nodes:\nA;B\nGraph Edges:\n1. A -> B", "got '->' in"),
        ("tetrad", "Graph Nodes:\nA;B\nGraph Edges:\n1. A --> B C", "only dd, pd, nl, pl"),
        ("tetrad", "Graph Nodes:\nA;B\nGraph Edges:\n1. A --> C", "names 'C', which is not among 'A', 'B'"),
        ("tetrad", "Graph Nodes:\nA;A\nGraph Edges:\n", "Names must differ; 'A' comes twice"),
        ("pcalg", "", "the text is empty"),
        ("pcalg", '"', "The text is not valid CSV"),
        ("pcalg", ",A,B\nA,0,1\n", "the same names, in the same order, .* row has 'A', 'B', the column has 'A'"),
        ("pcalg", ",A,B\nA,0,1\nB,1", "one cell per name; 'B' has 1, not 2"),
        ("pcalg", ",A,B\nA,0,x\nB,1,0", "Marks must be 0, 1, 2 or 3; got 'x' in the row of 'A'"),
        ("pcalg", ",A,B\nA,0,-1\nB,1,0", "got -1. Is this a matrix of causal-learn"),
        ("pcalg", ",A,B\nA,0,0\nB,1,0", "two marks; the edge of 'B' and 'A' has only one"),
        ("pcalg", ",A,B\nA,1,0\nB,0,0", "No node may have an edge with itself; 'A' has one"),
        ("pcalg", ",A, \nA,0,0\n ,0,0", "Names must not be blank"),
        ("dagitty", "", "dagitty begins with one of pag, mag, dag"),
        ("dagitty", "dag {", "cannot be read from 'its end' on"),
        ("dagitty", "dag { a -> }", "cannot be read from '-> }"),
        ("dagitty", "dag { a -> -> b }", "cannot be read from '-> ->"),
        ("dagitty", "dag { -> b }", "names ''"),
        ("dagitty", "dag { a } b", "cannot be read from '} b"),
        ("dagitty", "dag { a -> {b c} }", "cannot be read from '-> {b"),
        ("dagitty", "dag { a:port -> b }", "cannot be read from ':port"),
        ("dagitty", "dag { <b>x</b> }", "cannot be read from '<b>"),
        ("dagitty", 'dag { "a }', "cannot be read from"),
        ("dagitty", "dag { a -> b [arrowhead", r"cannot be read from '\[arrow"),
        ("dagitty", "tree { }", "dagitty begins with one of pag, mag, dag"),
        ("dagitty", "pag { a @> b }", "cannot be read from '@>"),
    ],
)
def test_bad_text_is_refused_with_a_sentence(format: str, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        loads(text, format)


def test_a_graph_too_large_to_hold_is_refused() -> None:
    for format, text in (("text", "\n".join(map(str, range(20_001)))), ("pcalg", "," * 20_001)):
        with pytest.raises(FormatError, match="up to 20,000 nodes can be read; this one has 20,001"):
            loads(text, format)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((3, 3)), r"of 2 names must have shape \(2, 2\); got \(3, 3\)"),
        ([["a", "b"], ["c", "d"]], "must hold numbers"),
        ([[0, np.nan], [1, 0]], "got nan"),
        ([[0, 4], [1, 0]], "got 4"),
    ],
)
def test_a_bad_matrix_of_causal_learn_is_refused(matrix: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        from_causal_learn(matrix, ["A", "B"])


def test_bad_graphs_of_networkx_are_refused() -> None:
    networkx = pytest.importorskip("networkx")
    cases = [
        (networkx.Graph(), "A networkx.DiGraph is wanted; got a Graph"),
        (networkx.MultiDiGraph(), "got a MultiDiGraph"),
        ("A", "got a str"),
        (networkx.DiGraph([(1, 2)]), r"Nodes are names; got 1\. Use networkx\.relabel_nodes"),
        (networkx.DiGraph([("A", "B", {"mark": "arrow"}), ("B", "C")]), "Either every edge has a mark or none"),
        (networkx.DiGraph([("A", "B", {"mark": "arrow"})]), "but not 'B'→'A'"),
        (networkx.DiGraph([("A", "B", {"mark": 2}), ("B", "A", {"mark": 2})]), "one of circle, arrow, tail; .* has 2"),
        (networkx.DiGraph([("A", "B"), ("B", "A")]), "at most one edge"),
    ]
    for graph, message in cases:
        with pytest.raises(FormatError, match=message):
            from_networkx(graph)


def test_without_networkx_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "networkx":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"install anypag with its extra 'interop'"):
        to_networkx(EXAMPLE)


# --- fuzz ---------------------------------------------------------------------------------------------------

FRAGMENTS = [
    *MANY_SYMBOLS, *AWKWARD, *"0123[]{}=,;AB", "-1", "->", "--", "@->", "/*", "//", '"', "\\", " ", "\n",
    "\x00", "digraph", "pag", "dag", "mag", "label", "dir", "both", "null", "\\ud800", "\ud800",
    "Graph Nodes:", "Graph Edges:", "1. ", '{"format":"caugi","version":"1","graph":', '"nodes":', '"edges":',
]  # fmt: skip


@pytest.mark.parametrize("format", READ)
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)))
@example(text="dag { A -> B -> A }")
@settings(max_examples=300)
def test_random_text_is_a_graph_or_a_format_error(format: str, text: str) -> None:
    try:
        graph = loads(text, format)
    except FormatError as error:
        assert str(error).strip()
    else:
        assert isinstance(graph, MixedGraph)


@pytest.mark.parametrize("format", READ)
@given(pag=pags(plain_names), data=st.data())
@settings(max_examples=300)
def test_damaged_text_is_a_graph_or_a_format_error(format: str, pag: PAG, data: st.DataObject) -> None:
    text = dumps(pag, format)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 5)))
        text = text[:start] + data.draw(st.sampled_from(["", *FRAGMENTS])) + text[end:]
    text = text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text
    try:
        assert isinstance(loads(text, format), MixedGraph)
    except FormatError as error:
        assert str(error).strip()


# --- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_extension_says_the_format(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"graph{extension.upper()}"
    write_graph(EXAMPLE, path)
    assert path.read_text("utf-8") == dumps(EXAMPLE, EXTENSIONS[extension])
    assert EXTENSIONS[extension] not in READ or read_graph(path) == EXAMPLE
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("format", READ)
def test_the_format_can_be_named_and_line_ends_in_names_stay(tmp_path: Path, format: str) -> None:
    graph = EXAMPLE if format == "tetrad" else EXAMPLE.relabel({"X2": "a\r\nb"})
    write_graph(graph, str(tmp_path / "g.xyz"), format=format)
    assert read_graph(tmp_path / "g.xyz", format=format, kind=PAG) == graph


def test_a_txt_file_of_tetrad_is_known_by_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_bytes(b"\xef\xbb\xbf" + dumps(EXAMPLE, "tetrad").replace("\n", "\r\n").encode())
    assert read_graph(tmp_path / "g.txt") == EXAMPLE


def test_an_unknown_extension_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"No format has the extension '\.doc'\. .* \.json \(json\), .* \(\'format\'\)\.$"
    ):
        write_graph(EXAMPLE, tmp_path / "g.doc")
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text("{}")
    with pytest.raises(FormatError, match=r"g\.json, read as 'json': A caugi document says"):
        read_graph(tmp_path / "g.json")
    (tmp_path / "g.dot").write_bytes(b"digraph \xff")
    with pytest.raises(FormatError, match=r"g\.dot is no text in UTF-8: invalid start byte at byte 8"):
        read_graph(tmp_path / "g.dot")


@pytest.mark.parametrize(
    "text",
    ["a,b\n0.5,1\n2,0\n", "a,b\n0,1\n1,0\n", '"","a","b"\n"1",2,3\n"2",3,1\n', "smoke\nyes\nno\n", "a;b\n1,5;2\n"],
)
def test_a_csv_file_of_data_is_called_data(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(FormatError, match=r"^d\.csv looks like data, not a graph: .* anypag learn d\.csv --out graph"):
        read_graph(tmp_path / "d.csv")


def test_a_matrix_with_a_mistake_is_still_called_a_matrix(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(",A,B\nA,0,1\n")
    with pytest.raises(FormatError, match=r"^g\.csv, read as 'pcalg': A matrix must have the same names"):
        read_graph(tmp_path / "g.csv")
    (tmp_path / "g.csv").write_text("marks,A,B\nA,0,2\nB,3,0\n")
    assert read_graph(tmp_path / "g.csv") == PAG.from_string("A --> B")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "g.json"
    write_graph(EXAMPLE, path)
    before = path.read_bytes()
    with pytest.raises(FormatError):
        write_graph(PAG(np.zeros((1, 1)), ["two words"]), path, format="tetrad")

    def full_disk(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_graph(PAG.from_string("A o-o B"), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["g.json"]


def test_marks_are_the_numbers_of_pcalg() -> None:
    assert [mark.value for mark in (Mark.NONE, Mark.CIRCLE, Mark.ARROW, Mark.TAIL)] == [0, 1, 2, 3]
