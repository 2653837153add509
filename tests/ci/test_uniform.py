"""Where theory says so p-values are uniform under independence: 2,000 draws with fixed seeds, by Kolmogorov–Smirnov."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from anypag import Additive, DegenerateGaussian, FisherZ, Queries

Array = npt.NDArray[np.float64]
DRAWS = 2000
AT_ONCE = 50
"""Draws that stand side by side in one table, each with four columns of its own: binding costs more than asking."""


def null(kind: str, rng: np.random.Generator, rows: int = 400) -> Array:
    """x and y in the first columns, independent given the others."""
    z, e = rng.normal(size=(rows, 2)), rng.normal(size=(rows, 2))
    mean = z.sum(axis=1) * 0.7
    if kind == "additive":
        mean = np.tanh(z[:, 0]) + z[:, 1] ** 2 / 2
    if kind == "interaction":
        mean = z[:, 0] * z[:, 1]
    if kind == "heavy tails":
        e = rng.standard_t(3, size=(rows, 2))
    if kind == "ties":
        z, mean = np.round(z), np.round(z).sum(axis=1) * 0.7
    if kind == "discrete z":
        z = rng.integers(0, 3, size=(rows, 2)).astype(float)
        mean = (z[:, 0] == 1) + 0.5 * z[:, 1]
    columns = np.column_stack([mean[:, None] + e, z])
    if kind == "discrete x":
        columns[:, 0] = columns[:, 0] > 0.3
    return columns


def pvalues(test: Any, kind: str, **more: Any) -> Array:
    """(2000,) of the null of a kind."""
    rng, found = np.random.default_rng(17), []
    first = 4 * np.arange(AT_ONCE)
    queries = Queries(first, first + 1, np.column_stack([first + 2, first + 3]))
    for _ in range(DRAWS // AT_ONCE):
        values = np.column_stack([null(kind, rng) for _ in range(AT_ONCE)])
        found.append(test(values, max_r=2, **more).pvalues(queries))
    return np.concatenate(found)


def check(p: Array) -> None:
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert np.mean(p < 0.01) < 0.01 + 4 * np.sqrt(0.01 * 0.99 / DRAWS)


@pytest.mark.parametrize("test", [FisherZ, DegenerateGaussian, Additive])
def test_straight_lines(test: Any) -> None:
    check(pvalues(test, "linear"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["additive", "interaction", "heavy tails", "ties", "discrete z", "discrete x"])
def test_additive(kind: str) -> None:
    check(pvalues(Additive, kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["heavy tails", "ties", "discrete z", "discrete x"])
def test_mixed(kind: str) -> None:
    """Straight lines in all of them."""
    check(pvalues(DegenerateGaussian, kind))
