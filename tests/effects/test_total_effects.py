"""Fits of path diagrams and their total effects: against twins, against truth, and exact zeros."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import naive_path_diagrams as naive
from anypag._kernels import gaussian as kernel

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def diagram(rng: np.random.Generator, n: int, arrows: float = 0.35, spouses: float = 0.25) -> tuple[Flags, Flags]:
    """A random acyclic diagram without bows, its nodes in any order."""
    arrow = np.triu(rng.random((n, n)) < arrows, 1)
    spouse = np.triu((rng.random((n, n)) < spouses) & ~arrow, 1)
    order = rng.permutation(n)
    return arrow[np.ix_(order, order)], (spouse | spouse.T)[np.ix_(order, order)]


def system(rng: np.random.Generator, n: int = 6) -> tuple[Flags, Flags, Floats, Floats]:
    """A diagram with a weight for every arrow and a covariance for every pair of spouses."""
    while True:
        arrow, spouse = diagram(rng, n)
        weights = rng.uniform(-0.3, 0.3, (n, n))
        omega = np.eye(n) + spouse * (weights + weights.T)
        if np.linalg.eigvalsh(omega)[0] > 0.1:
            return arrow, spouse, arrow.T * rng.uniform(-1, 1, (n, n)), omega


def implied(b: Floats, omega: Floats) -> Floats:
    cause = np.linalg.inv(np.eye(len(b)) - b)
    return np.ascontiguousarray(cause @ omega @ cause.T)


def fitted(s: Floats, arrow: Flags, spouse: Flags, stop: float, sweeps: int) -> tuple[Floats, Floats, int]:
    b, omega = np.zeros_like(s), np.zeros_like(s)
    arrows, spouses = (np.ascontiguousarray(part, np.uint8) for part in (arrow, spouse))
    return b, omega, kernel.fit(np.ascontiguousarray(s), arrows, spouses, stop, sweeps, b, omega)


def effects(arrow: Flags, b: Floats, is_set: Flags | None = None) -> Floats:
    found = np.full_like(b, np.nan)
    cut = np.zeros(len(b), np.uint8) if is_set is None else is_set.astype(np.uint8)
    assert kernel.total_effects(np.ascontiguousarray(arrow, np.uint8), b, cut, found)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_fit_is_that_of_whole_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrow, spouse = diagram(rng, 6)
    rows = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    s = np.asarray(np.corrcoef(rows.T))
    for sweeps in (1, 7):
        b, omega, taken = fitted(s, arrow, spouse, -1.0, sweeps)
        assert taken in (0, sweeps)
        for ours, theirs in zip((b, omega), naive.fit(s, arrow, spouse, sweeps), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_the_system_is_recovered_from_the_covariance_that_it_implies() -> None:
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(100):
        arrow, spouse, b, omega = system(rng)
        found_b, found_omega, _ = fitted(implied(b, omega), arrow, spouse, 1e-12, 5000)
        gap = naive.log_likelihood(implied(b, omega), b, omega)
        assert naive.log_likelihood(implied(b, omega), found_b, found_omega) == pytest.approx(gap, abs=1e-9)
        wrong += bool(np.abs(found_b - b).max() > 1e-4)
    assert wrong <= 1  # a diagram without bows is identified almost everywhere


def test_without_spouses_a_fit_is_least_squares() -> None:
    rng = np.random.default_rng(1)
    arrow, _ = diagram(rng, 5)
    rows = rng.normal(size=(40, 5))
    s = np.cov(rows.T, bias=True)
    b, omega, sweeps = fitted(s, arrow, np.zeros_like(arrow), 1e-4, 100)
    assert sweeps == 0
    centred = rows - rows.mean(axis=0)
    for j in range(5):
        parents = np.flatnonzero(arrow[:, j])
        slopes, *_ = np.linalg.lstsq(centred[:, parents], centred[:, j], rcond=None)
        np.testing.assert_allclose(b[j, parents], slopes, atol=1e-12)
        assert omega[j, j] == pytest.approx(np.mean((centred[:, j] - centred[:, parents] @ slopes) ** 2))


def test_a_singular_covariance_is_no_fit() -> None:
    arrow = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], np.bool_)
    assert fitted(np.ones((3, 3)), arrow, np.zeros_like(arrow), 1e-4, 10)[2] == -1


def test_effects_are_zero_exactly_where_no_directed_path_leads() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        arrow, _ = diagram(rng, 7)
        b = arrow.T * rng.uniform(0.2, 1, (7, 7)) * rng.choice([-1, 1], (7, 7))
        reached = np.linalg.matrix_power(np.eye(7, dtype=np.int64) + arrow, 7) > 0
        np.fill_diagonal(reached, False)
        found = effects(arrow, b)
        assert ((found != 0) == reached).all()
        np.testing.assert_allclose(found, naive.total_effects(b, np.zeros(7, np.bool_)), atol=1e-12)
        is_set = rng.random(7) < 0.4
        np.testing.assert_allclose(
            effects(arrow, b, is_set)[is_set][:, ~is_set],
            naive.total_effects(b, is_set)[is_set][:, ~is_set],
            atol=1e-12,
        )


def test_arrows_in_a_circle_have_no_effects() -> None:
    circle = np.roll(np.eye(3, dtype=np.uint8), 1, axis=1)
    assert not kernel.total_effects(circle, np.zeros((3, 3)), np.zeros(3, np.uint8), np.zeros((3, 3)))
