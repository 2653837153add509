"""Continuous columns whose mean follows another one by a curve, which tests of correlation see only in part.

A curve from x to y is named only if the second and third powers of the ranks of x say something about y beyond straight
lines of x, of x without its far values and of its normal scores: about 4 % of what these leave, with a p-value that
permutations of y would give (Box and Watson's correction of the degrees of freedom). It must do so for y without its
far values and for the normal scores of y. Few far values, and columns that are mostly one value, make no curve then.
"""

from __future__ import annotations

import math

import numpy as np

from anypag.arrays import Flags, Floats, in_units
from anypag.data.columns import normal_scores
from anypag.data.findings import Finding, first_of_many, warning
from anypag.data.table import Table
from anypag.errors import Option, Sentence, listed

LEAST_ROWS = 20
ROWS_FOR_CURVES = 1000
CURVED = 0.04
"""The share of the variance that is left by straight lines which a curve must explain."""
CHANCE = 0.005
"""The probability, over all pairs, of a curve that is none."""
STRAIGHT = 0.96
"""The share of the variance above which straight lines are enough."""
MOSTLY = 0.8
"""The share of rows with one value from which on curves are not looked for."""
MOST_PAIRWISE = 40
"""Columns with gaps up to which every pair is checked on the rows that have both."""
_NOTHING = 1e-6


def curve_findings(table: Table) -> list[Finding]:
    """Continuous columns whose mean seems to follow another one by a curve."""
    numbers = table.of_kind("continuous")
    test = "Fisher's z" if len(numbers) == len(table.names) else "the test for mixed data"
    values = table.values[:: math.ceil(table.n / ROWS_FOR_CURVES), numbers]
    is_whole = ~np.isnan(values).any(axis=1)
    if is_whole.all() or len(numbers) > MOST_PAIRWISE:
        pairs = _curves(values[is_whole], len(numbers))
    else:
        pairs = [pair for i in range(len(numbers)) for j in range(i) for pair in _curves_of_pair(values, j, i)]
    names = [table.names[i] for i in numbers]
    told = sorted(pairs, key=lambda pair: -pair[2])
    return first_of_many([_curved(names[i], names[j], test) for i, j, _ in told])


def curve_notes(table: Table) -> list[str]:
    """Which continuous columns are mostly one value, so that curves were not looked for."""
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
    """(p,) does one value fill more than `MOSTLY` of the rows of a column? The median is that value then.

    Such a value stands in two rows that follow each other, unless gaps part them: other columns are not sorted.
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
    """Curves between two columns, in the rows that have both."""
    both = values[:, [i, j]]
    found = _curves(both[~np.isnan(both).any(axis=1)], values.shape[1])
    return [((i, j)[a], (i, j)[b], share) for a, b, share in found]


def _curves(values: Floats, p: int) -> list[tuple[int, int, float]]:
    """Pairs (x, y) of columns of (n, c) values without gaps where y follows x by a curve, and the share of variance
    that it explains; p columns are looked at in all.
    """
    n = len(values)
    if n < LEAST_ROWS or values.shape[1] < 2:
        return []
    usable = np.flatnonzero(~mostly_one(values))
    if len(usable) < 2:
        return []
    raw = _unit(values[:, usable])
    clipped, scores = _unit(np.clip(raw * math.sqrt(n), -3.0, 3.0)), _unit(normal_scores(values[:, usable]))
    basis = _orthonormal(raw, clipped, scores)
    shares = [_shares(basis, target) for target in (clipped, scores)]
    is_curved = np.all([(share > CURVED) & (line <= STRAIGHT) for share, line in shares], axis=0)
    np.fill_diagonal(is_curved, False)
    found = []
    for i, j in np.argwhere(is_curved).tolist():
        least = min(
            (-_pvalue(basis[i], target[:, j], float(share[i, j])), float(share[i, j]))
            for target, (share, _) in zip((clipped, scores), shares, strict=True)
        )
        if -least[0] < CHANCE / (p * (p - 1)):
            found.append((int(usable[i]), int(usable[j]), least[1]))
    return found


def _unit(values: Floats) -> Floats:
    """(n, p) columns with mean 0 and sum of squares 1; 0 throughout a constant one."""
    scaled, _ = in_units(values)
    for _ in range(2):
        scaled = scaled - scaled.mean(axis=0)
    length = np.sqrt(np.square(scaled).sum(axis=0))
    unit: Floats = scaled / np.where(length > 0, length, 1.0)
    return unit


def _orthonormal(raw: Floats, clipped: Floats, scores: Floats) -> Floats:
    """(p, n, 6) of each column: a constant, three straight lines, and what two powers of its ranks add; zeros where one
    adds nothing.
    """
    from scipy.stats import rankdata

    n, p = raw.shape
    ranks = (2.0 * rankdata(raw, axis=0) - n - 1) / n
    powers = ((3 * ranks**2 - 1) / 2, (5 * ranks**3 - 3 * ranks) / 2)
    columns = [np.full((n, p), 1 / math.sqrt(n)), raw, clipped, scores, *(_unit(power) for power in powers)]
    found, rest = np.linalg.qr(np.stack(columns, axis=-1).transpose(1, 0, 2))
    adds = np.abs(np.diagonal(rest, axis1=1, axis2=2)) > _NOTHING
    basis: Floats = found * adds[:, None, :]
    return basis


def _shares(basis: Floats, target: Floats) -> tuple[Floats, Floats]:
    """(p, p) each: of what straight lines of x leave of y, the share that the powers explain; and the lines' own."""
    p, n, _ = basis.shape
    parts = np.square(basis.transpose(0, 2, 1).reshape(-1, n) @ target).reshape(p, 6, -1)
    line, more = parts[:, :4].sum(axis=1), parts[:, 4:].sum(axis=1)
    return more / np.maximum(1.0 - line, _NOTHING), line


def _pvalue(basis: Floats, target: Floats, share: float) -> float:
    """The p-value of a share, by an F test whose degrees of freedom give the share the variance it has under
    permutations (Box and Watson 1962).
    """
    from scipy.special import fdtrc

    lines, powers = basis[:, :4], basis[:, 4:]
    n, d = len(target), int((np.square(powers).sum(axis=0) > 0.5).sum())
    left = target - lines @ (lines.T @ target)
    k = np.sum(left**4) / np.sum(left**2) ** 2
    h = np.sum(np.square(powers).sum(axis=1) ** 2)
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
