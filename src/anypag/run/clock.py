"""The clock of a run: seconds since it began, without those spent on compiling.

Compiling happens once for each kind of run and cannot be interrupted, so it does not count against a budget: two
seconds are two seconds of work. Long compiling is logged once (logger "anypag", level INFO); the command line prints
its own notice.
"""

from __future__ import annotations

import logging
import time
from functools import cache
from types import FrameType
from typing import Any

LONG = 2.0
"""Seconds of compiling after which it is logged."""
COMPILING = "Compiling what this kind of run needs; it takes some seconds, once for each kind of table and test."
_log = logging.getLogger("anypag")


class Clock:
    """A clock that starts now and pauses while something is compiled."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._compiled_before = _compilations().seconds

    @property
    def seconds(self) -> float:
        """Seconds since the start, without compiling."""
        return float(time.monotonic() - self._began - (_compilations().seconds - self._compiled_before))


@cache
def _compilations() -> Any:
    """A listener that adds up the compile time of this process, from its first call on."""
    from numba.core import event

    class Compilations(event.Listener):
        def __init__(self) -> None:
            self._done, self._depth, self._since = 0.0, 0, 0.0
            self._is_told = False

        def on_start(self, _: Any) -> None:
            self._depth += 1
            if self._depth == 1:
                self._since = time.monotonic()
            self._tell()

        def on_end(self, _: Any) -> None:
            self._depth -= 1
            if self._depth == 0:
                self._done += time.monotonic() - self._since
            self._tell()

        def _tell(self) -> None:
            """Log once that compiling takes long."""
            if not self._is_told and self.seconds > LONG:
                self._is_told = True
                _log.info(COMPILING)

        @property
        def seconds(self) -> float:
            return self._done + (time.monotonic() - self._since if self._depth else 0.0)

    listener = Compilations()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    return listener


def is_in_compiled_code(frame: FrameType | None) -> bool:
    """Was a compiled function being entered or left in this frame? (Compiling itself can be interrupted.)"""
    is_between = False
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("numba.core.compiler"):
            return False
        if module.startswith("anypag"):
            break
        is_between |= module.startswith("numba")
        frame = frame.f_back
    return is_between
