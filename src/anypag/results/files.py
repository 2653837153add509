"""Results in JSON files: written piece by piece, and checked value by value when read (`anypag.results.schema`)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from anypag.errors import FormatError
from anypag.files import write_pieces
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import build, check_encodable
from anypag.graphs.formats.registry import read_graph
from anypag.graphs.formats.texts import caugi_document, parse_caugi_document
from anypag.graphs.pag import PAG
from anypag.results.result import Result
from anypag.results.schema import FORMAT, read_fields, write_fields
from anypag.stored import RefusedError

Document = dict[str, Any]

ROWS_AT_ONCE = 10_000  # rows that are converted to text in one call


def save_result(result: Result) -> Document:
    """The result as a document that JSON can hold.

    >>> import anypag as ap
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")))
    >>> save_result(result)["meta"]["anypag"]["separations"]
    [[0, 2, [1], 1.0, 1, None]]
    """
    document = streamed_document(result)
    document["meta"]["anypag"] = _all_rows(document["meta"]["anypag"])
    return document


def _all_rows(content: Document) -> Document:
    rows = {name: list(value) for name, value in content.items() if isinstance(value, Iterator)}
    return {**content, **rows, **{name: _all_rows(part) for name, part in content.items() if isinstance(part, dict)}}


def streamed_document(result: Result) -> Document:
    """The document, with iterators for long lists of rows: `json_pieces` computes the rows as it needs them."""
    from anypag import __version__

    check_encodable(result.pag.names)
    document = caugi_document(result.pag)
    document["meta"]["anypag"] = {"format": FORMAT, "version": __version__, **write_fields(result), **_views(result)}
    return document


def write_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a JSON file, whole or not at all."""
    write_pieces(Path(path), (piece.encode() for piece in json_pieces(streamed_document(result))))


def load_result(document: object) -> Result:
    """The result that a document holds.

    Raises:
        FormatError: it holds no result; the message says what is wrong.

    >>> import anypag as ap
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")))
    >>> load_result(save_result(result)).sepsets["C", "A"]
    Separation(given=('B',), p=1.0, r=1, n=None)
    """
    graph = build(parse_caugi_document(document), PAG)
    assert isinstance(graph, PAG)
    ours = meta_of(document).get("anypag")
    if not isinstance(ours, dict):
        raise FormatError('The file holds a graph but not how it was learned ("meta": {"anypag": ...} is not there).')
    number = ours.get("format", 1)
    try:
        if number != FORMAT:
            raise RefusedError(f"this version of anypag reads format {FORMAT}; the file has format {number!s:.20}")
        return read_fields(ours, graph)
    except RefusedError as error:
        version = ours.get("version")
        writer = f" (the file was written by anypag {version:.40})" if isinstance(version, str) else ""
        place = 'under "meta", "anypag"'
        raise FormatError(f"{error.at(place)}{writer}.") from None


def read_result(path: str | os.PathLike[str]) -> Result | MixedGraph:
    """The result in a JSON file, or the graph in a file (of any format) that holds no result.

    Raises:
        FormatError: the file holds no graph, or a broken result.
    """
    path = Path(path)
    document = document_in(path)
    if "anypag" not in meta_of(document):
        return read_graph(path)
    try:
        return load_result(document)
    except FormatError as error:
        raise FormatError(f"{path.name}: {error}") from None


def meta_of(document: object) -> Document:
    meta = document.get("meta") if isinstance(document, dict) else None
    return meta if isinstance(meta, dict) else {}


def document_in(path: Path) -> object:
    """The content of a JSON file; None for other files and for invalid JSON, which the graph reader reports."""
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig")) if path.suffix.lower() == ".json" else None
    except (OSError, ValueError, RecursionError):
        return None


def _views(result: Result) -> Document:
    """Fields for other programs. This package does not read them; it computes them from the other fields."""
    place = {name: i for i, name in enumerate(result.pag.names)}
    contradictions, withdrawn = list[Any](), list[Any]()
    for item in result.contradictions:
        statements = [[kind, place[a], place[b]] for kind, a, b in item.statements]
        contradictions.append([item.sentence, statements, [[place[a], place[b]] for a, b in item.pairs]])
    for gone in result.withdrawn:
        then, now = gone.then, None if gone.now is None else gone.now.symbol
        withdrawn.append([gone.r, place[gone.at], place[then.a], place[then.b], then.symbol, now])
    told = {"valid": result.valid, "misfit_told": list(result.misfit_told)}
    return {**told, "contradictions": contradictions, "withdrawn": withdrawn}


def json_pieces(document: Document) -> Iterator[str]:
    """The text of a document, piece by piece; the rows of an iterator are computed as they are needed."""
    return chain(_pieces(document, ""), ["\n"])


def _pieces(value: Any, indent: str) -> Iterator[str]:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        for k, (key, item) in enumerate(value.items()):
            yield f"{',' if k else '{'}\n{inner}{_flat(key)}: "
            yield from _pieces(item, inner)
        yield f"\n{indent}}}"
    elif isinstance(value, Iterator) or (isinstance(value, list) and value and isinstance(value[0], list | dict)):
        before, left = "[", iter(value)
        while some := list(islice(left, ROWS_AT_ONCE)):
            yield f"{before}\n{inner}" + f",\n{inner}".join(_rows(some, inner))
            before = ","
        yield f"\n{indent}]" if before == "," else "[]"
    else:
        yield _flat(value)


def _rows(items: list[Any], indent: str) -> list[str]:
    """The texts of the items of a list: one line each, but several lines for a large dict."""
    if any(isinstance(item, dict) and len(item) > 3 for item in items):
        return ["".join(_pieces(item, indent)) for item in items]
    if all(isinstance(item, list) for item in items):
        # all rows in one call, which is much faster; it works unless "], [" also stands inside a row
        rows = _flat(items)[2:-2].split("], [")
        if len(rows) == len(items):
            return [f"[{row}]" for row in rows]
    return [_flat(item) for item in items]


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
