"""Where the numbers beside edges stand, so that none is written over another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from anypag.plot.geometry import Line, Point

ALONG = (0.5, 0.38, 0.62, 0.3, 0.7)
"""Where along a line a number may stand: the middle if it can."""
WIDTH, HEIGHT = 24.0, 13.0
"""The room that a number takes."""
MOST = 300
"""With more lines no number could be read anyway."""


def apart(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines, each with a place for its number that is free, or the middle where there is none."""
    lines = tuple(lines)
    if len(lines) > MOST:
        return lines
    taken: list[Point] = []
    placed = []
    for line in lines:
        at = next((place for place in _places(line) if _is_free(place, taken)), line.beside())
        taken.append(at)
        placed.append(replace(line, number_at=at))
    return tuple(placed)


def _places(line: Line) -> Iterator[Point]:
    for side in (1.0, -1.0):
        for t in ALONG:
            yield line.beside(t, side)


def _is_free(place: Point, taken: Iterable[Point]) -> bool:
    return all(abs(place.x - other.x) >= WIDTH or abs(place.y - other.y) >= HEIGHT for other in taken)
