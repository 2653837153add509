"""A perfect test: conditional independence read off the true graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anypag._kernels.pairs import all_in_range
from anypag.ci.base import PValues, Queries
from anypag.errors import CITestError
from anypag.graphs.base import MixedGraph, Node
from anypag.graphs.pag import DAG, MAG
from anypag.graphs.projection import roles
from anypag.graphs.separation import are_separated


class Oracle:
    """Answers every question from the true graph: 1.0 where separated, 0.0 where not.

    Args:
        graph: the true DAG or MAG, latent and selection nodes included.
        latent: nodes that are never asked about.
        selection: nodes that are always conditioned on.

    The variables are the remaining, observed nodes, in the order of the graph; `names` lists them.

    >>> from anypag import DAG, Oracle, Queries
    >>> oracle = Oracle(DAG.from_string("U --> A; U --> B; B --> C"), latent=["U"])
    >>> oracle.names
    ('A', 'B', 'C')
    >>> oracle.pvalues(Queries([0, 0], [2, 2], [[], []])), oracle.pvalues(Queries([0], [2], [[1]]))
    (array([0., 0.]), array([1.]))
    """

    exact = True
    batch = 4096

    def __init__(self, graph: MixedGraph, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> None:
        if not isinstance(graph, (DAG, MAG)):
            raise CITestError(f"An oracle reads a DAG or a MAG; got a {type(graph).__name__}.")
        observed, _, is_selection = roles(graph, latent, selection)
        self.names = tuple(graph.names[i] for i in observed)
        self._graph = graph
        self._observed = observed.astype(np.int32)
        self._selection = np.flatnonzero(is_selection).astype(np.int32)

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) 1.0 where x and y are separated given z and selection, else 0.0."""
        if not all_in_range(queries.x, queries.y, queries.z, len(self.names)):
            raise CITestError(
                f"Indices go from 0 to {len(self.names) - 1}, one for each of the {len(self.names)} observed nodes; "
                "the queries hold others."
            )
        x, y, z = (self._observed[part] for part in (queries.x, queries.y, queries.z))
        return are_separated(self._graph, x, y, z, always=self._selection).astype(np.float64)
