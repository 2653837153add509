"""DOT, the language of Graphviz, which is written only, and the text of dagitty, which is read too.

In DOT marks are arrow shapes: `odot` circle, `normal` arrowhead, `none` tail. Edges run forward, from causes to
effects: tools that read DOT without its arrow shapes take them so.

dagitty writes `pag { "A" @-> "B" }`, `@` being a circle, and says whether it is a PAG, a MAG or a DAG. A text is a
heading, and between braces nodes and edges with attributes in brackets, which are ignored (positions, latent,
exposure, ...): the graph has all nodes. A text with groups in braces raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from anypag.errors import FormatError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import Parsed
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark, edge_symbol

_SHAPES = {Mark.CIRCLE: "odot", Mark.ARROW: "normal", Mark.TAIL: "none"}


def dump_dot(graph: MixedGraph) -> str:
    """The DOT text. Raises an error for a name with a backslash that DOT would misread."""
    nodes = [f"  {quoted(name, 'DOT')};" for name in graph.names]
    edges = [
        f"  {quoted(edge.a, 'DOT')} -> {quoted(edge.b, 'DOT')} "
        f"[dir=both, arrowtail={_SHAPES[edge.mark_a]}, arrowhead={_SHAPES[edge.mark_b]}];"
        for edge in map(Edge.forward, graph.edges())
    ]
    return "\n".join([f"digraph {type(graph).__name__} {{", *nodes, *edges, "}", ""])


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
    tokens = _Tokens(_tokenise(text))
    heading = _heading(tokens)
    kind = heading[0].lower()
    if kind not in _HEADINGS or len(heading) > 2:
        raise FormatError(f"dagitty begins with one of {', '.join(_HEADINGS)}; got {' '.join(heading)[:60]!r}.")
    names: dict[str, None] = {}
    edges: list[Edge] = []
    while not tokens.skip("}"):
        first = tokens.name()
        if tokens.skip("="):
            tokens.name()  # an attribute of the whole graph
        else:
            edges += _edges(first, tokens, names)
        tokens.skip(";")
    if tokens.peek().kind != "end":
        raise FormatError(f"The graph ends with '}}'; got {_shown(tokens.peek())} after it.")
    return Parsed(list(names), edges, _HEADINGS[kind])


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


def _edges(first: str, tokens: _Tokens, names: dict[str, None]) -> Iterator[Edge]:
    """The edges of a chain of names, which may be one name; the attributes that follow are passed over."""
    names.setdefault(first)
    while tokens.peek().kind == "operator":
        marks, second = _SIGNS[tokens.take().text], tokens.name()
        names.setdefault(second)
        yield Edge(first, second, *marks)
        first = second
    while tokens.skip("["):
        while not tokens.skip("]"):
            tokens.name()
            if tokens.skip("="):
                tokens.name()
            tokens.skip(",") or tokens.skip(";")


def _tokenise(text: str) -> Iterator[_Token]:
    longest_first = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
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
