"""Writes results to files; the ending of the name picks the format."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from anypag.errors import ParameterError
from anypag.files import target_of

if TYPE_CHECKING:
    from anypag.results.result import Result

PICTURES = (".svg", ".png", ".pdf")
NEEDED = {".svg": ("igraph",), ".png": ("igraph", "matplotlib"), ".pdf": ("igraph", "matplotlib"), ".html": ("igraph",)}
"""The libraries that must be installed to write files with these endings."""
WRITERS = {
    ".json": ("results.files", "write_result"),
    ".csv": ("explain", "write_edge_table"),
    ".html": ("report", "write_report"),
    **dict.fromkeys(PICTURES, ("plot", "write_picture")),
}
"""For each ending, the module and the function that write a result. Other endings are formats of bare graphs."""


def is_drawn(path: Path) -> bool:
    """Is the file a picture or a report? Pictures and reports take longer to write."""
    return path.suffix.lower() in NEEDED


def check_ending(path: Path) -> None:
    """Raise ParameterError for an unknown ending, or if a library that the ending needs is not installed."""
    from anypag.graphs.formats.registry import EXTENSIONS

    ending = path.suffix.lower()
    known = dict.fromkeys((*WRITERS, *EXTENSIONS))
    if ending not in known:
        raise ParameterError(f"The ending of {path.name!r} is no known format; use one of {', '.join(known)}.")
    missing = [name for name in NEEDED.get(ending, ()) if find_spec(name) is None]
    if missing:
        named = f"{' and '.join(missing)}: pip install {' '.join(missing)}"
        raise ParameterError(f"To write {path.name!r}, install {named}.")


def save(result: Result, path: str | os.PathLike[str], *, report: Callable[[Result, Path], None] | None = None) -> None:
    """Write a result to a file, whole or not at all.

    Args:
        result: the result of a search.
        path: the file; its ending picks the format: .json (the graph and how it was learned, for `anypag.read_result`
            and the command line), .csv (all pairs in a table), .svg, .png or .pdf (a picture), .html (a report), or a
            format of bare graphs (.txt, .dot, ...).
        report: writes the report; the command line passes its own writer.

    Raises:
        ParameterError: no format has this ending, a library that it needs is missing, or the path cannot be written.
    """
    path = Path(path)
    check_ending(path)
    folder = target_of(path).parent
    if not folder.is_dir():
        raise ParameterError(f"{path} cannot be written: there is no folder {folder}.")
    if path.is_dir():
        raise ParameterError(f"{path} cannot be written: it is a folder. Give the name of a file.")
    ending = path.suffix.lower()
    module, name = WRITERS.get(ending, ("graphs.formats.registry", "write_graph"))
    write = report if ending == ".html" and report else getattr(import_module(f"anypag.{module}"), name)
    write(result, path)
