"""The grammar that DOT and dagitty's text share: a heading, and between braces nodes and edges with
attributes.

Not read: subgraphs, groups in braces, ports, HTML-like names. A text that has them is refused, not half
understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from anypag.errors import FormatError

Attributes = dict[str, str]


class Link(NamedTuple):
    """An edge as it stands in the text."""

    a: str
    operator: str
    b: str
    attributes: Attributes


@dataclass
class Document:
    """What a text holds: the words before the brace, nodes in order of appearance, edges."""

    heading: tuple[str, ...]
    nodes: dict[str, Attributes] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)


class _Token(NamedTuple):
    kind: str  # "string", "operator", "sign", "word" or "end"
    text: str


def quoted(name: str, tool: str) -> str:
    """The name in double quotes; one that the quoting of these formats cannot hold is refused."""
    if re.search(r'\\(?=["\n]|\Z)', name):
        raise FormatError(
            f"{tool} cannot hold a name with a backslash at its end, before a quote or before a line end; "
            f"got {name!r}. Rename it with graph.relabel(...), or use another format."
        )
    return '"' + name.replace('"', '\\"') + '"'


def parse_document(text: str, operators: Sequence[str]) -> Document:
    """The statements of a text whose edges are written with the given operators."""
    tokens = _Tokens(_tokenise(text, operators))
    document = Document(_heading(tokens))
    edge_defaults: Attributes = {}
    while not tokens.skip("}"):
        first = tokens.take()
        if first.kind not in {"word", "string"}:
            raise FormatError(f"A name was wanted, {_shown(first)} came.")
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
        raise FormatError(f"The graph ends with '}}'; after it came {_shown(tokens.peek())}.")
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
            raise FormatError(f"A name was wanted, {_shown(token)} came.")
        return token.text


def _heading(tokens: _Tokens) -> tuple[str, ...]:
    words = []
    while tokens.peek().kind in {"word", "string"}:
        words.append(tokens.take().text)
    if not words or not tokens.skip("{"):
        raise FormatError(f"A graph begins with its kind and '{{'; instead of it came {_shown(tokens.peek())}.")
    return tuple(words)


def _nodes_or_edges(first: str, tokens: _Tokens, document: Document, defaults: Attributes) -> None:
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
