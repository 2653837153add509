"""Frequencies the slow way: one graph, one pair, one question at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anypag.arrays import Floats
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG


def mark_frequency(graphs: Sequence[PAG], mark: Mark) -> Floats:
    p = len(graphs[0])
    shares = np.zeros((p, p))
    for i in range(p):
        for j in range(p):
            edges = [graph.edge(i, j) for graph in graphs] if i != j else []
            shares[i, j] = sum(edge is not None and edge.mark_b == mark for edge in edges) / len(graphs)
    return shares


def cause_frequency(graphs: Sequence[PAG], *, claimed: bool) -> Floats:
    """How often i is claimed to be an ancestor of j; or, with `claimed=False`, to be none."""
    p = len(graphs[0])
    shares = np.zeros((p, p))
    for i in range(p):
        for j in range(p):
            if i == j:
                continue
            for graph in graphs:
                is_said = graph.names[i] in graph.ancestors(j) if claimed else not _may_reach(graph, i, j, {i})
                shares[i, j] += is_said
    return shares / len(graphs)


def _may_reach(graph: PAG, i: int, j: int, been: set[int]) -> bool:
    """Might i be an ancestor of j, with selection as it may be?"""
    if i == j:
        return True
    for k in set(range(len(graph))) - been:
        edge = graph.edge(i, k)
        if edge is None or edge.mark_a == Mark.ARROW:
            continue
        at_k = [other.mark_b for m in range(len(graph)) if m != k and (other := graph.edge(m, k)) is not None]
        if edge.mark_b == Mark.TAIL and Mark.ARROW in at_k:  # k is a cause of i, not of being in the sample
            continue
        if _may_reach(graph, k, j, {*been, k}):
            return True
    return False
