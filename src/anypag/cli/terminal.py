"""The output streams of a command: text for people, JSON for machines. A stream that cannot be written must not end a
long run: its text is dropped, the run continues and writes its files, and the command ends with exit code 1.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from anypag.markup import aligned

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(kw_only=True)
class Terminal:
    """Standard output and error. With `quiet` only errors are printed.

    Args:
        as_json: Print one JSON document instead of text.
    """

    as_json: bool = False
    quiet: bool = field(default=False, init=False)

    @property
    def stream(self) -> TextIO:
        """The stream for text that people read: standard output, or standard error if JSON was asked for."""
        return sys.stderr if self.as_json else sys.stdout

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        return Console(file=self.stream, highlight=False, markup=False, emoji=False)

    @property
    def is_interactive(self) -> bool:
        """Is text shown on a terminal, not on a pipe?"""
        may_be = self.stream.isatty() or not os.environ.keys().isdisjoint(("FORCE_COLOR", "TTY_COMPATIBLE"))
        return not self.quiet and may_be and self.console.is_terminal  # asked last: rich takes 10 ms to import

    def line(self, text: str = "", style: str | None = None) -> None:
        """Print one line of text, with control characters made visible; long lines are wrapped on a terminal."""
        if self.is_interactive:
            self.console.print(printable(text), style=style)
        elif not self.quiet:
            self.stream.write(printable(text) + "\n")
            self.stream.flush()

    def lines(self, texts: Iterable[str], style: str | None = None) -> None:
        for text in texts:
            self.line(text, style)

    def columns(self, rows: Iterable[Sequence[str]], *, styles: Sequence[str] = ()) -> None:
        """Print rows in columns. On a terminal a long last column is folded; elsewhere each row is one line."""
        cells = [[printable(cell) for cell in row] for row in rows]
        if not (self.is_interactive and cells):
            self.lines(aligned(cells))
            return
        from rich.table import Table

        grid, last = Table.grid(padding=(0, 2)), len(cells[0]) - 1
        for k in range(last + 1):
            grid.add_column(style=styles[k] if k < len(styles) else None, no_wrap=k < last, overflow="fold")
        for row in cells:
            grid.add_row(*row)
        self.console.print(grid)

    def items(self, texts: Sequence[str]) -> None:
        """Print short texts, side by side on a terminal, one per line on a pipe."""
        if self.is_interactive and texts:
            from rich.columns import Columns
            from rich.padding import Padding

            self.console.print(Padding(Columns(map(printable, texts), padding=(0, 3)), (0, 0, 0, 2)))
        else:
            self.lines(f"  {text}" for text in texts)

    def json(self, document: Any) -> None:
        """Print a document as JSON. Call it only if JSON was asked for."""
        from anypag.results.files import json_pieces

        sys.stdout.write("".join(json_pieces(document)))
        sys.stdout.flush()

    def error(self, sentence: str) -> None:
        """Print an error on standard error, one line for each reason."""
        text = "\n- ".join(map(printable, f"anypag: {sentence}".split("\n- ")))
        try:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
        except BrokenPipeError:
            give_up(sys.stderr)

    def flush(self) -> None:
        """Write everything before the command ends. Raise the error of standard output, if there was one."""
        sys.stdout.flush()
        failure = getattr(sys.stdout, "failure", None)
        if failure is not None:
            reason = failure.strerror or str(failure)
            raise OSError(failure.errno, f"Standard output could not be written: {reason}")


def printable(text: str) -> str:
    """The text on one line, with control characters made visible, because names in files may contain anything."""
    odd = {sign for sign in {*text} - {"\t"} if unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    return text.translate({ord(sign): json.dumps(sign)[1:-1] for sign in odd})


class Output:
    """A stream that records its errors; only a closed pipe raises an error. `stream` is None if it is closed."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        """Write the text; after an error, drop it."""
        if self._stream is None and text:
            self.failure = OSError(errno.EBADF, "it is closed")
        self._attempt("write", text)
        return len(text)

    def flush(self) -> None:
        self._attempt("flush")

    def isatty(self) -> bool:
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
    """Redirect the stream to the null device, so that flushing the rest of its buffer cannot fail again."""
    with suppress(OSError, ValueError):  # a stream may have no file descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def guarded_streams() -> Iterator[None]:
    """A context in which standard output and standard error are `Output` streams."""
    for number in (0, 1, 2):  # a closed stream is opened, so that no other file gets its descriptor
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = Output(before[0]), Output(before[1])
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def panics_held(path: Path) -> Iterator[None]:
    """A context that holds back the messages of libraries on standard error about a binary file, such as a panic in
    Rust. They are printed at the end, or dropped if an AnypagError says what is wrong.
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
