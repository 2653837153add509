"""Signals, which can end a run from outside, and the clock of a run, which pauses while something is compiled.

Compiling happens once for each kind of run, so it does not count against a budget.
"""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from types import FrameType

from anypag._kernels.patience import COMPILING, numba

NOTICE = (
    "Compiling for this machine takes up to a minute, once for each kind of table and test; it does not count as time "
    "spent. `anypag warm` does it for all kinds."
)


class Clock:
    """A clock that starts now and pauses while something is compiled."""

    def __init__(self) -> None:
        if "numba" in sys.modules:
            numba()  # from here on, compiling the user's own functions does not count either
        self._began = time.monotonic()
        self._compiled_before = COMPILING.seconds

    @property
    def seconds(self) -> float:
        """Seconds since the start, without compiling."""
        return time.monotonic() - self._began - (COMPILING.seconds - self._compiled_before)


class Stopped(BaseException):
    """Raised inside a step to abandon it; the run ends with the previous state. Not an error, so not an `Exception`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Signals:
    """The signal handling of a run. This class leaves it to Python (a search catches `KeyboardInterrupt`)."""

    def check(self) -> None:
        """Raise if a signal is pending."""

    def held(self) -> AbstractContextManager[None]:
        """A context in which signals wait until the context ends."""
        return nullcontext()

    def ending_a_run(self) -> AbstractContextManager[None]:
        """A context in which a signal raises `Stopped`."""
        return nullcontext()


def is_in_compiled_code(frame: FrameType | None) -> bool:
    """Was a compiled function being entered or left in this frame? Compiling itself can be interrupted, but not while
    LLVM, which takes seconds, calls Python: an exception there would be lost.
    """
    is_between = False
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("llvmlite.binding"):
            return True
        if module.startswith("numba.core.compiler"):
            return False
        if module.startswith("anypag"):
            break
        is_between |= module.startswith("numba")
        frame = frame.f_back
    return is_between
