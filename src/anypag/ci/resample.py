"""The rows behind a test, and the test of a resample of them.

A resample is given by how often it has each row. The tests of the package need no copy of the rows: these counts are
weights in the sums or tables that they work with, and nothing is read or audited again. Only where gaps are left to
each test, and where ranks are taken anew, is a test bound to the rows taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from anypag.arrays import Counts
from anypag.choices import Choices
from anypag.ci.base import CITest, as_test
from anypag.ci.counting import CountTest
from anypag.ci.data_test import DataTest
from anypag.ci.discrete import ChiSquared, GSquared, PermutationChiSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian
from anypag.ci.resample_counts import CountedRows
from anypag.ci.resample_moments import GaussianRows, MixedRows
from anypag.ci.resolve import resolve_test
from anypag.data.table import Table
from anypag.errors import CITestError, ParameterError, listed


class Rows(Protocol):
    """Rows to take resamples of."""

    @property
    def n(self) -> int:
        """How many."""
        ...

    def test(self, counts: Counts) -> CITest:
        """The test of a resample.

        Raises:
            DataError: the resample cannot be used (a column is constant in it, say).
        """
        ...


def rows_of(test: CITest, table: Table | None, choices: Choices) -> Rows:
    """The rows behind a test.

    Args:
        test: bound to the table, or brought by the user.
        table: None where the user's test came in place of data.
        choices: by which the test was bound.

    Raises:
        ParameterError: the test has no rows that could be resampled.
    """
    if getattr(test, "exact", False):  # a user's test need not say
        return SameForAll(test)
    if hasattr(test, "resampled"):
        return OfTheTest(test)
    is_made = isinstance(choices.test, str | type)  # anew for other rows; who brings a test alone knows how he made it
    if table is None or not is_made or not isinstance(test, DataTest):
        raise ParameterError(
            "Resamples need rows: give a table and the name of a test, or a test that has `n` and "
            f"`resampled(counts)`; {type(test).__name__.lstrip('_')} has none."
        )
    has_gaps = choices.missing == "pairwise" and bool(np.isnan(table.values).any())
    is_summed = not has_gaps and choices.transform == "none"
    is_counted = type(test) in (PermutationChiSquared, GSquared, ChiSquared)  # a class of a user's may do otherwise
    if isinstance(test, CountTest) and is_counted:
        return CountedRows.of(test, table, choices.singular)
    if is_summed and type(test) is FisherZ:
        return GaussianRows.of(table, choices.singular)
    if is_summed and type(test) is DegenerateGaussian:
        return MixedRows.of(table, choices.singular)
    told = replace(choices, test=type(test), names=None, kinds=None, n_jobs=None)
    return TableRows(table.with_kinds(dict(zip(table.names, table.kinds, strict=True))), told)


@dataclass(frozen=True, eq=False)
class SameForAll:
    """A test that is never wrong has no rows, and is the same for every resample."""

    exact: CITest
    n: int = 0

    def test(self, counts: Counts) -> CITest:
        """The test."""
        return self.exact


@dataclass(frozen=True, eq=False)
class OfTheTest:
    """The rows of a user's test, which makes the tests of resamples itself (`resampled`)."""

    whole: CITest

    @property
    def n(self) -> int:
        """How many."""
        return int(getattr(self.whole, "n"))  # noqa: B009

    def test(self, counts: Counts) -> CITest:
        """The test of a resample."""
        made = as_test(getattr(self.whole, "resampled")(counts))  # noqa: B009
        if tuple(made.names) != tuple(self.whole.names):
            raise CITestError(
                f"The test of a resample must be about the same variables, {listed(self.whole.names)}; it is about "
                f"{listed(made.names)}."
            )
        return made


@dataclass(frozen=True, eq=False)
class TableRows:
    """The rows of a table, taken one by one."""

    table: Table
    choices: Choices
    """Those that the test of the whole table was bound by."""

    @property
    def n(self) -> int:
        """How many."""
        return self.table.n

    def test(self, counts: Counts) -> CITest:
        """The test of a resample."""
        taken = np.repeat(np.arange(self.n), counts)
        return resolve_test(self.table.take_rows(taken), self.choices)
