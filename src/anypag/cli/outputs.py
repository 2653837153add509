"""The files a command is to write: checked before the work, written whole or not at all after it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

LEAST_FREE = 1_000_000
"""Bytes that must be free on a disk that something is to be written to."""


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
