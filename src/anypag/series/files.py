"""Results of time series as files: JSON (the window's result, with processes and lags), CSV, pictures, the report."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from anypag.errors import FormatError, ParameterError
from anypag.explain import explain
from anypag.files import write_pieces, write_whole
from anypag.graphs.formats.registry import write_graph
from anypag.graphs.formats.tables import csv_text
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.pag import PAG
from anypag.markup import shown_share
from anypag.plot import geometry
from anypag.plot.draw import with_contexts
from anypag.plot.labels import Legend, apart, legend_for
from anypag.plot.with_matplotlib import file_of
from anypag.results.files import document_in, json_pieces, load_result, meta_of, streamed_document
from anypag.saving import PICTURES, check_ending
from anypag.series.edges import SeriesEdge, SummaryEdge
from anypag.series.series_result import SeriesResult
from anypag.series.window import Window
from anypag.stored import Object, Text, Variables, plain_object

HEADER = Object({**plain_object(Window).forms, "told": Text()}, missing={"contexts": ()}, get=dict.__getitem__)
"""The fields that a file has about the window. Files of early versions have no `contexts`."""
COLUMNS = ("from", "to", "lag", "edge", "probability", "resamples", "in_words")
BENDS_OF = {1: (0.0,), 2: (0.1, -0.1), 3: (0.16, 0.0, -0.16)}  # {number of lines between two processes: their bends}
BENDS_OF_WINDOW = (*geometry.BENDS, 0.9, -0.9)  # has larger bends too, because the boxes of a column are close
ACROSS, DOWN = 90.0, 64.0  # in a window, in pixels: the gap between columns; the distance of the centres of rows
STYLE = """
body{font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;max-width:64rem;margin:2rem auto;
padding:0 1rem;color:#1d2733;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse}
td,th{text-align:left;vertical-align:top;padding:.25rem 1rem .25rem 0;border-bottom:1px solid #d8dee6}
td:first-child{white-space:nowrap;font-family:ui-monospace,"DejaVu Sans Mono",monospace}.soft{color:#5b6775}
svg{max-width:100%;height:auto}
@media (prefers-color-scheme:dark){body{color:#e8edf3;background:#14191f}td,th{border-color:#39444f}
.soft{color:#a5b1bf}}
"""
ASSUMED = (
    "What causes what, and how strongly, is the same at all times (the series are stationary).",
    "Values from before the window are not in the graph. If they act on values in the window, they are hidden causes.",
    "No value causes an earlier one, and causes do not run in a circle within one time.",
    "Independences in the data are those that the causes imply, not coincidences of strength (faithfulness).",
)
OF_SUMMARY = "Numbers are lags of edges: on a line between two processes, in a box between a process and its own past."
OF_WINDOW = "Each row is a process, each column a time; edges hold at all times and are drawn once."
ALL_TIMES = (
    "An experiment acts in the same way at all times of its data set. No process affects which rows are in a data set."
)


def save(result: SeriesResult, path: str | os.PathLike[str]) -> None:
    """Write a result; the ending picks the format (`SeriesResult.save`)."""
    path = Path(path)
    check_ending(path)
    ending = path.suffix.lower()
    if not path.resolve().parent.is_dir():
        raise ParameterError(f"{path} cannot be written: there is no folder {path.resolve().parent}.")
    if ending == ".json":
        document = streamed_document(result.result)
        document["meta"]["series"] = HEADER.write({**vars(result.window), "told": result.told}, Variables(()))
        write_pieces(path, (piece.encode() for piece in json_pieces(document)))
    elif ending == ".csv":
        rows = [
            (e.cause, e.effect, e.lag, e.edge.symbol, e.probability, e.again, explain(result.shown, *e.pair).summary)
            for e in result.edges
        ]
        write_whole(path, csv_text([COLUMNS, *rows]).encode())
    elif ending == ".html":
        write_whole(path, report_html(result).encode())
    elif ending in PICTURES:
        write_whole(path, file_of(*drawn(result, "summary"), ending))
    else:
        write_graph(result.pag, path)


def read_series(path: str | os.PathLike[str]) -> SeriesResult:
    """The result of a time series in a JSON file, as `SeriesResult.save` writes it; FormatError for another file."""
    document = document_in(Path(path))
    said = meta_of(document).get("series")
    if not isinstance(said, dict):
        raise FormatError(f"{Path(path).name} holds no result of a time series; read_result reads other results.")
    try:
        header = HEADER.read(said, Variables(()))
        told, window, found = header.pop("told"), Window(**header), load_result(document)
        if set(window.names) != set(found.pag.names):
            raise FormatError("the processes and lags are not those of its graph")
        return SeriesResult(window, found, told)
    except ValueError as error:
        raise FormatError(f"{Path(path).name}: {error}") from None


def report_html(result: SeriesResult) -> str:
    """One HTML page, without a script, that needs no network and no other file."""
    title = f"{result.window.k} processes, lags 0 to {result.window.max_lag}"
    title = html.escape(title if result.result.source is None else f"{result.result.source}: {title}")
    found = [] if result.audit is None else result.audit.lines
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>anypag: {title}</title><style>{STYLE}</style></head><body>",
            f"<h1>{title}</h1>",
            *(f"<p>{html.escape(line)}</p>" for line in (*result.lines(), *result.result.misfit_told)),
            f'<h2>Processes</h2><p class="soft">{OF_SUMMARY}</p>',
            result.svg("summary"),
            f'<h2>The window</h2><p class="soft">{OF_WINDOW}</p>',
            result.svg("window"),
            *_edges(result),
            "<h2>What the graph rests on</h2>",
            _listed([*ASSUMED, *([ALL_TIMES] if result.window.contexts else [])]),
            *(["<h2>The data</h2>", _listed(found)] if found else []),
            "</body></html>",
        ]
    )


def _edges(result: SeriesResult) -> Iterator[str]:
    """The table of edges. A column for probabilities or shares of resamples is there only if some edge has one."""
    shares = {"probability": [e.probability for e in result.edges], "resamples": [e.again for e in result.edges]}
    shares = {head: values for head, values in shares.items() if any(value is not None for value in values)}
    heads = "".join(f"<th>{head}</th>" for head in ("edge", *shares, "in words"))
    yield f"<h2>Edges</h2><table><thead><tr>{heads}</tr></thead><tbody>"
    for edge, *numbers in zip(result.edges, *shares.values(), strict=True):
        shown = ["" if number is None else shown_share(number) for number in numbers]
        cells = [str(edge), *shown, explain(result.shown, *edge.pair).summary]
        yield f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"
    yield "</tbody></table>"


def _listed(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def drawn(result: SeriesResult, what: str) -> tuple[geometry.Picture, Legend]:
    if what not in {"summary", "window"}:
        raise ParameterError(f"There are pictures of the 'summary' and of the 'window'; got {what!r}.")
    found = with_contexts(summary_picture(result) if what == "summary" else window_picture(result), result.result)
    legend = legend_for([line.edge for line in found.lines], selection=result.choices.selection_bias)
    return found, legend


def summary_picture(result: SeriesResult) -> geometry.Picture:
    """The picture of the processes. A pair has up to 3 lines: a before b, b before a, and both at one time (lag 0)."""
    own = {one.a: _lags(one.edges) for one in result.summary if one.a == one.b}
    names = (*result.window.contexts, *result.window.processes)
    shown = {name: f"{name} ({own[name]})" if name in own else name for name in names}
    between = [one for one in result.summary if one.a != one.b]
    plain = [Edge(shown[one.a], shown[one.b], Mark.CIRCLE, Mark.CIRCLE) for one in between]
    boxes = geometry.picture(PAG.from_edges(plain, tuple(shown.values()))).boxes
    contexts = result.window.contexts

    def lines(placed: tuple[geometry.Box, ...]) -> tuple[geometry.Line, ...]:
        return apart((line for one in between for line in _lines(placed, shown, one, contexts)), placed)

    return geometry.on_paper(boxes, lines)


def _lines(
    boxes: tuple[geometry.Box, ...], shown: dict[str, str], one: SummaryEdge, contexts: tuple[str, ...]
) -> Iterator[geometry.Line]:
    """The lines between two processes, side by side."""
    groups: dict[tuple[str, str, bool], list[SeriesEdge]] = {}
    for edge in one.edges:
        groups.setdefault((edge.cause, edge.effect, edge.lag > 0), []).append(edge)
    for ((cause, effect, _), edges), bend in zip(groups.items(), BENDS_OF[len(groups)], strict=True):
        marks = SummaryEdge(cause, effect, tuple(edges)).marks
        drawn = Edge(shown[cause], shown[effect], *marks)
        swapped = (cause, effect) != (one.a, one.b)  # seen from the other end, a bend goes to the other side
        line = geometry.bowed(boxes, drawn, -bend if swapped else bend)
        yield line if cause in contexts else replace(line, lags=_lags(tuple(edges)))


def _lags(edges: tuple[SeriesEdge, ...]) -> str:
    return ", ".join(str(lag) for lag in sorted({edge.lag for edge in edges}))


def window_picture(result: SeriesResult) -> geometry.Picture:
    """The picture of the window: a row for each process, a column for each lag (0 on the right), edges into lag 0."""
    window = result.window
    widths = [max(geometry.text_width(name) for name in tier) + 22.0 for tier in window.tiers]
    centres = [sum(widths[:k]) + widths[k] / 2 + k * ACROSS for k in range(len(widths))]
    boxes = tuple(
        geometry.Box(name, name, geometry.Point(centres[column], row * DOWN), widths[column], geometry.BOX_HEIGHT)
        for column, tier in enumerate(window.tiers)
        for row, name in enumerate(tier)
    )
    edges = tuple(edge.edge.forward() for edge in result.edges)
    found = geometry.on_paper(boxes, partial(geometry.joined, edges=edges, bends=BENDS_OF_WINDOW))
    by_pair, lines = {edge.edge.forward()[:2]: edge for edge in result.edges}, list[geometry.Line]()
    for line in apart(found.lines, found.boxes):
        edge = by_pair[line.edge[:2]]
        share = edge.probability if edge.again is None else edge.again
        lines.append(replace(line, again=share, is_probability=edge.again is None))
    return replace(found, lines=tuple(lines))
