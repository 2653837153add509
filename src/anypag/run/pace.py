"""Large batches in small pieces: so that a run hears a signal or sees its deadline while a slow test works on one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from anypag.ci.base import CITest, PValues, Queries, checked_pvalues

SECONDS_PER_PIECE = 0.1
FIRST_PIECE = 64
"""Questions in the first piece, before it is known how long they take."""


def no_pause() -> None:
    """Go on."""


class Paced:
    """A test that answers a batch piece by piece, about ten a second, and calls `on_pause` between them.

    The answers are those of the test. Whatever else the test can do, this can do too.
    """

    def __init__(self, test: CITest) -> None:
        self.test = test
        self.names, self.exact, self.batch = test.names, test.exact, test.batch
        self.on_pause: Callable[[], None] = no_pause
        self._room = min(FIRST_PIECE, test.batch)

    def pvalues(self, queries: Queries) -> PValues:
        """The p-values; what `on_pause` raises goes through."""
        if len(queries) <= self._room:
            return self._timed(queries)
        parts, done = [], 0
        while done < len(queries):
            if done:
                self.on_pause()
            part = queries.take(slice(done, done + self._room))
            parts.append(checked_pvalues(self._timed(part), part, self.names))
            done += len(part)
        return np.concatenate(parts)

    def _timed(self, queries: Queries) -> PValues:
        """The answers; from the time they take follows how large the next piece may be."""
        began = time.perf_counter()
        answers = self.test.pvalues(queries)
        fitting = len(queries) * SECONDS_PER_PIECE / max(time.perf_counter() - began, 1e-9)
        self._room = int(min(max(1, fitting), self.batch))
        return answers

    def __getattr__(self, name: str) -> Any:
        if name == "test":
            raise AttributeError(name)
        return getattr(self.test, name)


@contextmanager
def quiet_afterwards(test: CITest) -> Iterator[None]:
    """Whoever was told of pauses here is not told of later ones."""
    try:
        yield
    finally:
        if isinstance(test, Paced):
            test.on_pause = no_pause
