"""The rows behind tests that need correlations only: of a resample nothing but weighted sums is worked out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats, in_units
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import Blocks, DegenerateGaussian
from anypag.data.audit.columns import constant_findings
from anypag.data.audit.copies import coded_copies, copy_findings
from anypag.data.audit.relations import relation_findings
from anypag.data.audit.rows import few_rows_findings
from anypag.data.findings import Audit, Finding, Singular
from anypag.data.levels import codes_of
from anypag.data.moments import Moments, from_products, name_order
from anypag.data.spread import sortable_names
from anypag.data.table import Kind, Table

_SMALL = 1e-5
"""Of a standard deviation that is 1 in the whole table."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Complete rows of columns with mean 0 and variance 1, of which weighted correlations are made.

    Args:
        names: of the columns.
        order: (p,) of the columns by their names, in which they stand here.
        values: (m, p).
        is_complete: (n,) which of all rows they are.
    """

    names: tuple[str, ...]
    order: npt.NDArray[np.intp]
    values: Floats
    is_complete: Flags

    @classmethod
    def of(cls, names: Sequence[str], values: Floats) -> Self:
        """The columns of (n, p) values, NaN where there is a gap."""
        is_complete = np.logical_not(np.isnan(values).any(axis=1))
        order = name_order(names)
        return cls(tuple(names), order, np.ascontiguousarray(_scores(values[is_complete][:, order])), is_complete)

    def moments(self, counts: Counts) -> Moments:
        """Those of a resample: correlations as of the columns themselves, means and deviations as of these scores."""
        weights = counts[self.is_complete]
        taken = np.flatnonzero(weights)
        n, weights = int(weights.sum()), weights[taken].astype(np.float64)
        Audit.of(few_rows_findings(n)).require_usable()
        rows = self.values[taken]
        mean = weights @ rows / n
        products = (rows * weights[:, None]).T @ rows  # two factors: the product of one with itself is slow in BLAS
        products += products.T.copy()  # symmetric to the bit, and twice what it should be
        products /= 2.0
        products -= n * np.outer(mean, mean)
        np.fill_diagonal(products, np.maximum(np.diag(products), 0.0))  # of a constant column rounding is left
        return from_products(self.names, n, mean, products, np.zeros(len(mean), np.int32))

    def is_constant(self, moments: Moments, counts: Counts) -> Flags:
        """(p,) the columns, in the order of their names here, that are constant in a resample with these moments."""
        is_constant = np.zeros(len(self.names), np.bool_)
        suspects = np.flatnonzero(moments.deviation < _SMALL)
        place = np.argsort(self.order) if len(suspects) else self.order
        for k in suspects.tolist():
            values = self.values[counts[self.is_complete] > 0, place[k]]
            is_constant[k] = values.min() == values.max()
        return is_constant


def _scores(values: Floats) -> Floats:
    """Columns with mean 0 and variance 1. Scaled by powers of two first, so that squares neither overflow nor vanish,
    and counted from the first row, so that a large mean costs no digits.
    """
    scaled, _ = in_units(values)
    scaled -= scaled[0].copy()
    scaled -= scaled.mean(axis=0)
    deviation = np.sqrt(np.square(scaled).mean(axis=0))
    scores: Floats = scaled / np.where(deviation > 0, deviation, 1.0)
    return scores


@dataclass(frozen=True, eq=False)
class GaussianRows:
    """The rows behind Fisher's z."""

    scores: Scores
    singular: Singular

    @classmethod
    def of(cls, table: Table, singular: Singular) -> Self:
        """The rows of a table."""
        return cls(Scores.of(table.names, table.values), singular)

    @property
    def n(self) -> int:
        """How many."""
        return len(self.scores.is_complete)

    def test(self, counts: Counts) -> FisherZ:
        """The test of a resample."""
        moments = self.scores.moments(counts)
        Audit.of(constant_findings(moments.names, self.scores.is_constant(moments, counts))).require_usable()
        audit = Audit.of(relation_findings(moments, self.singular))
        audit.require_usable()
        return FisherZ.from_moments(moments, audit)


@dataclass(frozen=True, eq=False)
class MixedRows:
    """The rows behind the test of continuous and discrete columns together.

    Args:
        names: of the variables.
        kinds: what each one is.
        codes: (p, m) the levels of the discrete variables in the complete rows; zeros for continuous ones.
        scores: of the continuous columns, and of one column of zeros and ones for every level of the others.
        start: (p + 1,) where the columns of each variable begin.
        singular: what to do with copies and exact relations.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    codes: npt.NDArray[np.int32]
    scores: Scores
    start: Counts
    singular: Singular

    @classmethod
    def of(cls, table: Table, singular: Singular) -> Self:
        """The rows of a table; those with a gap are not used."""
        is_complete = np.logical_not(np.isnan(table.values).any(axis=1))
        columns, kinds = table.values.T, table.kinds
        codes = np.zeros((len(columns), is_complete.sum()), np.int32)
        spread = [column[:, None] for column in columns]
        for i in (i for i, kind in enumerate(kinds) if kind == "discrete"):
            codes[i] = codes_of(columns[i, is_complete])
            spread[i] = (columns[i][:, None] == np.unique(columns[i, is_complete])).astype(np.float64)
        widths = [some.shape[1] for some in spread]
        values = np.where(is_complete[:, None], np.column_stack(spread), np.nan)
        scores = Scores.of(sortable_names(table.names, widths), values)
        return cls(table.names, kinds, codes, scores, np.append(0, np.cumsum(widths)).astype(np.int64), singular)

    @property
    def n(self) -> int:
        """How many."""
        return len(self.scores.is_complete)

    def test(self, counts: Counts) -> DegenerateGaussian:
        """The test of a resample."""
        weights = counts[self.scores.is_complete]
        moments = self.scores.moments(counts)
        chosen = [self._columns(i, weights) for i in range(len(self.names))]
        audit = Audit.of([*self._constant(moments, counts, chosen), *self._related(moments, weights)])
        audit.require_usable()
        columns = np.concatenate(chosen)
        start = np.append(0, np.cumsum([len(some) for some in chosen])).astype(np.int64)
        correlation = np.ascontiguousarray(moments.correlation[np.ix_(columns, columns)])
        blocks = Blocks.without_gaps(correlation, start)
        return DegenerateGaussian.from_blocks(self.names, self.kinds, moments.n, blocks, audit)

    def _columns(self, i: int, weights: Counts) -> npt.NDArray[np.int64]:
        """The columns of a variable: all the levels that a resample has but the most frequent one."""
        columns = np.arange(self.start[i], self.start[i + 1])
        if self.kinds[i] == "continuous":
            return columns
        times = np.bincount(self.codes[i], weights, len(columns))
        is_there = times > 0
        is_there[times.argmax()] = False
        return columns[is_there]

    def _constant(self, moments: Moments, counts: Counts, chosen: Sequence[npt.NDArray[np.int64]]) -> list[Finding]:
        of_columns = self.scores.is_constant(moments, counts)
        is_constant = [not len(some) or bool(of_columns[some].all()) for some in chosen]
        return constant_findings(self.names, np.array(is_constant))

    def _related(self, moments: Moments, weights: Counts) -> list[Finding]:
        """Copies among discrete variables, exact relations among continuous ones."""
        discrete = [i for i, kind in enumerate(self.kinds) if kind == "discrete"]
        copies = coded_copies([self.names[i] for i in discrete], self.codes[discrete][:, weights > 0])
        continuous = [i for i, kind in enumerate(self.kinds) if kind == "continuous"]
        places = self.start[continuous]
        part = replace(
            moments,
            names=tuple(self.names[i] for i in continuous),
            mean=moments.mean[places],
            deviation=moments.deviation[places],
            correlation=moments.correlation[np.ix_(places, places)],
        )
        relations = relation_findings(part, self.singular) if continuous else []
        return [*copy_findings(copies, self.singular), *relations]
