"""Separating sets, for hundreds of thousands of pairs at a time.

Each pair of nodes has a slot: `UNKNOWN` where no separating set was found or given, 0 for the empty set, else a row of
`members`. "None known" and "separated by the empty set" are thus different things, and a pair is the same in both
orders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag.search.notes import Notes, Page

Indices = npt.NDArray[np.int32]

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Sepsets:
    """The separating sets of the pairs without an edge, with notes on every pair that was tested."""

    slot: npt.NDArray[np.int32]
    """(n, n) which row of `members` holds the set."""
    members: Indices
    """(k, w) one set a row, ascending, padded with -1; row 0 is the empty set."""
    notes: Notes
    """The p-values, and when pairs were separated."""

    @classmethod
    def none(cls, n: int) -> Self:
        """Nothing known about any of n nodes."""
        return cls(np.full((n, n), UNKNOWN, np.int32), np.empty((1, 0), np.int32), Notes(n))

    @property
    def p(self) -> npt.NDArray[np.float64]:
        """(n, n) without an edge: the p-value of the separation; with one: the largest p-value that kept it; NaN:
        untested.
        """
        return self.notes.tables.p

    @property
    def found_at(self) -> npt.NDArray[np.int16]:
        """(n, n) the iteration r in which a pair was separated; -1 where it was not."""
        return self.notes.tables.found_at

    def get(self, a: int, b: int) -> tuple[int, ...] | None:
        """The set that separates two nodes; None where none is known."""
        slot = self.slot[a, b]
        if slot == UNKNOWN:
            return None
        row = self.members[slot]
        return tuple(int(k) for k in row[row >= 0])

    def adding(self, x: Indices, y: Indices, z: Indices, p: npt.NDArray[np.float64], r: int) -> Self:
        """With the sets `z` (k, w; padded with -1) that separate x and y, found in iteration r."""
        if not len(x):
            return self
        slot = np.array(self.slot)
        has_members = (z >= 0).any(axis=1)
        new_slot = np.zeros(len(x), np.int32)
        new_slot[has_members] = len(self.members) + np.arange(has_members.sum())
        kernel.set_both(slot, x, y, new_slot)
        members = _stacked(self.members, _ascending(z[has_members])) if has_members.any() else self.members
        return replace(self, slot=slot, members=members, notes=self.notes.adding(Page(x, y, p, r)))

    def keeping(self, x: Indices, y: Indices, p: npt.NDArray[np.float64]) -> Self:
        """With p-values of tests that kept their edge: the largest of each counts. A pair may come more than once."""
        return replace(self, notes=self.notes.adding(Page(x, y, p, None))) if len(x) else self


def _ascending(z: Indices) -> Indices:
    """Rows sorted, the padding last."""
    last = np.iinfo(np.int32).max
    rows = np.sort(np.where(z < 0, last, z), axis=1)
    return np.where(rows == last, -1, rows).astype(np.int32)


def _stacked(above: Indices, below: Indices) -> Indices:
    width = max(above.shape[1], below.shape[1])
    return np.concatenate([_padded(above, width), _padded(below, width)])


def _padded(z: Indices, width: int) -> Indices:
    return np.pad(z, ((0, 0), (0, width - z.shape[1])), constant_values=-1)
