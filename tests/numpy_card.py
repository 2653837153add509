"""A graphics card made of NumPy, slow and obvious, for machines without one: what `ci.gpu.Card` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats, Indices
from anypag.ci.gpu import Card, CardError, Least
from anypag.ci.passes import NearEdges


class NumpyCard(Card):
    """Keeps a matrix; `calls` counts what it was asked for, and after `fails_after` of these its memory is full."""

    def __init__(self, fails_after: int | None = None) -> None:
        self.matrix: Any = None
        self.calls: dict[str, int] = {}
        self._fails_after = fails_after

    def _called(self, what: str) -> None:
        self.calls[what] = self.calls.get(what, 0) + 1
        if self._fails_after is not None and sum(self.calls.values()) > self._fails_after:
            raise CardError("The memory of the graphics card is too small.")

    def products(self, centred: Floats) -> Any:
        self._called("products")
        made = centred @ centred.T
        return np.tril(made) + np.tril(made, -1).T

    def added(self, total: Any, more: Any, shift: npt.NDArray[np.int32], difference: Floats) -> Any:
        factor = np.ldexp(1.0, shift)
        return total * np.outer(factor, factor) + more + np.outer(difference, difference)

    def diagonal(self, products: Any) -> Floats:
        return np.array(np.diagonal(products))

    def keep(self, products: Any, scale: Floats, place: npt.NDArray[np.intp], threads: int) -> Floats:
        correlation = np.clip(products / np.outer(scale, scale), -1.0, 1.0)
        np.fill_diagonal(correlation, 1.0)
        self.matrix = np.ascontiguousarray(correlation[np.ix_(place, place)])
        return np.asarray(self.matrix)

    def has(self, correlation: Floats) -> bool:
        return correlation is self.matrix

    def take(self, correlation: Floats) -> None:
        self._called("take")
        self.matrix = correlation

    def pairs(self, order: Indices, rows: slice, least: float) -> tuple[Indices, Indices, Floats]:
        self._called("pairs")
        strengths = np.minimum(np.abs(self.matrix[np.ix_(order, order)]), 1.0)
        x, y = np.nonzero(np.triu(strengths >= least, 1))
        inside = (x >= rows.start) & (x < rows.stop)
        x, y = x[inside], y[inside]
        return x.astype(np.int32), y.astype(np.int32), strengths[x, y]

    def singles(self, order: Indices, edges: NearEdges, tolerance: float, margin: float) -> Least:
        self._called("singles")
        found = [self._single(order, edges, k, tolerance, margin) for k in range(len(edges.x))]
        least, n_nodes, n_near, node, has_both = zip(*found, strict=True) if found else ((),) * 5
        counts = np.array(n_nodes, np.int64), np.array(n_near, np.int64)
        return Least(np.array(least, np.float64), *counts, np.array(node, np.int32), np.array(has_both, np.bool_))

    def _single(
        self, order: Indices, edges: NearEdges, k: int, tolerance: float, margin: float
    ) -> tuple[float, int, int, int, bool]:
        x, y = int(edges.x[k]), int(edges.y[k])
        pools = [self._near(edges, a, b, int(edges.edge_block[k])) for a, b in ((x, y), (y, x))]
        union = sorted(pools[0] | pools[1])
        strengths = {v: self._given_one(int(order[x]), int(order[y]), int(order[v]), tolerance) for v in union}
        least = min(strengths.values(), default=2.0)
        near = [v for v in union if strengths[v] <= least + margin]
        return least, len(union), len(near), max(near, default=-1), all(pools)

    @staticmethod
    def _near(edges: NearEdges, node: int, other: int, block: int) -> set[int]:
        span = slice(edges.start[node], edges.start[node + 1])
        return set(edges.neighbour[span][edges.block[span] == block].tolist()) - {other}

    def _given_one(self, x: int, y: int, z: int, tolerance: float) -> float:
        xy, xz, yz = (float(self.matrix[pair]) for pair in ((x, y), (x, z), (y, z)))
        left_x, left_y = 1.0 - xz * xz, 1.0 - yz * yz
        if left_x < tolerance or left_y < tolerance:
            return 0.0
        return float(min(abs(xy - xz * yz) / np.sqrt(left_x * left_y), 1.0))
