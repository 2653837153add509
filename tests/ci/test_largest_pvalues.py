"""Which statistics may have the largest p-value: nothing that has it is ever left out, and its bits are the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import anypag as ap
from anypag.ci.base import Queries
from anypag.ci.data_test import pvalues_of_statistic
from anypag.ci.discrete import MOST_ROUNDING, GSquared, may_be_largest, rounding, runs_of_pairs
from anypag.data.findings import Audit
from naive_ci import largest_of_runs


def discrete_rows(seed: int, rows: int, columns: int, most: int) -> npt.NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, most + 1, columns)
    common = rng.integers(0, 12, rows)
    data = np.stack([(common // k + rng.integers(0, 2, rows) * rng.integers(0, k, rows)) % k for k in levels], axis=1)
    data[:2] = np.array([[0], [1]])  # no column is constant
    return data


class AnySize(GSquared):
    """Chooses first however little there is to choose from."""

    _least_cells = 0


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.integers(4, 9),
    st.sampled_from([20, 200, 3000, 20_000]),
    st.integers(2, 5),
    st.sampled_from([2, 3, 5]),
)
def test_the_largest_of_each_run_is_the_same_to_the_bit(seed: int, columns: int, rows: int, r: int, most: int) -> None:
    test = AnySize(discrete_rows(seed, rows, columns, most), singular="keep")
    rng, r = np.random.default_rng(seed), min(r, columns - 2)
    pairs = [rng.permutation(columns)[:2] for _ in range(5)]
    asked = [(x, y, rng.permutation(np.setdiff1d(range(columns), [x, y]))[:r]) for x, y in pairs for _ in range(12)]
    x, y, z = (np.array(part) for part in zip(*asked, strict=True))
    queries = Queries(x, y, z)
    wanted = largest_of_runs(queries, test.pvalues(queries))
    assert largest_of_runs(queries, test.largest_pvalues(queries)) == wanted


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 4), min_size=4, max_size=12),
    st.sampled_from([8, 60, 900]),
    st.integers(0, 9),
)
def test_going_by_the_rows_is_right_but_for_rounding(seed: int, levels: list[int], rows: int, r: int) -> None:
    """Against counting question by question; rows that count several times, and columns that never change, too."""
    rng, r = np.random.default_rng(seed), min(r, len(levels) - 2)
    drawn = [rng.integers(0, k, rows) * (rng.random(rows) < 0.7) for k in levels]
    codes = np.stack([np.unique(column, return_inverse=True)[1].astype(np.int32) for column in drawn])
    weights = np.asarray(rng.integers(1, 9, rows), np.int64)
    test = AnySize.from_codes(tuple(f"c{i}" for i in range(len(levels))), codes, weights, Audit.of(()))
    picks = np.sort(rng.random((40, len(levels))).argsort(axis=1)[:, : r + 2], axis=1)
    queries = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
    wanted, freedoms, _ = test._count_codes(queries)
    nearly, same_freedoms = test._nearly(queries, np.zeros(len(queries), np.bool_))
    np.testing.assert_array_equal(same_freedoms, freedoms)
    np.testing.assert_allclose(nearly, wanted, rtol=1e-10, atol=1e-8)
    assert np.abs(nearly - wanted).max() <= rounding(10**6, test.n)


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.integers(1, 60), st.floats(0.0, 1.0))
def test_nothing_that_may_be_the_largest_is_left_out(seed: int, count: int, spread: float) -> None:
    """Statistics near each other, off by as much as rounding allows, of few and of many degrees of freedom."""
    rng = np.random.default_rng(seed)
    freedoms = rng.choice([0, 1, 1, 2, 5, 400], count)
    p = np.clip(rng.choice([0.0, 1e-320, 1e-200, 1e-9, 0.02, 0.29, 0.31, 1.0]) * (1 + spread * rng.random(count)), 0, 1)
    exact = np.where(freedoms > 0, np.minimum(chi2.isf(p, np.maximum(freedoms, 1)), 1e5), 0.0)
    run_of = np.sort(rng.integers(0, 3, count))
    run_of = np.unique(run_of, return_inverse=True)[1].astype(np.int64)
    nearly = exact + MOST_ROUNDING * rng.uniform(-1, 1, count)
    kept, true = may_be_largest(nearly, freedoms, run_of), pvalues_of_statistic(exact, freedoms)
    for run in range(run_of.max() + 1):
        largest = true[run_of == run].max()
        left_out = (run_of == run) & ~kept
        assert (true[left_out] < largest).all() or (largest == 0.0 and (true[left_out] == 0.0).all())


def test_rounding_is_bounded_by_what_is_promised() -> None:
    rng = np.random.default_rng(1)
    for rows, columns in ((500, 6), (30_000, 7)):
        test = GSquared(discrete_rows(3, rows, columns, 3), singular="keep")
        picks = rng.random((100, columns)).argsort(axis=1)
        queries = Queries(picks[:, 0], picks[:, 1], picks[:, 2:])
        exact, freedoms, _ = test.statistics(queries)
        nearly, same_freedoms, _ = test._count_jointly(queries, test._terms)
        cells = int(test._levels.prod())
        assert (freedoms == same_freedoms).all()
        assert np.abs(exact - nearly).max() <= rounding(cells, rows) < 1e-3


@pytest.mark.parametrize("times", [1, 8])
def test_most_sets_are_left_out_and_searches_are_the_same(times: int) -> None:
    """Rows that come several times make for many edges, and so for sets with many more cells than rows."""
    system = ap.simulate.random_system(12, 3.0, seed=4)
    rows = np.repeat(system.discrete(4000 // times**2, levels=3, seed=4).rows, times, axis=0)
    left_out: list[int] = []

    class Watched(AnySize):
        def _may_be_largest(self, queries: Queries) -> npt.NDArray[np.bool_]:
            found = super()._may_be_largest(queries)
            left_out.append(int((~found).sum()))
            return found

    quick = [ap.learn(Watched(rows), threads=threads) for threads in (1, 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Watched, "largest_pvalues", None)
        slow = ap.learn(Watched(rows))
    assert sum(left_out) > slow.n_tests / 10
    for result in quick:
        assert result.n_tests == slow.n_tests
        assert [item.info.tests for item in result.history] == [item.info.tests for item in slow.history]
        assert dict(result.sepsets.items()) == dict(slow.sepsets.items())
        for edge in slow.pag.edges():
            assert result.kept_p(edge.a, edge.b) == slow.kept_p(edge.a, edge.b)


def test_few_questions_and_large_tables_are_answered_at_once() -> None:
    test = GSquared(discrete_rows(1, 100, 12, 3), singular="keep")
    assert runs_of_pairs(Queries(np.empty(0, int), np.empty(0, int), np.empty((0, 2), int))).tolist() == []
    assert test.largest_pvalues(Queries(np.empty(0, int), np.empty(0, int), np.empty((0, 2), int))).tolist() == []
    few = Queries([0] * 8, [1] * 8, [[2, 3 + k] for k in range(8)])
    assert test._may_be_largest(few).all()
    large = Queries([0] * 8, [1] * 8, [list(range(2, 12))] * 8)
    assert not test._is_joint(large).any()
    assert test.largest_pvalues(large).tolist() == test.pvalues(large).tolist()
