"""Pictures drawn by matplotlib: for `result.plot()`, PNG and PDF files."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import Any

from anypag.graphs.marks import Mark
from anypag.markup import shown_share
from anypag.plot import geometry
from anypag.plot.colours import LIGHT
from anypag.plot.geometry import Box, Line, Picture, Point, Tip, kind_of
from anypag.plot.labels import Legend, size_of
from anypag.plot.layout import plotting
from anypag.plot.svg import svg_text

_PIXELS_PER_INCH = 96.0
_MOST_PIXELS = 20_000_000  # of a PNG file
_POINTS = 72.0 / _PIXELS_PER_INCH  # points per pixel: font sizes and line widths of matplotlib are in points


def figure_of(drawn: Picture, legend: Legend) -> Any:
    """A figure of the picture's size, one pixel per unit."""
    return _drawn_on(_new_axes(plotting("matplotlib.figure").Figure, drawn, legend), drawn, legend).figure


def axes_of(drawn: Picture, legend: Legend, axes: Any = None) -> Any:
    """The picture on the given axes, or on those of a new pyplot figure."""
    if axes is None:
        axes = _new_axes(plotting("matplotlib.pyplot").figure, drawn, legend)
    else:
        axes.set_aspect("equal")
    return _drawn_on(axes, drawn, legend)


def _drawn_on(axes: Any, drawn: Picture, legend: Legend) -> Any:
    width, height = size_of(drawn, legend)
    shift = (width - drawn.width) / 2
    axes.set_xlim(-shift, width - shift)
    axes.set_ylim(height, 0.0)
    axes.set_axis_off()
    _draw_lines(axes, drawn.lines, axes.transData)
    for box in drawn.boxes:
        _draw_box(axes, box)
    if drawn.banner:
        at = Point(drawn.width / 2, drawn.height - geometry.BANNER_HEIGHT / 2)
        _draw_text(axes, at, drawn.banner, 13.0, LIGHT.confounded)
    below = plotting("matplotlib.transforms").Affine2D().translate(-shift, drawn.height) + axes.transData
    _draw_lines(axes, [entry.line for entry in legend.entries], below)
    for entry in legend.entries:
        for name, place in entry.names:
            _draw_text(axes, place, name, 13.0, LIGHT.soft, transform=below)
        _draw_text(axes, entry.text_at, entry.text, 13.0, LIGHT.soft, ha="left", transform=below)
    return axes


def _new_axes(make: Callable[..., Any], drawn: Picture, legend: Legend) -> Any:
    inches = [pixels / _PIXELS_PER_INCH for pixels in size_of(drawn, legend)]
    return make(figsize=inches, dpi=_PIXELS_PER_INCH, facecolor=LIGHT.paper).add_axes((0.0, 0.0, 1.0, 1.0))


def file_of(drawn: Picture, legend: Legend, ending: str) -> bytes:
    """The picture as SVG, as a PDF page of its size, or as a PNG with two pixels per unit, fewer if it is large."""
    if ending == ".svg":
        return svg_text(drawn, legend).encode()
    figure, file = figure_of(drawn, legend), io.BytesIO()
    width, height = size_of(drawn, legend)
    scale = min(2.0, math.sqrt(_MOST_PIXELS / (width * height)))
    options: dict[str, Any] = {"dpi": scale * _PIXELS_PER_INCH}
    if ending == ".pdf":  # without a date the same graph gives the same file
        options = {"metadata": {"CreationDate": None, "Title": "Graph"}}
    figure.savefig(file, format=ending.removeprefix("."), **options)
    return file.getvalue()


def _draw_lines(axes: Any, lines: Sequence[Line], transform: Any) -> None:
    """Draw all lines with their marks as a few collections, ten times faster than single shapes."""
    paths, collections = plotting("matplotlib.path").Path, plotting("matplotlib.collections")

    def add(shapes: list[Any], colours: list[str], zorder: int, **look: Any) -> None:
        look = {"facecolors": "none", "edgecolors": colours, "linewidths": 1.7 * _POINTS, **look}
        if shapes:
            axes.add_collection(collections.PathCollection(shapes, transform=transform, zorder=zorder, **look))

    colours = [_on_paper(getattr(LIGHT, kind_of(line.edge.mark_a, line.edge.mark_b)), line.opacity) for line in lines]
    codes = [paths.MOVETO, paths.CURVE3, paths.CURVE3]
    styles = [(0, (4.0, 2.5)) if line.is_doubted else "-" for line in lines]
    add([paths([line.start, line.control, line.end], codes) for line in lines], colours, 1, linestyles=styles)
    marks = [
        (mark, tip, colour)
        for line, colour in zip(lines, colours, strict=True)
        for mark, tip in ((line.edge.mark_a, line.tip_a), (line.edge.mark_b, line.tip_b))
    ]
    ends = [(_turned(tip, -11.5, 0.0), _turned(tip, 0.0 if mark == Mark.TAIL else -8.0, 0.0)) for mark, tip, _ in marks]
    add([paths(stem) for stem in ends], [colour for *_, colour in marks], 2, capstyle="butt", snap=False)
    heads = [paths([_turned(tip, x, y) for x, y in geometry.ARROWHEAD]) for mark, tip, _ in marks if mark == Mark.ARROW]
    filled = [colour for mark, _, colour in marks if mark == Mark.ARROW]
    add(heads, filled, 3, facecolors=filled, linewidths=0.0)
    at = [(_turned(tip, -geometry.CIRCLE_CENTRE, 0.0), colour) for mark, tip, colour in marks if mark == Mark.CIRCLE]
    circles = [paths.circle(centre, geometry.CIRCLE_RADIUS) for centre, _ in at]
    add(circles, [colour for _, colour in at], 3, facecolors=LIGHT.paper)
    for line in lines:
        if line.lags or (line.again is not None and line.has_number):
            _draw_text(axes, line.number, line.lags or shown_share(line.again or 0.0), 11.0, LIGHT.soft)


def _on_paper(colour: str, opacity: float) -> str:
    """The opaque colour that looks like a transparent one on paper, so that lines do not shine through marks."""
    shades = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - opacity * (255 - shade)):02x}" for shade in shades)


def _turned(tip: Tip, x: float, y: float) -> Point:
    cos, sin = math.cos(math.radians(tip.angle)), math.sin(math.radians(tip.angle))
    return Point(tip.at.x + x * cos - y * sin, tip.at.y + x * sin + y * cos)


def _draw_box(axes: Any, box: Box) -> None:
    left, top = box.centre.x - box.width / 2 + 7, box.centre.y - box.height / 2 + 7
    style = f"round,pad=7,rounding_size={box.corner:g}" if box.corner else "square,pad=7"
    look = {"boxstyle": style, "facecolor": LIGHT.box, "edgecolor": LIGHT.rim, "linewidth": _POINTS, "zorder": 4}
    patches = plotting("matplotlib.patches")
    axes.add_patch(patches.FancyBboxPatch((left, top), box.width - 14, box.height - 14, **look))
    _draw_text(axes, box.centre, box.label, geometry.FONT_SIZE, LIGHT.ink)


def _draw_text(axes: Any, at: Point, text: str, size: float, colour: str, **look: Any) -> None:
    literal = text.replace("$", r"\$")  # matplotlib would read a plain $ as the start of a formula
    look = {"ha": "center", "va": "center_baseline", "zorder": 5, **look}
    axes.text(at.x, at.y, literal, fontsize=size * _POINTS, color=colour, **look)
