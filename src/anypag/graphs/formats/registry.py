"""One table of formats, and graphs to and from text by the name of a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy.typing as npt

from anypag.errors import FormatError, Option, ParameterError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats import caugi, dot_and_dagitty, edge_table, matrix, tetrad
from anypag.graphs.formats.parsed import Parsed, build, check_encodable
from anypag.graphs.text import parse_graph

AnyKind = TypeVar("AnyKind", bound=MixedGraph)


@dataclass(frozen=True)
class Format:
    """A way to write graphs: its reader, its writer, and the file names it goes with."""

    parse: Callable[[str], Parsed]
    dump: Callable[[MixedGraph], str]
    extensions: tuple[str, ...]


def parse_text(text: str) -> Parsed:
    """The names and edges of anypag's own text, one `A o-> B` a line; the names come in order of appearance."""
    return Parsed(*parse_graph(text))


def dump_text(graph: MixedGraph) -> str:
    """The graph as anypag's own text."""
    return f"{graph}\n"


FORMATS: dict[str, Format] = {
    "text": Format(parse_text, dump_text, (".txt", ".pag")),
    "json": Format(caugi.parse, caugi.dump, (".json",)),
    "tetrad": Format(tetrad.parse, tetrad.dump, (".tetrad",)),
    "edges": Format(edge_table.parse, edge_table.dump, (".csv",)),
    "pcalg": Format(matrix.parse_pcalg, matrix.dump_pcalg, ()),
    "causal-learn": Format(matrix.parse_causal_learn, matrix.dump_causal_learn, ()),
    "dot": Format(dot_and_dagitty.parse_dot, dot_and_dagitty.dump_dot, (".dot", ".gv")),
    "dagitty": Format(dot_and_dagitty.parse_dagitty, dot_and_dagitty.dump_dagitty, (".dagitty",)),
}

EXTENSIONS: dict[str, str] = {end: name for name, form in FORMATS.items() for end in form.extensions}


def dumps(graph: MixedGraph, format: str) -> str:
    """The graph as text.

    Args:
        graph: the graph.
        format: "text", "json", "tetrad", "edges", "pcalg", "causal-learn", "dot" or "dagitty".

    Raises:
        FormatError: the format cannot hold one of the names.

    >>> from anypag import PAG
    >>> print(dumps(PAG.from_string("A o-> B"), "dagitty"))
    pag {
    "A"
    "B"
    "A" @-> "B"
    }
    <BLANKLINE>
    """
    check_encodable(graph.names)
    return _format(format).dump(graph)


@overload
def loads(text: str, format: str, *, kind: type[AnyKind]) -> AnyKind: ...
@overload
def loads(text: str, format: str, *, kind: None = None) -> MixedGraph: ...
def loads(text: str, format: str, *, kind: type[MixedGraph] | None = None) -> MixedGraph:
    """The graph that a text holds.

    Args:
        text: the text.
        format: see `dumps`.
        kind: `PAG`, `MAG` or `DAG`. If left out, what the text says (as "json", "dot" and "dagitty" can),
            else a `PAG`.

    Raises:
        FormatError: the text holds no such graph; the message says what is wrong.

    >>> print(loads("A --> B; B --> C", "text"))
    A --> B
    B --> C
    """
    return build(_format(format).parse(text), kind)


def from_causal_learn(
    matrix_of_marks: npt.ArrayLike, names: Sequence[str], *, kind: type[MixedGraph] | None = None
) -> MixedGraph:
    """The graph in causal-learn's `GeneralGraph.graph`; a `PAG` unless another kind is asked for.

    >>> print(from_causal_learn([[0, 2], [1, 0]], ["A", "B"]))
    A o-> B
    """
    return build(matrix.parse_causal_learn_matrix(matrix_of_marks, names), kind)


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ParameterError(f"Formats are {', '.join(map(repr, FORMATS))}; got {name!r}.")
    return FORMATS[name]


def format_of(extension: str) -> str:
    """The name of the format that files with this extension (`.json`) have."""
    if extension.lower() not in EXTENSIONS:
        known = ", ".join(f"{end} ({name})" for end, name in EXTENSIONS.items())
        raise FormatError(
            f"The extension {extension!r} does not say which format it is. Known are {known}; of others say it (",
            Option("format"),
            ").",
        )
    return EXTENSIONS[extension.lower()]
