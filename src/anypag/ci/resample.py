"""The rows behind a test, and the test of a resample of them.

A resample is given by how often it has each row. Fisher's z needs no copy of the rows: the counts are weights in the
sums that its correlation matrix is made of. The other tests are bound to the rows taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats
from anypag.choices import Choices
from anypag.ci.base import CITest
from anypag.ci.data_test import DataTest
from anypag.ci.gaussian import FisherZ
from anypag.ci.resolve import resolve_test
from anypag.data.checks import constant_findings, few_rows_findings, relation_findings
from anypag.data.findings import Audit, Singular
from anypag.data.moments import from_products, name_order
from anypag.data.table import Table
from anypag.errors import ParameterError

_SMALL = 1e-10


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
    if table is None or not isinstance(test, DataTest):
        raise ParameterError(
            "Resamples need rows: give a table and the name of a test, or a test that has `n` and "
            f"`resampled(counts)`; {type(test).__name__.lstrip('_')} has none."
        )
    told = replace(choices, test=type(test), names=None, kinds=None, n_jobs=None)
    if (
        type(test) is FisherZ
        and choices.transform == "none"
        and (choices.missing != "pairwise" or not np.isnan(table.values).any())
    ):
        return GaussianRows.of(table, choices.singular)
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
        made: CITest = getattr(self.whole, "resampled")(counts)  # noqa: B009
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


@dataclass(frozen=True, eq=False)
class GaussianRows:
    """The rows of continuous columns; of a resample only sums are worked out.

    Args:
        names: of the columns.
        scores: (complete rows, p) with mean 0 and variance 1, columns in the order of their names.
        is_complete: (n,) the rows without a gap.
        singular: what to do with exact relations.
    """

    names: tuple[str, ...]
    scores: Floats
    is_complete: Flags
    singular: Singular

    @classmethod
    def of(cls, table: Table, singular: Singular) -> Self:
        """The rows of a table."""
        is_complete = np.logical_not(np.isnan(table.values).any(axis=1))
        values = table.values[is_complete][:, name_order(table.names)]
        return cls(table.names, np.ascontiguousarray(_scores(values)), is_complete, singular)

    @property
    def n(self) -> int:
        """How many."""
        return len(self.is_complete)

    def test(self, counts: Counts) -> CITest:
        """The test of a resample."""
        weights = counts[self.is_complete]
        n = int(weights.sum())
        Audit.of(few_rows_findings(n)).require_usable()
        weighted = self.scores * np.sqrt(weights)[:, None]
        mean = weights @ self.scores / n
        products = weighted.T @ weighted - n * np.outer(mean, mean)
        self._require_changing(products, weights > 0)
        moments = from_products(self.names, n, mean, products, np.zeros(len(mean), np.int32))
        audit = Audit.of(relation_findings(moments, self.singular))
        audit.require_usable()
        return FisherZ.from_moments(moments, audit)

    def _require_changing(self, products: Floats, is_taken: npt.NDArray[np.bool_]) -> None:
        """Refuse a resample in which a column is constant; only those with hardly any variance are looked at."""
        order = name_order(self.names)
        for k in np.flatnonzero(np.diag(products) < _SMALL * is_taken.sum()).tolist():
            values = self.scores[is_taken, k]
            name = self.names[order[k]]
            Audit.of(constant_findings([name], np.array([values.min() == values.max()]))).require_usable()


def _scores(values: Floats) -> Floats:
    """Columns with mean 0 and variance 1. Scaled by powers of two first, so that squares neither overflow nor vanish,
    and counted from the first row, so that a large mean costs no digits.
    """
    scaled = np.ldexp(values, -np.frexp(np.abs(values).max(axis=0))[1])
    scaled -= scaled[0].copy()
    scaled -= scaled.mean(axis=0)
    deviation = np.sqrt(np.square(scaled).mean(axis=0))
    scores: Floats = scaled / np.where(deviation > 0, deviation, 1.0)
    return scores
