"""The most probable graphs side by side, drawn small, with their differences from the answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from anypag.explain.sampled import Probable, about_probable, probable_graphs, why_unlikely
from anypag.graphs.marks import Edge, Mark
from anypag.markup import shown_share
from anypag.plot.geometry import BENDS, Box, Line, extent, joined
from anypag.plot.layout import is_small
from anypag.plot.svg import curve, placing
from anypag.results.result import Result

MOST_NODES = 60
"""Graphs with more variables are described in words only, because no name could be read."""
MARGIN = 12.0
"""The margin around the small graphs."""
MOST_DIFFERENCES = 12
"""How many differences are listed for each graph; for the others only their number."""


def probable_shown(result: Result, boxes: tuple[Box, ...]) -> dict[str, Any] | None:
    """The most probable graphs for the page, with variables placed as in the large graph; None without samples. `view`
    is the area that they need (left, top, width, height); None if none is drawn.
    """
    graphs = probable_graphs(result)
    if not graphs:
        return None
    is_drawn = len(boxes) <= MOST_NODES
    lines = [_lines(graph, boxes) if is_drawn else () for graph in graphs]
    shown = [
        {**_told(graph), "lines": [_line(line, graph) for line in drawn]}
        for graph, drawn in zip(graphs, lines, strict=True)
    ]
    view = _view(boxes, [*chain(*lines)]) if is_drawn else None
    told = {"about": list(about_probable(result)), "has_unlikely": has_unlikely(result)}
    return {**told, "view": view, "graphs": shown}


def has_unlikely(result: Result) -> bool:
    """Does the answer have unlikely edges, so that the page explains why?"""
    return result.probabilities is not None and why_unlikely(result.probabilities, result.pag) is not None


def _view(boxes: tuple[Box, ...], lines: Sequence[Line]) -> list[float]:
    left, top, right, below = extent(boxes, tuple(lines))
    room = [left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, below - top + 2 * MARGIN]
    return [round(number, 1) for number in room]


def _told(graph: Probable) -> dict[str, Any]:
    listed, n = graph.lines(), len(graph.differences)
    more = [f"and {n - MOST_DIFFERENCES:,} more"] if n > MOST_DIFFERENCES else []
    heading = "the answer" if not n else f"{n:,} pair{'s' * (n != 1)} joined otherwise"
    return {
        "share": shown_share(graph.share),
        "heading": heading,
        "differences": [*listed[:MOST_DIFFERENCES], *more],
        "ends": sorted({name for item in graph.differences for name in (item.a, item.b)}),
    }


def _lines(graph: Probable, boxes: tuple[Box, ...]) -> tuple[Line, ...]:
    """A line for each edge, and for those that only the answer has."""
    edges = graph.pag.edges()
    missing = [Edge(item.a, item.b, Mark.NONE, Mark.NONE) for item in graph.differences if not item.second]
    return joined(boxes, (*edges, *missing), bends=BENDS if is_small(len(boxes), len(edges)) else ())


def _line(line: Line, graph: Probable) -> list[Any]:
    """The curve of an edge, its marks and their places, whether it differs from the answer, and its title."""
    a, b, mark_a, mark_b = line.edge
    differs = any({a, b} == {item.a, item.b} for item in graph.differences)
    title = f"{a} and {b}: not joined" if mark_a == Mark.NONE else str(line.edge.forward())
    return [curve(line), placing(line.tip_a), placing(line.tip_b), int(mark_a), int(mark_b), differs, title]
