"""Tests of resamples, in which each row has a weight: how often it was drawn.

Most tests of the package use these counts as weights in their sums or tables, without copying or reading rows again.
Only problems that a resample of good rows can have are checked (too few rows, constant columns, copies, exact
relations). Tests that cannot use the counts are bound to repeated rows: slow tests; tests of ranks, of ordered levels,
with contexts, of weighted rows, or with gaps in numbers (missing="pairwise"); and a user's own classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags
from anypag.choices import Choices, Device
from anypag.ci.base import CITest, as_test, rows_behind
from anypag.ci.counting import CountTest
from anypag.ci.data_test import DataTest, excess_of_levels, excess_of_numbers
from anypag.ci.gaussian import FisherZ
from anypag.ci.gpu import Card, on_device
from anypag.ci.mixed import Blocks, DegenerateGaussian
from anypag.ci.resolve import class_of_test, resolve_test
from anypag.data.audit.columns import constant_findings
from anypag.data.audit.copies import coded_copies, copy_findings
from anypag.data.audit.relations import relation_findings
from anypag.data.audit.rows import few_rows_findings
from anypag.data.findings import Audit, Finding, Singular
from anypag.data.levels import Codes, coded, common_kind, sortable_names
from anypag.data.moments import Moments, StandardRows
from anypag.data.sources.counted import MOST_NUMBERS, CountedTable
from anypag.data.sources.door import as_source
from anypag.data.sources.file import FileTable
from anypag.data.sources.protocol import Source
from anypag.data.table import Kind, Table
from anypag.errors import CITestError, DataError, ParameterError, listed


class Resamples(NamedTuple):
    """Makes the tests of resamples of n rows."""

    n: int
    test: Callable[[Counts], CITest]  # `test(counts)` is the test if row i occurs `counts[i]` times; or DataError


def rows_to_resample(data: Any, choices: Choices) -> Table | CountedTable:
    """The rows that resamples are drawn from (as counts, if the test takes counts). DataError if there are too many."""
    source = as_source(data, choices.names, choices.kinds)
    if isinstance(source, Table):
        return source
    if not isinstance(source, FileTable) and _takes_counts(choices, source) and (groups := source.groups()):
        return groups
    count = source.n * len(source.names)
    if count > MOST_NUMBERS:
        raise DataError(
            f"Rows must be in memory to be resampled: at most {MOST_NUMBERS:,} numbers. There are {count:,}. "
            "Take a sample of the rows, or read them yourself (`anypag.data.as_table`) if memory allows."
        )
    return source.rows()


def _takes_counts(choices: Choices, source: Source) -> bool:
    """Will the test be a test of discrete columns, so that it takes rows with counts?"""
    if choices.test == "auto":
        return common_kind(source.kinds) == "discrete"
    found = class_of_test(choices.test) if isinstance(choices.test, str) else choices.test
    return isinstance(found, type) and issubclass(found, CountTest) and found.__module__.startswith("anypag.")


def resamples_of(
    test: CITest, source: Table | CountedTable | None, choices: Choices, *, by_sums: bool = True
) -> Resamples:
    """The `Resamples` of the rows behind a test; ParameterError if the test has no rows. `source` is None if
    the user gave a test instead of data. `by_sums=False` says that a wrapper changes the answers of the test
    (`ci.contexts`), so that the test must be bound to repeated rows.
    """
    choices = choices.strict()
    if getattr(test, "exact", False):  # a user's test may lack `exact`
        return Resamples(0, partial(_always, test))
    if hasattr(test, "resampled"):
        return Resamples(rows_behind(test) or 0, partial(_by_the_test, test))
    is_made = isinstance(choices.test, str | type)  # bound by the package, which can bind it again
    if source is None or not is_made or not isinstance(test, DataTest):
        raise ParameterError(
            "Resamples need rows: give a table and the name of a test, or a test that has `n_rows` and "
            f"`resampled(counts)`; {type(test).__name__.lstrip('_')} has no `resampled`."
        )
    is_ours = type(test).__module__.startswith("anypag.")  # a user's subclass may ignore weights
    by_sums = by_sums and is_ours and source.weights is None and "ordinal" not in source.kinds
    if by_sums and isinstance(test, CountTest):
        return Resamples(source.n, ByCounts.of(test, source.groups(), choices.singular).test)
    table = source.rows()
    by_sums = by_sums and choices.transform == "none" and not (choices.missing == "pairwise" and table.has_gaps)
    if by_sums and isinstance(test, FisherZ | DegenerateGaussian):
        return Resamples(table.n, BySums.of(test, table, choices.singular).test)
    told = replace(choices, test=type(test), names=None, kinds=None, n_jobs=None)
    table = table.with_kinds(dict(zip(table.names, table.kinds, strict=True)))
    return Resamples(table.n, partial(_of_repeated_rows, table, told))


def _always(exact: CITest, counts: Counts) -> CITest:
    """The exact test itself. It has no rows, so it is the same for every resample."""
    return exact


def _by_the_test(whole: Any, counts: Counts) -> CITest:
    """The test of a resample, made by the method `resampled` of a user's test."""
    made = as_test(whole.resampled(counts))
    if tuple(made.names) != tuple(whole.names):
        raise CITestError(
            f"The test of a resample must be about the same variables, {listed(whole.names)}; it is about "
            f"{listed(made.names)}."
        )
    return made


def _of_repeated_rows(table: Table, choices: Choices, counts: Counts) -> CITest:
    made = resolve_test(table.take_rows(np.repeat(np.arange(table.n), counts)), choices)
    if made.names != table.names:
        repeated = sorted({*table.names} - {*made.names})
        raise DataError(f"Columns that repeat others in the resample: {listed(repeated)}.")
    return made


@dataclass(frozen=True, eq=False)
class ByCounts:
    """Makes tests of discrete columns, with the counts as weights."""

    whole: CountTest
    begins: Counts  # (m,) each row of the source stands for a run of equal rows, which begins here
    is_used: Flags  # False for rows dropped for their gaps
    singular: Singular

    @classmethod
    def of(cls, whole: CountTest, source: CountedTable, singular: Singular) -> Self:
        is_dropped = np.isnan(source.table.values).any(axis=1) & (whole.n < source.n)
        return cls(whole, np.cumsum(source.counts) - source.counts, np.logical_not(is_dropped), singular)

    def test(self, counts: Counts) -> CountTest:
        of_rows = counts if len(self.begins) == len(counts) else np.add.reduceat(counts, self.begins)
        weights = of_rows[self.is_used]
        is_taken = weights > 0
        stored = self.whole.distinct[np.ix_(self.whole.place, is_taken)]
        # without levels that do not occur: the others get the codes 0, 1, ...; -1 stays
        codes = np.stack([coded(column.astype(np.float64))[1] - np.int32(column.min() < 0) for column in stored])
        names, n = self.whole.names, int(weights.sum())
        constant = constant_findings(names, codes.max(axis=1) <= 0)
        copies = [] if constant else copy_findings(coded_copies(names, codes), self.singular)
        audit = Audit.of([*few_rows_findings(n), *constant, *copies])
        audit.require_usable()
        return type(self.whole).from_codes(names, codes, weights[is_taken], audit)


@dataclass(frozen=True, eq=False)
class BySums:
    """Makes tests that need only correlations, from weighted sums."""

    kind_of_test: type[DataTest]
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    codes: dict[int, Codes]  # for each discrete variable its (m,) levels in the complete rows
    rows: StandardRows  # the continuous columns, and one of zeros and ones for each level of the discrete ones
    start: Counts  # where the columns of each variable begin
    singular: Singular
    device: Device

    @classmethod
    def of(cls, whole: FisherZ | DegenerateGaussian, table: Table, singular: Singular) -> Self:
        kinds = whole.kinds if isinstance(whole, DegenerateGaussian) else table.all_of_kind("continuous").kinds
        is_complete = np.logical_not(np.isnan(table.values).any(axis=1))
        spread, codes = [column[:, None] for column in table.values.T], dict[int, Codes]()
        for i in (i for i, kind in enumerate(kinds) if kind == "discrete"):
            levels, codes[i] = coded(table.values[is_complete, i])
            spread[i] = (spread[i] == levels).astype(np.float64)
        widths = [some.shape[1] for some in spread]
        values = np.where(is_complete[:, None], np.column_stack(spread), np.nan)
        rows = StandardRows.of(sortable_names(table.names, widths), values)
        start = np.append(0, np.cumsum(widths)).astype(np.int64)
        device: Device = whole.device if isinstance(whole, FisherZ) else "cpu"
        return cls(type(whole), table.names, kinds, codes, rows, start, singular, device)

    def test(self, counts: Counts) -> FisherZ | DegenerateGaussian:
        return on_device(lambda card: self._test_on(card, counts), self.device)

    def _test_on(self, card: Card | None, counts: Counts) -> FisherZ | DegenerateGaussian:
        weights = counts[self.rows.is_complete]
        Audit.of(few_rows_findings(int(weights.sum()))).require_usable()
        moments = self.rows.moments(counts, card)
        chosen = [self._columns(i, weights) for i in range(len(self.names))]
        is_constant = self.rows.is_constant(moments, counts)
        constant = np.array([not len(some) or bool(is_constant[some].all()) for some in chosen])
        audit = Audit.of([*constant_findings(self.names, constant), *self._related(moments, weights)])
        audit.require_usable()
        if issubclass(self.kind_of_test, FisherZ):
            test = self.kind_of_test.from_moments(replace(moments, names=self.names), audit)
            test.use_card(card, self.device)
            return test
        columns = np.concatenate(chosen)
        start = np.append(0, np.cumsum([len(some) for some in chosen])).astype(np.int64)
        correlation = np.ascontiguousarray(moments.correlation[np.ix_(columns, columns)])
        excess = excess_of_numbers(moments.kurtosis[self.start[:-1]], moments.n)
        for i, codes in self.codes.items():
            excess[i] = excess_of_levels(np.bincount(codes, weights).astype(np.float64))
        blocks = Blocks.without_gaps(correlation, start, excess)
        return DegenerateGaussian.from_blocks(self.names, self.kinds, moments.n, blocks, audit)

    def _columns(self, i: int, weights: Counts) -> npt.NDArray[np.int64]:
        """The columns of a variable: one for each level in the resample except the most frequent one."""
        columns = np.arange(self.start[i], self.start[i + 1])
        if i not in self.codes:
            return columns
        times = np.bincount(self.codes[i], weights, len(columns))
        is_there = times > 0
        is_there[times.argmax()] = False
        return columns[is_there]

    def _related(self, moments: Moments, weights: Counts) -> list[Finding]:
        """Findings about copies among discrete variables, and about exact relations among continuous ones."""
        if not self.codes:
            return relation_findings(replace(moments, names=self.names), self.singular)
        codes = np.stack([own[weights > 0] for own in self.codes.values()])
        copies = coded_copies([self.names[i] for i in self.codes], codes)
        continuous = [i for i in range(len(self.names)) if i not in self.codes]
        part = moments.at(self.start[continuous], [self.names[i] for i in continuous])
        relations = relation_findings(part, self.singular) if continuous else []
        return [*copy_findings(copies, self.singular), *relations]
