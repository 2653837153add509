"""The table of formats: reads and writes graphs in a named format, and converts graph objects of other tools.

In networkx (extra `interop`) a DAG is a plain `DiGraph`, which networkx's functions for DAGs accept. In the
`DiGraph` of a PAG or MAG every edge exists in both directions, and the attribute `mark` of a→b ("circle", "arrow" or
"tail") is the mark **at b**. `graph.graph["kind"]` is "PAG", "MAG" or "DAG".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from anypag.errors import FormatError, GraphError, MissingExtraError, Option, ParameterError
from anypag.files import write_whole
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import KINDS, Parsed, build, check_encodable, tables, texts
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.pag import DAG
from anypag.graphs.text import parse_graph

AnyKind = TypeVar("AnyKind", bound=MixedGraph)


@dataclass(frozen=True)
class Format:
    """A graph format: its reader (None if there is none), its writer, and the endings of its files."""

    parse: Callable[[str], Parsed] | None
    dump: Callable[[MixedGraph], str]
    extensions: tuple[str, ...]


FORMATS: dict[str, Format] = {
    "text": Format(lambda text: Parsed(*parse_graph(text)), lambda graph: f"{graph}\n", (".txt", ".pag")),
    "json": Format(texts.parse_caugi, texts.dump_caugi, (".json",)),
    "tetrad": Format(texts.parse_tetrad, texts.dump_tetrad, (".tetrad",)),
    "edges": Format(tables.parse_edges, tables.dump_edges, (".csv",)),
    "pcalg": Format(tables.parse_pcalg, tables.dump_pcalg, ()),
    "dot": Format(None, texts.dump_dot, (".dot", ".gv")),
    "dagitty": Format(texts.parse_dagitty, texts.dump_dagitty, (".dagitty",)),
}
EXTENSIONS: dict[str, str] = {end: name for name, form in FORMATS.items() for end in form.extensions}
_MARKS = {mark.name.lower(): mark for mark in (Mark.CIRCLE, Mark.ARROW, Mark.TAIL)}


def dumps(graph: MixedGraph, format: str) -> str:
    """The graph as text.

    Args:
        graph: the graph.
        format: "text", "json", "tetrad", "edges", "pcalg", "dot" or "dagitty".

    Raises:
        FormatError: the format cannot hold one of the names.

    >>> from anypag import PAG
    >>> print(dumps(PAG.from_string("A o-> B"), "dagitty"))
    pag {
    "A"
    "B"
    "A" @-> "B"
    }
    <BLANKLINE>
    """
    check_encodable(graph.names)
    return _format(format).dump(graph)


@overload
def loads(text: str, format: str, *, kind: type[AnyKind]) -> AnyKind: ...
@overload
def loads(text: str, format: str, *, kind: None = None) -> MixedGraph: ...
def loads(text: str, format: str, *, kind: type[MixedGraph] | None = None) -> MixedGraph:
    """The graph that a text holds.

    Args:
        text: the text.
        format: see `dumps`.
        kind: `PAG`, `MAG` or `DAG`; if left out, the kind that the text names ("json" and "dagitty" do), else `PAG`.

    Raises:
        FormatError: the text holds no such graph; the message says what is wrong.

    >>> print(loads("A --> B; B --> C", "text"))
    A --> B
    B --> C
    """
    parse = _format(format).parse
    if parse is None:
        raise FormatError(f"{format!r} is written only; .json, .csv, .dagitty, .tetrad, .txt and .pag files are read.")
    return build(parse(text), kind)


def from_causal_learn(
    matrix_of_marks: npt.ArrayLike, names: Sequence[str], *, kind: type[MixedGraph] | None = None
) -> MixedGraph:
    """The graph in causal-learn's `GeneralGraph.graph`; a `PAG` unless another kind is asked for.

    >>> print(from_causal_learn([[0, 2], [1, 0]], ["A", "B"]))
    A o-> B
    """
    return build(tables.parse_causal_learn_matrix(matrix_of_marks, names), kind)


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ParameterError(f"Formats are {', '.join(map(repr, FORMATS))}; got {name!r}.")
    return FORMATS[name]


def format_of(extension: str) -> str:
    """The name of the format of files with this extension (such as `.json`)."""
    if extension.lower() not in EXTENSIONS:
        known = ", ".join(f"{end} ({name})" for end, name in EXTENSIONS.items())
        raise FormatError(
            f"No format has the extension {extension!r}. Known extensions: {known}. Or name the format "
            f"({Option('format')})."
        )
    return EXTENSIONS[extension.lower()]


@overload
def read_graph(path: str | os.PathLike[str], *, format: str | None = None, kind: type[AnyKind]) -> AnyKind: ...
@overload
def read_graph(path: str | os.PathLike[str], *, format: str | None = None, kind: None = None) -> MixedGraph: ...
def read_graph(
    path: str | os.PathLike[str], *, format: str | None = None, kind: type[MixedGraph] | None = None
) -> MixedGraph:
    """The graph in a file (UTF-8).

    Args:
        path: the file.
        format: see `dumps`; if left out, the extension determines it. A .txt file that begins like a Tetrad file is
            read as "tetrad", and a .csv file that is no edge table is read as "pcalg".
        kind: `PAG`, `MAG` or `DAG`; see `loads`.

    Raises:
        FormatError: the file holds no such graph; the message names the file and says what is wrong.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name} is no text in UTF-8: {error.reason} at byte {error.start}.") from None
    named = format or _format_of_file(path, text)
    try:
        return loads(text, named, kind=kind)
    except FormatError as error:
        raise FormatError(f"{path.name}, read as {named!r}: {error}") from error


def write_graph(graph: Any, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a graph to a file, whole or not at all. An older file stays until the new one is complete.

    Args:
        graph: the graph; see `as_graph` for the objects that can stand for one.
        path: the file.
        format: see `dumps`; if left out, the extension determines it.

    Raises:
        FormatError: the format cannot hold one of the names, or the extension is unknown.
    """
    path, format = Path(path), format or format_of(Path(path).suffix)
    warning = getattr(graph, "misfit_in_short", None) if format == "dot" else None
    text = dumps(as_graph(graph), format)
    write_whole(path, (f"// {warning}\n{text}" if warning else text).encode())


def _format_of_file(path: Path, text: str) -> str:
    ending = path.suffix.lower()
    if ending == ".txt" and text.lstrip().startswith(texts.TETRAD_HEADING):
        return "tetrad"
    if ending == ".csv" and not text.lstrip("\ufeff").startswith(",".join(tables.HEADING)):
        if tables.is_data(text):
            raise FormatError(
                f"{path.name} looks like data, not a graph: its first column repeats no name of its first row. Learn a "
                f"graph from it first: anypag learn {path.name} --out graph.json."
            )
        return "pcalg"
    return format_of(path.suffix)


def as_graph(thing: Any, *, kind: type[MixedGraph] | None = None) -> MixedGraph:
    """The graph behind an object of anypag, causal-learn or networkx.

    Args:
        thing: a PAG, MAG or DAG; a result (its graph is taken); a graph of causal-learn (a `GeneralGraph`, or the
            `CausalGraph` that `pc` returns); a `networkx.DiGraph`, as for `from_networkx`.
        kind: `PAG`, `MAG` or `DAG`, for graphs of other tools; by default PAG, but for networkx see `from_networkx`.

    Raises:
        GraphError: the object is none of these.
    """
    if isinstance(thing, MixedGraph):
        return thing
    pag = getattr(thing, "pag", None)
    if isinstance(pag, MixedGraph):
        return pag
    inner = getattr(thing, "G", thing)
    if hasattr(inner, "graph") and hasattr(inner, "get_nodes"):
        return from_causal_learn(inner.graph, [str(node.get_name()) for node in inner.get_nodes()], kind=kind)
    if type(thing).__module__.partition(".")[0] == "networkx":
        return from_networkx(thing, kind=kind)
    raise GraphError(
        "A graph is wanted: a PAG, MAG or DAG, a result, a graph of causal-learn or a networkx.DiGraph; "
        f"got {type(thing).__name__}."
    )


def to_networkx(graph: MixedGraph) -> Any:
    """The graph as a `networkx.DiGraph`.

    >>> from anypag import PAG
    >>> to_networkx(PAG.from_string("A o-> B")).edges["A", "B"]
    {'mark': 'arrow'}
    """
    networkx = _networkx()
    made = networkx.DiGraph(kind=type(graph).__name__)
    made.add_nodes_from(graph.names)
    if isinstance(graph, DAG):
        made.add_edges_from((graph.names[i], graph.names[j]) for i, j in np.argwhere(graph.adjacency))
        return made
    for edge in graph.edges():
        made.add_edge(edge.a, edge.b, mark=edge.mark_b.name.lower())
        made.add_edge(edge.b, edge.a, mark=edge.mark_a.name.lower())
    return made


def from_networkx(graph: Any, *, kind: type[MixedGraph] | None = None) -> MixedGraph:
    """The graph of a `networkx.DiGraph` whose edges have the `mark`s that `to_networkx` writes, or no marks (a DAG).

    Args:
        graph: the graph; its nodes are names.
        kind: `PAG`, `MAG` or `DAG`; if left out, `graph.graph["kind"]`, else PAG if edges have marks, else DAG.

    >>> import networkx
    >>> print(from_networkx(networkx.DiGraph([("A", "B")])))
    A --> B
    """
    if not isinstance(graph, _networkx().DiGraph) or graph.is_multigraph():
        raise FormatError(f"A networkx.DiGraph is wanted; got a {type(graph).__name__}.")
    for node in graph.nodes:
        if not isinstance(node, str):
            raise FormatError(f"Nodes are names; got {node!r}. Use networkx.relabel_nodes(graph, str).")
    marked = [(a, b) for a, b, mark in graph.edges(data="mark") if mark is not None]
    if marked and len(marked) < graph.number_of_edges():
        raise FormatError("Either every edge has a mark or none has; here only some edges have marks.")
    edges = _marked_edges(graph) if marked else [Edge(a, b, Mark.TAIL, Mark.ARROW) for a, b in graph.edges]
    named = graph.graph.get("kind")
    default = "PAG" if marked else "DAG"
    return build(Parsed(list(graph.nodes), edges, named if named in list(KINDS) else default), kind)


def _marked_edges(graph: Any) -> list[Edge]:
    edges: dict[tuple[str, str], Edge] = {}
    for a, b in graph.edges:
        if not graph.has_edge(b, a):
            raise FormatError(f"A marked edge must exist in both directions; there is {a!r}→{b!r} but not {b!r}→{a!r}.")
        if (b, a) not in edges:
            edges[a, b] = Edge(a, b, _mark(graph, b, a), _mark(graph, a, b))
    return list(edges.values())


def _mark(graph: Any, a: str, b: str) -> Mark:
    mark = graph.edges[a, b]["mark"]
    if not isinstance(mark, str) or mark not in _MARKS:
        raise FormatError(f"A mark is one of {', '.join(_MARKS)}; {a!r}→{b!r} has {mark!r}.")
    return _MARKS[mark]


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise MissingExtraError(
            "This needs networkx: pip install networkx, or install anypag with its extra 'interop'."
        ) from None
    return networkx
