"""The base class of tests that are bound to a table, and p-values for columns far from normal.

Take the sum of the squared canonical correlations of two blocks of columns (R², if one block is a single column). Under
permutations of the rows its mean is the same for all distributions of the columns, but its variance is not. Where both
blocks have a few extreme values (heavy tails, rare levels, columns of almost only zeros), one row with two extreme
values decides, and χ² or F reject too often. Box and Watson (1962) give the exact variance. It is the variance for
normal columns times 1 + a · b, where a and b are called the excesses of the two blocks. A beta distribution with this
mean and variance gives a second p-value, and the larger of the two is the answer. (`ci.additive` lowers the degrees of
freedom of F instead.) With a condition set, the excesses are still those of the columns, not of their residuals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats, Indices
from anypag.choices import Choices
from anypag.ci.base import PValues, Queries, require_in_range, without_score
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.findings import Audit, Finding
from anypag.data.moments import name_order
from anypag.data.sources.protocol import Source
from anypag.data.worth import Worth
from anypag.errors import DataError, Option

if TYPE_CHECKING:
    from anypag.scores.base import Score

NEARLY_NORMAL = 0.01  # no correction if the variance exceeds that for normal columns by at most this share
LEAST_SHARE = 1e-3  # a correction leaves at least this share of the degrees of freedom
TESTED = 3  # how many functions of a column the additive test tests; the powers of normal scores come after them
MOST_ROWS_KEPT, MOST_COLUMNS_KEPT = 5000, 200  # the most rows kept for checks, and the most columns of such a table


class DataTest(ABC):
    """A test bound to data. Members of a condition set are processed in the order of the names (`arranged`), so the
    order of the set or of the columns does not matter.
    """

    exact: ClassVar[bool] = False
    batch: ClassVar[int] = 65536
    takes: ClassVar[Literal["continuous", "discrete", "any"]]  # the kind of columns the test is for
    options: ClassVar[tuple[str, ...]] = ("names", "missing", "singular", "max_r")
    """The names of the choices that `bind` passes on as arguments of the class."""
    weighs: ClassVar[bool] = False  # can it weight rows (`anypag.weighted`)?
    fits: ClassVar[str] = "as its author says"  # what must be true of the data for the p-values to be right

    names: tuple[str, ...]  # the columns
    n: int  # the number of rows
    audit: Audit  # the findings in the data
    worth: Worth | None = None  # the effective number of rows, if rows are weighted or levels are ordered
    some_rows: Floats | None = None  # (m, p) rows, as the test sees them, for checks of a fitted graph; None if none
    is_number: tuple[bool, ...] = ()  # per column: does it hold numbers, not words? Empty if `some_rows` is None

    def __init__(self, names: tuple[str, ...], n: int, audit: Audit) -> None:
        self.names = names
        self.n = n
        self.audit = audit
        self._stored: Indices = name_order(names).astype(np.int32)
        """(p,) for each place in the order of the names, where its column is stored."""
        self.place: Indices = np.argsort(self._stored).astype(np.int32)
        """(p,) the place of each column in the order of the names."""

    @classmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        """The test of a table, made as the choices say."""
        return cls(data, **{name: getattr(choices, name) for name in cls.options})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.names)} columns, {self.n_rows} rows)"

    @property
    def n_rows(self) -> int:
        return self.n if self.worth is None else self.worth.n_rows

    @property
    def n_scored(self) -> int:
        """The number of rows that a score counts."""
        return self.n if self.worth is None else self.worth.n_scored

    def with_findings(self, found: Sequence[Finding]) -> Self:
        """The test, with these findings added to its audit. They were made before the test was bound."""
        made = copy(self)
        made.audit = self.audit.with_findings(found)
        return made if found else self

    @abstractmethod
    def pvalues(self, queries: Queries) -> PValues:
        """(b,) p-values."""

    @abstractmethod
    def strength(self, queries: Queries) -> Floats:
        """(b,) how strongly x and y depend on each other; it ranks even pairs whose p-value is 0."""

    @abstractmethod
    def effective_n(self, queries: Queries) -> Counts:
        """(b,) the number of rows each answer rests on."""

    def score(self) -> Score:
        """The score of the data that the test read, for graphs over the same columns. DataError if there is none."""
        raise without_score(self)

    def _rows(self, queries: Queries) -> Counts:
        """(b,) the number of rows each answer rests on if no values are missing."""
        if self.worth is None:
            return np.full(len(queries), self.n)
        return self.worth.rows(queries.x, queries.y, queries.z)

    def _keep_some_rows(self, source: Source) -> None:
        """Keeps all rows of a short table, and evenly spaced rows of a long one; with weights or many columns, none."""
        if "rows" not in source.lacks and self.worth is None and len(source.names) <= MOST_COLUMNS_KEPT:
            values = source.sample().values
            step = -(-len(values) // MOST_ROWS_KEPT)
            self.some_rows = values if step < 2 else values[::step].copy()
            self.is_number = tuple(labels is None for labels in source.labels)

    def _store_by_name(self) -> None:
        """Records that the columns are now stored in the order of their names."""
        self._stored = np.arange(len(self.names), dtype=np.int32)

    def arranged(self, queries: Queries) -> Queries:
        """The queries as kernels take them: stored column numbers, with x before y and z sorted, both by name."""
        from anypag._kernels.pairs import arranged

        inside, *parts = arranged(self.place, self._stored, queries.x, queries.y, queries.z)
        if not inside:
            self._check(queries)
        return Queries(*parts)

    def _check(self, queries: Queries) -> None:
        require_in_range(queries, len(self.names), "columns")


def require_no_gaps(has_gaps: bool) -> None:
    """Raises DataError if there are gaps, since a score needs complete rows."""
    if has_gaps:
        raise DataError(f"A score needs a value in every cell, and some are missing. Take {Option('missing', 'drop')}.")


def strength_of_statistic(statistics: Floats, means: npt.NDArray[Any], rows: Counts) -> Floats:
    """A likelihood-ratio or χ² statistic on the scale of a correlation, between 0 and 1.

    For Gaussian columns such a statistic is -n · log(1 - rho²), so rho = sqrt(1 - exp(-statistic / n)); the same
    formula is used for other columns. The mean of the statistic under independence (its degrees of freedom, for χ²) is
    subtracted first, so that many cells alone do not look like a strong dependence.
    """
    excess = np.maximum(statistics - means, 0.0) / np.maximum(rows, 1)
    return np.asarray(np.sqrt(-np.expm1(-excess)))


class StatisticTest(DataTest):
    """A test whose statistic follows χ² under independence."""

    @abstractmethod
    def statistics(self, queries: Queries) -> tuple[Floats, npt.NDArray[Any], Counts]:
        """Statistics, degrees of freedom and numbers of rows used, each (b,)."""

    def pvalues(self, queries: Queries) -> PValues:
        statistics, freedoms, _ = self.statistics(queries)
        return pvalues_of_statistic(statistics, freedoms)

    def strength(self, queries: Queries) -> Floats:
        return strength_of_statistic(*self.statistics(queries))


def pvalues_of_statistic(statistics: Floats, freedoms: npt.NDArray[Any]) -> PValues:
    """The upper tail of χ²; 1 where there are no degrees of freedom."""
    from scipy.special import chdtrc

    return np.where(freedoms > 0, chdtrc(np.where(freedoms > 0, freedoms, 1), statistics), 1.0)


def excess_of_levels(counts: Floats) -> float:
    """The excess of a discrete column, from the number of rows with each level; large if levels are rare."""
    counts = counts[counts > 0]
    n, d = float(counts.sum()), len(counts) - 1.0
    if n <= 3 or not 0 < d < n - 1:
        return 0.0
    squares = (1.0 / counts).sum() - 2.0 * len(counts) / n + 1.0 / n
    above = n * (n + 1) * squares - (n - 1) * d * (d + 2)
    return max(float(np.sqrt((n - 1) / (2 * n * (n - 3))) * above / (d * (n - 1 - d))), 0.0)


def excess_of_functions(functions: Floats, is_discrete: bool) -> Floats:
    """(3,) the excess of the first one, two and three `functions` (n, q) of a column, from rows without gaps."""
    rows = functions[~np.isnan(functions).any(axis=1)]
    n, each, found = float(len(rows)), np.ones(len(rows)), []
    if is_discrete:
        counts = rows.sum(axis=0)
        return np.full(TESTED, excess_of_levels(np.append(counts, n - counts.sum())))
    basis, on_diagonal = np.sqrt(each / n)[:, None], np.zeros(len(rows))
    for column in rows[:, :TESTED].T:
        rest = np.ascontiguousarray(column)
        length = rest @ rest
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        if rest @ rest > NOTHING_LEFT * length:
            unit = rest / np.sqrt(rest @ rest)
            basis, on_diagonal = np.column_stack([basis, unit]), on_diagonal + np.square(unit)
        d = basis.shape[1] - 1.0
        above = n * (n + 1) * (each @ np.square(on_diagonal)) - (n - 1) * d * (d + 2)
        found.append(max(above / (d * (n - 1 - d)), 0.0) if 0 < d < n - 1 and n > 3 else 0.0)
    found += [found[-1]] * (TESTED - len(found))
    return np.sqrt((n - 1) / (2 * n * (n - 3))) * np.array(found) if n > 3 else np.zeros(TESTED)


def excess_of_numbers(kurtosis: Floats, n: int | Counts) -> Floats:
    """(p,) the excess of single columns of n rows, from their kurtosis (3 for normal ones)."""
    rows = np.maximum(np.asarray(n, np.float64), 4.0)
    above = ((rows + 1) * kurtosis - 3 * (rows - 1)) / (rows - 2)
    return np.where(np.asarray(n) > 3, np.sqrt((rows - 1) / (2 * rows * (rows - 3))) * np.maximum(above, 0.0), 0.0)


def pvalues_of_traces(traces: Floats, width_x: Counts, width_y: Counts, freedom: Counts, excess: Floats) -> Floats:
    """(b,) the probability that squared canonical correlations of two blocks of permuted rows add up to `traces` or
    more. `freedom`: rows - 1 - columns of the condition set; `excess`: the product of the excesses of the two blocks.
    """
    from scipy.special import betainc

    few, many = np.minimum(width_x, width_y), np.maximum(width_x, width_y)
    m = np.maximum(freedom, many + 1.0)
    mean = many / m
    normal = 2.0 * (width_x * (m - width_x)) * (width_y * (m - width_y)) / (m * m * (m + 2) * np.maximum(m - 1, 1.0))
    variance = normal * (1.0 + np.maximum(excess, 0.0))
    most = few * m / 2
    total = np.clip(few * few * mean * (1 - mean) / variance - 1.0, LEAST_SHARE * most, most)
    share = np.clip(traces / few, 0.0, 1.0)
    below = betainc(mean * total, (1 - mean) * total, share)
    above = np.where(below < 0.5, 1.0 - below, betainc((1 - mean) * total, mean * total, 1.0 - share))
    return np.where(freedom > many, above, 1.0)
