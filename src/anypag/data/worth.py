"""The effective number of rows: how many unweighted rows of numbers would inform a test as well as the table does.

Weighted rows are worth (sum of weights)² / (sum of squared weights) rows (Kish 1965) if the weights do not depend on
the columns. If they do, each column has a factor: the variance of the correlation of two independent columns is roughly
multiplied by both factors. The factor of a column x in standard units is Σ w² x² / Σ w². The factor of a column
of levels is a mean of its indicators' factors, each weighted by 1 − the indicator's mean (Rao & Scott 1981, first
correction).

A column of ordered levels is treated as a normal variable of which only the level was recorded. A step function of a
normal variable is a sum of Hermite polynomials, Σ f_k h_k. Two step functions, with f_k and g_k, have a correlation of
Σ f_k g_k ρ^k if their variables have the correlation ρ. The ρ that solves this equation is the polychoric correlation.
Its variance under independence is 1 / (f_1² g_1²) times that of a correlation of numbers. The coarsest column of a
condition set multiplies the variance by about 1 / f_1².
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anypag.arrays import Counts, Floats, Indices
from anypag.data.levels import Codes
from anypag.data.moments import Moments, name_order
from anypag.threads import single_blas

TERMS = 60  # how many terms of the sum Σ f_k g_k ρ^k are computed
MOST = 0.999  # polychoric correlations are limited to this absolute value
LEAST_LEFT = 1e-3  # smaller eigenvalues of a matrix of polychoric correlations are raised to this value or less
HALVINGS = 40  # how many steps a bisection takes
SCORED_AS = 6
"""The mean of f_1² over all columns, to this power, multiplies the row count of a score. Otherwise scores would mistake
the larger variance of strong polychoric correlations for edges. Chosen on seeds 0 to 9 of `benchmarks/ordinal.py`.
"""


class Worth(NamedTuple):
    """Row counts. Two columns count as n / (product of their `factors`) rows."""

    n: int  # the effective number of rows, on average over pairs of columns
    factors: Floats  # (p,) the variance of each column's correlations, relative to an average column
    kept: Floats  # (p,) f_1² for ordered levels, else 1; the least in a condition set multiplies the row count
    n_scored: int  # the number of rows that scores count; lower with ordered levels
    n_rows: int  # the actual number of rows

    def rows(self, x: Indices, y: Indices, z: Indices) -> Counts:
        """(b,) the effective number of rows for each test of x and y given z (b, r)."""
        found: Floats = self.n / (self.factors[x] * self.factors[y]) * self.kept[z].min(axis=1, initial=1.0)
        return np.rint(np.maximum(found, 1.0)).astype(np.int64)


def worth(n_rows: int, n: float, factors: Floats, steps: Mapping[int, Floats]) -> Worth:
    """The `Worth` of rows. `n`: the row count for two columns with factor 1. `steps`: the f_k of ordered levels."""
    kept = np.ones(len(factors))
    kept[list(steps)] = [own[0] ** 2 for own in steps.values()]
    mean, scored = float((factors / kept).mean()), n / float(factors.mean()) ** 2 * float(kept.mean()) ** SCORED_AS
    return Worth(max(round(n / mean**2), 1), factors / kept / mean, kept, max(round(scored), 1), n_rows)


def effective_rows(weights: Floats) -> float:
    """The effective number of weighted rows (as a simple random sample), if weights do not depend on the columns."""
    return float(np.square(weights.sum()) / np.square(weights).sum())


def factor_of_numbers(values: Floats, weights: Floats) -> float:
    """The factor by which weights multiply the variance of a column's correlations; 1 for a constant."""
    share, squares = weights / weights.sum(), np.square(weights)
    centred = values - share @ values
    variance = share @ np.square(centred)
    return float(squares @ np.square(centred) / (squares.sum() * variance)) if variance > 0 else 1.0


def factor_of_levels(codes: Codes, weights: Floats) -> float:
    """The mean factor of the indicators of a column's levels, each weighted by 1 − its mean; 1 for a constant."""
    shares = np.bincount(codes, weights) / weights.sum()
    own = np.bincount(codes, np.square(weights)) / np.square(weights).sum()
    if len(shares) < 2:
        return 1.0
    return float((own * (1 - shares) ** 2 + (1 - own) * shares**2) @ (1 / shares) / (len(shares) - 1))


def steps_of(scores: Floats, weights: Floats | None) -> Floats:
    """(TERMS,) f_1, f_2, ... of a column of levels, from the score of each row's level. `weights`: (n,) or None."""
    from scipy.special import ndtri

    found, codes = np.unique(scores, return_inverse=True)
    shares = np.bincount(codes, weights) / (len(scores) if weights is None else weights.sum())
    deviation = np.sqrt(shares @ np.square(found - shares @ found))
    cuts = ndtri(np.clip(np.cumsum(shares)[:-1], 1e-12, 1 - 1e-12))
    heights = np.diff(found) / deviation * np.exp(-np.square(cuts) / 2) / np.sqrt(2 * np.pi)
    before, hermite, steps = np.zeros_like(cuts), np.ones_like(cuts), np.empty(TERMS)
    for k in range(1, TERMS + 1):
        steps[k - 1] = heights @ hermite / np.sqrt(k)
        before, hermite = hermite, (cuts * hermite - np.sqrt(k - 1) * before) / np.sqrt(k)
    return steps


def behind_levels(moments: Moments, steps: Mapping[int, Floats]) -> Moments:
    """The moments, with correlations of the normal variables behind ordered levels. `steps`: f_k by column."""
    if not steps:
        return moments
    places, first = sorted(steps), np.ones(len(moments.names))
    of = np.array([steps[i] for i in places])
    first[places] = of[:, 0]
    found = moments.correlation / np.outer(first, first)
    found[places] = np.clip(found[places], -MOST, MOST)
    found[:, places] = found[places].T
    found[np.ix_(places, places)] = _solved(moments.correlation[np.ix_(places, places)], of)
    np.fill_diagonal(found, 1.0)
    order = name_order(moments.names)  # results must not depend on the order of columns or on threads
    in_order, back = np.ix_(order, order), np.argsort(order)
    with single_blas:
        mended = _positive(found[in_order], float(np.linalg.eigvalsh(moments.correlation[in_order])[0]))
    return replace(moments, correlation=np.ascontiguousarray(mended[np.ix_(back, back)]))


def _solved(correlation: Floats, steps: Floats) -> Floats:
    """For each correlation, the ρ for which Σ f_k g_k ρ^k equals it, by bisection."""
    low, high = np.full_like(correlation, -MOST), np.full_like(correlation, MOST)
    for _ in range(HALVINGS):
        middle, total = (low + high) / 2, np.zeros_like(correlation)
        for of in steps.T[::-1]:
            total = (total + np.outer(of, of)) * middle
        low, high = np.where(total < correlation, middle, low), np.where(total < correlation, high, middle)
    return np.asarray((low + high) / 2)


def _positive(correlation: Floats, least: float) -> Floats:
    """The matrix, with small eigenvalues raised to `LEAST_LEFT`, or to `least` if that is lower; exactly symmetric."""
    values, vectors = np.linalg.eigh(correlation)
    least = min(LEAST_LEFT, max(least, 0.0))
    if values[0] < least:
        raised = (vectors * np.maximum(values, least)) @ vectors.T
        root = np.sqrt(np.diag(raised))
        correlation = raised / np.outer(root, root)
        np.fill_diagonal(correlation, 1.0)
    return np.asarray((correlation + correlation.T) / 2)
