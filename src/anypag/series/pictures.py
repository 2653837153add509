"""Pictures of time series: the summary of processes, and the window with a column for each lag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from anypag.errors import ParameterError
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.pag import PAG
from anypag.plot.draw import with_contexts
from anypag.plot.geometry import (
    BENDS,
    BOX_HEIGHT,
    Box,
    Line,
    Picture,
    Point,
    bowed,
    joined,
    on_paper,
    picture,
    text_width,
)
from anypag.plot.labels import Legend, apart, legend_for
from anypag.series.edges import SeriesEdge, SummaryEdge
from anypag.series.series_result import SeriesResult

PICTURES = ("summary", "window")
BENDS_OF = {1: (0.0,), 2: (0.1, -0.1), 3: (0.16, 0.0, -0.16)}  # how lines are bent that join the same two processes
BENDS_OF_WINDOW = (*BENDS, 0.9, -0.9)
"""How far lines are bent to get round boxes; those of one column stand close above each other."""
PADDING = 24.0
ACROSS, DOWN = 90.0, 64.0  # the room between the columns and the rows of a window


def drawn(result: SeriesResult, what: str) -> tuple[Picture, Legend]:
    """A picture and its legend."""
    if what not in PICTURES:
        raise ParameterError(f"There are pictures of the 'summary' and of the 'window'; got {what!r}.")
    found = with_contexts(summary_picture(result) if what == "summary" else window_picture(result), result.result)
    legend = legend_for([line.edge for line in found.lines], selection=result.choices.selection_bias)
    return found, legend


def summary_picture(result: SeriesResult) -> Picture:
    """The processes, joined by a line for each direction in time and one for edges at the same time, with their lags;
    a box says which lags of its own a process is joined to.
    """
    own = {one.a: _lags(one.edges) for one in result.summary if one.a == one.b}
    names = (*result.window.contexts, *result.window.processes)
    shown = {name: f"{name} ({own[name]})" if name in own else name for name in names}
    between = [one for one in result.summary if one.a != one.b]
    plain = [Edge(shown[one.a], shown[one.b], Mark.CIRCLE, Mark.CIRCLE) for one in between]
    boxes = picture(PAG.from_edges(plain, tuple(shown.values()))).boxes
    contexts = result.window.contexts
    return on_paper(
        boxes,
        lambda placed: apart((x for one in between for x in _lines(placed, shown, one, contexts)), placed),
        PADDING,
    )


def _lines(
    boxes: tuple[Box, ...], shown: dict[str, str], one: SummaryEdge, contexts: tuple[str, ...]
) -> Iterator[Line]:
    """The lines between two processes, side by side."""
    groups: dict[tuple[str, str, bool], list[SeriesEdge]] = {}
    for edge in one.edges:
        groups.setdefault((edge.cause, edge.effect, edge.lag > 0), []).append(edge)
    bends = BENDS_OF[len(groups)]
    for ((cause, effect, _), edges), bend in zip(groups.items(), bends, strict=True):
        marks = SummaryEdge(cause, effect, tuple(edges)).marks
        drawn = Edge(shown[cause], shown[effect], *marks)
        swapped = (cause, effect) != (one.a, one.b)  # seen from the other end, a bend goes to the other side
        yield replace(
            bowed(boxes, drawn, -bend if swapped else bend), lags="" if cause in contexts else _lags(tuple(edges))
        )


def _lags(edges: tuple[SeriesEdge, ...]) -> str:
    return ", ".join(str(lag) for lag in sorted({edge.lag for edge in edges}))


def window_picture(result: SeriesResult) -> Picture:
    """Every process in a row, every lag in a column, the latest on the right, contexts in the first; edges into the
    latest column only.
    """
    window = result.window
    widths = [max(text_width(name) for name in tier) + 22.0 for tier in window.tiers]
    centres = [sum(widths[:k]) + widths[k] / 2 + k * ACROSS for k in range(len(widths))]
    boxes = tuple(
        Box(name, name, Point(centres[column], row * DOWN), widths[column], BOX_HEIGHT)
        for column, tier in enumerate(window.tiers)
        for row, name in enumerate(tier)
    )
    edges = tuple(edge.edge.forward() for edge in result.edges)
    found = on_paper(boxes, partial(joined, edges=edges, bends=BENDS_OF_WINDOW), PADDING)
    by_pair = {edge.edge.forward()[:2]: edge for edge in result.edges}
    numbers = [by_pair[line.edge[:2]] for line in found.lines]
    shares = [edge.probability if edge.again is None else edge.again for edge in numbers]
    lines = [
        replace(line, again=share, is_probability=edge.again is None)
        for line, share, edge in zip(apart(found.lines, found.boxes), shares, numbers, strict=True)
    ]
    return replace(found, lines=tuple(lines))
