"""Multiple imputation: pooling against Rubin's rules by hand, tables without gaps, size, order of columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import anypag as ap
from anypag import FisherZ, Queries
from anypag.ci.slow.imputed import ImputedFisherZ, filled_in
from anypag.errors import DataError, ParameterError
from naive_ci import residuals

Array = npt.NDArray[np.float64]


def with_gaps(seed: int, rows: int = 200) -> Array:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 4)) @ rng.normal(size=(4, 4))
    values[rng.random(values.shape) < 0.15] = np.nan
    return values


def test_pools_by_rubins_rules() -> None:
    tables = filled_in(with_gaps(0), count=7)
    z = []
    for table in tables:
        rest = [residuals(table.values[:, k], table.values[:, [2, 3]]) for k in (0, 1)]
        z.append(float(np.arctanh(stats.pearsonr(*rest).statistic)))
    within, between = 1 / (200 - 2 - 3), np.var(z, ddof=1)
    total = within + (1 + 1 / 7) * between
    freedom = 6 * (1 + within / ((1 + 1 / 7) * between)) ** 2
    expected = 2 * stats.t.sf(abs(np.mean(z)) / np.sqrt(total), freedom)
    found = ImputedFisherZ(tables).pvalues(Queries([0, 1], [1, 0], [[2, 3], [3, 2]]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found[0] == found[1]


def test_without_gaps_it_is_fishers_z() -> None:
    values = np.random.default_rng(1).normal(size=(300, 4)) @ np.random.default_rng(2).normal(size=(4, 4))
    queries = Queries([0, 1, 2], [1, 2, 3], [[2], [0], [1]])
    found = ImputedFisherZ(filled_in(values, count=3)).pvalues(queries)
    np.testing.assert_allclose(found, FisherZ(values).pvalues(queries), rtol=1e-6, atol=1e-12)


def test_what_was_measured_stays_and_the_order_of_columns_has_no_say() -> None:
    values = with_gaps(3)
    names, order = ["a", "b", "c", "d"], [2, 0, 3, 1]
    tables = filled_in(values, names, count=2)
    known = ~np.isnan(values)
    for table in tables:
        assert np.array_equal(table.values[known], values[known])
        assert np.isfinite(table.values).all()
    assert not np.array_equal(tables[0].values, tables[1].values)
    other = filled_in(values[:, order], [names[k] for k in order], count=2)
    assert np.array_equal(tables[0].values[:, order], other[0].values)


@pytest.mark.slow
def test_the_size_is_right_where_rows_are_missing_at_random() -> None:
    rng, p = np.random.default_rng(5), []
    for seed in range(120):
        z, e = rng.normal(size=150), rng.normal(size=(150, 2))
        values = np.column_stack([z + e[:, 0], z + e[:, 1], z])
        values[rng.random(150) < 1 / (1 + np.exp(-values[:, 1])), 0] = np.nan
        p.append(ImputedFisherZ(filled_in(values, count=5, seed=seed)).pvalues(Queries.one(0, 1, [2]))[0])
    assert np.mean(np.array(p) < 0.05) < 0.12


def chains(rng: np.random.Generator, rows: int, columns: int) -> npt.NDArray[np.float64]:
    """Columns x, z, y of chains x -> z -> y: all x, then all z, then all y; three tenths of the values are missing."""
    noise = rng.normal(size=(3, rows, columns // 3))
    z = 0.8 * noise[0] + 0.6 * noise[1]
    values = np.concatenate([noise[0], z, 0.8 * z + 0.6 * noise[2]], axis=1)
    values[rng.random(values.shape) < 0.3] = np.nan
    return values


@pytest.mark.parametrize(("rows", "columns"), [(60, 30), (60, 36), (60, 60)])
def test_many_columns_for_the_rows_lose_no_true_edges(rows: int, columns: int) -> None:
    """Values stay near those that were measured, tests keep their size, and strong dependences are seen."""
    k, nothing, apart = np.arange(columns // 3), np.empty((columns // 3, 0), int), []
    for seed in range(3):
        values = chains(np.random.default_rng(seed), rows, columns)
        tables = filled_in(values, count=8)
        assert max(np.abs(table.values).max() for table in tables) < 2 * np.nanmax(np.abs(values))
        test = ImputedFisherZ(tables, singular="keep")
        assert (test.pvalues(Queries(k, k + len(k), nothing)) < 0.01).mean() > 0.8
        across = Queries(k, np.roll(k, 1) + 2 * len(k), nothing)
        through = Queries(k, k + 2 * len(k), (k + len(k))[:, None])
        apart += [*test.pvalues(across), *test.pvalues(through)]
    assert (np.array(apart) < 0.01).mean() < 0.06


def test_a_table_with_as_many_columns_as_rows_is_learned() -> None:
    values = chains(np.random.default_rng(0), 30, 30)
    assert ap.learn(values, test="imputed", max_r=1).pag.edges()


def test_learns_from_a_table_with_gaps() -> None:
    values = with_gaps(4)
    result = ap.learn(values, method="icd", test="imputed")
    assert result.n_tests > 0
    with pytest.raises(ParameterError, match="missing"):
        ap.learn(values, method="icd", test="imputed", missing="drop")
    with pytest.raises(DataError, match="Two or more"):
        ImputedFisherZ(filled_in(values, count=1))
    with pytest.raises(DataError, match="same columns"):
        ImputedFisherZ([filled_in(values)[0], filled_in(values[:100])[0]])
