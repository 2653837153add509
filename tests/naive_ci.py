"""Slow, obvious twins of the tests from data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]


def residuals(column: Array, given: Array) -> Array:
    """What a regression of the column on `given` (n, r) and a constant leaves over."""
    design = np.column_stack([np.ones(len(column)), given])
    rest: Array = column - design @ np.linalg.lstsq(design, column, rcond=None)[0]
    return rest


def partial_correlation(values: Array, x: int, y: int, z: Sequence[int]) -> float:
    """|correlation| of what regressions on z leave over of x and y."""
    given = values[:, list(z)]
    rest_x, rest_y = residuals(values[:, x], given), residuals(values[:, y], given)
    return abs(float(stats.pearsonr(rest_x, rest_y).statistic))


def fisher_z(values: Array, x: int, y: int, z: Sequence[int]) -> float:
    """The p-value of Fisher's z."""
    freedom = len(values) - len(z) - 3
    if freedom <= 0:
        return 1.0
    statistic = np.sqrt(freedom) * np.arctanh(partial_correlation(values, x, y, z))
    return float(2 * stats.norm.sf(statistic))


def contingency(
    values: Array, x: int, y: int, z: Sequence[int]
) -> dict[tuple[float, ...], Counter[tuple[float, float]]]:
    """Per combination of values of z, how often each pair of values of x and y comes."""
    strata: dict[tuple[float, ...], Counter[tuple[float, float]]] = {}
    for row in values:
        strata.setdefault(tuple(row[list(z)]), Counter())[(row[x], row[y])] += 1
    return strata


def count_test(values: Array, x: int, y: int, z: Sequence[int], *, power_divergence: str) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value of G² ("log-likelihood") or χ² ("pearson"), by stratum.

    A level of x or y that does not come in a stratum has no row or column in its table there.
    """
    statistic, freedom = 0.0, 0
    for pairs in contingency(values, x, y, z).values():
        levels_x, levels_y = sorted({a for a, _ in pairs}), sorted({b for _, b in pairs})
        observed = np.array([[pairs[a, b] for b in levels_y] for a in levels_x], dtype=np.float64)
        expected = stats.contingency.expected_freq(observed)
        terms = stats.power_divergence(observed, expected, axis=None, lambda_=power_divergence)
        statistic += float(terms.statistic)
        freedom += (len(levels_x) - 1) * (len(levels_y) - 1)
    return statistic, freedom, float(stats.chi2.sf(statistic, freedom)) if freedom else 1.0


def indicators(column: Array) -> Array:
    """A column of zeros and ones for every level but the most frequent."""
    levels, counts = np.unique(column, return_counts=True)
    return np.column_stack([column == level for level in np.delete(levels, counts.argmax())]).astype(float)


def degenerate_gaussian(
    values: Array, is_discrete: Sequence[bool], x: int, y: int, z: Sequence[int]
) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value of Wilks' lambda from the residuals of regressions on z."""
    blocks = [indicators(c) if d else c[:, None] for c, d in zip(values.T, is_discrete, strict=True)]
    given = np.column_stack([np.empty((len(values), 0)), *(blocks[i] for i in z)])
    rest_x = np.column_stack([residuals(column, given) for column in blocks[x].T])
    rest_y = np.column_stack([residuals(column, given) for column in blocks[y].T])
    both = np.column_stack([rest_x, rest_y])
    shares = [np.linalg.slogdet(rest.T @ rest)[1] for rest in (both, rest_x, rest_y)]
    width_x, width_y = rest_x.shape[1], rest_y.shape[1]
    weight = len(values) - 1 - given.shape[1] - (width_x + width_y + 1) / 2
    statistic = -weight * (shares[0] - shares[1] - shares[2])
    freedom = width_x * width_y
    return statistic, freedom, float(stats.chi2.sf(statistic, freedom))
