"""Different values and their places, counted or sorted: what `np.unique` gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag.data.levels import MOST_APART, _counted_from_the_least, coded, distinct

NUMBERS = st.one_of(
    st.integers(-3, 5).map(float),
    st.integers(-(10**6), 10**6).map(float),
    st.sampled_from([0.5, -0.0, 1e300, -1e300, np.inf, -np.inf, 2.0**52, 2.0**53, float(MOST_APART)]),
)


@given(st.lists(NUMBERS, max_size=40))
def test_as_numpy_has_them(numbers: list[float]) -> None:
    values = np.array(numbers, np.float64)
    levels, codes = coded(values)
    wanted_levels, wanted_codes = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(distinct(values), wanted_levels)
    np.testing.assert_array_equal(levels, wanted_levels)
    np.testing.assert_array_equal(codes, wanted_codes)


@given(st.lists(st.one_of(NUMBERS, st.just(np.nan)), max_size=30))
def test_gaps_are_one_value_at_the_end(numbers: list[float]) -> None:
    values = np.array(numbers, np.float64)
    np.testing.assert_array_equal(distinct(values), np.unique(values))
    np.testing.assert_array_equal(coded(values)[1], np.unique(values, return_inverse=True)[1])


@pytest.mark.parametrize(
    ("values", "is_counted"),
    [([0.0, 1.0, 1.0], True), ([5.0, 5.0 + MOST_APART], True), ([0.0, 1.0 + MOST_APART], False), ([0.5, 1.5], False)],
)
def test_what_is_counted(values: list[float], is_counted: bool) -> None:
    assert (_counted_from_the_least(np.array(values)) is not None) == is_counted
