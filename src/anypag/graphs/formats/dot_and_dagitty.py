"""DOT, the language of Graphviz, and the text of dagitty, which share a grammar.

In DOT marks are arrow shapes: `odot` circle, `normal` arrowhead, `none` tail. Edges run forward, from causes to
effects: tools that read DOT without its arrow shapes take them so. The kind of graph is the graph's name
(`digraph PAG {`). Where nodes have labels, as in files of causal-learn, the labels are the names.

dagitty writes `pag { "A" @-> "B" }`, `@` being a circle, and says whether it is a PAG, a MAG or a DAG. Attributes of
nodes (positions, latent, exposure, ...) are ignored: the graph has all nodes.

The grammar: a heading, and between braces nodes and edges with attributes. Subgraphs, groups in braces, ports and
HTML-like names are not supported: a text with them raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from anypag.errors import FormatError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import KINDS, Parsed
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark, edge_symbol

_SHAPES = {Mark.CIRCLE: "odot", Mark.ARROW: "normal", Mark.TAIL: "none"}
_MARKS = {shape: mark for mark, shape in _SHAPES.items()} | {"vee": Mark.ARROW}
_DIRECTIONS = {"forward": (False, True), "back": (True, False), "both": (True, True), "none": (False, False)}
"""For each `dir`, whether the shapes at tail and head are drawn; an end without a shape is a tail."""


def dump_dot(graph: MixedGraph) -> str:
    """The DOT text. Raises an error for a name with a backslash that DOT would misread."""
    nodes = [f"  {quoted(name, 'DOT')};" for name in graph.names]
    edges = [
        f"  {quoted(edge.a, 'DOT')} -> {quoted(edge.b, 'DOT')} "
        f"[dir=both, arrowtail={_SHAPES[edge.mark_a]}, arrowhead={_SHAPES[edge.mark_b]}];"
        for edge in map(Edge.forward, graph.edges())
    ]
    return "\n".join([f"digraph {type(graph).__name__} {{", *nodes, *edges, "}", ""])


def parse_dot(text: str) -> Parsed:
    """The graph of a DOT text."""
    document = parse_document(text, ("->", "--"))
    heading = [word for word in document.heading if word.lower() != "strict"]
    if not heading or heading[0].lower() not in {"graph", "digraph"} or len(heading) > 2:
        raise FormatError(f"DOT begins with 'digraph' or 'graph'; got {' '.join(document.heading)[:60]!r}.")
    names = {node: attributes.get("label", node) for node, attributes in document.nodes.items()}
    edges = [_edge(link, names) for link in document.links]
    kind = heading[-1] if heading[-1] in KINDS else None
    return Parsed(list(names.values()), edges, kind)


def _edge(link: Link, names: dict[str, str]) -> Edge:
    direction = link.attributes.get("dir", "forward" if link.operator == "->" else "none")
    if direction not in _DIRECTIONS:
        raise FormatError(f"The dir of an edge is one of {', '.join(_DIRECTIONS)}; got {direction[:40]!r}.")
    has_tail, has_head = _DIRECTIONS[direction]
    mark_a = _mark(link, "arrowtail") if has_tail else Mark.TAIL
    mark_b = _mark(link, "arrowhead") if has_head else Mark.TAIL
    return Edge(names[link.a], names[link.b], mark_a, mark_b)


def _mark(link: Link, end: str) -> Mark:
    shape = link.attributes.get(end, "normal")
    if shape not in _MARKS:
        raise FormatError(f"The {end} of an edge is one of {', '.join(_MARKS)}; got {shape[:40]!r}.")
    return _MARKS[shape]


_HEADINGS = {"pag": "PAG", "mag": "MAG", "dag": "DAG", "pdag": None, "graph": None, "digraph": None}
_SHORT = {"-->": "->", "<--": "<-", "---": "--"}
_SIGNS = {_SHORT.get(symbol, symbol.replace("o", "@")): marks for symbol, marks in EDGE_SYMBOLS.items()}
_SIGN_OF = {edge_symbol(*marks): operator for operator, marks in _SIGNS.items()}


def dump_dagitty(graph: MixedGraph) -> str:
    """The text. Raises an error for a name with a backslash that would be misread."""
    nodes = [quoted(name, "dagitty") for name in graph.names]
    edges = [
        f"{quoted(edge.a, 'dagitty')} {_SIGN_OF[edge.symbol]} {quoted(edge.b, 'dagitty')}"
        for edge in map(Edge.forward, graph.edges())
    ]
    return "\n".join([f"{type(graph).__name__.lower()} {{", *nodes, *edges, "}", ""])


def parse_dagitty(text: str) -> Parsed:
    """The graph of a dagitty text."""
    document = parse_document(text, tuple(_SIGNS))
    kind = document.heading[0].lower()
    if kind not in _HEADINGS or len(document.heading) > 2:
        raise FormatError(
            f"dagitty begins with one of {', '.join(_HEADINGS)}; got {' '.join(document.heading)[:60]!r}."
        )
    edges = [Edge(link.a, link.b, *_SIGNS[link.operator]) for link in document.links]
    return Parsed(list(document.nodes), edges, _HEADINGS[kind])


Attributes = dict[str, str]


class Link(NamedTuple):
    """An edge as it stands in the text."""

    a: str
    operator: str
    b: str
    attributes: Attributes


@dataclass
class ParsedText:
    """The content of a text: the words before the brace, nodes in order of appearance, edges."""

    heading: tuple[str, ...]
    nodes: dict[str, Attributes] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)


class _Token(NamedTuple):
    kind: str  # "string", "operator", "sign", "word" or "end"
    text: str


def quoted(name: str, tool: str) -> str:
    """The name in double quotes. Raises an error if these formats cannot quote it."""
    if re.search(r'\\(?=["\n]|\Z)', name):
        raise FormatError(
            f"{tool} cannot hold a name with a backslash at its end, before a quote or before a line end; "
            f"got {name!r}. Rename it with graph.relabel(...), or use another format."
        )
    return '"' + name.replace('"', '\\"') + '"'


def parse_document(text: str, operators: Sequence[str]) -> ParsedText:
    """The statements of a text whose edges are written with the given operators."""
    tokens = _Tokens(_tokenise(text, operators))
    document = ParsedText(_heading(tokens))
    edge_defaults: Attributes = {}
    while not tokens.skip("}"):
        first = tokens.take()
        if first.kind not in {"word", "string"}:
            raise FormatError(f"A name was wanted; got {_shown(first)}.")
        is_default = first.kind == "word" and first.text.lower() in {"graph", "node", "edge"}
        if tokens.skip("="):
            tokens.name()  # an attribute of the whole graph
        elif is_default and tokens.peek().text == "[":
            attributes = _attributes(tokens)
            edge_defaults |= attributes if first.text.lower() == "edge" else {}
        else:
            _nodes_or_edges(first.text, tokens, document, edge_defaults)
        tokens.skip(";")
    if tokens.peek().kind != "end":
        raise FormatError(f"The graph ends with '}}'; got {_shown(tokens.peek())} after it.")
    return document


class _Tokens:
    """The tokens, read from the front."""

    def __init__(self, tokens: Iterator[_Token]) -> None:
        self._rest = tokens
        self._next = next(tokens)

    def peek(self) -> _Token:
        return self._next

    def take(self) -> _Token:
        token = self._next
        self._next = next(self._rest, _Token("end", ""))
        return token

    def skip(self, sign: str) -> bool:
        """Take the sign if it comes next."""
        if self._next == _Token("sign", sign):
            self.take()
            return True
        return False

    def name(self) -> str:
        token = self.take()
        if token.kind not in {"word", "string"}:
            raise FormatError(f"A name was wanted; got {_shown(token)}.")
        return token.text


def _heading(tokens: _Tokens) -> tuple[str, ...]:
    words = []
    while tokens.peek().kind in {"word", "string"}:
        words.append(tokens.take().text)
    if not words or not tokens.skip("{"):
        raise FormatError(f"A graph begins with its kind and '{{'; got {_shown(tokens.peek())}.")
    return tuple(words)


def _nodes_or_edges(first: str, tokens: _Tokens, document: ParsedText, defaults: Attributes) -> None:
    """One name, or a chain of names with edges between them, and the attributes that follow."""
    chain, operators = [first], []
    while tokens.peek().kind == "operator":
        operators.append(tokens.take().text)
        chain.append(tokens.name())
    attributes = _attributes(tokens)
    for name in chain:
        document.nodes.setdefault(name, {})
    if not operators:
        document.nodes[first].update(attributes)
    for a, operator, b in zip(chain, operators, chain[1:], strict=False):
        document.links.append(Link(a, operator, b, defaults | attributes))


def _attributes(tokens: _Tokens) -> Attributes:
    found: Attributes = {}
    while tokens.skip("["):
        while not tokens.skip("]"):
            key = tokens.name()
            found[key] = tokens.name() if tokens.skip("=") else ""
            tokens.skip(",") or tokens.skip(";")
    return found


def _tokenise(text: str, operators: Sequence[str]) -> Iterator[_Token]:
    longest_first = "|".join(re.escape(o) for o in sorted(operators, key=len, reverse=True))
    pattern = re.compile(
        r"(?P<gap>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)"
        r'|(?P<string>"(?:[^"\\]|\\.)*")'
        rf"|(?P<operator>{longest_first})"
        r"|(?P<sign>[{}\[\];,=])"
        r"|(?P<word>-?[\w.]+)",
        re.DOTALL,
    )
    place = 0
    while place < len(text):
        match = pattern.match(text, place)
        if match is None:
            raise FormatError(f"The text cannot be read from {text[place : place + 20]!r} on.")
        place = match.end()
        kind = str(match.lastgroup)
        if kind != "gap":
            yield _Token(kind, _unquoted(match[0]) if kind == "string" else match[0])
    yield _Token("end", "")


def _unquoted(token: str) -> str:
    meaning = {'\\"': '"', "\\\n": ""}  # all other backslashes stand for themselves
    return re.sub(r"\\.", lambda escape: meaning.get(escape[0], escape[0]), token[1:-1], flags=re.DOTALL)


def _shown(token: _Token) -> str:
    return "the end of the text" if token.kind == "end" else repr(token.text[:40])
