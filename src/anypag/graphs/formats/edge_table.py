"""The edge table, CSV with a line for each edge: `from`, `to`, `edge` (`o->`), and more columns that are passed over.

This is what a result writes as .csv, with pairs that have no edge among its lines (`edge` is empty there). Where a bare
graph is written, a node without edges stands in a line of its own. It does not say the kind of graph.
"""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

from anypag.errors import FormatError, abbreviated
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import Parsed
from anypag.graphs.marks import EDGE_SYMBOLS, Edge

HEADING = ("from", "to", "edge")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def is_edge_table(text: str) -> bool:
    """Does a text begin as an edge table does?"""
    return text.lstrip("\ufeff").startswith(",".join(HEADING))


def as_text(value: str) -> str:
    """What a spreadsheet reads as text: it would compute a name that begins as a formula does.

    >>> as_text("=1+1"), as_text("age")
    ("'=1+1", 'age')
    """
    return f"'{value}" if value.lstrip("'").startswith(_FORMULA) else value


def as_written(text: str) -> str:
    """The name before `as_text`."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(_FORMULA) else text


def dump(graph: MixedGraph) -> str:
    """The CSV text."""
    edges = [edge.forward() for edge in graph.edges()]
    joined = {name for edge in edges for name in (edge.a, edge.b)}
    rows: list[str] = []
    writer = csv.writer(SimpleNamespace(write=rows.append))  # ends rows by \r\n, so that names with either are quoted
    writer.writerow(HEADING)
    writer.writerows((as_text(edge.a), as_text(edge.b), edge.symbol) for edge in edges)
    writer.writerows((as_text(name), "", "") for name in graph.names if name not in joined)
    return "".join(row.removesuffix("\r\n") + "\n" for row in rows)


def parse(text: str) -> Parsed:
    """The graph of an edge table."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise FormatError(f"The text is no CSV: {error}.") from None
    if not rows or tuple(rows[0][:3]) != HEADING:
        raise FormatError(f"An edge table begins with the columns {', '.join(HEADING)}; got {abbreviated(rows[:1])}.")
    names: dict[str, None] = {}
    edges = []
    for row in rows[1:]:
        if len(row) < 3 or (row[2] and row[2] not in EDGE_SYMBOLS):
            kinds = " ".join(EDGE_SYMBOLS)
            raise FormatError(f"A line of an edge table is A,B,edge with one of {kinds}; got {abbreviated(row)}.")
        a, b = (as_written(name) for name in row[:2])
        names |= dict.fromkeys(name for name in (a, b) if name)
        edges += [Edge(a, b, *EDGE_SYMBOLS[row[2]])] if row[2] else []
    return Parsed(list(names), edges)
