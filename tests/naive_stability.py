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
                names = graph.ancestors(j) if claimed else graph.possible_ancestors(j)
                shares[i, j] += (graph.names[i] in names) == claimed
    return shares / len(graphs)


def distance(a: PAG, b: PAG) -> int:
    return sum(
        (a.edge(x, y) is None) != (b.edge(x, y) is None)
        if (a.edge(x, y) is None) or (b.edge(x, y) is None)
        else a.edge(x, y).mark_b != b.edge(x, y).mark_b  # type: ignore[union-attr]
        for x in a.names
        for y in a.names
        if x != y
    )
