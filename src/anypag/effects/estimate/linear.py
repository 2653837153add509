"""The value of a formula by linear models: of jointly Gaussian columns (`Linear`), and of continuous outcomes if
other columns are discrete (`Regression`).

A Gaussian density is exp(-½ vᵀ K v) up to a constant, and so is every part of a formula. The matrix K of P(a | b) is
the K of P(a, b) minus the K of P(b). A product adds matrices, a quotient subtracts them, and a sum over s leaves the
Schur complement. The result is K of outcomes and causes, so mean outcomes change by -K_yy⁻¹ K_yx per unit of causes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

import numpy as np

from anypag.arrays import Floats, Indices, in_units
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.expressions import Expression, P, Product, Quotient, folded, mentioned
from anypag.errors import DataError
from anypag.graphs.node_sets import NodeSet, members

LEAST = 1e-10  # directions of the standardised columns with a smaller share of the variance count as absent


@dataclass(frozen=True)
class Weighted:
    """The rows (n, k) that a model is fitted to. Column j is `nodes[j]`, divided by 2 to the power `exponent[j]`."""

    rows: Floats
    exponent: Indices
    nodes: tuple[int, ...]
    weights: Floats | None = None
    is_resample: bool = False

    @classmethod
    def of(cls, rows: Floats, nodes: tuple[int, ...]) -> Self:
        return cls(*in_units(rows), nodes)

    def resampled(self, rng: np.random.Generator) -> Self:
        """The model of a bootstrap resample: n of the n rows, drawn with replacement."""
        n = len(self.rows)
        return self.weighted(rng.multinomial(n, np.full(n, 1 / n)).astype(np.float64))

    def weighted(self, counts: Floats) -> Self:
        """The model of a resample with these counts as weights of the rows."""
        return replace(self, weights=counts, is_resample=True)


@dataclass(frozen=True)
class Linear(Weighted):
    """A linear model of some columns."""

    def values(self, formula: Expression, way: Between) -> Floats:
        """(causes · outcomes,) the change of each outcome's mean per unit of each cause, cause by cause."""
        found = slopes(formula, way, covariance_of(self.rows, self.weights), self.nodes)
        ends = ([self.nodes.index(node) for node in members(part)] for part in (way.x, way.y))
        return per_unit(found, *(self.exponent[end] for end in ends)).ravel()


def per_unit(slopes: Floats, causes: Indices, outcomes: Indices) -> Floats:
    """(causes, outcomes) slopes of scaled columns, converted to the units of the data."""
    with np.errstate(over="ignore"):
        found = np.ldexp(slopes, outcomes - causes[:, None])
    if np.isinf(found).any():
        remedy = "measure the outcome in larger units, or the cause in smaller ones."
        raise DataError(f"The effect is too large a number: {remedy}")
    return np.asarray(found + 0.0)  # no -0


def covariance_of(rows: Floats, weights: Floats | None = None) -> Floats:
    mean = np.average(rows, axis=0, weights=weights)
    centred = rows - mean
    weighted = centred if weights is None else centred * weights[:, None]
    return np.asarray(centred.T @ weighted / len(rows))


def slopes(formula: Expression, way: Between, covariance: Floats, nodes: Sequence[int]) -> Floats:
    """(causes, outcomes) the change of each outcome's mean per unit of each cause."""
    place = {node: k for k, node in enumerate(nodes)}
    scale = np.sqrt(np.diag(covariance))
    with np.errstate(divide="ignore", invalid="ignore"):  # a column that is constant in a resample gives NaN
        correlation = covariance / np.outer(scale, scale)
    form = folded(formula, partial(_form, correlation=correlation, place=place))
    x, y = ([place[node] for node in members(part)] for part in (way.x, way.y))
    change = -_solved(form[np.ix_(y, y)], form[np.ix_(y, x)]).T
    return np.asarray(change * scale[y] / scale[x][:, None] + 0.0)  # no -0


def _form(part: Expression, inner: tuple[Floats, ...], correlation: Floats, place: dict[int, int]) -> Floats:
    if isinstance(part, P):
        both = _precision(correlation, part.of | part.given, place)
        return both - _precision(correlation, part.given, place)
    if isinstance(part, Product):
        return sum(inner, np.zeros_like(correlation))
    if isinstance(part, Quotient):
        return inner[0] - inner[1]
    form, gone = inner[0], [place[node] for node in members(part.over)]
    reduced = form - form[:, gone] @ _solved(form[np.ix_(gone, gone)], form[gone])
    reduced[gone] = 0
    reduced[:, gone] = 0
    return reduced


def _precision(correlation: Floats, nodes: NodeSet, place: dict[int, int]) -> Floats:
    """A matrix over all nodes: in the rows and columns of `nodes` the inverse of their correlations, 0 elsewhere."""
    chosen = [place[node] for node in members(nodes)]
    form = np.zeros_like(correlation)
    if chosen:
        form[np.ix_(chosen, chosen)] = _solved(correlation[np.ix_(chosen, chosen)], np.eye(len(chosen)))
    return form


class DeterminedError(DataError):
    """Some columns determine others, or are constant, so that there is no single solution."""

    def __init__(self) -> None:
        super().__init__("The effect cannot be computed: a column that it needs is determined by others, or constant.")


def _solved(matrix: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        raise DeterminedError from None


@dataclass(frozen=True)
class Regression(Weighted):
    """An additive regression on continuous columns and indicators of levels. The effect must be zero or identified by
    adjustment, because other formulas need the joint distribution, which is neither Gaussian nor a table here.
    """

    is_discrete: tuple[bool, ...] = ()

    def values(self, formula: Expression, way: Between) -> Floats:
        """The coefficients, ordered by cause, then its columns, then outcome; NaN for levels that a resample lacks."""
        (causes, at_x), (outcomes, at_y) = self._columns(way.x), self._columns(way.y)
        if not mentioned(formula) & way.x:
            return np.zeros(causes.shape[1] * outcomes.shape[1])
        design = np.column_stack([causes, self._columns(mentioned(formula) & ~(way.x | way.y))[0]])
        centred, centred_outcomes = self._centred(design), self._centred(outcomes)
        scale = np.sqrt((centred**2).sum(axis=0))
        standard = centred / np.where(scale == 0, 1, scale)
        products = standard.T @ standard
        if not self.is_resample and np.linalg.matrix_rank(products, tol=LEAST, hermitian=True) < len(products):
            raise DeterminedError
        inverse = np.linalg.pinv(products, rcond=LEAST, hermitian=True)  # of least norm if a resample lacks a level
        found = inverse @ (standard.T @ centred_outcomes) / np.where(scale == 0, np.nan, scale)[:, None]
        return per_unit(found[: causes.shape[1]], at_x, at_y).ravel()

    def _columns(self, nodes: NodeSet) -> tuple[Floats, Indices]:
        """Continuous columns unchanged, discrete ones as indicators of all levels but the first; their exponents."""
        places = [self.nodes.index(node) for node in members(nodes)]
        parts = [self._coded[k] for k in places]
        exponents = np.array([0 if self.is_discrete[k] else self.exponent[k] for k in places], np.int32)
        columns = np.column_stack([np.empty((len(self.rows), 0)), *parts])
        return columns, np.repeat(exponents, [part.shape[1] for part in parts])

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
