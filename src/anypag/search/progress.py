"""How a step tells where it stands, and how it is told to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anypag.catalogue import has_r


class Progress(NamedTuple):
    """Where a step stands, for progress bars and budgets."""

    r: int
    phase: str
    done: int
    total: int
    n_evaluated: int
    n_asked: int = 0
    """Tests that this step has asked for."""

    @property
    def where(self) -> str:
        """The phase, with its r if it has one."""
        return f"r = {self.r}, {self.phase}" if has_r(self.phase) else self.phase


Tick = Callable[[Progress], None]
"""Called before every batch of tests; what it raises abandons the step."""


def no_tick(progress: Progress) -> None:
    """Watch nothing."""
