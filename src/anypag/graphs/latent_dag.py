"""A DAG whose hidden causes are nodes of their own, each with no cause itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from anypag._kernels import separation as kernel
from anypag.arrays import Flags
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class LatentDAG:
    """A DAG of n measured variables and k hidden causes of them.

    Args:
        parents: (n, n) i is a parent of j.
        children: (k, n) j is a child of the hidden cause h.
        n_levels: (k,) how many levels each hidden cause has.

    >>> dag = LatentDAG(np.zeros((3, 3), bool), np.array([[True, True, False]]), (2,))
    >>> dag.mag().tolist()
    [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    """

    parents: Flags
    children: Flags
    n_levels: tuple[int, ...]

    @classmethod
    def of_marks(cls, marks: Marks, n_levels: tuple[int, ...]) -> Self:
        """From the marks of a DAG over the measured variables, then the hidden ones."""
        n = len(marks) - len(n_levels)
        causes = (marks == Mark.ARROW) & (marks.T == Mark.TAIL)
        return cls(causes[:n, :n], causes[n:, :n], n_levels)

    @property
    def n(self) -> int:
        """The number of measured variables."""
        return len(self.parents)

    @property
    def causes(self) -> Flags:
        """(n + k, n + k) i is a cause of j, over all nodes, the hidden ones last."""
        k = len(self.n_levels)
        causes = np.zeros((self.n + k, self.n + k), np.bool_)
        causes[: self.n, : self.n], causes[self.n :, : self.n] = self.parents, self.children
        return causes

    @property
    def marks(self) -> Marks:
        """(n + k, n + k) of the DAG over all nodes, the hidden ones last."""
        causes = self.causes
        return np.where(causes, Mark.ARROW, np.where(causes.T, Mark.TAIL, 0)).astype(np.uint8)

    def with_last_hidden(self) -> Self:
        """With the last hidden cause as the only one: the others are the last of the measured variables."""
        causes = self.causes[:-1, :-1]
        children = np.zeros((1, len(causes)), np.bool_)
        children[0, : self.n] = self.children[-1]
        return replace(self, parents=causes, children=children, n_levels=self.n_levels[-1:])

    def mag(self) -> Marks:
        """The marks of the MAG over the measured variables."""
        marks = self.marks
        is_hidden = np.arange(len(marks)) >= self.n
        edges = Skeleton.of(marks).with_marks(marks)
        return np.asarray(kernel.project(*edges, is_hidden, np.zeros_like(is_hidden), np.arange(self.n)))

    def components(self) -> list[list[int]]:
        """The hidden causes in groups: those that share a child, and whoever shares one with them."""
        left, groups = list(range(len(self.n_levels))), []
        while left:
            group = [left.pop(0)]
            for cause in group:  # grows while it is read
                sharing = [other for other in left if (self.children[cause] & self.children[other]).any()]
                group += sharing
                left = [other for other in left if other not in sharing]
            groups.append(sorted(group))
        return groups

    def with_only(self, causes: list[int]) -> Self:
        """With these hidden causes and no others."""
        return replace(self, children=self.children[causes], n_levels=tuple(self.n_levels[h] for h in causes))

    def busy(self) -> list[int]:
        """The hidden causes with two children or more; others leave no trace in the data."""
        return [h for h in range(len(self.n_levels)) if self.children[h].sum() > 1]
