"""The evidence for a graph, kept for explanations: p-values of pairs, how each mark was set, conflicts.

A step appends its p-values as a batch. Batches are merged when the p-values are read (as steps of `series.shifts`
do), or when there are 64. Pairs that a pass over all pairs separated (`ci.passes`) have no record, because the test can
compute their p-values again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats, Indices
from anypag.graphs.orientation import LogRows
from anypag.graphs.rules import RULES
from anypag.stored import Array, Nested, rule_rows, stored

MOST_BATCHES = 64  # this many batches are merged before another one is added


@dataclass(frozen=True, eq=False)
class PairNotes:
    """The recorded p-values of pairs of nodes, one entry per pair."""

    pairs: Counts = stored(Array("int64", (None,), 0))  # (m,) the pairs i < j as i · n + j, ascending
    p: Floats = stored(Array("float64", (None,)))
    """The p-value of the test that separated the pair. If none did, the pair's largest p-value; NaN if untested."""
    found_at: npt.NDArray[np.int16] = stored(Array("int16", (None,), -1, "n"))
    """The iteration r in which the pair was separated; -1 if it was not."""

    @property
    def is_consistent(self) -> bool:
        return len(self.pairs) == len(self.p) == len(self.found_at) and bool((np.diff(self.pairs) > 0).all())

    def of(
        self, n: int, x: npt.NDArray[np.integer], y: npt.NDArray[np.integer]
    ) -> tuple[Floats, npt.NDArray[np.int16]]:
        """The p-value and the iteration of each pair of n nodes; NaN and -1 for pairs without a record."""
        p, found_at = np.full(len(x), np.nan), np.full(len(x), -1, np.int16)
        if not len(self.pairs):
            return p, found_at
        pairs = numbers_of(n, x, y)
        place = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        is_there = self.pairs[place] == pairs
        p[is_there], found_at[is_there] = self.p[place[is_there]], self.found_at[place[is_there]]
        return p, found_at


NO_NOTES = PairNotes(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int16))


def numbers_of(n: int, x: npt.NDArray[np.integer], y: npt.NDArray[np.integer]) -> Counts:
    """The key i · n + j of each pair i < j of n nodes. A pair may be given in either order."""
    return np.asarray(np.minimum(x, y).astype(np.int64) * n + np.maximum(x, y))


class PairBatch(NamedTuple):
    """Pairs of n nodes, their p-values, and the iteration r that separated them (None if they were not separated)."""

    n: int
    x: Indices
    y: Indices
    p: Floats
    r: int | None


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence for a graph, besides its separating sets."""

    pairs: PairNotes = stored(Nested(PairNotes), default=NO_NOTES)
    """The notes as last merged, without the p-values in `batches`."""
    log: LogRows = stored(rule_rows(RULES), default_factory=lambda: np.empty((0, 6), np.int32))
    """How each mark was set (`anypag.graphs.orientation`)."""
    conflicts: LogRows = stored(rule_rows(RULES), default_factory=lambda: np.empty((0, 6), np.int32))
    batches: tuple[PairBatch, ...] = field(default=(), repr=False)

    def adding(self, batch: PairBatch) -> Self:
        if "notes" in self.__dict__ or len(self.batches) == MOST_BATCHES:
            return replace(self, pairs=self.notes, batches=(batch,))
        return type(self)(self.pairs, self.log, self.conflicts, (*self.batches, batch))

    def oriented(self, log: LogRows, conflicts: LogRows) -> Self:
        return type(self)(self.pairs, log, conflicts, self.batches)

    @cached_property
    def notes(self) -> PairNotes:
        if not self.batches:
            return self.pairs
        of_batches = [numbers_of(batch.n, batch.x, batch.y) for batch in self.batches]
        pairs = np.unique(np.concatenate([self.pairs.pairs, *of_batches]))
        p, found_at = np.full(len(pairs), np.nan), np.full(len(pairs), -1, np.int16)
        place = np.searchsorted(pairs, self.pairs.pairs)
        p[place], found_at[place] = self.pairs.p, self.pairs.found_at
        for batch, of_batch in zip(self.batches, of_batches, strict=True):
            place = np.searchsorted(pairs, of_batch)
            if batch.r is None:
                np.fmax.at(p, place, batch.p)
            else:
                p[place], found_at[place] = batch.p, batch.r
        return PairNotes(pairs, p, found_at)

    def with_notes(self) -> Self:
        """The evidence with all batches merged into the notes, as files keep it."""
        return replace(self, pairs=self.notes, batches=())
