"""How often the graphs of resamples say what: edges, marks, kinds of edges, causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.graphs.base import Marks, ancestry, transitive
from anypag.graphs.marks import EDGE_SYMBOLS, Mark, edge_symbol
from anypag.graphs.pag import PAG

_AT_ONCE = 20_000_000
"""Entries of the matrices whose closures are worked out at once."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Counts over n graphs with the same variables. Every (p, p) array of shares is NaN where n is 0."""

    names: tuple[str, ...]
    n: int
    edges: Counts
    """(k, 5) one row for each kind of edge that a pair has in some graph: a < b, mark at a, mark at b, how often."""
    n_causes: Counts
    """(p, p) how often the graph claims i to be an ancestor of j."""
    n_not_causes: Counts
    """(p, p) how often it claims that i is none of j."""

    @classmethod
    def of(cls, graphs: Sequence[PAG], names: tuple[str, ...]) -> Frequencies:
        """The counts over some graphs, whose variables stand in this order."""
        n_causes, n_not_causes = (np.zeros((len(names),) * 2, np.int64) for _ in range(2))
        size = max(1, _AT_ONCE // max(1, len(names) ** 2))
        for k in range(0, len(graphs), size):
            marks = np.stack([graph.marks for graph in graphs[k : k + size]])
            n_causes += causes(marks).sum(axis=0)
            n_not_causes += not_causes(marks).sum(axis=0)
        return cls(names, len(graphs), _count_edges(graphs), n_causes, n_not_causes)

    @property
    def adjacency(self) -> Floats:
        """(p, p) how often there is an edge between i and j."""
        return self._shares(np.ones(len(self.edges), np.bool_), np.ones(len(self.edges), np.bool_))

    @property
    def arrowhead(self) -> Floats:
        """(p, p) how often there is an arrowhead at j on i–j."""
        return self._of_mark(Mark.ARROW)

    @property
    def tail(self) -> Floats:
        """(p, p) how often there is a tail at j on i–j."""
        return self._of_mark(Mark.TAIL)

    @property
    def circle(self) -> Floats:
        """(p, p) how often there is a circle at j on i–j."""
        return self._of_mark(Mark.CIRCLE)

    @property
    def causes(self) -> Floats:
        """(p, p) how often the graph claims i to be an ancestor of j (where the sample may be selected: of j or of
        being in the sample).
        """
        return self._per_graph(self.n_causes)

    @property
    def not_causes(self) -> Floats:
        """(p, p) how often the graph claims that i is no ancestor of j: no mark leaves it possible."""
        return self._per_graph(self.n_not_causes)

    @property
    def kinds(self) -> dict[str, Floats]:
        """By the way an edge is written from i to j (`o->`, say): (p, p) how often it is of that kind."""
        at_a, at_b = self.edges[:, 2], self.edges[:, 3]
        return {
            symbol: self._shares((at_a == left) & (at_b == right), (at_b == left) & (at_a == right))
            for symbol, (left, right) in EDGE_SYMBOLS.items()
        }

    def kinds_of(self, a: int, b: int) -> dict[str, int]:
        """How often the edge a–b is of which kind, written from a to b; the most frequent first."""
        low, high = min(a, b), max(a, b)
        first, last = self._rows_of.get((low, high), (0, 0))
        rows = [(Mark(row[2]), Mark(row[3]), int(row[4])) for row in self.edges[first:last].tolist()]
        written = [(edge_symbol(*((x, y) if a < b else (y, x))), count) for x, y, count in rows]
        return dict(sorted(written, key=lambda item: (-item[1], item[0])))

    @cached_property
    def _rows_of(self) -> dict[tuple[int, int], tuple[int, int]]:
        """By pair, where its rows in `edges` begin and end."""
        pairs = list(map(tuple, self.edges[:, :2].tolist()))
        begin = [k for k in range(len(pairs)) if k == 0 or pairs[k] != pairs[k - 1]]
        ends = [*begin[1:], len(pairs)][: len(begin)]
        return {(pairs[k][0], pairs[k][1]): (k, end) for k, end in zip(begin, ends, strict=True)}

    def _of_mark(self, mark: Mark) -> Floats:
        return self._shares(self.edges[:, 3] == mark, self.edges[:, 2] == mark)

    def _shares(self, forward: Flags, backward: Flags) -> Floats:
        """(p, p) the share of graphs in which a pair has one of the kinds chosen: for [a, b] and for [b, a]."""
        counts = np.zeros((len(self.names),) * 2, np.int64)
        a, b, count = self.edges[:, 0], self.edges[:, 1], self.edges[:, 4]
        np.add.at(counts, (a[forward], b[forward]), count[forward])
        np.add.at(counts, (b[backward], a[backward]), count[backward])
        return self._per_graph(counts)

    def _per_graph(self, counts: Counts) -> Floats:
        return counts / self.n if self.n else np.full(counts.shape, np.nan)


def causes(marks: Marks) -> Flags:
    """(..., p, p) marks: is there a directed path from i to j?"""
    return ancestry(marks) & ~np.eye(marks.shape[-1], dtype=np.bool_)


def not_causes(marks: Marks) -> Flags:
    """(..., p, p) marks: can i be no ancestor of j, whatever the graph behind them?

    A chain of causes leaves no node by an arrowhead. It enters one by a tail only if that node affects selection, and
    then no mark at it is an arrowhead: with `A --- B`, A may well be a cause of B. Being in the sample causes nothing.
    """
    back = np.swapaxes(marks, -1, -2)
    may_select = ~(marks == Mark.ARROW).any(axis=-2)
    is_entered = (marks != Mark.TAIL) | may_select[..., None, :]
    may_cause = transitive((marks != Mark.NONE) & (back != Mark.ARROW) & is_entered)
    return ~may_cause & ~np.eye(marks.shape[-1], dtype=np.bool_)


def _count_edges(graphs: Sequence[PAG]) -> Counts:
    keys = [_keys(graph.marks) for graph in graphs]
    p = len(graphs[0]) if graphs else 1
    key, count = np.unique(np.concatenate([np.empty(0, np.int64), *keys]), return_counts=True)
    pair, kind = np.divmod(key, 16)
    return np.stack([*np.divmod(pair, p), *np.divmod(kind, 4), count], axis=1).astype(np.int64).reshape(-1, 5)


def _keys(marks: Marks) -> Counts:
    """Every edge as one number: the pair, the mark at its first and at its second node."""
    a, b = np.nonzero(np.triu(marks))
    return (a * len(marks) + b) * 16 + marks[b, a].astype(np.int64) * 4 + marks[a, b]
