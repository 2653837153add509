"""The layout of nodes, and the largest graph that is drawn.

igraph's Kamada–Kawai layout makes distances on paper similar to distances in the graph. It runs from several starting
points. Each layout is rotated so that arrows tend to point down, and its boxes are pushed apart. In the best layouts
(few crossings, short lines) boxes are also pushed off lines, and the best result is taken. A large component gets a
single layout. Starting points come from a fixed seed, so the same graph always gives the same picture.
"""

from __future__ import annotations

import math
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags
from anypag.errors import GraphError, MissingExtraError
from anypag.graphs.base import Marks, MixedGraph
from anypag.graphs.marks import Mark

CAREFUL_NODES, CAREFUL_EDGES = 300, 300
"""A component up to this size gets several layouts, not one. In a graph up to this size lines bend around boxes."""
MOST_NODES, MOST_EDGES = 2000, 3000  # larger pictures could not be read and are not drawn
Points = npt.NDArray[np.float64]  # (n, 2) x and y, y growing downwards
EdgeEnds = npt.NDArray[np.intp]  # (k,) indices of nodes, or (k, 2) pairs of such indices

STEP = (180.0, 128.0)  # the distance of neighbours in pixels, horizontally and vertically
MARGIN = (26.0, 30.0)  # free space kept between two boxes, in pixels
_CLOSE = 40.0  # boxes this close (in pixels) are rechecked, because a push may make them overlap
_MOST_TRIES = 24  # the most layouts of one component that are tried
_WORK_APART = 40_000_000  # the most pairs of boxes that all rounds of pushing check in total
_WORK_PER_LAYOUT = 1500  # the most nodes × tries for one component
ROOM = 54.0  # the least length of an edge between its two boxes, in pixels
MOST_STRETCHED = 1.7  # the largest factor by which a layout is stretched
MOST_TO_STRETCH = 30  # the most nodes of a component that is stretched; larger pictures would only be scaled down


def is_small(nodes: int, edges: int) -> bool:
    """Is the graph small enough for several layouts and bent lines?"""
    return nodes <= CAREFUL_NODES and edges <= CAREFUL_EDGES


def is_drawable(graph: MixedGraph) -> bool:
    """Can a picture of the whole graph be read?"""
    return len(graph) <= MOST_NODES and len(graph.edges()) <= MOST_EDGES


def require_drawable(graph: MixedGraph) -> None:
    """Raise GraphError, which says what to do instead, if a graph has too many variables or edges for a picture."""
    if not is_drawable(graph):
        raise GraphError(
            f"A graph of {len(graph):,} variables and {len(graph.edges()):,} edges is too large for a picture: at most "
            f"{MOST_NODES:,} and {MOST_EDGES:,} are drawn. Write the report (.html), which shows the edges of one "
            "variable at a time, or the table (.csv); or draw the subgraph of some variables."
        )


def plotting(module: str) -> ModuleType:
    """A module of the extra `plot`. Raises MissingExtraError if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f"Pictures need {library}: pip install {library}, or install anypag with its extra 'plot'."
        ) from None


def positions(marks: Marks, sizes: Points) -> Points:
    """(n, 2) the centres of the nodes of a graph. `sizes` (n, 2): the width and height of their boxes."""
    igraph = plotting("igraph")
    graph = igraph.Graph(n=len(marks), edges=np.argwhere(np.triu(marks)).astype(np.intp).tolist())
    groups = [np.array(group) for group in graph.connected_components()]
    groups.sort(key=lambda group: (-len(group), group[0]))
    placed = [_component(graph, group, marks, sizes[group]) for group in groups]
    centres = np.zeros((len(marks), 2))
    for group, corner, points in zip(groups, _shelves(placed, groups, sizes), placed, strict=True):
        centres[group] = points + corner
    return centres


def _component(graph: Any, group: npt.NDArray[np.intp], marks: Marks, sizes: Points) -> Points:
    """The layout of one connected component, with its top left corner at the origin."""
    if len(group) == 1:
        return np.array(sizes / 2)
    part, inner = graph.induced_subgraph(group.tolist()), marks[np.ix_(group, group)]
    pairs = np.argwhere(np.triu(inner)).astype(np.intp)
    if not is_small(len(group), len(pairs)):
        return _at_origin(_laid_out(part, inner, sizes, _starts(len(group), 1)[0]), sizes)
    badness = partial(_badness, pairs=pairs, marks=inner, sizes=sizes)
    tries = max(1, min(_MOST_TRIES, _WORK_PER_LAYOUT // len(group)))
    layouts = sorted((_laid_out(part, inner, sizes, start) for start in _starts(len(group), tries)), key=badness)
    best = min((cleared(points, pairs, sizes) for points in layouts[: 1 + 200 // len(group)]), key=badness)
    return _at_origin(_stretched(best, pairs, sizes), sizes)


def _stretched(points: Points, pairs: EdgeEnds, sizes: Points) -> Points:
    """The layout, stretched until the shortest edge has space for its two marks and a number."""
    if not len(pairs) or len(points) > MOST_TO_STRETCH:
        return points
    way = np.abs(points[pairs[:, 1]] - points[pairs[:, 0]])
    length = np.hypot(*way.T)
    half = (sizes[pairs[:, 0]] + sizes[pairs[:, 1]]) / 2  # half the width and height of both boxes together
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = length * np.nanmin(half / way, axis=1)
    wanted = (ROOM + inside) / np.maximum(length, 1.0)
    return points * float(np.clip(wanted.max(), 1.0, MOST_STRETCHED))


def _at_origin(points: Points, sizes: Points) -> Points:
    return np.array(points - (points - sizes / 2).min(axis=0))


def _laid_out(part: Any, inner: Marks, sizes: Points, start: Points) -> Points:
    moves = (50 if len(start) <= CAREFUL_NODES else 10) * len(start)
    raw = np.array(part.layout_kamada_kawai(seed=start.tolist(), maxiter=moves).coords)
    rounds = min(40, max(5, _WORK_APART // len(start) ** 2))
    return apart(_turned(raw, _flow(inner)) * STEP, sizes, rounds=rounds)


def around(sizes: Points) -> Points:
    """The centres of boxes on a circle, in order; the circle is wide enough that no two boxes overlap."""
    n = len(sizes)
    reach = float((sizes + MARGIN).max()) if n else 0.0
    radius = max(reach, n * reach / (2 * np.pi))
    angles = 2 * np.pi * np.arange(n) / max(n, 1) - np.pi / 2
    return np.asarray(radius * np.column_stack([np.cos(angles), np.sin(angles)]))


def _starts(n: int, tries: int) -> list[Points]:
    """The nodes on a circle, in a few different orders."""
    rng = np.random.default_rng(n)
    angles = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return [circle, *(circle[rng.permutation(n)] for _ in range(tries - 1))]


def _flow(marks: Marks) -> EdgeEnds:
    return np.argwhere((marks == Mark.ARROW) & (marks.T != Mark.ARROW)).astype(np.intp)


def _turned(points: Points, flow: EdgeEnds) -> Points:
    """The layout, rotated so that arrows tend to point down and the picture is wider than high."""
    points, angles = points - points.mean(axis=0), np.linspace(0, 2 * np.pi, 33)[:-1]
    ways = [points @ np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]]) for t in angles]

    def goodness(way: Points) -> float:
        across, down = np.ptp(way, axis=0) + 1e-9
        return _downward(way, flow) - 0.6 * float(np.log(max(down / across, 1e-3)))

    return max(ways, key=goodness)


def _downward(points: Points, flow: EdgeEnds) -> float:
    """The mean direction of the arrows: 1 if all point straight down."""
    if not len(flow):
        return 0.0
    steps = points[flow[:, 1]] - points[flow[:, 0]]
    return float((steps[:, 1] / np.hypot(*steps.T)).mean())


def apart(points: Points, sizes: Points, rounds: int = 40) -> Points:
    """The points after at most `rounds` rounds that push overlapping boxes apart, along the axis with less overlap."""
    space = (sizes[:, None] + sizes[None]) / 2 + MARGIN
    for _ in range(rounds):
        need = space - np.abs(points[:, None] - points[None])
        close = np.argwhere(np.triu((need > -_CLOSE).all(axis=2), 1))
        if not (need[close[:, 0], close[:, 1]] > 1e-6).all(axis=1).any():
            break
        points = _pushed(points, close[:, 0], close[:, 1], space)
    return points


def _pushed(points: Points, one: EdgeEnds, other: EdgeEnds, space: Points) -> Points:
    """The points after ten rounds of small pushes to every pair of boxes that overlap."""
    points, wanted = np.array(points), space[one, other]
    for _ in range(10):
        gap = points[other] - points[one]
        need = wanted - np.abs(gap)
        clash = np.flatnonzero((need > 1e-6).all(axis=1))
        axis = np.argmin(need[clash], axis=1)
        push = np.zeros((len(clash), 2))
        sign = np.where(gap[clash, axis] < 0, -1.0, 1.0)
        push[np.arange(len(clash)), axis] = sign * (need[clash, axis] / 4 + 0.25)
        np.add.at(points, other[clash], push)
        np.add.at(points, one[clash], -push)
    return points


def cleared(points: Points, pairs: EdgeEnds, sizes: Points) -> Points:
    """The points, with boxes pushed sideways off lines where possible."""
    for _ in range(min(25, 4000 // len(points))):
        over = boxes_on(points[pairs[:, 0]], points[pairs[:, 1]], points, sizes)
        over[np.arange(len(pairs))[:, None], pairs] = False
        moves = np.zeros_like(points)
        for line, box in np.argwhere(over).tolist():
            moves[box] += _sideways(points[pairs[line, 0]], points[pairs[line, 1]], points[box], sizes[box])
        if not moves.any():
            break
        points = apart(points + moves / 2, sizes, rounds=2)
    return apart(points, sizes)


def _sideways(start: Points, end: Points, centre: Points, size: Points) -> Points:
    """The shift that moves a box just off a line."""
    normal = np.array([start[1] - end[1], end[0] - start[0]]) / np.hypot(*(end - start))
    distance = float((centre - start) @ normal)
    reach = float(np.abs(normal) @ size) / 2 + 8.0
    return np.asarray(normal * (math.copysign(reach, distance) - distance))


def _badness(points: Points, pairs: EdgeEnds, marks: Marks, sizes: Points) -> float:
    """The badness of a layout: a weighted sum of crossings, lines over boxes, line length, area, upward arrows."""
    starts, ends = points[pairs[:, 0]], points[pairs[:, 1]]
    lengths = np.hypot(*(ends - starts).T) / STEP[0]
    extent = np.ptp(points, axis=0)
    over = boxes_on(starts, ends, points, sizes).sum() - 2 * len(pairs)  # each line begins and ends on a box
    return (
        float(_crossings(starts, ends))
        + 4.0 * float(over)
        + 0.3 * float(lengths.sum())
        + 0.3 * float(extent.prod()) / (STEP[0] * STEP[1])
        - 0.3 * len(pairs) * _downward(points, _flow(marks))
    )


def _crossings(starts: Points, ends: Points) -> int:
    """How many pairs of lines cross (lines that share an end do not)."""
    i, j = np.triu_indices(len(starts), 1)
    side_1 = _side(starts[i], ends[i], starts[j]) * _side(starts[i], ends[i], ends[j])
    side_2 = _side(starts[j], ends[j], starts[i]) * _side(starts[j], ends[j], ends[i])
    return int(((side_1 < -1e-6) & (side_2 < -1e-6)).sum())


def _side(start: Points, end: Points, point: Points) -> Points:
    (ax, ay), (bx, by) = (end - start).T, (point - start).T
    return np.asarray(ax * by - ay * bx)


def boxes_on(starts: Points, ends: Points, points: Points, sizes: Points, margin: float = 6.0) -> Flags:
    """(m, n) whether each straight line runs over each box (by the slab method)."""
    steps = np.where(np.abs(ends - starts) < 1e-9, 1e-9, ends - starts)[:, None]
    half, away = sizes / 2 + margin, points - starts[:, None]
    near, far = (away - half) / steps, (away + half) / steps
    enter, leave = np.minimum(near, far).max(axis=2), np.maximum(near, far).min(axis=2)
    return np.asarray((enter < leave) & (leave > 0) & (enter < 1))


def _shelves(placed: list[Points], groups: list[npt.NDArray[np.intp]], sizes: Points) -> list[Points]:
    """The top left corner of each component. A row may be as wide as the widest component, or 1.3 √(total area)."""
    extents = [(points + sizes[group] / 2).max(axis=0) for points, group in zip(placed, groups, strict=True)]
    area = sum(float(np.prod(extent + 2 * np.array(MARGIN))) for extent in extents)
    width = max(max(extent[0] for extent in extents), 1.3 * area**0.5)
    corners, x, y, height = [], 0.0, 0.0, 0.0
    for extent in extents:
        if x > 0 and x + extent[0] > width:
            x, y, height = 0.0, y + height + 2 * MARGIN[1], 0.0
        corners.append(np.array([x, y]))
        x, height = x + extent[0] + 2 * MARGIN[0], max(height, extent[1])
    return corners
