"""Compares a learned graph with the true one, or any two graphs.

Extra edges, missing edges and wrong edge marks are counted as in the paper on ICD; there are also precision, recall and
F1 of adjacencies, arrowheads and tails, and the structural Hamming distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anypag.arrays import Flags
from anypag.errors import GraphError, listed
from anypag.graphs.base import Marks, MixedGraph
from anypag.graphs.formats.registry import as_graph
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark, edge_symbol


@dataclass(frozen=True)
class Agreement:
    """Precision, recall and F1 of the learned edges, or of the learned marks of one kind.

    Precision is 1 if nothing was learned; recall is 1 if there is nothing to find. For equal graphs both are 1.

    Args:
        right: the number of edges (or marks) that are both in the learned graph and in the true one.
        learned: the number of edges (or marks) in the learned graph.
        true: the number of edges (or marks) in the true graph.

    >>> Agreement(right=1, learned=2, true=4).precision
    0.5
    """

    right: int
    learned: int
    true: int

    @property
    def precision(self) -> float:
        """The share of the learned edges (or marks) that are right; 1 if none was learned."""
        return self.right / self.learned if self.learned else 1.0

    @property
    def recall(self) -> float:
        """The share of the true edges (or marks) that were learned; 1 if the true graph has none."""
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 if neither graph has such edges (or marks)."""
        both = self.learned + self.true
        return 2 * self.right / both if both else 1.0


class Difference(NamedTuple):
    """A pair of nodes whose edge differs between two graphs: the edge in each, written from a to b; "" for no edge.

    >>> print(Difference("A", "B", "o->", ""))
    A o-> B, not joined in the second graph
    """

    a: str
    b: str
    first: str
    second: str

    def __str__(self) -> str:
        return self.said("the first graph", "the second graph")

    def said(self, first: str, second: str) -> str:
        """The difference as a sentence that calls the two graphs `first` and `second`."""
        if not self.second:
            return f"{self._edge(self.first)}, not joined in {second}"
        if not self.first:
            return f"{self._edge(self.second)} in {second}, not joined in {first}"
        return f"{self._edge(self.first)}, but {self._edge(self.second)} in {second}"

    def _edge(self, symbol: str) -> str:
        return str(Edge(self.a, self.b, *EDGE_SYMBOLS[symbol]).forward())


def lines_of(differences: Sequence[Difference], first: str, second: str) -> list[str]:
    """The differences in words: edges of the first graph only, then of the second only, then edges with other marks."""
    kinds = (True, False), (False, True), (True, True)
    by_kind = sorted(differences, key=lambda one: kinds.index((bool(one.first), bool(one.second))))
    return [difference.said(first, second) for difference in by_kind]


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`; `str()` gives it as a small table.

    Args:
        extra_edges: pairs joined in the learned graph only.
        missing_edges: pairs joined in the true graph only.
        wrong_marks: marks that differ on edges that both graphs have (an edge can have two wrong marks).
        shd: structural Hamming distance: the number of pairs whose edge is extra, is missing or has other marks.
        adjacencies: the score of the edges; their marks do not count.
        arrowheads: the score of the arrowheads. Those on extra edges count as wrong, those on missing edges as missed.
        tails: the score of the tails, counted in the same way.
        differences: the pairs of nodes whose edge differs; `first` is the edge in the learned graph.
    """

    extra_edges: int
    missing_edges: int
    wrong_marks: int
    shd: int
    adjacencies: Agreement
    arrowheads: Agreement
    tails: Agreement
    differences: tuple[Difference, ...] = ()

    @property
    def errors(self) -> int:
        """Extra edges, missing edges and wrong marks together: the total the paper reports."""
        return self.extra_edges + self.missing_edges + self.wrong_marks

    def as_dict(self) -> dict[str, float]:
        """All numbers by name (`shd`, `arrowheads_precision`, ...), for use as a row of a table of results."""
        counts = ("extra_edges", "missing_edges", "wrong_marks", "errors", "shd")
        row: dict[str, float] = {name: getattr(self, name) for name in counts}
        for kind, score in self._scores():
            row |= {f"{kind}_precision": score.precision, f"{kind}_recall": score.recall, f"{kind}_f1": score.f1}
        return row

    def __str__(self) -> str:
        counts = (self.extra_edges, self.missing_edges, self.wrong_marks, self.shd)
        titles = ("extra edges", "missing edges", "wrong marks", "SHD")
        lines = [f"{title:<13} {count:>10}" for title, count in zip(titles, counts, strict=True)]
        lines += ["", f"{'':<13} {'precision':>10} {'recall':>10} {'F1':>10}"]
        for kind, score in self._scores():
            lines.append(f"{kind:<13} {score.precision:>10.3f} {score.recall:>10.3f} {score.f1:>10.3f}")
        listed_edges = [f"  {line}" for line in lines_of(self.differences, "the learned graph", "the true one")]
        return "\n".join([*lines, *(["", "Edges that differ:", *listed_edges] if listed_edges else [])])

    def _scores(self) -> tuple[tuple[str, Agreement], ...]:
        return (("adjacencies", self.adjacencies), ("arrowheads", self.arrowheads), ("tails", self.tails))


def compare(learned: Any, truth: Any) -> Comparison:
    """Count and list the errors of a learned graph. If neither graph is the truth, see `differences`.

    Args:
        learned: the learned graph: a `PAG`, a result, a graph of causal-learn, ... (see `anypag.as_graph`).
        truth: the true graph, over the same names; their order does not matter.

    Raises:
        GraphError: the graphs are over different names.

    >>> from anypag import PAG
    >>> truth = PAG.from_string("A o-> B; C o-> B; D")
    >>> print(compare(PAG.from_string("A o-o B; C o-> B; C o-o D"), truth))
    extra edges            1
    missing edges          0
    wrong marks            1
    SHD                    2
    <BLANKLINE>
                   precision     recall         F1
    adjacencies        0.667      1.000      0.800
    arrowheads         1.000      0.500      0.667
    tails              1.000      1.000      1.000
    <BLANKLINE>
    Edges that differ:
      C o-o D, not joined in the true one
      A o-o B, but A o-> B in the true one
    """
    learned, truth = as_graph(learned), as_graph(truth)
    ours, theirs = _aligned(learned, truth), truth.marks
    differs = ours != theirs
    in_both = (ours != Mark.NONE) & (theirs != Mark.NONE)
    return Comparison(
        extra_edges=_pairs((ours != Mark.NONE) & (theirs == Mark.NONE)),
        missing_edges=_pairs((ours == Mark.NONE) & (theirs != Mark.NONE)),
        wrong_marks=int(np.count_nonzero(differs & in_both)),
        shd=_pairs(differs | differs.T),
        adjacencies=Agreement(_pairs(in_both), _pairs(ours != Mark.NONE), _pairs(theirs != Mark.NONE)),
        arrowheads=_mark_score(ours, theirs, Mark.ARROW),
        tails=_mark_score(ours, theirs, Mark.TAIL),
        differences=_differences(ours, theirs, truth.names),
    )


def differences(first: Any, second: Any) -> tuple[Difference, ...]:
    """The pairs of nodes whose edge differs between two graphs. Neither graph need be the true one.

    Args:
        first: a graph, a result, a graph of causal-learn, ... (see `anypag.as_graph`).
        second: another graph over the same names; their order does not matter.

    Raises:
        GraphError: the graphs are over different names.

    >>> from anypag import PAG
    >>> for difference in differences(PAG.from_string("A o-> B; C"), PAG.from_string("A o-o B; B o-o C")):
    ...     print(difference)
    A o-> B, but A o-o B in the second graph
    B o-o C in the second graph, not joined in the first graph
    """
    first, second = as_graph(first), as_graph(second)
    return _differences(first.marks, _aligned(second, first), first.names)


def _differences(ours: Marks, theirs: Marks, names: Sequence[str]) -> tuple[Difference, ...]:
    differs = ours != theirs
    pairs = np.argwhere(np.triu(differs | differs.T)).tolist()
    return tuple(Difference(names[i], names[j], _symbol(ours, i, j), _symbol(theirs, i, j)) for i, j in pairs)


def _symbol(marks: Marks, i: int, j: int) -> str:
    return edge_symbol(Mark(marks[j, i]), Mark(marks[i, j])) if marks[i, j] else ""


def _aligned(learned: MixedGraph, truth: MixedGraph) -> Marks:
    """The marks of the learned graph with its nodes in the order of the true one."""
    only_learned = [name for name in learned.names if name not in set(truth.names)]
    only_true = [name for name in truth.names if name not in set(learned.names)]
    if only_learned or only_true:
        raise GraphError(
            "Graphs are compared over the same names. "
            f"Names that only the learned graph has: {listed(only_learned, 6) or 'none'}; "
            f"names that only the true one has: {listed(only_true, 6) or 'none'}."
        )
    order = [learned.index(name) for name in truth.names]
    return learned.marks[np.ix_(order, order)]


def _mark_score(ours: Marks, theirs: Marks, mark: Mark) -> Agreement:
    mine, right = ours == mark, theirs == mark
    return Agreement(*(int(np.count_nonzero(cells)) for cells in (mine & right, mine, right)))


def _pairs(cells: Flags) -> int:
    """The number of pairs of nodes that are True in a symmetric matrix."""
    return int(np.count_nonzero(cells)) // 2
