"""How far a learned graph is from the true one.

Extra edges, missing edges and wrong edge marks are counted as in the paper on ICD; beside them stand
precision, recall and F1 of adjacencies, arrowheads and tails, and the structural Hamming distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anypag.errors import GraphError, listed
from anypag.graphs.base import Marks, MixedGraph
from anypag.graphs.marks import Mark


@dataclass(frozen=True)
class Score:
    """How many of the learned things are right, and how many of the true ones were found.

    Where nothing was learned nothing learned is wrong, so precision is 1; where there is nothing to find
    nothing was missed, so recall is 1. A graph compared with itself therefore always scores 1.

    Args:
        right: how many are both in the learned graph and in the true one.
        learned: how many the learned graph has.
        true: how many the true graph has.

    >>> Score(right=1, learned=2, true=4).precision
    0.5
    """

    right: int
    learned: int
    true: int

    @property
    def precision(self) -> float:
        """The share of the learned ones that are right; 1 if none was learned."""
        return self.right / self.learned if self.learned else 1.0

    @property
    def recall(self) -> float:
        """The share of the true ones that were learned; 1 if there are none."""
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 if there is nothing on either side."""
        both = self.learned + self.true
        return 2 * self.right / both if both else 1.0


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; `str()` gives it as a small table.

    Args:
        extra_edges: pairs joined in the learned graph only.
        missing_edges: pairs joined in the true graph only.
        wrong_marks: marks that differ, on edges that are in both graphs (an edge can have two).
        shd: structural Hamming distance: pairs of nodes whose edge differs (extra, missing or other marks).
        adjacencies: the score of the edges, whatever their marks.
        arrowheads: the score of the arrowheads: one on an extra edge is wrong, on a missing edge not found.
        tails: the score of the tails, counted likewise.
    """

    extra_edges: int
    missing_edges: int
    wrong_marks: int
    shd: int
    adjacencies: Score
    arrowheads: Score
    tails: Score

    @property
    def errors(self) -> int:
        """Extra edges, missing edges and wrong marks together: the total the paper reports."""
        return self.extra_edges + self.missing_edges + self.wrong_marks

    def as_dict(self) -> dict[str, float]:
        """All numbers under flat names (`shd`, `arrowheads_precision`, ...): a row of a table of results."""
        counts = ("extra_edges", "missing_edges", "wrong_marks", "errors", "shd")
        row: dict[str, float] = {name: getattr(self, name) for name in counts}
        for kind, score in self._scores():
            row |= {
                f"{kind}_precision": score.precision,
                f"{kind}_recall": score.recall,
                f"{kind}_f1": score.f1,
            }
        return row

    def __str__(self) -> str:
        counts = {
            "extra edges": self.extra_edges,
            "missing edges": self.missing_edges,
            "wrong marks": self.wrong_marks,
            "SHD": self.shd,
        }
        lines = [f"{name:<13} {count:>10}" for name, count in counts.items()]
        lines += ["", f"{'':<13} {'precision':>10} {'recall':>10} {'F1':>10}"]
        lines += [
            f"{kind:<13} {score.precision:>10.3f} {score.recall:>10.3f} {score.f1:>10.3f}"
            for kind, score in self._scores()
        ]
        return "\n".join(lines)

    def _scores(self) -> tuple[tuple[str, Score], ...]:
        return (("adjacencies", self.adjacencies), ("arrowheads", self.arrowheads), ("tails", self.tails))


def compare(learned: MixedGraph, truth: MixedGraph) -> Comparison:
    """Count what is wrong with a learned graph.

    Args:
        learned: the graph in question, usually a `PAG`.
        truth: the graph it should be, over the same names; their order does not matter.

    Returns:
        The counts and scores.

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
    """
    ours, theirs = _aligned(learned, truth), truth.marks
    differs = ours != theirs
    in_both = (ours != Mark.NONE) & (theirs != Mark.NONE)
    return Comparison(
        extra_edges=_pairs((ours != Mark.NONE) & (theirs == Mark.NONE)),
        missing_edges=_pairs((ours == Mark.NONE) & (theirs != Mark.NONE)),
        wrong_marks=int(np.count_nonzero(differs & in_both)),
        shd=_pairs(differs | differs.T),
        adjacencies=Score(_pairs(in_both), _pairs(ours != Mark.NONE), _pairs(theirs != Mark.NONE)),
        arrowheads=_mark_score(ours, theirs, Mark.ARROW),
        tails=_mark_score(ours, theirs, Mark.TAIL),
    )


def _aligned(learned: MixedGraph, truth: MixedGraph) -> Marks:
    """The marks of the learned graph with its nodes in the order of the true one."""
    for role, graph in (("learned", learned), ("true", truth)):
        if not isinstance(graph, MixedGraph):
            raise GraphError(
                f"Two graphs are compared; the {role} one is a {type(graph).__name__}, not a PAG, MAG or DAG."
            )
    only_learned = [name for name in learned.names if name not in set(truth.names)]
    only_true = [name for name in truth.names if name not in set(learned.names)]
    if only_learned or only_true:
        raise GraphError(
            "Graphs are compared over the same names. "
            f"Only the learned graph has {_or_none(only_learned)}; only the true one has {_or_none(only_true)}."
        )
    order = [learned.index(name) for name in truth.names]
    return learned.marks[np.ix_(order, order)]


def _mark_score(ours: Marks, theirs: Marks, mark: Mark) -> Score:
    mine, right = ours == mark, theirs == mark
    return Score(*(int(np.count_nonzero(cells)) for cells in (mine & right, mine, right)))


def _pairs(cells: npt.NDArray[np.bool_]) -> int:
    """How many pairs of nodes a symmetric matrix marks."""
    return int(np.count_nonzero(cells)) // 2


def _or_none(names: list[str]) -> str:
    return listed(names, 6) or "none of its own"
