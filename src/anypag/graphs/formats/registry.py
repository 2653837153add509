"""One table of formats: graphs to and from text and files by the name of a format, and graph objects of other tools."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy.typing as npt

from anypag.errors import FormatError, GraphError, Option, ParameterError
from anypag.files import write_whole
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import Parsed, build, check_encodable, dot_and_dagitty, tables, tetrad_and_caugi
from anypag.graphs.formats.networkx_graph import from_networkx
from anypag.graphs.text import parse_graph

AnyKind = TypeVar("AnyKind", bound=MixedGraph)


@dataclass(frozen=True)
class Format:
    """A way to write graphs: its reader (None if it is written only), its writer, and the endings of its files."""

    parse: Callable[[str], Parsed] | None
    dump: Callable[[MixedGraph], str]
    extensions: tuple[str, ...]


FORMATS: dict[str, Format] = {
    "text": Format(lambda text: Parsed(*parse_graph(text)), lambda graph: f"{graph}\n", (".txt", ".pag")),
    "json": Format(tetrad_and_caugi.parse_caugi, tetrad_and_caugi.dump_caugi, (".json",)),
    "tetrad": Format(tetrad_and_caugi.parse_tetrad, tetrad_and_caugi.dump_tetrad, (".tetrad",)),
    "edges": Format(tables.parse_edges, tables.dump_edges, (".csv",)),
    "pcalg": Format(tables.parse_pcalg, tables.dump_pcalg, ()),
    "dot": Format(None, dot_and_dagitty.dump_dot, (".dot", ".gv")),
    "dagitty": Format(dot_and_dagitty.parse_dagitty, dot_and_dagitty.dump_dagitty, (".dagitty",)),
}

EXTENSIONS: dict[str, str] = {end: name for name, form in FORMATS.items() for end in form.extensions}


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
        kind: `PAG`, `MAG` or `DAG`. If left out, what the text says (as "json" and "dagitty" can), else a
            `PAG`.

    Raises:
        FormatError: the text holds no such graph; the message says what is wrong.

    >>> print(loads("A --> B; B --> C", "text"))
    A --> B
    B --> C
    """
    parse = _format(format).parse
    if parse is None:
        raise FormatError(f"{format!r} is written only; .json, .csv, .dagitty, .tetrad and .txt files are read.")
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
    """The name of the format that files with this extension (`.json`) have."""
    if extension.lower() not in EXTENSIONS:
        known = ", ".join(f"{end} ({name})" for end, name in EXTENSIONS.items())
        raise FormatError(
            f"The extension {extension!r} does not say which format it is. Known are {known}; or name the format "
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
        format: see `dumps`; if left out, the extension says it. A .txt that begins as Tetrad's files do is one,
            and a .csv that is no edge table is a matrix, as pcalg's are.
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
    """Write a graph to a file, whole or not at all: an older file stays as it is until the new one is
    complete.

    Args:
        graph: the graph; see `as_graph` for what is taken for one.
        path: the file.
        format: see `dumps`; if left out, the extension says it.

    Raises:
        FormatError: the format cannot hold one of the names, or the extension is unknown.
    """
    path = Path(path)
    write_whole(path, dumps(as_graph(graph), format or format_of(path.suffix)).encode())


def _format_of_file(path: Path, text: str) -> str:
    ending = path.suffix.lower()
    if ending == ".txt" and text.lstrip().startswith(tetrad_and_caugi.TETRAD_HEADING):
        return "tetrad"
    if ending == ".csv" and not tables.is_edge_table(text):
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
        thing: a PAG, MAG or DAG; a result, for its graph; a graph of causal-learn (`GeneralGraph`, or the
            `CausalGraph` around it that its `pc` returns); a `networkx.DiGraph`, as for `from_networkx`.
        kind: `PAG`, `MAG` or `DAG`, for graphs of others; see `from_networkx` for what is taken without it.

    Raises:
        GraphError: it is none of these.
    """
    if isinstance(thing, MixedGraph):
        return thing
    if isinstance(getattr(thing, "pag", None), MixedGraph):
        found: MixedGraph = thing.pag
        return found
    inner = getattr(thing, "G", thing)
    if hasattr(inner, "graph") and hasattr(inner, "get_nodes"):
        return from_causal_learn(inner.graph, [str(node.get_name()) for node in inner.get_nodes()], kind=kind)
    if type(thing).__module__.partition(".")[0] == "networkx":
        return from_networkx(thing, kind=kind)
    raise GraphError(
        "A graph is wanted: a PAG, MAG or DAG, a result, a graph of causal-learn or a networkx.DiGraph; "
        f"got {type(thing).__name__}."
    )
