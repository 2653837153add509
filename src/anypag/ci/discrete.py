"""G² and Pearson's χ² tests of independence, for discrete columns.

Each combination of values of z that comes in the data is a stratum with a table of x against y. The statistic
is summed over the strata, and so are the degrees of freedom: (levels of x in the stratum - 1) · (levels of y
in the stratum - 1). A level that does not come in a stratum has no row or column in its table; a stratum with
a single level of x or of y says nothing. Where no stratum says anything, p = 1.

A set of columns is counted once in a batch, for all the questions within it: the table of x, y and z together serves
every pair of these given the others. Memory is bounded by the number of rows, never by the product of levels: a table
of all combinations is made only where it has at most 4 · rows + 64 cells (16 bytes each while it is counted), else the
cells that come are kept in a hash table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.choices import Choices
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import DataTest, pvalues_of_statistic, strength_of_statistic
from anypag.data.findings import Audit, Singular
from anypag.data.prepare import prepare
from anypag.data.table import Missing, as_table

_MOST_PACKED = 5
"""The largest condition set for which splitting packed bits beats counting row by row."""
_ROWS_PER_CELL = 8
"""A table that serves several sets has at most one cell for so many rows: summing it takes less than counting again."""
_PEARSON, _LOG_LIKELIHOOD = 1, 2


class _CountTest(DataTest):
    """What the two tests share: everything but the statistic."""

    takes = "discrete"
    fits = "columns are categories, with rows enough for their combinations"
    _family: ClassVar[int]

    distinct: npt.NDArray[np.int32]
    """(p, m) the level of each column in the rows that are counted: 0, 1, ..., -1 where there is none."""
    weights: Counts
    """(m,) how often the table has each of these rows: once, but for resamples."""
    has_gaps: bool
    """Are there missing values, which each test leaves out for itself?"""

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
    ) -> None:
        table = as_table(data, names)
        prepared = prepare(table, missing=missing, singular=singular, max_r=max_r, as_kind="discrete")
        prepared.audit.require_usable()
        codes = np.stack([codes_of(column) for column in prepared.table.values.T])
        self._set_up(table.names, codes, np.ones(prepared.table.n, np.int64), prepared.audit)

    @classmethod
    def from_codes(cls, names: tuple[str, ...], codes: npt.NDArray[np.int32], weights: Counts, audit: Audit) -> Self:
        """The test of a table that has each row of `codes` (p, m) so many times; every column has its levels from 0 on.

        >>> test = GSquared.from_codes(("a", "b"), np.eye(2, dtype=np.int32), np.array([30, 20]), Audit.of(()))
        >>> test.n, float(test.pvalues(Queries.one(0, 1))[0]) < 1e-10
        (50, True)
        """
        test = cls.__new__(cls)
        test._set_up(names, codes, weights, audit)
        return test

    def _set_up(self, names: tuple[str, ...], codes: npt.NDArray[np.int32], weights: Counts, audit: Audit) -> None:
        super().__init__(names, int(weights.sum()), audit)
        self.distinct, self.weights = np.ascontiguousarray(codes), weights
        self._levels = codes.max(axis=1).astype(np.int64) + 1
        self.has_gaps = bool((codes < 0).any())
        self._by_rank = np.argsort(self.rank)
        small = np.uint16 if self._most_cells <= np.iinfo(np.uint16).max else np.uint32
        self._codes_by_rank = np.maximum(self.distinct, 0)[self._by_rank].astype(small)
        row_of = np.repeat(np.arange(len(weights)), weights)  # bits are so small that repeating them costs nothing
        self._bits, self._has_value = _packed((codes == 1)[:, row_of]), _packed((codes >= 0)[:, row_of])

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """(p, n) the level of each column in each row: 0, 1, ..., -1 where there is none."""
        return np.repeat(self.distinct, self.weights, axis=1)

    @classmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        """The test of a table, made as the choices say."""
        return cls(data, choices.names, missing=choices.missing, singular=choices.singular, max_r=choices.max_r)

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) p-values."""
        statistics, freedoms, _ = self.statistics(queries)
        return pvalues_of_statistic(statistics, freedoms)

    def strength(self, queries: Queries) -> Floats:
        """(b,) how strongly the data speak for dependence, in [0, 1]; see `strength_of_statistic`."""
        return strength_of_statistic(*self.statistics(queries))

    def effective_n(self, queries: Queries) -> Counts:
        """(b,) the number of rows each answer rests on."""
        return self.statistics(queries)[2]

    def statistics(self, queries: Queries) -> tuple[Floats, Counts, Counts]:
        """(b,) each: the statistics, their degrees of freedom, and the rows they rest on."""
        self._check(queries)
        joint = self._is_joint(queries)
        packed = self._is_packed(queries) & ~joint
        ways = ((joint, self._count_jointly), (packed, self._count_bits), (~joint & ~packed, self._count_codes))
        answers = _room(len(queries))
        for chosen, count in ways:
            if not chosen.any():  # what is not asked for is not even compiled
                continue
            for answer, part in zip(answers, count(queries.take(chosen)), strict=True):
                answer[chosen] = part
        return answers

    def _is_joint(self, queries: Queries) -> npt.NDArray[np.bool_]:
        """(b,) whether a table of all combinations of levels is small enough, and there are no gaps."""
        if self.has_gaps:
            return np.zeros(len(queries), np.bool_)
        levels = self._levels.astype(np.float64)
        strata = levels[queries.z].prod(axis=1)
        cells = strata * levels[queries.x] * levels[queries.y]
        fits: npt.NDArray[np.bool_] = (strata <= self.n) & (cells <= self._most_cells)
        return fits

    @property
    def _most_cells(self) -> int:
        return 4 * self.n + 64

    def _count_jointly(self, queries: Queries) -> tuple[Floats, Counts, Counts]:
        """Each set of columns is counted once, for all the questions within it."""
        from anypag._kernels.joint_tables import joint_statistics

        members = self.rank[np.column_stack([queries.x, queries.y, queries.z])]
        place = np.argsort(members, axis=1)
        sets = np.take_along_axis(members, place, axis=1)
        ends = np.sort(np.argsort(place, axis=1)[:, :2], axis=1).astype(np.int32)
        order = np.lexsort(sets.T[::-1])
        statistics, freedoms, rows = _room(len(queries))
        rows[:] = self.n
        cells = self._levels[self._by_rank][sets].prod(axis=1).max()
        codes, levels = self._codes_by_rank, self._levels[self._by_rank]
        joint_statistics(
            codes,
            self.weights.astype(np.int32),
            levels,
            sets,
            ends,
            order,
            _MOST_PACKED,
            int(cells),
            len(self.weights) // _ROWS_PER_CELL,
            self._family,
            statistics,
            freedoms,
        )
        return statistics, freedoms, rows

    def _is_packed(self, queries: Queries) -> npt.NDArray[np.bool_]:
        """(b,) whether all columns of the query are binary, and few enough."""
        if queries.r > _MOST_PACKED:
            return np.zeros(len(queries), np.bool_)
        binary = self._levels <= 2
        packed: npt.NDArray[np.bool_] = binary[queries.x] & binary[queries.y] & binary[queries.z].all(axis=1)
        return packed

    def _count_bits(self, queries: Queries) -> tuple[Floats, Counts, Counts]:
        from anypag._kernels.discrete import binary_statistics

        answers = _room(len(queries))
        x, y, z = queries.x, queries.y, queries.z
        binary_statistics(self._bits, self._has_value, self.rank, x, y, z, self._family, *answers)
        return answers

    def _count_codes(self, queries: Queries) -> tuple[Floats, Counts, Counts]:
        from anypag._kernels.discrete import count_statistics

        answers = _room(len(queries))
        x, y, z = queries.x, queries.y, queries.z
        rows = self.distinct, self.weights, self._levels, self.has_gaps
        count_statistics(*rows, self.rank, x, y, z, self._family, *answers)
        return answers


class GSquared(_CountTest):
    """The likelihood-ratio test of independence, G².

    Args:
        data: any table, every column of which is taken as discrete; see `anypag.data.as_table`.
        names: of an array, its column names; of anything else, which columns to use.
        missing: "error" (missing values stop here), "drop" (rows with any are left out), "pairwise" (each
            test leaves out the rows in which its own columns have gaps).
        singular: "error" (columns that repeat others stop here), "keep" (they stay).
        max_r: the largest condition set that will be asked for, if known; only for the warning about too few
            rows.

    >>> coins = np.random.default_rng(0).integers(0, 2, size=(500, 2))
    >>> test = GSquared(np.column_stack([coins, coins.sum(axis=1)]), ["a", "b", "sum"])
    >>> (test.pvalues(Queries([0, 0], [1, 2], np.empty((2, 0)))) < 0.01).tolist()
    [False, True]
    """

    _family = _LOG_LIKELIHOOD


class ChiSquared(_CountTest):
    """Pearson's test of independence, χ². Arguments as for `GSquared`."""

    _family = _PEARSON


def codes_of(column: Floats) -> npt.NDArray[np.int32]:
    """The values as 0, 1, 2, ... in ascending order; -1 where there is none."""
    present = ~np.isnan(column)
    codes = np.full(len(column), -1, np.int32)
    values = column[present]
    codes[present] = np.searchsorted(np.unique(values), values)
    return codes


def _packed(rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """(p, n) truth values as (p, words), 64 rows to a word, zeros at the end."""
    p, n = rows.shape
    padded = np.zeros((p, -(-n // 64) * 64), np.bool_)
    padded[:, :n] = rows
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _room(b: int) -> tuple[Floats, Counts, Counts]:
    """Room for the statistics, degrees of freedom and rows of b queries."""
    return np.empty(b), np.empty(b, np.int64), np.empty(b, np.int64)
