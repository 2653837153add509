"""A picture as numbers, for SVG and matplotlib: boxes with names, lines between their borders, marks at the ends."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from anypag.graphs.base import MixedGraph
from anypag.graphs.marks import Edge, Mark
from anypag.plot.layout import Points, around, boxes_on, is_small, positions, require_drawable

FONT_SIZE = 14.0
BOX_HEIGHT = 28.0
LONGEST_LABEL = 24  # the most characters of a name that are shown; the whole name appears on hover
MARK_LENGTH = 11.0  # the length of a mark at the end of a line, in pixels
ARROWHEAD = ((0.0, 0.0), (-MARK_LENGTH, -5.5), (2.5 - MARK_LENGTH, 0.0), (-MARK_LENGTH, 5.5))
"""The corners of an arrowhead that points right, with its tip at the origin."""
CIRCLE_CENTRE = 4.7  # how far the centre of a circle lies from the tip, in pixels
CIRCLE_RADIUS = 4.2
BANNER_HEIGHT = 28.0
BORDER = 24.0  # the empty border of a picture, in pixels
SHARE_GAP = 13.0  # the distance of a number from its line, in pixels
FAINTEST = 0.25  # the opacity of an edge that no resample has
_PADDING = 11.0  # the space between a name and the left or right border of its box, in pixels
BENDS = (0.08, -0.08, 0.15, -0.15, 0.22, -0.22, 0.3, -0.3, 0.4, -0.4)
"""The bends that are tried if a straight line would cross a box, as shares of the line's length."""
_KINDS = {"cause": {Mark.TAIL, Mark.ARROW}, "confounded": {Mark.ARROW}, "selected": {Mark.TAIL}}


class Point(NamedTuple):
    """A place on the paper, in pixels; y grows downwards."""

    x: float
    y: float


@dataclass(frozen=True)
class Box:
    """A node: name, the label shown, centre and size, and how round its corners are (those of contexts are sharp)."""

    name: str
    label: str
    centre: Point
    width: float
    height: float
    corner: float = 7.0


@dataclass(frozen=True)
class Tip:
    """The end of a line: the point on the border of a box, and the direction (degrees) in which the line arrives."""

    at: Point
    angle: float


@dataclass(frozen=True)
class Line:
    """An edge: a quadratic curve from the border of a box to that of another (straight if `control` is midway)."""

    edge: Edge
    start: Point
    control: Point
    end: Point
    tip_a: Tip
    tip_b: Tip
    is_doubted: bool = False  # does the edge's claim contradict claims of other edges?
    again: float | None = None
    """The share of resamples with the same edge, or the edge's probability by sampled graphs; None without either."""
    is_probability: bool = False  # is `again` a probability?
    number_at: Point | None = None  # where its number is; by default beside the line's middle (`plot.labels.apart`)
    lags: str = ""  # in a summary of time series, the lags of the edge, which are shown in place of its number
    has_number: bool = True  # False if every place for its number touches something else

    @property
    def opacity(self) -> float:
        """The opacity: lower for edges that are rare in resamples or improbable, but never 0."""
        return 1.0 if self.again is None else FAINTEST + (1 - FAINTEST) * self.again

    def beside(self, t: float = 0.5, side: float = 1.0) -> Point:
        """A place for a number near `at(t)`: above the line, right of a vertical one; opposite if `side` is -1."""
        dx, dy = self.end.x - self.start.x, self.end.y - self.start.y
        gap = SHARE_GAP * side / (math.hypot(dx, dy) or 1.0) * (1.0 if dx > 0 or (dx == 0 and dy > 0) else -1.0)
        return _moved(self.at(t), gap * dy, -gap * dx)

    def at(self, t: float) -> Point:
        """The point of the curve that is `t` of the way from start to end."""
        return _on_curve(self.start, self.control, self.end, t)

    @property
    def number(self) -> Point:
        return self.beside() if self.number_at is None else self.number_at


@dataclass(frozen=True)
class Picture:
    """A whole picture, from (0, 0) to (width, height)."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    banner: str = ""  # a sentence below the graph, in the last `BANNER_HEIGHT` of the paper

    def doubting(self, pairs: Collection[frozenset[str]], banner: str) -> Picture:
        """The picture with the edges of these pairs marked as doubted, and with a banner that says why."""
        width = max(self.width, text_width(banner) + 48.0)
        boxes = tuple(replace(box, centre=_moved(box.centre, (width - self.width) / 2, 0.0)) for box in self.boxes)
        lines = joined(boxes, tuple(line.edge for line in self.lines))
        marked = tuple(replace(line, is_doubted=frozenset(line.edge[:2]) in pairs) for line in lines)
        return Picture(width, self.height + BANNER_HEIGHT, boxes, marked, banner)


def picture(graph: MixedGraph) -> Picture:
    """The picture of a graph, laid out; GraphError if the graph is too large for a picture that can be read.

    >>> import anypag as ap
    >>> drawn = picture(ap.PAG.from_string("A o-> B; B --> C"))
    >>> [box.label for box in drawn.boxes], [str(line.edge) for line in drawn.lines]
    (['A', 'B', 'C'], ['A o-> B', 'B --> C'])
    """
    require_drawable(graph)
    bends = BENDS if is_small(len(graph), len(graph.edges())) else ()
    lines = partial(joined, edges=graph.edges(), bends=bends)
    return on_paper(_boxes(graph, positions(graph.marks, _sizes(graph))), lines)


def ring(graph: MixedGraph) -> Picture:
    """The nodes of a graph of any size on a circle, without lines: a page draws the lines of one node at a time."""
    return on_paper(_boxes(graph, around(_sizes(graph))), lambda boxes: ())


def on_paper(boxes: tuple[Box, ...], lines: Callable[[tuple[Box, ...]], tuple[Line, ...]]) -> Picture:
    """The picture of boxes, and of the lines that `lines` makes between them, on paper of the right size."""
    left, top, right, below = extent(boxes, lines(boxes))
    boxes = tuple(replace(box, centre=_moved(box.centre, BORDER - left, BORDER - top)) for box in boxes)
    return Picture(right - left + 2 * BORDER, below - top + 2 * BORDER, boxes, lines(boxes))


def _sizes(graph: MixedGraph) -> Points:
    """(n, 2) width and height of each node's box."""
    widths = [(text_width(shortened(name)) + 2 * _PADDING, BOX_HEIGHT) for name in graph.names]
    return np.array(widths).reshape(-1, 2)


def _boxes(graph: MixedGraph, centres: Points) -> tuple[Box, ...]:
    placed = zip(graph.names, centres.tolist(), _sizes(graph).tolist(), strict=True)
    return tuple(Box(name, shortened(name), Point(*centre), *size) for name, centre, size in placed)


def extent(boxes: tuple[Box, ...], lines: tuple[Line, ...]) -> tuple[float, float, float, float]:
    """The left, top, right and bottom coordinate of a picture."""
    bows = [line.at(t) for line in lines for t in (0.25, 0.5, 0.75)]
    corners = [_moved(box.centre, side * box.width / 2, side * box.height / 2) for box in boxes for side in (-1, 1)]
    x, y = zip(*(bows + corners), strict=True) if corners else ((0.0,), (0.0,))
    return min(x), min(y), max(x), max(y)


def _moved(point: Point, x: float, y: float) -> Point:
    return Point(point.x + x, point.y + y)


def joined(boxes: tuple[Box, ...], edges: tuple[Edge, ...], bends: tuple[float, ...] = BENDS) -> tuple[Line, ...]:
    """The lines for some edges, from border to border; bent (by one of `bends`) if they would cross a box."""
    place = {box.name: i for i, box in enumerate(boxes)}
    centres = np.array([box.centre for box in boxes]).reshape(-1, 2)
    sizes = np.array([(box.width, box.height) for box in boxes]).reshape(-1, 2)
    return tuple(_line(edge, boxes, (place[edge.a], place[edge.b]), centres, sizes, bends) for edge in edges)


def bowed(boxes: tuple[Box, ...], edge: Edge, bend: float) -> Line:
    """The line for an edge, bent by this much, for a pair of boxes that several lines join."""
    a, b = (next(box for box in boxes if box.name == name) for name in edge[:2])
    return _along(edge, a, b, _control(a.centre, b.centre, bend))


def _along(edge: Edge, a: Box, b: Box, control: Point) -> Line:
    tip_a, tip_b = _tip(a, control), _tip(b, control)
    return Line(edge, _back(tip_a), control, _back(tip_b), tip_a, tip_b)


def _line(
    edge: Edge, boxes: tuple[Box, ...], ends: tuple[int, int], centres: Points, sizes: Points, bends: tuple[float, ...]
) -> Line:
    a, b = boxes[ends[0]], boxes[ends[1]]
    straight = control = _control(a.centre, b.centre, 0.0)

    def n_crossed(control: Point) -> int:
        curve = np.array([_on_curve(a.centre, control, b.centre, t) for t in np.linspace(0, 1, 7).tolist()])
        over = boxes_on(curve[:-1], curve[1:], centres, sizes)
        over[:, list(ends)] = False
        return int(over.any(axis=0).sum())

    if bends and n_crossed(straight):
        control = min((_control(a.centre, b.centre, bend) for bend in bends), key=n_crossed)
    line = _along(edge, a, b, control)
    (left, top), (right, below) = line.tip_a.at, line.tip_b.at
    return line if control != straight else replace(line, control=Point((left + right) / 2, (top + below) / 2))


def _control(a: Point, b: Point, bend: float) -> Point:
    return Point((a.x + b.x) / 2 - bend * (b.y - a.y) * 2, (a.y + b.y) / 2 + bend * (b.x - a.x) * 2)


def _on_curve(start: Point, control: Point, end: Point, t: float) -> Point:
    u = 1 - t
    return Point(*(u * u * a + 2 * u * t * b + t * t * c for a, b, c in zip(start, control, end, strict=True)))


def _tip(box: Box, control: Point) -> Tip:
    """The tip of a line from `control` towards the centre of a box, where a circle would just not touch the box."""
    dx, dy = box.centre.x - control.x, box.centre.y - control.y
    clear = CIRCLE_CENTRE + 1.0
    ways = ((box.width, dx), (box.height, dy))
    share = min((size / 2 + clear) / abs(way) if way else math.inf for size, way in ways)
    share -= CIRCLE_CENTRE / math.hypot(dx, dy)
    return Tip(Point(box.centre.x - dx * share, box.centre.y - dy * share), math.degrees(math.atan2(dy, dx)))


def _back(tip: Tip) -> Point:
    """Where the line ends and its mark begins."""
    angle = math.radians(tip.angle)
    return Point(tip.at.x - MARK_LENGTH * math.cos(angle), tip.at.y - MARK_LENGTH * math.sin(angle))


def shortened(name: str) -> str:
    """The name on one line, cut in the middle if it is long, because names mostly differ at the beginning or end."""
    flat = " ".join(name.split())
    if len(flat) <= LONGEST_LABEL:
        return flat
    keep = LONGEST_LABEL - 1
    return f"{flat[: keep - keep // 3]}…{flat[-(keep // 3) :]}"


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """About how wide a text is in a common sans-serif font."""
    return size * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "iljtfIr.,:;'|!()[] ":
        return 0.36
    if character in "mwMW@%—…":
        return 0.92
    return 0.7 if character.isupper() else 0.61


def kind_of(mark_a: Mark, mark_b: Mark) -> str:
    """The kind of an edge, for its colour: `cause` -->, `confounded` <->, `selected` ---, `open` with a circle."""
    return next((kind for kind, ends in _KINDS.items() if ends == {mark_a, mark_b}), "open")
