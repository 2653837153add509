"""Draws of effects in tables of levels: for each sampled DAG, hidden causes included, one draw of risk differences.

In a DAG the parents of the cause, measured or hidden, close every path that is not causal. So P(y | do(x)) is the mean
of P(y | x, parents) over the parents. The tables are drawn from their Dirichlet posteriors; the levels of hidden causes
are drawn first, from their distribution given the rows and the graph.
"""

from __future__ import annotations

from math import prod

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.data.table import Table
from anypag.effects.estimate.draws import SEED, DrawnColumn, random_weights
from anypag.effects.estimate.fitting import levels_of
from anypag.graphs.base import Marks, ancestry
from anypag.graphs.marks import Mark
from anypag.graphs.projection import LatentDAG
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import LatentScore

MOST_CELLS = 1_000_000
"""Larger tables are not drawn: hardly any of their cells would hold a row."""
EQUIVALENT_ROWS = 1.0
"""The prior of a table counts as this many rows, spread over its cells."""


class LevelTable:
    """A table of levels, and draws of risk differences from it.

    Args:
        table: without gaps; its columns are the variables in the order of their names.
        n_levels: of the hidden causes that sampled graphs have.
        clusters: (n,) the cluster of each row; None if rows are independent.
    """

    def __init__(self, table: Table, n_levels: tuple[int, ...], clusters: Counts | None = None) -> None:
        self._table, self._n_hidden, self._clusters = table, n_levels, clusters
        self._codes = np.array([np.unique(column, return_inverse=True)[1] for column in table.values.T], np.int64)
        self._sizes = (*(int(codes.max()) + 1 for codes in self._codes), *n_levels)
        self._latent = LatentScore(DiscreteScore.of(table)) if n_levels else None
        self.n = table.n

    def columns(self, node: int) -> list[DrawnColumn]:
        """All levels of a variable against the first."""
        first, *others = levels_of(self._table, self._table.names[node])
        return [DrawnColumn(self._table.names[node], level, first) for level in others]

    def drawn(self, diagrams: Marks, numbers: Counts, x: int, y: int) -> Floats:
        """(m, levels of x but one, levels of y but one) draws of risk differences.

        Each is what setting x to a level in place of its first does to the probability of a level of y: exactly 0 where
        x is no ancestor of y.
        """
        found = np.zeros((len(diagrams), self._sizes[x] - 1, self._sizes[y] - 1))
        for k, (diagram, number) in enumerate(zip(diagrams, numbers.tolist(), strict=True)):
            if ancestry(diagram)[x, y]:
                parents = np.flatnonzero((diagram[:, x] == Mark.ARROW) & (diagram[x] == Mark.TAIL)).tolist()
                found[k] = self.adjusted(x, y, tuple(parents), number, self._completed(diagram, number))
        return found

    def adjusted(self, x: int, y: int, z: tuple[int, ...], number: int, codes: Counts | None = None) -> Floats:
        """One draw of the risk differences, adjusted for z; NaN where the table would be too large."""
        codes = self._codes if codes is None else codes
        sizes = [self._sizes[node] for node in (*z, x, y)]
        if prod(sizes) > MOST_CELLS:
            return np.full((sizes[-2] - 1, sizes[-1] - 1), np.nan)
        random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([SEED, number])))
        place = np.ravel_multi_index(tuple(codes[node] for node in (*z, x, y)), sizes)
        times = None if self._clusters is None else random_weights(self._clusters, random) * self.n
        counts = np.bincount(place, times, prod(sizes)).reshape(-1, *sizes[-2:])
        drawn = random.standard_gamma if times is None else np.asarray  # weights of clusters are random already
        cells = drawn(counts + EQUIVALENT_ROWS / counts.size)
        given = cells / np.maximum(cells.sum(axis=2, keepdims=True), np.finfo(float).tiny)
        weights = drawn(counts.sum(axis=(1, 2)) + EQUIVALENT_ROWS / len(counts))
        risks = np.einsum("z,zxy->xy", weights / weights.sum(), given)
        return np.asarray(risks[1:, 1:] - risks[:1, 1:])

    def _completed(self, diagram: Marks, number: int) -> Counts:
        """The levels of all nodes of a graph, hidden causes last."""
        if self._latent is None:
            return self._codes
        dag = LatentDAG.of_marks(diagram, self._n_hidden)
        return np.concatenate([self._codes, self._latent.drawn(dag, None, [SEED, number]).astype(np.int64)])
