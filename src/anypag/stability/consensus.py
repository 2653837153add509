"""The consensus of many graphs: the medoid of the resamples' graphs, improved by single valid changes.

The distance of two graphs is the number of marks in which they differ; a missing edge counts as two missing marks. The
medoid is the valid PAG with the smallest total distance to all. Then single edges of a member MAG are changed, removed
or added if that brings its PAG closer to all. So every graph on the way is a valid PAG; a majority vote for each edge
would not give one. With knowledge, only MAGs that agree with it are used, and the graph of a MAG includes the marks
that follow from knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from anypag.arrays import Counts
from anypag.errors import NotMaximalOrAncestralError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import as_circles
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import pag_of_mag
from anypag.graphs.reasoning.validity import completed, validate
from anypag.graphs.skeleton import Skeleton
from anypag.knowledge.closure import SeparationsOf, orient_with_knowledge
from anypag.knowledge.facts import Facts

MOST_TRIED = 2000
"""The most changes tried; hundreds of variables allow far more."""

_KINDS = ((Mark.NONE, Mark.NONE), (Mark.TAIL, Mark.ARROW), (Mark.ARROW, Mark.TAIL), (Mark.ARROW, Mark.ARROW))
_UNDIRECTED = (Mark.TAIL, Mark.TAIL)


def consensus(graphs: Sequence[PAG]) -> PAG:
    """A valid PAG that no single change brings closer to all of these graphs.

    Args:
        graphs: one or more, over the same variables in the same order.

    >>> graphs = [PAG.from_string(text) for text in ("A o-> B; C o-> B", "A o-> B; C o-> B", "A o-o B; C")]
    >>> print(consensus(graphs))
    A o-> B
    C o-> B
    """
    same_order, table = _in_one_order(graphs)
    return _improved(*medoid(same_order, table), table, None)


def known_consensus(graphs: Sequence[PAG], known: Facts) -> PAG | None:
    """The consensus among graphs that agree with knowledge, with the marks that follow from it; None if none of the
    graphs agrees.

    >>> graphs = [PAG.from_string(text) for text in ("A o-> B; C o-> B", "A o-> B; C o-> B", "A o-o B; C")]
    >>> from anypag.knowledge.knowledge import Knowledge
    >>> print(known_consensus(graphs, Knowledge.from_text("A ~> B").facts(["A", "B", "C"], selection=False)))
    A --> B
    C o-> B
    """
    same_order, table = _in_one_order(graphs)
    begin = _medoid_with(same_order, table, known)
    return None if begin is None else _improved(*begin, table, known)


def _in_one_order(graphs: Sequence[PAG]) -> tuple[list[PAG], Counts]:
    same_order = [graph.subgraph(graphs[0].names) for graph in graphs]
    return same_order, _table(same_order)


def distance(marks: Marks, table: Counts) -> int:
    """The total distance of a graph to all."""
    return int(_costs(marks, table).sum())


def medoid(graphs: Sequence[PAG], table: Counts) -> tuple[PAG, MAG]:
    """The valid graph with the smallest total distance (the first of equals), and a MAG of its class. If none is valid,
    the graph without edges.
    """
    totals = [distance(graph.marks, table) for graph in graphs]
    for k in np.argsort(totals, kind="stable").tolist():
        verdict = validate(graphs[k])
        if verdict.mag is not None and verdict:
            return graphs[k], verdict.mag
    names, empty = graphs[0].names, np.zeros_like(graphs[0].marks)
    return PAG(empty, names), MAG(empty, names)


def _medoid_with(graphs: Sequence[PAG], table: Counts, known: Facts) -> tuple[PAG, MAG] | None:
    """The medoid among graphs that agree with knowledge, the graph without edges included."""
    names, empty = graphs[0].names, np.zeros_like(graphs[0].marks)
    members = [member for graph in graphs if (member := member_of(graph, known)) is not None]
    without_edges = MAG(empty, names)
    members += [without_edges] if not members and known.agree_with(without_edges.marks) else []
    pairs = [(graph_of(member, known), member) for member in members]
    return min(pairs, key=lambda pair: distance(pair[0].marks, table), default=None)


def _table(graphs: Sequence[PAG]) -> Counts:
    """(4, p, p) how many graphs have which mark at j on i–j."""
    marks = np.stack([graph.marks for graph in graphs])
    return np.stack([(marks == mark).sum(axis=0) for mark in Mark]).astype(np.int64)


def _costs(marks: Marks, table: Counts) -> Counts:
    """(p, p) how many graphs have another mark there."""
    same = np.take_along_axis(table, marks[None].astype(np.intp), axis=0)[0]
    costs: Counts = table.sum(axis=0) - same
    return costs


def _improved(pag: PAG, mag: MAG, table: Counts, known: Facts | None) -> PAG:
    """Change single edges of the member, the largest gain first, until no change helps."""
    best, tried = distance(pag.marks, table), 0
    changed = True
    while changed and tried < MOST_TRIED:
        changed = False
        for marks in _changes(pag, mag, table):
            tried += 1
            neighbour = _legal(marks, mag.names, known)
            if neighbour is not None and (total := distance(neighbour[0].marks, table)) < best:
                (pag, mag), best, changed = neighbour, total, True
                break
            if tried >= MOST_TRIED:
                break
    return pag


def _changes(pag: PAG, mag: MAG, table: Counts) -> Iterator[Marks]:
    """Copies of the member with one edge changed, for pairs whose edge differs in most graphs."""
    costs = _costs(pag.marks, table)
    gains = costs - (table.sum(axis=0) - table.max(axis=0))
    gains = np.triu(gains + gains.T, 1)
    for i, j in zip(*np.unravel_index(np.argsort(-gains, axis=None, kind="stable"), gains.shape), strict=True):
        if gains[i, j] <= 0:
            return
        undirected = (_UNDIRECTED,) if table[Mark.TAIL, i, j] and table[Mark.TAIL, j, i] else ()
        for at_i, at_j in (*_KINDS, *undirected):
            if (mag.marks[j, i], mag.marks[i, j]) != (at_i, at_j):
                marks = np.array(mag.marks)
                marks[j, i], marks[i, j] = at_i, at_j
                yield marks


def _legal(marks: Marks, names: tuple[str, ...], known: Facts | None) -> tuple[PAG, MAG] | None:
    """The PAG of a changed member and the member, if it is a MAG and agrees with knowledge."""
    try:
        mag = MAG(marks, names)
    except NotMaximalOrAncestralError:
        return None
    if known is None:
        return pag_of_mag(mag), mag
    return (graph_of(mag, known), mag) if known.agree_with(mag.marks) else None


def graph_of(mag: MAG, facts: Facts) -> PAG:
    """The PAG of a MAG with the marks that follow from knowledge, as far as rules find them."""
    skeleton = Skeleton.of(mag.marks)
    found = orient_with_knowledge(as_circles(mag.marks), SeparationsOf(mag.marks), facts, skeleton, final=True)
    return PAG(found.marks, mag.names)


def member_of(pag: PAG, facts: Facts) -> MAG | None:
    """A MAG of a graph's class that agrees with knowledge, or None."""
    marks, cycle = completed(pag.marks)
    try:
        mag = None if cycle else MAG(np.asarray(marks), pag.names)
    except NotMaximalOrAncestralError:
        return None
    return mag if mag is not None and facts.agree_with(mag.marks) else None
