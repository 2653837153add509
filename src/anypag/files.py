"""Writes files whole or not at all, and removes partial files that a killed process left."""

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
except ImportError:  # on Windows, where partial files of killed processes stay
    fcntl = None  # type: ignore[assignment]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: into a new file, which then replaces the old one."""
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
    """The path with all links followed. OSError if the links lead in a circle."""
    try:
        return path.resolve()
    except (RuntimeError, OSError) as error:  # RuntimeError up to Python 3.12
        raise OSError(errno.ELOOP, "the links lead in a circle", str(path)) from error


@contextmanager
def part_beside(path: Path) -> Iterator[Path]:
    """A new file beside `path`. When it is complete, the caller renames it to `path`; otherwise it is removed.
    It is locked while it is written, so that leftovers of killed processes can be recognised.
    """
    _clear_parts(path)
    part, claim = _claimed(path)
    try:
        with closing(claim):
            yield part
    finally:
        part.unlink(missing_ok=True)


def _claimed(path: Path) -> tuple[Path, IO[bytes]]:
    """A new partial file, locked if possible. If another process removes it before it is locked, a new one is made."""
    while True:
        part = path.with_name(f"{_beginning(path)}{secrets.token_hex(4)}.part")
        claim = part.open("xb")
        lock(claim)
        if fcntl is None:  # on Windows an open file cannot replace another one
            claim.close()
        if part.exists():
            return part, claim
        claim.close()


def _clear_parts(path: Path) -> None:
    """Remove partial files of this name that no running process is writing."""
    if fcntl is None:
        return
    beginning = re.escape(_beginning(path))
    for part in path.parent.glob("*.part"):
        if re.fullmatch(beginning + r"[0-9a-f]{8}\.part", part.name):
            with suppress(OSError), part.open("rb") as left:  # the file is already removed, or belongs to another user
                if lock(left):
                    part.with_name(f"{part.name}-journal").unlink(missing_ok=True)  # the journal of a checkpoint
                    part.unlink()


def _beginning(path: Path) -> str:
    return f".{path.name[:100]}."


def lock(file: IO[bytes]) -> bool | None:
    """Lock an open file. Return True on success, False if the file is locked already, None if the system has no locks.
    The lock belongs to this file object: closing another file object of the same file does not release it.
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
    """Release the lock, even while a child process still has the file open."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


def file_stamp(data: object) -> tuple[int, int] | None:
    """The size of a file and its time of modification, to detect changes; None if the data are not a file."""
    if not isinstance(data, str | Path) or not Path(data).is_file():
        return None
    found = Path(data).stat()
    return found.st_size, found.st_mtime_ns
