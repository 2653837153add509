"""Standard output and standard error, whatever they are: a pipe, a full disk, or nothing at all.

A stream that cannot be written must not take a run of hours with it: what was to be written is dropped, the run goes
on and writes its files, and the command says at its end that nobody could read it (exit code 1).
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO


class Output:
    """A stream that keeps in mind what went wrong instead of raising it; a reader who is gone is still an error.

    Args:
        stream: the stream; None if it is closed.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write the text, or drop it."""
        if self._stream is None and text:
            self.failure = OSError(errno.EBADF, "it is closed")
        self._attempt("write", text)
        return len(text)

    def flush(self) -> None:
        """Have everything written."""
        self._attempt("flush")

    def isatty(self) -> bool:
        """Is it a terminal?"""
        return self._stream is not None and self._stream.isatty()

    def _attempt(self, what: str, *arguments: Any) -> None:
        if self._stream is None or self.failure is not None:
            return
        try:
            getattr(self._stream, what)(*arguments)
        except BrokenPipeError:
            raise
        except (OSError, ValueError) as error:
            self.failure = error if isinstance(error, OSError) else OSError(errno.EBADF, "it is closed")
            give_up(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def give_up(stream: TextIO) -> None:
    """Let what is left in the stream's buffer go nowhere, now and when Python ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # it stands for no file
        return


@contextmanager
def guarded_streams() -> Iterator[None]:
    """While this goes on, standard output and standard error are such streams."""
    _fill_gaps()
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = Output(before[0]), Output(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def require_read() -> None:
    """Raise what kept standard output from being written, if anything did."""
    failure = getattr(sys.stdout, "failure", None)
    if failure is not None:
        reason = failure.strerror or str(failure)
        raise OSError(failure.errno, f"Standard output could not be written: {reason}")


@contextmanager
def panics_held(path: Path) -> Iterator[None]:
    """What a compiled library prints while it reads a binary file is shown when that is read, dropped when refused.

    A library that panics over a damaged file says so at length before the one sentence that tells it.
    """
    from anypag.data.files.scan import TEXT_ENDINGS, ending_of
    from anypag.errors import AnypagError

    if ending_of(path) in TEXT_ENDINGS:
        yield
        return
    sys.stderr.flush()
    real = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except AnypagError:
            held.truncate(0)
            raise
        finally:
            sys.stderr.flush()
            os.dup2(real, 2)
            os.close(real)
            held.seek(0)
            sys.stderr.write(held.read().decode(errors="replace"))


def _fill_gaps() -> None:
    """Open what is closed of the first three files of the process: else the next file opened would take its place."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
