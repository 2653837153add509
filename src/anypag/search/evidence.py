"""What people read and a search does not: the p-values of pairs, how each mark was set, what was in conflict.

A search writes evidence and never reads it. So a step only appends batches of p-values; the tables are made when
somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag.arrays import Floats, Indices
from anypag.graphs.orientation import Rows
from anypag.search.stored import SQUARE, Array, Nested, RuleRows, stored

MOST_BATCHES = 64
"""More than this, and they are written into the tables."""


@dataclass(frozen=True, eq=False)
class PairTables:
    """What is known of every pair, (n, n) and the same from both sides."""

    p: Floats = stored(Array("float64", SQUARE))
    """Without an edge: the p-value of the separation; with one: the largest p-value that kept it; NaN: untested."""
    found_at: npt.NDArray[np.int16] = stored(Array("int16", SQUARE, -1, "n"))
    """The iteration r in which a pair was separated; -1 where it was not."""

    @classmethod
    def empty(cls, n: int) -> Self:
        """Nothing known of any of n nodes."""
        return cls(np.full((n, n), np.nan), np.full((n, n), -1, np.int16))


class PairBatch(NamedTuple):
    """Pairs, their p-values, and the iteration in which they were separated: None if these tests kept their edges."""

    x: Indices
    y: Indices
    p: Floats
    r: int | None


def _no_rows() -> Rows:
    return np.empty((0, 6), np.int32)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is there to explain a graph with, beside its separating sets."""

    pairs: PairTables = stored(Nested(PairTables))
    """As of the last time they were read; `batches` came since."""
    log: Rows = stored(RuleRows(), default_factory=_no_rows)
    """How each mark was set (`anypag.graphs.orientation`)."""
    conflicts: Rows = stored(RuleRows(), default_factory=_no_rows)
    batches: tuple[PairBatch, ...] = field(default=(), repr=False)

    def adding(self, batch: PairBatch) -> Self:
        """With one more batch of p-values."""
        if "tables" in self.__dict__ or len(self.batches) == MOST_BATCHES:
            return replace(self, pairs=self.tables, batches=(batch,))
        return replace(self, batches=(*self.batches, batch))

    @cached_property
    def tables(self) -> PairTables:
        """The tables with all that has been noted."""
        if not self.batches:
            return self.pairs
        tables = PairTables(np.array(self.pairs.p), np.array(self.pairs.found_at))
        for batch in self.batches:
            if batch.r is None:
                kernel.keep_largest(tables.p, batch.x, batch.y, batch.p)
            else:
                kernel.note_separations(tables.p, tables.found_at, batch.x, batch.y, batch.p, batch.r)
        return tables

    def with_tables(self) -> Self:
        """The same with every batch in the tables: as it is stored."""
        return replace(self, pairs=self.tables, batches=())
