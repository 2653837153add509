"""χ² by its permutations: cumulants by enumeration, the same bits by every way to count, sizes where G² fails."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import anypag as ap
import naive_ci
from anypag._kernels import discrete
from anypag._kernels.patience import plain
from anypag.ci import counting
from anypag.ci.base import Queries
from anypag.ci.counting import CountTest
from anypag.ci.discrete import ChiSquared, GSquared, PermutationChiSquared, pvalues_of_cumulants
from anypag.data.findings import Audit

Array = npt.NDArray[np.float64]


def few_rows(most_rows: int = 7) -> st.SearchStrategy[list[tuple[int, int]]]:
    """The levels of x and y in a few rows."""
    return st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=most_rows)


def numbered(levels: list[int]) -> npt.NDArray[np.int32]:
    return np.unique(levels, return_inverse=True)[1].astype(np.int32)


@settings(max_examples=80, deadline=None)
@given(few_rows())
def test_cumulants_are_those_of_all_permutations(rows: list[tuple[int, int]]) -> None:
    x, y = (numbered([row[k] for row in rows]) for k in (0, 1))
    assume(x.max() > 0 and y.max() > 0)
    test = PermutationChiSquared.from_codes(("x", "y"), np.stack([x, y]), np.ones(len(x), np.int64), Audit.of(()))
    statistics, cumulants, n = test.statistics(Queries.one(0, 1))
    wanted = naive_ci.permuted_cumulants(x.tolist(), y.tolist())
    if wanted[1] < 1e-9:  # the statistic is the same for all permutations: the stratum says nothing
        assert statistics.tolist() == [0.0] and not cumulants.any()
        return
    observed = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(observed, (x, y), 1.0)
    assert n.tolist() == [len(x)]
    assert statistics[0] == pytest.approx(naive_ci.permutation_statistic(observed), rel=1e-12)
    np.testing.assert_allclose(cumulants[0], wanted, rtol=1e-9, atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.lists(few_rows(5), min_size=1, max_size=4))
def test_strata_add_up(strata: list[list[tuple[int, int]]]) -> None:
    values = np.array([(x, y, z) for z, rows in enumerate(strata) for x, y in rows], np.float64)
    codes = np.stack([numbered(column.tolist()) for column in values.T])
    assume((codes.max(axis=1) > 0)[:2].all())
    test = PermutationChiSquared.from_codes(("x", "y", "z"), codes, np.ones(len(values), np.int64), Audit.of(()))
    statistics, cumulants, _ = test.statistics(Queries.one(0, 1, [2]))
    statistic, wanted, p = naive_ci.permutation_test(values, 0, 1, [2])
    assert statistics[0] == pytest.approx(statistic, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(cumulants[0], wanted, rtol=1e-8, atol=1e-9)
    assert test.pvalues(Queries.one(0, 1, [2]))[0] == pytest.approx(p, rel=1e-6, abs=1e-9)


def random_test(seed: int, rows: int, levels: list[int], *, weighted: bool = False) -> PermutationChiSquared:
    """Columns that depend on each other, in an order that is not that of their names."""
    rng = np.random.default_rng(seed)
    common = rng.integers(0, 12, rows)
    drawn = [(common // k + rng.integers(0, 2, rows) * rng.integers(0, k, rows)) % k for k in levels]
    codes = np.stack([numbered(column.tolist()) for column in drawn])
    names = tuple(f"c{i}" for i in rng.permutation(len(levels)))
    weights = np.asarray(rng.integers(1, 9, rows) if weighted else np.ones(rows), np.int64)
    return PermutationChiSquared.from_codes(names, codes, weights, Audit.of(()))


def random_queries(seed: int, columns: int, r: int, count: int = 60) -> Queries:
    picks = np.random.default_rng(seed).random((count, columns)).argsort(axis=1)[:, : r + 2]
    return Queries(picks[:, 0], picks[:, 1], picks[:, 2:])


tables = given(
    st.integers(0, 10**6),
    st.sampled_from([8, 30, 300, 2000]),
    st.lists(st.integers(1, 6), min_size=4, max_size=9),
    st.integers(0, 4),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@tables
def test_every_way_to_count_gives_the_same_bits(
    seed: int, rows: int, levels: list[int], r: int, weighted: bool
) -> None:
    test = random_test(seed, rows, levels, weighted=weighted)
    asked = random_queries(seed, len(levels), min(r, len(levels) - 2))
    arranged = test.arranged(asked)
    by_rows = test._count_codes(arranged)
    fits = test._is_joint(arranged)
    found = test.statistics(asked)
    for got, right in zip(found, by_rows, strict=True):
        np.testing.assert_array_equal(got, right)
    for got, right in zip(test._count_jointly(arranged.take(fits)) if fits.any() else (), by_rows, strict=False):
        np.testing.assert_array_equal(got, right[fits])


@settings(max_examples=30, deadline=None)
@tables
def test_answers_do_not_depend_on_how_a_question_is_written(
    seed: int, rows: int, levels: list[int], r: int, weighted: bool
) -> None:
    """Neither on which of two columns comes first, nor on the order of z, nor on the other questions of a batch."""
    test = random_test(seed, rows, levels, weighted=weighted)
    asked = random_queries(seed, len(levels), min(r, len(levels) - 2), 20)
    p = test.pvalues(asked)
    np.testing.assert_array_equal(p, test.pvalues(Queries(asked.y, asked.x, asked.z[:, ::-1])))
    np.testing.assert_array_equal(p, [test.pvalues(asked.take(slice(k, k + 1)))[0] for k in range(len(asked))])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(2, 5), min_size=4, max_size=6), st.sampled_from([3, 40, 400]))
def test_weights_are_rows_repeated_in_any_order(seed: int, levels: list[int], rows: int) -> None:
    test = random_test(seed, rows, levels, weighted=True)
    order = np.random.default_rng(seed).permutation(test.n)
    repeated = test.codes[:, order]
    again = PermutationChiSquared.from_codes(test.names, repeated, np.ones(test.n, np.int64), Audit.of(()))
    for r in range(3):
        asked = random_queries(seed, len(levels), r, 20)
        np.testing.assert_array_equal(test.pvalues(asked), again.pvalues(asked))
        np.testing.assert_array_equal(test.strength(asked), again.strength(asked))


@pytest.mark.parametrize("kind", [PermutationChiSquared, GSquared, ChiSquared])
@pytest.mark.parametrize("gaps", [False, True], ids=["no gaps", "gaps"])
def test_a_long_table_of_few_distinct_rows_is_counted_by_these_with_the_same_bits(
    kind: type[CountTest], gaps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    patterns = np.column_stack([rng.integers(-gaps, many, 60) for many in (2, 3, 9, 2, 12, 7)]).T
    codes = np.ascontiguousarray(
        patterns[:, rng.permutation(np.repeat(np.arange(60), rng.integers(1, 20, 60)))], np.int32
    )
    weights, names = np.asarray(rng.integers(1, 4, codes.shape[1]), np.int64), tuple("abcdef")
    every = [random_queries(r, 6, r) for r in range(5)]
    by_rows = kind.from_codes(names, codes, weights, Audit.of([]))
    monkeypatch.setattr(counting, "_LONG", 100)
    by_groups = kind.from_codes(names, codes, weights, Audit.of([]))
    assert by_rows.n_distinct == len(weights) > 8 * by_groups.n_distinct and by_groups.n == by_rows.n
    for queries in every:
        for one, other in zip(by_rows.statistics(queries), by_groups.statistics(queries), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(by_groups.distinct, by_rows.distinct)  # resamples and scores take rows in their order


def test_gaps_are_left_out_of_each_question() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, [2, 3, 4, 2], size=(300, 4)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    test = PermutationChiSquared(values, missing="pairwise")
    asked = random_queries(1, 4, 1, 12)
    assert test._is_joint(test.arranged(asked)).all()
    for got, right in zip(test.statistics(asked), test._count_codes(test.arranged(asked)), strict=True):
        np.testing.assert_array_equal(got, right)
    for k, (x, y, z) in enumerate(zip(asked.x, asked.y, asked.z.tolist(), strict=True)):
        complete = values[~np.isnan(values[:, [x, y, *z]]).any(axis=1)]
        alone = PermutationChiSquared(complete[:, [x, y, *z]])
        assert test.effective_n(asked)[k] == len(complete)
        assert test.pvalues(asked)[k] == pytest.approx(alone.pvalues(Queries.one(0, 1, [2]))[0], rel=1e-10)


def test_plain_python_gives_the_same_bits() -> None:
    """Small tables are worked on before anything is compiled (`_kernels.patience`)."""
    for levels in ([2] * 5, [3] * 5, [2, 3, 4, 5, 6]):
        test, asked = random_test(1, 60, levels), random_queries(1, 5, 2, 15)
        compiled = test.statistics(asked)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(discrete, "joint_statistics", plain(discrete.joint_statistics))
            for got, right in zip(test.statistics(asked), compiled, strict=True):
                np.testing.assert_array_equal(got, right)


def test_a_normal_curve_is_the_limit_of_no_skewness() -> None:
    cumulants = np.array([[5.0, 2.0, s * 2.0**1.5] for s in (0.0, 0.9e-3, 1.1e-3, -1.0)])
    p = pvalues_of_cumulants(np.full(4, 8.0), cumulants)
    np.testing.assert_allclose(p, p[0], rtol=2e-3)
    np.testing.assert_allclose(pvalues_of_cumulants(np.array([1e9, -1e9]), cumulants[[2, 2]]), [0.0, 1.0])


@pytest.mark.parametrize(
    ("levels", "strata", "rows"), [(15, 1, 500), (10, 4, 1000), (15, 3, 1000), (3, 200, 1000), (2, 1, 40), (3, 9, 300)]
)
def test_sizes_are_right_where_tables_are_sparse(levels: int, strata: int, rows: int) -> None:
    """1,000 draws; G² rejects 17, 28, 75 and 100 % of the first four at 0.01."""
    rng = np.random.default_rng([levels, strata, rows])
    p = np.empty(1000)
    for k in range(len(p)):
        x, y, z = rng.integers(0, levels, rows), rng.integers(0, levels, rows), rng.integers(0, strata, rows)
        codes = np.stack([numbered(column.tolist()) for column in (x, y, z)])
        test = PermutationChiSquared.from_codes(("x", "y", "z"), codes, np.ones(rows, np.int64), Audit.of(()))
        p[k] = test.pvalues(Queries.one(0, 1, [2]))[0]
    assert (p < 0.01).mean() < 0.022  # three standard errors above 0.0125
    assert 0.02 < (p < 0.05).mean() < 0.08


def test_the_audit_says_where_the_other_tests_cannot_hold() -> None:
    rng = np.random.default_rng(0)
    sparse, full = rng.integers(0, 15, size=(500, 4)), rng.integers(0, 2, size=(500, 4))
    for kind in (ap.GSquared, ap.ChiSquared):
        assert str(kind(sparse, singular="keep").audit.findings[-1]) == (
            f"The table of 'X0' and 'X1' has 225 cells for 500 rows. {kind.__name__} needs 5 rows a cell: with fewer "
            'it may find dependences that are not there. Choose test="permutation".'
        )
        assert "cells" not in {found.problem for found in kind(full).audit.findings}
    assert "cells" not in {found.problem for found in PermutationChiSquared(sparse).audit.findings}


def test_independent_columns_of_many_levels_stay_apart() -> None:
    data = np.random.default_rng(0).integers(0, 15, size=(500, 8))
    assert len(ap.learn(data, method="icd", test="permutation").pag.edges()) <= 1
    assert len(ap.learn(data, method="icd", test="gsq").pag.edges()) >= 2
