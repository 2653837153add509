"""HTML for notebooks (all texts are escaped), objects converted for JSON, and shares and durations as text."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

MOST_ROWS = 100  # rows of a table that a notebook shows
LONG = 20.0  # seconds; if something will take longer than this, a message says so beforehand


def shown_share(share: float) -> str:
    """A share or probability with two decimals, halves rounded up; "0.00" and "1.00" stand for exactly 0 and 1."""
    if 0 < share < 0.005:
        return "<0.01"
    if 0.995 <= share < 1:
        return ">0.99"
    return f"{int(100 * share + 0.5 + 1e-9) / 100:.2f}"


def plain(value: Any) -> Any:
    """The value converted for JSON: dataclasses and named tuples to dicts, tuples to lists, NaN to None."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def counted(n: int, what: str) -> str:
    """A number with its noun: `1 edge`, `2 edges`, `12,000 tests`."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def duration(seconds: float) -> str:
    """A duration in words, rounded: 40 seconds, 2 minutes, 31,710 years."""
    for name, unit in (("years", 31_536_000.0), ("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:,.0f} {name}"
    return f"{seconds:.0f} seconds" if seconds < 10 else f"{seconds / 10:.0f}0 seconds"


def time_shown(seconds: float) -> str:
    """A duration with short units: 0.25 s, 12 s, 3 min 20 s."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """The rows as lines of text with aligned columns."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def paragraphs(lines: Iterable[str]) -> str:
    """Lines of text as HTML paragraphs that keep the indentation."""
    return "".join(
        f'<p style="margin:.2em 0 .2em {(len(line) - len(line.lstrip())) // 2}em">{html.escape(line.strip())}</p>'
        for line in lines
    )


def table(heading: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """An HTML table. Of a long table it shows the first rows and the number of rows left out."""
    if not rows:
        return ""
    lines = [_row("th", heading), *(_row("td", row) for row in rows[:MOST_ROWS])]
    rest = len(rows) - MOST_ROWS
    more = paragraphs([f"... and {rest:,} more rows."]) if rest > 0 else ""
    return f'<table style="border-collapse:collapse">{"".join(lines)}</table>{more}'


def heading(text: str) -> str:
    return f'<p style="margin:.2em 0"><strong>{html.escape(text)}</strong></p>'


def block(*parts: str) -> str:
    return f"<div>{''.join(parts)}</div>"


def preformatted(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def _row(tag: str, cells: Sequence[object]) -> str:
    shown = ("" if cell is None else html.escape(str(cell)) for cell in cells)
    opened = f'<{tag} style="text-align:left;vertical-align:top;padding:.15em .8em .15em 0;white-space:pre-wrap">'
    return f"<tr>{''.join(f'{opened}{cell}</{tag}>' for cell in shown)}</tr>"
