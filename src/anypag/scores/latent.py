"""The score of a DAG of discrete columns with hidden causes that have a few levels each.

Nodes without hidden causes are scored by BDeu. The children of hidden causes are scored together, by EM and the
approximation of Cheeseman & Stutz (1996). Discrete scores of MAGs have far too many parameters to be useful on data. A
hidden cause with two or three levels adds few. If it has many children, a thousand rows are enough to find it
(`benchmarks/tried.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.data.levels import distinct_rows
from anypag.graphs.projection import LatentDAG
from anypag.scores.discrete import DiscreteScore
from anypag.threads import Look, do_nothing, in_turns

IMPOSSIBLE = -1e15  # the score of a component that is too large to be fitted
MOST_CELLS = 1 << 18  # the most cells of a table (of a child, given its parents and hidden causes) that is fitted
MOST_STATES = 100  # the most joint states of hidden causes with common children that are fitted
SWEEPS = 60  # the most sweeps of EM for a final score; rough comparisons of graphs use fewer
STARTS = 2  # random starts of EM for a final score without given levels

HiddenLevels = npt.NDArray[np.uint8]  # (k, rows) the level of each of k hidden causes in each row


class Layout(NamedTuple):
    """The arrays that map rows and hidden states to cells of the tables; see `_kernels.discrete_score`."""

    cell: Counts
    family: Counts
    part: Counts
    n_parts: Counts
    n_rows: Counts
    n_levels: Counts
    level: Counts
    sizes: Counts


class Fit(NamedTuple):
    """A fit of a component: its score, the tables of the children, and the shares of the hidden levels."""

    score: float
    tables: Floats
    shares: Floats


class LatentScore:
    """Scores DAGs with hidden causes; caches the best fit of each component. EM often calls the callback `look`."""

    def __init__(self, discrete: DiscreteScore, look: Look = do_nothing) -> None:
        self._discrete, self._look = discrete, look
        self._levels = discrete.levels.astype(np.int64)
        self._n_levels = np.array(discrete.n_levels, np.int64)
        self._prices = cache(discrete.prices)
        self._fits: dict[tuple[object, ...], tuple[int, Fit]] = {}
        self._rows: dict[bytes, tuple[Counts, Floats]] = {}
        self._nodes: dict[tuple[int, bytes], float] = {}

    def of(self, dag: LatentDAG, hidden: HiddenLevels | None = None, sweeps: int = SWEEPS) -> float:
        """The score of a DAG. EM makes at most `sweeps` sweeps, from the levels `hidden` (k, rows) or random tables."""
        alone, parents, n = np.flatnonzero(~dag.children.any(axis=0)), dag.parents.T.tobytes(), dag.n
        plain = sum(self._of_node(v, parents[v * n : (v + 1) * n]) for v in alone.tolist())
        groups = [group for group in dag.components() if dag.children[group].any()]
        begun = [None if hidden is None else hidden[group] for group in groups]
        fits = (self._fit(dag.with_only(h), own, sweeps).score for h, own in zip(groups, begun, strict=True))
        return plain + sum(fits) - float(self._prices(dag.n_levels)[dag.causes].sum())

    def drawn(self, dag: LatentDAG, hidden: HiddenLevels | None, seed: Sequence[int]) -> HiddenLevels:
        """(k, rows) levels of the hidden causes, drawn given the rows. Nothing is drawn for a cause without children or
        with too large tables, and a constant draw is dropped. Such a cause keeps its levels in `hidden`; without
        `hidden` it gets all its levels in turn: 0, 1, ..., 0, 1, ...
        """
        from anypag._kernels.discrete_score import draw

        random, rows = np.random.default_rng(seed), self._levels.shape[1]
        found = np.array([np.arange(rows) % size for size in dag.n_levels], np.uint8).reshape(-1, rows)
        found = found if hidden is None else hidden.copy()
        for group in (group for group in dag.components() if dag.children[group].any()):
            uniform, component = np.asarray(random.random(rows), np.float64), dag.with_only(group)
            if self._is_too_large(component):
                continue
            fitted = self._fit(component, None if hidden is None else hidden[group], SWEEPS)
            drawn, stand = np.zeros((len(group), rows), np.uint8), np.zeros(1, np.int64)
            data = tuple(self._layout(component)), fitted.tables, fitted.shares
            in_turns(draw, *data, uniform, drawn, stand, look=self._look)
            for h, column in zip(group, drawn, strict=True):
                if dag.children[h].any() and (column != column[0]).any():
                    found[h] = column
        return found

    def _of_node(self, node: int, is_parent: bytes) -> float:
        """The score of a node without hidden causes."""
        from anypag._kernels.discrete_score import of_set

        key = (node, is_parent)
        if key not in self._nodes:
            parents = np.flatnonzero(np.frombuffer(is_parent, np.bool_))
            rest, nodes = (*self._discrete.bound[1:], np.zeros(1, np.int64)), np.append(node, parents)
            of_all, of_parents = of_set(*rest, nodes, len(nodes)), of_set(*rest, nodes[1:].copy(), len(nodes) - 1)
            self._nodes[key] = float(of_all - of_parents)
        return self._nodes[key]

    def _fit(self, component: LatentDAG, hidden: HiddenLevels | None, sweeps: int) -> Fit:
        """The best fit so far. Fits again if no fit had as many sweeps, or for a final score from `hidden` levels."""
        children = component.children.any(axis=0)
        key = (component.n_levels, component.children.tobytes(), component.parents[:, children].tobytes())
        done, known = self._fits.get(key, (0, None))
        if known is not None and done >= sweeps and (hidden is None or sweeps < SWEEPS):  # else fit again
            return known
        found = self._fitted(component, hidden, sweeps)
        best = found if known is None or found.score > known.score else known
        self._fits[key] = (max(done, sweeps), best)
        return best

    def _fitted(self, component: LatentDAG, hidden: HiddenLevels | None, sweeps: int) -> Fit:
        if self._is_too_large(component):
            return Fit(IMPOSSIBLE, np.zeros((0, 0)), np.zeros((0, 0)))
        (rows, weight), of_all = self._distinct(component), self._layout(component)
        layout = of_all._replace(cell=of_all.cell.take(rows, axis=1))
        if hidden is None:
            starts = 1 if sweeps < SWEEPS else STARTS
            begun = [_at_random(layout, weight, seed) for seed in range(starts)]
        else:
            begun = [_from_levels(of_all, hidden)]
        fits = [self._improved(layout, weight, sweeps, *tables_and_shares) for tables_and_shares in begun]
        return max(fits, key=lambda fitted: fitted.score)

    def _improved(self, layout: Layout, weight: Floats, sweeps: int, tables: Floats, shares: Floats) -> Fit:
        from anypag._kernels.discrete_score import fit

        counts, expected = np.empty_like(tables), np.empty(len(layout.level))
        stand, value = np.zeros(2, np.int64), np.array([0.0, -np.inf])
        data = (tuple(layout), weight, float(self._discrete.ess), sweeps, tables, shares)
        in_turns(fit, *data, counts, expected, stand, value, look=self._look)
        return Fit(float(value[0]), tables, shares)

    def _is_too_large(self, component: LatentDAG) -> bool:
        of_hidden, children = np.array(component.n_levels, np.float64)[:, None], component.children.any(axis=0)
        cells = self._n_levels[children] * np.where(component.children[:, children], of_hidden, 1.0).prod(axis=0)
        cells *= np.where(component.parents[:, children], self._n_levels[:, None], 1.0).prod(axis=0)
        return bool(of_hidden.prod() > MOST_STATES or cells.max(initial=0.0) > MOST_CELLS)

    def _distinct(self, component: LatentDAG) -> tuple[Counts, Floats]:
        """The first row with each combination of levels in the columns of a component, and how many rows have it."""
        children = component.children.any(axis=0)
        matter = children | component.parents[:, children].any(axis=1)
        key = matter.tobytes()
        if key not in self._rows:
            columns = np.flatnonzero(matter)
            first, group = distinct_rows(self._levels[columns], self._n_levels[columns])
            self._rows[key] = first, np.bincount(group).astype(np.float64)
        return self._rows[key]

    def _layout(self, component: LatentDAG) -> Layout:
        children = np.flatnonzero(component.children.any(axis=0))
        family, part, n_parts, level, sizes = _families(component.n_levels, component.children[:, children].tobytes())
        n_levels, n_rows = self._n_levels[children], n_parts[family]
        cell = np.empty((len(children), self._levels.shape[1]), np.int64)
        for c, v in enumerate(children):
            given, place = np.flatnonzero(component.parents[:, v]), cast(Counts, 0)
            for parent in given:
                place = place * self._n_levels[parent] + self._levels[parent]
            np.add(place * (n_rows[c] * n_levels[c]), self._levels[v], out=cell[c])
            n_rows[c] *= np.prod(self._n_levels[given])
        return Layout(cell, family, part, n_parts, n_rows, n_levels, level, sizes)


@lru_cache(maxsize=1024)
def _families(sizes: tuple[int, ...], has_cause: bytes) -> tuple[Counts, ...]:
    """The family, part, n_parts, level and sizes of a layout. `has_cause`: (hidden causes, children) flags."""
    has, of_cause = np.frombuffer(has_cause, np.bool_).reshape(len(sizes), -1), np.array(sizes, np.int64)
    level = np.array(list(product(*map(range, sizes))), np.int64)
    _, first, family = np.unique(2 ** np.arange(len(sizes)) @ has, return_index=True, return_inverse=True)
    part = np.zeros((len(first), len(level)), np.int64)
    for f, h in np.argwhere(has[:, first].T):
        part[f] = part[f] * sizes[h] + level[:, h]
    return family, part, part.max(axis=1) + 1, level, of_cause


def _at_random(layout: Layout, weight: Floats, seed: int) -> tuple[Floats, Floats]:
    """Tables and shares to start EM from: tables without hidden causes, changed at random, and equal shares."""
    random = np.random.default_rng(seed)
    tables, shares = _empty(layout)
    for c, (n_rows, n_levels) in enumerate(zip(layout.n_rows, layout.n_levels, strict=True)):
        n_parts = layout.n_parts[layout.family[c]]
        counts = np.bincount(layout.cell[c], weight, n_rows * n_levels).reshape(-1, n_parts, n_levels)[:, :1] + 1
        shaken = counts * (random.gamma(1.0, size=(1, n_parts, n_levels)) + 0.02)
        tables[c, : n_rows * n_levels] = (shaken / shaken.sum(axis=2, keepdims=True)).ravel()
    for h, size in enumerate(layout.sizes):
        shares[h, :size] = 1 / size
    return tables, shares


def _from_levels(layout: Layout, hidden: HiddenLevels) -> tuple[Floats, Floats]:
    """Tables and shares given hidden levels. The layout must have all rows, not only the distinct ones."""
    strides = np.cumprod([1, *layout.sizes[::-1]])[::-1][1:]
    state = (hidden.astype(np.int64) * strides[:, None]).sum(axis=0)
    tables, shares = _empty(layout)
    for c, (n_rows, n_levels) in enumerate(zip(layout.n_rows, layout.n_levels, strict=True)):
        cells = layout.cell[c] + layout.part[layout.family[c]].take(state) * n_levels
        counts = np.bincount(cells, minlength=n_rows * n_levels).reshape(n_rows, n_levels) + 0.1
        tables[c, : n_rows * n_levels] = (counts / counts.sum(axis=1, keepdims=True)).ravel()
    for h, size in enumerate(layout.sizes):
        met = np.bincount(hidden[h], minlength=size) + 1.0
        shares[h, :size] = met / met.sum()
    return tables, shares


def _empty(layout: Layout) -> tuple[Floats, Floats]:
    cells = int((layout.n_rows * layout.n_levels).max())
    return np.zeros((len(layout.n_levels), cells)), np.zeros((len(layout.sizes), int(layout.sizes.max())))
