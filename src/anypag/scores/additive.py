"""The score of graphs whose effects may be curved: every variable is a sum of functions of its parents, and noise.

A continuous variable stands as functions of its ranks, those of the additive test (`ci.additive`): normal scores, two
polynomials, and two powers of normal scores. All of them explain its children; what its own parents explain is the
normal scores alone, for powers of a response have means that no sum of functions takes in. Noise is Gaussian, and `<->`
joins the noise of two variables, so graphs with hidden causes are scored as for Gaussian data. Discrete variables stand
as their levels.

Functions cost parameters, and most effects are straight. So a variable has its further functions only where they pay:
where some other variable depends on them, given its normal scores, by more than their price. Without any such variable,
or with fewer rows than functions, this is the Gaussian score of normal scores.

Members of an equivalence class need not score alike here. A curve tells cause from effect: y = x² + noise has no such
form for x. The score uses that; what is reported is still the class.
"""

from __future__ import annotations

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.ci.additive import DEGREE, Additive
from anypag.scores.mixed import MixedScore


def additive_score(test: Additive, gamma: float) -> MixedScore:
    """The score of the functions that an additive test has of its columns; `gamma` as for EBIC.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> test = Additive({"x": x, "bow": x**2 + rng.normal(size=500), "luck": rng.normal(size=500)})
    >>> np.diff(additive_score(test, gamma=0.5).start).tolist()  # x has five functions, the others one
    [5, 1, 1]
    """
    basis, p = test.basis, len(test.names)
    blocks = [np.arange(low, high) for low, high in zip(basis.start[:-1], basis.start[1:], strict=True)]
    explained = [block if levels else block[:1] for block, levels in zip(blocks, basis.is_discrete, strict=True)]
    gram = basis.gram[:-1, : basis.start[-1]]
    price = np.log(test.n) / 2, 2 * gamma * np.log(max(p, 2))
    for i in np.flatnonzero(~basis.is_discrete):
        changing = blocks[i][:DEGREE][np.diag(gram)[blocks[i][:DEGREE]] > 0]
        others = np.concatenate([np.empty(0, np.int64), *explained[:i], *explained[i + 1 :]])
        further = changing[1:]
        gain = test.n / 2 * _explained_by(gram, further, changing[0], others)
        blocks[i] = changing if (gain > price[0] * len(further) + price[1]).any() else explained[i]
    if sum(len(block) for block in blocks) + 2 > test.n:
        blocks = explained  # too few rows for so many functions
    columns = np.concatenate(blocks)
    by_name = MixedScore(
        tuple(sorted(test.names)),
        test.n,
        np.ascontiguousarray(gram[np.ix_(columns, columns)]),
        np.concatenate([[0], np.cumsum([len(block) for block in blocks])]).astype(np.int32),
        gamma=gamma,
        explained=np.array([len(part) for part in explained], np.int32),
    )
    return by_name.taken(test.rank)


def _explained_by(gram: Floats, further: Counts, first: int, others: Counts) -> Floats:
    """How much the log variance of each other column falls when `further` columns explain it beside the first."""
    slope = gram[first]
    left = gram[np.ix_(further, further)] - np.outer(slope[further], slope[further])
    shared = gram[np.ix_(further, others)] - np.outer(slope[further], slope[others])
    explained = (shared * (np.linalg.pinv(left, hermitian=True) @ shared)).sum(axis=0)
    share = explained / np.maximum(1 - slope[others] ** 2, 1e-9)
    fall: Floats = -np.log(np.maximum(1 - share, 1e-9))
    return fall
