"""Pictures drawn by matplotlib: for `result.plot()`, PNG and PDF files."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from anypag.graphs.marks import Mark
from anypag.markup import shown_share
from anypag.plot.geometry import (
    ARROWHEAD,
    BANNER_HEIGHT,
    CIRCLE_CENTRE,
    CIRCLE_RADIUS,
    FONT_SIZE,
    Box,
    Line,
    Picture,
    Point,
    Tip,
    kind_of,
)
from anypag.plot.labels import LIGHT, Entry, Legend
from anypag.plot.layout import plotting

_COLOURS = {kind: getattr(LIGHT, kind) for kind in ("cause", "confounded", "selected", "open")}
_PAPER, _INK, _SOFT, _BOX, _RIM = LIGHT.paper, LIGHT.ink, LIGHT.soft, LIGHT.box, LIGHT.rim
_PIXELS_PER_INCH = 96.0
_MOST_PIXELS = 20_000_000
_POINTS = 72.0 / _PIXELS_PER_INCH  # points per pixel: font sizes and line widths of matplotlib are in points


def figure_of(drawn: Picture, legend: Legend | None) -> Any:
    """A figure of the picture's size, one pixel per unit."""
    figures = plotting("matplotlib.figure")
    figure = figures.Figure(figsize=_inches(drawn, legend), dpi=_PIXELS_PER_INCH, facecolor=_PAPER)
    _draw(figure.add_axes((0.0, 0.0, 1.0, 1.0)), drawn, legend)
    return figure


def axes_of(drawn: Picture, legend: Legend | None, axes: Any = None) -> Any:
    """The picture on the given axes, or on those of a new pyplot figure."""
    if axes is None:
        pyplot = plotting("matplotlib.pyplot")
        figure = pyplot.figure(figsize=_inches(drawn, legend), dpi=_PIXELS_PER_INCH, facecolor=_PAPER)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    else:
        axes.set_aspect("equal")
    _draw(axes, drawn, legend)
    return axes


def _size(drawn: Picture, legend: Legend | None) -> tuple[float, float]:
    """Width and height of a picture with its legend, in pixels."""
    if legend is None:
        return max(drawn.width, 1.0), max(drawn.height, 1.0)
    return max(drawn.width, legend.width, 1.0), max(drawn.height + legend.height, 1.0)


def _inches(drawn: Picture, legend: Legend | None) -> tuple[float, float]:
    width, height = _size(drawn, legend)
    return width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH


def _draw(axes: Any, drawn: Picture, legend: Legend | None) -> None:
    width, height = _size(drawn, legend)
    shift = (width - drawn.width) / 2
    axes.set_xlim(-shift, width - shift)
    axes.set_ylim(height, 0.0)
    axes.set_axis_off()
    _draw_lines(axes, drawn.lines)
    for box in drawn.boxes:
        _draw_box(axes, box)
    if drawn.banner:
        at = Point(drawn.width / 2, drawn.height - BANNER_HEIGHT / 2)
        _draw_text(axes, at, drawn.banner, 13.0, _COLOURS["confounded"], "center")
    for entry in () if legend is None else legend.entries:
        _draw_entry(axes, entry, Point(-shift, drawn.height))


def file_of(drawn: Picture, legend: Legend | None, ending: str) -> bytes:
    """The picture as a PDF page of its size, or a PNG with two pixels per unit, fewer if it would be too large."""
    figure, file = figure_of(drawn, legend), io.BytesIO()
    width, height = figure.get_size_inches() * _PIXELS_PER_INCH
    scale = min(2.0, math.sqrt(_MOST_PIXELS / (width * height)))
    options: dict[str, Any] = {"dpi": scale * _PIXELS_PER_INCH}
    if ending == ".pdf":  # without a date the same graph gives the same file
        options = {"metadata": {"CreationDate": None, "Title": "Graph"}}
    figure.savefig(file, format=ending.removeprefix("."), **options)
    return file.getvalue()


def _on_paper(colour: str, opacity: float) -> str:
    """The opaque colour that looks like a transparent one on paper, so that lines do not shine through marks."""
    shades = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - opacity * (255 - shade)):02x}" for shade in shades)


def _draw_lines(axes: Any, lines: Sequence[Line], shift: Point = Point(0.0, 0.0)) -> None:  # noqa: B008 (a constant)
    """Draw all lines with their marks as a few collections, ten times faster than single shapes."""
    if not lines:
        return
    paths, collections = plotting("matplotlib.path"), plotting("matplotlib.collections")
    codes = [paths.Path.MOVETO, paths.Path.CURVE3, paths.Path.CURVE3]
    curves = [
        paths.Path([(point.x + shift.x, point.y + shift.y) for point in (line.start, line.control, line.end)], codes)
        for line in lines
    ]
    colours = [_on_paper(_COLOURS[kind_of(line.edge.mark_a, line.edge.mark_b)], line.opacity) for line in lines]
    width = 1.7 * _POINTS
    styles = [(0, (4.0, 2.5)) if line.is_doubted else "-" for line in lines]
    axes.add_collection(
        collections.PathCollection(
            curves, facecolors="none", edgecolors=colours, linewidths=width, linestyles=styles, zorder=1
        )
    )
    marks = [
        (mark, Tip(Point(tip.at.x + shift.x, tip.at.y + shift.y), tip.angle), colour)
        for line, colour in zip(lines, colours, strict=True)
        for mark, tip in ((line.edge.mark_a, line.tip_a), (line.edge.mark_b, line.tip_b))
    ]
    _draw_stems(axes, marks, width)
    _draw_heads(axes, marks, width)
    for line in lines:
        if line.lags or (line.again is not None and line.has_number):
            _draw_text(axes, line.number, line.lags or shown_share(line.again or 0.0), 11.0, _SOFT, "center")


def _draw_stems(axes: Any, marks: Sequence[tuple[Mark, Tip, str]], width: float) -> None:
    """The straight pieces between the lines and their ends."""
    collections = plotting("matplotlib.collections")
    stems = [
        [_turned(tip, -11.5, 0.0), _turned(tip, 0.0 if mark == Mark.TAIL else -8.0, 0.0)] for mark, tip, _ in marks
    ]
    colours = [colour for *_, colour in marks]
    axes.add_collection(
        collections.LineCollection(stems, colors=colours, linewidths=width, capstyle="butt", zorder=2, snap=False)
    )


def _draw_heads(axes: Any, marks: Sequence[tuple[Mark, Tip, str]], width: float) -> None:
    """Arrowheads and circles."""
    paths, collections = plotting("matplotlib.path"), plotting("matplotlib.collections")
    arrows = [([_turned(tip, x, y) for x, y in ARROWHEAD], colour) for mark, tip, colour in marks if mark == Mark.ARROW]
    circles = [
        (paths.Path.circle(_turned(tip, -CIRCLE_CENTRE, 0.0), CIRCLE_RADIUS), colour)
        for mark, tip, colour in marks
        if mark == Mark.CIRCLE
    ]
    if arrows:
        corners, colours = zip(*arrows, strict=True)
        # colours as lists, because older versions read a pair as a colour and its opacity
        axes.add_collection(collections.PolyCollection(corners, facecolors=list(colours), linewidths=0.0, zorder=3))
    if circles:
        rounds, colours = zip(*circles, strict=True)
        axes.add_collection(
            collections.PathCollection(rounds, facecolors=_PAPER, edgecolors=list(colours), linewidths=width, zorder=3)
        )


def _turned(tip: Tip, x: float, y: float) -> Point:
    """A point of a mark, moved to the mark's place."""
    cos, sin = math.cos(math.radians(tip.angle)), math.sin(math.radians(tip.angle))
    return Point(tip.at.x + x * cos - y * sin, tip.at.y + x * sin + y * cos)


def _draw_box(axes: Any, box: Box) -> None:
    patches = plotting("matplotlib.patches")
    corner = (box.centre.x - box.width / 2 + 7, box.centre.y - box.height / 2 + 7)
    frame = patches.FancyBboxPatch(
        corner,
        box.width - 14,
        box.height - 14,
        boxstyle=f"round,pad=7,rounding_size={box.corner:g}" if box.corner else "square,pad=7",
        facecolor=_BOX,
        edgecolor=_RIM,
        linewidth=_POINTS,
        zorder=4,
    )
    axes.add_patch(frame)
    _draw_text(axes, box.centre, box.label, FONT_SIZE, _INK, "center")


def _draw_entry(axes: Any, entry: Entry, shift: Point) -> None:
    _draw_lines(axes, [entry.line], shift)
    for name, place in entry.names:
        _draw_text(axes, Point(place.x + shift.x, place.y + shift.y), name, 13.0, _SOFT, "center")
    _draw_text(axes, Point(entry.text_at.x + shift.x, entry.text_at.y + shift.y), entry.text, 13.0, _SOFT, "left")


def _draw_text(axes: Any, at: Point, text: str, size: float, colour: str, align: str) -> None:
    literal = text.replace("$", r"\$")  # otherwise matplotlib would parse formulas
    axes.text(at.x, at.y, literal, fontsize=size * _POINTS, color=colour, ha=align, va="center_baseline", zorder=5)
