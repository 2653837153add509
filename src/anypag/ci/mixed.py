"""A test for continuous and discrete columns together: the degenerate-Gaussian likelihood ratio.

A discrete column with k levels becomes k - 1 columns of zeros and ones, a continuous one stays, and all of them are
treated as jointly Gaussian. Independence of x and y given z is then independence of two blocks of columns given a
third: the likelihood ratio is Wilks' lambda, and -(n - 1 - |z| - (|x| + |y| + 1) / 2) · log(lambda), with Bartlett's
correction and all sizes in columns, is close to χ² with |x| · |y| degrees of freedom. (Andrews, Ramsey and Cooper 2019,
"Learning high-dimensional directed acyclic graphs with mixed data-types".)

Its advantages: it needs one correlation matrix, computed once; it is symmetric in x and y; and a condition set with
many levels only adds columns, while the conditional-Gaussian test would split the rows by every combination of levels.
Its limits: it sees differences in means, but no interactions between discrete columns of z and no differences in
spread. For two continuous columns it is a test of partial correlation, for two discrete ones close to Pearson's χ².

A column that those before it (in the order of the names) nearly determine is left out with its degrees of freedom, as
in `FisherZ`. With missing="pairwise" a column that is constant in the rows of a test is left out too, such as that of a
level which does not occur in them. With too few rows, or if x or y has no column left, p = 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.choices import Choices
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import StatisticTest, pvalues_of_statistic, require_no_gaps
from anypag.data.audit.checklist import audited
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.findings import Audit, Singular
from anypag.data.levels import indicators, require_few, sortable_names
from anypag.data.moments import moments_of, without_gaps
from anypag.data.sources.door import as_source
from anypag.data.sources.protocol import Needs
from anypag.data.table import Kind, Missing, Table

if TYPE_CHECKING:
    from anypag.scores.mixed import MixedScore


class DegenerateGaussian(StatisticTest):
    """The degenerate-Gaussian likelihood-ratio test, for any mix of continuous and discrete columns.

    Args:
        data: any table; see `anypag.data.as_table`.
        names: for an array, the names of its columns; otherwise, which columns to use.
        kinds: "continuous" or "discrete", for columns whose kind should not be inferred.
        missing: "error" (missing values raise an error), "drop" (rows with any are left out), "pairwise" (each test
            leaves out the rows in which its own columns have gaps).
        singular: "error" (columns that are exact functions of others raise an error), "keep" (they stay).
        max_r: the largest condition set that will be asked for, if known; only for the warning about too few
            rows.

    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 3, size=300)
    >>> size, luck = group % 2 + rng.normal(size=300), rng.normal(size=300)
    >>> test = DegenerateGaussian({"group": group, "size": size, "luck": luck})
    >>> test.kinds
    ('discrete', 'continuous', 'continuous')
    >>> (test.pvalues(Queries([0, 0], [1, 2], np.empty((2, 0)))) < 0.01).tolist()
    [True, False]
    """

    takes = "any"
    fits = "numbers are related by straight lines, categories shift them"

    kinds: tuple[Kind, ...]
    """The kind of each column: given by the user or inferred."""
    blocks: Blocks
    """The table with its discrete columns spread out."""

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        kinds: Mapping[str, Kind] | None = None,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
    ) -> None:
        source = as_source(data, names, kinds)
        source = source.rows() if missing == "pairwise" else source
        ready = audited(source, Needs("any", missing, singular, max_r))
        ready.audit.require_usable()
        super().__init__(ready.source.names, ready.source.n, ready.audit)
        self.kinds = ready.source.kinds
        if ready.has_gaps:
            self.blocks = Blocks.of(ready.source.rows())
        else:
            moments, start = ready.source.spread()
            excess = excess_of_blocks(moments.mean, start, self.kinds, self.n)
            self.blocks = Blocks.without_gaps(moments.correlation, start, excess)

    @classmethod
    def from_blocks(cls, names: tuple[str, ...], kinds: tuple[Kind, ...], n: int, blocks: Blocks, audit: Audit) -> Self:
        """The test of n rows from the correlations of all spread-out columns."""
        test = cls.__new__(cls)
        StatisticTest.__init__(test, names, n, audit)
        test.kinds, test.blocks = kinds, blocks
        return test

    @property
    def has_gaps(self) -> bool:
        """Do columns have missing values, so that each test leaves out the rows in which its own columns have gaps?"""
        return bool(self.blocks.values.size)

    def score(self) -> MixedScore:
        """The degenerate-Gaussian score of the correlations that the test goes by."""
        from anypag.scores.base import GAMMA
        from anypag.scores.mixed import MixedScore

        require_no_gaps(self.has_gaps)
        start = self.blocks.start.astype(np.int32)
        return MixedScore(self.names, self.n, self.blocks.correlation, start, gamma=GAMMA)

    @classmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        """The test of a table, made as the choices say."""
        names, kinds, max_r = choices.names, choices.kinds, choices.max_r
        return cls(data, names, kinds=kinds, missing=choices.missing, singular=choices.singular, max_r=max_r)

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) p-values; for columns with rare levels the degrees of freedom are lowered to match permutations."""
        statistics, freedoms, rows = self.statistics(queries)
        part = freedom_share(self.blocks.excess[queries.x] * self.blocks.excess[queries.y], rows)
        return pvalues_of_statistic(part * statistics, part * freedoms)

    def effective_n(self, queries: Queries) -> Counts:
        """(b,) the number of rows each answer rests on."""
        return self.statistics(queries)[2]

    def statistics(self, queries: Queries) -> tuple[Floats, Counts, Counts]:
        """(b,) each: the statistics, their degrees of freedom, and the rows they rest on."""
        from anypag._kernels.gaussian import block_statistics

        queries = self.arranged(queries)
        answers = np.empty(len(queries)), np.empty(len(queries), np.int64), np.full(len(queries), self.n)
        blocks, x, y, z = self.blocks, queries.x, queries.y, queries.z
        block_statistics(
            blocks.correlation,
            blocks.values,
            blocks.has_value,
            blocks.start,
            x,
            y,
            z,
            NOTHING_LEFT,
            *answers,
        )
        return answers


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table with its discrete columns spread out: the arguments of `block_statistics`."""

    correlation: Floats
    start: Counts
    values: Floats
    has_value: npt.NDArray[np.bool_]
    excess: Floats
    """(p,) how far each discrete variable is from normal (`excess_of_levels`); 0 for continuous ones."""

    @classmethod
    def without_gaps(cls, correlation: Floats, start: Counts, excess: Floats) -> Self:
        """The (c, c) correlations of complete columns, those of variable i from start[i] on."""
        nothing = np.empty((len(correlation), 0))
        return cls(correlation, start, nothing, nothing.astype(np.bool_), excess)

    @classmethod
    def of(cls, table: Table) -> Self:
        """The blocks of a table."""
        spread = [
            indicators(column) if kind == "discrete" else column[:, None]
            for column, kind in zip(table.values.T, table.kinds, strict=True)
        ]
        widths = [columns.shape[1] for columns in spread]
        require_few(table.names, widths)
        values = np.column_stack(spread)
        gaps = np.isnan(values)
        moments = moments_of(without_gaps(values), sortable_names(table.names, widths))
        start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        has_value = np.ascontiguousarray(np.logical_not(gaps).T)
        present = has_value.sum(axis=1)
        means = np.where(gaps, 0.0, values).sum(axis=0) / np.maximum(present, 1)
        excess = excess_of_blocks(means, start, table.kinds, present[start[:-1]])
        if not gaps.any():
            return cls.without_gaps(moments.correlation, start, excess)
        return cls(moments.correlation, start, np.ascontiguousarray(values.T), has_value, excess)


NEARLY_NORMAL = 0.01
"""Up to this excess of variance over that of χ² no correction is made."""
LEAST_SHARE = 1e-3
"""The least degrees of freedom after a correction."""


def freedom_share(excess: Floats, rows: Counts) -> Floats:
    """(b,) the factor for the degrees of freedom if the variance is 1 + excess times that of normal columns.

    >>> freedom_share(np.array([0.0, 1.0, 99.0]), np.array([1001, 1001, 1001])).round(3).tolist()
    [1.0, 0.499, 0.008]
    """
    share = ((rows + 1.0) / (1.0 + np.maximum(excess, 0.0)) - 2.0) / np.maximum(rows - 1.0, 1.0)
    return np.where(excess > NEARLY_NORMAL, np.clip(share, LEAST_SHARE, 1.0), 1.0)


def excess_of_blocks(means: Floats, start: Counts, kinds: Sequence[Kind], n: int | Counts) -> Floats:
    """(p,) `excess_of_levels` of discrete variables, from the means of their columns of zeros and ones; else 0."""
    rows, found = np.broadcast_to(n, len(kinds)), np.zeros(len(kinds))
    for i, kind in enumerate(kinds):
        if kind == "discrete":
            shares = means[start[i] : start[i + 1]]
            found[i] = excess_of_levels(np.round(np.append(shares, 1.0 - shares.sum()) * rows[i]))
    return found


def excess_of_levels(counts: Floats) -> float:
    """How far columns of zeros and ones are from normal, from the rows of each level; large where levels are rare.

    If rows are permuted, the variance of the trace of the product of two projections on such columns (of R², if one of
    them is a single column) is 1 + a · b times that of normal columns, where a and b are these numbers (Box and Watson
    1962). It is the excess kurtosis of a single column over sqrt(2 n), and 0 where that is negative (even levels).

    >>> round(excess_of_levels(np.array([50.0, 50.0])), 3), round(excess_of_levels(np.array([99.0, 1.0])), 3)
    (0.0, 6.999)
    """
    counts = counts[counts > 0]
    n, d = float(counts.sum()), len(counts) - 1.0
    if n <= 3 or not 0 < d < n - 1:
        return 0.0
    squares = (1.0 / counts).sum() - 2.0 * len(counts) / n + 1.0 / n
    above = n * (n + 1) * squares - (n - 1) * d * (d + 2)
    return max(float(np.sqrt((n - 1) / (2 * n * (n - 3))) * above / (d * (n - 1 - d))), 0.0)
