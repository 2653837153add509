"""Merged levels: against a slow twin, in any order of columns, and what they are for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.scores.discrete import MOST_LEVELS_OF_A_CHILD, DiscreteScore
from anypag.scores.merged_levels import merged
from naive_scores import merged_groups

Levels = npt.NDArray[np.int32]


def table_of(seed: int, n_levels: int, groups: int, rows: int = 300) -> Levels:
    """A column whose levels fall into groups; two columns that depend on the group, and one on nothing."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, rows - n_levels)])
    group = x % groups
    effects = [np.where(rng.random(rows) < 0.8, group % size, rng.integers(0, size, rows)) for size in (2, 4)]
    columns = [x, *effects, rng.integers(0, 3, rows)]
    return np.array([np.unique(column, return_inverse=True)[1] for column in columns], np.int32)


@given(st.integers(0, 10**6), st.integers(3, 9), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_levels_are_merged_as_the_slow_twin_says(seed: int, n_levels: int, groups: int) -> None:
    levels = table_of(seed, n_levels, groups, rows=60)
    found = merged(levels, most=2)
    for column, codes in enumerate(levels):
        of_twin = merged_groups(levels.astype(np.int64), column)
        expected = np.array(of_twin)[codes] if codes.max() > 1 else codes
        assert (found[column] == expected).all()


@given(st.integers(0, 10**6), st.permutations(range(4)))
@settings(deadline=None, max_examples=20)
def test_the_order_of_columns_has_no_effect(seed: int, order: list[int]) -> None:
    levels = table_of(seed, 9, 3)
    assert (merged(levels[order], 3) == merged(levels, 3)[order]).all()


def test_levels_that_act_alike_are_one_and_levels_that_act_differently_are_not() -> None:
    levels = table_of(1, 12, 3, rows=2000)
    x = merged(levels, MOST_LEVELS_OF_A_CHILD)[0]
    groups = {(int(before) % 3, int(after)) for before, after in zip(levels[0], x, strict=True)}
    assert len(groups) == len({after for _, after in groups})  # none has levels that act differently
    assert 3 <= len(groups) <= 4  # one of twelve may look different by chance


def test_columns_with_few_levels_and_single_columns_keep_theirs() -> None:
    levels = table_of(2, 6, 1)
    assert (merged(levels, MOST_LEVELS_OF_A_CHILD) == levels).all()
    assert (merged(levels[:1], 2) == levels[:1]).all()


def test_an_edge_at_a_column_with_many_levels_is_found_in_few_rows() -> None:
    """Twenty levels in two groups: their edge costs 19 parameters unmerged, which 150 rows do not pay."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 20, 150)
    y = np.where(rng.random(150) < 0.75, x % 2, 1 - x % 2)
    levels = np.array([x, y, rng.integers(0, 2, 150)], np.int32)
    names = ("x", "y", "z")
    assert not DiscreteScore(names, levels).association.any()
    assert DiscreteScore.priced(names, levels).association[0, 1] * 150 > 20
    pag = ap.learn(dict(zip(names, levels, strict=True)), method="boss", test="gsq").pag
    assert [str(edge) for edge in pag.edges()] == ["x o-o y"]
