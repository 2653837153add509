"""Separating sets, for hundreds of thousands of pairs at a time.

Each pair of nodes has a slot: `UNKNOWN` where no separating set was found or given, 0 for the empty set, else a row of
`members`. "None known" and "separated by the empty set" are thus different things, and a pair is the same in both
orders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from anypag._kernels import pairs as kernel
from anypag.arrays import Indices
from anypag.search.stored import SQUARE, Array, stored

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Sepsets:
    """The separating sets of the pairs without an edge."""

    slot: Indices = stored(Array("int32", SQUARE, -1))
    """(n, n) which row of `members` holds the set."""
    members: Indices = stored(Array("int32", (None, None), -1, "n"))
    """(k, w) one set a row, ascending, padded with -1; row 0 is the empty set."""

    @classmethod
    def none(cls, n: int) -> Self:
        """Nothing known about any of n nodes."""
        return cls(np.full((n, n), UNKNOWN, np.int32), np.empty((1, 0), np.int32))

    @property
    def is_consistent(self) -> bool:
        """Does every slot point to a row? For sets read from a file."""
        return len(self.members) > 0 and bool((self.slot < len(self.members)).all())

    def get(self, a: int, b: int) -> tuple[int, ...] | None:
        """The set that separates two nodes; None where none is known."""
        slot = self.slot[a, b]
        if slot == UNKNOWN:
            return None
        row = self.members[slot]
        return tuple(int(k) for k in row[row >= 0])

    def adding(self, x: Indices, y: Indices, z: Indices) -> Self:
        """With the sets `z` (k, w; padded with -1) that separate x and y."""
        if not len(x):
            return self
        slot = np.array(self.slot)
        has_members = (z >= 0).any(axis=1)
        new_slot = np.zeros(len(x), np.int32)
        new_slot[has_members] = len(self.members) + np.arange(has_members.sum())
        kernel.set_both(slot, x, y, new_slot)
        members = _stacked(self.members, _ascending(z[has_members])) if has_members.any() else self.members
        return type(self)(slot, members)


def _ascending(z: Indices) -> Indices:
    """Rows sorted, the padding last."""
    last = np.iinfo(np.int32).max
    rows = np.sort(np.where(z < 0, last, z), axis=1)
    return np.where(rows == last, -1, rows).astype(np.int32)


def _stacked(above: Indices, below: Indices) -> Indices:
    width = max(above.shape[1], below.shape[1])
    return np.concatenate([padded(above, width), padded(below, width)])


def padded(z: Indices, width: int) -> Indices:
    """Rows of so many members, -1 in place of those that are not there."""
    wide = np.full((len(z), width), -1, np.int32)  # np.pad takes ten times as long for sets of a few members
    wide[:, : z.shape[1]] = z
    return wide
