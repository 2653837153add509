"""The score for curved effects: a continuous variable is a sum of functions of its parents, plus noise.

A continuous variable is represented by functions of its ranks, as in the additive test (`ci.additive`): normal scores,
two polynomials, and two powers of normal scores. All of them explain its continuous children. Its own parents explain
only the first, because the mean of y², say, is not a sum of functions of single parents of y. Noise is Gaussian; `<->`
joins the noise of two variables, so graphs with hidden causes are scored as for Gaussian data.

If y is a sum of functions plus noise, the normal scores of y are none. So y itself takes the place of its normal scores
if all other variables explain it better, beyond what its normal scores gain by being normal (`_in_own_numbers`).

Discrete variables are represented by their levels, as in the degenerate-Gaussian score (`scores.mixed`), and only the
levels and normal scores of parents explain them. With more functions, a continuous variable would predict a discrete
variable better than the discrete one predicts it. So discrete causes would look like effects.

Each function adds parameters, and most effects are linear. So a variable gets its further functions only if, beyond
its normal scores, they raise the log-likelihood of some other continuous variable by more than the penalty for them. If
no variable gets any, this is the degenerate-Gaussian score of normal scores and levels. If rows are too few for all
these functions, the functions of the variables that gain most are taken first.

Members of an equivalence class need not have equal scores. A curve tells cause from effect: y = x² + noise cannot be
written as x = f(y) + noise. The score uses this, but the equivalence class is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.data.audit.determined import same_order_finding
from anypag.errors import DataError
from anypag.scores.mixed import MixedScore

if TYPE_CHECKING:
    from anypag.ci.additive import Additive, Basis

FUNCTIONS = 5  # how many of the additive test's functions are used, from the first on
ALIKE = 1e-8  # a smaller share of variance counts as 0: then one column determines another, or a function adds nothing


def additive_score(test: Additive, gamma: float) -> MixedScore:
    """The score of the columns of an additive test, each represented by the test's functions; `gamma` as for EBIC.

    Raises:
        DataError: two columns sort the rows in the same order, so that one determines the other.

    >>> from anypag import Additive
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> test = Additive({"x": x, "bow": x**2 + rng.normal(size=500), "luck": rng.normal(size=500)})
    >>> np.diff(additive_score(test, gamma=0.5).start).tolist()  # luck has no function that pays
    [5, 5, 1]
    """
    basis = test.basis
    gram = _in_own_numbers(basis, test.n)
    blocks = [np.arange(low, high) for low, high in zip(basis.start[:-1], basis.start[1:], strict=True)]
    explained = [block if levels else block[:1] for block, levels in zip(blocks, basis.is_discrete, strict=True)]
    numbers = np.flatnonzero(~basis.is_discrete)
    first, names = basis.start[numbers], sorted(test.names)
    for i, j in np.argwhere(np.triu(1 - gram[np.ix_(first, first)] ** 2 < ALIKE, 1)).tolist():
        raise DataError(*same_order_finding(names[numbers[i]], names[numbers[j]]).sentence.parts)
    further = {i: _adding(gram, blocks[i][:FUNCTIONS])[1:] for i in numbers.tolist()}
    kept = _paying(gram, first, further, test.n, 2 * gamma * np.log(max(len(names), 2)), sum(map(len, explained)))
    blocks = [np.append(part, further[i]) if i in kept else part for i, part in enumerate(explained)]
    columns = np.concatenate(blocks)
    by_name = MixedScore(
        tuple(names),
        test.n,
        np.ascontiguousarray(gram[np.ix_(columns, columns)]),
        gamma=gamma,
        start=np.concatenate([[0], np.cumsum([len(block) for block in blocks])]).astype(np.int32),
        explained=np.array([len(part) for part in explained], np.int32),
        takes_functions=(~basis.is_discrete).astype(np.int32),
    )
    return by_name.taken(test.place)


def _in_own_numbers(basis: Basis, n: int) -> Floats:
    """The correlations of all columns, with own numbers in place of normal scores where the likelihood of a variable,
    given functions of all others, is then larger. Nothing changes with less than two rows for each of these functions.
    """
    q, start = int(basis.start[-1]), basis.start
    gram = basis.gram[:-1, :q].copy()
    every = np.block([[gram, basis.own[:, :q].T], [basis.own]])
    if n < 2 * len(every):
        return gram
    inverse, taken = np.linalg.inv(every + 1e-6 * np.eye(len(every))), list[int]()
    for i in np.flatnonzero(np.isfinite(basis.surprise) & ~basis.is_discrete).tolist():
        block = np.append(np.arange(start[i], start[i + 1]), q + i)
        left = np.linalg.inv(inverse[np.ix_(block, block)]).diagonal()  # variances given all other variables
        taken += [i] if np.log(left[0] / left[-1]) / 2 > basis.surprise[i] else []
    first, own = start[taken], q + np.array(taken, np.int64)
    gram[first], gram[:, first] = basis.own[taken, :q], basis.own[taken, :q].T
    gram[np.ix_(first, first)] = every[np.ix_(own, own)]
    return gram


def _adding(gram: Floats, columns: Counts) -> Counts:
    """The columns that are no linear combination of earlier ones (two columns if the variable has three values)."""
    kept: list[int] = []
    for column in columns.tolist():
        slopes = np.linalg.solve(gram[np.ix_(kept, kept)], gram[kept, column])
        if gram[column, column] - slopes @ gram[kept, column] > ALIKE:
            kept.append(column)
    return np.array(kept, np.int64)


def _paying(
    gram: Floats, first: Counts, further: dict[int, Counts], n: int, price_of_edge: float, n_columns: int
) -> set[int]:
    """The variables whose further functions raise the score; if rows are few, those whose functions raise it most."""
    gains = {}
    for (i, columns), own in zip(further.items(), first, strict=True):
        fall = _fall(gram, own, columns, first[first != own])
        gains[i] = n / 2 * fall.max(initial=0.0) - np.log(n) / 2 * len(columns) - price_of_edge
    kept = set()
    for i in sorted(gains, key=lambda i: -gains[i]):
        if gains[i] > 0 and n_columns + len(further[i]) + 2 <= n:
            kept.add(i)
            n_columns += len(further[i])
    return kept


def _fall(gram: Floats, first: int, further: Counts, others: Counts) -> Floats:
    """How far the log variance of each column of `others` falls if the columns `further` explain it besides `first`."""
    own = gram[first]
    left = gram[np.ix_(further, further)] - np.outer(own[further], own[further])
    shared = gram[np.ix_(further, others)] - np.outer(own[further], own[others])
    explained = (shared * np.linalg.solve(left, shared)).sum(axis=0)
    fraction = explained / (1 - own[others] ** 2)
    return np.asarray(-np.log(np.maximum(1 - fraction, 1e-9)))
