"""Graphs as texts of Tetrad, DOT and dagitty, and as JSON in version 1 of caugi's schema.

Tetrad's text, which causal-learn reads and writes too, does not name the kind of graph. Its readers split lines at
blanks and the list of names at `;`, so a name with a blank or a `;` cannot be written. caugi's schema has a class for
DAGs but none for PAGs and MAGs. The class of a PAG or MAG is written as UNKNOWN, and its kind is among the tags.

DOT, the language of Graphviz, is only written. Arrow shapes show marks: `odot` circle, `normal` arrowhead, `none` tail.
Edges point from causes to effects, because tools that ignore the arrow shapes read them so. dagitty writes
`pag { "A" @-> "B" }`, where `@` is a circle, and says whether the graph is a PAG, a MAG or a DAG.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from anypag.errors import FormatError, abbreviated
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import KINDS, Parsed
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark

TETRAD_HEADING = "Graph Nodes:"
SCHEMA = "https://caugi.org/schemas/caugi-v1.schema.json"
_FLAGS = {"dd", "pd", "nl", "pl"}  # definitely/possibly direct, no/possibly latent confounder
_SHAPES = {Mark.CIRCLE: "odot", Mark.ARROW: "normal", Mark.TAIL: "none"}  # DOT's names of arrow shapes


def dump_tetrad(graph: MixedGraph) -> str:
    """The graph as Tetrad's text. FormatError for a name with a blank or a `;`."""
    for name in graph.names:
        if name.split() != [name] or ";" in name:
            raise FormatError(
                f"Tetrad's text cannot hold a name with a blank or a ';'; got {name!r}. "
                "Rename it with graph.relabel(...), or use another format."
            )
    numbered = enumerate(map(Edge.forward, graph.edges()), start=1)
    edges = [f"{i}. {edge.a} {edge.symbol} {edge.b}" for i, edge in numbered]
    return "\n".join([TETRAD_HEADING, ";".join(graph.names), "", "Graph Edges:", *edges, ""])


def parse_tetrad(text: str) -> Parsed:
    """The graph in a text of Tetrad, without Tetrad's flags, probabilities and scores."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or lines[0] != TETRAD_HEADING:
        raise FormatError(f"Tetrad's text begins with {TETRAD_HEADING!r}; got {_first(lines)}.")
    if "Graph Edges:" not in lines:
        raise FormatError("Tetrad's text has a section 'Graph Edges:'; this one has none.")
    heading = lines.index("Graph Edges:")
    if heading > 2:
        raise FormatError(
            f"Tetrad's text must have all names in one line, separated by ';'; got a second line {_first(lines[2:])}."
        )
    names = [name.strip() for line in lines[1:heading] for name in line.split(";")]
    edges = takewhile(lambda line: not re.fullmatch(r"Graph (Node )?Attributes:.*", line), lines[heading + 1 :])
    return Parsed(names, [_parse_edge(line) for line in edges])


def _parse_edge(line: str) -> Edge:
    words = line.split()
    if len(words) < 4 or not re.fullmatch(r"\d+\.", words[0]):
        raise FormatError(f"An edge is written '1. A o-> B'; got {line!r}.")
    _, a, symbol, b, *rest = words
    if symbol not in EDGE_SYMBOLS:
        raise FormatError(f"An edge must be one of {' '.join(EDGE_SYMBOLS)}; got {symbol!r} in {line!r}.")
    if rest and not rest[0].startswith("[") and not set(rest) <= _FLAGS:
        raise FormatError(f"After an edge only dd, pd, nl, pl or [probabilities] may follow; got {line!r}.")
    return Edge(a, b, *EDGE_SYMBOLS[symbol])


def _first(lines: list[str]) -> str:
    return repr(lines[0][:60]) if lines else "nothing"


def dump_caugi(graph: MixedGraph) -> str:
    return json.dumps(caugi_document(graph), ensure_ascii=False, indent=2) + "\n"


def caugi_document(graph: MixedGraph) -> dict[str, Any]:
    kind = type(graph).__name__
    return {
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


def parse_caugi(text: str) -> Parsed:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"The text is no JSON: {error}.") from None
    return parse_caugi_document(document)


def parse_caugi_document(document: object) -> Parsed:
    if not isinstance(document, dict):
        raise FormatError(f"A caugi document is a JSON object; got {abbreviated(document)}.")
    if document.get("format") != "caugi":
        raise FormatError(f'A caugi document says "format": "caugi"; got {document.get("format")!r}.')
    version = document.get("version")
    if not isinstance(version, str) or version.split(".")[0] != "1":
        raise FormatError(f"Version 1 of the caugi format can be read; got version {version!r}.")
    graph = _member(document, "graph", dict)
    names = [_text(name, "A node") for name in _member(graph, "nodes", list)]
    edges = [_edge(edge) for edge in _member(graph, "edges", list)]
    meta = document.get("meta")
    tags = meta.get("tags") if isinstance(meta, dict) else None
    tagged = [tag for tag in tags if isinstance(tag, str) and tag in KINDS] if isinstance(tags, Sequence) else []
    return Parsed(names, edges, tagged[0] if tagged else "DAG" if graph.get("class") == "DAG" else None)


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


def dump_dot(graph: MixedGraph) -> str:
    """The graph as DOT text. FormatError for a name with a backslash that DOT would misread."""
    quoted = {name: _quoted(name, "DOT") for name in graph.names}
    nodes = [f"  {name};" for name in quoted.values()]
    edges = [
        f"  {quoted[a]} -> {quoted[b]} [dir=both, arrowtail={_SHAPES[mark_a]}, arrowhead={_SHAPES[mark_b]}];"
        for a, b, mark_a, mark_b in map(Edge.forward, graph.edges())
    ]
    return "\n".join([f"digraph {type(graph).__name__} {{", *nodes, *edges, "}", ""])


_KINDS = {"pag": "PAG", "mag": "MAG", "dag": "DAG", "pdag": None, "graph": None, "digraph": None}
_SHORT = {"-->": "->", "<--": "<-", "---": "--"}
_SIGN_OF = {symbol: _SHORT.get(symbol, symbol.replace("o", "@")) for symbol in EDGE_SYMBOLS}
_MARKS_OF = {_SIGN_OF[symbol]: marks for symbol, marks in EDGE_SYMBOLS.items()}
_STRING = r'"(?:[^"\\]|\\.)*"'
_PART = re.compile(
    rf"(?:\s|[;,]|//[^\n]*|\#[^\n]*|/\*.*?\*/|\[(?:{_STRING}|[^]\"])*\]|[\w.]+\s*=\s*(?:{_STRING}|-?[\w.]+))+"
    rf"|(?:(?P<sign>{'|'.join(sorted(_MARKS_OF, key=len, reverse=True))})\s*)?(?P<name>{_STRING}|[\w.]+)"
    r"|(?P<end>}\s*\Z)",
    re.DOTALL,
)


def dump_dagitty(graph: MixedGraph) -> str:
    """The graph as dagitty text. FormatError for a name with a backslash that dagitty would misread."""
    quoted = {name: _quoted(name, "dagitty") for name in graph.names}
    edges = [f"{quoted[e.a]} {_SIGN_OF[e.symbol]} {quoted[e.b]}" for e in map(Edge.forward, graph.edges())]
    return "\n".join([f"{type(graph).__name__.lower()} {{", *quoted.values(), *edges, "}", ""])


def parse_dagitty(text: str) -> Parsed:
    """The graph of a dagitty text with all its nodes; attributes (positions, latent, exposure, ...) are ignored."""
    heading = re.match(rf"\s*(\w+)\s*(?:{_STRING}|\w+)?\s*{{", text)
    if heading is None or heading[1].lower() not in _KINDS:
        raise FormatError(f"dagitty begins with one of {', '.join(_KINDS)}, then '{{'; got {text[:60]!r}.")
    names: dict[str, None] = {}
    edges, before, place = [], "", heading.end()
    while (part := _PART.match(text, place)) and part["end"] is None:
        place = part.end()
        if part["name"] is not None:
            name = _unquoted(part["name"])
            names.setdefault(name)
            edges += [Edge(before, name, *_MARKS_OF[part["sign"]])] if part["sign"] else []
            before = name
    if part is None:
        raise FormatError(f"The text cannot be read from {text[place : place + 20] or 'its end'!r} on.")
    return Parsed(list(names), edges, _KINDS[heading[1].lower()])


def _quoted(name: str, tool: str) -> str:
    """The name in double quotes. FormatError if DOT and dagitty would misread it."""
    if re.search(r'\\(?=["\n]|\Z)', name):
        raise FormatError(
            f"{tool} cannot hold a name with a backslash at its end, before a quote or before a line end; "
            f"got {name!r}. Rename it with graph.relabel(...), or use another format."
        )
    return '"' + name.replace('"', '\\"') + '"'


def _unquoted(token: str) -> str:
    if not token.startswith('"'):
        return token
    meaning = {'\\"': '"', "\\\n": ""}  # all other backslashes stand for themselves
    return re.sub(r"\\.", lambda escape: meaning.get(escape[0], escape[0]), token[1:-1], flags=re.DOTALL)
