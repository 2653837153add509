"""Large batches in chunks, so that a run hears a signal or sees its deadline while a slow test works on one."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from anypag.ci.base import CITest, PValues, Queries

Answers = Callable[[Queries], PValues]
"""A way to answer questions."""

SECONDS_PER_CHUNK = 0.1
FIRST_CHUNK = 64
"""Questions in the first chunk, before it is known how long they take."""


class Pace:
    """How many questions a test answers in a tenth of a second, as seen so far: the size of the next chunk."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._size = min(FIRST_CHUNK, batch)
        self.per_second: float | None = None
        """How many questions a second the last chunk of some size took; None before any."""

    def pvalues(self, test: CITest, queries: Queries, pause: Callable[[], None]) -> PValues:
        """The p-values, chunk by chunk; `pause` is called between chunks, and what it raises goes through."""
        return self.answers(test.pvalues, queries, pause)

    def answers(self, answer: Answers, queries: Queries, pause: Callable[[], None]) -> PValues:
        """The same for any way to answer questions."""
        if len(queries) <= self._size:
            return self._timed(answer, queries)
        parts, done = [], 0
        while done < len(queries):
            if done:
                pause()
            part = queries.take(slice(done, done + self._size))
            parts.append(self._timed(answer, part))
            done += len(part)
        return np.concatenate(parts)

    def _timed(self, answer: Answers, queries: Queries) -> PValues:
        began = time.perf_counter()
        answers = answer(queries)
        if len(queries) >= FIRST_CHUNK or self.per_second is None:
            self.per_second = max(len(queries), 1) / max(time.perf_counter() - began, 1e-9)
        fitting = len(queries) * SECONDS_PER_CHUNK / max(time.perf_counter() - began, 1e-9)
        self._size = int(min(max(1, fitting), self._batch))
        return answers
