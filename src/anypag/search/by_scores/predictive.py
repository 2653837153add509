"""A predictive check: does the best DAG make tables like the one that it was learned from?

The DAG is fitted to the rows by the model behind its score, and three tables are drawn from it. Hidden causes that
the search added to the DAG are columns too, with the levels that the search drew for each row; only pairs of measured
columns are compared. Two discrete columns have two statistics: √(2 n · mutual information), and the correlation of
their level codes. Other pairs have four correlations: of one column with the other, with its square and with its third
power, and of the two squares. If more than 5 % of the pairs differ (`results.probabilities.MOST_OFF`), the model does
not fit the table, and its probabilities mean nothing. Hidden causes that leave no trace in pairs are not seen, so a
wrong model may pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats, in_units
from anypag.data.columns import normal_scores
from anypag.graphs.pag import DAG

TABLES = 3  # how many tables are drawn
MOST_ROWS = 5000  # the most rows that are compared, because with very many rows every model fails the check
NEAR = 10  # a level is copied from one of this many rows with similar predictions
FAR = 4.0  # a pair differs if a statistic of it is more than this many standard errors off
FAR_IN_LEVELS = 3.0  # the same in discrete tables, where 4 misses too much; with a right DAG 0.3 % of pairs differ

LevelRows = npt.NDArray[np.integer]


def share_off(z: Floats, far: float = FAR) -> float:
    """The share of pairs that differ. `z` (p, p): how many standard errors each pair is off; `far`: the limit."""
    return float((z[np.triu_indices(len(z), 1)] > far).mean()) if len(z) > 1 else 0.0


def rows_per_number(n: int, n_levels: npt.ArrayLike, parents: Flags) -> float:
    """The number of rows of a discrete table for each parameter of a DAG.

    >>> rows_per_number(60, [2, 3, 4], np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool))  # 1 + 2 + 3 * 6
    2.857142857142857
    """
    sizes = np.asarray(n_levels, np.float64)
    cells = np.where(parents, sizes[:, None], 1.0).prod(axis=0)
    return float(n / ((sizes - 1) * cells).sum())


def off_in_levels(levels: LevelRows, parents: Flags) -> Floats:
    """(p, p) how far statistics of two columns in the data are from those in drawn tables, in standard errors. Of the
    two statistics, mutual information and correlation, the one that is farther off counts.
    """
    levels = levels[:, :: _step(levels.shape[1])]
    tables = [_drawn_levels(levels, parents, rng) for rng in _generators(levels.T)]
    middle = np.mean([_information(table) for table in tables], axis=0)
    freedom = np.outer(levels.max(axis=1) * 1.0, levels.max(axis=1))
    variance = 1 - np.minimum(freedom / np.maximum(middle, 1e-9), 1) / 2  # of the root of a noncentral χ² variable
    seen, *others = (x.T @ x / len(x) for x in (_standard(table.T.astype(float)) for table in (levels, *tables)))
    off = np.abs(np.sqrt(_information(levels)) - np.sqrt(middle)) / np.sqrt(variance * (1 + 1 / TABLES))
    slope = np.abs(seen - np.mean(others, axis=0)) * np.sqrt(levels.shape[1] / (1 + 1 / TABLES))
    return np.asarray(np.maximum(off, slope))  # if levels are ordered, a correlation detects smaller differences


def _drawn_levels(levels: LevelRows, parents: Flags, rng: np.random.Generator) -> LevelRows:
    """A table drawn from the DAG. A cell is copied from a random row with equal parent levels, if there is one."""
    drawn = np.empty_like(levels)
    for v in _causes_first(parents):
        given = parents[:, v]
        drawn[v] = levels[v, _random_rows_like(levels[given], drawn[given], rng)]
    return drawn


def _random_rows_like(levels: LevelRows, wanted: LevelRows, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    n = wanted.shape[1]
    code = np.zeros(2 * n, np.int64)
    for column in np.hstack([levels, wanted]):
        code = np.unique(code * (int(column.max()) + 1) + column, return_inverse=True)[1]
    by_code = np.argsort(code[:n], kind="stable")
    low, high = (np.searchsorted(code[:n][by_code], code[n:], side) for side in ("left", "right"))
    is_new = low == high
    low[is_new], high[is_new] = 0, n
    return by_code[low + (rng.random(n) * (high - low)).astype(np.intp)]


def _information(levels: LevelRows) -> Floats:
    """(p, p) 2 n times the mutual information of every two columns."""
    p, n = levels.shape
    own = [_sum_of_logs(column) for column in levels]
    found = np.zeros((p, p))
    for i in range(p):
        wide = levels[i].astype(np.int64) * (int(levels.max()) + 1)
        for j in range(i):
            found[i, j] = found[j, i] = 2 * (_sum_of_logs(wide + levels[j]) - own[i] - own[j] + n * np.log(n))
    return np.maximum(found, 0.0)  # rounding may make a 0 negative


def _sum_of_logs(codes: LevelRows) -> float:
    count = np.maximum(np.bincount(codes), 1)  # a count of 0 becomes 1 and adds 1 · log 1 = 0
    return float((count * np.log(count)).sum())


def off_in_columns(
    values: Floats, is_discrete: Flags, parents: Flags, fixed: Flags | None = None, *, functions: bool = False
) -> Floats:
    """(p, p) how far correlations of two columns in the data are from those in drawn tables, in standard errors. Of the
    correlations of columns, squares and third powers, the one farthest off counts. With `functions`, effects of
    continuous columns are curves over normal scores, not straight lines. Columns `fixed` by design are not drawn.
    """
    values = in_units(values[:: _step(len(values))])[0]
    fixed = np.zeros_like(is_discrete) if fixed is None else fixed
    for v in np.flatnonzero(is_discrete):
        values[:, v] = np.unique(values[:, v], return_inverse=True)[1]
    if functions:
        values[:, ~is_discrete] = normal_scores(values[:, ~is_discrete])
    sizes = np.where(is_discrete, values.max(axis=0) + 1, 0).astype(np.int64)
    tables = _drawn_columns(values, sizes, parents, fixed, functions)
    drawn = [_moments(table, sizes) for table in tables]
    seen, _ = _moments(values, sizes)
    middle, variance = (np.mean(parts, axis=0) for parts in zip(*drawn, strict=True))
    off = np.abs(seen - middle) / np.sqrt(np.maximum(variance, 1.0) * (1 + 1 / TABLES) / len(values))
    starts = np.concatenate([[0], np.cumsum(np.maximum(sizes, 1))[:-1]])
    largest = np.maximum.reduceat(np.maximum.reduceat(off.max(axis=0), starts, axis=0), starts, axis=1)
    return np.asarray(np.maximum(largest, largest.T))


def _drawn_columns(values: Floats, sizes: Counts, parents: Flags, fixed: Flags, functions: bool) -> list[Floats]:
    """Drawn tables. Numbers are predictions plus random residuals; levels come from rows with similar predictions."""
    n, generators = len(values), list(_generators(values))
    tables = [values.copy() for _ in generators]
    for v in (v for v in _causes_first(parents) if not fixed[v]):
        given = np.flatnonzero(parents[:, v])
        known = _explaining(values[:, given], sizes[given], functions)
        target = _indicators(values[:, v], sizes[v]) if sizes[v] else values[:, [v]]
        slopes = np.linalg.lstsq(known, target, rcond=None)[0]
        for drawn, rng in zip(tables, generators, strict=True):
            fitted = _explaining(drawn[:, given], sizes[given], functions) @ slopes
            if sizes[v]:
                drawn[:, v] = values[_random_rows_near(known @ slopes, fitted, rng), v]
            else:
                drawn[:, v] = fitted[:, 0] + (target - known @ slopes)[rng.integers(0, n, n), 0]
    return tables


def _random_rows_near(points: Floats, wanted: Floats, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """For each wanted point, the index of a random one of the points near it; ties are broken at random."""
    from scipy.spatial import cKDTree

    shaken, goals = (part + 1e-6 * rng.normal(size=part.shape) for part in (points, wanted))
    near = cKDTree(shaken).query(goals, k=min(NEAR, len(points)))[1].reshape(len(wanted), -1)
    return np.asarray(near[np.arange(len(near)), rng.integers(0, near.shape[1], len(near))])


def _explaining(columns: Floats, sizes: Counts, functions: bool) -> Floats:
    """The regressors made from some columns: a constant, numbers or functions of these, and indicators of levels."""
    parts = [np.ones((len(columns), 1))]
    for column, size in zip(columns.T, sizes, strict=True):
        cut = np.clip(column, -4, 4)
        powers = [column, cut**2, cut**3, np.abs(cut), np.sin(2 * cut)] if functions else [column]
        parts.append(_indicators(column, size)[:, 1:] if size else np.column_stack(powers))
    return np.hstack(parts)


def _indicators(column: Floats, size: int) -> Floats:
    return np.asarray(column[:, None] == np.arange(size), np.float64)


def _moments(values: Floats, sizes: Counts) -> tuple[Floats, Floats]:
    """Two (4, c, c) arrays. The first has four correlations of every two columns (column with column, with square, with
    third power; square with square), each the mean of a product over rows. The second has the variances of these
    products. A column of levels counts as the indicators of its levels.
    """
    sized = zip(values.T, sizes, strict=True)
    parts = [_indicators(column, size) if size else column[:, None] for column, size in sized]
    first = np.clip(_standard(np.hstack(parts)), -4, 4)
    power = [_standard(part) for part in (first, first**2, np.clip(first**3 - 3 * first, -20, 20))]
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1)]
    means = np.stack([power[a].T @ power[b] for a, b in pairs]) / len(values)
    squares = np.stack([(power[a] ** 2).T @ power[b] ** 2 for a, b in pairs]) / len(values)
    return means, squares - means**2


def _standard(columns: Floats) -> Floats:
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _causes_first(parents: Flags) -> Iterator[int]:
    graph = DAG(parents)
    return (graph.index(name) for name in graph.topological_order())


def _generators(values: npt.NDArray[np.number]) -> Iterator[np.random.Generator]:
    """A random generator for each drawn table, seeded by the shape of the data."""
    return (np.random.default_rng([*values.shape, k]) for k in range(TABLES))


def _step(n: int) -> int:
    return max(1, -(-n // MOST_ROWS))
