"""The first run of a kind compiles: say so, rather than let someone wonder what takes so long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anypag.cli.terminal import Terminal

WAITING = (
    "Compiling what this kind of run needs; this takes some seconds, once for each kind of table, test and method, and "
    "does not count as time spent."
)


@contextmanager
def compiling_told(terminal: Terminal) -> Iterator[None]:
    """A line on the terminal as soon as something is compiled here, rather than read from the cache."""
    from numba.core import event

    class Telling(event.Listener):
        is_told = False

        def on_start(self, _: Any) -> None:
            if not self.is_told:
                self.is_told = True
                terminal.line(WAITING)

        def on_end(self, _: Any) -> None:
            pass

    with event.install_listener("numba:compile", Telling()):
        yield
