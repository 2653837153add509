"""How alike neighbouring rows are, compared with the definition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag.data.audit.rows import autocorrelations
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


@given(columns())
def test_autocorrelations_are_those_of_their_definition(rows: Array) -> None:
    wanted = [autocorrelation(row.tolist()) for row in rows]
    is_small = np.ptp(rows, axis=1) > 1e-5 * np.abs(rows).max(axis=1)  # else rounding tells
    assert autocorrelations(rows)[is_small] == pytest.approx(np.array(wanted)[is_small], abs=1e-8)


def test_columns_far_from_zero_and_constant_ones_do_not_follow_themselves() -> None:
    far = 1e9 + np.random.default_rng(2).normal(size=(1, 1000))
    assert np.abs(autocorrelations(far)).max() < 0.2
    assert not autocorrelations(np.full((1, 100), 3.0)).any()
