"""The files a command is to write: checked before the work, written whole or not at all after it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from anypag.files import target_of

LEAST_FREE = 1_000_000
"""Bytes that must be free on a disk that something is to be written to."""


def check_outputs(paths: Iterable[Path], inputs: Iterable[Path] = ()) -> None:
    """Refuse, before any work is done, what could not be written after it.

    Raises:
        ParameterError: a folder is not there or cannot be written to, a path is no file or named twice.
    """
    from anypag.errors import ParameterError

    taken = {_place(path): f"{path} is to be read" for path in inputs}
    for path in paths:
        place = _place(path)
        if place in taken:
            raise ParameterError(f"{path} cannot be written: {taken[place]}.")
        taken[place] = "it is to be written twice"
        problem = _problem(path)
        if problem:
            raise ParameterError(f"{path} cannot be written: {problem}.")


def _place(path: Path) -> Path:
    """Where a path leads to; the path itself if its links lead in a circle."""
    try:
        return target_of(path)
    except OSError:
        return path


def _problem(path: Path) -> str | None:
    try:
        folder = target_of(path).parent
    except OSError as error:
        return str(error.strerror)
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
