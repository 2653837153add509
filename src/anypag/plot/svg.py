"""Pictures as SVG text. Colours are attributes, which every viewer understands; the style is for browsers only."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from anypag.graphs.marks import Mark
from anypag.markup import counted, shown_share
from anypag.plot import geometry
from anypag.plot.colours import DARK, KINDS, LIGHT, variables
from anypag.plot.geometry import Box, Line, Picture, Tip, kind_of
from anypag.plot.labels import Legend, size_of

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONTS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def mark_shape(mark: Mark, ink: str = "", paper: str = "") -> str:
    """The SVG of a mark that points right, with its tip at the origin. Without `ink`, a style sheet colours it."""
    head = f' fill="{ink}" stroke-linejoin="round" stroke-width="1"' if ink else ""
    inside = f' fill="{paper}"' if paper else ""
    stem = -geometry.MARK_LENGTH
    if mark == Mark.ARROW:
        corners = "L".join(f"{x:g} {y:g}" for x, y in geometry.ARROWHEAD)
        return f'<path class="head" d="M{corners}Z"{head}/><path d="M{stem:g} 0H-7"/>'
    if mark == Mark.CIRCLE:
        place = f'cx="{-geometry.CIRCLE_CENTRE:g}" cy="0" r="{geometry.CIRCLE_RADIUS:g}"'
        return f'<path d="M{stem:g} 0H-9"/><circle {place}{inside}/>'
    return f'<path d="M{stem:g} 0H0"/>'


MARK_SHAPES = {mark: mark_shape(mark) for mark in (Mark.ARROW, Mark.CIRCLE, Mark.TAIL)}
"""The marks for the report, whose style sheet colours them."""

STYLE = f"""
.anypag{{{variables(LIGHT)};color-scheme:light dark;background:var(--paper)}}
@media (prefers-color-scheme:dark){{.anypag{{{variables(DARK)}}}}}
""" + """
.anypag text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--ink)}
.anypag .paper{fill:var(--paper)}
.anypag .node rect{fill:var(--box);stroke:var(--rim)}
.anypag .edge path,.anypag .edge circle{fill:none;stroke:currentColor;stroke-width:1.7}
.anypag .edge circle{fill:var(--paper)}
.anypag .edge .head{fill:currentColor;stroke-linejoin:round;stroke-width:1}
.anypag .open{color:var(--open)}.anypag .cause{color:var(--cause)}
.anypag .confounded{color:var(--confounded)}.anypag .selected{color:var(--selected)}
.anypag .legend text{fill:var(--soft)}
""".strip()
"""The style of the report's graph, on light paper and on dark; all of it applies within `.anypag` only."""

_STYLE = (
    "@media screen{svg.anypag{max-width:100%;height:auto}}@media (prefers-color-scheme:dark){"
    f".anypag .paper,.anypag circle{{fill:{DARK.paper}}}.anypag .halo{{stroke:{DARK.paper};fill:{DARK.paper}}}"
    f".anypag .node rect{{fill:{DARK.box};stroke:{DARK.rim}}}.anypag text{{fill:{DARK.ink}}}"
    f".anypag .legend text,.anypag .share{{fill:{DARK.soft}}}.anypag .banner{{fill:{DARK.confounded}}}"
    + "".join(
        f".anypag .{kind}{{stroke:{getattr(DARK, kind)}}}.anypag .{kind} .head{{fill:{getattr(DARK, kind)}}}"
        for kind in KINDS
    )
    + "}"
)
"""The style for browsers: a picture shrinks with its page, and changes its colours in dark mode. All of it is within
@media, which other programs ignore; they use the attributes only."""


def escape(text: str) -> str:
    """A text escaped for XML; characters that XML cannot hold become the replacement character."""
    return html.escape(_NOT_IN_XML.sub("\ufffd", text))


def svg_text(drawn: Picture, legend: Legend) -> str:
    width, height = size_of(drawn, legend)
    shift = (width - drawn.width) / 2
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" class="anypag" role="img" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" font-family="{_FONTS}">',
            f"<title>Graph of {counted(len(drawn.boxes), 'variable')} and {counted(len(drawn.lines), 'edge')}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="paper" width="{width:.0f}" height="{height:.0f}" fill="{LIGHT.paper}"/>',
            f'<g transform="translate({shift:.1f} 0)">',
            *(line_svg(line) for line in drawn.lines),
            *(box_svg(box) for box in drawn.boxes),
            *([_banner_svg(drawn)] if drawn.banner else []),
            "</g>",
            *(_legend_svg(legend, drawn.height) if legend.width else ()),
            "</svg>",
        ]
    )


def line_svg(line: Line) -> str:
    edge = line.edge
    doubted, why = (" doubted", " (takes part in claims that cannot all be true)") if line.is_doubted else ("", "")
    faint = "" if line.again is None else f' opacity="{line.opacity:.2f}"'
    share = "" if line.again is None else shown_share(line.again)
    again = share and (f", with probability {share}" if line.is_probability else f", in {share} of the resamples")
    again += f", at lag {line.lags}" if line.lags else ""
    dashed = ' stroke-dasharray="7 4"' if line.is_doubted else ""
    kind, title = kind_of(edge.mark_a, edge.mark_b), escape(f"{edge}{why}{again}")
    ink, ends = getattr(LIGHT, kind), ((edge.mark_a, line.tip_a), (edge.mark_b, line.tip_b))
    marks = (f'<g transform="{placing(tip)}">{mark_shape(mark, ink, LIGHT.paper)}</g>' for mark, tip in ends)
    return (
        f'<g class="edge {kind}{doubted}" fill="none" stroke="{ink}" stroke-width="1.7"{faint}><title>{title}</title>'
        f'<path d="{curve(line)}"{dashed}/>{"".join(marks)}</g>{_share_svg(line)}'
    )


def _share_svg(line: Line) -> str:
    """The text beside an edge: its probability, its share of resamples, or its lags."""
    if not line.lags and (line.again is None or not line.has_number):
        return ""
    place = f'x="{line.number.x:.1f}" y="{line.number.y + 4:.1f}" font-size="11" text-anchor="middle"'
    share, paper = escape(line.lags or shown_share(line.again or 0.0)), LIGHT.paper
    halo = f'<text class="halo" {place} fill="{paper}" stroke="{paper}" stroke-width="3">{share}</text>'
    return f'{halo}<text class="share" {place} fill="{LIGHT.soft}">{share}</text>'


def curve(line: Line) -> str:
    start, control, end = (f"{point.x:.1f} {point.y:.1f}" for point in (line.start, line.control, line.end))
    return f"M{start}Q{control} {end}"


def placing(tip: Tip) -> str:
    """The transform that moves a mark to its place."""
    return f"translate({tip.at.x:.1f} {tip.at.y:.1f}) rotate({tip.angle:.1f})"


def box_svg(box: Box) -> str:
    x, y, size = box.centre.x - box.width / 2, box.centre.y - box.height / 2, geometry.FONT_SIZE
    return (
        f'<g class="node"><title>{escape(box.name)}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{box.corner:g}" '
        f'fill="{LIGHT.box}" stroke="{LIGHT.rim}"/>'
        f'<text x="{box.centre.x:.1f}" y="{box.centre.y + 0.35 * size:.1f}" font-size="{size:g}" fill="{LIGHT.ink}" '
        f'text-anchor="middle">{escape(box.label)}</text></g>'
    )


def _banner_svg(drawn: Picture) -> str:
    x, y = drawn.width / 2, drawn.height - geometry.BANNER_HEIGHT / 2
    look = f'font-size="13" font-weight="600" fill="{LIGHT.confounded}" text-anchor="middle"'
    return f'<text class="banner" x="{x:.1f}" y="{y:.1f}" {look}>{escape(drawn.banner)}</text>'


def _legend_svg(legend: Legend, top: float) -> Iterator[str]:
    yield f'<g class="legend" fill="{LIGHT.soft}" transform="translate(0 {top:.1f})">'
    for entry in legend.entries:
        yield line_svg(entry.line)
        for name, (x, y) in entry.names:
            yield f'<text x="{x:g}" y="{y + 4.5:g}" font-size="13" text-anchor="middle">{escape(name)}</text>'
        yield f'<text x="{entry.text_at.x:g}" y="{entry.text_at.y + 4.5:g}" font-size="13">{escape(entry.text)}</text>'
    yield "</g>"
