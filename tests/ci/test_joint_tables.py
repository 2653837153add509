"""Sets of columns counted once for all the questions within them: the statistics of row-by-row counting, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag._kernels import discrete
from anypag._kernels.patience import plain
from anypag.ci.base import Queries
from anypag.ci.discrete import ChiSquared, GSquared
from anypag.data.findings import Audit


def assert_same_bits_row_by_row(test: GSquared | ChiSquared, asked: Queries) -> None:
    """What tables that serve several sets give is what counting the rows for each set gives."""
    found = test.statistics(asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(test), "_is_joint", lambda self, queries: np.zeros(len(queries), np.bool_))
        wanted = test.statistics(asked)
    for got, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(right))


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(3, 12),
    st.sampled_from([8, 30, 64, 1000, 4000]),
    st.integers(0, 5),
    st.sampled_from([2, 3, 4, 6]),
    st.sampled_from([GSquared, ChiSquared]),
    st.sampled_from([0.0, 0.05]),
)
def test_joint_tables_give_the_same_bits(
    seed: int, columns: int, rows: int, r: int, most: int, kind: type[GSquared] | type[ChiSquared], gaps: float
) -> None:
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, most + 1, columns)
    common = rng.integers(0, 12, rows)
    data = np.stack([(common // k + rng.integers(0, 2, rows) * rng.integers(0, k, rows)) % k for k in levels], axis=1)
    data[:2] = np.array([[0], [1]])  # no column is constant
    is_gap = rng.random(data.shape) < gaps
    is_gap[:2] = False
    values = np.where(is_gap, np.nan, data)
    names = [f"c{i}" for i in rng.permutation(columns)]
    test = kind(values, names, singular="keep", missing="pairwise" if gaps else "error")
    r = min(r, columns - 2)
    picks = rng.random((80, columns)).argsort(axis=1)[:, : r + 2]
    asked = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
    assert_same_bits_row_by_row(test, asked)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 5), min_size=4, max_size=9),
    st.integers(0, 3),
    st.sampled_from([GSquared, ChiSquared]),
)
def test_resamples_give_the_same_bits(
    seed: int, levels: list[int], r: int, kind: type[GSquared] | type[ChiSquared]
) -> None:
    """Rows that count several times, and columns that never change, as they come in resamples."""
    rng, r = np.random.default_rng(seed), min(r, len(levels) - 2)
    codes = np.stack([np.append(rng.integers(0, k, 300), np.arange(9) % k) for k in levels]).astype(np.int32)
    names = tuple(f"c{i}" for i in rng.permutation(len(levels)))
    weights = np.asarray(rng.integers(1, 20, codes.shape[1]), np.int64)
    test = kind.from_codes(names, codes, weights, Audit.of(()))
    picks = rng.random((60, len(levels))).argsort(axis=1)[:, : r + 2]
    asked = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
    assert_same_bits_row_by_row(test, asked)


def test_a_table_that_would_be_large_is_not_made() -> None:
    """20 columns of 4 levels would have 10¹² cells."""
    data = np.random.default_rng(0).integers(0, 4, (200, 22))
    test = GSquared(data, max_r=20)
    assert not test._is_joint(Queries.one(0, 1, range(2, 22))).any()
    assert test._is_joint(Queries.one(0, 1, range(2, 4))).all()
    assert 0.0 <= test.pvalues(Queries.one(0, 1, range(2, 22)))[0] <= 1.0


@pytest.mark.parametrize("kind", [GSquared, ChiSquared])
def test_plain_python_gives_the_same_bits(kind: type[GSquared] | type[ChiSquared]) -> None:
    """Small tables are worked on before anything is compiled (`_kernels.patience`)."""
    rng = np.random.default_rng(0)
    for most in (2, 3, 4):
        data = np.stack([rng.integers(0, most, 60) for _ in range(6)], axis=1)
        data[:2] = np.array([[0], [1]])
        picks = rng.random((25, 6)).argsort(axis=1)[:, :4]
        asked = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
        test = kind(data, singular="keep")
        compiled = test.statistics(asked)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(discrete, "joint_statistics", plain(discrete.joint_statistics))
            for got, right in zip(test.statistics(asked), compiled, strict=True):
                np.testing.assert_array_equal(np.asarray(got), np.asarray(right))
