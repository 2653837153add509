"""Estimates of an effect that adjust for a set by any regressors instead of straight lines, cross-fitted.

For a cause that is a number the model is partially linear. Outcome and cause are each regressed on the set, and the
residual of the outcome is regressed on the residual of the cause (Robinson 1988). For a cause with two levels the
estimate is doubly robust (AIPW). At each level of the cause the outcome is regressed on the set; a row's score is the
difference of the two predictions, corrected by the row's residual divided by the probability of its level. Every row is
predicted from the rows of other folds, so that noise which a flexible regression has fitted does not bias the estimate
(Chernozhukov et al. 2018). Each estimate is a ratio of two sums over rows. The terms of the sums also give standard
errors, by row or by cluster, and estimates in groups of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.ci.slow import Regressor
from anypag.errors import AnypagError, DataError, Option, ParameterError

FOLDS = 5
CLIP = 0.02  # probabilities of a level are clipped to 0.02 ... 0.98, so that the weight of a row is at most 50
MOST_CLIPPED = 0.05  # if more rows than this share are clipped, the groups hardly overlap, and AIPW gives no interval
LEAST_ROWS = 2_000  # with fewer rows AIPW gives no interval (reasons in `benchmarks/effects_learners.md`)
MOST_KNOTS = 8  # the spline of a column has at most this many knots
PENALTIES = np.logspace(-6, 1, 8)  # on squared weights of standardised columns; multiplied by the number of rows
MOST_STEPS = 30  # a logistic regression takes at most this many steps of Newton's method
NO_LEARNER = (
    f'The option {Option("learner")} is "splines"; a regressor with fit and predict; a function that makes one; the '
    'import name of one ("sklearn.ensemble.RandomForestRegressor"); or a pair of these, for outcome and cause. Got '
)

One = Regressor | Callable[[], Regressor]
Learner = str | One | tuple[str | One, str | One]
"""Cubic splines ("splines"); a regressor (such as one of scikit-learn); a function that makes one; the import name of
a regressor or function; or a pair of these, for the outcome and for the cause."""


class AdjustedRows(NamedTuple):
    """Outcome, cause and the columns adjusted for, as numbers; and the cluster of each row, if there are clusters."""

    y: Floats
    x: Floats
    z: Floats
    cluster: Counts | None = None

    def thinned(self, most: int) -> AdjustedRows:
        step = -(-len(self.y) // most)
        y, x, z, cluster = self
        return AdjustedRows(y[::step], x[::step], z[::step], None if cluster is None else cluster[::step])


class WithError(NamedTuple):
    """An estimate, its standard error and the degrees of freedom of that error."""

    value: float
    error: float
    freedom: float

    def interval(self, level: float) -> tuple[float, float]:
        from scipy.special import stdtrit

        reach = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        return self.value - reach, self.value + reach


class Scores(NamedTuple):
    """The scores of rows; the estimate is the sum of `top` (n,) divided by the sum of `bottom` (n,)."""

    top: Floats
    bottom: Floats
    cluster: Counts | None = None
    clipped: float = 0.0  # the share of rows whose probability was clipped (`CLIP`)
    left: float = float("nan")  # the residual sum of squares of the outcome; NaN for AIPW

    def partial_r2(self, freedom: int) -> float:
        """The share of the outcome's remaining variance that the cause explains; for AIPW, by the t statistic."""
        found = self._replace(cluster=None).number()
        if self.left > 0:
            return min(found.value**2 * float(self.bottom.sum()) / self.left, 1.0)
        return found.value**2 / (found.value**2 + freedom * found.error**2) if found.value else 0.0

    def number(self, chosen: Flags | None = None) -> WithError:
        """The estimate, with its sandwich error, in the `chosen` rows; in all rows by default."""
        top, bottom = (part if chosen is None else part[chosen] for part in (self.top, self.bottom))
        if not bottom.sum() > 0:
            raise DataError("The effect cannot be computed: the columns adjusted for determine the cause.")
        value = float(top.sum() / bottom.sum())
        moved = (top - value * bottom) / bottom.sum()
        if self.cluster is None:
            return WithError(value, float(np.sqrt((moved**2).sum())), max(len(moved) - 1, 1))
        of = np.unique(self.cluster if chosen is None else self.cluster[chosen], return_inverse=True)[1]
        sums = np.bincount(of, weights=moved)
        n = len(sums)
        if n < 2:
            raise DataError("Standard errors by cluster need at least two clusters.")
        return WithError(value, float(np.sqrt((sums**2).sum() * n / (n - 1))), n - 1)


class Splines:
    """Ridge regression on a cubic spline of every column, with knots at quantiles. The penalty is the one of eight with
    the least generalised cross-validation error.

    >>> x = np.linspace(-3, 3, 400)[:, None]
    >>> bool(np.abs(Splines().fit(x, np.sin(x[:, 0])).predict(x) - np.sin(x[:, 0])).max() < 0.05)
    True
    """

    def fit(self, x: Floats, y: Floats) -> Self:
        design = self._learned_design(x)
        self._level, n, best = float(y.mean()), len(y), np.inf
        lengths, vectors = np.linalg.eigh(design.T @ design)
        lengths = np.maximum(lengths, 1e-12 * n)
        along = vectors.T @ (design.T @ (y - self._level))
        total = float(((y - self._level) ** 2).sum())
        for penalty in PENALTIES * n:
            kept = lengths / (lengths + penalty)
            error = (total - float((kept * (2 - kept) * along**2 / lengths).sum())) / max(n - 1 - kept.sum(), 1) ** 2
            if error < best:
                best, self._weights = error, vectors @ (along / (lengths + penalty))
        return self

    def predict(self, x: Floats) -> Floats:
        return np.asarray(self._level + self._design(x) @ self._weights)

    def n_weights(self, x: Floats) -> int:
        return int(self._learned_design(x).shape[1])

    def _learned_design(self, x: Floats) -> Floats:
        """(n, k) the standardised columns of splines; their means and scales are kept."""
        n_knots = int(np.clip(len(x) // (10 * max(x.shape[1], 1)), 3, MOST_KNOTS))
        self._knots = [np.unique(np.quantile(column, np.linspace(0, 1, n_knots))) for column in x.T]
        self._centre, self._scale = np.zeros(1), np.ones(1)
        raw = self._design(x)
        scale = raw.std(axis=0)
        self._centre, self._scale = raw.mean(axis=0), np.where(scale == 0, 1.0, scale)
        return np.asarray((raw - self._centre) / self._scale)

    def _design(self, x: Floats) -> Floats:
        parts = [_spline(column, knots) for column, knots in zip(x.T, self._knots, strict=True)]
        return np.asarray((np.column_stack([np.empty((len(x), 0)), *parts]) - self._centre) / self._scale)


def _spline(column: Floats, knots: Floats) -> Floats:
    """(n, knots + 1) a column's cubic B-splines, constant beyond the outer knots; below 3 knots (n, 1) the column."""
    from scipy.interpolate import BSpline

    if len(knots) < 3:
        return column[:, None]
    ends = np.repeat(knots[[0, -1]], 3)
    inside = np.clip(column, knots[0], knots[-1])
    return np.asarray(BSpline.design_matrix(inside, np.concatenate([ends[:3], knots, ends[3:]]), 3).toarray()[:, 1:])


class SplineLogit(Splines):
    """Logistic ridge regression on the same splines; the penalty is lowered as long as AIC falls."""

    def fit(self, x: Floats, y: Floats) -> Self:
        design = np.column_stack([np.ones(len(x)), self._learned_design(x)])
        best, weights = np.inf, np.zeros(design.shape[1])
        for penalty in PENALTIES[::-1]:
            weights, criterion = _logit(design, y, penalty * len(y), weights)
            if criterion > best:
                break
            best, self._level, self._weights = criterion, weights[0], weights[1:]
        return self

    def predict(self, x: Floats) -> Floats:
        return np.asarray(_chance(super().predict(x)))


def _logit(design: Floats, y: Floats, penalty: float, weights: Floats) -> tuple[Floats, float]:
    """The weights of a logistic regression, by Newton's method, and its AIC. The first weight has no penalty."""
    ridge = np.diag(np.append(0.0, np.full(design.shape[1] - 1, penalty)))
    for _ in range(MOST_STEPS):
        chance = _chance(design @ weights)
        curvature = design.T @ (design * np.maximum(chance * (1 - chance), 1e-6)[:, None])
        step = np.linalg.solve(curvature + ridge, design.T @ (y - chance) - ridge @ weights)
        weights = weights + step / max(1.0, np.abs(step).max() / 5)
        if np.abs(step).max() < 1e-4:
            break
    at = design @ weights
    deviance = 2 * float((np.logaddexp(0.0, at) - y * at).sum())
    freedom = float(np.trace(np.linalg.solve(curvature + ridge, curvature)))
    return weights, deviance + 2 * freedom


def _chance(at: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(at / 2)))


def partially_linear(rows: AdjustedRows, learner: Learner = "splines", seed: int = 0) -> Scores:
    """Scores of the slope of the outcome along the cause."""
    of_outcome, of_cause = _makers(learner, rows.z, Splines)
    left_y, left_x = np.empty((2, len(rows.y)))
    for train, test in _folds(rows, seed):
        left_y[test] = rows.y[test] - _predicted(of_outcome, rows.z[train], rows.y[train], rows.z[test], seed)
        left_x[test] = rows.x[test] - _predicted(of_cause, rows.z[train], rows.x[train], rows.z[test], seed)
    return _of_residuals(left_y, left_x, rows)


def straight(rows: AdjustedRows) -> Scores:
    """Scores of the slope in a linear regression of the outcome on the cause and the set (Frisch and Waugh)."""
    both = np.column_stack([rows.y - rows.y.mean(), rows.x - rows.x.mean()])
    centred = rows.z - rows.z.mean(axis=0)
    design = centred / np.maximum(centred.std(axis=0), np.finfo(np.float64).tiny)
    left_y, left_x = (both - design @ np.linalg.lstsq(design, both, rcond=1e-10)[0]).T
    return _of_residuals(left_y, left_x, rows)


def _of_residuals(left_y: Floats, left_x: Floats, rows: AdjustedRows) -> Scores:
    is_nothing = (left_x**2).sum() <= 1e-20 * ((rows.x - rows.x.mean()) ** 2).sum()
    bottom = np.zeros_like(left_x) if is_nothing else left_x**2
    return Scores(left_x * left_y, bottom, rows.cluster, left=float((left_y**2).sum()))


def doubly_robust(rows: AdjustedRows, learner: Learner = "splines", seed: int = 0) -> Scores:
    """Scores of the mean change in the outcome if the cause is set to 1 in place of 0 (AIPW)."""
    of_outcome, of_cause = _makers(learner, rows.z, SplineLogit)
    score, chances = np.empty((2, len(rows.y)))
    for train, test in _folds(rows, seed):
        z, is_set = rows.z[test], rows.x[test] == 1
        chances[test] = _predicted(of_cause, rows.z[train], rows.x[train], z, seed)
        chance = np.clip(chances[test], CLIP, 1 - CLIP)
        means = []
        for level in (0, 1):
            own = train & (rows.x == level)
            if own.sum() < 2:
                raise DataError("One of the two levels of the cause has too few rows for a regression in every fold.")
            means.append(_predicted(of_outcome, rows.z[own], rows.y[own], z, seed))
        unset, setting = means
        correction = np.where(is_set, (rows.y[test] - setting) / chance, -(rows.y[test] - unset) / (1 - chance))
        score[test] = setting - unset + correction
    clipped = float(((chances < CLIP) | (chances > 1 - CLIP)).mean())
    return Scores(score, np.ones(len(score)), rows.cluster, clipped)


def _folds(rows: AdjustedRows, seed: int) -> list[tuple[Flags, Flags]]:
    """For each fold, (n,) flags of rows to learn from and of rows to predict; the rows of a cluster stay together."""
    units = np.arange(len(rows.y)) if rows.cluster is None else np.unique(rows.cluster, return_inverse=True)[1]
    n = int(units.max()) + 1
    if n < 2 * FOLDS:
        what = "rows" if rows.cluster is None else "clusters"
        raise DataError(f"A learner predicts each row from others, in {FOLDS} folds: {n} {what} are too few.")
    fold = np.empty(n, np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % FOLDS
    return [(fold[units] != k, fold[units] == k) for k in range(FOLDS)]


def _makers(learner: Learner, z: Floats, of_cause: One) -> tuple[One, One]:
    """The makers of the regressors of outcome and cause. If the set is empty, both are splines, to predict the mean."""
    pair = learner if isinstance(learner, tuple) else (learner, learner)
    if len(pair) != 2:
        raise ParameterError(NO_LEARNER, f"{learner!r}.")
    makers = _maker(pair[0], Splines), _maker(pair[1], of_cause)
    return makers if z.shape[1] else (Splines, of_cause)


def _maker(one: str | One, splines: One) -> One:
    found: Any = one.strip() if isinstance(one, str) else one
    if isinstance(found, str):
        module, _, name = found.rpartition(".")
        try:
            found = splines if found == "splines" else getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError, TypeError) as error:  # TypeError: ".a.B" is a relative name
            raise ParameterError(NO_LEARNER, f"{one!r}.") from error
    if not (callable(found) or hasattr(found, "fit")):
        raise ParameterError(NO_LEARNER, f"{one!r}.")
    return found  # type: ignore[no-any-return]  # a user's regressor


def _predicted(make: One, z: Floats, target: Floats, at: Floats, seed: int) -> Floats:
    """The predictions at `at` by a fresh regressor fitted to the target; for a classifier the probabilities of 1."""
    try:
        fitted = _fresh(make, seed).fit(z, target)
        found = fitted.predict_proba(at)[:, -1] if hasattr(fitted, "predict_proba") else fitted.predict(at)
        return np.asarray(found, np.float64).reshape(len(at))
    except (TypeError, ValueError, AttributeError) as error:
        if make in (Splines, SplineLogit) or isinstance(error, AnypagError):
            raise
        name = getattr(make, "__name__", type(make).__name__)
        why = f"a regressor with fit and predict is needed; a classifier cannot learn numbers ({error})"
        raise ParameterError(f"The option {Option('learner')}: {name} cannot learn these columns; {why}.") from error


def _fresh(make: One, seed: int) -> Any:
    """An unfitted regressor. Seeds that the user left open are set, so that the same rows give the same number."""
    given: Any = make
    model = deepcopy(given) if hasattr(given, "fit") and not isinstance(given, type) else given()
    chosen = model.get_params() if hasattr(model, "get_params") else {}
    unset = [name for name, value in chosen.items() if name.endswith("random_state") and value is None]
    return model.set_params(**dict.fromkeys(unset, seed)) if unset else model
