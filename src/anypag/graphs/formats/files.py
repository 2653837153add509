"""Graphs to and from files, and graphs of other tools as they come."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, overload

from anypag.errors import FormatError, GraphError
from anypag.files import write_whole
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import edge_table, tetrad
from anypag.graphs.formats.matrix import parse_causal_learn_matrix
from anypag.graphs.formats.networkx_graph import from_networkx
from anypag.graphs.formats.parsed import build
from anypag.graphs.formats.registry import AnyKind, dumps, format_of, loads


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
        FormatError: the format cannot hold one of the names, or the extension says no format.
    """
    path = Path(path)
    write_whole(path, dumps(as_graph(graph), format or format_of(path.suffix)).encode())


def _format_of_file(path: Path, text: str) -> str:
    ending = path.suffix.lower()
    if ending == ".txt" and text.lstrip().startswith(tetrad.HEADING):
        return "tetrad"
    return "pcalg" if ending == ".csv" and not edge_table.is_edge_table(text) else format_of(path.suffix)


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
    if is_causal_learn_graph(inner):
        return build(parse_causal_learn_matrix(inner.graph, [str(node.get_name()) for node in inner.get_nodes()]), kind)
    if type(thing).__module__.partition(".")[0] == "networkx":
        return from_networkx(thing, kind=kind)
    raise GraphError(
        "A graph is wanted: a PAG, MAG or DAG, a result, a graph of causal-learn or a networkx.DiGraph; "
        f"got {type(thing).__name__}."
    )


def is_causal_learn_graph(thing: Any) -> bool:
    """Is it a graph object of causal-learn?"""
    return hasattr(thing, "graph") and hasattr(thing, "get_nodes")
