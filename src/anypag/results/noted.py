"""The p-values that a search came by, of pairs of nodes: as noted, or as the test has them at hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats
from anypag.ci.base import CITest, Queries
from anypag.search.state import State


def noted(
    state: State, test: CITest, x: npt.NDArray[np.integer], y: npt.NDArray[np.integer]
) -> tuple[Floats, npt.NDArray[np.int16]]:
    """Of each pair of nodes: the p-value, and the iteration in which the pair was separated (-1 if it was not).

    Without an edge it is the p-value of the separation, with one the largest p-value that kept it; NaN if the pair was
    never tested. A pair that is separated by the empty set and not noted fell in a pass over all pairs
    (`State.joined_by`): the test is asked again, and answers the same.
    """
    p, found_at = state.evidence.notes.of(state.n, x, y)
    again = np.flatnonzero(np.isnan(p) & (found_at < 0))
    if len(again):
        again = again[state.sepsets.slot(x[again], y[again]) == 0]
    if len(again):
        order = state.nodes.order
        pairs = Queries(order[x[again]], order[y[again]], np.empty((len(again), 0), np.int32))
        p[again], found_at[again] = test.pvalues(pairs), 0
    return p, found_at


def noted_p(state: State, test: CITest, a: int, b: int) -> float:
    """The p-value of one pair of nodes."""
    return float(noted(state, test, np.array([a]), np.array([b]))[0][0])
