"""Long kernels in turns: each call does a bounded amount of work, so a run hears a signal or sees its deadline.

A kernel that may run long takes `room` as its last argument: an array with one number, from which it subtracts its
work, in units of about a nanosecond. When the room is used up it returns False, with what it has done in its other
arguments, and is called again until it returns True. Where it returns makes no difference to what it finds: nothing
depends on a clock. Whoever raises in `look` drops the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anypag.threads import do_nothing

ROOM = 30_000_000
"""The work of one turn: some 0.03 to 0.1 seconds."""

Look = Callable[[], None]
"""Called between turns; what it raises ends the work."""


def in_turns(kernel: Callable[..., bool], *arguments: Any, look: Look = do_nothing) -> None:
    """Call the kernel until it is done.

    >>> def count_down(left, room):
    ...     while left[0] and room[0] >= 0:
    ...         left[0] -= 1
    ...         room[0] -= 10_000_000
    ...     return left[0] == 0
    >>> in_turns(count_down, np.array([10]), look=lambda: print("a look"))
    a look
    a look
    """
    while not kernel(*arguments, np.array([ROOM])):
        look()
