"""The text of dagitty: `pag { "A" @-> "B" }`, `@` being a circle. It says whether it is a PAG, a MAG or a
DAG.

Attributes of nodes (positions, latent, exposure, ...) are passed over: the graph is the one over all nodes.
"""

from __future__ import annotations

from anypag.errors import FormatError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import Parsed
from anypag.graphs.formats.statements import parse_document, quoted
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, edge_symbol

_KINDS = {"pag": "PAG", "mag": "MAG", "dag": "DAG", "pdag": None, "graph": None, "digraph": None}
_SHORT = {"-->": "->", "<--": "<-", "---": "--"}
_OPERATORS = {_SHORT.get(symbol, symbol.replace("o", "@")): marks for symbol, marks in EDGE_SYMBOLS.items()}
_SYMBOLS = {edge_symbol(*marks): operator for operator, marks in _OPERATORS.items()}


def dump(graph: MixedGraph) -> str:
    """The text; a name with a backslash where it would be read otherwise is refused."""
    nodes = [quoted(name, "dagitty") for name in graph.names]
    edges = [
        f"{quoted(edge.a, 'dagitty')} {_SYMBOLS[edge.symbol]} {quoted(edge.b, 'dagitty')}"
        for edge in map(Edge.forward, graph.edges())
    ]
    return "\n".join([f"{type(graph).__name__.lower()} {{", *nodes, *edges, "}", ""])


def parse(text: str) -> Parsed:
    """The graph of a dagitty text."""
    document = parse_document(text, tuple(_OPERATORS))
    kind = document.heading[0].lower()
    if kind not in _KINDS or len(document.heading) > 2:
        raise FormatError(f"dagitty begins with one of {', '.join(_KINDS)}; got {' '.join(document.heading)[:60]!r}.")
    edges = [Edge(link.a, link.b, *_OPERATORS[link.operator]) for link in document.links]
    return Parsed(list(document.nodes), edges, _KINDS[kind])
