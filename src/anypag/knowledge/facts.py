"""Knowledge as tables over numbered nodes, with all facts that follow from the statements alone.

"A is a cause of B" is transitive and has no cycles. So statements about causes and non-causes imply more. Let A be a
cause of B. Then B is no cause of A. If A does not cause C, then B does not cause C. If C does not cause B, then C does
not cause A. If A does not cause selection, then B does not cause selection.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags
from anypag.graphs.base import Marks, ancestry, transitive
from anypag.graphs.marks import Mark


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts about n nodes; `closed` adds the facts that follow."""

    causes: Flags  # [a, b]: a is a cause of b, directly or through others
    not_causes: Flags  # [a, b]: a is no cause of b
    not_selecting: Flags  # [a]: a is no cause of being in the sample
    joined: Flags  # symmetric, as are the next two tables
    not_joined: Flags
    unconfounded: Flags  # [a, b]: no unmeasured variable is a cause of both
    design: Flags  # [a]: a is a context, joined to the other contexts by design
    selection: bool = True  # may the sample have been selected at all?
    n_hidden: int = 0  # how many nodes, the last ones, are hidden causes

    @classmethod
    def none(cls, n: int, *, selection: bool = True) -> Self:
        causes, not_causes, joined, not_joined, unconfounded = (np.zeros((n, n), np.bool_) for _ in range(5))
        not_selecting, design = np.full(n, not selection), np.zeros(n, np.bool_)
        return cls(causes, not_causes, not_selecting, joined, not_joined, unconfounded, design, selection)

    def closed(self) -> Self:
        """The facts and all that follow from them. The facts must not contradict each other (see `knowledge.bind`)."""
        causes = transitive(self.causes)
        not_causes = self.not_causes | causes.T
        above = causes.T | np.eye(len(causes), dtype=np.bool_)
        if causes.any():
            not_causes = _product(_product(above, not_causes), above)
        not_selecting = self.not_selecting | causes[self.not_selecting].any(axis=0)
        np.fill_diagonal(not_causes, False)
        return replace(self, causes=causes, not_causes=not_causes, not_selecting=not_selecting)

    def reordered(self, order: npt.NDArray[np.integer]) -> Self:
        """The facts in another order of nodes: node i of the result is node `order[i]` of these facts."""
        tables = self._tables()
        return replace(self, **{name: table[np.ix_(*[order] * table.ndim)].copy() for name, table in tables.items()})

    def with_hidden(self, k: int) -> Self:
        """The facts for these nodes and k hidden causes, which no node causes, and which do not cause selection."""
        n = len(self.causes)
        wider: dict[str, Any] = {name: np.pad(table, (0, k)) for name, table in self._tables().items()}
        wider["not_causes"][:, n:] = True
        np.fill_diagonal(wider["not_causes"], False)
        wider["not_selecting"][n:] = True
        return replace(self, **wider, n_hidden=k)

    def _tables(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self) if item.type == "Flags"}

    @cached_property
    def not_anterior(self) -> Flags:
        """(n, n) `[a, b]`: a is a cause neither of b nor of selection, so the mark at a on a–b is an arrowhead."""
        return np.asarray(self.not_causes & self.not_selecting[:, None], np.bool_)

    @cached_property
    def says_marks(self) -> bool:
        """Can any mark follow from the facts?"""
        return bool(self.causes.any() or self.not_causes.any() or self.unconfounded.any() or self.not_selecting.any())

    @cached_property
    def is_tiered(self) -> bool:
        """Do the facts say only that all nodes are in tiers (no node is a cause of a node in an earlier tier) and that
        there is no selection? Then the rules alone find all that follows (Andrews et al. 2020).
        """
        if self.causes.any() or self.unconfounded.any() or not self.not_selecting.all():
            return False
        rank = self.not_causes.sum(axis=1)
        return bool(((rank[:, None] > rank[None, :]) == self.not_causes).all())

    def seeds(self, marks: Marks, *, final: bool = False) -> Marks:
        """The marks that the facts give to the edges of a graph; circles at all other ends. `final`: no edge a–b is
        superfluous. Then, without selection, a is a cause of b if b is no cause of a and no hidden cause acts on both.
        """
        seeds = (marks != Mark.NONE).astype(np.uint8)
        seeds[(seeds > 0) & self.not_anterior.T] = Mark.ARROW
        seeds[(seeds > 0) & self.causes.T] = Mark.TAIL
        if final and not self.selection:
            seeds[(seeds > 0) & self.unconfounded & self.not_causes] = Mark.TAIL
        return np.asarray(seeds, np.uint8)

    def agree_with(self, mag: Marks) -> bool:
        """Can all facts be true in a system with this MAG? A node with an arrowhead is no cause of selection. A node
        that is no cause of selection causes exactly its descendants. Tails at other nodes may mean causes of selection.
        """
        adjacent = mag != Mark.NONE
        edges_agree = not bool((self.joined & ~adjacent).any() or (self.not_joined & adjacent).any())
        return edges_agree and self.disagreement(mag) is None

    def disagreement(self, mag: Marks) -> tuple[int, int] | None:
        """Two nodes of a MAG that contradict a fact about causes, confounding or selection; None if there are none."""
        arrow, tail = mag == Mark.ARROW, mag == Mark.TAIL
        wrong = tail & tail.T & self.not_selecting[:, None]
        if not self.selection:
            wrong |= self.unconfounded & arrow & arrow.T
        is_sure = arrow.any(axis=0) | self.not_selecting
        leads = ancestry(mag)
        wrong |= ((self.causes & ~leads) | (self.not_causes & leads)) & is_sure[:, None]
        places = np.argwhere(wrong)
        return (int(places[0, 0]), int(places[0, 1])) if len(places) else None


def _product(a: Flags, b: Flags) -> Flags:
    return np.asarray(a.astype(np.float32) @ b.astype(np.float32) > 0, np.bool_)
