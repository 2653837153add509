"""Draws of effects, one for each sampled graph. They reflect the sampling of rows and the uncertainty about graphs.

For each graph a covariance is drawn around the one of the rows (Wishart, by Bartlett's decomposition), the linear
system of the graph is fitted to it, and its total effects are computed. Each graph's index in the sample seeds its
random numbers, so the same rows and graphs give the same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from math import sqrt
from typing import NamedTuple, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.data.moments import moments_of
from anypag.data.table import Table
from anypag.effects.estimate.estimates import NOT_WEIGHTED, Level, levels_of, levels_told, shown
from anypag.errors import DataError, ParameterError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.text import quote
from anypag.threads import single_blas

SEED = 0xEFF
STOP = 1e-4  # a fit ends when a sweep over the nodes changes no number by more than this, in units of correlations
MOST_SWEEPS = 100  # a fit also ends after this many sweeps

Hide = Callable[[Flags, Floats, Floats], Floats]  # from arrows, weights and noise to new weights


class DrawnColumn(NamedTuple):
    """What a column stands for: a variable, or a level compared with the first; a cause may be several variables."""

    variable: str | tuple[str, ...]
    level: Level | tuple[Level, ...] | None = None
    against: Level | tuple[Level, ...] | None = None

    @property
    def name(self) -> str:
        return quote(self.variable) if isinstance(self.variable, str) else ", ".join(map(quote, self.variable))

    @property
    def as_cause(self) -> str:
        if self.level is None or self.against is None:
            return f"per unit of {self.name}"
        if isinstance(self.variable, tuple):
            first, own = (zip(self.variable, levels, strict=True) for levels in (self.against, self.level))  # type: ignore[arg-type]
            return f"for {levels_told(own)} in place of {levels_told(first)}"
        return f"for {self.name} = {shown(self.level)} in place of {shown(self.against)}"

    @property
    def as_outcome(self) -> str:
        return self.name if self.level is None else f"P({self.name} = {shown(self.level)})"


@dataclass(frozen=True, eq=False)
class LinearColumns:
    """Numeric columns for linear systems; a discrete variable has an indicator for each level but the first."""

    columns: tuple[DrawnColumn, ...]
    node: Counts  # (c,) the place of a column's variable in the table
    correlation: Floats
    scale: Floats  # (c,) standard deviations
    n: int
    clustered: tuple[Floats, Counts] | None = None  # the rows, divided by `scale`, and their clusters

    @classmethod
    def of(cls, table: Table, clusters: Counts | None = None) -> Self:
        spread = [(k, *one) for k, name in enumerate(table.names) for one in _spread(table, name, table.values[:, k])]
        node, columns, numbers = zip(*spread, strict=True)
        values, least = np.column_stack(numbers), len(columns) + 2
        if clusters is not None and table.weights is not None:
            raise ParameterError(NOT_WEIGHTED)
        moments = moments_of(values, [f"{k:06d}" for k in range(len(columns))], table.scaled_weights)
        constant = np.flatnonzero(moments.deviation == 0)
        if len(constant):
            raise DataError(f"The column {columns[constant[0]].variable!r} has one value only, so it shows no effect.")
        if moments.n < least:
            raise DataError(f"Draws over {len(columns)} columns need at least {least} rows; got {moments.n}.")
        clustered = None if clusters is None else (values / moments.deviation, clusters)
        return cls(columns, np.array(node), moments.correlation, moments.deviation, moments.n, clustered)

    def places(self, nodes: NodeSet) -> Counts:
        return np.flatnonzero(np.isin(self.node, list(members(nodes))))

    @cached_property
    def _factor(self) -> Floats:
        try:
            return np.asarray(np.linalg.cholesky(self.correlation))
        except np.linalg.LinAlgError:
            raise DataError(
                "Effects cannot be drawn: one of the columns is determined by the others. Leave it out of the search."
            ) from None

    def drawn(
        self, graphs: Marks, numbers: Counts, x: Counts, y: Counts, together: bool = False, hidden: Hidden | None = None
    ) -> Floats:
        """(m, causes, outcomes) draws of total effects, in the units of the data; NaN where a fit fails, and for causes
        that may affect selection. `numbers` (m,): each graph's index in the sample. `together`: set all causes at once.
        """
        is_set = np.isin(np.arange(len(self.columns)), x) & together
        ratio = self.scale[y] / self.scale[x][:, None]
        found = np.full((len(graphs), len(x), len(y)), np.nan)
        for k, (diagram, number) in enumerate(zip(graphs, numbers.tolist(), strict=True)):
            with single_blas:
                covariance = self._covariance_drawn(np.random.default_rng([SEED, number]))
            hide = None if hidden is None else hidden.of(k, self.node, number)
            effects = total_effects_of(diagram, self.node, covariance, is_set, hide)
            if effects is not None:
                found[k] = effects[np.ix_(x, y)] * ratio
        return found

    def _covariance_drawn(self, random: np.random.Generator) -> Floats:
        """A random covariance S*: n S* ~ Wishart(n, correlation); with clusters, S* is from a Bayesian bootstrap."""
        factor, size = self._factor, len(self.columns)
        if self.clustered is not None:
            values, clusters = self.clustered
            weights = random_weights(clusters, random)
            centred = values - weights @ values
            return np.ascontiguousarray(centred.T @ (centred * weights[:, None]))
        triangle = np.tril(random.standard_normal((size, size)), -1)
        triangle[np.diag_indices(size)] = np.sqrt(random.chisquare(self.n - np.arange(size)))
        half = factor @ triangle
        return np.ascontiguousarray(half @ half.T / self.n)


def _spread(table: Table, name: str, values: Floats) -> list[tuple[DrawnColumn, Floats]]:
    levels = np.unique(values) if table.kinds[table.names.index(name)] == "discrete" else values[:1]
    if len(levels) < 2:
        return [(DrawnColumn(name), values)]
    first, *others = levels_of(table, name)
    flags = (values == levels[1:, None]).astype(np.float64)
    return [(DrawnColumn(name, level, first), own) for level, own in zip(others, flags, strict=True)]


def with_hidden_causes(
    arrow: Flags, weights: Floats, noise: Floats, open_arrows: Flags, strength: float, random: np.random.Generator
) -> Floats:
    """New weights of a linear system in which `open_arrows` hide common causes; the observed distribution is unchanged.

    An arrow a → b can hide a common cause if a has no `<->`, and all parents of a are parents of b. The hidden cause
    adds d · e to b's noise, where e is the noise of a (a minus its weighted parents). In the equation of b, new weights
    of a and its parents cancel this. A correlation of the noises of a and b, drawn within ±`strength`, determines d.
    `weights[j, i]`: weight of i in the equation of j.
    """
    found, is_alone = weights.copy(), (noise != 0).sum(axis=1) == 1
    for a, b in np.argwhere(arrow & open_arrows):
        correlation = random.uniform(-strength, strength)
        if not is_alone[a] or (arrow[:, a] & ~arrow[:, b]).any():
            continue
        d = correlation / sqrt(1 - correlation**2) * sqrt(noise[b, b] / noise[a, a])
        found[b, a] -= d
        found[b] += d * np.where(arrow[:, a], weights[a], 0.0)
    return found


class Hidden(NamedTuple):
    """Common causes that arrows may hide: their strength, and (m, p, p) True where an arrow may hide one."""

    strength: float
    arrows: Flags

    def of(self, k: int, node: Counts, number: int) -> Hide:
        random = np.random.default_rng([SEED, number, 1])
        arrows = self.arrows[k][np.ix_(node, node)]
        return partial(with_hidden_causes, open_arrows=arrows, strength=self.strength, random=random)


def random_weights(clusters: Counts, random: np.random.Generator) -> Floats:
    """(n,) row weights that sum to 1 and are equal within a cluster: a Bayesian bootstrap of the clusters."""
    weights = random.standard_exponential(int(clusters.max()) + 1)[clusters]
    return np.asarray(weights / weights.sum())


def total_effects_of(
    diagram: Marks, node: Counts, covariance: Floats, is_set: Flags, hide: Hide | None = None
) -> Floats | None:
    """(c, c) total effects of a diagram fitted to a covariance, NaN if the cause has `---`; None if the fit fails."""
    from anypag._kernels import gaussian as kernel

    arrow, tail = diagram == Mark.ARROW, diagram == Mark.TAIL
    undirected = tail & tail.T
    same, over = node[:, None] == node, np.ix_(node, node)  # `over` gives each column the edges of its variable
    np.fill_diagonal(same, False)
    causes = np.ascontiguousarray((arrow & tail.T)[over], np.uint8)
    spouses = ((arrow & arrow.T) | undirected)[over] | same
    weights, noise, effects = np.zeros((3, *covariance.shape))
    if kernel.fit(covariance, causes, spouses.astype(np.uint8), STOP, MOST_SWEEPS, weights, noise) < 0:
        return None
    if hide is not None:
        weights = np.ascontiguousarray(hide(causes.astype(np.bool_), weights, noise))
    if not kernel.total_effects(causes, weights, is_set.astype(np.uint8), effects):
        return None
    effects[undirected.any(axis=1)[node]] = np.nan
    return np.asarray(effects, np.float64)
