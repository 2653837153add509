"""Continuous columns whose mean depends on another one by a curve, which correlations see only in part.

A curve from x to y is reported only if the second and third powers of the ranks of x explain at least about 4 % of the
variance that straight lines leave, with a small p-value. The straight lines are those of x, of x with outliers cut, and
of its normal scores; the p-value matches permutations of y (Box and Watson's degrees of freedom). This must hold for y
with outliers cut and for the normal scores of y, so that a few outliers, or a column that is mostly one value, do not
look like a curve.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from anypag.arrays import Flags, Floats, in_units
from anypag.data.columns import mean_ranks
from anypag.data.findings import Finding, as_one, warning
from anypag.data.table import Table
from anypag.errors import Option, Sentence

LEAST_ROWS = 20
ROWS_FOR_CURVES = 1000
CURVED = 0.04  # the share of the variance left by straight lines that a curve must explain
CHANCE = 0.005  # the probability, over all pairs, of reporting a curve by chance
STRAIGHT = 0.96  # if straight lines explain more than this share of the variance, no curve is searched
MOSTLY = 0.8  # if one value fills more than this share of the rows, no curve is searched
_NOTHING = 1e-6


def curve_findings(table: Table) -> list[Finding]:
    """Continuous columns whose mean seems to follow another one by a curve."""
    numbers = table.of_kind("continuous")
    test = "Fisher's z" if len(numbers) == len(table.names) else "the test for mixed data"
    values = table.values[:: math.ceil(table.n / ROWS_FOR_CURVES)]
    values = values if len(numbers) == len(table.names) else values[:, numbers]
    values = values if table.is_finite else values[~np.isnan(values).any(axis=1)]
    names = [table.names[i] for i in numbers]
    told = sorted(_curves(values, len(numbers)), key=lambda pair: -pair[2])
    return as_one([_curved(names[i], names[j], test) for i, j, _ in told], "pairs are curved")


def mostly_one(values: Floats) -> Flags:
    """(p,) does one value fill more than `MOSTLY` of the rows of a column? The median is that value then. Such a value
    occurs in two neighbouring rows, unless gaps separate them; only columns where that happens are sorted.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        may = (values[1:] == values[:-1]).any(axis=0) | np.isnan(values.sum(axis=0)) | (len(values) < 2)
    found = np.zeros(values.shape[1], np.bool_)
    chosen = values[:, may]
    present = np.maximum((~np.isnan(chosen)).sum(axis=0), 1)
    middle = np.sort(chosen, axis=0)[(present - 1) // 2, np.arange(chosen.shape[1])]
    found[may] = (chosen == middle).sum(axis=0) > MOSTLY * present
    return found


def _curves(values: Floats, p: int) -> list[tuple[int, int, float]]:
    """Pairs (x, y) of columns where y depends on x by a curve, and the share it explains; p: columns of the check."""
    usable = np.flatnonzero(~mostly_one(values)) if len(values) >= LEAST_ROWS else np.empty(0, np.intp)
    if len(usable) < 2:
        return []
    values = values if len(usable) == values.shape[1] else values[:, usable]
    scores, second, third = _of_ranks(len(values))[:, (2 * mean_ranks(values).T).astype(np.int64)]
    standard = _standard(values)
    near = np.clip(standard, -3.0, 3.0)
    basis = _orthonormal(np.stack([scores, standard, standard - near, second, third]))
    targets = _unit(scores), _unit(near)
    pairs = np.argwhere(_share(np.square(np.tensordot(basis, targets[0], (2, 1)))) > CURVED)
    found = []
    for i, j in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
        least, share = min(_curve(basis[:, i], target[j]) for target in targets)
        if -least < CHANCE / (p * (p - 1)):
            found.append((int(usable[i]), int(usable[j]), share))
    return found


def _share(squares: Floats) -> Floats:
    """The share of what three lines leave that two powers explain, from squared products (5, ...); 0 where the lines
    explain nearly all.
    """
    line, more = squares[:3].sum(axis=0), squares[3:].sum(axis=0)
    return np.where(line <= STRAIGHT, more / np.maximum(1.0 - line, _NOTHING), 0.0)


@lru_cache(8)
def _of_ranks(n: int) -> Floats:
    """(3, 2n + 1) of half of each whole number as a rank among n: its normal score, its second and its third power
    (Legendre polynomials). Halves are needed because ties share the mean of their ranks.

    The standard library has normal quantiles too, and loads in a hundredth of the time that scipy takes.
    """
    quantile, shares = NormalDist().inv_cdf, ((np.arange(2.0, 2.0 * n + 1) / 2 - 0.5) / n).tolist()
    u = (np.arange(2.0 * n + 1) - n - 1) / n
    made = np.array([[-np.inf, -np.inf, *map(quantile, shares)], (3 * u * u - 1) / 2, u * (5 * u * u - 3) / 2])
    made.setflags(write=False)
    return made


def _standard(values: Floats) -> Floats:
    """(c, n) the columns with mean 0 and mean square 1; scaled first, so that no square overflows."""
    scaled = in_units(values)[0]
    return _unit((scaled - scaled[0]).T) * math.sqrt(len(values))


def _unit(rows: Floats) -> Floats:
    """(c, n) the rows with mean 0 and length 1."""
    centred = rows - rows.mean(axis=1)[:, None]
    unit: Floats = centred / np.sqrt(_products(centred, centred))[:, None]
    return unit


def _orthonormal(parts: Floats) -> Floats:
    """(5, c, n) what each of five parts adds to those before it, with mean 0 and length 1; 0 if it adds nothing."""
    for k, part in enumerate(parts):
        part -= part.mean(axis=1)[:, None]
        whole = np.sqrt(_products(part, part))
        for before in parts[:k]:
            part -= _products(before, part)[:, None] * before
        length = np.sqrt(_products(part, part))
        part /= np.where(length > _NOTHING * whole, length, np.inf)[:, None]
    return parts


def _products(one: Floats, other: Floats) -> Floats:
    """(c,) the sum of products of each row of (c, n) with that of another table."""
    return np.asarray(np.matmul(one[:, None, :], other[:, :, None])[:, 0, 0])


def _curve(basis: Floats, target: Floats) -> tuple[float, float]:
    """Minus the p-value of a curve (-1 if there is clearly none), and the share of the rest that the powers explain."""
    share = float(_share(np.square(basis @ target)))
    return (-_pvalue(basis, target, share) if share > CURVED else -1.0), share


def _pvalue(basis: Floats, target: Floats, share: float) -> float:
    """The p-value of a share, by an F test with the share's variance under permutations (Box and Watson 1962)."""
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
        f"The mean of {y!r} seems to follow {x!r} by a curve: {test} sees straight lines only, and may take the two "
        "for independent."
    )
    remedy = Sentence("Choose ", Option("test", "additive"), ", which sees curves, or transform a column.")
    return warning("curve", (x, y), message, remedy)
