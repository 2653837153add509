"""The clock of a run: seconds since it began, without those spent on compiling.

What a machine compiles the first time it runs something is not the run's doing, and cannot be broken off in the middle:
a budget of two seconds is two seconds of work, the first time as well.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any


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
    """Who keeps count of the time that compiling takes in this process, from the first time this is asked."""
    from numba.core import event

    class Compilations(event.Listener):
        def __init__(self) -> None:
            self._done, self._depth, self._since = 0.0, 0, 0.0

        def on_start(self, _: Any) -> None:
            self._depth += 1
            if self._depth == 1:
                self._since = time.monotonic()

        def on_end(self, _: Any) -> None:
            self._depth -= 1
            if self._depth == 0:
                self._done += time.monotonic() - self._since

        @property
        def seconds(self) -> float:
            return self._done + (time.monotonic() - self._since if self._depth else 0.0)

    listener = Compilations()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    return listener
