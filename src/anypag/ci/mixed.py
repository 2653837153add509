"""A test for continuous and discrete columns together: the degenerate-Gaussian likelihood ratio.

A discrete column with k levels becomes k - 1 columns of zeros and ones, a continuous one stays, and all of them are
treated as jointly Gaussian. Independence of x and y given z is then independence of two blocks of columns given a
third. The likelihood ratio is Wilks' lambda. With Bartlett's correction, -(n - 1 - |z| - (|x| + |y| + 1) / 2) ·
log(lambda) is close to χ² with |x| · |y| degrees of freedom; |x|, |y| and |z| are numbers of columns. (Andrews, Ramsey
and Cooper 2019, "Learning high-dimensional directed acyclic graphs with mixed data-types".)

Without gaps one correlation matrix serves all questions; levels in z only add columns. The test sees differences in
means, but no interactions between discrete columns of z and no differences in spread. For two continuous columns it is
a test of partial correlation, for two discrete ones close to Pearson's χ².

If x and y both have rare levels, heavy tails or many zeros, or if they have so many levels that χ² is inaccurate,
p is at least the p-value of Pillai's trace under permutations of the rows (`anypag.ci.data_test`).

If earlier columns (in the order of the names) nearly determine a column, it is left out with its degrees of freedom, as
in `FisherZ`. With missing="pairwise" a column that is constant in the rows of a test is left out too, for example the
column of a level without rows. With too few rows, or if x or y has no column left, p = 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import (
    NEARLY_NORMAL,
    StatisticTest,
    excess_of_levels,
    excess_of_numbers,
    pvalues_of_statistic,
    pvalues_of_traces,
    require_no_gaps,
)
from anypag.data.audit.checklist import audited
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.findings import Audit, Singular
from anypag.data.levels import sortable_names, spread_out, starts_of
from anypag.data.moments import Moments, moments_of, without_gaps
from anypag.data.sources.counted import worth_in
from anypag.data.sources.door import as_source
from anypag.data.sources.protocol import Needs
from anypag.data.table import Kind, Missing, Table

if TYPE_CHECKING:
    from anypag.scores.mixed import MixedScore


class DegenerateGaussian(StatisticTest):
    """The degenerate-Gaussian likelihood-ratio test, for any mix of continuous and discrete columns.

    Args:
        data, names, missing, singular, max_r: as for `FisherZ`.
        kinds: "continuous", "discrete" or "ordinal", for columns whose kind should not be inferred.

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
    options = (*StatisticTest.options, "kinds")
    weighs = True
    fits = "numbers are related by straight lines, categories shift them"

    kinds: tuple[Kind, ...]  # the kind of each column: given by the user or inferred
    blocks: Blocks  # the table with columns of zeros and ones for levels

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        kinds: Mapping[str, str] | None = None,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
    ) -> None:
        needs = Needs("any", missing, singular, max_r, weighs=self.weighs and missing != "pairwise")
        ready = audited(as_source(data, names, kinds), needs)
        ready.audit.require_usable()
        super().__init__(ready.source.names, ready.source.n, ready.audit)
        self.kinds = ready.source.kinds
        if ready.has_gaps:
            self.blocks = Blocks.of(ready.source.rows())
        else:
            moments, start = ready.source.spread()
            self.n, self.worth = moments.n, worth_in(ready.source)
            excess = excess_of_blocks(moments, start, self.kinds, self.n)
            self.blocks = Blocks.without_gaps(moments.correlation, start, excess)
            self._keep_some_rows(ready.source)

    @classmethod
    def from_blocks(cls, names: tuple[str, ...], kinds: tuple[Kind, ...], n: int, blocks: Blocks, audit: Audit) -> Self:
        """The test of n rows from the correlations of all columns of `blocks`."""
        test = cls.__new__(cls)
        StatisticTest.__init__(test, names, n, audit)
        test.kinds, test.blocks = kinds, blocks
        return test

    @property
    def has_gaps(self) -> bool:
        return bool(self.blocks.values.size)

    def score(self) -> MixedScore:
        from anypag.scores.base import GAMMA
        from anypag.scores.mixed import MixedScore

        require_no_gaps(self.has_gaps)
        start = self.blocks.start.astype(np.int32)
        return MixedScore(self.names, self.n_scored, self.blocks.correlation, gamma=GAMMA, start=start)

    def pvalues(self, queries: Queries) -> PValues:
        statistics, freedoms, rows, widths, excess, traces = self._answers(queries)
        p = pvalues_of_statistic(statistics, freedoms)
        odd = np.flatnonzero(~np.isnan(traces))
        if len(odd):
            of_z, of_x, of_y = widths[odd].T
            permuted = pvalues_of_traces(traces[odd], of_x, of_y, rows[odd] - 1 - of_z, excess[odd])
            p[odd] = np.maximum(p[odd], permuted)
        return p

    def effective_n(self, queries: Queries) -> Counts:
        return self.statistics(queries)[2]

    def statistics(self, queries: Queries) -> tuple[Floats, Counts, Counts]:
        return self._answers(queries)[:3]

    def _answers(self, queries: Queries) -> tuple[Floats, Counts, Counts, Counts, Floats, Floats]:
        """`statistics`, `freedoms`, `rows`; `widths` (b, 3), how many columns of z, x and y are kept; `excess`, the
        excess of x times that of y; `traces`, Pillai's trace, or NaN where χ² alone gives p.
        """
        from anypag._kernels.gaussian import block_statistics

        queries, b = self.arranged(queries), len(queries)
        blocks, x, y, z = self.blocks, queries.x, queries.y, queries.z
        excess, traces = blocks.excess[x] * blocks.excess[y], np.full(b, np.nan)
        counts = np.empty(b, np.int64), self._rows(queries), np.zeros((b, 3), np.int64)
        answers = np.empty(b), *counts, excess, traces
        spread = blocks.correlation, blocks.start, blocks.values, blocks.has_value
        block_statistics(spread, x, y, z, NOTHING_LEFT, NEARLY_NORMAL, answers)
        return answers


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table with columns of zeros and ones for the levels of discrete columns, as `block_statistics` takes it."""

    correlation: Floats
    start: Counts
    values: Floats
    has_value: npt.NDArray[np.bool_]
    excess: Floats  # (p,) the excess of each variable (`ci.data_test`); 0 with gaps, as each question computes it

    @classmethod
    def without_gaps(cls, correlation: Floats, start: Counts, excess: Floats) -> Self:
        """The blocks of a table without gaps. `correlation` is (c, c); the columns of variable i begin at start[i]."""
        nothing = np.empty((len(correlation), 0))
        return cls(correlation, start, nothing, nothing.astype(np.bool_), excess)

    @classmethod
    def of(cls, table: Table) -> Self:
        spread = spread_out(table.values, table.kinds)
        widths = [columns.shape[1] for columns in spread]
        start, values = starts_of(table.names, widths), np.column_stack(spread)
        moments = moments_of(without_gaps(values), sortable_names(table.names, widths))
        has_value = np.ascontiguousarray(~np.isnan(values).T)
        return cls(moments.correlation, start, np.ascontiguousarray(values.T), has_value, np.zeros(len(widths)))


def excess_of_blocks(moments: Moments, start: Counts, kinds: Sequence[Kind], n: int) -> Floats:
    """(p,) the excess of each variable. That of a discrete variable is computed from the means of its columns."""
    found = excess_of_numbers(np.append(moments.kurtosis, 0.0)[start[:-1]], n)
    for i in (i for i, kind in enumerate(kinds) if kind == "discrete"):
        shares = moments.mean[start[i] : start[i + 1]]
        found[i] = excess_of_levels(np.round(np.append(shares, 1.0 - shares.sum()) * n))
    return found
