"""Truth by definition, on few nodes: all members of every class, those that agree with what is known, what they share.

No rule and no search is used. `python -m certify` and the tests compare with it what orientation and searches find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.knowledge.facts import Facts

_KINDS = ((0, 0), (Mark.ARROW, Mark.TAIL), (Mark.TAIL, Mark.ARROW), (Mark.ARROW, Mark.ARROW), (Mark.TAIL, Mark.TAIL))


@dataclass(frozen=True, eq=False)
class ClassesOfMags:
    """All MAGs on n nodes, those of one equivalence class beside each other."""

    marks: Marks
    """(k, n, n)."""
    first: npt.NDArray[np.intp]
    """(c + 1,) class c is `marks[first[c]:first[c + 1]]`."""
    leads: Flags
    """(k, n, n) is the row node an ancestor of the column node, by a directed path?"""
    has_arrow: Flags
    """(k, n) is there an arrowhead at the node?"""
    is_undirected: Flags
    """(k, n) is the node an end of an undirected edge?"""

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.first) - 1

    def of(self, c: int) -> Marks:
        """The members of a class."""
        return self.marks[self.first[c] : self.first[c + 1]]

    def agreeing(self, c: int, facts: Facts) -> Flags:
        """Which members of a class agree with what is known? (`Facts.agree_with`, for all of them at once.)"""
        rows = slice(self.first[c], self.first[c + 1])
        is_sure = self.has_arrow[rows] | facts.not_selecting
        wrong = (facts.causes & ~self.leads[rows]) | (facts.not_causes & self.leads[rows])
        agrees = ~(wrong & is_sure[:, :, None]).any(axis=(1, 2))
        agrees &= ~(self.is_undirected[rows] & facts.not_selecting).any(axis=1)
        if not facts.selection:
            arrow = self.marks[rows] == Mark.ARROW
            agrees &= ~(facts.unconfounded & arrow & arrow.swapaxes(1, 2)).any(axis=(1, 2))
        return np.asarray(agrees, np.bool_)

    def truth(self, c: int, facts: Facts) -> Marks | None:
        """The marks that all agreeing members share, circles where they differ; None if no member agrees."""
        left = self.of(c)[self.agreeing(c, facts)]
        if not len(left):
            return None
        least, most = left.min(axis=0), left.max(axis=0)
        return np.where(least == most, least, Mark.CIRCLE).astype(np.uint8)


def members(n: int) -> ClassesOfMags:
    """All MAGs on n nodes, 2 to 5, by enumeration (seconds, even for 5)."""
    from certify.mixed_graphs import maximal_ancestral_graphs

    codes, signatures = maximal_ancestral_graphs(n)
    order = np.lexsort((codes, signatures[:, 0], signatures[:, 1]))
    is_first = np.ones(len(codes), np.bool_)
    is_first[1:] = (np.diff(signatures[order].astype(np.uint64), axis=0) != 0).any(axis=1)
    marks = decoded(codes[order], n)
    undirected = (marks == Mark.TAIL) & (marks.swapaxes(1, 2) == Mark.TAIL)
    return ClassesOfMags(
        marks,
        np.append(np.flatnonzero(is_first), len(codes)),
        ancestry(marks),
        (marks == Mark.ARROW).any(axis=1),
        undirected.any(axis=1),
    )


def decoded(codes: npt.NDArray[np.int64], n: int) -> Marks:
    """The marks matrices behind the codes of `mixed_graphs`."""
    marks = np.zeros((len(codes), n, n), np.uint8)
    far, near = np.array(_KINDS, np.uint8).T
    for i, j in combinations(range(n), 2):
        kind = codes % 5
        marks[:, i, j], marks[:, j, i] = far[kind], near[kind]
        codes = codes // 5
    return marks


def ancestry(marks: Marks) -> Flags:
    """(k, n, n) is the row node an ancestor of the column node, by a directed path?"""
    reaches = (marks == Mark.ARROW) & (marks.swapaxes(1, 2) == Mark.TAIL)
    for _ in range(marks.shape[1]):
        reaches |= reaches.astype(np.uint8) @ reaches.astype(np.uint8) > 0
    return np.asarray(reaches, np.bool_)


def facts(
    n: int,
    *,
    causes: Sequence[tuple[int, int]] = (),
    not_causes: Sequence[tuple[int, int]] = (),
    not_selecting: Sequence[int] = (),
    selection: bool = True,
) -> Facts:
    """Closed facts about n numbered nodes."""
    said = Facts.none(n, selection=selection)
    for table, pairs in ((said.causes, causes), (said.not_causes, not_causes)):
        for a, b in pairs:
            table[a, b] = True
    said.not_selecting[list(not_selecting)] = True
    return said.closed()
