"""Fisher's z with multiple imputation: missing values are filled in several times (Rubin 1987).

Each filled-in table gives a partial correlation for a question, by its own matrix. Their z transforms are pooled:
the mean, with the variances within and between tables added up, is tested by Student's t with Rubin's
degrees of freedom. Unlike dropping rows, this uses all measured values, and it stays right if gaps depend on measured
values (missing at random). Gaps are filled in by chained regressions: each column with gaps is drawn from a Bayesian
linear regression on the others, in turn, ten times over (van Buuren and Groothuis-Oudshoorn 2011). Columns are taken as
jointly normal, as in Fisher's z. Tables that another program filled in (mice, for example) can be used too. A
regression on about as many columns as rows would draw extreme values that hide true dependences. So a column is
predicted by at most one other column for every ten rows in which it has a value: those most correlated with it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.choices import Choices, require
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import DataTest
from anypag.ci.gaussian import FisherZ
from anypag.data.audit.checklist import audited
from anypag.data.findings import Singular
from anypag.data.moments import name_order
from anypag.data.sources.protocol import Needs
from anypag.data.table import Table, as_table
from anypag.errors import AnypagWarning, DataError
from anypag.markup import LONG, duration

TABLES = 20
SWEEPS = 10
ROWS_PER_PREDICTOR = 10
_RIDGE = 1e-8
_MOST = 1.0 - 1e-12


class ImputedFisherZ(DataTest):
    """Fisher's z, pooled over tables that differ only in the values that were filled in.

    Args:
        tables: two or more tables with the same columns and number of rows, without gaps.
        singular: "error" (columns that are exact functions of others raise an error), "keep" (they stay).
        max_r: the largest condition set that will be asked for, if known; only for the warning about too few rows.

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 200))
    >>> gaps = {"a": a, "b": np.where(rng.random(200) < 0.3, np.nan, a + b)}
    >>> test = ImputedFisherZ(filled_in(gaps, seed=1))
    >>> test.pvalues(Queries.one(0, 1)) < 0.01
    array([ True])
    """

    takes = "continuous"
    fits = "columns are numbers, related by straight lines with Gaussian noise; gaps depend on measured values only"

    def __init__(self, tables: Sequence[Any], *, singular: Singular = "error", max_r: int | None = None) -> None:
        if len(tables) < 2:
            raise DataError(f"Two or more filled-in tables are needed to see how much they differ; got {len(tables)}.")
        self.tests = [FisherZ(table, singular=singular, max_r=max_r) for table in tables]
        first = self.tests[0]
        for test in self.tests:
            if test.names != first.names or test.n != first.n:
                raise DataError("Filled-in tables need the same columns, in the same order, and equally many rows.")
        super().__init__(first.names, first.n, first.audit)

    fills_gaps = True

    @classmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        """The test of a table with gaps, which are filled in."""
        require(choices.missing == "error", "missing", "left out: missing values are filled in", choices.missing)
        table = as_table(data, choices.names).all_of_kind("continuous")
        audit = audited(table, Needs("any", "pairwise", choices.singular, choices.max_r)).audit
        audit.require_usable()
        is_wide = table.n <= len(table.names) + 1  # a table with no more rows than columns always has exact relations
        made = cls(filled_in(table), singular="keep" if is_wide else choices.singular, max_r=choices.max_r)
        made.audit = audit
        return made

    def pvalues(self, queries: Queries) -> PValues:
        from scipy.stats import t

        mean, within, between = self._pooled(queries)
        extra = (1.0 + 1.0 / len(self.tests)) * between
        total = within + extra
        ratio = np.divide(within, extra, out=np.full(len(mean), np.inf), where=extra > 1e-300)
        freedom = np.minimum((len(self.tests) - 1) * (1.0 + ratio) ** 2, 1e12)
        p: PValues = 2.0 * t.sf(np.abs(mean) / np.sqrt(total), freedom)
        return np.where(np.isfinite(within), np.minimum(p, 1.0), 1.0)

    def strength(self, queries: Queries) -> Floats:
        """(b,) |partial correlation|, pooled."""
        return np.abs(np.tanh(self._pooled(queries)[0]))

    def effective_n(self, queries: Queries) -> Counts:
        """(b,) the number of rows, filled in or not."""
        return np.full(len(queries), self.n, np.int64)

    def _pooled(self, queries: Queries) -> tuple[Floats, Floats, Floats]:
        """Mean of the z transforms, variance within a table (infinite with too few rows), variance between tables."""
        z = np.array([np.arctanh(_signed(test, queries)) for test in self.tests])
        freedom = self.n - (queries.r - self.tests[0].left_out(queries)) - 3.0
        within = np.divide(1.0, freedom, out=np.full(len(queries), np.inf), where=freedom > 0)
        return z.mean(axis=0), within, z.var(axis=0, ddof=1)


def _signed(test: FisherZ, queries: Queries) -> Floats:
    """Partial correlations: size by Fisher's z, sign by the inverse of each small matrix; equal bits in any order."""
    asked = test.arranged(queries)
    members = np.column_stack([asked.x, asked.y, asked.z])
    small = test.correlation[members[:, :, None], members[:, None, :]]
    precision = np.linalg.inv(small + _RIDGE * np.eye(small.shape[1]))
    sign = np.where(precision[:, 0, 1] <= 0, 1.0, -1.0)
    signed: Floats = sign * np.minimum(test.strength(queries), _MOST)
    return signed


def filled_in(data: Any, names: Sequence[str] | None = None, *, count: int = TABLES, seed: int = 0) -> list[Table]:
    """Copies of a table of numbers, each with its gaps filled in by its own random draws.

    Args:
        data: any table; see `anypag.data.as_table`.
        names: for an array, the names of its columns; otherwise, which columns to use.
        count: how many tables.
        seed: of the draws; they do not depend on the order of the columns.

    >>> [table.values.shape for table in filled_in([[1.0, 2.0], [2.0, np.nan], [3.0, 5.0], [4.0, 8.5]], count=2)]
    [(4, 2), (4, 2)]
    """
    table = as_table(data, names)
    order = name_order(table.names)
    values = table.values[:, order]
    if np.isnan(values).all(axis=0).any():
        raise DataError("A column without any value cannot be filled in. Drop it.")
    exponent = np.frexp(np.nanmax(np.abs(values), axis=0))[1] - 1
    unit = np.ldexp(1.0, np.clip(exponent, -1000, 1023))  # in these units squares cannot overflow
    mean, scale = np.nanmean(values / unit, axis=0), np.nanstd(values / unit, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    scaled = (values / unit - mean) / scale
    seeds = np.random.SeedSequence(seed).spawn(count)
    back = np.argsort(order)
    gaps, tables, began = np.isnan(values), list[Table](), time.perf_counter()
    for one in seeds:
        made = _in_units(_drawn(scaled, np.random.default_rng(one)) * scale + mean, unit)
        tables.append(_with_values(table, np.where(gaps, made, values)[:, back]))
        if len(tables) == 1:
            _warn_of_time((count - 1) * (time.perf_counter() - began), count)
    return tables


def _warn_of_time(seconds: float, count: int) -> None:
    """Say about how long the other tables will take, if that is long."""
    if seconds >= LONG:
        message = f"Filling in the gaps {count} times takes about {duration(seconds)}."
        warnings.warn(message, AnypagWarning, stacklevel=2)


def _in_units(made: Floats, unit: Floats) -> Floats:
    """Draws in the units of their columns, limited to the range of floats."""
    largest = np.finfo(np.float64).max / np.maximum(unit, 1.0)
    return np.asarray(np.clip(made, -largest, largest) * unit, np.float64)


def _with_values(table: Table, values: Floats) -> Table:
    return Table(table.names, np.asfortranarray(values), table.labels, table.given_kinds)


def _drawn(values: Floats, random: np.random.Generator) -> Floats:
    """(n, p) the values with gaps filled in: first by random values of the column, then by regression on the others."""
    gaps = np.isnan(values)
    filled = np.array(values)
    some, predictors = np.flatnonzero(gaps.any(axis=0)).tolist(), _predictors(values)
    for k in some:
        filled[gaps[:, k], k] = random.choice(values[~gaps[:, k], k], int(gaps[:, k].sum()))
    for _ in range(SWEEPS):
        for k in some:
            filled[gaps[:, k], k] = _regressed(filled, k, predictors[k], gaps[:, k], random)
    return filled


def _predictors(values: Floats) -> list[Counts]:
    """For each column of mean 0 and deviation 1, the columns it is drawn from: all others, or the closest of them.

    Two columns are close if the sum of their products, over the rows that have both, is large against its deviation.
    """
    present = (~np.isnan(values)).astype(np.float64)
    filled = np.where(present > 0, values, 0.0)
    spread = np.square(filled).T @ np.square(filled)
    close = np.divide(np.abs(filled.T @ filled), np.sqrt(spread), out=np.zeros_like(spread), where=spread > 0)
    np.fill_diagonal(close, -1.0)
    most = np.maximum(present.sum(axis=0) // ROWS_PER_PREDICTOR, 1).astype(np.int64)
    order = np.argsort(-close, axis=1, kind="stable")[:, :-1]
    return [np.sort(columns[:count]) for columns, count in zip(order, most, strict=True)]


def _regressed(filled: Floats, k: int, predictors: Counts, gap: Any, random: np.random.Generator) -> Floats:
    """Draws for the gaps of column k from the posterior of its regression on the predictors."""
    design = np.column_stack([np.ones(len(filled)), filled[:, predictors]])
    known, target = design[~gap], filled[~gap, k]
    gram = known.T @ known + _RIDGE * len(known) * np.eye(design.shape[1])
    weights = np.linalg.solve(gram, known.T @ target)
    rest = target - known @ weights
    freedom = max(len(known) - design.shape[1], 1)
    deviation = np.sqrt(rest @ rest / random.chisquare(freedom))
    root = np.linalg.cholesky(np.linalg.inv(gram))
    weights = weights + deviation * (root @ random.normal(size=len(weights)))
    made: Floats = design[gap] @ weights + deviation * random.normal(size=int(gap.sum()))
    return made
