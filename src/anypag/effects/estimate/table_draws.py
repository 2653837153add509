"""Draws of effects in tables of levels: for each sampled DAG, hidden causes included, one draw of risk differences.

In a DAG the parents of the cause, measured or hidden, close every path that is not causal. So P(y | do(x)) is the mean
of P(y | x, parents) over the parents. Several causes are set one after the other, each with the parents that are new,
given all that came before (Robins' g-formula). A condition that comes after no cause selects rows. The tables are drawn
from their Dirichlet posteriors; the levels of hidden causes are drawn first, from their distribution given the rows and
the graph.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.data.table import Table
from anypag.effects.estimate.draws import SEED, DrawnColumn, levels_told, random_weights
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


SetCause = tuple[tuple[int, ...], int]
"""Columns to adjust for, and the cause that is set given them."""


class LevelTable:
    """A table of levels without gaps, and draws of risk differences from it; its columns are the variables in the order
    of their names. `n_levels`: of the hidden causes that sampled graphs have. `clusters` (n,): None if rows are
    independent.
    """

    def __init__(self, table: Table, n_levels: tuple[int, ...], clusters: Counts | None = None) -> None:
        self._table, self._n_hidden, self._clusters = table, n_levels, clusters
        self._codes = np.array([np.unique(column, return_inverse=True)[1] for column in table.values.T], np.int64)
        self._sizes = (*(int(codes.max()) + 1 for codes in self._codes), *n_levels)
        self._latent = LatentScore(DiscreteScore.of(table)) if n_levels else None
        self.n = table.n

    def columns(self, nodes: tuple[int, ...]) -> list[DrawnColumn]:
        """All levels of a variable against the first; of several, all combinations against the first of each."""
        names = tuple(self._table.names[node] for node in nodes)
        first, *others = product(*(levels_of(self._table, name) for name in names))
        if len(nodes) == 1:
            return [DrawnColumn(names[0], level, *first) for (level,) in others]
        return [DrawnColumn(names, levels, first) for levels in others]

    def groups(self, given: tuple[int, ...]) -> list[tuple[str, Flags | None]]:
        """The combinations of levels of the conditions that rows have, in words, and their rows; all without any."""
        if not given:
            return [("", None)]
        names = [self._table.names[node] for node in given]
        found = np.unique(self._codes[list(given)], axis=1).T.tolist()
        words = [[(name, levels_of(self._table, name)[k]) for name, k in zip(names, of, strict=True)] for of in found]
        flags = [(self._codes[list(given)] == np.array(of)[:, None]).all(axis=0) for of in found]
        return [(levels_told(levels), own) for levels, own in zip(words, flags, strict=True)]

    def drawn(
        self, diagrams: Marks, numbers: Counts, causes: tuple[int, ...], y: int, rows: Flags | None = None
    ) -> Floats:
        """(m, levels of the causes but the first, levels of y but one) draws of risk differences, in some of the rows.

        Each is what setting the causes to their levels in place of the first does to the probability of a level of y:
        exactly 0 where no cause is an ancestor of y.
        """
        found = []
        for diagram, number in zip(diagrams, numbers.tolist(), strict=True):
            steps = _steps(diagram, causes, y)
            codes = self._completed(diagram, number) if steps else self._codes
            found.append(self.adjusted(steps, causes, y, number, codes, rows))
        return np.stack(found)

    def adjusted(
        self,
        steps: list[SetCause],
        causes: tuple[int, ...],
        y: int,
        number: int,
        codes: Counts | None = None,
        rows: Flags | None = None,
    ) -> Floats:
        """One draw of the risk differences, adjusted step by step; NaN where the table would be too large."""
        order = [x for _, x in steps]
        risks = self._risks(steps, y, number, self._codes if codes is None else codes, rows)
        axes = [order.index(x) for x in causes if x in order]
        risks = risks.transpose(*axes, len(order))
        for place, x in enumerate(causes):  # causes without an effect change nothing
            if x not in order:
                risks = np.repeat(np.expand_dims(risks, place), self._sizes[x], axis=place)
        risks = risks.reshape(-1, risks.shape[-1])
        return np.asarray(risks[1:, 1:] - risks[:1, 1:])

    def _risks(self, steps: list[SetCause], y: int, number: int, codes: Counts, rows: Flags | None) -> Floats:
        """(levels of each cause, levels of y) one draw of P(y | do(causes)); zeros without causes."""
        nodes = [node for z, x in steps for node in (*z, x)] + [y]
        sizes = [prod(self._sizes[node] for node in part) for z, x in steps for part in (z, (x,))] + [self._sizes[y]]
        if not steps or prod(sizes) > MOST_CELLS:
            return np.full((*sizes[1:-1:2], sizes[-1]), np.nan if steps else 0.0)
        random = np.random.Generator(np.random.PCG64(np.random.SeedSequence([SEED, number])))
        place = np.ravel_multi_index(tuple(codes[node] for node in nodes), [self._sizes[node] for node in nodes])
        times = None if self._clusters is None else random_weights(self._clusters, random) * self.n
        chosen = slice(None) if rows is None else rows
        counts = np.bincount(place[chosen], None if times is None else times[chosen], prod(sizes)).reshape(sizes)
        drawn = random.standard_gamma if times is None else np.asarray  # weights of clusters are random already
        cells = drawn(counts + EQUIVALENT_ROWS / counts.size)
        risks = cells / np.maximum(cells.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
        for at in range(2 * len(steps) - 2, -1, -2):  # the columns adjusted for in a step, given those before it
            of = counts.sum(axis=tuple(range(at + 1, counts.ndim))).reshape(-1, sizes[at])
            weights = drawn(of + EQUIVALENT_ROWS / of.size)
            weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            rest = (*risks.shape[:at], *risks.shape[at + 1 :])
            risks = np.einsum("az,azr->ar", weights, risks.reshape(*of.shape, -1)).reshape(rest)
        return np.asarray(risks)

    def _completed(self, diagram: Marks, number: int) -> Counts:
        """The levels of all nodes of a graph, hidden causes last."""
        if self._latent is None:
            return self._codes
        dag = LatentDAG.of_marks(diagram, self._n_hidden)
        return np.concatenate([self._codes, self._latent.drawn(dag, None, [SEED, number]).astype(np.int64)])


def _steps(diagram: Marks, causes: tuple[int, ...], y: int) -> list[SetCause]:
    """The causes that lead to y if all are set, ancestors first, each with its parents that no step before has."""
    arrows = (diagram == Mark.ARROW) & (diagram.T == Mark.TAIL)
    cut = diagram.copy()
    for x in causes:
        cut[arrows[:, x], x] = cut[x, arrows[:, x]] = Mark.NONE
    leads, before = ancestry(cut)[:, y], ancestry(diagram)
    ordered = sorted((x for x in causes if leads[x]), key=lambda x: int(before[:, x].sum()))
    found, seen = list[SetCause](), set[int]()
    for x in ordered:
        z = tuple(node for node in np.flatnonzero(arrows[:, x]).tolist() if node not in seen)
        found.append((z, x))
        seen |= {*z, x}
    return found
