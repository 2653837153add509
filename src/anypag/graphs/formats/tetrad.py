"""The text of Tetrad, which causal-learn reads and writes too. It does not say which kind of graph it is.

Its readers split lines at blanks and names at `;`, so names with either cannot be written.
"""

from __future__ import annotations

import re

from anypag.errors import FormatError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import Parsed
from anypag.graphs.marks import EDGE_SYMBOLS, Edge

HEADING = "Graph Nodes:"
_FLAGS = {"dd", "pd", "nl", "pl"}  # definitely/possibly direct, no/possibly latent confounder
_NUMBER = re.compile(r"\d+\.")
_OTHER_SECTION = re.compile(r"Graph (Node )?Attributes:.*")


def dump(graph: MixedGraph) -> str:
    """The text; a name with a blank or a `;` is refused."""
    for name in graph.names:
        if name.split() != [name] or ";" in name:
            raise FormatError(
                f"Tetrad's text cannot hold a name with a blank or a ';'; got {name!r}. "
                "Rename it with graph.relabel(...), or use another format."
            )
    edges = [
        f"{i}. {edge.a} {edge.symbol} {edge.b}" for i, edge in enumerate(map(Edge.forward, graph.edges()), start=1)
    ]
    return "\n".join([HEADING, ";".join(graph.names), "", "Graph Edges:", *edges, ""])


def parse(text: str) -> Parsed:
    """The graph; what Tetrad knows beyond marks (flags, probabilities, scores) is passed over."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or lines[0] != HEADING:
        raise FormatError(f"Tetrad's text begins with {HEADING!r}; got {_first(lines)}.")
    try:
        heading = lines.index("Graph Edges:")
    except ValueError:
        raise FormatError("Tetrad's text has a section 'Graph Edges:'; none came.") from None
    if heading > 2:
        raise FormatError(
            f"Tetrad's text has all names in one line, between ';'; got another line {_first(lines[2:])}."
        )
    names = [name.strip() for line in lines[1:heading] for name in line.split(";")]
    return Parsed(names, [_parse_edge(line) for line in _until_other_section(lines[heading + 1 :])])


def _until_other_section(lines: list[str]) -> list[str]:
    ends = [i for i, line in enumerate(lines) if _OTHER_SECTION.fullmatch(line)]
    return lines[: ends[0]] if ends else lines


def _parse_edge(line: str) -> Edge:
    words = line.split()
    if len(words) < 4 or not _NUMBER.fullmatch(words[0]):
        raise FormatError(f"An edge is written '1. A o-> B'; got {line!r}.")
    _, a, symbol, b, *rest = words
    if symbol not in EDGE_SYMBOLS:
        raise FormatError(f"An edge must be one of {' '.join(EDGE_SYMBOLS)}; got {symbol!r} in {line!r}.")
    if rest and not rest[0].startswith("[") and not set(rest) <= _FLAGS:
        raise FormatError(f"After an edge only dd, pd, nl, pl or [probabilities] may follow; got {line!r}.")
    return Edge(a, b, *EDGE_SYMBOLS[symbol])


def _first(lines: list[str]) -> str:
    return repr(lines[0][:60]) if lines else "nothing"
