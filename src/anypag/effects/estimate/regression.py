"""Effects on continuous outcomes where causes or covariates are discrete: regression on indicators of their levels.

Every level but the first has an indicator. The model is additive: it assumes that the effect is the same in every
group. The outcomes must be continuous, and the effect must be zero or identified by adjustment. Other formulas need the
joint distribution of all columns, which is neither Gaussian nor a table here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anypag.arrays import Floats, Indices
from anypag.effects.estimate.linear import DeterminedError, Weighted, per_unit
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.expressions import Expression, mentioned
from anypag.graphs.node_sets import NodeSet, members

LEAST = 1e-10
"""A direction of the standardised columns with a smaller share of the variance than this counts as absent."""


@dataclass(frozen=True)
class Regression(Weighted):
    """A regression of some columns on others; a discrete column has one number for each level."""

    is_discrete: tuple[bool, ...] = ()

    def values(self, formula: Expression, way: Between) -> Floats:
        """The coefficients, by cause, then column of the cause, then outcome; NaN for levels without rows."""
        causes, outcomes = self._columns(way.x), self._columns(way.y)
        if not mentioned(formula) & way.x:
            return np.zeros(causes.shape[1] * outcomes.shape[1])
        design = np.column_stack([causes, self._columns(mentioned(formula) & ~(way.x | way.y))])
        centred, centred_outcomes = self._centred(design), self._centred(outcomes)
        scale = np.sqrt((centred**2).sum(axis=0))
        if self.weights is None and not scale.all():
            raise DeterminedError
        found = _solved(centred / np.where(scale == 0, 1, scale), centred_outcomes, exact=self.weights is None)
        found /= np.where(scale == 0, np.nan, scale)[:, None]
        return per_unit(found[: causes.shape[1]], self._exponents(way.x), self._exponents(way.y)).ravel()

    def _columns(self, nodes: NodeSet) -> Floats:
        """Continuous columns as they are; for a discrete column, an indicator of every level but the first."""
        parts = [self._coded[self.nodes.index(node)] for node in members(nodes)]
        return np.column_stack([np.empty((len(self.rows), 0)), *parts])

    def _exponents(self, nodes: NodeSet) -> Indices:
        """The exponents of the columns that `_columns` returns; 0 for indicators, which are not divided."""
        places = [self.nodes.index(node) for node in members(nodes)]
        parts = [
            np.full(self._coded[k].shape[1], 0 if self.is_discrete[k] else self.exponent[k], np.int32) for k in places
        ]
        return np.concatenate(parts)

    @cached_property
    def _coded(self) -> list[Floats]:
        return [
            (column[:, None] == np.unique(column)[1:]).astype(np.float64) if discrete else column[:, None]
            for column, discrete in zip(self.rows.T, self.is_discrete, strict=True)
        ]

    def _centred(self, columns: Floats) -> Floats:
        """The columns minus their means, times the root of the weights."""
        mean = np.average(columns, axis=0, weights=self.weights)
        return (columns - mean) * (1.0 if self.weights is None else np.sqrt(self.weights)[:, None])


def _solved(design: Floats, outcomes: Floats, *, exact: bool) -> Floats:
    """The coefficients of standardised columns; where many fit (a level is missing in a resample), the shortest."""
    inverse = np.linalg.pinv(design.T @ design, rcond=LEAST, hermitian=True)
    if exact and np.linalg.matrix_rank(design.T @ design, tol=LEAST, hermitian=True) < design.shape[1]:
        raise DeterminedError
    return np.asarray(inverse @ (design.T @ outcomes))
