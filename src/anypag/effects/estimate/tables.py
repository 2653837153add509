"""The value of a formula if all variables are discrete: tables of relative frequencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.expressions import Expression, P, Product, Quotient, folded, leaves
from anypag.errors import DataError
from anypag.graphs.node_sets import NodeSet, members

MOST_CELLS = 10_000_000
"""A larger table is refused: hardly any of its cells would hold a row."""


@dataclass(frozen=True)
class Tables:
    """Counts of the combinations of levels that occur: (cells, columns) levels as positions, how many rows have each,
    how many levels a column has, its node in the graph, and the combination that each row has (`of_row`).
    """

    cells: npt.NDArray[np.int64]
    counts: Floats
    n_levels: tuple[int, ...]
    nodes: tuple[int, ...]
    of_row: npt.NDArray[np.int64] | None = None

    def resampled(self, rng: np.random.Generator) -> Tables:
        """The tables of a bootstrap resample: as many rows, drawn with replacement."""
        n = int(self.counts.sum())
        return replace(self, counts=rng.multinomial(n, self.counts / n).astype(np.float64))

    def weighted(self, counts: Floats) -> Tables:
        """The tables with these counts as weights of the rows."""
        assert self.of_row is not None, "these tables were made from rows"
        return replace(self, counts=np.bincount(self.of_row, counts, len(self.cells)).astype(np.float64))

    def values(self, formula: Expression, way: Between) -> Floats:
        """The probability of each combination of outcomes (fastest) for each of conditions, for each of causes
        (slowest); NaN where the rows do not say.
        """
        axes = [self.place(node) for part in (way.x, way.given, way.y) for node in members(part)]
        shape = tuple(size if axis in axes else 1 for axis, size in enumerate(self.n_levels))
        found = np.broadcast_to(folded(formula, self._value), shape)
        return np.asarray(np.moveaxis(found, axes, range(len(axes))).reshape(-1))

    def place(self, node: int) -> int:
        """The column of a node."""
        return self.nodes.index(node)

    def count(self, nodes: NodeSet) -> Floats:
        """The rows for each combination of levels of some nodes; one axis per column, of length 1 for the others."""
        axes = [self.place(node) for node in members(nodes)]
        sizes = [self.n_levels[axis] for axis in axes]
        if prod(sizes) > MOST_CELLS:
            raise DataError(f"A table of {prod(sizes):,} cells is too large; merge levels, or use fewer columns.")
        place = np.ravel_multi_index(self.cells[:, axes].T, sizes) if axes else np.zeros(len(self.cells), np.int64)
        counted = np.bincount(place, weights=self.counts, minlength=prod(sizes))
        shape = [size if axis in axes else 1 for axis, size in enumerate(self.n_levels)]
        return np.asarray(counted.reshape(shape), np.float64)

    def _value(self, part: Expression, inner: tuple[Floats, ...]) -> Floats:
        """The values of a formula, from those of its parts."""
        if isinstance(part, P):
            return _over(self.count(part.of | part.given), self.count(part.given))
        if isinstance(part, Product):
            return reduce(_times, inner, np.ones((1,) * len(self.nodes)))
        if isinstance(part, Quotient):
            return _over(*inner)
        return np.asarray(inner[0].sum(axis=tuple(self.place(node) for node in members(part.over)), keepdims=True))


def tables_of(codes: npt.NDArray[np.int64], n_levels: tuple[int, ...], nodes: tuple[int, ...]) -> Tables:
    """The counts behind rows of levels."""
    cells, of_row, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return Tables(cells, counts.astype(np.float64), n_levels, nodes, of_row.reshape(-1))


def empty_cells(tables: Tables, formula: Expression, x: NodeSet) -> list[dict[int, int]]:
    """The combinations {node: level} in the conditions of the formula that no row has, although rows have them apart
    from the causes.
    """
    found: dict[tuple[tuple[int, int], ...], None] = {}
    for leaf in leaves(formula):
        here, without = tables.count(leaf.given), tables.count(leaf.given & ~x)
        for cell in np.argwhere((here == 0) & (without > 0)).tolist():
            found[tuple((node, cell[tables.place(node)]) for node in members(leaf.given))] = None
    return [dict(cell) for cell in found]


def _over(top: Floats, bottom: Floats) -> Floats:
    """The quotient, NaN where the bottom is zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(bottom == 0, np.nan, top / bottom)


def _times(a: Floats, b: Floats) -> Floats:
    """The product, with 0 times NaN = 0."""
    if prod(np.broadcast_shapes(a.shape, b.shape)) > MOST_CELLS:
        raise DataError("The formula needs too large a table; merge levels, or use fewer columns.")
    return np.where((a == 0) | (b == 0), 0.0, a * b)
