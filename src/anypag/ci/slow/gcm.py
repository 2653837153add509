"""The generalised covariance measure (Shah and Peters 2020), a test built on any regression, and its weighted form.

x and y are each regressed on z; if the two are independent given z, what is left of them is uncorrelated. The mean
product of the residuals, over its standard error, is close to normal if both regressions are good: the product of their
errors must fall faster than 1/√n (n rows). Any regressor of scikit-learn will do (anything with `fit`
and `predict`). GCM sees what leaves a covariance; the weighted form (Scheidegger, Hörrmann and Bühlmann 2022)
multiplies by signs of z, and so sees covariances that change their sign with z too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from anypag.arrays import Flags, Floats
from anypag.ci.slow.slow_test import SlowTest
from anypag.data.findings import Singular
from anypag.data.table import Missing

CUTS = 3  # quantiles of each column of z at which a weight changes its sign
DRAWS = 20_000  # random draws for the distribution of the largest of several normal statistics


class Regressor(Protocol):
    """What scikit-learn calls a regressor."""

    def fit(self, x: Floats, y: Floats) -> Any:
        """Learn y from x."""

    def predict(self, x: Floats) -> Any:
        """What y would be."""


class GCM(SlowTest):
    """The generalised covariance measure.

    Args:
        data, names, kinds, missing, singular, max_r, seed: as for `anypag.ci.slow.slow_test.SlowTest`.
        regressor: a regressor of scikit-learn, or a function that makes one; every regression gets its own copy. The
            default is least squares on a cubic spline of each column of z, and on products of every two columns if
            these are at most a twentieth of the rows; its degrees of freedom are then allowed for.

    >>> from anypag import Queries
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> a, b = z**2 + rng.normal(size=500), z**2 + rng.normal(size=500)
    >>> GCM({"a": a, "b": b, "z": z}).pvalues(Queries.one(0, 1, [2])) > 0.01
    array([ True])
    """

    fits = "regressions on the variables of a condition set come close to the truth, with any noise"

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        kinds: Mapping[str, str] | None = None,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
        seed: int = 0,
        regressor: Regressor | Callable[[], Regressor] | None = None,
    ) -> None:
        super().__init__(data, names, kinds=kinds, missing=missing, singular=singular, max_r=max_r, seed=seed)
        self.regressor = regressor

    def one(self, x: Floats, y: Floats, z: Floats, random: np.random.Generator) -> float:
        (left_x, left_y), inflation = self._residuals(z, (x, y))
        products = (left_x[:, :, None] * left_y[:, None, :]).reshape(len(x), -1)
        weights = self._weights(z)
        weighted = (products[:, :, None] * weights[:, None, :]).reshape(len(x), -1)
        least = np.outer(np.square(left_x).mean(axis=0), np.square(left_y).mean(axis=0))
        least *= np.logical_or.outer(_has_two_values(x), _has_two_values(y))
        return _largest_tail(weighted, np.repeat(least.ravel(), weights.shape[1]), inflation, random)

    def _weights(self, z: Floats) -> Floats:
        """(n, 1) ones."""
        return np.ones((len(z), 1))

    def _residuals(self, z: Floats, parts: tuple[Floats, Floats]) -> tuple[list[Floats], float]:
        """The residuals of each part, and the factor by which the variance of their products is too small."""
        if self.regressor is None or not z.shape[1]:
            return _least_squares(z, parts)
        return [part - self._predicted(z, part) for part in parts], 1.0

    def _predicted(self, z: Floats, target: Floats) -> Floats:
        columns = [np.asarray(self._fresh().fit(z, column).predict(z), np.float64) for column in target.T]
        return np.column_stack(columns)

    def _fresh(self) -> Regressor:
        assert self.regressor is not None
        given: Any = self.regressor
        made: Regressor = deepcopy(given) if hasattr(given, "fit") else given()
        return made


class WeightedGCM(GCM):
    """The generalised covariance measure with more weights: signs of every column of z.

    Arguments as for `GCM`.
    """

    def _weights(self, z: Floats) -> Floats:
        """(n, 1 + cuts · columns) ones, then 1 in rows where a column of z is above one of its quantiles, else -1."""
        shares = np.arange(1, CUTS + 1) / (CUTS + 1)
        cuts = np.quantile(z, shares, axis=0) if z.shape[1] else np.empty((CUTS, 0))
        signs = [np.where(z[:, k] > cut, 1.0, -1.0) for k in range(z.shape[1]) for cut in cuts[:, k]]
        return np.column_stack([np.ones(len(z)), *signs])


def _least_squares(z: Floats, parts: tuple[Floats, Floats]) -> tuple[list[Floats], float]:
    """Residuals of regressions on cubic splines of each column of z (powers if it has few values) and products of two.

    Also returns the factor by which the variance of a sum of their products exceeds the variance estimated from the
    rows: a regression on k columns lowers the first by k/n, the second by about 2k/n.
    """
    n, k = z.shape
    pairs = list(combinations(range(k), 2))
    products = [z[:, i] * z[:, j] for i, j in pairs] if 20 * len(pairs) <= n else []
    design = np.column_stack([np.ones(n), *(_spline(column, n // (10 * k)) for column in z.T), *products])
    directions, lengths, _ = np.linalg.svd(design, full_matrices=False)
    directions = directions[:, lengths > lengths[0] * 1e-10]
    rest = np.maximum(1.0 - np.square(directions).sum(axis=1), 1e-12)
    return [part - directions @ (directions.T @ part) for part in parts], float(rest.sum() / np.square(rest).sum())


def _spline(column: Floats, most: int) -> Floats:
    """(n, k) cubic B-splines with knots at quantiles, at most 8 columns, fewer where rows are few."""
    from scipy.interpolate import BSpline

    n_inner = min(most, 8) - 3
    values = np.unique(column)
    if n_inner < 0 or len(values) <= 2 * (n_inner + 4):
        return np.column_stack([column**k for k in range(1, min(3, max(most, 1), len(values) - 1) + 1)])
    inner = np.unique(np.quantile(column, np.arange(1, n_inner + 1) / (n_inner + 1)))
    ends = np.repeat([values[0], values[-1]], 4)
    knots = np.concatenate([ends[:4], inner[(inner > values[0]) & (inner < values[-1])], ends[4:]])
    spline: Floats = BSpline.design_matrix(column, knots, 3).toarray()[:, 1:]
    return spline


def _has_two_values(columns: Floats) -> Flags:
    """(k,) does each have exactly two values?"""
    found: Flags = ((columns == columns.min(axis=0)) | (columns == columns.max(axis=0))).all(axis=0)
    return found


def _largest_tail(products: Floats, least: Floats, inflation: float, random: np.random.Generator) -> float:
    """The p-value of the largest standardised mean of several columns, all with mean 0 under independence.

    Variances are raised to at least `least`, then multiplied by `inflation`: two levels that meet in no row have
    products that hardly vary, and their mean would look far from 0.
    """
    from scipy.special import erfc

    n = len(products)
    deviation = products.std(axis=0)
    kept = deviation > 1e-12
    if not kept.any():
        return 1.0
    unit = (products[:, kept] - products[:, kept].mean(axis=0)) / deviation[kept]
    deviation = np.maximum(deviation, np.sqrt(least))
    largest = float(np.abs(np.sqrt(n / inflation) * products[:, kept].mean(axis=0) / deviation[kept]).max())
    if unit.shape[1] == 1:
        return float(erfc(largest / np.sqrt(2.0)))
    values, vectors = np.linalg.eigh(unit.T @ unit / n)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.abs(random.normal(size=(DRAWS, len(values))) @ root.T).max(axis=1)
    share = float((np.sum(drawn >= largest) + 1) / (DRAWS + 1))
    # Bonferroni's bound, where p is too small for the draws to estimate
    return min(share, float(unit.shape[1] * erfc(largest / np.sqrt(2.0))))
