"""Tests of independence that workers of other processes can load."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from anypag import FisherZ, Queries
from anypag.arrays import Counts, Floats
from anypag.ci.base import PValues


class OneAtATime:
    """Fisher's z as if every question cost something; says which processes answered."""

    batch = 1
    exact = False

    def __init__(self, data: Floats, names: tuple[str, ...], folder: str | None = None, seconds: float = 0.0) -> None:
        self.names, self._data, self._folder, self._seconds = names, data, folder, seconds
        self._test: FisherZ | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_test": None}

    def pvalues(self, queries: Queries) -> PValues:
        self._test = self._test or FisherZ(self._data, self.names)
        time.sleep(self._seconds)
        if self._folder is not None:
            (Path(self._folder) / str(os.getpid())).touch()
        return self._test.pvalues(queries)


class Raising(OneAtATime):
    """Fails on one question."""

    def pvalues(self, queries: Queries) -> PValues:
        if queries.r == 1 and queries.z[0, 0] == 2:
            raise RuntimeError("the kernel is singular")
        return super().pvalues(queries)


class Noting(OneAtATime):
    """Writes down every time it arrives in a process; can be resampled."""

    n = 200

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._folder is not None:
            with (Path(self._folder) / f"arrived-{os.getpid()}").open("a") as file:
                file.write(".")

    def resampled(self, counts: Counts) -> OneAtATime:
        return OneAtATime(np.repeat(self._data, counts, axis=0), self.names)


class Killing(OneAtATime):
    """Kills the worker that asks the first question of size 1; only once, where `once` says so."""

    once = True

    def pvalues(self, queries: Queries) -> PValues:
        assert self._folder is not None
        mark = Path(self._folder) / "killed"
        if queries.r == 1 and not (self.once and mark.exists()):
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().pvalues(queries)


class AlwaysKilling(Killing):
    """Kills every worker that asks such a question."""

    once = False


def rows(p: int = 6, n: int = 200) -> tuple[Floats, tuple[str, ...]]:
    random = np.random.default_rng(0)
    values = random.normal(size=(n, p))
    for j in range(1, p):
        values[:, j] += values[:, j - 1]
    return values, tuple(f"V{j}" for j in range(p))
