"""The report of a time series: one HTML page, without a script, that needs no network and no other file."""

from __future__ import annotations

import html
from collections.abc import Iterator

from anypag.explain import explain
from anypag.markup import shown_share
from anypag.series.edges import SeriesEdge
from anypag.series.series_result import SeriesResult

STYLE = """
body{font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;max-width:64rem;margin:2rem auto;
padding:0 1rem;color:#1d2733;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse}
td,th{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0;border-bottom:1px solid #d8dee6}
td.edge{white-space:nowrap;font-family:ui-monospace,"DejaVu Sans Mono",monospace}.soft{color:#5b6775}
svg{max-width:100%;height:auto}
@media (prefers-color-scheme:dark){body{color:#e8edf3;background:#14191f}td,th{border-color:#39444f}
.soft{color:#a5b1bf}}
"""
ASSUMED = (
    "What causes what, and how strongly, is the same at all times (the series are stationary).",
    "Causes act within the window, or through processes in it; what is older acts as a hidden cause.",
    "Nothing causes what came before it, and causes do not run in a circle within one time.",
    "Independences in the data are those that the causes imply, not coincidences of strength (faithfulness).",
)
ALL_TIMES = (
    "An experiment acts in the same way at all times of its data set; nothing measured decides which rows are in it."
)


def report_html(result: SeriesResult) -> str:
    """The text of the page."""
    title = html.escape(f"{result.window.k} processes, lags 0 to {result.window.max_lag}")
    source = "" if result.result.source is None else f"{html.escape(result.result.source)}: "
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>anypag: {source}{title}</title><style>{STYLE}</style></head><body>",
            f"<h1>{source}{title}</h1>",
            *(f"<p>{html.escape(line)}</p>" for line in (*result.lines(), *result.result.misfit_told)),
            *_pictures(result),
            *_edges(result),
            *_listed("What it rests on", [*ASSUMED, *([ALL_TIMES] if result.window.contexts else [])]),
            *_listed("The data", _findings(result)),
            "</body></html>",
        ]
    )


def _pictures(result: SeriesResult) -> Iterator[str]:
    yield "<h2>Processes</h2>"
    yield '<p class="soft">Numbers at lines and in boxes are lags; a box names lags of the process itself.</p>'
    yield result.svg("summary")
    yield "<h2>The window</h2>"
    yield '<p class="soft">Each row is a process, each column a time; edges hold at all times and are drawn once.</p>'
    yield result.svg("window")


def _edges(result: SeriesResult) -> Iterator[str]:
    yield "<h2>Edges</h2><table><thead><tr><th>edge</th>"
    heads = [name for name, there in _numbers(result).items() if there]
    yield "".join(f"<th>{head}</th>" for head in heads) + "<th>in words</th></tr></thead><tbody>"
    for edge in result.edges:
        numbers = [_shown(edge, head) for head in heads]
        told = explain(result.shown, *edge.pair).summary
        cells = "".join(f"<td>{number}</td>" for number in numbers)
        yield f'<tr><td class="edge">{html.escape(str(edge))}</td>{cells}<td>{html.escape(told)}</td></tr>'
    yield "</tbody></table>"


def _numbers(result: SeriesResult) -> dict[str, bool]:
    return {
        "probability": any(edge.probability is not None for edge in result.edges),
        "resamples": any(edge.again is not None for edge in result.edges),
    }


def _shown(edge: SeriesEdge, head: str) -> str:
    number = edge.probability if head == "probability" else edge.again
    return "" if number is None else shown_share(number)


def _findings(result: SeriesResult) -> list[str]:
    audit = result.audit
    if audit is None:
        return []
    return [str(finding) for finding in audit.findings] or [audit.all_clear]


def _listed(title: str, lines: tuple[str, ...] | list[str]) -> Iterator[str]:
    if lines:
        yield f"<h2>{title}</h2><ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>"
