"""Results of time series in files. The JSON file is that of the window's result, which all commands read, with the
processes and lags beside it.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from pathlib import Path

from anypag.errors import FormatError, ParameterError
from anypag.explain import explain
from anypag.files import write_pieces, write_whole
from anypag.graphs.formats.registry import write_graph
from anypag.graphs.formats.tables import csv_text
from anypag.markup import shown_share
from anypag.plot.with_matplotlib import file_of
from anypag.results.files import document_in, json_pieces, load_result, streamed_document
from anypag.saving import PICTURES, check_ending
from anypag.series.pictures import drawn
from anypag.series.series_result import SeriesResult
from anypag.series.window import Window

COLUMNS = ("from", "to", "lag", "edge", "probability", "resamples", "in_words")


def save(result: SeriesResult, path: str | os.PathLike[str]) -> None:
    """Write a result; the ending picks the format (`SeriesResult.save`)."""
    path = Path(path)
    check_ending(path)
    ending = path.suffix.lower()
    if not path.resolve().parent.is_dir():
        raise ParameterError(f"{path} cannot be written: there is no folder {path.resolve().parent}.")
    if ending == ".json":
        document = streamed_document(result.result)
        document["meta"]["series"] = {"processes": list(result.window.processes), "max_lag": result.window.max_lag}
        document["meta"]["series"] |= {"contexts": list(result.window.contexts), "told": result.told}
        write_pieces(path, (piece.encode() for piece in json_pieces(document)))
    elif ending == ".csv":
        write_whole(path, csv_text([COLUMNS, *edge_rows(result)]).encode())
    elif ending == ".html":
        write_whole(path, report_html(result).encode())
    elif ending in PICTURES:
        write_whole(path, file_of(*drawn(result, "summary"), ending))
    else:
        write_graph(result.pag, path)


def edge_rows(result: SeriesResult) -> list[tuple[object, ...]]:
    """The values of `COLUMNS` for every edge."""
    return [
        (e.cause, e.effect, e.lag, e.edge.symbol, e.probability, e.again, explain(result.shown, *e.pair).summary)
        for e in result.edges
    ]


def read_series(path: str | os.PathLike[str]) -> SeriesResult:
    """The result of a time series in a JSON file, as `SeriesResult.save` writes it; FormatError for another file."""
    document = document_in(Path(path))
    meta = document.get("meta") if isinstance(document, dict) else None
    said = meta.get("series") if isinstance(meta, dict) else None
    if not isinstance(said, dict):
        raise FormatError(f"{Path(path).name} holds no result of a time series; read_result reads other results.")
    try:
        contexts = tuple(map(str, said.get("contexts", ())))
        window = Window(tuple(map(str, said["processes"])), int(said["max_lag"]), contexts)
        found = load_result(document)
        if set(window.names) != set(found.pag.names):
            raise FormatError("the processes and lags are not those of its graph")
        return SeriesResult(window, found, str(said["told"]))
    except (KeyError, TypeError, ValueError, FormatError) as error:
        raise FormatError(f"{Path(path).name}: {error}") from None


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
    "Causes act within the window, or through processes in it; what is older acts as a hidden cause.",
    "Nothing causes what came before it, and causes do not run in a circle within one time.",
    "Independences in the data are those that the causes imply, not coincidences of strength (faithfulness).",
)
OF_SUMMARY = "Numbers at lines and in boxes are lags; a box names lags of the process itself."
OF_WINDOW = "Each row is a process, each column a time; edges hold at all times and are drawn once."
ALL_TIMES = (
    "An experiment acts in the same way at all times of its data set; nothing measured decides which rows are in it."
)


def report_html(result: SeriesResult) -> str:
    """One HTML page, without a script, that needs no network and no other file."""
    title = f"{result.window.k} processes, lags 0 to {result.window.max_lag}"
    title = html.escape(title if result.result.source is None else f"{result.result.source}: {title}")
    found = [] if result.audit is None else [*map(str, result.audit.findings)] or [result.audit.all_clear]
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
            "<h2>What it rests on</h2>",
            _listed([*ASSUMED, *([ALL_TIMES] if result.window.contexts else [])]),
            *(["<h2>The data</h2>", _listed(found)] if found else []),
            "</body></html>",
        ]
    )


def _edges(result: SeriesResult) -> Iterator[str]:
    """The table of edges, with the numbers that there are."""
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
