"""Graphs as CSV text: matrices of marks, with the names in the first row and the first column, and tables of edges.

The format `pcalg` codes marks as R's pcalg does for PAGs (`amat.pag`), and as anypag does. In R, `write.csv(amat, ...)`
writes such a file. The graphs of causal-learn are read from its objects (`GeneralGraph.graph`: -1 tail, 1 arrow,
2 circle; a cell has the mark at its *row's* node).

An edge table has a line for each edge: `from`, `to`, `edge` (`o->`). Readers skip further columns. The .csv
file of a result also has lines for pairs without an edge, where `edge` is empty. The table of a bare graph has a line
for each node without edges. No table says whether the graph is a PAG, a MAG or a DAG.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Literal

import numpy as np
import numpy.typing as npt

from anypag.errors import FormatError, abbreviated, listed
from anypag.graphs.base import MixedGraph, edges_of
from anypag.graphs.formats import MOST_NODES, Parsed
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark

Cells = npt.NDArray[np.int64]
_CAUSAL_LEARN = {0: Mark.NONE, 2: Mark.CIRCLE, 1: Mark.ARROW, -1: Mark.TAIL}
HEADING = ("from", "to", "edge")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def dump_pcalg(graph: MixedGraph) -> str:
    """The CSV text of pcalg's `amat.pag`."""
    rows = ([name, *row] for name, row in zip(graph.names, graph.marks.tolist(), strict=True))
    return csv_text([["", *graph.names], *rows], quoting=csv.QUOTE_NONNUMERIC)


def parse_pcalg(text: str) -> Parsed:
    """The graph of pcalg's `amat.pag` in a CSV text."""
    names, cells = _read(text)
    if (cells == -1).any():
        raise FormatError("pcalg codes marks as 0, 1, 2, 3; got -1. Is this a matrix of causal-learn?")
    return _parsed(names, cells, {int(mark): mark for mark in Mark}, "pcalg")


def parse_causal_learn_matrix(matrix: npt.ArrayLike, names: Sequence[str]) -> Parsed:
    """The graph that causal-learn's `GeneralGraph.graph` holds."""
    cells = np.asarray(matrix)
    if cells.shape != (len(names), len(names)):
        raise FormatError(f"A matrix of {len(names)} names must have shape {(len(names),) * 2}; got {cells.shape}.")
    if cells.dtype.kind not in "iuf":
        raise FormatError(f"A matrix of marks must hold numbers; got values of type {cells.dtype}.")
    return _parsed(names, cells.T, _CAUSAL_LEARN, "causal-learn")


def _parsed(names: Sequence[str], cells: npt.NDArray[np.generic], code: dict[int, Mark], tool: str) -> Parsed:
    wrong = np.argwhere(~np.isin(cells, list(code)))
    if len(wrong):
        i, j = wrong[0]
        known = ", ".join(f"{number} ({mark.name.lower()})" for number, mark in code.items())
        raise FormatError(f"{tool} codes marks as {known}; got {cells[i, j]} for {names[i]!r} and {names[j]!r}.")
    marks = np.zeros(cells.shape, np.uint8)
    for number, mark in code.items():
        marks[cells == number] = mark
    present = marks != Mark.NONE
    if (present != present.T).any():
        i, j = np.argwhere(present & ~present.T)[0]
        raise FormatError(f"An edge must have two marks; the edge of {names[i]!r} and {names[j]!r} has only one.")
    if present.diagonal().any():
        raise FormatError(f"No node may have an edge with itself; {names[int(present.diagonal().argmax())]!r} has one.")
    return Parsed(names, edges_of(marks, names))


def _read(text: str) -> tuple[list[str], Cells]:
    rows = [row for row in _rows(text) if row]
    if not rows:
        raise FormatError("A matrix must begin with a row of names; the text is empty.")
    names = rows[0][1:]
    if len(names) > MOST_NODES:
        raise FormatError(f"Graphs of up to {MOST_NODES:,} nodes can be read; this one has {len(names):,}.")
    named = [row[0] for row in rows[1:]]
    if named != names:
        raise FormatError(
            "A matrix must have the same names, in the same order, in its first row (after an empty cell) and first "
            f"column; the row has {listed(names, 6) or 'none'}, the column has {listed(named, 6) or 'none'}."
        )
    for row in rows[1:]:
        if len(row) != len(rows):
            raise FormatError(f"A row must have one cell per name; {row[0]!r} has {len(row) - 1}, not {len(names)}.")
        strange = [cell for cell in row[1:] if cell.strip() not in {"-1", "0", "1", "2", "3"}]
        if strange:
            raise FormatError(f"Marks must be 0, 1, 2 or 3; got {strange[0][:20]!r} in the row of {row[0]!r}.")
    return names, np.array([row[1:] for row in rows[1:]]).astype(np.int64).reshape(len(names), len(names))


def _rows(text: str, most: int | None = None) -> list[list[str]]:
    try:
        return list(islice(csv.reader(io.StringIO(text, newline=""), strict=True), most))
    except csv.Error as error:
        raise FormatError(f"The text is not valid CSV: {error}.") from None


def is_data(text: str) -> bool:
    """Does a CSV text hold data? In data no row begins with a name of the first row; in a matrix every row does."""
    try:
        rows = [row for row in _rows(text, 50) if row]
    except FormatError:
        return False
    return len(rows) > 1 and not {row[0] for row in rows[1:]} & set(rows[0][1:])


def as_text(value: str) -> str:
    """The value written so that a spreadsheet reads it as text and not as a formula.

    >>> as_text("=1+1"), as_text("age")
    ("'=1+1", 'age')
    """
    return f"'{value}" if value.lstrip("'").startswith(_FORMULA) else value


def as_written(text: str) -> str:
    """The inverse of `as_text`: the name without the quote that `as_text` put before it."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(_FORMULA) else text


def dump_edges(graph: MixedGraph) -> str:
    edges = [edge.forward() for edge in graph.edges()]
    joined = {name for edge in edges for name in (edge.a, edge.b)}
    rows = [(as_text(edge.a), as_text(edge.b), edge.symbol) for edge in edges]
    return csv_text([HEADING, *rows, *((as_text(name), "", "") for name in graph.names if name not in joined)])


def csv_text(rows: Iterable[Iterable[object]], quoting: Literal[0, 1, 2, 3] = csv.QUOTE_MINIMAL) -> str:
    """The rows as CSV text, each ended by a line feed."""
    written: list[str] = []
    writer = csv.writer(SimpleNamespace(write=written.append), quoting=quoting)
    writer.writerows(rows)  # lines end in \r\n here, so that the writer quotes cells with \r or \n
    return "".join(row.removesuffix("\r\n") + "\n" for row in written)


def parse_edges(text: str) -> Parsed:
    rows = _rows(text)
    if not rows or tuple(rows[0][:3]) != HEADING:
        raise FormatError(f"An edge table begins with the columns {', '.join(HEADING)}; got {abbreviated(rows[:1])}.")
    names: dict[str, None] = {}
    edges = []
    for row in rows[1:]:
        if len(row) < 3 or (row[2] and row[2] not in EDGE_SYMBOLS):
            kinds = " ".join(EDGE_SYMBOLS)
            raise FormatError(f"A line of an edge table is A,B,edge (edge: {kinds} or empty); got {abbreviated(row)}.")
        a, b = (as_written(name) for name in row[:2])
        names |= dict.fromkeys(name for name in (a, b) if name)
        edges += [Edge(a, b, *EDGE_SYMBOLS[row[2]])] if row[2] else []
    return Parsed(list(names), edges)
