"""Graphs of networkx (extra `interop`).

A DAG becomes a plain `DiGraph`, ready for what networkx offers for DAGs. In the `DiGraph` of a PAG or MAG every edge
exists in both directions, and the attribute `mark` of a→b ("circle", "arrow" or "tail") is the mark **at b**.
`graph.graph["kind"]` says which kind it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anypag.errors import FormatError, MissingExtraError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import KINDS, Parsed, build
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.pag import DAG

_MARKS = {mark.name.lower(): mark for mark in (Mark.CIRCLE, Mark.ARROW, Mark.TAIL)}


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
    """The graph of a `networkx.DiGraph`: with `mark`s as `to_networkx` writes them, or a DAG without marks.

    Args:
        graph: the graph; its nodes are names.
        kind: `PAG`, `MAG` or `DAG`. Default: `graph.graph["kind"]`, or else a DAG if no edge has a mark and a PAG if
            edges have.

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
        raise FormatError("Either every edge has a mark or none; here some have one and some do not.")
    edges = _marked_edges(graph) if marked else [Edge(a, b, Mark.TAIL, Mark.ARROW) for a, b in graph.edges]
    named = graph.graph.get("kind")
    default = "PAG" if marked else "DAG"
    return build(Parsed(list(graph.nodes), edges, named if named in list(KINDS) else default), kind)


def _marked_edges(graph: Any) -> list[Edge]:
    edges: dict[tuple[str, str], Edge] = {}
    for a, b in graph.edges:
        if not graph.has_edge(b, a):
            raise FormatError(f"An edge has a mark at both ends; {a!r}→{b!r} has one and {b!r}→{a!r} is missing.")
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
