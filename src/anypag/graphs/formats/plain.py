"""anypag's own text, one `A o-> B` per line (see `anypag.graphs.text`). It does not say the kind of graph."""

from __future__ import annotations

from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import Parsed
from anypag.graphs.text import parse_graph


def parse(text: str) -> Parsed:
    """The names and edges of the text; the names come in order of appearance."""
    return Parsed(*parse_graph(text))


def dump(graph: MixedGraph) -> str:
    """The text."""
    return f"{graph}\n"
