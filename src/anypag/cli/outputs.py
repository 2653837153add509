"""The files a command is to write: checked before the work, written whole or not at all after it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anypag.run.result import Learned

LEAST_FREE = 1_000_000
"""Bytes that must be free on a disk that something is to be written to."""

PICTURES = (".svg", ".png")
NEEDED = {".svg": ("igraph",), ".png": ("igraph", "matplotlib"), ".html": ("igraph",)}
"""The libraries that must be installed to write files with these endings."""

LEARNED = (".json", ".csv", ".html", *PICTURES)
"""What a result can be written as, beside the formats of bare graphs."""


def check_outputs(paths: Iterable[Path], inputs: Iterable[Path] = ()) -> None:
    """Refuse, before any work is done, what could not be written after it.

    Raises:
        ParameterError: a folder is not there or cannot be written to, a path is no file or named twice.
    """
    from anypag.errors import ParameterError

    taken = {path.resolve(): f"{path} is to be read" for path in inputs}
    for path in paths:
        if path.resolve() in taken:
            raise ParameterError(f"{path} cannot be written: {taken[path.resolve()]}.")
        taken[path.resolve()] = "it is to be written twice"
        problem = _problem(path)
        if problem:
            raise ParameterError(f"{path} cannot be written: {problem}.")


def _problem(path: Path) -> str | None:
    folder = path.resolve().parent
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if path.exists() and not path.is_file():
        return "it is no file" if not path.is_dir() else "it is a folder"
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return f"nothing can be written to {folder} ({error.strerror})"
    if shutil.disk_usage(folder).free < LEAST_FREE:
        return f"the disk of {folder} is full"
    return None


def check_result_format(path: Path) -> None:
    """Refuse an ending that says no format a result can be written in, and a picture that cannot be drawn here."""
    from anypag.errors import ParameterError
    from anypag.graphs.formats.registry import EXTENSIONS

    ending = path.suffix.lower()
    known = (*LEARNED, *(known for known in EXTENSIONS if known not in LEARNED))
    if ending not in known:
        raise ParameterError(f"The ending of {path.name!r} says no format; known are {', '.join(known)}.")
    missing = [name for name in NEEDED.get(ending, ()) if find_spec(name) is None]
    if missing:
        raise ParameterError(f"To write {path.name!r}, install {' and '.join(missing)}: pip install 'anypag[plot]'.")


def write_learned(result: Learned, path: Path, *, report: Callable[[Learned, Path], None]) -> None:
    """Write a result in the format that the ending of the path says."""
    ending = path.suffix.lower()
    if ending == ".json":
        from anypag.run.saved import write_result

        write_result(result, path)
    elif ending == ".csv":
        from anypag.explain import write_edge_table

        write_edge_table(result, path)
    elif ending in PICTURES:
        from anypag.plot import write_picture

        write_picture(result, path)
    elif ending == ".html":
        report(result, path)
    else:
        from anypag.graphs.formats import write_graph

        write_graph(result.pag, path)
