"""Reported probabilities: shares of sampled graphs, corrected by how often such shares are right.

A score is too sure of itself: it takes its prices and approximations as exact, and a chain stays near one mode. What
all graphs of a sample have is not certain. For correlations the shares at temperature 1 and at all temperatures are
weighed against each other; the numbers were fitted by log loss on tables with known truth, those with even seeds, and
are reported on the others. For counts there are a least and a most, fitted alike on the development grid and on public
networks together, so that networks with nothing hidden expect at most 1.55 times the errors made (`benchmarks/grid.py`,
`docs/accuracy.md`). What knowledge settles stays settled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anypag.arrays import Flags, Floats
from anypag.graphs.base import Marks
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.knowledge.facts import Facts
from anypag.search.by_scores.sampled_graphs import NUMBERS, STATES

MOST, LEAST, LEAST_NEAR = 0.97, 0.035, 0.054
"""Counts: the probability of an edge that all sampled graphs have, and of one that none has; the last if the two share
a neighbour in the answer.
"""
WEIGHTS = (-0.716, 0.12, 0.83, 0.826)
"""Correlations: weights in the log odds of an edge, of a constant, of the log odds of its share at temperature 1 and at
all temperatures, and of whether the two share a neighbour in the answer.
"""
FINEST = 200  # shares stay half a graph away from 0 and 1, as if this many graphs had been sampled

NO_EDGE = NUMBERS[""]


class Kept(NamedTuple):
    """How much of the marks at temperature 1 and at all temperatures is kept, given that there is an edge; the rest is
    how edges of true graphs are usually marked.
    """

    cold: float
    every: float
    usual: dict[str, float]


OF_COUNTS = Kept(0.842, 0.0, {"o-o": 0.24, "o->": 0.10, "<-o": 0.10, "-->": 0.26, "<--": 0.26, "<->": 0.04})
OF_CORRELATIONS = Kept(0.33, 0.59, {"o-o": 0.74, "o->": 0.08, "<-o": 0.08, "-->": 0.04, "<--": 0.04, "<->": 0.02})


def reported(
    cold: Floats, every: Floats, answer: Marks, facts: Facts | None = None, *, from_counts: bool = False
) -> Floats:
    """(16, p) the probability of each state of each pair i < j, row by row of the upper triangle; they sum to 1.

    `cold` and `every` (16, p): shares of the graphs sampled at temperature 1 and at all (`sampled_graphs.states_of`).
    `answer`: the marks of the answer. `from_counts`: the score was made of counts, not of correlations.
    """
    i, j = np.triu_indices(len(answer), 1)
    adjacent = (answer != 0).astype(np.int64)
    near = (adjacent @ adjacent)[i, j] > 0
    joined, joined_at_all = 1 - cold[NO_EDGE], 1 - every[NO_EDGE]
    least = np.where(near, LEAST_NEAR, LEAST)
    edge = least + (MOST - least) * joined if from_counts else _of_correlations(joined, joined_at_all, near)
    if facts is not None:
        settled = (facts.joined | facts.not_joined | (facts.design[:, None] & facts.design))[i, j]
        edge = np.where(settled, joined, edge)
    kept = OF_COUNTS if from_counts else OF_CORRELATIONS
    usual = _usual(kept.usual, facts, len(answer))[:, i, j]
    of_cold, of_every = (_given_edge(part, usual) for part in (cold, every))
    rest = (1 - kept.cold - kept.every) * usual
    found = kept.cold * of_cold + kept.every * of_every + rest
    found[NO_EDGE] = 0
    found *= edge / np.maximum(found.sum(axis=0), 1e-300)
    found[NO_EDGE] = 1 - edge
    return np.asarray(found, np.float64)


def _of_correlations(joined: Floats, joined_at_all: Floats, near: Flags) -> Floats:
    one, cold, every, of_near = WEIGHTS
    log_odds = one + cold * _log_odds(joined) + every * _log_odds(joined_at_all) + of_near * near
    return np.asarray(1 / (1 + np.exp(-log_odds)), np.float64)


def _log_odds(share: Floats) -> Floats:
    return np.asarray(np.log((FINEST * share + 0.5) / (FINEST * (1 - share) + 0.5)), np.float64)


def _given_edge(shares: Floats, usual: Floats) -> Floats:
    """The shares of the states with an edge among those graphs that have one; the usual ones if none has."""
    joined = 1 - shares[NO_EDGE]
    return np.asarray(np.where(joined > 1e-9, shares / np.maximum(joined, 1e-9), usual), np.float64)


def _usual(often: dict[str, float], facts: Facts | None, n: int) -> Floats:
    """(16, n, n) how an edge between i and j is usually marked, among the ways that knowledge allows."""
    usual = np.zeros((16, n, n))
    said = np.full((n, n), Mark.CIRCLE) if facts is None else facts.seeds(np.ones((n, n), np.uint8), final=True)
    for symbol, share in often.items():
        at_i, at_j = EDGE_SYMBOLS[symbol]
        fits = np.isin(said.T, (Mark.CIRCLE, at_i)) & np.isin(said, (Mark.CIRCLE, at_j))
        if facts is not None and symbol == "<->":
            fits &= ~facts.unconfounded
        usual[NUMBERS[symbol]] = share * fits
    return np.asarray(usual / np.maximum(usual.sum(axis=0), 1e-300), np.float64)


def mark_probabilities(states: Floats, n: int) -> Floats:
    """(4, n, n) the probability of no edge, a circle, an arrowhead and a tail at j on i–j, from those of states."""
    i, j = np.triu_indices(n, 1)
    found = np.zeros((4, n, n))
    for state in STATES:
        found[state % 4, i, j] += states[state]
        found[state // 4, j, i] += states[state]
    found[0, range(n), range(n)] = 1
    return found
