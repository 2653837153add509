"""The quick look at neighbouring rows never passes over a column that the slow one would tell of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag.data.audit.rows import autocorrelations, large_autocorrelations, may_exceed
from naive_ci import autocorrelation

Array = npt.NDArray[np.float64]


@st.composite
def columns(draw: st.DrawFn) -> Array:
    """A few columns that follow themselves more or less, of any size, and far from 0 or not."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, p = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    follows, rows = rng.uniform(-1, 1, p), rng.normal(size=(p, n))
    for k in range(1, n):
        rows[:, k] += follows * rows[:, k - 1]
    shift = draw(st.sampled_from([0.0, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12]))
    return (rows + shift) * draw(st.sampled_from([1e-200, 1e-3, 1.0, 1e5, 1e150, 1e290]))


@given(columns(), st.sampled_from([0.05, 0.2, 0.5, 0.9]))
def test_no_column_above_the_limit_is_passed_over(rows: Array, limit: float) -> None:
    exact = autocorrelations(rows)
    assert may_exceed(rows, limit)[np.abs(exact) > limit].all()
    assert np.array_equal(large_autocorrelations(rows, limit), np.where(np.abs(exact) > limit, exact, 0.0))


@given(columns())
def test_autocorrelations_are_those_of_their_definition(rows: Array) -> None:
    wanted = [autocorrelation(row.tolist()) for row in rows]
    is_small = np.ptp(rows, axis=1) > 1e-5 * np.abs(rows).max(axis=1)  # else rounding tells
    assert autocorrelations(rows)[is_small] == pytest.approx(np.array(wanted)[is_small], abs=1e-8)


def test_the_quick_look_spares_columns_that_do_not_follow_themselves() -> None:
    rows = np.random.default_rng(1).normal(size=(50, 1000)) + 5.0
    assert not may_exceed(rows, 0.2).any()


def test_what_cannot_be_told_quickly_is_looked_at() -> None:
    far = 1e9 + np.random.default_rng(2).normal(size=(1, 1000))
    assert may_exceed(far, 0.2).all() and not large_autocorrelations(far, 0.2).any()
    constant = np.full((1, 100), 3.0)
    assert not large_autocorrelations(constant, 0.2).any()
