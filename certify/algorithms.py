"""The certificate: every algorithm on every equivalence class of MAGs on a few nodes, against the truth by definition.

The truth uses no orientation rule and no search. All mixed graphs on n nodes are tried; those that are maximal and
ancestral are grouped by the independences they imply; the true PAG of a group has the marks that all its members
share, and circles where they differ. There are 11 classes on 3 nodes, 251 on 4 and 24,566 on 5.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags
from anypag.catalogue import TEST_METHODS, AtTheEnd, OnTheWay
from anypag.ci.base import Oracle, Wrapper
from anypag.errors import ParameterError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.pag import MAG
from anypag.run.engine import learn
from anypag.search.algorithm import algorithm
from certify.members import members


class Classes(NamedTuple):
    """The Markov equivalence classes of MAGs on n nodes."""

    truth: Marks  # (c, n, n) the true PAG of each class
    member: Marks  # (c, n, n) a MAG of each class
    n_members: npt.NDArray[np.int64]  # (c,)
    no_arrow: Flags  # (c, n, n) in some member j is an ancestor of i: an arrowhead at j on i–j would be wrong
    no_tail: Flags  # (c, n, n) in some member j is no ancestor of i or of selection: a tail at j on i–j would be wrong

    def part(self, rows: npt.NDArray[np.intp]) -> Classes:
        """Some of the classes."""
        return Classes(
            self.truth[rows], self.member[rows], self.n_members[rows], self.no_arrow[rows], self.no_tail[rows]
        )


@dataclass
class Tally:
    """The errors and tests of one method on the classes of one size."""

    method: str
    n: int
    graphs: int = 0
    wrong_skeletons: int = 0
    wrong_marks: int = 0
    wrong_on_the_way: int = 0
    tests: dict[int, int] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """No error of any kind."""
        return not (self.wrong_skeletons or self.wrong_marks or self.wrong_on_the_way)

    @property
    def mean_tests(self) -> float:
        """Distinct tests per graph."""
        return sum(self.tests.values()) / max(1, self.graphs)

    def add(self, other: Tally) -> None:
        """Take in the tally of more graphs."""
        self.graphs += other.graphs
        self.wrong_skeletons += other.wrong_skeletons
        self.wrong_marks += other.wrong_marks
        self.wrong_on_the_way += other.wrong_on_the_way
        for size, count in other.tests.items():
            self.tests[size] = self.tests.get(size, 0) + count


def classes(n: int) -> Classes:
    """The equivalence classes of MAGs on n nodes, 2 to 5, by enumeration (seconds, even for 5)."""
    if n not in range(2, 6):
        raise ParameterError(f"Classes are enumerated for 2 to 5 nodes; got {n}.")
    return _enumerated(n)


COSTLY = " (costly)"
"""After the name of a method: with a test that takes one question at a time, which changes how some methods search."""


class CostlyOracle(Wrapper):
    """An oracle that takes one question at a time."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(oracle)
        self.batch = 1
        self.pvalues = oracle.pvalues


def certify(
    n: int,
    methods: Sequence[str] = (*TEST_METHODS, f"icd{COSTLY}"),
    part: tuple[int, int] = (1, 1),
    workers: int | None = None,
) -> Iterator[Tally]:
    """Run methods with a perfect oracle on every class of n nodes; one tally per method, as they finish. `part` (k, m)
    takes the k-th of m parts of the classes; `workers` are all cores by default.
    """
    for method in methods:
        algorithm(method.removesuffix(COSTLY))  # an unknown name is refused before any work
    found = classes(n)
    found = found.part(np.arange(part[0] - 1, len(found.truth), part[1]))
    parts = np.array_split(np.arange(len(found.truth)), max(1, len(found.truth) // 100))
    with ProcessPoolExecutor(workers or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for method in methods:
            tally = Tally(method, n)
            for part_tally in pool.map(partial(_tally, method), [found.part(rows) for rows in parts]):
                tally.add(part_tally)
            yield tally


def _tally(method: str, found: Classes) -> Tally:
    """One method on some classes, judged by what it promises."""
    name = method.removesuffix(COSTLY)
    promises = algorithm(name).facts.promises
    tally = Tally(method, found.truth.shape[1])
    for truth, member, _, no_arrow, no_tail in zip(*found, strict=True):
        oracle = Oracle(MAG(member))
        result = learn(oracle if method == name else CostlyOracle(oracle), method=name)
        marks = result.pag.marks
        is_missing, is_extra = (marks == 0) & (truth != 0), (marks != 0) & (truth == 0)
        differs = (marks != truth) & (truth != 0) & (marks != 0)
        tally.graphs += 1
        if promises.at_the_end is AtTheEnd.SOUND:
            tally.wrong_skeletons += bool(is_missing.any())
            tally.wrong_marks += bool((differs & (marks != Mark.CIRCLE)).any())
        else:
            tally.wrong_skeletons += bool((is_missing | is_extra).any())
            tally.wrong_marks += bool(differs.any())
        if promises.on_the_way is not OnTheWay.NOTHING:
            graphs = (item.pag.marks for item in result.history)
            tally.wrong_on_the_way += any(has_wrong_claim(graph, truth, no_arrow, no_tail) for graph in graphs)
        for size, count in result.tests.items():
            tally.tests[size] = tally.tests.get(size, 0) + count
    return tally


def has_wrong_claim(marks: Marks, truth: Marks, no_arrow: Flags, no_tail: Flags) -> bool:
    """Is an edge missing that the truth has, or an arrowhead or tail wrong, also on edges that will be removed?"""
    is_missing = (marks == Mark.NONE) & (truth != Mark.NONE)
    is_wrong_on_edge = (truth != Mark.NONE) & (marks > Mark.CIRCLE) & (marks != truth)
    is_wrong_elsewhere = ((marks == Mark.ARROW) & no_arrow) | ((marks == Mark.TAIL) & no_tail)
    return bool((is_missing | is_wrong_on_edge | is_wrong_elsewhere).any())


def _enumerated(n: int) -> Classes:
    found = members(n)
    first, marks = found.first[:-1], found.marks
    least, most = np.minimum.reduceat(marks, first), np.maximum.reduceat(marks, first)
    truth = np.where(least == most, least, Mark.CIRCLE).astype(np.uint8)
    is_neither = ~found.leads & found.has_arrow[:, :, None]  # [:, j, i]; an arrowhead at j: no cause of selection
    no_arrow, no_tail = (np.logical_or.reduceat(flags, first).swapaxes(1, 2) for flags in (found.leads, is_neither))
    return Classes(truth, marks[first], np.diff(found.first), no_arrow, no_tail)
