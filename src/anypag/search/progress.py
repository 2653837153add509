"""Progress reports of a step (ticks), and chunks of large batches: a step can be ended between two chunks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from anypag.ci.base import PValues, Queries
from anypag.markup import LONG, duration

SECONDS_BETWEEN_TICKS = 0.1
FIRST_CHUNK = 64  # questions in the first chunk, before it is known how long they take


class Progress(NamedTuple):
    """How far a step is, for progress bars and budgets."""

    r: int  # the size of the condition sets; -1 in a phase that has none
    phase: str
    done: int
    total: int
    n_evaluated: int
    n_asked: int = 0  # tests that this step has asked for
    asks: bool = True  # may tests follow? If not, a spent budget of tests does not end the phase
    n_expected: int = 0  # about how large `n_asked` will be at the end of the phase; 0 if that is not known
    seconds_left: float | None = None
    """About how long the phase still takes, estimated from these counts and the time so far; None if not known."""

    @property
    def where(self) -> str:
        """The phase, with its r if it has one."""
        return f"r = {self.r}, {self.phase}" if self.r >= 0 else self.phase

    @property
    def is_long(self) -> bool:
        """Will the phase take long enough for messages to mention the time?"""
        return self.seconds_left is not None and self.seconds_left >= LONG

    @property
    def said(self) -> str:
        """The phase, and how long it still takes if that is long.

        >>> Progress(3, "candidates", 0, 80, 0, seconds_left=170).said
        'r = 3, candidates: about 3 minutes left'
        """
        return f"{self.where}: about {duration(self.seconds_left or 0.0)} left" if self.is_long else self.where


Tick = Callable[[Progress], None]
"""Called before every batch of tests, and at times during long work; an exception from it abandons the step."""


def no_tick(progress: Progress) -> None:
    """Do nothing."""


class Pace:
    """Cuts batches into chunks that take about a tenth of a second each, by the speed measured so far."""

    def __init__(self, batch: int) -> None:
        self._batch, self._size = batch, min(FIRST_CHUNK, batch)
        self.per_second: float | None = None
        """Questions per second in the latest chunk of at least `FIRST_CHUNK` questions. If there was none, in the first
        chunk."""

    def answers(self, answer: Callable[[Queries], PValues], queries: Queries, pause: Callable[[], None]) -> PValues:
        """The answers, chunk by chunk; `pause` is called between chunks and may raise."""
        parts: list[PValues] = []
        done = 0
        while done < len(queries) or not parts:
            if done:
                pause()
            part = queries.take(slice(done, done + self._size))
            began = time.perf_counter()
            parts.append(answer(part))
            seconds = max(time.perf_counter() - began, 1e-9)
            if len(part) >= FIRST_CHUNK or self.per_second is None:
                self.per_second = max(len(part), 1) / seconds
            self._size = int(min(max(1, len(part) * SECONDS_BETWEEN_TICKS / seconds), self._batch))
            done += len(part)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
