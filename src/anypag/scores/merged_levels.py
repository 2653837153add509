"""Merges the levels of a column that no other column tells apart.

Between two columns with r levels an edge has (r - 1)² parameters. If r is large, few tables have enough rows for true
edges to raise the score. To tell two levels apart raises the log-likelihood of another column by half of G². Two levels
are merged if for every other column this gain is at most BIC's penalty. The other columns are examined one by one, so
levels that only combinations of them tell apart are merged too.
"""

from __future__ import annotations

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.data.levels import Codes


def merged(levels: Codes, most: int) -> Codes:
    """(p, n) the levels, merged in columns with more than `most` levels.

    >>> merged(np.array([[0, 1, 2, 3] * 50, [0, 0, 1, 1] * 50], np.int32), most=3)[0, :4].tolist()
    [0, 0, 1, 1]
    """
    n_levels, found = levels.max(axis=1) + 1, levels.copy()
    for i in np.flatnonzero(n_levels > most).tolist() if len(levels) > 1 else ():
        others = [j for j in range(len(levels)) if j != i]
        tables = [_counts(levels[i], levels[j], n_levels[i], n_levels[j]) for j in others]
        first = np.cumsum([0, *n_levels[others[:-1]]])
        found[i] = groups(np.hstack(tables), first, np.log(levels.shape[1]) / 2)[levels[i]]
    return found


def _counts(rows: Codes, columns: Codes, n_rows: int, n_columns: int) -> Floats:
    cells = np.bincount(rows.astype(np.int64) * n_columns + columns, minlength=int(n_rows) * int(n_columns))
    return cells.reshape(n_rows, n_columns).astype(np.float64)


def groups(counts: Floats, first: Counts, price: float) -> Codes:
    """(r,) the index of each level's group; groups are in the order of their first levels. At least two remain.

    Args:
        counts: (r, m) for a column with r levels, its tables of counts with each other column, side by side.
        first: the columns of `counts` at which these tables begin.
        price: what each parameter subtracts from the log-likelihood.
    """
    counts, group, left = counts.copy(), np.arange(len(counts)), np.arange(len(counts))
    gains = np.full((len(counts),) * 2, np.inf)
    for a in left[:-1]:
        gains[a, a + 1 :] = _gains(counts, first, price, a, left[a + 1 :])
    while len(left) > 2 and gains.min() <= 0:
        a, b = np.unravel_index(np.argmin(gains), gains.shape)
        counts[a] += counts[b]
        group[group == b] = a
        gains[b], gains[:, b] = np.inf, np.inf
        left = left[left != b]
        others = left[left != a]
        gains[np.minimum(a, others), np.maximum(a, others)] = _gains(counts, first, price, a, others)
    return np.unique(group, return_inverse=True)[1].astype(np.int32)


def _gains(counts: Floats, first: Counts, price: float, a: np.intp, others: Counts) -> Floats:
    """For each of `others`: the most that telling it apart from `a` adds to a column's log-likelihood, minus price."""
    both, size = counts[a] + counts[others], counts.sum(axis=1) / len(first)  # each other column counts all rows once
    apart = np.add.reduceat(_log(counts[a]) + _log(counts[others]) - _log(both), first, axis=1)
    apart -= (_log(size[a]) + _log(size[others]) - _log(size[a] + size[others]))[:, None]
    n_levels = np.add.reduceat((both > 0).astype(np.float64), first, axis=1)
    return np.asarray(np.round((apart - price * np.maximum(n_levels - 1, 1)).max(axis=1), 9))


def _log(counts: Floats) -> Floats:
    return np.asarray(counts * np.log(np.maximum(counts, 1.0)))
