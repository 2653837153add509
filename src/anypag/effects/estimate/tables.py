"""Effects between discrete variables: formulas by relative frequencies (`Tables`), and draws (`LevelTable`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats
from anypag.data.table import Table
from anypag.effects.estimate.draws import SEED, DrawnColumn, random_weights
from anypag.effects.estimate.estimates import NOT_WEIGHTED, levels_of, levels_told
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.expressions import Expression, P, Product, Quotient, folded, leaves
from anypag.errors import DataError, ParameterError
from anypag.graphs.base import Marks, ancestry
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.projection import LatentDAG
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import LatentScore

MOST_CELLS = 10_000_000  # a table with more cells is refused, because hardly any cell would contain a row
MOST_CELLS_DRAWN = 1_000_000  # a table that is drawn for each sampled graph gives no number if it has more cells
EQUIVALENT_ROWS = 1.0  # the prior of a drawn table counts as this many rows, spread over its cells

Columns = tuple[int, ...]
Steps = list[tuple[Columns, int]]  # for each cause, in the order of setting: the columns to adjust for, and the cause


@dataclass(frozen=True)
class Tables:
    """The combinations of levels that occur (`cells`), and their counts. `of_row`: the cell of each row of the data."""

    cells: npt.NDArray[np.int64]
    counts: Floats
    n_levels: tuple[int, ...]
    nodes: tuple[int, ...]
    of_row: npt.NDArray[np.int64] | None = None

    def resampled(self, rng: np.random.Generator) -> Tables:
        """The tables of a bootstrap resample: n of the n rows, drawn with replacement."""
        n = int(self.counts.sum())
        return replace(self, counts=rng.multinomial(n, self.counts / n).astype(np.float64))

    def weighted(self, counts: Floats) -> Tables:
        """The tables with these counts as weights of the rows."""
        assert self.of_row is not None, "these tables were made from rows"
        return replace(self, counts=np.bincount(self.of_row, counts, len(self.cells)).astype(np.float64))

    def values(self, formula: Expression, way: Between) -> Floats:
        """Probabilities, ordered by levels of causes, then conditions, then outcomes; NaN for levels without rows."""
        axes = [self.place(node) for part in (way.x, way.given, way.y) for node in members(part)]
        shape = tuple(size if axis in axes else 1 for axis, size in enumerate(self.n_levels))
        found = np.broadcast_to(folded(formula, self._value), shape)
        return np.asarray(np.moveaxis(found, axes, range(len(axes))).reshape(-1))

    def place(self, node: int) -> int:
        return self.nodes.index(node)

    def count(self, nodes: NodeSet) -> Floats:
        """How many rows have each combination of levels of some nodes; the axes of all other nodes have length 1."""
        axes = [self.place(node) for node in members(nodes)]
        sizes = [self.n_levels[axis] for axis in axes]
        if prod(sizes) > MOST_CELLS:
            raise DataError(f"A table of {prod(sizes):,} cells is too large; merge levels, or use fewer columns.")
        place = np.ravel_multi_index(self.cells[:, axes].T, sizes) if axes else np.zeros(len(self.cells), np.int64)
        counted = np.bincount(place, weights=self.counts, minlength=prod(sizes))
        shape = [size if axis in axes else 1 for axis, size in enumerate(self.n_levels)]
        return np.asarray(counted.reshape(shape), np.float64)

    def _value(self, part: Expression, inner: tuple[Floats, ...]) -> Floats:
        if isinstance(part, P):
            return _over(self.count(part.of | part.given), self.count(part.given))
        if isinstance(part, Product):
            return reduce(_times, inner, np.ones((1,) * len(self.nodes)))
        if isinstance(part, Quotient):
            return _over(*inner)
        return np.asarray(inner[0].sum(axis=tuple(self.place(node) for node in members(part.over)), keepdims=True))


def tables_of(codes: npt.NDArray[np.int64], n_levels: tuple[int, ...], nodes: tuple[int, ...]) -> Tables:
    cells, of_row, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return Tables(cells, counts.astype(np.float64), n_levels, nodes, of_row.reshape(-1))


def empty_cells(tables: Tables, formula: Expression, x: NodeSet) -> list[dict[int, int]]:
    """Conditions {node: level} in the formula that no row meets, although some row meets them without the causes."""
    found: dict[tuple[tuple[int, int], ...], None] = {}
    for leaf in leaves(formula):
        here, without = tables.count(leaf.given), tables.count(leaf.given & ~x)
        for cell in np.argwhere((here == 0) & (without > 0)).tolist():
            found[tuple((node, cell[tables.place(node)]) for node in members(leaf.given))] = None
    return [dict(cell) for cell in found]


def _over(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom == 0, np.nan, top / bottom)


def _times(a: Floats, b: Floats) -> Floats:
    """The product, with 0 times NaN = 0."""
    if prod(np.broadcast_shapes(a.shape, b.shape)) > MOST_CELLS:
        raise DataError("The formula needs too large a table; merge levels, or use fewer columns.")
    return np.where((a == 0) | (b == 0), 0.0, a * b)


class LevelTable:
    """A table of levels without gaps, and draws of risk differences from it: one draw for each sampled DAG.

    In a DAG the parents of the cause, measured or hidden, close every path that is not causal. So P(y | do(x)) is the
    mean of P(y | x, parents) over the parents. Several causes are set one after the other: each step adjusts for the
    parents of its cause that no earlier step used, given all earlier columns (Robins' g-formula). A condition, which no
    cause may affect, selects rows. The tables are drawn from their Dirichlet posteriors, and the levels of hidden
    causes (`n_levels`) from their distribution given the rows and the graph.
    """

    def __init__(self, table: Table, n_levels: tuple[int, ...], clusters: Counts | None = None) -> None:
        if table.weights is not None:
            raise ParameterError(NOT_WEIGHTED)
        self._table, self._n_hidden, self._clusters = table, n_levels, clusters
        self._codes = np.array([np.unique(column, return_inverse=True)[1] for column in table.values.T], np.int64)
        self._sizes = (*(int(codes.max()) + 1 for codes in self._codes), *n_levels)
        self._latent = LatentScore(DiscreteScore.of(table)) if n_levels else None
        self.n = table.n

    def columns(self, nodes: tuple[int, ...]) -> list[DrawnColumn]:
        """All levels of a variable against the first; for several variables, all combinations against the first."""
        names = tuple(self._table.names[node] for node in nodes)
        first, *others = product(*(levels_of(self._table, name) for name in names))
        if len(nodes) == 1:
            return [DrawnColumn(names[0], level, *first) for (level,) in others]
        return [DrawnColumn(names, levels, first) for levels in others]

    def groups(self, given: tuple[int, ...]) -> list[tuple[str, Flags | None]]:
        """Each combination of levels of the conditions, in words, with flags of its rows; None stands for all rows."""
        if not given:
            return [("", None)]
        names, codes, found = [self._table.names[node] for node in given], self._codes[list(given)], []
        for of in np.unique(codes, axis=1).T:
            levels = [(name, levels_of(self._table, name)[k]) for name, k in zip(names, of, strict=True)]
            found.append((levels_told(levels), (codes == of[:, None]).all(axis=0)))
        return found

    def drawn(self, diagrams: Marks, numbers: Counts, causes: Columns, y: int, rows: Flags | None = None) -> Floats:
        """(m, combinations - 1, levels - 1) draws of risk differences: the change in the probability of a level of y if
        the causes are set to a combination of levels in place of the first combination. The first combination and the
        first level of y have no entry. A difference is exactly 0 if no cause is an ancestor of y.
        """
        found = []
        for diagram, number in zip(diagrams, numbers.tolist(), strict=True):
            steps, codes = _steps(diagram, causes, y), self._codes
            if steps and self._latent is not None:
                dag = LatentDAG.of_marks(diagram, self._n_hidden)
                codes = np.concatenate([codes, self._latent.drawn(dag, None, [SEED, number]).astype(np.int64)])
            found.append(self.adjusted(steps, causes, y, number, codes, rows))
        return np.stack(found)

    def adjusted(
        self, steps: Steps, causes: Columns, y: int, number: int, codes: Counts | None = None, rows: Flags | None = None
    ) -> Floats:
        """One draw of the risk differences, adjusted step by step; NaN where the table would be too large."""
        order = [x for _, x in steps]
        risks = self._risks(steps, y, number, self._codes if codes is None else codes, rows)
        axes = [order.index(x) for x in causes if x in order]
        risks = risks.transpose(*axes, len(order))
        for place, x in enumerate(causes):  # whatever the level of a cause without a step, the risks are the same
            if x not in order:
                risks = np.repeat(np.expand_dims(risks, place), self._sizes[x], axis=place)
        risks = risks.reshape(-1, risks.shape[-1])
        return np.asarray(risks[1:, 1:] - risks[:1, 1:])

    def _risks(self, steps: Steps, y: int, number: int, codes: Counts, rows: Flags | None) -> Floats:
        """(levels of each cause, levels of y) a draw of P(y | do(causes)); 0 without steps, NaN for a large table."""
        nodes = [node for z, x in steps for node in (*z, x)] + [y]
        sizes = [prod(self._sizes[node] for node in part) for z, x in steps for part in (z, (x,))] + [self._sizes[y]]
        if not steps or prod(sizes) > MOST_CELLS_DRAWN:
            return np.full((*sizes[1:-1:2], sizes[-1]), np.nan if steps else 0.0)
        random = np.random.default_rng([SEED, number])
        place = np.ravel_multi_index(tuple(codes[node] for node in nodes), [self._sizes[node] for node in nodes])
        times = None if self._clusters is None else random_weights(self._clusters, random) * self.n
        chosen = slice(None) if rows is None else rows
        counts = np.bincount(place[chosen], None if times is None else times[chosen], prod(sizes)).reshape(sizes)
        drawn = random.standard_gamma if times is None else np.asarray  # with clusters the counts are random already
        cells = drawn(counts + EQUIVALENT_ROWS / counts.size)
        risks = cells / np.maximum(cells.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
        for at in range(2 * len(steps) - 2, -1, -2):  # average over the columns of a step, given earlier columns
            of = counts.sum(axis=tuple(range(at + 1, counts.ndim))).reshape(-1, sizes[at])
            weights = drawn(of + EQUIVALENT_ROWS / of.size)
            weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            rest = (*risks.shape[:at], *risks.shape[at + 1 :])
            risks = np.einsum("az,azr->ar", weights, risks.reshape(*of.shape, -1)).reshape(rest)
        return np.asarray(risks)


def _steps(diagram: Marks, causes: Columns, y: int) -> Steps:
    """A step for each cause with a directed path to y that avoids the other causes, ancestors first. A step adjusts for
    those parents of its cause that no earlier step used.
    """
    arrows = (diagram == Mark.ARROW) & (diagram.T == Mark.TAIL)
    cut = diagram.copy()
    for x in causes:
        cut[arrows[:, x], x] = cut[x, arrows[:, x]] = Mark.NONE
    leads, before = ancestry(cut)[:, y], ancestry(diagram)
    ordered = sorted((x for x in causes if leads[x]), key=lambda x: int(before[:, x].sum()))
    found, seen = Steps(), set[int]()
    for x in ordered:
        z = tuple(node for node in np.flatnonzero(arrows[:, x]).tolist() if node not in seen)
        found.append((z, x))
        seen |= {*z, x}
    return found
