"""A test for smooth dependences of any shape, between continuous and discrete columns, by an F test in each direction.

If x and y are independent given z, no function of y improves the best prediction of x from z. A continuous column is
represented by functions of its ranks: its normal scores s; Legendre polynomials of degree 2 and 3 of the ranks scaled
to (-1, 1); s² and s³; then polynomials of degree 4 and 5. The model of s(x) has the first five functions of each
member of z (seven from 2,500 rows on), and the products of every two members if there are at least 20 rows for each
product. An F test asks whether the first three functions of y improve this model; a second one swaps x and y. The two
p-values are combined by the mean of their Cauchy quantiles (Liu and Xie 2020). Of x only s(x) is predicted. A test that
predicts other functions too would reject even if everything is linear, because the mean of x² given z contains products
of members of z. Such a product is no sum of functions of single members.

A discrete column is represented by one column of zeros and ones for each level. If x is discrete, all its levels are
predicted at once (Wilks' lambda with Rao's F), and of a continuous y at most two functions are tested. A sum of
functions fits the probability of a level badly near 0 and 1. This does not raise the error rate if, given z, the means
of the tested functions of y are sums of functions of single members of z.

If columns are far from normal, R² varies more than F assumes. F then gets fewer degrees of freedom, chosen so that R²
has the variance that permutations of the rows give it (computed as if z were empty; `ci.data_test`). If this variance
is at most 1 % larger than for normal columns, F is not changed.

Under independence p is nearly uniform if the model can express the means of s(x) and s(y) given z, and the spread
around these means is constant. If the residuals are also normal, each of the two p-values is exactly uniform. The test
sees changes of one column's mean with the other column, given z; it does not see changes of the spread alone.
`docs/tests.md` has its error rates and power, failures included.

Because only ranks enter, any increasing or decreasing transform of a continuous column leaves all p-values the same to
the bit. Degenerate cases follow the rules of Fisher's z: a function is left out if those before it determine it; p = 1
if no function of x or of y is left, or if there are too few rows. All members of z together have at most a quarter as
many functions as there are rows; each keeps at least its normal scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.choices import Choices, require
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import TESTED, DataTest, excess_of_functions, require_no_gaps
from anypag.data.audit.checklist import audited
from anypag.data.audit.curves import MOSTLY
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.audit.rows import largest_set
from anypag.data.findings import Singular
from anypag.data.levels import indicators, starts_of
from anypag.data.sources.protocol import Needs
from anypag.data.table import Kind, Missing, Table, as_table
from anypag.threads import map_in_threads, single_blas, slices

if TYPE_CHECKING:
    from anypag.scores.mixed import MixedScore

DEGREE = 5  # the most functions of a continuous member of a condition set
DEGREE_OF_MANY_ROWS = 7  # the same limit from MANY_ROWS rows on
MANY_ROWS = 2500
MOST_WORK = 5e9  # correlations of products are computed in advance if they take at most this many multiplications
MOST_NUMBERS = 3e7  # up to this many correlations of products with columns are kept (a quarter of a gigabyte)
PANEL = 512  # rows multiplied at once
MOST_KURTOSIS = 1.0  # the excess kurtosis above which tails are heavy (`benchmarks/tried.md`)


class Additive(DataTest):
    """The F test of functions of ranks, in both directions, for any mix of continuous and discrete columns.

    Args:
        data, names, missing, singular, max_r, threads: as for `FisherZ`; ranks are taken among all values of a column.
        kinds: "continuous", "discrete" or "ordinal", for columns whose kind should not be inferred.
        score: whether a score of the same columns will be made. Two columns that sort the rows in the same order are
            then an error, because a score cannot tell them apart.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> test = Additive({"a": a, "square": a**2 + rng.normal(size=500), "luck": rng.normal(size=500)})
    >>> (test.pvalues(Queries([0, 0], [1, 2], [[2], [1]])) < 0.01).tolist()
    [True, False]
    """

    takes = "any"
    options = (*DataTest.options, "kinds", "threads")
    fits = "relations change means smoothly, and the spread around the means is the same everywhere"

    kinds: tuple[Kind, ...]  # the kind of each column: given by the user or inferred
    basis: Basis  # the functions of the columns, and their correlations; the columns are in the order of their names

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        kinds: Mapping[str, str] | None = None,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
        threads: int = 1,
        score: bool = False,
    ) -> None:
        require(isinstance(threads, int) and threads >= 1, "threads", "a whole number, 1 or more", threads)
        needs = Needs("any", missing, singular, max_r, score, sees_curves=True)
        ready = audited(as_table(data, names, kinds=kinds), needs, threads=threads)
        ready.audit.require_usable()
        table = ready.source.rows()
        super().__init__(table.names, table.n, ready.audit)
        self.kinds = table.kinds
        if not ready.has_gaps:
            self._keep_some_rows(table)
        by_name = table.take(sorted(table.names))
        with single_blas:
            self.basis = Basis.of(by_name, largest_set(len(table.names), max_r), threads)
        self._store_by_name()

    @classmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        return cls(data, score=choices.needs_score, **{name: getattr(choices, name) for name in cls.options})

    @property
    def has_gaps(self) -> bool:
        """Do columns have gaps? Then each test leaves out the rows with gaps in its own columns."""
        return bool(self.basis.has_value.size)

    def score(self) -> MixedScore:
        from anypag.scores.additive import additive_score
        from anypag.scores.base import GAMMA

        require_no_gaps(self.has_gaps)
        return additive_score(self, GAMMA)

    def pvalues(self, queries: Queries) -> PValues:
        return self._answers(queries)[0]

    def strength(self, queries: Queries) -> Floats:
        """(b,) the larger of the multiple correlations of the two F tests, corrected for chance; in [0, 1]."""
        return self._answers(queries)[1]

    def effective_n(self, queries: Queries) -> Counts:
        return self._answers(queries)[2]

    def _answers(self, queries: Queries) -> tuple[PValues, Floats, Counts]:
        from anypag._kernels.additive import additive_tests

        queries = self.arranged(queries)
        b, x, y, z = len(queries), queries.x, queries.y, queries.z
        answers = np.empty(b), np.empty(b), np.full(b, self.n, np.int64)
        additive_tests(self.basis, degree_for(self.n), x, y, z, NOTHING_LEFT, *answers)
        return answers


def degree_for(n: int) -> int:
    """The most functions of a continuous member of a condition set, in a table of n rows."""
    return DEGREE if n < MANY_ROWS else DEGREE_OF_MANY_ROWS


class Basis(NamedTuple):
    """A table in the form that `additive_tests` takes: p variables, q columns (functions of them), k products."""

    gram: Floats  # (q + 1, q + 1 or more) correlations of columns, 0 from row or column q on; (0, 0) with gaps
    cross: Floats  # `HeadProducts.cross`; (0, 0) if it is not computed in advance
    products: Floats  # (k, k) correlations of products; (0, 0) if computed from rows, or if no set has two products
    columns: Floats  # (q, n) the columns, with mean 0 and length 1; (q, 0) if no question needs them
    has_value: Flags  # (p, n); (p, 0) if there are no gaps
    start: Counts  # (p + 1,) columns start[i]:start[i + 1] belong to variable i
    is_discrete: Flags
    pair_start: Counts  # (p, p) where the products of every two variables begin; (0, 0) if there are gaps
    excess: Floats  # (p, 3) for each variable the excess (`ci.data_test`) of its first 1, 2 and 3 functions
    own: Floats  # (p, q + p) correlations of each variable's own numbers with the columns, then with own numbers
    surprise: Floats  # (p,) how much own numbers are unlike normal ones (`_surprise`); (0,) and `own` (0, 0) with gaps

    @classmethod
    def of(cls, table: Table, largest: int, threads: int) -> Self:
        """The functions of the columns of a table, for condition sets of up to `largest` members."""
        is_discrete = np.array([kind == "discrete" for kind in table.kinds])
        gaps = np.isnan(table.values)
        spread = [
            indicators(u) if discrete else _tested_functions(u, degree_for(table.n))
            for u, discrete in zip(_scores(table, is_discrete).T, is_discrete, strict=True)
        ]
        widths = [part.shape[1] for part in spread]
        start = starts_of(table.names, widths)
        columns, nothing = _unit(np.ascontiguousarray(np.column_stack(spread).T)), np.empty((0, 0))
        excess = np.stack([excess_of_functions(part, d) for part, d in zip(spread, is_discrete, strict=True)])
        if gaps.any():
            has_value, none = np.ascontiguousarray(~gaps.T), nothing.astype(np.int64)
            rest = none, excess, nothing, np.empty(0)
            return cls(nothing, nothing, nothing, columns, has_value, start, is_discrete, *rest)
        q, n = columns.shape
        lines = (q + 1) // 8 + 1  # a row takes an odd number of cache lines, so that rows do not evict each other
        gram = np.zeros((q + 1, 8 * (lines + 1 - lines % 2)))
        gram[:-1, :q] = _products(columns, threads)
        pairs = HeadProducts.of(np.where(is_discrete, widths, 1), start)
        has_cross = largest > 1 and pairs.count * q * n <= MOST_WORK and pairs.count * q <= MOST_NUMBERS
        cross = pairs.cross(columns, threads) if has_cross else nothing
        has_several = largest > 2 or np.sort(pairs.heads)[-2:].prod() > 1  # may a set have several products?
        has_all = has_cross and has_several and pairs.count**2 * n <= MOST_WORK
        products = _products(pairs.made(columns, slice(None)), threads) if has_all else nothing
        is_done = largest < 2 or (has_cross and (has_all or not has_several))
        rows = np.empty((q, 0)) if is_done else columns
        no_gaps, numbers = np.empty((len(widths), 0), np.bool_), _unit(np.array(table.values.T, np.float64, order="C"))
        own = numbers @ np.concatenate([columns, numbers]).T
        rest = pairs.start, excess, own, np.array([_surprise(column) for column in numbers])
        return cls(gram, cross, products, rows, no_gaps, start, is_discrete, *rest)


@dataclass(frozen=True, eq=False)
class HeadProducts:
    """The products of the heads of every two variables: s of a continuous one, all level columns of a discrete one."""

    count: int
    heads: Counts  # (p,) the number of heads of each variable
    of_variable: Counts  # (p,) where the columns of each variable begin
    start: Counts  # (p, p) where the products of every two variables begin

    @classmethod
    def of(cls, heads: Counts, start: Counts) -> Self:
        low, high = np.triu_indices(len(heads), 1)
        first = np.concatenate([[0], np.cumsum(heads[low] * heads[high])]).astype(np.int64)
        table = np.zeros((len(heads), len(heads)), np.int64)
        table[low, high] = table[high, low] = first[:-1]
        return cls(int(first[-1]), heads, start[:-1], table)

    def cross(self, columns: Floats, threads: int) -> Floats:
        """(k, q + 2) per product: its q correlations with columns; then a 0; then 1 if the product varies, else 0."""
        made = np.zeros((self.count, len(columns) + 2))

        def fill(part: slice) -> None:
            rows = self.made(columns, part)
            made[part, :-2] = rows @ columns.T
            made[part, -1] = np.any(rows, axis=1)

        map_in_threads(fill, slices(self.count, PANEL), threads)
        return made

    @cached_property
    def _sides(self) -> tuple[Counts, Counts]:
        low, high = np.triu_indices(len(self.heads), 1)
        times = self.heads[low] * self.heads[high]
        within = np.arange(self.count) - np.repeat(np.cumsum(times) - times, times)
        low, high = np.repeat(low, times), np.repeat(high, times)
        return self.of_variable[low] + within // self.heads[high], self.of_variable[high] + within % self.heads[high]

    def made(self, columns: Floats, part: slice) -> Floats:
        """The products in `part`, each with mean 0 and length 1."""
        left, right = self._sides
        return _unit(columns[left[part]] * columns[right[part]])


def _products(rows: Floats, threads: int) -> Floats:
    """rows @ rows.T in panels, so that any number of threads gives the same bits; symmetric to the bit."""
    made = np.empty((len(rows), len(rows)))
    panels = slices(len(rows), PANEL)

    def multiply(pair: tuple[slice, slice]) -> None:
        low, high = pair
        block = rows[high] @ rows[low].T
        block = np.tril(block) + np.tril(block, -1).T if low == high else block
        made[high, low], made[low, high] = block, block.T

    map_in_threads(multiply, [*combinations(panels, 2), *zip(panels, panels, strict=True)], threads)
    return made


def _scores(table: Table, is_discrete: Flags) -> Floats:
    """(n, p) continuous columns as ranks in (-1, 1), discrete ones unchanged; negating a column negates its ranks."""
    from scipy.stats import rankdata

    scores = np.array(table.values)
    for i in np.flatnonzero(~is_discrete):
        present = ~np.isnan(scores[:, i])
        rows = int(present.sum())
        scores[present, i] = (2.0 * rankdata(scores[present, i]) - 1.0 - rows) / rows
    return scores


def _tested_functions(u: Floats, degree: int) -> Floats:
    """The functions of a column; polynomials of degree 2 and 3 are 0 if one value fills more than 80 % of its rows.

    Then only normal scores are tested, as polynomials of the few other values take degrees of freedom and add little
    power (`docs/tests.md`). If the column is in a condition set, s², s³ and the higher polynomials are still used.
    """
    made, present = functions(u, degree), u[~np.isnan(u)]
    if np.unique(present, return_counts=True)[1].max(initial=0) / max(len(present), 1) > MOSTLY:
        made[:, 1:TESTED] = 0.0
    return made


def functions(u: Floats, degree: int) -> Floats:
    """(n, degree) normal scores s of ranks u in (-1, 1), Legendre polynomials of degree 2 and 3, s², s³, degree 4, ...

    Often only the extreme values of two columns are related. As a function of u, such a relation is steep at both ends.
    Low powers of s fit it; polynomials in u need a high degree. Odd functions change sign with u, to the bit; even ones
    do not.
    """
    from scipy.special import ndtri

    before, polynomial = np.ones_like(u), u
    found = [np.copysign(ndtri(0.5 + 0.5 * np.abs(u)), u)]
    for k in range(1, degree):
        before, polynomial = polynomial, ((2 * k + 1) * u * polynomial - k * before) / (k + 1)
        found.append(polynomial)
    s = found[0]
    found[TESTED:TESTED] = [s * s, s * s * s]
    return np.column_stack(found[:degree])


def _surprise(values: Floats) -> float:
    """What normal scores add to the log-likelihood of a row, because their density is normal and that of these numbers
    is not, by distances to near values. Infinite for heavy tails, where a few rows decide a regression, and few values.
    """
    n, centred = len(values), np.sort(values - values.mean())
    variance, near = float((centred**2).mean()), round(np.sqrt(n))
    low, high = np.maximum(np.arange(n) - near, 0), np.minimum(np.arange(n) + near, n - 1)
    width = centred[high] - centred[low]
    if variance == 0.0 or (width <= 0.0).any() or (centred**4).mean() > (3.0 + MOST_KURTOSIS) * variance**2:
        return float("inf")
    return float((1 + np.log(2 * np.pi * variance)) / 2 - np.log(n * width / (high - low)).mean())


def _unit(rows: Floats) -> Floats:
    """Rows with mean 0 and length 1. A row that hardly varies becomes zeros; gaps stay NaN."""
    gaps = np.isnan(rows)
    filled, present = (np.where(gaps, 0.0, rows), rows.shape[1] - gaps.sum(axis=1)) if gaps.any() else (rows, None)
    count = float(rows.shape[1]) if present is None else present[:, None]
    size = np.abs(filled).max(axis=1)
    for _ in range(2):  # the second time removes the rounding error of the first mean
        filled = filled - filled.sum(axis=1, keepdims=True) / count
        filled[gaps] = 0.0
    length = np.sqrt(np.einsum("ij,ij->i", filled, filled))
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 1e-12 * size * np.sqrt(rows.shape[1]))
    filled *= scale[:, None]
    filled[gaps] = np.nan
    return np.asarray(filled)
