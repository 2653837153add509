"""Slow tests, which process all rows for every question: the kernel test (KCI) and a test by regression (GCM).

KCI (Zhang, Peters, Janzing and Schölkopf 2011) sees dependence of any shape; a gamma distribution approximates its
null distribution. Time is cubic in the number of rows, so use it for a thousand rows at most.

GCM, the generalised covariance measure (Shah and Peters 2020), regresses x and y on z; if the two are independent given
z, their residuals are uncorrelated. The mean product of the residuals, divided by its standard error, is close to
normal if both regressions are good: as the number of rows n grows, the product of their errors must fall faster than
1/√n. Any regressor of scikit-learn can be used (anything with `fit` and `predict`).
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from itertools import combinations
from typing import Any, ClassVar, Protocol

import numpy as np

from anypag.arrays import Counts, Flags, Floats, in_units
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import DataTest
from anypag.data.audit.checklist import audited
from anypag.data.findings import Singular
from anypag.data.levels import spread_out
from anypag.data.sources.protocol import Needs
from anypag.data.table import Kind, Missing, as_table
from anypag.errors import DataError, Option

LEAST_ROWS = 10  # with fewer rows p = 1
RIDGE = 1e-3  # added to the diagonal of the kernel of z
MOST_ROWS_OF_KCI = 3000
DRAWS = 20_000  # random draws of the largest of several normal statistics
_KEPT = 1e-5  # an eigenvector is left out if its eigenvalue is at most this share of the largest one
_MOST_PRODUCTS = 2000  # sets how many eigenvectors of a kernel are used: at most sqrt(8 · 2000)


class SlowTest(DataTest):
    """The base of slow tests.

    Every answer is expensive, so `batch` is 1. Answers are cached and kept in checkpoints, and workers can share the
    questions (`n_jobs`). `seed` and the names of a question's columns seed its random numbers, so that its answer
    depends neither on earlier questions nor on the order of x and y.

    Args:
        data, names, missing, singular, max_r: as for `FisherZ`.
        kinds: "continuous", "discrete" or "ordinal", for columns whose kind should not be inferred; a discrete column
            becomes one column of zeros and ones for each level except the most frequent.
        seed: the seed of random numbers; the same seed and question give the same answer.
    """

    takes = "any"
    options = (*DataTest.options, "kinds")
    batch: ClassVar[int] = 1
    strength = None  # type: ignore[assignment]  # would need a slow test of every pair

    kinds: tuple[Kind, ...]  # the kind of each column: given by the user or inferred

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
    ) -> None:
        needs = Needs("any", missing, singular, max_r, sees_curves=True)
        ready = audited(as_table(data, names, kinds=kinds), needs)
        ready.audit.require_usable()
        table = ready.source.rows()
        super().__init__(table.names, table.n, ready.audit)
        self.kinds = table.kinds
        self.seed = seed
        self._columns = spread_out(table.values, self.kinds)

    def pvalues(self, queries: Queries) -> PValues:
        queries = self.arranged(queries)
        rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
        return np.array([self._asked(x, y, z) for x, y, z in rows])

    def effective_n(self, queries: Queries) -> Counts:
        asked = np.column_stack([queries.x, queries.y, queries.z]).tolist()
        return np.array([np.sum(self._is_complete(columns)) for columns in asked], np.int64)

    def _is_complete(self, columns: list[int]) -> Flags:
        return np.asarray(~np.any([np.isnan(self._columns[i]).any(axis=1) for i in columns], axis=0))

    def _asked(self, x: int, y: int, z: list[int]) -> float:
        """The p-value of one arranged question, from the complete rows of its standardised columns."""
        rows = self._is_complete([x, y, *z])
        if rows.sum() < LEAST_ROWS:
            return 1.0
        ends = [_standardised(self._columns[i][rows]) for i in (x, y)]
        given = _standardised(np.column_stack([np.empty((int(rows.sum()), 0)), *(self._columns[i][rows] for i in z)]))
        if not all(end.shape[1] for end in ends):  # constant in these rows
            return 1.0
        seed = "\0".join([str(self.seed), *(self.names[i] for i in (x, y, *z))])
        digest = hashlib.blake2b(seed.encode(), digest_size=16).digest()
        random = np.random.default_rng(int.from_bytes(digest, "little"))
        return float(min(max(self.one(ends[0], ends[1], given, random), 0.0), 1.0))

    @abstractmethod
    def one(self, x: Floats, y: Floats, z: Floats, random: np.random.Generator) -> float:
        """The p-value of one question: (n, k) columns of x, y and z, each with mean 0 and deviation 1."""


def _standardised(columns: Floats) -> Floats:
    """The columns that are not constant, with mean 0 and deviation 1."""
    scaled, _ = in_units(columns)
    centred = scaled - scaled.mean(axis=0)
    deviation = np.sqrt(np.square(centred).mean(axis=0))
    changes = deviation > 1e-12
    return np.asarray(centred[:, changes] / deviation[changes])


class KCI(SlowTest):
    """The kernel conditional independence test. Arguments as for `SlowTest`.

    >>> from anypag import Queries
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> test = KCI({"a": a, "b": np.cos(2 * a) + 0.3 * rng.normal(size=200), "c": rng.normal(size=200)})
    >>> (test.pvalues(Queries([0, 0], [1, 2], [[2], [1]])) < 0.01).tolist()
    [True, False]
    """

    fits = "relations are smooth, and there are enough rows for the variables of one test"

    def one(self, x: Floats, y: Floats, z: Floats, random: np.random.Generator) -> float:
        n = len(x)
        if n > MOST_ROWS_OF_KCI:
            raise DataError(
                f"KCI needs matrices of rows by rows, so it takes at most {MOST_ROWS_OF_KCI:,} rows; there are {n:,}. "
                f"Take a sample of the rows, or choose {Option('test', 'gcm')} or {Option('test', 'additive')}."
            )
        if not z.shape[1]:
            return _hsic(_centred(_kernel(x)), _centred(_kernel(y)))
        residual = RIDGE * np.linalg.inv(_centred(_kernel(z)) + RIDGE * np.eye(n))
        left_x, left_y = (residual @ _centred(_kernel(part)) @ residual for part in (np.column_stack([x, z / 2]), y))
        return _left_over(left_x, left_y, _inflation(residual @ residual))


def _kernel(columns: Floats) -> Floats:
    """A Gaussian kernel; its width grows with the number of columns and falls with the number of rows."""
    from scipy.spatial.distance import cdist

    n = len(columns)
    width = 1.2 if n < 200 else 0.7 if n < 1200 else 0.4
    return np.asarray(np.exp(-0.5 * cdist(columns, columns, "sqeuclidean") / (width**2 * columns.shape[1])))


def _centred(kernel: Floats) -> Floats:
    mean = kernel.mean(axis=0)
    return np.asarray(kernel - mean[:, None] - mean + mean.mean())


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
    """The p-value for two kernels after regression on z; products of their eigenvectors give the null distribution."""
    products = (_directions(x)[:, :, None] * _directions(y)[:, None, :]).reshape(len(x), -1)
    gram = products @ products.T if products.shape[1] > len(x) else products.T @ products
    return _gamma_tail(float(np.sum(x * y)) / inflation, float(np.trace(gram)), float(2.0 * np.sum(gram * gram)))


def _inflation(twice: Floats) -> float:
    """The ratio of the variance of the statistic to its estimate from the residuals; `twice` is RR, where R maps values
    to residuals. For noise a and b of deviation 1 the mean square of the product of residuals in row i is (RR)ᵢᵢ². The
    mean square of the sum of these products, aᵀRRb, is the sum of the squares of all entries of RR.
    """
    return float(np.sum(twice * twice) / np.sum(np.square(np.diag(twice))))


def _directions(kernel: Floats) -> Floats:
    """(n, k) the leading eigenvectors, each scaled by the square root of its eigenvalue."""
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2)
    kept = np.flatnonzero(values > values[-1] * _KEPT)[::-1][: int(np.sqrt(_MOST_PRODUCTS * 8))]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


class Regressor(Protocol):
    """A regressor with the interface of scikit-learn."""

    def fit(self, x: Floats, y: Floats) -> Any:
        """Learn y from x."""

    def predict(self, x: Floats) -> Any:
        """The predictions of y from x."""


class GCM(SlowTest):
    """The generalised covariance measure.

    Args:
        data, names, kinds, missing, singular, max_r, seed: as for `SlowTest`.
        regressor: a regressor of scikit-learn, or a function that makes one; every regression gets its own copy. The
            default is least squares on a cubic spline of each column of z, and on products of every two columns if
            there are at least 20 rows for each product; the test corrects for the regression's degrees of freedom.

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
        if self.regressor is None or not z.shape[1]:
            (left_x, left_y), inflation = _least_squares(z, (x, y))
        else:
            left_x, left_y, inflation = x - self._predicted(z, x), y - self._predicted(z, y), 1.0
        products = (left_x[:, :, None] * left_y[:, None, :]).reshape(len(x), -1)
        least = np.outer(np.square(left_x).mean(axis=0), np.square(left_y).mean(axis=0))
        least *= np.logical_or.outer(_has_two_values(x), _has_two_values(y))
        return _largest_tail(products, least.ravel(), inflation, random)

    def _predicted(self, z: Floats, targets: Floats) -> Floats:
        given: Any = self.regressor
        columns = []
        for column in targets.T:
            fresh: Regressor = deepcopy(given) if hasattr(given, "fit") else given()
            columns.append(np.asarray(fresh.fit(z, column).predict(z), np.float64))
        return np.column_stack(columns)


def _least_squares(z: Floats, parts: tuple[Floats, Floats]) -> tuple[list[Floats], float]:
    """The residuals of `parts` after regression on z (on cubic splines or powers of columns, and on products of two
    columns); and the inflation: the variance of the sum of products of residuals, divided by its estimate from the
    rows. A regression on k columns lowers this variance by the share k/n, and the estimate by about 2k/n.
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
    """(n, k) cubic B-splines with knots at quantiles, k ≤ min(`most`, 8); powers if values are few or `most` < 3."""
    from scipy.interpolate import BSpline

    n_inner = min(most, 8) - 3
    values = np.unique(column)
    if n_inner < 0 or len(values) <= 2 * (n_inner + 4):
        return np.column_stack([column**k for k in range(1, min(3, max(most, 1), len(values) - 1) + 1)])
    inner = np.unique(np.quantile(column, np.arange(1, n_inner + 1) / (n_inner + 1)))
    ends = np.repeat([values[0], values[-1]], 4)
    knots = np.concatenate([ends[:4], inner[(inner > values[0]) & (inner < values[-1])], ends[4:]])
    return np.asarray(BSpline.design_matrix(column, knots, 3).toarray()[:, 1:])


def _has_two_values(columns: Floats) -> Flags:
    return np.asarray(((columns == columns.min(axis=0)) | (columns == columns.max(axis=0))).all(axis=0))


def _largest_tail(products: Floats, least: Floats, inflation: float, random: np.random.Generator) -> float:
    """The p-value of the largest standardised mean of several columns, whose means are 0 under independence.

    Variances are raised to at least `least`: if two levels meet in no row, the products hardly vary, and their mean
    would look far from 0. The raised variances are multiplied by `inflation`.
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
    # Bonferroni's bound serves where p is too small to be estimated from the draws
    return min(share, float(unit.shape[1] * erfc(largest / np.sqrt(2.0))))
