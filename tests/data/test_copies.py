"""Columns that repeat others: what a plain comparison of their values finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_ci
from anypag.data.audit.copies import coded_copies, copies_in
from anypag.data.table import as_table


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 7), st.sampled_from([1, 5, 300, 1000]))
def test_copies_are_those_of_a_plain_comparison(seed: int, columns: int, rows: int) -> None:
    """Under other labels, with gaps, with the same beginning and another end, or with the same sum."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (rows, columns)).astype(float)
    values[rng.random((rows, columns)) < 0.1] = np.nan
    for i in range(1, columns):
        earlier, way = values[:, rng.integers(i)], rng.integers(5)
        if way == 0:
            values[:, i] = 7.0 - earlier
        elif way == 1:
            values[:, i] = earlier
        elif way == 2:
            values[:, i] = earlier
            values[-1, i] = 2.0 - np.nan_to_num(earlier[-1])
        elif way == 3:
            values[:, i] = earlier[::-1]
    kinds = rng.choice(["discrete", "continuous"], columns).tolist()
    names = [f"c{i}" for i in range(columns)]
    table = as_table(values, names, kinds=dict(zip(names, kinds, strict=True)))
    assert copies_in(table) == naive_ci.copies(names, kinds, values)
    codes = np.stack([table.codes(i) for i in range(columns)])
    assert coded_copies(names, codes) == naive_ci.copies(names, ["discrete"] * columns, values)


def test_codes_and_levels_of_a_table() -> None:
    table = as_table({"a": [3.0, np.nan, 1.0, 3.0], "b": ["x", "x", None, "y"], "c": [np.nan] * 4})
    assert [table.codes(i).tolist() for i in range(3)] == [[1, -1, 0, 1], [0, 0, -1, 1], [-1] * 4]
    assert [table.n_levels(i) for i in range(3)] == [2, 2, 0]
    assert table.codes(0) is table.codes(0)
