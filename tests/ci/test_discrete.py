"""G² and χ² against plain contingency tables, through all three ways of counting."""

from __future__ import annotations

import tracemalloc

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_ci
from anypag.ci.base import Queries
from anypag.ci.discrete import ChiSquared, GSquared
from anypag.errors import DataError

TESTS = {"log-likelihood": GSquared, "pearson": ChiSquared}


def levels(rows: int, counts: list[int], seed: int) -> npt.NDArray[np.float64]:
    """Columns with these numbers of levels, each leaning on the one before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, counts[0], size=rows)]
    for count in counts[1:]:
        leans = rng.random(rows) < 0.3
        columns.append(np.where(leans, columns[-1], rng.integers(0, count, size=rows)) % count)
    return np.column_stack(columns).astype(float)


def compare(values: npt.NDArray[np.float64], family: str, queries: Queries) -> None:
    test = TESTS[family](values, singular="keep")
    statistics, freedoms, rows = test.statistics(queries)
    expected = [
        naive_ci.count_test(values, x, y, z, power_divergence=family)
        for x, y, z in zip(queries.x, queries.y, queries.z.tolist(), strict=True)
    ]
    np.testing.assert_allclose(statistics, [e[0] for e in expected], rtol=1e-9, atol=1e-8)
    assert freedoms.tolist() == [e[1] for e in expected]
    np.testing.assert_allclose(test.pvalues(queries), [e[2] for e in expected], rtol=0, atol=1e-10)
    assert set(rows.tolist()) == {len(values)}


def random_queries(columns: int, r: int, count: int, seed: int) -> Queries:
    rng = np.random.default_rng(seed)
    picks = np.array([rng.permutation(columns)[: r + 2] for _ in range(count)])
    return Queries(picks[:, 0], picks[:, 1], picks[:, 2:])


@pytest.mark.parametrize("family", TESTS)
@pytest.mark.parametrize("r", range(5))
@pytest.mark.parametrize(
    "counts", [[2] * 7, [3] * 7, [2, 3, 4, 2, 5, 3, 2], [30, 25, 40, 3, 20, 35, 2]], ids=["2", "3", "2-5", "2-40"]
)
def test_agrees_with_a_plain_contingency_table(family: str, r: int, counts: list[int]) -> None:
    compare(levels(300, counts, seed=r), family, random_queries(7, r, 15, seed=r))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(12, 70),
    counts=st.lists(st.integers(2, 5), min_size=4, max_size=6),
    family=st.sampled_from(sorted(TESTS)),
)
def test_agrees_on_small_tables_with_many_empty_cells(seed: int, rows: int, counts: list[int], family: str) -> None:
    values = levels(rows, counts, seed)
    if (values.min(axis=0) < values.max(axis=0)).all():
        compare(values, family, random_queries(len(counts), 2, 8, seed))


@pytest.mark.parametrize("rows", [63, 64, 65, 128])
def test_binary_columns_of_few_rows(rows: int) -> None:
    compare(levels(rows, [2] * 4, seed=rows), "pearson", random_queries(4, 1, 10, seed=rows))


def test_large_condition_sets_take_no_more_memory_than_rows() -> None:
    rng = np.random.default_rng(0)
    test = GSquared(rng.integers(0, 20, size=(10_000, 9)))
    query = Queries.one(0, 1, range(2, 9))
    test.pvalues(query)
    tracemalloc.start()
    p = test.pvalues(query)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert p.tolist() == [1.0]  # 20**7 strata: hardly two rows share one, so no dependence can be shown
    assert peak < 64 * 10_000 * 8  # the time it takes is in benchmarks/ci_tests.py


def test_text_and_truth_values_are_levels() -> None:
    rng = np.random.default_rng(0)
    smokes = rng.random(200) < 0.5
    sick = np.where(rng.random(200) < 0.8, smokes, ~smokes)
    test = GSquared({"smokes": smokes, "sick": np.where(sick, "yes", "no")})
    as_numbers = GSquared(np.column_stack([smokes, sick]).astype(int))
    assert test.pvalues(Queries.one(0, 1)) == as_numbers.pvalues(Queries.one(0, 1))
    assert test.pvalues(Queries.one(0, 1)) < 1e-6


def test_pairwise_uses_the_rows_of_each_test() -> None:
    values = levels(400, [2, 3, 2, 4, 2], seed=5)
    gaps = np.random.default_rng(5).random(values.shape) < 0.1
    gaps[:, 0] = False
    with_gaps = np.where(gaps, np.nan, values)
    test = GSquared(with_gaps, missing="pairwise")
    for r in range(3):
        queries = random_queries(5, r, 15, seed=r)
        for i, (x, y, z) in enumerate(zip(queries.x, queries.y, queries.z.tolist(), strict=True)):
            complete = with_gaps[~np.isnan(with_gaps[:, [x, y, *z]]).any(axis=1)]
            expected = naive_ci.count_test(complete, x, y, z, power_divergence="log-likelihood")
            assert abs(test.pvalues(queries)[i] - expected[2]) < 1e-10
            assert test.effective_n(queries)[i] == len(complete)


def test_a_column_of_identifiers_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(DataError) as caught:
        GSquared({"id": np.arange(50), "a": rng.integers(0, 2, 50)})
    assert str(caught.value) == (
        "In column 'id' every value is different (50 levels), as in an identifier. "
        "Drop it; if it is a quantity, declare it continuous ('kinds')."
    )


def test_a_relabelled_copy_is_refused_or_kept() -> None:
    a = np.random.default_rng(0).integers(0, 3, 50)
    table = {"a": a, "b": np.array(["x", "q", "m"])[a]}
    with pytest.raises(DataError, match="Columns 'a' and 'b' are the same"):
        GSquared(table)
    assert GSquared(table, singular="keep").pvalues(Queries.one(0, 1)) < 1e-6


def test_rows_behind_an_answer_are_all_of_them_where_none_has_a_gap() -> None:
    rows = np.random.default_rng(2).integers(0, 3, (50, 4)).astype(float)
    queries = Queries([0, 1], [1, 2], [[3], [3]])
    assert GSquared(rows, singular="keep").effective_n(queries).tolist() == [50, 50]
    rows[5:9, 2] = np.nan
    assert GSquared(rows, singular="keep", missing="pairwise").effective_n(queries).tolist() == [50, 46]
