from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag.errors import ParameterError
from anypag.run.replicates import Plan


@given(n_rows=st.integers(2, 60), k=st.integers(0, 9), seed=st.integers(0, 2**70))
def test_a_bootstrap_has_as_many_rows_as_the_table(n_rows: int, k: int, seed: int) -> None:
    counts = Plan(10, "bootstrap", seed).counts(k, n_rows)
    assert counts.shape == (n_rows,) and counts.sum() == n_rows


@given(n_rows=st.integers(2, 60), pair=st.integers(0, 4), seed=st.integers(0, 99))
def test_halves_come_in_pairs_that_share_no_row(n_rows: int, pair: int, seed: int) -> None:
    plan = Plan(10, "half", seed)
    first, second = plan.counts(2 * pair, n_rows), plan.counts(2 * pair + 1, n_rows)
    assert first.sum() == second.sum() == n_rows // 2
    assert (first + second).max() == 1


@pytest.mark.parametrize("resample", ["bootstrap", "half"])
def test_a_resample_depends_on_seed_and_number_only(resample: Any) -> None:
    few, many = Plan(2, resample, 3), Plan(200, resample, 3)
    np.testing.assert_array_equal(few.counts(1, 50), many.counts(1, 50))
    assert (few.counts(0, 50) != few.counts(1, 50)).any()
    assert (few.counts(1, 50) != Plan(2, resample, 4).counts(1, 50)).any()


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"n": 1}, "n"),
        ({"n": 2.5}, "n"),
        ({"n": True}, "n"),
        ({"n": 5, "seed": -1}, "seed"),
        ({"n": 5, "resample": "jackknife"}, "resample"),
    ],
)
def test_a_wrong_plan_is_refused_by_name(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=f"The option '{name}' must be"):
        Plan(**wrong)
