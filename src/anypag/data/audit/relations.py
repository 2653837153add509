"""Finds columns that are exact linear functions of others, from a correlation matrix.

A Cholesky factorisation with pivoting selects columns until the others have no variance left. Each of the others then
gives one relation, which is solved for the column with the largest correlations with the rest: "total = a + b". Any n
columns of n rows are related in this way by chance alone, so nothing is reported if n − 1 columns were selected.

Some relations are broken by a few rows. They are searched for in random draws of rows: a draw often has no such row.

Also finds indicators (0/1 columns) of the levels of one variable: no row has a 1 in two of them. For two rare columns
this may be chance. Under independence the number of rows in which both are 1 is about Poisson, so it is 0 with
probability exp(−expected). A group begins with a pair for which this probability, times the number of pairs, is below 1
in 1,000. A further column joins if its probability of no common 1 with any member, times p, is below 1 in 100
(p: the number of columns).
"""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from contextlib import suppress

import numpy as np

from anypag.arrays import Counts, Floats, Indices, in_units
from anypag.data.audit.copies import NEARLY_THE_SAME
from anypag.data.findings import Finding, Severity, Singular, warning
from anypag.data.moments import Moments, moments_of
from anypag.data.table import Table
from anypag.errors import listed

NOTHING_LEFT = 1e-10  # a column is a function of others if they leave less than this share of its variance unexplained
_NEGLIGIBLE = 1e-6  # smaller coefficients count as 0
_CLEARLY_LEFT = 1e-5  # there is no relation if others leave more than this share of every column's variance unexplained
_FEW = 200  # up to this many columns, inverting the matrix is fastest
RELATION = "Exact linear relation: "
BROKEN = 0.01  # the largest share of rows that break a reported relation
DRAWS, MORE_ROWS = 4, 20  # how many draws of rows are searched for relations; a draw has 20 more rows than columns
CHANCE = 0.001  # the limit for the first pair of a group of indicators; see the top of this file
CHANCE_OF_JOINING = 0.01  # the limit for each further column
MOST_ROWS = 20_000  # groups are searched for in at most this many rows; a reported group holds in all rows
MOST_TOLD = 10  # the most groups of indicators that an audit reports


def relation_findings(moments: Moments, singular: Singular, explained: AbstractSet[str] = frozenset()) -> list[Finding]:
    """Exact linear relations, but not those with a column in `explained`: these columns are reported already."""
    severity: Severity = "error" if singular == "error" else "warning"
    return [
        Finding(severity, "relation", columns, f"{RELATION}{text}.", "Drop one of these columns.")
        for columns, text in exact_relations(moments)
        if not explained & set(columns)
    ]


def exact_relations(moments: Moments) -> list[tuple[tuple[str, ...], str]]:
    """The columns of every exact relation, and the relation as text: `c = 2·a − b + 1`."""
    p = len(moments.names)
    if _is_clear(moments) or _is_full(moments):
        return []
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    factor, pivots, rank, _ = dpstrf(moments.correlation, lower=True, tol=NOTHING_LEFT)
    order = pivots - 1
    if rank >= min(p, moments.n - 1):
        return []
    basis = order[:rank]
    weights = solve_triangular(factor[:rank, :rank], factor[rank:, :rank].T, lower=True, trans="T")
    found = [_relation(moments, basis, weights[:, i], int(order[rank + i])) for i in range(p - rank)]
    return sorted(found, key=lambda relation: moments.names.index(relation[0][-1]))


def broken_relation_findings(table: Table) -> list[Finding]:
    """Warnings about linear relations of continuous columns that a few rows break. A relation is found if one of
    `DRAWS` draws has none of these rows. Columns that are mostly one value are left out: they relate by chance.
    """
    table = table.take([table.names[i] for i in table.of_kind("continuous")]).complete()
    n, names, found = table.n, table.names, dict[frozenset[str], Finding]()
    size, rng = len(names) + MORE_ROWS, np.random.default_rng(0)
    if len(names) < 2 or n < 2 * size:
        return []
    draws = np.stack([rng.choice(n, size, replace=False) for _ in range(DRAWS)])
    correlations = _correlations(table.values[draws])
    if _is_regular(correlations):  # nearly always, and in a tenth of the time of `moments_of`
        return []
    for rows in (rows for rows, correlation in zip(draws, correlations, strict=True) if not _is_regular(correlation)):
        for columns, text in exact_relations(moments_of(table.values[rows], names)):
            broken = _broken(table.values[:, [names.index(name) for name in columns]], rows)
            if 0 < broken <= BROKEN * n:
                message = f"Linear relation in all but {broken:,} of {n:,} rows: {text}."
                remedy = "Correct these rows if they are errors; then drop one of these columns."
                found.setdefault(frozenset(columns), warning("broken relation", columns, message, remedy))
    return list(found.values())


def _correlations(values: Floats) -> Floats:
    """(k, p, p) the correlations in each of k tables (k, n, p); 0 for constant columns."""
    values, _ = in_units(values, axis=1)
    values -= values.mean(axis=1, keepdims=True)
    values /= np.maximum(np.sqrt(np.einsum("kij,kij->kj", values, values)), _NEGLIGIBLE)[:, None]
    return np.stack([rows.T @ rows for rows in values])


def _broken(values: Floats, drawn: Counts) -> int:
    """How many rows break the relation that holds between the last column and the others in the drawn rows. Also 0 if a
    column is mostly one value, and for two columns that are nearly the same: another check reports these.
    """
    n, p = values.shape
    values, _ = in_units(values)
    values, _ = in_units(values - values[drawn].mean(axis=0))
    varies = all(2 * np.unique(column, return_counts=True)[1].max() < n for column in values.T)
    if p < 2 or not varies or (p == 2 and abs(np.asarray(np.corrcoef(values.T))[0, 1]) >= NEARLY_THE_SAME):
        return 0
    known = np.column_stack([np.ones(n), values[:, :-1]])
    rest = values[:, -1] - known @ np.linalg.lstsq(known[drawn], values[drawn, -1])[0]
    return int((np.abs(rest) > _NEGLIGIBLE).sum())


def _is_clear(moments: Moments) -> bool:
    """Does a quick check rule out relations? With few columns, the inverse gives the unexplained variance of each. With
    many, a float32 factorisation is twice as fast; a relation would leave a pivot of about 1e-7.
    """
    p = len(moments.names)
    if p >= moments.n:
        return False
    if p <= _FEW:  # by numpy: loading scipy.linalg takes longer than a small search
        return _is_regular(moments.correlation)
    from scipy.linalg.lapack import spstrf

    *_, rank, _ = spstrf(moments.correlation.astype(np.float32).T, lower=True, tol=_CLEARLY_LEFT, overwrite_a=True)
    return bool(rank == p)


def _is_regular(correlation: Floats) -> bool:
    """Do the others leave a clear share of each column's variance unexplained, in one (p, p) or all of (k, p, p)?"""
    p = correlation.shape[-1]
    with suppress(np.linalg.LinAlgError):  # enough, and quicker: no eigenvalue is smaller than that share
        np.linalg.cholesky(correlation - _CLEARLY_LEFT * np.eye(p))
        return True
    with suppress(np.linalg.LinAlgError):
        inverse = np.diagonal(np.linalg.inv(correlation), axis1=-2, axis2=-1)
        return bool(np.abs(inverse).max() < 1 / _CLEARLY_LEFT)
    return False


def _is_full(moments: Moments) -> bool:
    """Do the first n + n/4 columns already have rank n − 1, so that nothing can be reported? False if there are fewer
    columns. The full factorisation would cost p² · n steps and a copy of the matrix.
    """
    some = moments.n + moments.n // 4
    if len(moments.names) <= some:
        return False
    from scipy.linalg.lapack import dpstrf

    *_, rank, _ = dpstrf(moments.correlation[:some, :some], lower=True, tol=NOTHING_LEFT)
    return bool(rank >= moments.n - 1)


def _relation(moments: Moments, basis: Indices, weights: Floats, left_over: int) -> tuple[tuple[str, ...], str]:
    """The columns and the text of the relation left_over = Σ weights · basis (in standard units), solved for the column
    with the largest correlations with the others. Among a total and its parts this is the total.
    """
    used = np.abs(weights) > _NEGLIGIBLE
    members = np.append(basis[used], left_over)
    in_order = np.argsort(members)
    alike = np.abs(moments.correlation[np.ix_(members[in_order], members[in_order])]).sum(axis=0)
    most = np.flatnonzero(alike > alike.max() - _NEGLIGIBLE)[-1]  # the last of equal columns
    in_order = np.append(np.delete(in_order, most), in_order[most])
    members, coefficients = members[in_order], np.append(weights[used], -1.0)[in_order]
    names = tuple(moments.names[i] for i in members)
    deviations, means = moments.deviation[members], moments.mean[members]
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        slopes = -coefficients[:-1] / coefficients[-1] * (deviations[-1] / deviations[:-1])
        intercept = means[-1] - slopes @ means[:-1]
        is_negligible = np.abs(intercept) < _NEGLIGIBLE * np.abs(np.append(slopes, 1.0) * means).max()
    if not np.isfinite([*slopes, intercept]).all():  # scales too different for readable coefficients
        return names, f"{names[-1]} is a linear function of {', '.join(names[:-1])}"
    return names, f"{names[-1]} = {_sum_in_words(slopes, names[:-1], 0.0 if is_negligible else intercept)}"


def _sum_in_words(slopes: Floats, names: tuple[str, ...], intercept: float) -> str:
    factors = [f"{abs(slope):.4g}·" for slope in slopes]
    terms = [(s, f"{'' if k == '1·' else k}{name}") for s, k, name in zip(slopes, factors, names, strict=True)]
    if intercept or not terms:
        terms.append((intercept, f"{abs(intercept):.4g}"))
    (first_sign, first), *others = terms
    text = f"−{first}" if first_sign < 0 else first
    return text + "".join(f" {'−' if sign < 0 else '+'} {term}" for sign, term in others)


def indicator_findings(table: Table) -> list[Finding]:
    """Warnings about groups of 0/1 columns where no row has a 1 in two of them."""
    ends = table.summary()
    perhaps = np.flatnonzero((ends.low == 0.0) & (ends.high == 1.0) & ~table.fractions).tolist()
    numbers = [i for i in perhaps if table.labels[i] is None]
    chosen = [i for i in numbers if not ((table.values[:, i] > 0.0) & (table.values[:, i] < 1.0)).any()]
    if not chosen:
        return []
    values = table.values[:: math.ceil(table.n / MOST_ROWS), chosen]
    present, ones = (~np.isnan(values)).astype(np.float32), (values == 1.0).astype(np.float32)
    counts, here = (present.T @ present).astype(np.float64), (ones.T @ present).astype(np.float64)
    expected = here * here.T / np.maximum(counts, 1.0)  # in how many rows both would be 1 if they were independent
    groups = _groups(np.where(ones.T @ ones == 0, expected, -np.inf))
    found = [finding for group in groups for finding in _findings(table, [chosen[k] for k in group])]
    return found[:MOST_TOLD]


def _groups(expected: Floats) -> list[list[int]]:
    """Groups of columns where no row has two 1s, which chance does not explain. A group grows from the clearest pair; a
    column is in at most one group. `expected`: per pair, how many rows would have two 1s by chance; −inf if a row has.
    """
    p = len(expected)
    enough, to_join = math.log(max(p * (p - 1) / 2, 1.0) / CHANCE), math.log(max(p, 1) / CHANCE_OF_JOINING)
    left, groups = expected.copy(), []
    np.fill_diagonal(left, -np.inf)
    while left.max() > enough:
        group = [int(k) for k in np.unravel_index(np.argmax(left), left.shape)]
        for k in range(p):
            if k not in group and left[k, group].sum() > to_join:  # −inf if a row has a 1 in k and in a member
                group.append(k)
        groups.append(sorted(group))
        left[group, :] = left[:, group] = -np.inf
    return groups


def _findings(table: Table, columns: list[int]) -> list[Finding]:
    """The finding for a group; none if it does not hold in all rows, or if two columns are complements."""
    values = table.values[:, columns]
    ones = np.nansum(values[~np.isnan(values).all(axis=1)], axis=1)
    is_copy = len(columns) == 2 and bool((ones == 1).all())  # complements: reported as copies
    if ones.max() > 1 or is_copy:
        return []
    names = [table.names[i] for i in columns]
    n_levels = len(columns) + int(ones.min() == 0)
    message = (
        f"Columns {listed(names)} hold 0 and 1, and no row has a 1 in two of them, as when the levels of one "
        "variable stand in columns of their own (indicators, dummies). They then depend on each other by construction, "
        "and edges and marks among them and elsewhere may be wrong."
    )
    rest = ', default_category="none"' if n_levels > len(columns) else ""
    remedy = (
        f"Put them together into one column of {n_levels} levels, in pandas "
        f"pd.from_dummies(df[{names}]{rest}), unless they are different variables."
    )
    return [warning("indicators", names, message, remedy)]
