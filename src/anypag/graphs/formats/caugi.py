"""JSON in the schema of caugi, version 1: the published one that carries the marks of a PAG.

The schema has a class for DAGs but none for PAGs and MAGs; these are written as UNKNOWN, with the kind among
the tags.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from anypag.errors import FormatError, abbreviated
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import KINDS, Parsed
from anypag.graphs.marks import EDGE_SYMBOLS, Edge

SCHEMA = "https://caugi.org/schemas/caugi-v1.schema.json"


def dump(graph: MixedGraph) -> str:
    """The JSON text."""
    kind = type(graph).__name__
    document = {
        "$schema": SCHEMA,
        "format": "caugi",
        "version": "1.0.0",
        "graph": {
            "class": "DAG" if kind == "DAG" else "UNKNOWN",
            "nodes": list(graph.names),
            "edges": [{"from": e.a, "to": e.b, "edge": e.symbol} for e in map(Edge.forward, graph.edges())],
        },
        "meta": {"tags": [kind]},
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def parse(text: str) -> Parsed:
    """The graph of a caugi document."""
    document = _load(text)
    if document.get("format") != "caugi":
        raise FormatError(f'A caugi document says "format": "caugi"; got {document.get("format")!r}.')
    version = document.get("version")
    if not isinstance(version, str) or version.split(".")[0] != "1":
        raise FormatError(f"Version 1 of the caugi format can be read; got version {version!r}.")
    graph = _member(document, "graph", dict)
    names = [_text(name, "A node") for name in _member(graph, "nodes", list)]
    edges = [_edge(edge) for edge in _member(graph, "edges", list)]
    return Parsed(names, edges, _kind(graph, document.get("meta")))


def _load(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"The text is no JSON: {error}.") from None
    if not isinstance(document, dict):
        raise FormatError(f"A caugi document is a JSON object; got {abbreviated(document)}.")
    return document


def _member(parent: dict[str, Any], key: str, kind: type) -> Any:
    value = parent.get(key)
    if not isinstance(value, kind):
        wanted = "a list" if kind is list else "an object"
        raise FormatError(f'A caugi document has {wanted} under "{key}"; got {abbreviated(value)}.')
    return value


def _edge(value: Any) -> Edge:
    if not isinstance(value, dict):
        raise FormatError(f'An edge is an object with "from", "to" and "edge"; got {abbreviated(value)}.')
    symbol = value.get("edge")
    if not isinstance(symbol, str) or symbol not in EDGE_SYMBOLS:
        raise FormatError(f"An edge must be one of {' '.join(EDGE_SYMBOLS)}; got {abbreviated(symbol)}.")
    ends = [_text(value.get(end), f'The "{end}" of an edge') for end in ("from", "to")]
    return Edge(ends[0], ends[1], *EDGE_SYMBOLS[symbol])


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{what} is a text; got {abbreviated(value)}.")
    return value


def _kind(graph: dict[str, Any], meta: Any) -> str | None:
    tags = meta.get("tags") if isinstance(meta, dict) else None
    tagged = [tag for tag in tags if isinstance(tag, str) and tag in KINDS] if isinstance(tags, Sequence) else []
    return tagged[0] if tagged else "DAG" if graph.get("class") == "DAG" else None
