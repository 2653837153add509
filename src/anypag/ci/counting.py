"""The base of tests for discrete columns: tables of counts, and two ways to make them.

Each combination of values of z in the data is a stratum with a table of x against y. The statistic is summed over the
strata, and so are the degrees of freedom: (levels of x in the stratum - 1) · (levels of y in the stratum - 1). A level
that does not occur in a stratum has no row or column in its table; a stratum with a single level of x or of y adds
nothing. If no stratum adds anything, p = 1.

A table of all combinations of levels is made only if it has at most min(4 · rows, 2²⁶) + 64 cells. With gaps the limit
is four times as high, because a gap is one more level in the table; no answer reads the cells of gaps. If the table
would be too large, only the strata or cells that occur are stored, so the number of rows bounds the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.ci.base import Queries
from anypag.ci.data_test import StatisticTest, require_no_gaps
from anypag.data.audit.checklist import audited
from anypag.data.findings import Audit, Singular
from anypag.data.levels import distinct_rows
from anypag.data.sources.counted import MOST_NUMBERS, MOST_ROWS, CountedTable, worth_in
from anypag.data.sources.door import as_source
from anypag.data.sources.engine import EngineTable, GroupedCounts
from anypag.data.sources.protocol import Needs
from anypag.data.table import Missing, Table
from anypag.errors import DataError, Option

if TYPE_CHECKING:
    from anypag.scores.discrete import DiscreteScore

_MOST_BINARY = 5  # the largest condition set with which binary columns use the formula of 2 x 2 tables
_WITH_GAPS = 4  # the factor by which a table may have more cells if gaps are counted in it
MOST_CELLS = 2**26  # the most cells of a table of all combinations without gaps, for any number of rows
_TIMES_A_SET = 16  # a table shared by several queries has at most this many times the cells of their largest own table
_ROWS_PER_CELL = 4  # or one cell for every four rows, if that is more; but it never has more cells than there are rows
_PARTS_OF_A_ROW = 1000  # weights are rounded to whole thousandths of an effective row
_LONG, _LONG_RUNS = 10_000, 4  # equal rows are counted together from 10,000 rows on, if a row occurs 4 times on average
NO_WEIGHTED_SCORE = "The score of discrete columns counts whole rows, and weights are not counts"
Answers = tuple[Floats, npt.NDArray[Any], Counts]
"""Statistics (b,); their null distributions, as degrees of freedom (b,) or cumulants (b, 3); numbers of rows (b,)."""


class CountTest(StatisticTest):
    """The base of tests of discrete columns: everything except the statistic."""

    takes = "discrete"
    _family: ClassVar[int]  # the statistic's code in the kernels

    distinct: npt.NDArray[np.int32]  # (p, m) the levels (0, 1, ...) of stored rows, columns by name; -1 for a gap
    weights: Counts  # (m,) the count of each stored row: 1, unless rows are resampled, counted or weighted
    has_gaps: bool  # do columns have gaps? Then each test leaves out the rows with gaps in its own columns
    n_distinct: int  # how many rows are counted for an answer: the stored rows, or the distinct ones of a long table
    _grouped: GroupedCounts | None = None  # the counts that an engine makes when a question needs them

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
    ) -> None:
        needs = Needs("discrete", missing, singular, max_r, weighs=self.weighs and missing != "pairwise")
        ready = audited(as_source(data, names), needs)
        ready.audit.require_usable()
        if isinstance(ready.source, CountedTable):
            counted = ready.source
            self.worth, counts, unit = worth_in(counted), counted.counts, 1
            if self.worth is not None and counted.weights is not None:
                counts, unit = whole_weights(counted.weights, self.worth.n)
            self._set_up(counted.names, codes_in(counted.table), counts, ready.audit, unit)
        elif isinstance(ready.source, EngineTable):
            grouped = GroupedCounts.of(ready.source, with_gaps=ready.has_gaps)
            super().__init__(grouped.source.names, grouped.source.n, ready.audit)
            self._grouped, self.has_gaps = grouped, False

    @classmethod
    def from_codes(cls, names: tuple[str, ...], codes: npt.NDArray[np.int32], weights: Counts, audit: Audit) -> Self:
        """The test of the m rows of `codes` (p, m), whose counts are `weights`; the levels of a column are 0, 1, ..."""
        test = cls.__new__(cls)
        test._set_up(names, codes, weights, audit)
        return test

    def _set_up(
        self, names: tuple[str, ...], codes: npt.NDArray[np.int32], weights: Counts, audit: Audit, unit: int = 1
    ) -> None:
        super().__init__(names, int(weights.sum()) // unit, audit)
        self._unit = unit
        self.distinct, self.weights = np.ascontiguousarray(codes[self._stored]), weights
        self._store_by_name()
        self._levels = self.distinct.max(axis=1).astype(np.int64) + 1
        self.has_gaps = bool((codes < 0).any())
        self._widths = self._levels + (self.distinct < 0).any(axis=1)
        self._rows_counted = distinct, weights = self._grouped_rows()
        self.n_distinct = len(weights)
        filled = np.where(distinct < 0, self._levels[:, None], distinct)
        small = np.uint16 if self._most_with_gaps <= np.iinfo(np.uint16).max else np.uint32
        self._small = filled.astype(small), weights.astype(np.int32), self._levels, self._widths

    def _grouped_rows(self) -> tuple[npt.NDArray[np.int32], Counts]:
        """`distinct` and `weights`, without repeated rows if a long table has many. Distinct rows stay in the order in
        which they first occur. Kernels number strata in this order, so answers are the same to the bit.
        """
        if len(self.weights) < _LONG:
            return self.distinct, self.weights
        first, group = distinct_rows(self.distinct + 1, self._levels + 1)
        if len(first) * _LONG_RUNS > len(self.weights):
            return self.distinct, self.weights
        order = np.argsort(first)
        weights = np.bincount(group, self.weights)[order].astype(np.int64)
        return np.ascontiguousarray(self.distinct[:, first[order]]), weights

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """(p, n) the level in every cell; -1 for a gap. DataError if rows are weighted, too many or in an engine."""
        if self._grouped is None and self._unit > 1:
            raise DataError(f"{NO_WEIGHTED_SCORE}. Choose a method that uses tests ({Option('method', 'icd')}).")
        if self._grouped is not None or (len(self.weights) < self.n and self.n * len(self.names) > MOST_NUMBERS):
            raise DataError(
                f"A score reads the rows one by one; there are only counts of {self.n:,} rows. Choose a method that "
                f"uses tests ({Option('method', 'icd')}), or take a sample of the rows."
            )
        return np.repeat(self.distinct[self.place], self.weights, axis=1)

    def score(self) -> DiscreteScore:
        """The BDeu score of the rows. DataError if values are missing, or if `codes` raises it."""
        from anypag.scores.discrete import DiscreteScore

        require_no_gaps(self.has_gaps)
        return DiscreteScore.priced(self.names, np.ascontiguousarray(self.codes, np.int32))

    def effective_n(self, queries: Queries) -> Counts:
        if self._grouped is None and not self.has_gaps:
            self._check(queries)
            return self._rows(queries)
        return self.statistics(queries)[2]

    @staticmethod
    def _room_for(b: int) -> Answers:
        return np.empty(b), np.empty(b, np.int64), np.empty(b, np.int64)

    def statistics(self, queries: Queries) -> Answers:
        """The statistics of queries, their distributions, and the number of rows behind each; see `Answers`."""
        if self._grouped is not None:
            return self._statistics_in_engine(self._grouped, queries)
        statistics, follows, rows = self._counted(self.arranged(queries))
        if self.worth is not None:
            rows = self._rows(queries)
            statistics *= rows / (self.n * self._unit)
        return statistics, follows, rows

    def _counted(self, queries: Queries) -> Answers:
        """The answers to arranged queries: from joint tables (see `_is_joint`) where possible, else query by query."""
        joint = self._is_joint(queries)
        if len(queries) and joint.all():
            return self._count_jointly(queries)
        answers = self._room_for(len(queries))
        for chosen, count in ((joint, self._count_jointly), (~joint, self._count_codes)):
            if not chosen.any():  # a kernel that no query needs is not compiled
                continue
            for answer, part in zip(answers, count(queries.take(chosen)), strict=True):
                answer[chosen] = part
        return answers

    def _statistics_in_engine(self, grouped: GroupedCounts, queries: Queries) -> Answers:
        """The answers to queries; the engine counts each union of column sets once, for all queries within it."""
        self._check(queries)
        sets = list(map(tuple, np.sort(np.column_stack([queries.x, queries.y, queries.z]), axis=1).tolist()))
        answers, place = self._room_for(len(queries)), np.zeros(len(self.names), np.int32)
        with grouped.lock:
            within = grouped.unions(sets)
            number = {union: k for k, union in enumerate(dict.fromkeys(within.values()))}
            union_of = np.array([number[within[columns]] for columns in sets])
            for columns, k in number.items():
                chosen = union_of == k
                place[list(columns)] = np.arange(len(columns))
                some = queries.take(chosen)
                part = grouped.part(columns, self._of_counts)
                found = part.statistics(Queries(place[some.x], place[some.y], place[some.z]))
                for answer, values in zip(answers, found, strict=True):
                    answer[chosen] = values
        return answers

    def _of_counts(self, counts: CountedTable) -> Self:
        return self.from_codes(counts.names, codes_in(counts.table), counts.counts, self.audit)

    def _is_joint(self, queries: Queries) -> npt.NDArray[np.bool_]:
        """(b,) is a table of all combinations of levels of a query's columns small enough to be made?"""
        most = np.sort(self._widths)[::-1].astype(np.float64)
        if most[: queries.r].prod() <= self.n and most[: queries.r + 2].prod() <= self._most_cells:
            return np.ones(len(queries), np.bool_)
        cells = _cells(queries, self._levels)
        strata = cells / np.maximum(self._levels[queries.x] * self._levels[queries.y], 1)
        fits: npt.NDArray[np.bool_] = (strata <= self.n) & (cells <= self._most_cells)
        return fits & (_cells(queries, self._widths) <= self._most_with_gaps) if self.has_gaps else fits

    @property
    def _most_cells(self) -> int:
        return min(4 * self.n, MOST_CELLS) + 64

    @property
    def _most_with_gaps(self) -> int:
        return self._most_cells * (_WITH_GAPS if self.has_gaps else 1)

    def _count_jointly(self, queries: Queries) -> Answers:
        """The answers, from tables of all combinations; one table serves all queries within its columns."""
        from anypag._kernels.discrete import joint_statistics

        cells, n_rows = int(_cells(queries, self._widths).max()), self.n_distinct
        most_summed = min(max(_TIMES_A_SET * cells, n_rows // _ROWS_PER_CELL), n_rows, MOST_CELLS)
        statistics, follows, rows = self._room_for(len(queries))
        rows[:] = self.n * self._unit
        nothing, no_cumulants = np.empty(0, np.int64), np.empty((0, 3))
        given = (follows, no_cumulants) if follows.ndim == 1 else (nothing, follows)
        room = np.empty((4, max(cells, most_summed)), np.int32)
        x, y, z, family = queries.x, queries.y, queries.z, self._family
        answers = (statistics, *given, rows if self.has_gaps else nothing)
        joint_statistics(self._small, x, y, z, _MOST_BINARY, most_summed, room, family, answers)
        return statistics, follows, rows

    def _count_codes(self, queries: Queries) -> Answers:
        from anypag._kernels.discrete import count_statistics

        answers = self._room_for(len(queries))
        x, y, z = queries.x, queries.y, queries.z
        rows = *self._rows_counted, self._levels, self.has_gaps, self._most_cells
        count_statistics(*rows, x, y, z, _MOST_BINARY, self._family, *answers)
        return answers


def whole_weights(weights: Floats, n: int) -> tuple[Counts, int]:
    """The weights as whole numbers with a sum of about n · unit, and the unit, by which statistics are then divided."""
    unit = min(_PARTS_OF_A_ROW, MOST_ROWS // n)
    return np.maximum(np.rint(weights / weights.sum() * n * unit), 1.0).astype(np.int64), unit


def codes_in(table: Table) -> npt.NDArray[np.int32]:
    """(p, n) the codes of all columns."""
    return np.stack([table.codes(i) for i in range(len(table.names))])


def _cells(queries: Queries, levels: Counts) -> Floats:
    """(b,) how many combinations of levels the columns of each query have."""
    numbers = levels.astype(np.float64)
    cells: Floats = numbers[queries.x] * numbers[queries.y]
    for column in queries.z.T:
        cells *= numbers[column]
    return cells
