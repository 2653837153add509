"""The clock of a run: seconds since it began, without those spent on compiling.

What a machine compiles the first time it runs something is not the run's doing, and cannot be broken off in the middle:
a budget of two seconds is two seconds of work, the first time as well. Compiling that takes long is logged once (the
logger "anypag", level INFO); the command line tells it by itself.
"""

from __future__ import annotations

import logging
import time
from functools import cache
from typing import Any

LONG = 2.0
"""Seconds of compiling after which it is logged."""
COMPILING = "Compiling what this kind of run needs; it takes some seconds, once for each kind of table and test."
_log = logging.getLogger("anypag")


class Clock:
    """A clock that starts now and stands still while something is compiled."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._compiled_before = _compilations().seconds

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return float(time.monotonic() - self._began - (_compilations().seconds - self._compiled_before))


@cache
def _compilations() -> Any:
    """A listener that adds up the time that compiling takes in this process, from the first call of this on."""
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
            """Once, when it has taken long enough that someone may wonder."""
            if not self._is_told and self.seconds > LONG:
                self._is_told = True
                _log.info(COMPILING)

        @property
        def seconds(self) -> float:
            return self._done + (time.monotonic() - self._since if self._depth else 0.0)

    listener = Compilations()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    return listener
