"""Results of time series in files. The JSON file is that of the window's result, which all commands read, with the
processes and lags beside it.
"""

from __future__ import annotations

import os
from pathlib import Path

from anypag.errors import FormatError, ParameterError
from anypag.explain import explain
from anypag.files import write_pieces, write_whole
from anypag.graphs.formats.registry import write_graph
from anypag.graphs.formats.tables import csv_text
from anypag.plot.svg import svg_text
from anypag.plot.with_matplotlib import file_of
from anypag.results.files import document_in, json_pieces, load_result, streamed_document
from anypag.saving import PICTURES, check_ending
from anypag.series.pictures import drawn
from anypag.series.report import report_html
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
        found = drawn(result, "summary")
        write_whole(path, svg_text(*found).encode() if ending == ".svg" else file_of(*found, ending))
    else:
        write_graph(result.pag, path)


def edge_rows(result: SeriesResult) -> list[tuple[object, ...]]:
    """The values of `COLUMNS` for every edge."""
    return [
        (e.cause, e.effect, e.lag, e.edge.symbol, e.probability, e.again, explain(result.shown, *e.pair).summary)
        for e in result.edges
    ]


def read_series(path: str | os.PathLike[str]) -> SeriesResult:
    """The result of a time series in a JSON file, as `SeriesResult.save` writes it.

    Raises:
        FormatError: the file holds no such result.
    """
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
