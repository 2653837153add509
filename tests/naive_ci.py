"""Slow, obvious twins of the tests from data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]


def residuals(column: Array, given: Array) -> Array:
    """What a regression of the column on `given` (n, r) and a constant leaves over."""
    design = np.column_stack([np.ones(len(column)), given])
    rest: Array = column - design @ np.linalg.lstsq(design, column, rcond=None)[0]
    return rest


def partial_correlation(values: Array, x: int, y: int, z: Sequence[int]) -> float:
    """|correlation| of what regressions on z leave over of x and y."""
    given = values[:, list(z)]
    rest_x, rest_y = residuals(values[:, x], given), residuals(values[:, y], given)
    return abs(float(stats.pearsonr(rest_x, rest_y).statistic))


def fisher_z(values: Array, x: int, y: int, z: Sequence[int]) -> float:
    """The p-value of Fisher's z, raised where both columns are far from normal."""
    freedom = len(values) - len(z) - 3
    if freedom <= 0:
        return 1.0
    statistic = np.sqrt(freedom) * np.arctanh(partial_correlation(values, x, y, z))
    p, ratio = float(2 * stats.norm.sf(statistic)), variance_ratio(values[:, [x]], values[:, [y]])
    if p == 0 or ratio <= 1.01:
        return p
    hats = [hat_matrix(residuals(values[:, i], values[:, list(z)])[:, None]) for i in (x, y)]
    return max(p, permuted_pvalue((hats[0], hats[1]), ratio, freedom + 2))


def contingency(
    values: Array, x: int, y: int, z: Sequence[int]
) -> dict[tuple[float, ...], Counter[tuple[float, float]]]:
    """Per combination of values of z, how often each pair of values of x and y comes."""
    strata: dict[tuple[float, ...], Counter[tuple[float, float]]] = {}
    for row in values:
        strata.setdefault(tuple(row[list(z)]), Counter())[(row[x], row[y])] += 1
    return strata


def count_test(values: Array, x: int, y: int, z: Sequence[int], *, power_divergence: str) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value of G² ("log-likelihood") or χ² ("pearson"), by stratum.

    A level of x or y that does not come in a stratum has no row or column in its table there.
    """
    statistic, freedom = 0.0, 0
    for pairs in contingency(values, x, y, z).values():
        levels_x, levels_y = sorted({a for a, _ in pairs}), sorted({b for _, b in pairs})
        observed = np.array([[pairs[a, b] for b in levels_y] for a in levels_x], dtype=np.float64)
        expected = stats.contingency.expected_freq(observed)
        terms = stats.power_divergence(observed, expected, axis=None, lambda_=power_divergence)
        statistic += float(terms.statistic)
        freedom += (len(levels_x) - 1) * (len(levels_y) - 1)
    return statistic, freedom, float(stats.chi2.sf(statistic, freedom)) if freedom else 1.0


def permutation_statistic(observed: Array) -> float:
    """n Σ (o - e)² / ((R + 1)(C + 1)) of a table of x against y."""
    rows, columns, n = observed.sum(axis=1), observed.sum(axis=0), observed.sum()
    off = observed - np.outer(rows, columns) / n
    return float(n * np.sum(off**2 / np.outer(rows + 1, columns + 1)))


def permuted_cumulants(x: Sequence[int], y: Sequence[int]) -> tuple[float, float, float]:
    """Mean, variance and third cumulant of the statistic over all ways to order the values of y."""
    found = []
    for order in permutations(y):
        observed = np.zeros((max(x) + 1, max(y) + 1))
        np.add.at(observed, (list(x), list(order)), 1.0)
        found.append(permutation_statistic(observed))
    off = np.array(found) - np.mean(found)
    return float(np.mean(found)), float(np.mean(off**2)), float(np.mean(off**3))


def permutation_test(values: Array, x: int, y: int, z: Sequence[int]) -> tuple[float, Array, float]:
    """Statistic, three cumulants and p-value of the permutation test, by stratum; all permutations are made."""
    statistic, cumulants = 0.0, np.zeros(3)
    for pairs in contingency(values, x, y, z).values():
        drawn = [pair for pair, count in pairs.items() for _ in range(count)]
        of_x, of_y = (np.unique([pair[k] for pair in drawn], return_inverse=True)[1].tolist() for k in (0, 1))
        mean, variance, third = permuted_cumulants(of_x, of_y)
        if variance > 1e-9:
            observed = np.zeros((max(of_x) + 1, max(of_y) + 1))
            np.add.at(observed, (of_x, of_y), 1.0)
            statistic += permutation_statistic(observed)
            cumulants += mean, variance, third
    return statistic, cumulants, pearson_tail(statistic, cumulants)


def pearson_tail(statistic: float, cumulants: Array) -> float:
    """The upper tail of Pearson's type III with these cumulants; 1 without variance."""
    mean, variance, third = cumulants
    if variance <= 0:
        return 1.0
    z, skewness = (statistic - mean) / np.sqrt(variance), third / variance**1.5
    return float(stats.pearson3.sf(z, skewness) if skewness > 1e-3 else stats.norm.sf(z))


def copies(names: Sequence[str], kinds: Sequence[str], values: Array) -> dict[str, str]:
    """Columns that repeat an earlier one of their kind: value by value, or level by level under any labels."""

    def are_the_same(kind: str, one: list[float | None], other: list[float | None]) -> bool:
        if kind == "continuous":
            return one == other
        return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))

    columns = [[None if np.isnan(value) else value for value in column.tolist()] for column in values.T]
    found: dict[str, str] = {}
    for i, name in enumerate(names):
        for j in range(i):
            if kinds[i] == kinds[j] and are_the_same(kinds[i], columns[j], columns[i]):
                found.setdefault(name, names[j])
    return found


def indicators(column: Array) -> Array:
    """A column of zeros and ones for every level but the most frequent."""
    levels, counts = np.unique(column, return_counts=True)
    return np.column_stack([column == level for level in np.delete(levels, counts.argmax())]).astype(float)


def degenerate_gaussian(
    values: Array, is_discrete: Sequence[bool], x: int, y: int, z: Sequence[int]
) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value of Wilks' lambda from the residuals of regressions on z.

    Where columns are far from normal, or blocks wide, p is at least that of Pillai's trace among permuted rows.
    """
    blocks = [indicators(c) if d else c[:, None] for c, d in zip(values.T, is_discrete, strict=True)]
    given = np.column_stack([np.empty((len(values), 0)), *(blocks[i] for i in z)])
    rest_x = np.column_stack([residuals(column, given) for column in blocks[x].T])
    rest_y = np.column_stack([residuals(column, given) for column in blocks[y].T])
    both = np.column_stack([rest_x, rest_y])
    shares = [np.linalg.slogdet(rest.T @ rest)[1] for rest in (both, rest_x, rest_y)]
    width_x, width_y = rest_x.shape[1], rest_y.shape[1]
    weight = len(values) - 1 - given.shape[1] - (width_x + width_y + 1) / 2
    statistic = -weight * (shares[0] - shares[1] - shares[2])
    freedom = width_x * width_y
    p = float(stats.chi2.sf(statistic, freedom))
    is_wide = freedom * (width_x**2 + width_y**2 - 5) / 48 > 0.01 * weight**2
    if is_wide or variance_ratio(blocks[x], blocks[y]) > 1.01:
        hats = hat_matrix(rest_x), hat_matrix(rest_y)
        p = max(p, permuted_pvalue(hats, variance_ratio(blocks[x], blocks[y]), len(values) - 1 - given.shape[1]))
    return statistic, freedom, p


def variance_ratio(x_columns: Array, y_columns: Array) -> float:
    """How many times the variance of normal columns the trace has among permuted rows; 1 if a side has no excess."""
    n, hats = len(x_columns), (hat_matrix(x_columns), hat_matrix(y_columns))
    for hat in hats:
        d = np.trace(hat)
        if n * (n + 1) * np.sum(np.diag(hat) ** 2) <= (n - 1) * d * (d + 2):
            return 1.0
    variance, normal = explained_variance(*hats)
    return variance / normal


def permuted_pvalue(hats: tuple[Array, Array], ratio: float, freedom: int) -> float:
    """The tail of the beta distribution with the mean of the trace of two hat matrices, and `ratio` times its variance
    for normal columns of one row more than `freedom`; never narrower than for normal columns.
    """
    p, q = sorted(round(float(np.trace(hat))) for hat in hats)
    normal = 2 * p * q * (freedom - p) * (freedom - q) / (freedom**2 * (freedom + 2) * (freedom - 1))
    mean, variance, most = q / freedom, normal * ratio / p**2, p * freedom / 2
    total = min(max(mean * (1 - mean) / variance - 1, most / 1000), most)
    return float(stats.beta.sf(np.trace(hats[0] @ hats[1]) / p, mean * total, (1 - mean) * total))


def rank_functions(column: Array, degree: int) -> Array:
    """Normal scores s, Legendre polynomials of degree 2 and 3 of the ranks on [-1, 1], s², s³, then degree 4 and 5."""
    ranks = (2 * stats.rankdata(column) - 1) / len(column) - 1
    scores = stats.norm.ppf((ranks + 1) / 2)
    if max(np.unique(column, return_counts=True)[1]) > 0.8 * len(column):  # mostly one value: no polynomials of 2 and 3
        powers = np.polynomial.Legendre.basis(4)(ranks), np.polynomial.Legendre.basis(5)(ranks)
        nothing = np.zeros(len(column))
        return np.column_stack([scores, nothing, nothing, scores**2, scores**3, *powers])[:, :degree]
    p2, p3, p4, p5 = (np.polynomial.Legendre.basis(k)(ranks) for k in range(2, 6))
    return np.column_stack([scores, p2, p3, scores**2, scores**3, p4, p5])[:, :degree]


def additive_design(
    values: Array, is_discrete: Sequence[bool], x: int, y: int, z: Sequence[int], scores: Array | None = None
) -> tuple[Array, Array, Array]:
    """The columns of x, of y and of z for the additive test; of a continuous x or y, the response first.

    Products of continuous columns are those of `scores` (n, p), of normal scores if there are none.
    """
    n = len(values)
    degree = max(1, min(5 if n < 2500 else 7, n // (4 * max(len(z), 1))))
    tested = 3 if degree >= 5 else 2 if degree >= 3 else 1
    blocks = [indicators(c) if d else rank_functions(c, degree) for c, d in zip(values.T, is_discrete, strict=True)]
    single = [block[:, :1] if scores is None else scores[:, [i]] for i, block in enumerate(blocks)]
    heads = [blocks[i] if is_discrete[i] else single[i] for i in range(len(blocks))]
    heads = [head - head.mean(axis=0) for head in heads]
    products = [a[:, None] * b[:, None] for i, j in combinations(z, 2) for a in heads[i].T for b in heads[j].T]
    given = [np.empty((n, 0)), *(blocks[i] for i in z), *(products if 20 * len(products) <= n else [])]
    x_columns, y_columns = (blocks[i] if is_discrete[i] else blocks[i][:, :tested] for i in (x, y))
    return x_columns, y_columns, np.column_stack(given)


def hat_matrix(columns: Array) -> Array:
    """The projection on the columns once their means are taken off."""
    centred = columns - columns.mean(axis=0)
    hat: Array = centred @ np.linalg.pinv(centred)
    return hat


def explained_variance(hat_x: Array, hat_y: Array) -> tuple[float, float]:
    """The variance of the trace of hat_x hat_y when the rows of one are permuted; the part that normal columns have.

    For one response, the trace is R².
    """
    n, normal, rest = len(hat_x), 2.0, 1.0
    for hat in (hat_x, hat_y):
        d, h = np.trace(hat), np.sum(np.diag(hat) ** 2)
        normal *= d * (n - 1 - d)
        rest *= n * (n + 1) * h - (n - 1) * d * (d + 2)
    normal /= (n - 1) ** 2 * (n + 1) * (n - 2)
    return float(normal + rest / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))), float(normal)


def freedom_share(x_columns: Array, y_columns: Array) -> float:
    """The share of F's degrees of freedom that gives R² its variance under permutation.

    1 if that is within 1 %, or if a side has no more kurtosis than normal columns.
    """
    n, ratio = len(x_columns), variance_ratio(x_columns, y_columns)
    return 1.0 if ratio <= 1.01 else max(((n + 1) / ratio - 2) / (n - 1), 1e-3)


def near_values(column: Array) -> Array:
    """Standard scores, those beyond three deviations drawn in to three."""
    near: Array = np.clip((column - column.mean()) / column.std(), -3, 3)
    return near


def curve(values: Array, x: int, y: int) -> float | None:
    """The share of what straight lines of x leave of y that powers of its ranks explain; None if that is no curve."""
    n, p = values.shape
    scores, *powers = rank_functions(values[:, x], 3).T
    lines = np.column_stack([scores, values[:, x] - values[:, x].mean(), near_values(values[:, x])])
    of_lines, of_all = hat_matrix(lines), hat_matrix(np.column_stack([lines, *powers]))
    d = round(np.trace(of_all - of_lines))
    found = []
    for target in (rank_functions(values[:, y], 1)[:, 0], near_values(values[:, y])):
        unit = (target - target.mean()) / np.linalg.norm(target - target.mean())
        line, both = unit @ of_lines @ unit, unit @ of_all @ unit
        share = min((both - line) / max(1 - line, 1e-6), 1 - 1e-12)
        left = unit - of_lines @ unit
        if share <= 0.04 or line > 0.96:
            return None
        variance, _ = explained_variance(of_all - of_lines, np.outer(left, left) / (left @ left))
        m, freedom = d / (n - 1), n - 4 - d
        part = min(1.0, max(2 * (m * (1 - m) / variance - 1) / (n - 1), 1e-3)) if variance > 0 else 1.0
        pvalue = stats.f.sf(share / d / ((1 - share) / freedom), part * d, part * freedom)
        if pvalue >= 0.005 / (p * (p - 1)):
            return None
        found.append((-pvalue, share))
    return float(min(found)[1])


def wilks_pvalue(responses: Array, tested: Array, given: Array) -> float:
    """Do the tested columns help to predict the responses? Wilks' lambda from residuals, by Rao's F.

    F has the degrees of freedom that permutations of the rows of the columns themselves call for.
    """
    both = np.column_stack([given, tested])
    rank = [np.linalg.matrix_rank(np.column_stack([np.ones(len(both)), part])) for part in (given, both)]
    without, with_them = (
        np.column_stack([residuals(column, part) for column in responses.T]) for part in (given, both)
    )
    share = np.linalg.det(with_them.T @ with_them) / np.linalg.det(without.T @ without)
    p, q, freedom = responses.shape[1], int(rank[1] - rank[0]), len(both) - int(rank[0])
    root = np.sqrt((p**2 * q**2 - 4) / (p**2 + q**2 - 5)) if p**2 + q**2 > 5 and p * q > 2 else 1.0
    second = (freedom - (p + q + 1) / 2) * root - (p * q - 2) / 2
    if second <= 0:
        return 1.0
    left, part = share ** (1 / root), freedom_share(responses, tested)
    return float(stats.f.sf((1 - left) / left * second / (p * q), part * p * q, part * second))


def additive(
    values: Array, is_discrete: Sequence[bool], x: int, y: int, z: Sequence[int], scores: Array | None = None
) -> float:
    """The p-value of the additive test, both ways by least squares; of a continuous variable two functions at most are
    tested in a discrete one.
    """
    x_columns, y_columns, given = additive_design(values, is_discrete, x, y, z, scores)
    ways = [(x, x_columns, y, y_columns), (y, y_columns, x, x_columns)]
    p = np.array(
        [
            wilks_pvalue(a, b if is_discrete[j] else b[:, :2], given)
            if is_discrete[i]
            else wilks_pvalue(a[:, :1], b, given)
            for i, a, j, b in ways
        ]
    )
    return float(0.5 - np.arctan(np.mean(np.tan((0.5 - p) * np.pi))) / np.pi)


def autocorrelation(values: Sequence[float]) -> float:
    """The correlation of neighbours, in fractions, which do not round."""
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact)
    together = sum((a - mean) * (b - mean) for a, b in pairwise(exact))
    return float(together / variance) if variance else 0.0


def fisher_z_in_contexts(values: Array, contexts: Sequence[int], x: int, y: int, z: Sequence[int]) -> float:
    """Fisher's z given all contexts besides z; 0 if contexts in z determine x or y, which is looked up row by row. A
    context is given unless it would, with those before it, determine x or y.
    """

    def determines(given: Sequence[int], of: int) -> bool:
        seen: dict[tuple[float, ...], float] = {}
        return all(seen.setdefault(tuple(row[list(given)]), row[of]) == row[of] for row in values)

    tested = [end for end in (x, y) if end in contexts]
    given = sorted(set(z) & set(contexts))
    if any(determines(given, end) for end in tested):
        return 0.0
    for one in contexts:
        wider = sorted({*given, one} - {x, y})
        if not any(determines(wider, end) for end in tested):
            given = wider
    return fisher_z(values, x, y, [*(v for v in z if v not in contexts), *given])
