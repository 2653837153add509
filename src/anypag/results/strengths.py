"""How strong each edge is: correlations with their sign where columns are numbers, an association from 0 to 1 else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anypag.arrays import Floats
from anypag.ci.base import CITest, Queries, innermost
from anypag.graphs.marks import Edge
from anypag.graphs.pag import PAG

MOST_EDGES = 20_000
MOST_GIVEN = 30
"""Neighbours that a partial correlation takes into account."""


def strengths_of(pag: PAG, bound_test: CITest) -> dict[tuple[str, str], str]:
    """For each edge a few words; nothing where the test knows none, or where there are very many edges."""
    test, edges = innermost(bound_test), pag.edges()
    names = {name: i for i, name in enumerate(test.names)}
    measure = getattr(test, "strength", None)
    if not edges or len(edges) > MOST_EDGES or measure is None:
        return {}
    if hasattr(test, "correlations_among"):
        return {edge[:2]: _correlations(pag, test.correlations_among, names, edge) for edge in edges}
    x, y = (
        np.array([names[name] for name in ends], np.int32) for ends in zip(*(edge[:2] for edge in edges), strict=True)
    )
    found = measure(Queries(x, y, np.empty((len(edges), 0), np.int32)))
    return {edge[:2]: f"association {value:.2f}" for edge, value in zip(edges, found.tolist(), strict=True)}


def _correlations(pag: PAG, among: Callable[[list[int]], Floats], names: dict[str, int], edge: Edge) -> str:
    """The correlation of the two, and the partial one given all that is joined to either.

    `among` gives the correlations of some columns.
    """
    others = dict.fromkeys([*pag.neighbours(edge.a), *pag.neighbours(edge.b)])
    given = [names[name] for name in others if name not in edge[:2]][:MOST_GIVEN]
    i, j = names[edge.a], names[edge.b]
    plain = f"correlation {among([i, j])[0, 1]:+.2f}"
    if not given:
        return plain
    inverse = np.linalg.pinv(among([i, j, *given]))
    partial = -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
    others_joined = "the other column" if len(given) == 1 else f"the {len(given)} others"
    return f"{plain}, {partial:+.2f} given {others_joined} joined to either"
