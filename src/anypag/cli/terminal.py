"""Where a command writes: text for people, JSON for machines; on a terminal with colours, on a pipe without."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from anypag.cli.streams import give_up, require_read

if TYPE_CHECKING:
    from rich.console import Console


class Terminal:
    """Standard output and standard error as a command sees them.

    Args:
        as_json: standard output is for one JSON document; text for people goes to standard error.
        quiet: no text for people but errors.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet

    @property
    def stream(self) -> TextIO:
        """Where text for people goes."""
        return sys.stderr if self.as_json else sys.stdout

    @cached_property
    def console(self) -> Console:
        """The same stream, for what only a terminal can show."""
        from rich.console import Console

        return Console(file=self.stream, highlight=False, markup=False, emoji=False)

    @property
    def is_interactive(self) -> bool:
        """Is someone looking at a terminal?"""
        return not self.quiet and self.console.is_terminal

    def line(self, text: str = "", style: str | None = None) -> None:
        """One line of text, whatever is in it; lines that are too long for a terminal are folded."""
        if self.quiet:
            return
        if self.console.is_terminal:
            self.console.print(printable(text), style=style)
        else:
            self.stream.write(printable(text) + "\n")
            self.stream.flush()

    def lines(self, text: str) -> None:
        """Several lines of text, in which names that hold line breaks are quoted."""
        for line in text.split("\n"):
            self.line(line)

    def columns(self, rows: Iterable[Sequence[str]], *, gap: str = "  ", styles: Sequence[str] = ()) -> None:
        """Rows of texts in columns; on a terminal the last one is folded, on a pipe it is one line a row."""
        cells = [[printable(cell) for cell in row] for row in rows]
        if self.quiet or not cells:
            return
        if self.console.is_terminal:
            self.console.print(_grid(cells, styles))
            return
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            self.stream.write(gap.join(padded).rstrip() + "\n")

    def items(self, texts: Sequence[str]) -> None:
        """Short texts: side by side on a terminal, one a line on a pipe."""
        if self.is_interactive:
            from rich.columns import Columns
            from rich.padding import Padding

            self.console.print(Padding(Columns(map(printable, texts), padding=(0, 3)), (0, 0, 0, 2)))
            return
        for text in texts:
            self.line(f"  {text}")

    def json(self, document: Any) -> None:
        """The document, if JSON was asked for."""
        from anypag.results.files import as_json

        sys.stdout.write(as_json(document))
        sys.stdout.flush()

    def error(self, sentence: str) -> None:
        """What went wrong, on standard error; several reasons stand on a line each."""
        text = "\n- ".join(printable(part) for part in f"anypag: {sentence}".split("\n- "))
        try:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
        except BrokenPipeError:
            give_up(sys.stderr)

    def flush(self) -> None:
        """Have everything written before the command ends; raises what kept it from being so."""
        sys.stdout.flush()
        require_read()

    def give_up_output(self) -> None:
        """Nobody reads standard output any more: let the rest of it go nowhere."""
        give_up(sys.stdout)


def printable(text: str) -> str:
    """The text on one line, with what could steer a terminal made visible: a name from a file may hold anything."""
    return "".join(character if _is_harmless(character) else json.dumps(character)[1:-1] for character in text)


def _is_harmless(character: str) -> bool:
    return character == "\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _grid(rows: list[list[str]], styles: Sequence[str]) -> Any:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    for k in range(len(rows[0])):
        last = k == len(rows[0]) - 1
        grid.add_column(style=styles[k] if k < len(styles) else None, no_wrap=not last, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid
