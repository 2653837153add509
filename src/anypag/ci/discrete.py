"""Tests of independence for discrete columns: χ² by its permutations, G² and Pearson's χ² (`ci.counting` counts).

A search that takes the best of an edge's condition sets needs only the largest of hundreds of p-values. Sums of k · log
k over the cells of tables give G² in a fraction of the time that the logarithm of every cell takes, but not to the last
bit. So they only preselect: every set that may be the best is computed again, exactly. Sets with more than two cells
for each row are summed row by row, touching only the strata that have rows; a batch takes at most 450 bytes a row.

A statistic s that is wrong by at most ε, with f degrees of freedom, has a log p that is wrong by at most ε times the
hazard rate of χ². For f > 1 that rate is at most 1/2, for f = 1 it falls with s and is below 0.77 from s = 1 on. So
with ε ≤ 1e-5 p-values below 0.3 are known to a relative 1e-5; and all to 0.003, since P(χ² ≤ ε) < sqrt(2ε / π).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats
from anypag.ci.base import PValues, Queries
from anypag.ci.counting import Answers, CountTest
from anypag.ci.data_test import pvalues_of_statistic, strength_of_statistic
from anypag.data.audit.rows import ROWS_PER_LEVEL
from anypag.data.findings import Audit, Finding
from anypag.data.levels import Codes
from anypag.errors import Option, Sentence

LEAST_SETS = 6
"""Preselecting pays from this many questions a pair on average."""
LEAST_CELLS = 100_000
"""Preselecting pays from this many cells in all tables together: it takes 0.2 to 0.3 milliseconds itself."""
MOST_ROUNDING = 1e-5
"""With more (from 17,000 rows on) nothing is preselected."""
_SMALL = 0.3
"""Smaller p-values are compared by their ratio, larger ones by their difference."""
_LEAST = 1e-300
"""Below this, p-values may underflow, and any of them may be the largest."""
_NONE_LEFT = 4000.0
"""A statistic larger than this plus twice its degrees of freedom has p = 0: by Chernoff's bound log p < -1400."""
_CELLS_TO_SUM = 2
"""Up to this many cells a row, a sum over all cells is faster than one over the rows."""
_CELLS_PER_ROW = 16
"""The most combinations of levels, of x and y and of z each, for a table of which only strata with rows are touched."""
_PEARSON, _LOG_LIKELIHOOD, _PERMUTATIONS = 1, 2, 3
_LEAST_SKEWNESS = 1e-3
"""Below this skewness Pearson's curve is taken as normal."""


class PermutationChiSquared(CountTest):
    """χ² of each stratum against the exact mean, variance and skewness it has when the rows are permuted.

    The statistic of a stratum with n rows is X = n Σ (o - e)² / ((R + 1)(C + 1)) over the cells of its table: o rows
    observed, e = R C / n expected, R and C the rows of the cell's two levels. The added 1 limits the influence of
    levels with few rows. If x and y are independent given z, all ways to assign the values of y to the rows of a
    stratum are equally likely; the first three cumulants of X over all of them have a closed form. X and its cumulants
    are summed over strata, and p is the upper tail of Pearson's type III distribution (a shifted gamma) that has these
    cumulants.

    Its error rate is right where G² and χ² fail: many levels, many strata, rare or uneven levels (`docs/tests.md`).
    Strata with fewer than three rows, or with one level of x or of y, are ignored. If none is left, p = 1.

    Args:
        data: any table, every column of which is taken as discrete; see `anypag.data.as_table`. Of a table of counts
            (`anypag.counted`) the counts are weights; a table in an engine (DuckDB, Dask, ...) is counted there.
        names: for an array, the names of its columns; otherwise, which columns to use.
        missing: "error" (missing values raise an error), "drop" (rows with any are left out), "pairwise" (each test
            leaves out the rows in which its own columns have gaps).
        singular: "error" (columns that repeat others raise an error), "keep" (they stay).
        max_r: the largest condition set that will be asked for, if known; only for the warning about too few
            rows.

    >>> coins = np.random.default_rng(0).integers(0, 2, size=(500, 2))
    >>> test = PermutationChiSquared(np.column_stack([coins, coins.sum(axis=1)]), ["a", "b", "sum"])
    >>> (test.pvalues(Queries([0, 0], [1, 2], np.empty((2, 0)))) < 0.01).tolist()
    [False, True]
    """

    fits = "columns are categories"
    _family = _PERMUTATIONS

    @staticmethod
    def _room_for(b: int) -> Answers:
        return np.empty(b), np.empty((b, 3)), np.empty(b, np.int64)

    def statistics(self, queries: Queries) -> tuple[Floats, Floats, Counts]:
        """The statistics (b,), their first three cumulants under permutation (b, 3), and the rows they rest on (b,)."""
        return super().statistics(queries)

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) p-values."""
        statistics, cumulants, _ = self.statistics(queries)
        return pvalues_of_cumulants(statistics, cumulants)

    def strength(self, queries: Queries) -> Floats:
        """(b,) how strongly the data speak for dependence, in [0, 1]; see `strength_of_statistic`."""
        statistics, cumulants, rows = self.statistics(queries)
        return strength_of_statistic(statistics, cumulants[:, 0], rows)

    def _is_packed(self, queries: Queries) -> npt.NDArray[np.bool_]:
        return np.zeros(len(queries), np.bool_)

    def _count_codes(self, queries: Queries) -> Answers:
        from anypag._kernels.joint_tables import permutations_by_rows

        answers = self._room_for(len(queries))
        rows = self.distinct, self.weights, self._levels
        permutations_by_rows(*rows, queries.x, queries.y, queries.z, *answers)
        return answers


def sparse_table_findings(names: Sequence[str], levels: Counts, n: int, test: str) -> list[Finding]:
    """A warning where two or three columns have too many combinations of levels for a statistic to follow χ².

    >>> [found.columns for found in sparse_table_findings(["a", "b", "c"], np.array([15, 2, 12]), 500, "GSquared")]
    [('a', 'c')]
    """
    most = np.argsort(-levels, kind="stable")
    for k in (2, 3):
        cells = int(np.prod(levels[most[:k]].astype(np.float64)))
        if len(names) >= k and cells * ROWS_PER_LEVEL > n:
            columns = tuple(names[i] for i in np.sort(most[:k]))
            message = (
                f"The table of {', '.join(map(repr, columns[:-1]))} and {columns[-1]!r} has {cells:,} cells for {n:,} "
                f"rows. {test} wants {ROWS_PER_LEVEL} rows a cell: with fewer it may find dependences that are not "
                "there."
            )
            remedy = Sentence("Choose ", Option("test", "permutation"), ".")
            return [Finding("warning", "cells", columns, message, remedy)]
    return []


def pvalues_of_cumulants(statistics: Floats, cumulants: Floats) -> PValues:
    """The upper tail of Pearson's type III with these cumulants (b, 3); 1 where there is no variance.

    >>> pvalues_of_cumulants(np.array([4.0, 4.0]), np.array([[1.0, 2.0, 8.0], [1.0, 0.0, 0.0]])).round(4).tolist()
    [0.0455, 1.0]
    """
    from scipy.special import gammaincc, ndtr

    mean, variance, third = cumulants.T
    deviation = np.sqrt(np.where(variance > 0.0, variance, 1.0))
    z, skewness = (statistics - mean) / deviation, third / deviation**3
    is_skewed = skewness > _LEAST_SKEWNESS
    shape = 4.0 / np.square(np.where(is_skewed, skewness, 1.0))
    tail = np.where(is_skewed, gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0)), ndtr(-z))
    return np.where(variance > 0.0, tail, 1.0)


class _ChiSquaredTest(CountTest):
    """A test whose statistic follows χ² where cells have rows enough; the audit warns where they have not."""

    fits = "columns are categories, with rows enough for their combinations"

    def _set_up(self, names: tuple[str, ...], codes: Codes, weights: Counts, audit: Audit) -> None:
        super()._set_up(names, codes, weights, audit)
        sparse = sparse_table_findings(sorted(names), self._levels, self.n, type(self).__name__)
        self.audit = replace(audit, findings=(*audit.findings, *sparse))


class GSquared(_ChiSquaredTest):
    """The likelihood-ratio test of independence, G². Arguments as for `PermutationChiSquared`.

    It rejects too often where cells have few rows each: many levels, or many strata.

    >>> coins = np.random.default_rng(0).integers(0, 2, size=(500, 2))
    >>> test = GSquared(np.column_stack([coins, coins.sum(axis=1)]), ["a", "b", "sum"])
    >>> (test.pvalues(Queries([0, 0], [1, 2], np.empty((2, 0)))) < 0.01).tolist()
    [False, True]
    """

    _family = _LOG_LIKELIHOOD
    _least_cells: ClassVar[int] = LEAST_CELLS

    @cached_property
    def _terms(self) -> Floats:
        """k · log k of each count that there may be."""
        k = np.arange(1.0, self.n + 1)
        return np.append(0.0, k * np.log(k))

    def largest_pvalues(self, queries: Queries) -> PValues:
        """(b,) p-values of which only the largest of each run of questions about one pair are needed.

        Quick statistics come first. Questions that may have the largest p-value of their run, ties included, are then
        answered as `pvalues` does, to the bit; the others get 0.
        """
        may_be = self._may_be_largest(queries)
        answers = np.zeros(len(queries))
        answers[may_be] = self.pvalues(queries.take(may_be))
        return answers

    def _may_be_largest(self, queries: Queries) -> Flags:
        """(b,) which may have the largest p-value; all, if finding out costs more than it saves, or rounds too much."""
        every = np.ones(len(queries), np.bool_)
        if not len(queries) or self._grouped is not None or self.has_gaps:
            return every
        queries = self._stored_at(queries)
        run_of, cells = runs_of_pairs(queries), self._cells(queries)
        is_much = np.minimum(cells, self.n).sum() >= self._least_cells and len(queries) >= LEAST_SETS * (run_of[-1] + 1)
        if not is_much or rounding(int(min(cells.max(), 2.0**40)), self.n) > MOST_ROUNDING:
            return every
        fits_rows = self._levels[queries.x] * self._levels[queries.y] <= _CELLS_PER_ROW
        fits_rows &= (self._levels[queries.z] <= _CELLS_PER_ROW).all(axis=1)
        joint = self._is_joint(queries) & ((cells <= _CELLS_TO_SUM * len(self.weights)) | ~fits_rows)
        return may_be_largest(*self._nearly(queries, joint), run_of) if (joint | fits_rows).all() else every

    def _nearly(self, queries: Queries, joint: Flags) -> tuple[Floats, Counts]:
        """(b,) each: quick statistics and degrees of freedom; from tables of all combinations if `joint`."""
        from anypag._kernels.joint_tables import statistics_by_rows

        statistics, freedoms, _ = self._room_for(len(queries))
        if joint.any():
            statistics[joint], freedoms[joint], _ = self._count_jointly(queries.take(joint), self._terms)
        if not joint.all():
            some, found = queries.take(~joint), self._room_for(int((~joint).sum()))[:2]
            rows = self.distinct, self.weights, self._levels, _CELLS_PER_ROW * len(self.weights)
            statistics_by_rows(*rows, some.x, some.y, some.z, self._terms, *found)
            statistics[~joint], freedoms[~joint] = found
        return statistics, freedoms


def rounding(cells: int, n: int) -> float:
    """A bound on the rounding error of a sum over a table, given its cells and rows.

    Cells, rows, columns and strata come in four sums of at most n · log n each, and each of at most 4 · cells additions
    rounds a partial sum of these by one part in 2⁵³; the errors of the terms themselves double this. Empty cells add no
    error, and at most n cells have rows.
    """
    return 2.0**-52 * (4 * min(cells, n) + 16) * 4 * n * math.log(n + 1.0)


def runs_of_pairs(queries: Queries) -> Counts:
    """(b,) the number of the run of questions about one pair, from 0 on.

    >>> runs_of_pairs(Queries([0, 0, 1, 0], [2, 2, 2, 2], [[3], [4], [3], [3]])).tolist()
    [0, 0, 1, 2]
    """
    is_new = (np.diff(queries.x) != 0) | (np.diff(queries.y) != 0)
    return np.append(0, np.cumsum(is_new, dtype=np.int64))[: len(queries)]


def may_be_largest(statistics: Floats, freedoms: Counts, run_of: Counts) -> Flags:
    """(b,) whether a statistic may have the largest p-value of its run, ties included; False where p is certainly 0.

    Args:
        statistics: off by at most `MOST_ROUNDING`; freedoms: exact; run_of: ascending from 0 on.
    """
    p = pvalues_of_statistic(np.maximum(statistics, 0.0), freedoms)
    begins = np.flatnonzero(np.append(True, np.diff(run_of) > 0))
    largest = np.maximum.reduceat(p, begins)[run_of]
    least = np.where(largest > _SMALL, largest - 0.01, largest * (1 - 1e-4))
    is_near = (p >= least) | (largest < _LEAST)
    found: Flags = is_near & (statistics <= 2 * freedoms + _NONE_LEFT)
    return found


class ChiSquared(_ChiSquaredTest):
    """Pearson's test of independence, χ². Arguments as for `PermutationChiSquared`.

    It rejects too often with many strata, rare levels or very uneven ones.
    """

    _family = _PEARSON
