"""Independence tests for discrete columns: χ² with permutations, G², Pearson's χ². `ci.counting` makes the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.ci.base import PValues, Queries
from anypag.ci.counting import Answers, CountTest
from anypag.ci.data_test import strength_of_statistic
from anypag.data.audit.rows import ROWS_PER_LEVEL
from anypag.data.findings import Audit, Finding
from anypag.data.levels import Codes
from anypag.errors import Option, Sentence

_PEARSON, _LOG_LIKELIHOOD, _PERMUTATIONS = 1, 2, 3
_LEAST_SKEWNESS = 1e-3  # below this skewness the normal distribution replaces Pearson's curve


class PermutationChiSquared(CountTest):
    """χ² summed over strata, compared with its exact mean, variance and skewness under permutations of the rows.

    The statistic of a stratum with n rows is X = n Σ (o - e)² / ((R + 1)(C + 1)), a sum over the cells of its table. A
    cell has o observed and e = R C / n expected rows; R and C count the rows of its two levels. The added 1 limits the
    influence of levels with few rows. If x and y are independent given z, all ways to assign the values of y to the
    rows of a stratum are equally likely; the first three cumulants of X over all these ways have a closed form. X and
    its cumulants are summed over strata; p is the upper tail of Pearson's type III distribution (a shifted gamma) with
    these cumulants.

    Its error rate is right where G² and χ² fail: many levels, many strata, rare or uneven levels (`docs/tests.md`).
    Strata with fewer than three rows, or with one level of x or of y, are ignored. If none is left, p = 1.

    Args:
        data: any table, every column of which is taken as discrete; see `anypag.data.as_table`. In a table of counts
            (`anypag.counted`) the counts are weights; a table in an engine (DuckDB, Dask, ...) is counted there.
        names, missing, max_r: as for `FisherZ`.
        singular: "error" (columns that repeat others raise an error), "keep" (they stay).

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

    def pvalues(self, queries: Queries) -> PValues:
        statistics, cumulants, _ = self.statistics(queries)
        return pvalues_of_cumulants(statistics, cumulants)

    def strength(self, queries: Queries) -> Floats:
        statistics, cumulants, rows = self.statistics(queries)
        return strength_of_statistic(statistics, cumulants[:, 0], rows)

    def _count_codes(self, queries: Queries) -> Answers:
        from anypag._kernels.discrete import permutations_by_rows

        answers = self._room_for(len(queries))
        permutations_by_rows(*self._rows_counted, self._levels, queries.x, queries.y, queries.z, *answers)
        return answers


def sparse_table_findings(names: Sequence[str], levels: Counts, n: int, test: str) -> list[Finding]:
    """A warning where two or three columns have too many combinations of levels for a statistic to follow χ²."""
    most = np.argsort(-levels, kind="stable")
    for k in (2, 3):
        cells = int(np.prod(levels[most[:k]].astype(np.float64)))
        if len(names) >= k and cells * ROWS_PER_LEVEL > n:
            columns = tuple(names[i] for i in np.sort(most[:k]))
            message = (
                f"The table of {', '.join(map(repr, columns[:-1]))} and {columns[-1]!r} has {cells:,} cells for {n:,} "
                f"rows. {test} needs {ROWS_PER_LEVEL} rows a cell: with fewer it may find dependences that are not "
                "there."
            )
            remedy = Sentence("Choose ", Option("test", "permutation"), ".")
            return [Finding("warning", "cells", columns, message, remedy)]
    return []


def pvalues_of_cumulants(statistics: Floats, cumulants: Floats) -> PValues:
    """The upper tail of Pearson's type III with these cumulants (b, 3); 1 where there is no variance."""
    from scipy.special import gammaincc, ndtr

    mean, variance, third = cumulants.T
    deviation = np.sqrt(np.where(variance > 0.0, variance, 1.0))
    z, skewness = (statistics - mean) / deviation, third / deviation**3
    is_skewed = skewness > _LEAST_SKEWNESS
    shape = 4.0 / np.square(np.where(is_skewed, skewness, 1.0))
    tail = np.where(is_skewed, gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0)), ndtr(-z))
    return np.where(variance > 0.0, tail, 1.0)


class _ChiSquaredTest(CountTest):
    """A test whose statistic follows χ² if cells have enough rows; the audit warns if they do not."""

    fits = "columns are categories, with enough rows for their combinations"
    weighs = True

    def _set_up(self, names: tuple[str, ...], codes: Codes, weights: Counts, audit: Audit, unit: int = 1) -> None:
        super()._set_up(names, codes, weights, audit, unit)
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


class ChiSquared(_ChiSquaredTest):
    """Pearson's test of independence, χ². Arguments as for `PermutationChiSquared`.

    It rejects too often with many strata, rare levels or very uneven ones.
    """

    _family = _PEARSON
