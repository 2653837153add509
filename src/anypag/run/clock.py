"""The clock of a run: seconds since it began, without those spent on compiling.

Compiling happens once for each kind of run, so it does not count against a budget: two seconds are two seconds of work.
Long compiling is logged once (logger "anypag", level INFO); the command line prints the same notice where
nothing was compiled before.
"""

from __future__ import annotations

import logging
import sys
import time
from types import FrameType

from anypag._kernels.patience import COMPILING, numba

LONG = 2.0  # seconds of compiling after which it is logged
NOTICE = (
    "Compiling for this machine takes some seconds, once for each kind of table and test; it does not count as time "
    "spent. `anypag warm` does it for all kinds."
)
_log = logging.getLogger("anypag")


class Clock:
    """A clock that starts now and pauses while something is compiled."""

    def __init__(self) -> None:
        if "numba" in sys.modules:
            numba()  # the user may have functions to compile
        self._began = time.monotonic()
        self._compiled_before = COMPILING.seconds

    @property
    def seconds(self) -> float:
        """Seconds since the start, without compiling."""
        return time.monotonic() - self._began - (COMPILING.seconds - self._compiled_before)


def _tell_if_long() -> None:
    """Log once that compiling takes long."""
    if COMPILING.seconds > LONG:
        COMPILING.hearers.remove(_tell_if_long)
        _log.info(NOTICE)


COMPILING.hearers.append(_tell_if_long)


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
