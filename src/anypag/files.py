"""Files are written whole or not at all, and what a killed process left half written is cleared away."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not on Windows, where what a killed process left behind stays
    fcntl = None  # type: ignore[assignment]


def write_whole(path: Path, content: bytes) -> None:
    """Put the content into a new file beside the old one, then let it take the old one's place."""
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file whole or not at all, its content piece by piece."""
    path = target_of(path)
    with part_beside(path) as part:
        with part.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def target_of(path: Path) -> Path:
    """Where a path leads to, through links.

    Raises:
        OSError: the links lead in a circle.
    """
    try:
        return path.resolve()
    except (RuntimeError, OSError) as error:  # the former up to Python 3.12
        raise OSError(errno.ELOOP, "the links lead in a circle", str(path)) from error


@contextmanager
def part_beside(path: Path) -> Iterator[Path]:
    """A new, empty file beside the one of this name, to take its place when it is whole; gone afterwards if it has not.

    While it is being written it is locked, so that what a killed process has left can be told from it.
    """
    _clear_parts(path)
    part, claim = _claimed(path)
    try:
        with closing(claim):
            yield part
    finally:
        part.unlink(missing_ok=True)


def _claimed(path: Path) -> tuple[Path, IO[bytes]]:
    """A new part, locked if the disk knows locks; another name is taken if someone cleared it away before it was."""
    while True:
        part = path.with_name(f"{_beginning(path)}{secrets.token_hex(4)}.part")
        claim = part.open("xb")
        lock(claim)
        if fcntl is None:  # on Windows an open file cannot take another one's place
            claim.close()
        if part.exists():
            return part, claim
        claim.close()


def _clear_parts(path: Path) -> None:
    """Remove parts of this file that no running process writes."""
    if fcntl is None:
        return
    beginning = re.escape(_beginning(path))
    for part in path.parent.glob("*.part"):
        if re.fullmatch(beginning + r"[0-9a-f]{8}\.part", part.name):
            try:
                with part.open("rb") as left:
                    if lock(left):
                        part.unlink()
                        part.with_name(f"{part.name}-journal").unlink(missing_ok=True)  # where it was a checkpoint's
            except OSError:  # gone meanwhile, or another user's
                continue


def _beginning(path: Path) -> str:
    return f".{path.name[:100]}."


def lock(file: IO[bytes]) -> bool | None:
    """Lock an open file until it is unlocked: True; False if somebody else has, None if this disk knows no locks.

    The lock belongs to this opening of the file: closing another one, in this process or elsewhere, leaves it alone.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def unlock(file: IO[bytes]) -> None:
    """Let others lock it, even while a child process still has the file open."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


def file_stamp(data: object) -> tuple[int, int] | None:
    """The size of a file and when it was written last; it changed meanwhile if these did. None if data are no file."""
    if not isinstance(data, str | Path) or not Path(data).is_file():
        return None
    found = Path(data).stat()
    return found.st_size, found.st_mtime_ns
