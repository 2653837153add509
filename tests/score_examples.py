"""Scores of tables with the price of plain BIC, and of whole graphs: the sum over their components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag._kernels.gaussian_score import SCORE
from anypag.graphs.base import Marks, MixedGraph
from anypag.graphs.marks import Mark
from anypag.scores.base import Score
from anypag.scores.gaussian import GaussianScore
from anypag.scores.mixed import MixedScore


def gaussian_score(data: Any, gamma: float = 0.0) -> GaussianScore:
    """The Gaussian score of a table."""
    return replace(ap.FisherZ(data).score(), gamma=gamma)


def mixed_score(data: Any, gamma: float = 0.0) -> MixedScore:
    """The degenerate-Gaussian score of a table."""
    return replace(ap.DegenerateGaussian(data).score(), gamma=gamma)


@dataclass(frozen=True)
class Component:
    """A part of a graph that is scored as one.

    Args:
        nodes: its members first, then the other parents of members.
        size: the number of members.
        relation: (size, len(nodes)) what each node is to each member: 1 parent, 2 spouse, 3 neighbour, else 0.
    """

    nodes: npt.NDArray[np.int64]
    size: int
    relation: Marks


def components(marks: Marks) -> list[Component]:
    """The components of a graph with edges `-->`, `<->` and `---`."""
    arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
    relation = np.zeros(marks.shape, np.uint8)  # [i, j]: the relation of j to i
    relation[(arrow & tail.T).T] = 1
    relation[arrow & arrow.T] = 2
    relation[tail & tail.T] = 3
    left, found = list(range(len(marks))), []
    while left:
        members = [left[0]]
        for member in members:  # grows while it is read
            members += [int(j) for j in np.flatnonzero(relation[member] > 1) if j not in members]
        left = [node for node in left if node not in members]
        members.sort()
        parents = np.flatnonzero((relation[members] == 1).any(axis=0))
        nodes = np.array([*members, *(p for p in parents.tolist() if p not in members)], np.int64)
        found.append(Component(nodes, len(members), np.ascontiguousarray(relation[members][:, nodes])))
    return found


def asked(score: Score, part: Component, what: int = SCORE) -> float:
    """What a score says about a component (`_kernels.gaussian_score.component`)."""
    given = (part.nodes, part.size, len(part.nodes), part.relation, score.of_components[2], what)
    return float(score.component(*score.bound, *given))


def score_of(score: Score, graph: MixedGraph | Marks) -> float:
    """The score of a whole DAG or MAG, over the variables of the score in their order."""
    marks = graph.marks if isinstance(graph, MixedGraph) else graph
    return sum(asked(score, part) for part in components(marks))
