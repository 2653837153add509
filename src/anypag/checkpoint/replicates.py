"""The checkpoint of a run over many resamples: their graphs, by their numbers.

The number of resamples is not part of the fingerprint: a run of 100 can be extended to 500.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Self

import numpy as np

from anypag.checkpoint.checkpoint import SECONDS_BETWEEN_WRITES, store_of_run
from anypag.checkpoint.fingerprint import Fingerprint
from anypag.checkpoint.store import Store
from anypag.errors import GraphError
from anypag.graphs.pag import PAG
from anypag.stability.stability import Failure


class KeptReplicates:
    """The graphs of the resamples done so far, in a file; use it in a `with` statement. With `resume` it continues from
    the file if it exists; otherwise an existing file is an error.
    """

    def __init__(self, path: Path, facts: Fingerprint, names: tuple[str, ...], *, resume: bool) -> None:
        self.graphs: dict[int, PAG] = {}
        self.failures: dict[int, Failure] = {}
        self._fresh: dict[int, PAG] = {}
        self._written_at = time.monotonic()
        self._names = names
        self._store = store_of_run(path, facts, {"failures": []}, self._take_up, resume=resume)

    def add(self, k: int, graph: PAG) -> None:
        """Add a finished resample; it is written within seconds."""
        self.graphs[k] = self._fresh[k] = graph
        if time.monotonic() - self._written_at >= SECONDS_BETWEEN_WRITES:
            self.write()

    def add_failure(self, failure: Failure) -> None:
        """Add a resample that gave no graph."""
        self.failures[failure.k] = failure

    def write(self) -> None:
        """Write what is not written yet."""
        failures = [list(failure) for failure in self.failures.values()]
        arrays = {f"replicate/{k:08}": np.array(graph.marks) for k, graph in self._fresh.items()}
        self._store.write({"failures": failures}, arrays)
        self._fresh.clear()
        self._written_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.write()
        finally:
            self._store.__exit__()

    def _take_up(self, store: Store) -> None:
        self._store = store
        for name in self._store.names("replicate/"):
            number = name.removeprefix("replicate/")
            if not number.isdecimal():
                raise self._store.damaged(f"the array {name!r} is of no resample")
            self.graphs[int(number)] = self._graph(name)
        for item in self._rows():
            self.failures[item.k] = item

    def _graph(self, name: str) -> PAG:
        try:
            return PAG(self._store.array(name), self._names)  # type: ignore[arg-type]  # it is there: its name was listed
        except GraphError as error:
            raise self._store.damaged(f"the array {name!r} is no graph: {error}") from None

    def _rows(self) -> list[Failure]:
        rows: Any = self._store.fact("failures")
        is_right = isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == 2 and type(row[0]) is int and isinstance(row[1], str) for row in rows
        )
        if not is_right:
            raise self._store.damaged("the resamples that failed are not named")
        return [Failure(k, why) for k, why in rows]
