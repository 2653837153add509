"""The graph formats of other tools. This file defines the result of a reader (`Parsed`) and builds a graph from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anypag.errors import FormatError, GraphError
from anypag.graphs.base import MixedGraph
from anypag.graphs.marks import Edge
from anypag.graphs.pag import DAG, MAG, PAG

KINDS: dict[str, type[MixedGraph]] = {"PAG": PAG, "MAG": MAG, "DAG": DAG}
MOST_NODES = 20_000  # readers refuse larger graphs, because a matrix of marks takes n² bytes, 400 MB at this size


class Parsed(NamedTuple):
    """The content of a file: names, edges and, if the file says it, the kind of graph ("PAG", "MAG" or "DAG")."""

    names: Sequence[str]
    edges: Sequence[Edge]
    kind: str | None = None


def build(parsed: Parsed, kind: type[MixedGraph] | None) -> MixedGraph:
    """The graph. Its kind is `kind`, else the kind that the file names, else PAG."""
    if len(parsed.names) > MOST_NODES:
        raise FormatError(f"Graphs of up to {MOST_NODES:,} nodes can be read; this one has {len(parsed.names):,}.")
    check_encodable(parsed.names)
    wanted = KINDS.get(parsed.kind or "PAG", PAG) if kind is None else kind
    try:
        return wanted.from_edges(parsed.edges, parsed.names)
    except GraphError as error:
        raise FormatError(str(error)) from error


def check_encodable(names: Sequence[str]) -> None:
    """Raise an error for a name with half of a surrogate pair, which no file can hold."""
    for name in names:
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise FormatError(f"A name holds half of a surrogate pair, which is no character: {name[:60]!r}.")
