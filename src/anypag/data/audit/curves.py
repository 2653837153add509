"""Finds continuous columns whose mean follows another column along a curve; a correlation shows only its linear part.
Also finds tables of numbers that are distorted by increasing functions, where normal scores help.

A curve from x to y is reported only if the second and third powers of the ranks of x explain more than 4 % of the
variance of y that straight lines leave, with a small p-value. The straight lines are in x, in x cut at three standard
deviations, and in the normal scores of x. The p-value approximates that of permutations of y (Box and Watson's degrees
of freedom). The curve must show both for y cut at three deviations and for the normal scores of y, so that a few
outliers, or a column that is mostly one value, do not look like a curve.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats, in_units
from anypag.data.columns import mean_ranks
from anypag.data.findings import Finding, as_one, warning
from anypag.data.table import Table
from anypag.errors import Option, Sentence, listed
from anypag.threads import slices

LEAST_ROWS = 20  # in fewer rows no curve is looked for
ROWS_FOR_CURVES = 1000  # the most rows that are read, evenly spread over the table
CURVED = 0.04  # a curve must explain this share of the variance that straight lines leave
CHANCE = 0.005  # the probability, over all pairs, of reporting a curve by chance
STRAIGHT = 0.96  # if straight lines explain more than this share of the variance, no curve is looked for
MOSTLY = 0.8  # if one value fills more than this share of the rows, no curve is looked for
GAINED = 0.03  # normal scores are advised if they raise the mean log-likelihood of a row by this for each column
ALIKE = 0.999  # columns whose normal scores have a larger correlation order the rows alike
MOST_PAIRWISE = 40  # with gaps and at most this many columns, each pair is checked on the rows that have both values
COLUMNS_AT_ONCE = 16  # columns prepared at a time (128 kB); larger blocks would be allocated and cleared each time
_NOTHING = 1e-6  # shares below this count as 0


def curve_findings(table: Table) -> list[Finding]:
    """Warnings about continuous columns whose mean seems to follow another column by a curve."""
    numbers = table.of_kind("continuous")
    test = "Fisher's z" if len(numbers) == len(table.names) else "the test for mixed data"
    values, is_whole = _some_rows(table, numbers)
    if is_whole.all() or len(numbers) > MOST_PAIRWISE:
        pairs = _curves(values if is_whole.all() else values[is_whole], len(numbers))
    else:
        pairs = [pair for i in range(len(numbers)) for j in range(i) for pair in _curves_of_pair(values, j, i)]
    names = [table.names[i] for i in numbers]
    told = sorted(pairs, key=lambda pair: -pair[2])
    return as_one([_curved(names[i], names[j], test) for i, j, _ in told], "pairs are curved")


def _some_rows(table: Table, numbers: list[int]) -> tuple[Floats, Flags]:
    """At most `ROWS_FOR_CURVES` rows of some columns, without a copy if these are all columns; which have no gap."""
    values = table.values[:: math.ceil(table.n / ROWS_FOR_CURVES)]
    values = values if len(numbers) == len(table.names) else values[:, numbers]
    has_gap = np.zeros(len(values), np.bool_) if table.is_finite else np.isnan(values).any(axis=1)
    return values, np.logical_not(has_gap)


def distorted_findings(table: Table) -> list[Finding]:
    """A warning if continuous columns look like increasing functions of Gaussian ones, such as exp: then the normal
    scores of their ranks are correlated more strongly than their values, by `GAINED` or more.
    """
    values, is_whole = _some_rows(table, table.of_kind("continuous"))
    values = values if is_whole.all() else values[is_whole]
    is_usable = ~mostly_one(values) if len(values) >= LEAST_ROWS else np.zeros(values.shape[1], np.bool_)
    if not 2 <= is_usable.sum() <= len(values) / 2:
        return []
    values = values if is_usable.all() else values[:, is_usable]
    standard = _standard(values)  # (p, rows)
    squares = np.square(standard)
    excess = np.einsum("ij,ij->i", squares, squares) / len(values) - 3
    if np.abs(excess).mean() < 1.5 * math.sqrt(24 / len(values)):  # Gaussian columns give 0.8 standard errors
        return []
    scores = _of_ranks(len(values))[0, _twice_ranks(values)]
    plain, ranked = (np.atleast_2d(np.corrcoef(rows)) for rows in (standard, scores))
    kept = ~(np.triu(np.abs(ranked), 1) > ALIKE).any(axis=0)  # not columns that order the rows as an earlier one does
    of_plain, of_ranked = (np.linalg.slogdet(found[np.ix_(kept, kept)])[1] for found in (plain, ranked))
    if of_plain - of_ranked < 2 * GAINED * kept.sum():
        return []
    seen = "the normal scores of their ranks are correlated more strongly than the numbers"
    message = f"Numbers seem to be distorted, as by exp, a power or outliers: {seen}."
    remedy = Sentence(f"Choose {Option('transform', 'normal-scores')}, or take logarithms or roots of such columns.")
    return [warning("distorted", (), message, remedy)]


def curve_notes(table: Table) -> list[str]:
    """A note that names the continuous columns with one value in most rows, where curves were not looked for."""
    if not table.n:
        return []
    numbers = table.of_kind("continuous")
    columns = table.values if len(numbers) == len(table.names) else table.values[:, numbers]
    mostly = [(table.names[numbers[i]], columns[:, i]) for i in np.flatnonzero(mostly_one(columns))]
    names = [name for name, column in mostly if np.fmin.reduce(column) < np.fmax.reduce(column)]
    if not names:
        return []
    have = "has" if len(names) == 1 else "have"
    return [f"{listed(names, 5)} {have} one value in more than 80 % of the rows: curves were not looked for there."]


def mostly_one(values: Floats) -> Flags:
    """(p,) does one value fill more than `MOSTLY` of the rows of a column? Then this value is the median, and it fills
    two neighbouring rows, unless gaps separate them. So only columns with equal neighbours or gaps are sorted.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        may = (values[1:] == values[:-1]).any(axis=0) | np.isnan(values.sum(axis=0)) | (len(values) < 2)
    found = np.zeros(values.shape[1], np.bool_)
    chosen = values[:, may]
    present = np.maximum((~np.isnan(chosen)).sum(axis=0), 1)
    middle = np.sort(chosen, axis=0)[(present - 1) // 2, np.arange(chosen.shape[1])]
    found[may] = (chosen == middle).sum(axis=0) > MOSTLY * present
    return found


def _curves_of_pair(values: Floats, i: int, j: int) -> list[tuple[int, int, float]]:
    """Curves between two columns, in the rows that have both values."""
    both = values[:, [i, j]]
    found = _curves(both[~np.isnan(both).any(axis=1)], values.shape[1])
    return [((i, j)[a], (i, j)[b], share) for a, b, share in found]


def _curves(values: Floats, p: int) -> list[tuple[int, int, float]]:
    """(x, y, share) for each curve. Of the variance of y that lines leave, x explains this share. `p`: column count."""
    if len(values) < LEAST_ROWS:
        return []
    usable = np.flatnonzero(~mostly_one(values))
    if len(usable) < 2:
        return []
    values = values if len(usable) == values.shape[1] else values[:, usable]
    may_be = _may_be_curved(values)
    found = []
    for i in np.flatnonzero(may_be.any(axis=1)):
        basis, others = _basis(values[:, [i]])[:, 0], np.flatnonzero(may_be[i])
        for j, *targets in zip(others, *_targets(values[:, others]), strict=True):
            least, share = min(_curve(basis, target) for target in targets)
            if -least < CHANCE / (p * (p - 1)):
                found.append((int(usable[i]), int(usable[j]), share))
    return found


def _may_be_curved(values: Floats) -> Flags:
    """(c, c) at [x, y]: may y follow x by a curve? A quick float32 check of the normal scores of y, with a margin."""
    n, c = values.shape
    parts = np.empty((5, c, n), np.float32)
    for some in slices(c, COLUMNS_AT_ONCE):
        _fill(parts[:, some], values[:, some])
    basis, unclear = _orthonormal(parts)
    if len(unclear):
        parts[:, unclear], basis[unclear] = _basis(values[:, unclear]), np.eye(5)
    targets = parts[0] - parts[0].mean(axis=1)[:, None]
    targets /= np.sqrt(_products(targets, targets))[:, None]
    products = (parts.reshape(5 * c, n) @ targets.T).reshape(5, c, c)
    squares = np.square(basis @ products.transpose(1, 0, 2))
    line, more = squares[:, :3].sum(axis=1), squares[:, 3:].sum(axis=1)
    may_be: Flags = (more > 0.95 * CURVED * (1.0 - line)) & (line < 1.01 * STRAIGHT)
    np.fill_diagonal(may_be, False)
    return may_be


def _orthonormal(parts: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], Counts]:
    """(c, 5, 5) per column the coefficients that make its five centred parts orthonormal, from (5, c, n) parts; and the
    columns whose parts are too close to linear dependence for single precision.
    """
    products = _centred_products(parts)
    whole = np.diagonal(products, axis1=1, axis2=2)
    products += np.eye(5) * np.where(whole > 0, 1e-5 * whole, 1.0)[:, None]  # a part may be 0
    try:
        factor = np.linalg.cholesky(products)
    except np.linalg.LinAlgError:
        return np.zeros(products.shape, np.float32), np.arange(len(products))
    is_clear = (np.square(np.diagonal(factor, axis1=1, axis2=2)) > 2e-4 * whole).all(axis=1)
    return np.linalg.inv(factor).astype(np.float32), np.flatnonzero(~is_clear)


def _centred_products(parts: npt.NDArray[np.float32]) -> Floats:
    """(c, 5, 5) the inner products of the centred parts of each column, from (5, c, n) parts; lower triangles only."""
    n, sums = parts.shape[2], (parts @ np.ones(parts.shape[2], np.float32)).T.astype(np.float64)
    products: Floats = -sums[:, :, None] * sums[:, None, :] / n
    for k, part in enumerate(parts):
        products[:, k:, k] += (part[:, None, :] @ parts[k:].transpose(1, 2, 0))[:, 0]
    return products


def _basis(values: Floats) -> Floats:
    """(5, c, n) the parts of each column (see `_fill`), made orthonormal; zeros for a part that adds nothing."""
    parts = np.empty((5, *values.shape[::-1]))
    _fill(parts, values)
    _make_orthonormal(parts)
    return parts


def _fill(parts: npt.NDArray[Any], values: Floats) -> None:
    """Writes the five parts of each column into (5, c, n): normal scores, standardised values, their excess over three
    deviations, and the second and third powers of ranks (Legendre polynomials).
    """
    parts[1] = _standard(values)
    np.clip(parts[1], -3.0, 3.0, out=parts[2])
    np.subtract(parts[1], parts[2], out=parts[2])
    at = _twice_ranks(values)
    for part, of_rank in zip((0, 3, 4), _of_ranks(len(values)), strict=True):
        np.take(of_rank.astype(parts.dtype), at, out=parts[part], mode="clip")


@lru_cache(8)
def _of_ranks(n: int) -> Floats:
    """(3, 2n + 1) the normal score, the second and the third power of each rank among n; column k is for the rank k/2.
    Ranks may be halves, because ties share the mean of their ranks. The normal quantiles come from the standard
    library, which loads a hundred times faster than scipy.
    """
    quantile, shares = NormalDist().inv_cdf, ((np.arange(2.0, 2.0 * n + 1) / 2 - 0.5) / n).tolist()
    u = (np.arange(2.0 * n + 1) - n - 1) / n
    made = np.array([[-np.inf, -np.inf, *map(quantile, shares)], (3 * u * u - 1) / 2, u * (5 * u * u - 3) / 2])
    made.setflags(write=False)
    return made


def _twice_ranks(values: Floats) -> Counts:
    """(c, n) twice the rank of each value of (n, c): a whole number even for ties, which share the mean of their ranks.
    The bits of values are sorted as whole numbers; their lowest bits are replaced by row numbers. This is three times
    faster than `argsort`. A column with ties, or with values that differ only in these bits, is left to `mean_ranks`.
    """
    n = len(values)
    even, low = np.arange(2, 2 * n + 1, 2), (1 << n.bit_length()) - 1
    keys = np.add(values.T, 0.0, order="C").view(np.int64)  # -0.0 becomes 0.0
    keys ^= keys >> 63 & np.iinfo(np.int64).max
    keys &= ~low
    keys |= np.arange(n)
    keys.sort(axis=1)
    is_clear = (keys[:, 1:] > keys[:, :-1] | low).all(axis=1)
    keys &= low
    twice = np.empty_like(keys)
    for rank, order in zip(twice, keys, strict=True):
        rank[order] = even
    if len(others := np.flatnonzero(~is_clear)):
        twice[others] = 2 * mean_ranks(values[:, others]).T
    return twice


def _standard(values: Floats) -> Floats:
    """(c, n) the columns with mean 0 and mean square 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.ascontiguousarray((values - values[0]).T)
        rows -= rows.mean(axis=1)[:, None]
        squares = np.einsum("cn,cn->c", rows, rows)
    if not ((squares > 1e-200) & (squares < 1e200)).all():
        return _standard(in_units(values)[0])
    rows *= (math.sqrt(len(values)) / np.sqrt(squares))[:, None]
    return rows


def _targets(values: Floats) -> Floats:
    """(2, c, n) for each column its normal scores and its values cut at three deviations, with mean 0 and length 1."""
    scores = _of_ranks(len(values))[0, _twice_ranks(values)]
    targets = np.stack([scores, np.clip(_standard(values), -3.0, 3.0)])
    targets -= targets.mean(axis=2)[:, :, None]
    targets /= np.sqrt(np.square(targets).sum(axis=2))[:, :, None]
    return targets


def _make_orthonormal(parts: Floats) -> None:
    """Replaces each of (5, c, n) parts by its residual on earlier parts, with mean 0 and length 1; 0 if that is 0."""
    for k, part in enumerate(parts):
        part -= part.mean(axis=1)[:, None]
        whole = np.sqrt(_products(part, part))
        for before in parts[:k]:
            part -= _products(before, part)[:, None] * before
        length = np.sqrt(_products(part, part))
        part /= np.where(length > _NOTHING * whole, length, np.inf)[:, None]


def _products(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(c,) the inner products of the rows of two (c, n) arrays."""
    return np.asarray(np.matmul(one[:, None, :], other[:, :, None])[:, 0, 0])


def _curve(basis: Floats, target: Floats) -> tuple[float, float]:
    """Minus the p-value of a curve (-1 if there is none), so that `min` finds the least clear curve; and the share that
    the curve explains of what straight lines leave.
    """
    squares = np.square(basis @ target)
    line, more = float(squares[:3].sum()), float(squares[3:].sum())
    share = more / max(1.0 - line, _NOTHING)
    return (-_pvalue(basis, target, share) if share > CURVED and line <= STRAIGHT else -1.0), share


def _pvalue(basis: Floats, target: Floats, share: float) -> float:
    """The p-value of a share, by an F test with degrees of freedom fitted to permutations (Box and Watson 1962)."""
    from scipy.special import fdtrc

    lines, powers = basis[:3], basis[3:]
    n, d = len(target), int(powers.any(axis=1).sum())
    left = target - (lines @ target) @ lines
    k = np.sum(left**4) / np.sum(left**2) ** 2
    h = np.sum(np.square(powers).sum(axis=0) ** 2)
    m = d / (n - 1)
    variance = 2 * d * (n - 1 - d) / ((n - 1) ** 2 * (n + 1)) + (n * (n + 1) * k - 3 * (n - 1)) * (
        n * (n + 1) * h - (n - 1) * d * (d + 2)
    ) / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    share = min(share, 1 - 1e-12)
    freedom = n - 4 - d
    correction = min(1.0, max(2 * (m * (1 - m) / variance - 1) / (n - 1), 1e-3)) if variance > 0 else 1.0
    return float(fdtrc(correction * d, correction * freedom, share / d / ((1 - share) / freedom)))


def _curved(x: str, y: str, test: str) -> Finding:
    message = (
        f"The mean of {y!r} seems to follow {x!r} by a curve: {test} sees straight lines only, and may take such "
        "columns for independent."
    )
    remedy = Sentence(f"Choose {Option('test', 'additive')}, which sees curves, or transform a column.")
    return warning("curve", (x, y), message, remedy)
