"""Kernel tests of independence: they see dependence of any shape, but are slow (some thousand rows, few questions).

RCoT (Strobl, Zhang and Visweswaran 2019): random Fourier features replace the kernels, those of z are regressed out,
and the residuals of x and y are tested for covariance. Time is linear in the rows.

KCI (Zhang, Peters, Janzing and Schölkopf 2011): the kernels themselves, with the gamma approximation of the null. Time
is cubic in the rows: use it for a thousand rows at most.
"""

from __future__ import annotations

import numpy as np

from anypag.arrays import Floats
from anypag.ci.slow.slow_test import SlowTest
from anypag.errors import DataError, Option

FEATURES = 5  # random features of x and of y
FEATURES_OF_SET = 100  # random features of z; never more than a quarter of the rows
ROWS_FOR_WIDTH = 500
RIDGE = 1e-3
MOST_ROWS_OF_KCI = 3000
_KEPT = 1e-5
_MOST_PRODUCTS = 2000


class RCoT(SlowTest):
    """The randomised conditional correlation test. Arguments as for `anypag.ci.slow.slow_test.SlowTest`.

    Each question draws its random numbers from `seed` and the names in it, so its answer does not depend on the order
    of questions or on the worker. Each side is seen through five random functions only: with an unlucky seed it misses
    a dependence that another seed, or `KCI`, sees.

    >>> from anypag import Queries
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=400)
    >>> data = {"a": a, "b": a**2 + 0.3 * rng.normal(size=400), "c": rng.normal(size=400)}
    >>> test = RCoT(data, seed=1)
    >>> (test.pvalues(Queries([0, 0], [1, 2], [[2], [1]])) < 0.01).tolist()
    [True, False]
    """

    fits = "relations are smooth, and rows are enough for the variables of one test"

    def one(self, x: Floats, y: Floats, z: Floats, random: np.random.Generator) -> float:
        n = len(x)
        left, inflation = [_features(part, FEATURES, random) for part in (x, y)], 1.0
        if z.shape[1]:
            given = _features(z, min(FEATURES_OF_SET, n // 4), random)
            directions, taken = _ridge(given)
            left = [part - directions @ (taken[:, None] * (directions.T @ part)) for part in left]
            inflation = _inflation_of_features(directions, taken)
        products = (left[0][:, :, None] * left[1][:, None, :]).reshape(n, -1)
        mean = products.mean(axis=0)
        centred = products - mean
        weights = np.linalg.eigvalsh(centred.T @ centred / n)
        return _weighted_tail(float(n * mean @ mean) / inflation, np.maximum(weights, 0.0))


class KCI(SlowTest):
    """The kernel conditional independence test with the gamma approximation. Arguments as for `SlowTest`.

    >>> from anypag import Queries
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> test = KCI({"a": a, "b": np.cos(2 * a) + 0.3 * rng.normal(size=200), "c": rng.normal(size=200)})
    >>> (test.pvalues(Queries([0, 0], [1, 2], [[2], [1]])) < 0.01).tolist()
    [True, False]
    """

    fits = RCoT.fits

    def one(self, x: Floats, y: Floats, z: Floats, random: np.random.Generator) -> float:
        n = len(x)
        if n > MOST_ROWS_OF_KCI:
            raise DataError(
                f"KCI needs tables of rows by rows, so it takes at most {MOST_ROWS_OF_KCI:,} rows; there are {n:,}. "
                f"Take a sample of the rows, or choose {Option('test', 'rcot')} or {Option('test', 'additive')}."
            )
        if not z.shape[1]:
            return _hsic(_centred(_kernel(x)), _centred(_kernel(y)))
        residual = RIDGE * np.linalg.inv(_centred(_kernel(z)) + RIDGE * np.eye(n))
        left_x, left_y = (residual @ _centred(_kernel(part)) @ residual for part in (np.column_stack([x, z / 2]), y))
        return _left_over(left_x, left_y, _inflation(residual @ residual))


def _features(columns: Floats, count: int, random: np.random.Generator) -> Floats:
    """(n, count) random Fourier features of a Gaussian kernel, with mean 0 and deviation 1."""
    frequencies = random.normal(size=(columns.shape[1], count)) / _median_distance(columns[:ROWS_FOR_WIDTH])
    features = np.sqrt(2.0) * np.cos(columns @ frequencies + random.uniform(0.0, 2.0 * np.pi, count))
    features -= features.mean(axis=0)
    unit: Floats = features / np.maximum(features.std(axis=0), 1e-12)
    return unit


def _median_distance(columns: Floats) -> float:
    """The median distance of two rows; 1 where most rows are the same."""
    from scipy.spatial.distance import pdist

    return float(np.median(pdist(columns))) or 1.0


def _weighted_tail(statistic: float, weights: Floats) -> float:
    """The upper tail of a weighted sum of χ²(1) by three cumulants (Hall 1983; Buckley and Eagleson 1988)."""
    from scipy.stats import gamma

    first, second, third = (float(np.sum(weights**k)) for k in (1, 2, 3))
    if second <= 0.0 or third <= 0.0:
        return 1.0
    freedom = second**3 / third**2
    value = (statistic - first) / np.sqrt(2.0 * second) * np.sqrt(2.0 * freedom) + freedom
    return float(gamma.sf(value / 2.0, freedom / 2.0))


def _kernel(columns: Floats) -> Floats:
    """A Gaussian kernel; its width grows with the number of columns and falls with the number of rows."""
    from scipy.spatial.distance import cdist

    n = len(columns)
    width = 1.2 if n < 200 else 0.7 if n < 1200 else 0.4
    distance = cdist(columns, columns, "sqeuclidean")
    kernel: Floats = np.exp(-0.5 * distance / (width**2 * columns.shape[1]))
    return kernel


def _centred(kernel: Floats) -> Floats:
    mean = kernel.mean(axis=0)
    centred: Floats = kernel - mean[:, None] - mean + mean.mean()
    return centred


def _gamma_tail(statistic: float, mean: float, variance: float) -> float:
    from scipy.stats import gamma

    if mean <= 0.0 or variance <= 0.0:
        return 1.0
    return float(gamma.sf(statistic, mean**2 / variance, scale=variance / mean))


def _hsic(x: Floats, y: Floats) -> float:
    n = len(x)
    mean = np.trace(x) * np.trace(y) / n
    variance = 2.0 * np.sum(x * x) * np.sum(y * y) / n**2
    return _gamma_tail(float(np.sum(x * y)), float(mean), float(variance))


def _left_over(x: Floats, y: Floats, inflation: float) -> float:
    """The p-value from two kernels with z regressed out; its null is from products of their leading eigenvectors."""
    factors = [_directions(part) for part in (x, y)]
    products = (factors[0][:, :, None] * factors[1][:, None, :]).reshape(len(x), -1)
    gram = products @ products.T if products.shape[1] > len(x) else products.T @ products
    return _gamma_tail(float(np.sum(x * y)) / inflation, float(np.trace(gram)), float(2.0 * np.sum(gram * gram)))


def _inflation(twice: Floats) -> float:
    """The factor by which the variance of the statistic exceeds what the residuals suggest; `twice` is RR, where
    R maps values to residuals.

    With noise a and b of deviation 1 the residuals are Ra and Rb. The mean square of their product in row i is (RR)ᵢᵢ²;
    that of the sum aᵀRRb is the sum of the squares of all entries of RR. The factor is the ratio of the two.
    """
    return float(np.sum(twice * twice) / np.sum(np.square(np.diag(twice))))


def _ridge(given: Floats) -> tuple[Floats, Floats]:
    """A ridge regression on features: (n, k) orthonormal directions, and (k,) the share of each that it removes."""
    values, vectors = np.linalg.eigh(given.T @ given)
    kept = values > values[-1] * 1e-12
    directions: Floats = given @ (vectors[:, kept] / np.sqrt(values[kept]))
    return directions, values[kept] / (values[kept] + RIDGE)


def _inflation_of_features(directions: Floats, taken: Floats) -> float:
    """`_inflation` of a ridge regression, without an (n, n) matrix."""
    twice = (1.0 - taken) ** 2
    diagonal = 1.0 - np.square(directions) @ (1.0 - twice)
    return float((len(directions) - len(taken) + np.sum(twice**2)) / np.sum(np.square(diagonal)))


def _directions(kernel: Floats) -> Floats:
    """(n, k) the leading eigenvectors, each as long as the root of its eigenvalue."""
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2)
    kept = np.flatnonzero(values > values[-1] * _KEPT)[::-1][: int(np.sqrt(_MOST_PRODUCTS * 8))]
    directions: Floats = vectors[:, kept] * np.sqrt(values[kept])
    return directions
