"""The PAG of least expected error, given how probable PAGs are.

Errors are counted as in `anypag.metrics`: extra edges, missing edges, and wrong marks on edges that are there. The
expected number of a graph needs the probability of every mark of every pair and nothing else.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats
from anypag.graphs.base import Marks


def mark_shares(pags: Marks, weights: npt.ArrayLike) -> Floats:
    """(4, n, n): how probable it is that i–j has no edge [0], or a circle, arrowhead or tail [1, 2, 3] at j.

    Args:
        pags: (c, n, n) marks.
        weights: (c,) their weights, with any sum.

    >>> mark_shares(np.array([[[0, 2], [1, 0]], [[0, 0], [0, 0]]], np.uint8), [3, 1])[:, 0, 1].tolist()
    [0.25, 0.0, 0.75, 0.0]
    """
    share = np.asarray(weights, np.float64) / np.sum(weights)
    found = np.stack([np.tensordot(share, pags == mark, axes=1) for mark in range(4)])
    return np.asarray(np.minimum(found, 1.0), np.float64)  # sums of shares may end a bit above


def expected_errors(pags: Marks, shares: Floats) -> Floats:
    """(c,) the expected number of errors of each graph."""
    n = pags.shape[-1]
    off_diagonal = ~np.eye(n, dtype=np.bool_)
    edge = np.where(off_diagonal, 1 - shares[0], 0.0)
    right = np.take_along_axis(shares[:, None], pags[None].astype(np.intp), axis=0)[0]  # of the mark each graph has
    each = np.where(pags == 0, edge / 2, (1 - edge) / 2 + edge - right)  # an edge is met twice, a mark once
    total: Floats = np.where(off_diagonal, each, 0.0).sum(axis=(1, 2))
    return total


def least_expected_error(pags: Marks, shares: Floats) -> int:
    """Which of the graphs has the fewest expected errors; the first of those that are alike to 1e-9."""
    return int(np.argmin(np.round(expected_errors(pags, shares), 9)))
