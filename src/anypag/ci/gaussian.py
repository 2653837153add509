"""Fisher's z test of partial correlation, for continuous columns that are jointly Gaussian.

Let rho be the partial correlation of x and y given z. If x and y are independent given z, sqrt(n - |z| - 3) ·
atanh(rho) is close to standard normal. One correlation matrix, computed once, answers every question.

If x and y both have heavy tails, or mostly a single value, a few rows decide rho. Then p is the larger of two p-values:
that of Fisher's z, and that of rho² under permutations of the rows (`anypag.ci.data_test`). Only if
Fisher's z gives exactly 0, p stays 0.

Three rules keep every answer a number:

- A member of z is left out if the members before it (in the order of the names) leave less than 1e-10 of its
  variance unexplained. If z explains x or y to this degree, p = 1.
- With missing="pairwise" a column is judged by the rows that a test uses: a member of z that is constant in them is
  left out too, and if x or y is constant in them, p = 1.
- If n - |z| - 3 is not positive there are too few rows to show any dependence, and p = 1. The audit warns of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.choices import Choices, Device, require
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import NEARLY_NORMAL, DataTest, excess_of_numbers, pvalues_of_traces, require_no_gaps
from anypag.ci.gpu import Card, GPUPasses, on_device
from anypag.ci.passes import CorrelationPasses, Passes, RaisedPasses, roots_of, strength_at
from anypag.data.audit.checklist import Audited, audited
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.files.scan import AS_USUAL, Reading
from anypag.data.findings import Audit, Singular
from anypag.data.moments import Moments, fisher_freedom, moments_of, without_gaps
from anypag.data.sources.counted import worth_in
from anypag.data.sources.covariance import CovarianceTable, covariance_moments
from anypag.data.sources.door import as_source
from anypag.data.sources.protocol import Needs
from anypag.data.table import Missing

if TYPE_CHECKING:
    from anypag.scores.gaussian import GaussianScore


class FisherZ(DataTest):
    """Partial correlation, tested by Fisher's z transform.

    Args:
        data: any table of numbers; see `anypag.data.as_table`. A file is read in parts and only its correlation matrix
            is kept, unless `missing` is "pairwise"; from a table in an engine (DuckDB, Dask, ...) only sums are pulled.
        names: for an array, the names of its columns; otherwise, which columns to use.
        missing: "error" (missing values raise an error), "drop" (rows with any are left out), "pairwise" (each test
            leaves out the rows in which its own columns have gaps).
        singular: "error" (columns that are exact functions of others raise an error), "keep" (they stay; a test
            leaves out members of z that others determine).
        max_r: the size of the largest condition set of the search, if known; used only to warn of too few rows.
        threads: how many threads compute the correlation matrix; their number does not change it.
        device: "cpu", "cuda" (a graphics card: the correlation matrix and passes over all pairs are computed there)
            or "auto" (a card where there is one, else the CPU with a warning).

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> test = FisherZ({"a": a, "b": a + rng.normal(size=200), "c": rng.normal(size=200)})
    >>> (test.pvalues(Queries([0, 0], [1, 2], [[2], [1]])) < 0.01).tolist()
    [True, False]
    """

    takes = "continuous"
    options = (*DataTest.options, "threads", "device")
    weighs = True
    fits = "columns are numbers, related by straight lines with Gaussian noise"
    _gaps: _Gaps | None = None
    _gpu: GPUPasses | None = None

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
        threads: int = 1,
        device: Device = "cpu",
    ) -> None:
        require(isinstance(threads, int) and threads >= 1, "threads", "a whole number, 1 or more", threads)
        require(device in get_args(Device), "device", "'cpu', 'cuda' or 'auto'", device)
        needs = Needs("continuous", missing, singular, max_r, weighs=self.weighs and missing != "pairwise")
        source = as_source(data, names)

        def read(card: Card | None) -> None:
            ready = audited(source, needs, threads=threads, on=card)
            self._read(ready)
            no_card = "'cpu', because with missing='pairwise' each test uses other rows"
            require(card is None or not ready.has_gaps, "device", no_card, device)
            self.use_card(card, device)

        on_device(read, device)

    def _read(self, ready: Audited) -> None:
        """Sets up the test from the moments of an audited source, or from its rows if they have gaps."""
        ready.audit.require_usable()
        if ready.has_gaps:
            table = ready.source.rows()
            self._set_up(moments_of(without_gaps(table.values), table.names), ready.audit)
            values = np.ascontiguousarray(table.values.T)
            self._gaps = _Gaps(table.names, values, ~np.isnan(values))
        else:
            self.worth = worth_in(ready.source)
            self._set_up(ready.source.moments(), ready.audit)
            self._keep_some_rows(ready.source)

    @classmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        test = super().bind(data, choices)
        if test._gpu is not None:
            test._gpu.alpha = choices.alpha
        return test

    def use_card(self, card: Card | None, device: Device) -> None:
        """Lets a graphics card compute the passes; does nothing if `card` is None."""
        if card is not None:
            if not card.has(self._matrix):
                card.take(self._matrix)
            on_cpu = CorrelationPasses(self._matrix, self.n, self.place)
            self._gpu = GPUPasses(card, on_cpu, may_leave=device == "auto")

    def _set_up(self, moments: Moments, audit: Audit) -> None:
        super().__init__(moments.names, moments.n, audit)
        self._matrix = moments.correlation
        self.excess = excess_of_numbers(moments.kurtosis, moments.n)

    @classmethod
    def from_moments(cls, moments: Moments, audit: Audit) -> Self:
        """The test from the moments of a table and its audit."""
        test = cls.__new__(cls)
        test._set_up(moments, audit)
        return test

    @classmethod
    def from_covariance(
        cls,
        covariance: Any,
        n: int,
        names: Sequence[str] | None = None,
        *,
        singular: Singular = "error",
        reading: Reading = AS_USUAL,
    ) -> Self:
        """The test from the covariance (or correlation) matrix of n rows.

        Args:
            covariance: a square array, a square data frame (`df.cov()` of pandas), or the path of a file with a column
                and a row for each variable; the first column may hold the names. One of the two triangles may be empty.
            n: the number of rows that the matrix was computed from.
            names: for an array, the names of its columns; otherwise, which columns to use.
            singular: as for `FisherZ`.
            reading: how a file is read; see `anypag.data.files.scan`.

        >>> FisherZ.from_covariance([[1.0, 0.5], [0.5, 1.0]], 100).pvalues(Queries.one(0, 1)) < 0.01
        array([ True])
        """
        moments = covariance_moments(covariance, n, names, reading)
        audit = audited(CovarianceTable(moments), Needs("continuous", singular=singular)).audit
        audit.require_usable()
        return cls.from_moments(moments, audit)

    @property
    def has_gaps(self) -> bool:
        """Do columns have gaps? Then each test leaves out the rows with gaps in its own columns."""
        return self._gaps is not None

    def score(self) -> GaussianScore:
        from anypag.scores.base import GAMMA
        from anypag.scores.gaussian import GaussianScore

        require_no_gaps(self.has_gaps)
        return GaussianScore(self.names, self.n_scored, self._matrix, gamma=GAMMA)

    @property
    def correlation(self) -> Floats:
        """(p, p) correlations of columns; with gaps, each from the rows in which both of its columns have a value."""
        return self._matrix if self._gaps is None else self._gaps.correlation

    def correlations_among(self, columns: Sequence[int]) -> Floats:
        """(k, k) correlations of some columns, from the rows in which all of them have a value."""
        return self._matrix[np.ix_(columns, columns)] if self._gaps is None else self._gaps.among(columns)

    @property
    def passes(self) -> Passes | None:
        """Answers for a whole graph at once; None with gaps or weights, and in subclasses with other p-values."""
        if self._gaps is not None or self.worth is not None or type(self).pvalues is not FisherZ.pvalues:
            return None
        passes: Passes = self._gpu or CorrelationPasses(self._matrix, self.n, self.place)
        return RaisedPasses(passes, self) if self.excess.max(initial=0.0) ** 2 > NEARLY_NORMAL else passes

    def is_far(self, x: Indices, y: Indices) -> Flags:
        """(b,) are x and y together so far from normal that their p-value is raised?"""
        return self.excess[x] * self.excess[y] > NEARLY_NORMAL

    @property
    def device(self) -> Device:
        """Where it computes: "cpu"; on a card "cuda", or "auto" if the CPU takes over when the card fails."""
        return "cpu" if self._gpu is None else "auto" if self._gpu.may_leave else "cuda"

    @property
    def close_calls(self) -> int:
        """How many answers of a graphics card were so close to alpha that the CPU may decide otherwise."""
        return 0 if self._gpu is None else self._gpu.close_calls

    def pvalues(self, queries: Queries) -> PValues:
        from anypag._kernels.gaussian import fisher_z_pvalues

        strengths, left_out, rows, excess = self._answers(queries)
        if rows.ndim == 0:
            p = np.empty(len(queries))
            fisher_z_pvalues(strengths, left_out, roots_of(self.n, queries.r), p)
        else:
            p = _pvalues(strengths, np.maximum(fisher_freedom(rows, queries.r - left_out), 0))
        far = np.flatnonzero((excess > NEARLY_NORMAL) & (p > 0.0))
        if len(far):
            freedom, one = (rows - 1 - (queries.r - left_out))[far], np.ones(1, np.int64)
            permuted = pvalues_of_traces(strengths[far] ** 2, one, one, freedom, excess[far])
            p[far] = np.maximum(p[far], permuted)
        if self._gpu is not None:
            self._gpu.note(p)
        return p

    def strength(self, queries: Queries) -> Floats:
        """(b,) |partial correlation|; it ranks even pairs whose p-value is 0."""
        return self._answers(queries)[0]

    def independent(self, queries: Queries, alpha: float) -> npt.NDArray[np.bool_]:
        """(b,) is p > alpha? Decided by |rho| and its value at p = alpha; for columns far from normal, by p itself."""
        strengths, left_out, rows, excess = self._answers(queries)
        if rows.ndim == 0:
            found = strengths < _thresholds(fisher_freedom(self.n, np.arange(queries.r, -1, -1)), alpha)[left_out]
        else:
            found = strengths < _thresholds(fisher_freedom(rows, queries.r - left_out), alpha)
        far = np.flatnonzero((excess > NEARLY_NORMAL) & ~found)
        if len(far):
            found[far] = self.pvalues(queries.take(far)) > alpha
        return found

    def left_out(self, queries: Queries) -> npt.NDArray[np.int32]:
        """(b,) how many members of each condition set were left out, because others determine them."""
        return self._answers(queries)[1]

    def effective_n(self, queries: Queries) -> Counts:
        return np.array(np.broadcast_to(self._answers(queries)[2], len(queries)))

    def _answers(self, queries: Queries) -> tuple[Floats, npt.NDArray[np.int32], Counts, Floats]:
        """`strengths`: |rho|. `left_out`: how many members of z were left out. `rows`: how many rows were used (one
        number if there are neither gaps nor weights). `excess`: the excess of x times that of y.
        """
        from anypag._kernels.gaussian import partial_correlations

        queries = self.arranged(queries)
        excess = self.excess[queries.x] * self.excess[queries.y]
        strengths, left_out = np.empty(len(queries)), np.zeros(len(queries), np.int32)
        partial_correlations(self._matrix, queries.x, queries.y, queries.z, NOTHING_LEFT, strengths, left_out)
        rows = np.array(self.n) if self.worth is None and self._gaps is None else self._rows(queries)
        if self._gaps is not None:
            self._gaps.answer_again(queries, strengths, left_out, rows, excess)
        return strengths, left_out, rows, excess


@dataclass(frozen=True, eq=False)
class _Gaps:
    """The (p, n) columns of a table with gaps, and where they have values."""

    names: tuple[str, ...]
    values: Floats
    has_value: npt.NDArray[np.bool_]

    @cached_property
    def correlation(self) -> Floats:
        """(p, p) correlations, each from the rows in which both of its columns have a value."""
        found = np.eye(len(self.values))
        for i, j in combinations(range(len(found)), 2):
            found[i, j] = found[j, i] = self.among([i, j])[0, 1]
        return found

    def among(self, columns: Sequence[int]) -> Floats:
        rows = self.values[columns][:, self.has_value[columns].all(axis=0)].T
        return moments_of(rows, [self.names[i] for i in columns]).correlation

    def answer_again(
        self, queries: Queries, strengths: Floats, left_out: npt.NDArray[np.int32], rows: Counts, excess: Floats
    ) -> None:
        """Overwrites the answers to the queries that use a column with gaps."""
        from anypag._kernels.gaussian import pairwise_partial_correlations

        gappy = np.logical_not(self.has_value.all(axis=1))
        again = np.flatnonzero(gappy[queries.x] | gappy[queries.y] | gappy[queries.z].any(axis=1))
        some, b = queries.take(again), len(again)
        answers = np.empty(b), np.zeros(b, np.int32), np.empty(b, np.int64), np.empty(b)
        pairwise_partial_correlations(self.values, self.has_value, some.x, some.y, some.z, NOTHING_LEFT, *answers)
        strengths[again], left_out[again], rows[again], excess[again] = answers


def _pvalues(strengths: Floats, freedom: Counts) -> PValues:
    from scipy.special import erfc

    testable = freedom > 0
    pvalues = np.ones(len(strengths))
    with np.errstate(divide="ignore"):  # |rho| = 1 gives an infinite z and p = 0
        pvalues[testable] = erfc(np.sqrt(freedom[testable] / 2.0) * np.arctanh(strengths[testable]))
    return pvalues


def _thresholds(freedom: Counts, alpha: float) -> Floats:
    """The |rho| at which p is alpha; 2 if there are too few rows, so that every |rho| is below it."""
    return np.where(freedom > 0, strength_at(alpha, np.maximum(freedom, 1)), 2.0)
