"""How a step tells where it stands, and how it is told to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """Where a step stands, for whoever watches."""

    r: int
    phase: str
    done: int
    total: int
    n_evaluated: int


Tick = Callable[[Progress], None]
"""Called before every batch of tests; what it raises abandons the step."""


def no_tick(progress: Progress) -> None:
    """Watch nothing."""
