"""Graphs as text: edges such as `A o-> B`, one per line or separated by `;`; a lone name is a node without edges.

A name that could be misread (it has blanks, `;` or quotes, or looks like an edge) is written in double quotes with
JSON's escapes. `parse_graph(format_graph(...))` gives the graph back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import groupby

from anypag.errors import FormatError
from anypag.graphs.marks import EDGE_SYMBOLS, Edge

_SHORT_FORMS = {"->": "-->", "<-": "<--"}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|;|\n|[^\s;"]+|"')
_GLUED = re.compile(r"[<>]|--")
_BARE = re.compile(r"[\w.:/@()\[\]+*%&|=,!?$^~'-]+")


def quote(name: str) -> str:
    """The name as it is written in text: unchanged if it can be read back, else in double quotes."""
    is_edge = name in EDGE_SYMBOLS or name in _SHORT_FORMS
    bare = _BARE.fullmatch(name) and not _GLUED.search(name) and not is_edge
    return name if bare else json.dumps(name, ensure_ascii=False)


def format_graph(names: Iterable[str], edges: Iterable[Edge]) -> str:
    """The lines of a graph: its edges in order, each in its usual direction, then the names that are on no edge."""
    edges = tuple(edges)
    joined = {name for edge in edges for name in (edge.a, edge.b)}
    lines = [f"{quote(edge.a)} {edge.symbol} {quote(edge.b)}" for edge in map(Edge.forward, edges)]
    return "\n".join(lines + [quote(name) for name in names if name not in joined])


def parse_graph(text: str) -> tuple[tuple[str, ...], tuple[Edge, ...]]:
    """The names, in order of first appearance, and the edges of a graph written as text."""
    names: dict[str, None] = {}
    edges = []
    groups = groupby(_TOKEN.findall(text), lambda token: token in {";", "\n"})
    for statement in (list(tokens) for is_end, tokens in groups if not is_end):
        if len(statement) == 1:
            names.setdefault(_unquote(statement[0]))
        else:
            edge = _parse_edge(statement)
            names |= dict.fromkeys((edge.a, edge.b))
            edges.append(edge)
    return tuple(names), tuple(edges)


def _parse_edge(tokens: list[str]) -> Edge:
    if len(tokens) != 3:
        raise FormatError(
            f"An edge is written 'A o-> B', three words; got {' '.join(tokens)!r}. "
            "Put a name with blanks in double quotes."
        )
    left, symbol, right = tokens
    symbol = _SHORT_FORMS.get(symbol, symbol)
    if symbol not in EDGE_SYMBOLS:
        raise FormatError(f"An edge must be one of {' '.join(EDGE_SYMBOLS)}; got {symbol!r} in {' '.join(tokens)!r}.")
    return Edge(_unquote(left), _unquote(right), *EDGE_SYMBOLS[symbol])


def _unquote(token: str) -> str:
    if token in EDGE_SYMBOLS or token in _SHORT_FORMS:
        raise FormatError(f"A name was wanted; got {token!r}. Put a name that looks like an edge in double quotes.")
    if not token.startswith('"'):
        if _GLUED.search(token):
            remedy = "put blanks around the edge, or put the name in double quotes."
            raise FormatError(f"{token!r} is neither a name nor an edge: {remedy}")
        return token
    try:
        return str(json.loads(token))
    except ValueError:
        why = "does not end, or holds an escape that JSON does not know"
        raise FormatError(f"The quoted name {token} {why}.") from None
