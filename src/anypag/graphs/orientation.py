"""Orientation: all marks that follow from a skeleton and its colliders.

The rules are in `anypag.graphs.rules`. R0 runs once. Then the others run in order, from the first one again after every
change, until none sets a mark. Two rules need to know colliders. R0 asks whether the middle of an unshielded triple is
a collider, R4 whether the node that a path discriminates is a collider. A `Colliders` object answers. In a search it
looks at separating sets, else at a MAG.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from anypag._kernels import rules as kernel
from anypag._kernels.pairs import count_kinds
from anypag._kernels.separation import contradicted
from anypag.arrays import Counts, Flags
from anypag.graphs.base import Marks
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.graphs.rules import RULES, Rule, rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.threads import Look, do_nothing, in_turns

LogRows = npt.NDArray[np.int32]
"""(k, 6) one row per mark at j on the edge i–j: the rule, i, j, the mark, and two nodes that the reason names."""
Paths = npt.NDArray[np.int32]  # discriminating paths, (k, longest): D, ..., A, B, C, then -1


class Colliders(Protocol):
    """An object that tells colliders from other nodes, by separating sets or a MAG."""

    def propose(self, marks: Marks, skeleton: Skeleton, wanted: Marks, rows: LogRows) -> int:
        """R0: write arrowheads of unshielded colliders to `wanted` and `rows` (`_kernels.rules`). Return how many."""
        ...

    def decide(self, paths: Paths) -> tuple[Paths, Flags]:
        """R4: the paths that can be decided; for each, True if the set that separates D and C contains B."""
        ...


class KnownCauses(NamedTuple):
    """The (n, n) tables that rules with knowledge read."""

    not_causes: Flags  # `[a, b]`: a is known to be no cause of b
    unconfounded: Flags  # `[a, b]`: a and b are known to have no hidden common cause, and the sample is not selected


class Orientation(NamedTuple):
    """Marks, and the record of how they were set."""

    marks: Marks
    log: LogRows  # one row for each mark set, in the order they were set
    conflicts: LogRows
    """One row for each conflict: a rule wanted another mark than the one set, an arrowhead and a tail were proposed for
    the same circle, or the ancestors that a mark implies would contradict other marks.
    """


def orient(
    known: Marks,
    colliders: Colliders,
    rules: Sequence[Rule] | None = None,
    skeleton: Skeleton | None = None,
    knowledge: KnownCauses | None = None,
    look: Look = do_nothing,
) -> Orientation:
    """All marks that follow from a skeleton. `known` (n, n) has circles, and marks known in advance, which never
    change. `rules` run after R0; by default all rules that need no knowledge. `look` is called from time to time.
    """
    edges = Skeleton.of(known) if skeleton is None else skeleton
    rules = rules_after_0(selection=True) if rules is None else rules
    return orient_in_place(np.array(known, order="C"), colliders, rules, edges, knowledge, look=look)


def orient_in_place(
    marks: Marks,
    colliders: Colliders,
    rules: Sequence[Rule],
    skeleton: Skeleton,
    knowledge: KnownCauses | None = None,
    scratch: Scratch | None = None,
    look: Look = do_nothing,
) -> Orientation:
    """The result of `orient`, written into the given marks, because a copy of them may take a gigabyte."""
    graph = Pass(marks, skeleton, knowledge, Scratch() if scratch is None else scratch, look)
    graph.follow(RULES[0], colliders)
    waiting = list(rules)
    while waiting:
        if graph.follow(waiting.pop(0), colliders):
            look()
            waiting = list(rules)
    return graph.result()


class Scratch:
    """Two (n, n) tables of zeros that orientations reuse: one for proposed marks, one for disputed marks.

    For a large graph, making new tables takes longer than running the rules. Each orientation returns the tables
    as zeros. If it fails, it does not return them, and the next orientation makes new tables.
    """

    tables: tuple[Marks, Marks] | None = None  # two tables of zeros; None while they are in use

    def take(self, n: int) -> tuple[Marks, Marks]:
        tables, self.tables = self.tables, None
        if tables is None or len(tables[0]) != n:
            tables = np.zeros((n, n), np.uint8), np.zeros((n, n), np.uint8)
        return tables

    def __reduce__(self) -> tuple[type[Scratch], tuple[()]]:
        """The pickle for another process holds no tables."""
        return Scratch, ()


class Pass:
    """The marks while rules run, and the scratch tables into which rules write proposals."""

    def __init__(
        self, marks: Marks, skeleton: Skeleton, knowledge: KnownCauses | None, scratch: Scratch, look: Look
    ) -> None:
        self.marks, self.look = marks, look
        self.lists = marks, skeleton.start, skeleton.neighbour  # the form in which kernels take a graph
        self.skeleton = skeleton
        self._knowledge = knowledge
        self._scratch = scratch
        self.wanted, self.disputed = scratch.take(len(marks))
        self.rows = np.empty((2 * len(skeleton.neighbour), 5), np.int32)
        self.log: list[LogRows] = []
        self.conflicts: list[LogRows] = []
        self._kinds: Counts | None = None  # (4, 4) how many edges have each two marks; None if not counted yet

    @property
    def known(self) -> KnownCauses:
        assert self._knowledge is not None, "a rule that needs knowledge was run without knowledge"
        return self._knowledge

    def follow(self, rule: Rule, colliders: Colliders) -> bool:
        """Set the marks that a rule proposes. Return True if any mark changed."""
        if rule.needs_edges and any(self._n_edges(symbol) < least for symbol, least in rule.needs_edges):
            return False
        count = rule.propose(self, colliders)
        if count == 0:
            return False
        self._kinds = None
        was_set, conflicts = kernel.apply(self.marks, self.wanted, self.rows, count, self.disputed)
        was_set, withdrawn = self._without_contradictions(was_set)
        self.log.append(_numbered(rule.number, was_set))
        self.conflicts += [_numbered(rule.number, rows) for rows in (conflicts, withdrawn) if len(rows)]
        return len(was_set) > 0

    def _n_edges(self, symbol: str) -> int:
        a, b = EDGE_SYMBOLS[symbol]
        if self._kinds is None:
            self._kinds = count_kinds(*self.lists)
        return int(self._kinds[a, b]) // (2 if a == b else 1)

    def _without_contradictions(self, was_set: LogRows) -> tuple[LogRows, LogRows]:
        """The new marks that stay, and those that become circles again because they contradict the ancestors that
        other marks imply. The order of the nodes makes no difference. Exact tests cause no contradictions.
        """
        if not len(was_set):
            return was_set, was_set
        is_contradicted, stand = np.zeros(len(was_set), np.bool_), np.zeros(1, np.int64)
        in_turns(contradicted, *self.lists, was_set, is_contradicted, stand, look=self.look)
        if not is_contradicted.any():
            return was_set, was_set[:0]
        withdrawn = was_set[is_contradicted]
        i, j, mark = withdrawn[:, :3].T
        self.marks[i, j] = Mark.CIRCLE
        self.disputed[i, j] |= np.left_shift(1, mark).astype(np.uint8)
        return was_set[~is_contradicted], withdrawn

    def result(self) -> Orientation:
        """The marks and their record; no rule can run afterwards."""
        none = np.empty((0, 6), np.int32)
        log, conflicts = np.concatenate([none, *self.log]), np.concatenate([none, *self.conflicts])
        self.disputed[conflicts[:, 1], conflicts[:, 2]] = 0  # every disputed mark is among the conflicts
        self._scratch.tables = self.wanted, self.disputed
        return Orientation(self.marks, log, conflicts)


def _numbered(rule: int, rows: LogRows) -> LogRows:
    numbered = np.empty((len(rows), rows.shape[1] + 1), np.int32)
    numbered[:, 0], numbered[:, 1:] = rule, rows
    return numbered


def as_circles(marks: Marks) -> Marks:
    """The marks of the same edges with a circle at every end."""
    return np.asarray(marks != Mark.NONE.value, np.uint8)
