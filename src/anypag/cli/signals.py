"""Ctrl-C and SIGTERM: the first ends the run with what is known, a second Ctrl-C within a second stops at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from anypag.run.interrupts import is_in_compiled_code

SECONDS_FOR_A_SECOND = 1.0


class StoppedAtOnce(BaseException):
    """Ctrl-C was pressed twice within a second: leave everything as it is."""


class Interrupts:
    """What the signals do, while this is entered.

    Outside of `ending_a_run` and `held` a signal is a `KeyboardInterrupt`, as usual. In `ending_a_run` it raises
    `Stopped`, which the search turns into a result. In `held` it waits: what is being written is finished first. In
    `raising` it raises what is wanted there.
    """

    def __init__(self) -> None:
        self._raises: type[BaseException] | None = KeyboardInterrupt
        self._is_waiting = False
        self._last = float("-inf")
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._received)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def ending_a_run(self) -> Iterator[None]:
        """Signals end the search that runs here."""
        from anypag.run.watcher import Stopped

        with self._raising(Stopped):
            yield

    @contextmanager
    def held(self) -> Iterator[None]:
        """Signals wait until this is over."""
        with self._raising(None):
            yield

    @contextmanager
    def raising(self, kind: type[BaseException]) -> Iterator[None]:
        """A signal that comes here raises this."""
        with self._raising(kind):
            yield

    @contextmanager
    def _raising(self, kind: type[BaseException] | None) -> Iterator[None]:
        before, self._raises = self._raises, kind
        try:
            yield
        finally:
            self._raises = before

    def _received(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        is_second = number == signal.SIGINT and now - self._last < SECONDS_FOR_A_SECOND
        self._last = now
        self._is_waiting = True
        if is_second:
            raise StoppedAtOnce
        if not is_in_compiled_code(frame):
            self.check()

    def check(self) -> None:
        """Let a signal that came while it had to wait take effect now."""
        if self._is_waiting and self._raises is not None:
            self._is_waiting = False
            raise self._raises("interrupt")
