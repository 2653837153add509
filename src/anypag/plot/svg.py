"""Pictures as SVG text: no program needed but the one that shows them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from anypag.graphs.marks import Mark
from anypag.plot.geometry import BANNER_HEIGHT, FONT_SIZE, MARK_LENGTH, Box, Line, Picture, Tip, kind_of
from anypag.plot.legend import Legend

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

MARK_SHAPES = {
    Mark.ARROW: f'<path class="head" d="M0 0L{-MARK_LENGTH:g} -5.5L{-MARK_LENGTH + 2.5:g} 0L{-MARK_LENGTH:g} 5.5Z"/>'
    f'<path d="M{-MARK_LENGTH:g} 0H-7"/>',
    Mark.CIRCLE: f'<path d="M{-MARK_LENGTH:g} 0H-9"/><circle cx="-4.7" cy="0" r="4.2"/>',
    Mark.TAIL: f'<path d="M{-MARK_LENGTH:g} 0H0"/>',
}
"""The marks, their tips at the origin, pointing right."""

STYLE = """
.anypag{--paper:#fff;--ink:#1d2733;--soft:#5b6775;--box:#f3f6fa;--rim:#8493a5;--open:#6b7785;--cause:#1259a8;
--confounded:#b3470e;--selected:#7a3aa0;color-scheme:light dark;background:var(--paper)}
@media (prefers-color-scheme:dark){.anypag{--paper:#14191f;--ink:#e8edf3;--soft:#a5b1bf;--box:#222b35;--rim:#6d7c8e;
--open:#9aa7b5;--cause:#6cb2ff;--confounded:#ffa06b;--selected:#d09cf5}}
.anypag text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--ink)}
.anypag .paper{fill:var(--paper)}
.anypag .node rect{fill:var(--box);stroke:var(--rim)}
.anypag .edge path,.anypag .edge circle{fill:none;stroke:currentColor;stroke-width:1.7}
.anypag .edge circle{fill:var(--paper)}
.anypag .edge .head{fill:currentColor;stroke-linejoin:round;stroke-width:1}
.anypag .open{color:var(--open)}.anypag .cause{color:var(--cause)}
.anypag .confounded{color:var(--confounded)}.anypag .selected{color:var(--selected)}
.anypag .legend text,.anypag text.share{fill:var(--soft)}
.anypag text.share{text-anchor:middle;stroke:var(--paper);stroke-width:3;paint-order:stroke}
.anypag .doubted>path{stroke-dasharray:7 4}
.anypag .banner{fill:var(--confounded);font-weight:600}
""".strip()
"""Colours for light and dark paper; all of it applies within `.anypag` only."""


def escape(text: str) -> str:
    """A text as it can stand in XML; what can not, not even escaped, becomes the replacement character."""
    return html.escape(_NOT_IN_XML.sub("\ufffd", text))


def svg_text(drawn: Picture, legend: Legend | None) -> str:
    """The SVG of a picture, with its legend below."""
    below = 0.0 if legend is None else legend.height
    width = drawn.width if legend is None else max(drawn.width, legend.width)
    shift = (width - drawn.width) / 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="anypag" role="img" viewBox="0 0 {width:.0f} '
            f'{drawn.height + below:.0f}" width="{width:.0f}" height="{drawn.height + below:.0f}" '
            f'style="max-width:100%;height:auto">',
            f"<title>{escape(_title(drawn))}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{width:.0f}" height="{drawn.height + below:.0f}"/>',
            f'<g transform="translate({shift:.1f} 0)">',
            *(line_svg(line) for line in drawn.lines),
            *(box_svg(box) for box in drawn.boxes),
            *_banner_svg(drawn),
            "</g>",
            *(() if legend is None else _legend_svg(legend, drawn.height)),
            "</svg>",
        ]
    )


def line_svg(line: Line) -> str:
    """An edge with its marks."""
    edge = line.edge
    doubted, why = (" doubted", " (in a contradiction)") if line.is_doubted else ("", "")
    faint = "" if line.again is None else f' opacity="{line.opacity:.2f}"'
    again = "" if line.again is None else f", in {line.again:.0%} of resamples"
    kind, title = kind_of(edge.mark_a, edge.mark_b), f"{escape(str(edge))}{why}{again}"
    return (
        f'<g class="edge {kind}{doubted}"{faint}><title>{title}</title>'
        f'<path d="{curve(line)}"/>{mark_svg(edge.mark_a, line.tip_a)}{mark_svg(edge.mark_b, line.tip_b)}</g>'
        f"{_share_svg(line)}"
    )


def _share_svg(line: Line) -> str:
    """How often resamples have an edge, beside its middle."""
    if line.again is None:
        return ""
    at = line.middle
    return f'<text class="share" x="{at.x:.1f}" y="{at.y - 4:.1f}" font-size="11">{100 * line.again:.0f}</text>'


def curve(line: Line) -> str:
    """The path data of a line."""
    return (
        f"M{line.start.x:.1f} {line.start.y:.1f}Q{line.control.x:.1f} {line.control.y:.1f} "
        f"{line.end.x:.1f} {line.end.y:.1f}"
    )


def mark_svg(mark: Mark, tip: Tip) -> str:
    """A mark at its place."""
    return f'<g transform="{placing(tip)}">{MARK_SHAPES[mark]}</g>'


def placing(tip: Tip) -> str:
    """The transform that brings a mark to its place."""
    return f"translate({tip.at.x:.1f} {tip.at.y:.1f}) rotate({tip.angle:.1f})"


def box_svg(box: Box) -> str:
    """A node."""
    x, y = box.centre.x - box.width / 2, box.centre.y - box.height / 2
    return (
        f'<g class="node"><title>{escape(box.name)}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="7"/>'
        f'<text x="{box.centre.x:.1f}" y="{box.centre.y + 0.35 * FONT_SIZE:.1f}" font-size="{FONT_SIZE:g}" '
        f'text-anchor="middle">{escape(box.label)}</text></g>'
    )


def _banner_svg(drawn: Picture) -> Iterator[str]:
    if drawn.banner:
        x, y = drawn.width / 2, drawn.height - BANNER_HEIGHT / 2
        yield f'<text class="banner" x="{x:.1f}" y="{y:.1f}" font-size="13" text-anchor="middle">'
        yield f"{escape(drawn.banner)}</text>"


def _legend_svg(legend: Legend, top: float) -> Iterator[str]:
    yield f'<g class="legend" transform="translate(0 {top:.1f})">'
    for entry in legend.entries:
        yield line_svg(entry.line)
        for name, place in entry.names:
            yield (
                f'<text x="{place.x:g}" y="{place.y + 4.5:g}" font-size="13" text-anchor="middle">{escape(name)}</text>'
            )
        yield f'<text x="{entry.text_at.x:g}" y="{entry.text_at.y + 4.5:g}" font-size="13">{escape(entry.text)}</text>'
    yield "</g>"


def _title(drawn: Picture) -> str:
    n, m = len(drawn.boxes), len(drawn.lines)
    return f"Graph of {n} variable{'s' * (n != 1)} and {m} edge{'s' * (m != 1)}"
