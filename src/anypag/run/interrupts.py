"""Ctrl-C during a step: heard at once in Python, and after the call in compiled code.

While a compiled function is entered or left, Python code may run whose exceptions are not checked: one that a signal
handler raises there is lost, or ends the process. So the handler only takes a note, and the next tick raises.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from anypag.search.progress import Progress, Tick


def is_in_compiled_code(frame: FrameType | None) -> bool:
    """Was a compiled function being entered or left here? Not while it is being compiled: that can be interrupted."""
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


class _Watch:
    """A tick that raises for a Ctrl-C that had to wait."""

    def __init__(self, tick: Tick) -> None:
        self.is_waiting = False
        self._tick = tick

    def received(self, number: int, frame: FrameType | None) -> None:
        if self.is_waiting or not is_in_compiled_code(frame):
            raise KeyboardInterrupt
        self.is_waiting = True

    def __call__(self, progress: Progress) -> None:
        if self.is_waiting:
            raise KeyboardInterrupt
        self._tick(progress)


@contextmanager
def interruptible(tick: Tick) -> Iterator[Tick]:
    """A tick with which Ctrl-C ends the work in this context, unless the caller has a signal handler of their own."""
    if isinstance(tick, _Watch):  # an outer context listens already
        yield tick
        return
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield tick
        return
    watch = _Watch(tick)
    signal.signal(signal.SIGINT, watch.received)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
