"""The legend of a picture, and the places of the numbers beside edges: probabilities, or shares of resamples."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np

from anypag.arrays import Floats
from anypag.graphs.marks import Edge, Mark
from anypag.plot.geometry import MARK_LENGTH, Box, Line, Picture, Point, Tip, text_width

_LINE_HEIGHT, _SAMPLE, _LEFT, _TEXT_SIZE = 22.0, 44.0, 24.0, 13.0
"""Of a legend, in pixels: the height of a line, the length of its sample edge, the left margin, the size of text."""
ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.3, 0.7, 0.22, 0.78)
"""Where along a line a number may stand, the best place first."""
WIDTH, HEIGHT = 24.0, 13.0  # the size of a number, in pixels
MOST = 300  # with more lines, numbers stay at their default places, which may overlap
_POINTS = tuple(k / 200 for k in range(201))  # where on each line its distance from a number is measured

_SAMPLES = (
    (Mark.TAIL, Mark.ARROW, "A is a cause of B", "A is a cause of B, or of being in the sample"),
    (Mark.CIRCLE, Mark.ARROW, "B is not a cause of A; A may be a cause of B", None),
    (
        Mark.ARROW,
        Mark.ARROW,
        "neither is a cause of the other: a common cause was not measured",
        "neither is a cause of the other: a common cause was not measured, or selection links them",
    ),
    (Mark.CIRCLE, Mark.CIRCLE, "joined; which way is not known", None),
    (Mark.TAIL, Mark.TAIL, "a contradiction: each would be a cause of the other", "both affect being in the sample"),
    (Mark.TAIL, Mark.CIRCLE, "A is a cause of B", "A is a cause of B or of being in the sample; B may affect that too"),
)
"""Kinds of edges, and their meaning without selection and with it (None: the same meaning)."""
_BY_DESIGN = (Mark.ARROW, Mark.ARROW, "columns that tell data sets apart (sharp corners), joined by design", None)


@dataclass(frozen=True)
class Entry:
    """One line of a legend: a sample edge between `A` and `B`, and what it means."""

    line: Line
    names: tuple[tuple[str, Point], tuple[str, Point]]
    text_at: Point
    text: str


@dataclass(frozen=True)
class Legend:
    """The lines of a legend and the room they take."""

    width: float
    height: float
    entries: tuple[Entry, ...]


NO_LEGEND = Legend(0.0, 0.0, ())


def size_of(drawn: Picture, legend: Legend) -> tuple[float, float]:
    """Width and height of a picture with its legend below, in pixels."""
    return max(drawn.width, legend.width, 1.0), max(drawn.height + legend.height, 1.0)


def legend_for(edges: Iterable[Edge], *, selection: bool = True, contexts: Collection[str] = ()) -> Legend:
    """The legend: a line for each kind of edge. With `selection`, tails say less. `contexts` are joined by design."""
    every = {(frozenset({edge.mark_a, edge.mark_b}), {edge.a, edge.b} <= set(contexts)) for edge in edges}
    samples = [sample for sample in _SAMPLES if (frozenset(sample[:2]), False) in every]
    samples += [_BY_DESIGN] if any(is_design for _, is_design in every) else []
    entries = tuple(
        _entry(mark_a, mark_b, (with_selection or text) if selection else text, _LINE_HEIGHT * (row + 0.5))
        for row, (mark_a, mark_b, text, with_selection) in enumerate(samples)
    )
    width = max((entry.text_at.x + text_width(entry.text, _TEXT_SIZE) for entry in entries), default=0.0)
    return Legend(width + _LEFT, _LINE_HEIGHT * len(entries) + (16.0 if entries else 0.0), entries)


def _entry(mark_a: Mark, mark_b: Mark, text: str, y: float) -> Entry:
    edge, start, end = Edge("A", "B", mark_a, mark_b), Point(_LEFT + 14, y), Point(_LEFT + 14 + _SAMPLE, y)
    left, middle, right = (Point(x, y) for x in (start.x + MARK_LENGTH, (start.x + end.x) / 2, end.x - MARK_LENGTH))
    line = Line(edge, left, middle, right, Tip(start, 180.0), Tip(end, 0.0))
    names = (("A", Point(start.x - 10, y)), ("B", Point(end.x + 10, y)))
    return Entry(line, names, Point(end.x + 34, y), text)


def apart(lines: Iterable[Line], boxes: Iterable[Box]) -> tuple[Line, ...]:
    """The lines, each with a place for its number that touches nothing else (`has_number`: is there such a place?)."""
    lines = tuple(lines)
    if len(lines) > MOST:
        return lines
    curves = np.array([[line.at(t) for t in _POINTS] for line in lines]).reshape(-1, len(_POINTS), 2)
    taken = [(box.centre, (box.width + WIDTH) / 2, (box.height + HEIGHT) / 2) for box in boxes]
    placed = []
    for k, line in enumerate(lines):
        others = np.delete(curves, k, axis=0).reshape(-1, 2)
        places = (line.beside(t, side) for side in (1.0, -1.0) for t in ALONG)
        at = next((place for place in places if _is_free(place, taken, others)), None)
        taken += [] if at is None else [(at, WIDTH, HEIGHT)]
        placed.append(replace(line, number_at=at, has_number=at is not None))
    return tuple(placed)


def _is_free(place: Point, taken: Iterable[tuple[Point, float, float]], others: Floats) -> bool:
    """Would a number at this place touch no box, no other number and no other line?"""
    if not all(abs(place.x - other.x) >= wide or abs(place.y - other.y) >= high for other, wide, high in taken):
        return False
    reach = np.abs(others - place) / (WIDTH / 2, HEIGHT / 2)
    return bool(reach.max(axis=1).min(initial=1.0) >= 1)
