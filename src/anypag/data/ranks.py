"""Normal scores: every column replaced by what its ranks would be worth under a normal law.

Correlations of normal scores see any dependence that grows or falls steadily, whatever its shape, and no outlier weighs
more than its rank. On Gaussian data they cost next to nothing.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from anypag.errors import ParameterError

Array = npt.NDArray[np.float64]
Transform = Literal["none", "normal-scores"]


def transformed(values: Array, transform: Transform) -> Array:
    """(n, p) values as a test or score of continuous columns is to see them."""
    if transform not in get_args(Transform):
        raise ParameterError(f"transform must be 'none' or 'normal-scores'; got {transform!r}.")
    return normal_scores(values) if transform == "normal-scores" else values


def normal_scores(values: Array) -> Array:
    """(n, p) the normal quantile of (rank - 1/2) / n in each column; ties share the mean of their ranks.

    Missing values stay missing, and ranks are taken among the others.

    >>> normal_scores(np.array([[1.0], [100.0], [2.0]])).round(2).tolist()
    [[-0.97], [0.97], [0.0]]
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0, nan_policy="omit")
    rows = np.sum(~np.isnan(values), axis=0)
    scores: Array = ndtri((ranks - 0.5) / rows)
    return scores
