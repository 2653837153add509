"""A graph as the page draws it: boxes, lines, marks, how sure each edge is, and the numbers of the step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from anypag.errors import MissingExtraError
from anypag.graphs.pag import PAG
from anypag.plot.geometry import Picture, joined, picture, ring
from anypag.plot.labels import apart
from anypag.plot.layout import is_drawable
from anypag.report.content import boxes_shown, legend_shown, line_shown
from anypag.results.result import Iteration, Result

MOST_CHECKED = 500
"""Up to this many variables contradictions are searched for at the end."""


def laid_out(pag: PAG) -> Picture:
    """The picture of a graph; of one that is too large the nodes on a circle, and without igraph too."""
    if not is_drawable(pag):
        return ring(pag)
    try:
        return picture(pag)
    except MissingExtraError:
        drawn = ring(pag)
        return replace(drawn, lines=joined(drawn.boxes, tuple(pag.edges())))


def scene(pag: PAG, drawn: Picture, result: Result | None = None) -> dict[str, Any]:
    """What the page needs to draw a graph; of the latest result with probabilities, contradictions and a legend."""
    lines = apart(drawn.lines, drawn.boxes)
    probabilities = None if result is None else result.probabilities
    shares = [] if probabilities is None else [probabilities.of_edge(*_named(line.edge)) for line in lines]
    at_the_end = result is not None and result.complete and len(pag) <= MOST_CHECKED
    return {
        "names": list(pag.names),
        "is_whole": is_drawable(pag),
        "n_edges": len(pag.edges()),
        "size": [math.ceil(drawn.width), math.ceil(drawn.height)],
        "boxes": boxes_shown(drawn.boxes),
        "lines": [line_shown(line, pag) for line in lines],
        "rows": [[k, int(line.edge.mark_a), int(line.edge.mark_b)] for k, line in enumerate(lines)],
        "shares": shares,
        "doubted": _doubted(result, lines) if at_the_end and result else [],
        "banner": _banner(result) if at_the_end and result else [],
        "legend": [] if result is None else legend_shown(result),
    }


def around(pag: PAG, drawn: Picture, i: int) -> dict[str, Any]:
    """The lines of one variable in a graph that is too large to be drawn whole."""
    name = pag.names[i]
    lines = joined(drawn.boxes, tuple(edge for edge in pag.edges() if name in (edge.a, edge.b)), bends=())
    rows = [[k, int(line.edge.mark_a), int(line.edge.mark_b)] for k, line in enumerate(lines)]
    return {"lines": [line_shown(line, pag) for line in lines], "rows": rows}


def _named(edge: Any) -> tuple[str, str, str]:
    return edge.a, edge.b, edge.symbol


def _doubted(result: Result, lines: Iterable[Any]) -> list[int]:
    pairs = {frozenset(pair) for item in result.contradictions for pair in item.pairs}
    return [k for k, line in enumerate(lines) if frozenset((line.edge.a, line.edge.b)) in pairs]


def _banner(result: Result) -> list[str]:
    """What warns of the whole graph."""
    return [*result.misfit_told, *result.consistency.lines(3)]


def steps_shown(history: Iterable[Iteration]) -> list[dict[str, Any]]:
    """A line for each iteration, and one for each phase of the search by scores."""
    phases = groupby(enumerate(history), key=lambda pair: pair[0] if pair[1].info.has_r else pair[1].info.phase)
    return [_step([item for _, item in some]) for _, some in phases]


def _step(items: list[Iteration]) -> dict[str, Any]:
    info = items[-1].info
    return {
        "name": f"r = {info.r}" if info.has_r else info.phase,
        "edges": info.n_edges,
        "removed": sum(item.info.removed for item in items) if info.has_r else None,
        "tests": sum(item.info.n_tests for item in items),
        "seconds": round(sum(item.seconds for item in items), 2),
    }
