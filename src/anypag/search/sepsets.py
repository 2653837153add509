"""Separating sets, stored so that hundreds of millions of pairs fit into memory: one bit says that the empty set
separates a pair, and a larger set takes one row.

Each pair of nodes has a slot: `UNKNOWN` where no separating set was found or given, 0 for the empty set, otherwise the
index of the row of `members` that holds the set. The order of the two nodes does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag._kernels.rules import slots_of
from anypag.arrays import Counts, Flags, Indices
from anypag.stored import Array, stored

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Sepsets:
    """The separating sets of the pairs without an edge."""

    empty: npt.NDArray[np.uint8] = stored(Array("uint8", ("n", None)))
    """(n, ⌈n / 8⌉) bit j of row i and bit i of row j are set if the empty set separates i and j."""
    pairs: Counts = stored(Array("int64", (None,), 0))
    """(m,) the pairs i < j with a larger set, as i · n + j, ascending."""
    rows: Indices = stored(Array("int32", (None,), 1))  # (m,) for each of these pairs the row of `members` with its set
    members: Indices = stored(Array("int32", (None, None), -1, "n"))
    """(k, w) one set per row, ascending, padded with -1; row 0 is the empty set."""

    @classmethod
    def none(cls, n: int) -> Self:
        bits = np.zeros((n, -(-n // 8)), np.uint8)
        return cls(bits, np.empty(0, np.int64), np.empty(0, np.int32), np.empty((1, 0), np.int32))

    @property
    def n(self) -> int:
        return len(self.empty)

    @property
    def is_consistent(self) -> bool:
        n, pairs = self.n, self.pairs
        is_shape = self.empty.shape == (n, -(-n // 8)) and self.rows.shape == pairs.shape and len(self.members) > 0
        if not is_shape or not (np.diff(pairs) > 0).all() or (self.rows >= len(self.members)).any():
            return False
        is_bit = np.unpackbits(self.empty, axis=1, bitorder="little")
        are_pairs = bool((pairs // max(n, 1) < pairs % max(n, 1)).all()) and bool((pairs < n * n).all())
        return are_pairs and not is_bit[:, n:].any() and np.array_equal(is_bit[:, :n], is_bit[:, :n].T)

    @cached_property
    def slots(self) -> tuple[npt.NDArray[np.uint8], Counts, Indices, Indices]:
        """The arrays that hold the slots of pairs: the first four arguments of `_kernels.rules.slot_of`."""
        start = np.searchsorted(self.pairs, np.arange(self.n + 1, dtype=np.int64) * self.n)
        return self.empty, start.astype(np.int64), (self.pairs % max(self.n, 1)).astype(np.int32), self.rows

    def slot(self, x: npt.NDArray[np.integer], y: npt.NDArray[np.integer]) -> Indices:
        return np.asarray(slots_of(*self.slots, np.asarray(x, np.int64), np.asarray(y, np.int64)), np.int32)

    def known(self) -> Flags:
        """(n, n) is a separating set known?"""
        is_known = np.unpackbits(self.empty, axis=1, count=self.n, bitorder="little").astype(np.bool_)
        x, y = self.pairs // max(self.n, 1), self.pairs % max(self.n, 1)
        is_known[x, y] = is_known[y, x] = True
        return is_known

    def get(self, a: int, b: int) -> tuple[int, ...] | None:
        """The set that separates two nodes, or None."""
        slot = self.slot(np.array([a]), np.array([b]))[0]
        if slot == UNKNOWN:
            return None
        row = self.members[slot]
        return tuple(int(k) for k in row[row >= 0])

    def adding(self, x: Indices, y: Indices, z: Indices) -> Self:
        """These sets with the sets `z` (k, w; padded with -1) of the pairs x, y added. A pair keeps its latest set."""
        if not len(x):
            return self
        low, high = np.minimum(x, y).astype(np.int64), np.maximum(x, y).astype(np.int64)
        has_members = (z >= 0).any(axis=1)
        rows = np.where(has_members, len(self.members) - 1 + has_members.cumsum(), 0).astype(np.int32)
        larger = np.sort(z[has_members].astype(np.uint32), axis=1).astype(np.int32)  # as unsigned, -1 comes last
        members = stacked(self.members, larger) if rows.any() else self.members
        empty = self.empty
        if not has_members.all() or (self.slot(low, high) == 0).any():
            empty = np.array(empty)
            kernel.set_bits(empty, low, high, ~has_members)
        pairs, rows = np.concatenate([self.pairs, low * self.n + high]), np.concatenate([self.rows, rows])
        if not (pairs[1:] > pairs[:-1]).all():
            order = np.argsort(pairs, kind="stable")
            pairs, rows = pairs[order], rows[order]
            is_last = np.diff(pairs, append=-1) != 0  # of equal pairs the last one stays
            pairs, rows = pairs[is_last], rows[is_last]
        return type(self)(empty, pairs[rows > 0], rows[rows > 0], members)

    def including(self, given: Flags, asked: Callable[[Indices, Indices, Indices], Indices]) -> Self:
        """The sets without the nodes that are True in `given` (n,), but with the nodes that `asked(x, y, sets)` returns
        for each pair.

        >>> some = Sepsets.none(3).adding(np.array([0]), np.array([1]), np.empty((1, 0), np.int32))
        >>> some.including(np.array([False, False, True]), lambda x, y, z: np.array([[2]], np.int32)).get(0, 1)
        (2,)
        """
        if not given.any():
            return self
        x, y = (ends.astype(np.int32) for ends in np.nonzero(np.triu(self.known(), 1)))
        own = self.members[self.slot(x, y)]
        more, own = asked(x, y, own), np.where((own >= 0) & given[own], -1, own)
        return type(self).none(self.n).adding(x, y, np.hstack([own, more]).astype(np.int32))

    def emptying(self, start: Counts, neighbour: Indices) -> Self:
        """The sets for a graph (given as neighbour lists) if the empty set separates all pairs without an edge."""
        bits = np.full_like(self.empty, 255)
        kernel.clear_bits(bits, start, neighbour)
        return type(self)(bits, self.pairs[:0], self.rows[:0], self.members[:1, :0])


def stacked(*sets: Indices) -> Indices:
    """The rows of several tables of sets in one table, which is as wide as the widest."""
    width = max(z.shape[1] for z in sets)
    return np.concatenate([padded(z, width) for z in sets])


def padded(z: Indices, width: int) -> Indices:
    """The rows, padded with -1 to `width` members."""
    wide = np.full((len(z), width), -1, np.int32)  # np.pad takes ten times as long for sets of a few members
    wide[:, : z.shape[1]] = z
    return wide
