"""Slow, obvious twins of the scores and of what is built on them: definitions as loops, or handed to an optimiser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, permutations, product
from math import lgamma, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from naive import ARROW, NONE, TAIL, Table

Floats = npt.NDArray[np.float64]


# --- Gaussian ------------------------------------------------------------------------------------------------------


def regression_deviance(s: Floats, v: int, parents: Sequence[int]) -> float:
    """The log of the residual variance of v."""
    chosen = list(parents)
    if not chosen:
        return log(s[v, v])
    beta = np.linalg.solve(s[np.ix_(chosen, chosen)], s[chosen, v])
    return log(s[v, v] - beta @ s[chosen, v])


def least_deviance(s: Floats, size: int, relation: npt.NDArray[np.uint8]) -> float:
    """A deviance that no fit of a component is below: the sum of its members' regressions on all that each depends on
    among those placed before it. The member with the fewest of these comes next; of several, the one with the fewest
    spouses; parents come before children.
    """
    parents = [{int(j) for j in np.flatnonzero(row == 1)} for row in relation]
    spouses = [{int(j) for j in np.flatnonzero(row == 2)} for row in relation]
    placed: list[int] = []
    total = 0.0

    def depends_on(member: int) -> set[int]:
        district = {member}
        while more := {j for i in district for j in spouses[i] if j in placed} - district:
            district |= more
        return (district | {j for i in district for j in parents[i]}) - {member}

    while len(placed) < size:
        free = [i for i in range(size) if i not in placed and parents[i] & {*range(size)} <= {*placed}]
        member = min(free, key=lambda i: (len(depends_on(i)), len(spouses[i]), i))
        total += regression_deviance(s, member, sorted(depends_on(member)))
        placed.append(member)
    return total


def parabola_gain(s: Floats, b: Floats, omega: Floats, relation: npt.NDArray[np.uint8], more: tuple[int, int]) -> float:
    """By how much a parameter lowers log|Ω| + tr(Ω⁻¹ B S B') at a fit, were that a parabola, by finite differences.
    `relation` (n, n) has the parents and spouses of all, those of the parameter too; it is in row and column `more`.
    """
    places = [(i, j) for i in range(len(s)) for j in range(len(s)) if i == j or relation[i, j] == 1]
    places += [(i, j) for i in range(len(s)) for j in range(i) if relation[i, j] == 2]
    places.sort(key=lambda place: place in (more, more[::-1]))  # it comes last
    step = 1e-4

    def value(*changed: tuple[int, int]) -> float:
        at_b, at_omega = b.copy(), omega.copy()
        for k, sign in changed:
            (i, j) = places[k]
            if relation[i, j] == 1:
                at_b[i, j] += sign * step
            else:
                at_omega[[i, j], [j, i]] += sign * step
        return float(np.linalg.slogdet(at_omega)[1] + np.trace(np.linalg.solve(at_omega, at_b @ s @ at_b.T)))

    last = len(places) - 1
    slope = (value((last, 1)) - value((last, -1))) / (2 * step)
    signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    bend = np.array(
        [[sum(x * y * value((j, x), (k, y)) for x, y in signs) for j in range(last + 1)] for k in range(last + 1)]
    ) / (4 * step**2)
    return float(slope**2 * np.linalg.inv(bend)[last, last] / 2)


def grow_shrink(s: Floats, rows: int, v: int, candidates: Sequence[int]) -> set[int]:
    """The parents that grow-shrink finds by BIC: the best is added while that helps, then the worst removed."""

    def score(parents: set[int]) -> float:
        return -rows / 2 * regression_deviance(s, v, sorted(parents)) - log(rows) / 2 * len(parents)

    parents = set[int]()
    while rest := [c for c in candidates if c not in parents]:
        best = max(rest, key=lambda c: score({*parents, c}))
        if score({*parents, best}) <= score(parents):
            break
        parents.add(best)
    while parents:
        worst = max(parents, key=lambda c: score(parents - {c}))
        if score(parents - {worst}) <= score(parents) + 1e-9:
            break
        parents.remove(worst)
    return parents


def edges_of_kind(marks: Table, at_i: int, at_j: int) -> list[tuple[int, int]]:
    n = len(marks)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    return [(i, j) for i, j in pairs if marks[j][i] == at_i and marks[i][j] == at_j]


def covariance_of(marks: Table, parameters: Floats) -> Floats | None:
    """Σ = (I - B)⁻¹ blockdiag(Λ⁻¹, Ω) (I - B)⁻ᵀ of a MAG; None if a part is not positive definite."""
    n = len(marks)
    directed = edges_of_kind(marks, TAIL, ARROW)
    both = [(i, j) for i, j in edges_of_kind(marks, ARROW, ARROW) if i < j]
    undirected = [(i, j) for i, j in edges_of_kind(marks, TAIL, TAIL) if i < j]
    b, omega, precision = np.eye(n), np.diag(np.exp(parameters[:n])), np.diag(np.exp(parameters[:n]))
    rest = iter(parameters[n:])
    for i, j in directed:
        b[j, i] = -next(rest)
    for i, j in both:
        omega[i, j] = omega[j, i] = next(rest)
    for i, j in undirected:
        precision[i, j] = precision[j, i] = next(rest)
    joined = sorted({v for edge in undirected for v in edge})
    if min(np.linalg.eigvalsh(omega)[0], np.linalg.eigvalsh(precision)[0]) < 1e-6:
        return None
    if joined:
        omega[np.ix_(joined, joined)] = np.linalg.inv(precision[np.ix_(joined, joined)])
    inverse = np.linalg.inv(b)
    sigma: Floats = inverse @ omega @ inverse.T
    return sigma


def gaussian_deviance(marks: Table, s: Floats, starts: int = 4) -> float:
    """The least log|Σ| + tr(Σ⁻¹ S) - n over the model of a MAG, by a general optimiser from several starts."""
    n = len(s)
    size = n + sum(marks[i][j] != NONE for i in range(n) for j in range(i))

    def value(parameters: Floats) -> float:
        sigma = covariance_of(marks, parameters)
        if sigma is None:
            return 1e6
        return float(np.linalg.slogdet(sigma)[1] + np.trace(np.linalg.solve(sigma, s)) - n)

    random = np.random.default_rng(0)
    found = []
    for k in range(starts):
        start = np.zeros(size) if k == 0 else random.normal(scale=0.3, size=size)
        best = minimize(value, start, method="Nelder-Mead" if size < 4 else "BFGS", options={"maxiter": 4000})
        best = minimize(value, best.x, method="Powell", options={"xtol": 1e-9, "ftol": 1e-12, "maxiter": 20000})
        found.append(float(best.fun))
    return min(found)


def additive_deviance(marks: Table, functions: Sequence[Floats], starts: int = 2) -> float:
    """The least log|Ω| + tr(Ω⁻¹ E'E) - n, where E is what the functions of its parents leave of each variable's first.

    `functions[v]` are columns of length 1; Ω is free where there is `<->`. By a general optimiser.
    """
    n = len(marks)
    directed = edges_of_kind(marks, TAIL, ARROW)
    both = [(i, j) for i, j in edges_of_kind(marks, ARROW, ARROW) if i < j]
    widths = [functions[i].shape[1] for i, _ in directed]

    def value(parameters: Floats) -> float:
        omega = np.diag(np.exp(parameters[:n]))
        for (i, j), covariance in zip(both, parameters[n : n + len(both)], strict=True):
            omega[i, j] = omega[j, i] = covariance
        if np.linalg.eigvalsh(omega)[0] < 1e-6:
            return 1e6
        left = [functions[v][:, 0].copy() for v in range(n)]
        slopes = np.split(parameters[n + len(both) :], np.cumsum(widths)[:-1])
        for (i, j), slope in zip(directed, slopes, strict=True):
            left[j] -= functions[i] @ slope
        rest = np.array(left) @ np.array(left).T
        return float(np.linalg.slogdet(omega)[1] + np.trace(np.linalg.solve(omega, rest)) - n)

    random = np.random.default_rng(0)
    size = n + len(both) + sum(widths)
    found = [minimize(value, random.normal(scale=0.1 * k, size=size), method="BFGS") for k in range(starts)]
    return min(float(best.fun) for best in found)


# --- discrete ------------------------------------------------------------------------------------------------------


def bdeu(
    levels: npt.NDArray[np.int32], v: int, parents: Sequence[int], ess: float, sizes: Sequence[int] | None = None
) -> float:
    """Buntine's score: a product over the configurations of the parents and the levels of v.

    `sizes` says how many levels columns have, if more than the rows show.
    """
    many = np.array(levels.max(axis=1) + 1 if sizes is None else sizes)
    q, r = int(np.prod(many[list(parents)], dtype=np.int64)), int(many[v])
    rows = Counter(tuple(column) for column in levels[list(parents)].T)
    cells = Counter((tuple(column[:-1]), column[-1]) for column in levels[[*parents, v]].T.tolist())
    score = sum(lgamma(ess / q) - lgamma(ess / q + count) for count in rows.values())
    return score + sum(lgamma(ess / (q * r) + count) - lgamma(ess / (q * r)) for count in cells.values())


def rarity(column: Sequence[int], size: int) -> float:
    """Half the sum, over the levels of a column, of how far the log of each share lies below that of equal shares."""
    counts = [sum(level == x for level in column) + 0.5 for x in range(size)]
    return sum(log(1 / size) - log(count / sum(counts)) for count in counts) / 2


def price_of_edge(levels: npt.NDArray[np.int32], i: int, j: int) -> float:
    """What rare levels add to an edge: the rarity of each end, for every level but one of the other."""
    sizes = [int(column.max()) + 1 for column in levels]
    return sum(rarity(levels[a].tolist(), sizes[a]) * (sizes[b] - 1) for a, b in ((i, j), (j, i)))


# --- searches ------------------------------------------------------------------------------------------------------


def best_order(n: int, score: Callable[[int, tuple[int, ...]], float]) -> float:
    """The best score of any order, when every variable takes the best of all subsets of those before it."""
    return max(
        sum(
            max(score(v, parents) for k in range(at + 1) for parents in combinations(sorted(order[:at]), k))
            for at, v in enumerate(order)
        )
        for order in permutations(range(n))
    )


def all_mag_marks(n: int, is_mag: Callable[[npt.NDArray[np.uint8]], bool]) -> list[npt.NDArray[np.uint8]]:
    """Every graph with edges -->, <-- , <-> and ---, that is a MAG."""
    pairs = list(combinations(range(n), 2))
    kinds = ((0, 0), (ARROW, TAIL), (TAIL, ARROW), (ARROW, ARROW), (TAIL, TAIL))
    found = []
    for states in product(kinds, repeat=len(pairs)):
        marks = np.zeros((n, n), np.uint8)
        for (i, j), (at_j, at_i) in zip(pairs, states, strict=True):
            marks[i, j], marks[j, i] = at_j, at_i
        if is_mag(marks):
            found.append(marks)
    return found


# --- errors --------------------------------------------------------------------------------------------------------


def errors(learned: Table, truth: Table) -> int:
    """Extra edges, missing edges, wrong marks on shared edges."""
    total = 0
    for i in range(len(learned)):
        for j in range(i):
            has, should = learned[i][j] != NONE, truth[i][j] != NONE
            total += has != should
            if has and should:
                total += (learned[i][j] != truth[i][j]) + (learned[j][i] != truth[j][i])
    return total


def expected_errors(learned: Table, pags: Sequence[Table], weights: Sequence[float]) -> float:
    return sum(w * errors(learned, pag) for pag, w in zip(pags, weights, strict=True)) / sum(weights)


# --- hidden causes with levels -------------------------------------------------------------------------------------


def cheeseman_stutz(
    rows: npt.NDArray[np.integer], parents: Sequence[Sequence[int]], hidden: Sequence[Sequence[int]], fit: LatentFit
) -> tuple[float, npt.NDArray[np.float64]]:
    """The score of columns given hidden causes, as fitted, and how probable each joint state is in each row.

    Args:
        rows: (columns, rows) levels.
        parents: of each column.
        hidden: the hidden causes of each column; every column has one.
        fit: the levels of each hidden cause with their shares, and the table of each column: level by (levels of its
            parents, levels of its hidden causes).
    """
    states = list(product(*(range(len(shares)) for shares in fit.shares)))
    n_rows = rows.shape[1]
    posterior = np.zeros((n_rows, len(states)))
    total = 0.0
    for r in range(n_rows):
        for s, state in enumerate(states):
            posterior[r, s] = np.prod([shares[state[h]] for h, shares in enumerate(fit.shares)])
            for v, table in enumerate(fit.tables):
                posterior[r, s] *= table[_group(rows, r, state, parents[v], hidden[v])][rows[v, r]]
        total += log(posterior[r].sum())
        posterior[r] /= posterior[r].sum()
    score = total
    for v, table in enumerate(fit.tables):
        counts = {group: np.zeros(len(levels)) for group, levels in table.items()}
        for r, (s, state) in product(range(n_rows), enumerate(states)):
            counts[_group(rows, r, state, parents[v], hidden[v])][rows[v, r]] += posterior[r, s]
        prior = fit.ess / sum(len(levels) for levels in table.values())
        for group, levels in table.items():
            score += _marginal(counts[group], prior) - float(counts[group] @ np.log(levels))
    for h, shares in enumerate(fit.shares):
        met = np.array([posterior[:, [state[h] == x for state in states]].sum() for x in range(len(shares))])
        score += _marginal(met, 1.0) - float(met @ np.log(shares))
    return score, posterior


class LatentFit(NamedTuple):
    """Shares of the levels of hidden causes, tables of columns by group, and the prior rows of a table."""

    shares: list[npt.NDArray[np.float64]]
    tables: list[dict[tuple[int, ...], npt.NDArray[np.float64]]]
    ess: float


def _group(
    rows: npt.NDArray[np.integer], r: int, state: Sequence[int], parents: Sequence[int], hidden: Sequence[int]
) -> tuple[int, ...]:
    return (*(int(rows[p, r]) for p in parents), *(state[h] for h in hidden))


def _marginal(counts: npt.NDArray[np.float64], prior: float) -> float:
    whole = lgamma(prior * len(counts)) - lgamma(prior * len(counts) + counts.sum())
    return whole + sum(lgamma(prior + float(count)) - lgamma(prior) for count in counts)


def rows_apart(levels: npt.NDArray[np.int64]) -> dict[int, float]:
    """The first of the equal rows of (k, rows) levels, and how many there are of each."""
    rows = [tuple(row) for row in levels.T.tolist()]
    return {rows.index(row): float(rows.count(row)) for row in rows}


def merged_groups(levels: npt.NDArray[np.int64], column: int) -> list[int]:
    """The group of each level of a column, one merge at a time, from tables of counts made anew."""
    codes, penalty = levels[column].copy(), log(levels.shape[1]) / 2
    group = list(range(int(codes.max()) + 1))
    while len(set(codes.tolist())) > 2:
        pairs = {
            (a, b): max(_gain_apart(codes, levels[j], a, b, penalty) for j in range(len(levels)) if j != column)
            for a, b in combinations(sorted(set(codes.tolist())), 2)
        }
        (a, b), gain = min(pairs.items(), key=lambda item: (round(item[1], 9), item[0]))
        if round(gain, 9) > 0:
            break
        codes[codes == b] = a
        group = [a if one == b else one for one in group]
    numbers = {one: k for k, one in enumerate(sorted(set(group)))}
    return [numbers[one] for one in group]


def _gain_apart(codes: npt.NDArray[np.int64], other: npt.NDArray[np.int64], a: int, b: int, penalty: float) -> float:
    """The log-likelihood that another column gains by telling two levels apart, less the price of its parameters."""
    values = sorted(set(other[(codes == a) | (codes == b)].tolist()))
    gain = 0.0
    for group, sign in (([a], 1), ([b], 1), ([a, b], -1)):
        rows = other[np.isin(codes, group)]
        counts = [int((rows == value).sum()) for value in values]
        gain += sign * sum(count * log(count / len(rows)) for count in counts if count)
    return gain - penalty * max(len(values) - 1, 1)
