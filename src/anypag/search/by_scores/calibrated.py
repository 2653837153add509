"""Calibrated probabilities: shares of sampled graphs, corrected by how often such shares are right.

Shares are too near to 0 and 1, because the score takes its approximations and the cost of an edge as exact, and a chain
stays near one mode. So an edge that all graphs have is not certain. If the score uses correlations, the probability
of an edge follows from its shares at temperature 1 and at all temperatures, and marks are weighted by how often such
marks are right: a sampled tail is wrong far more often than a sampled circle. The weights were fitted by log loss on
tables with known truth, made with even seeds; `docs/accuracy.md` has errors on odd seeds, and explains the tables. If
the score uses counts, edges have a least and a largest probability, fitted by log loss on three-level tables and public
networks. The fit had to keep expected errors below 1.55 times the actual errors on tables with nothing hidden
(`benchmarks/grid.py`). Edges that knowledge settles keep their shares.
"""

from __future__ import annotations

import numpy as np

from anypag.arrays import Flags, Floats
from anypag.graphs.base import Marks
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.knowledge.facts import Facts
from anypag.search.by_scores.sampled_graphs import NUMBERS, STATES

MOST, LEAST, LEAST_NEAR = 0.97, 0.035, 0.054
"""For scores from counts: the probability of an edge that all sampled graphs have; of an edge that none has; and of an
edge that none has, but whose nodes share a neighbour in the answer."""
MANY = 50  # from counts: for n > MANY variables `LEAST` is multiplied by MANY / n, because most pairs are far apart
WEIGHTS = (-0.716, 0.12, 0.83, 0.826)
"""For scores from correlations, the log odds of an edge are a sum: the first number; the second times the log odds of
its share at temperature 1; the third times those of its share at all temperatures; and the last number, if its nodes
share a neighbour in the answer."""
FINEST = 200  # shares stay half a graph away from 0 and 1, as if at most this many graphs had been sampled
NEARBY = 15  # with fewer graphs, a share of 0 has higher odds; for n > NEARBY variables the rise is times NEARBY / n
NO_EDGE = NUMBERS[""]

KEPT = 0.842  # from counts: marks of an edge have probabilities KEPT · (shares at temperature 1) + (1 - KEPT) · `USUAL`
USUAL = {"o-o": 0.24, "o->": 0.10, "<-o": 0.10, "-->": 0.26, "<--": 0.26, "<->": 0.04}
"""For scores from counts: how often edges of true graphs have these marks."""

WORTH = {"o-o": 1.0, "o->": 0.6, "<-o": 0.6, "o--": 0.065, "--o": 0.065}
WORTH |= {"<->": 0.33, "---": 0.17, "-->": 0.12, "<--": 0.12}
"""For scores from correlations: the weight of sampled marks. It is (how often true graphs have an edge with these
marks) / (how often sampled graphs have such an edge), divided by the same ratio for `o-o`. With few
variables weights are nearer to 1 (`worth_of`).
"""
FEW = 4  # up to this many variables, sampled arrowheads and tails are right as often as sampled circles
RARE = 0.004  # added to the share of every kind of edge that is allowed, so that no mark has probability 0


def calibrated(
    cold: Floats,
    every: Floats,
    answer: Marks,
    facts: Facts | None = None,
    *,
    from_counts: bool = False,
    n_samples: int = FINEST,
) -> Floats:
    """(16, p) the probability of each state of each pair i < j, row by row of the upper triangle; columns sum to 1.

    `cold` and `every` (16, p): shares of the graphs sampled at temperature 1 and at all temperatures. `answer`: the
    marks of the answer. `from_counts`: the score was computed from counts, not from correlations. `n_samples`: the
    number of graphs at temperature 1.
    """
    i, j = np.triu_indices(len(answer), 1)
    adjacent = (answer != 0).astype(np.int64)
    near = (adjacent @ adjacent)[i, j] > 0
    joined, joined_at_all = 1 - cold[NO_EDGE], 1 - every[NO_EDGE]
    least = np.where(near, LEAST_NEAR, LEAST * min(1.0, MANY / len(answer)))
    odds, odds_at_all = (_log_odds(share, n_samples, len(answer)) for share in (joined, joined_at_all))
    edge = least + (MOST - least) * joined if from_counts else _of_correlations(odds, odds_at_all, near)
    if facts is not None:
        settled = (facts.joined | facts.not_joined | (facts.design[:, None] & facts.design))[i, j]
        edge = np.where(settled, joined, edge)
    found = _kept(cold, facts, len(answer)) if from_counts else _weighed(every, facts, len(answer))
    found[NO_EDGE] = 0
    found *= edge / np.maximum(_summed(found), 1e-300)
    found[NO_EDGE] = 1 - edge
    return np.asarray(found, np.float64)


def believed(cold: Floats, every: Floats, n: int) -> Floats:
    """(4, n, n) the probabilities of marks by which an answer is chosen. Edges keep their shares at temperature 1;
    marks are corrected as for correlations. Arguments as for `calibrated`.
    """
    found = _weighed(every, None, n) * (1 - cold[NO_EDGE])
    found[NO_EDGE] = cold[NO_EDGE]
    return mark_probabilities(found, n)


def _of_correlations(odds: Floats, odds_at_all: Floats, near: Flags) -> Floats:
    one, cold, every, of_near = WEIGHTS
    log_odds = one + cold * odds + every * odds_at_all + of_near * near
    return np.asarray(1 / (1 + np.exp(-log_odds)), np.float64)


def _log_odds(share: Floats, n_samples: int, n: int) -> Floats:
    of = min(n_samples, FINEST)
    half = 0.5 * (of + (FINEST - of) * min(1.0, NEARBY / n)) / FINEST
    return np.asarray(np.log((of * share + half) / (of * (1 - share) + 0.5)), np.float64)


def worth_of(n: int) -> dict[str, float]:
    """`WORTH` for graphs of n variables. With more variables, more edges are too weak for the number of rows. All
    sampled graphs lack them, and marks that follow from their absence are wrong.

    >>> round(worth_of(4)["-->"], 2), round(worth_of(40)["-->"], 2)
    (1.0, 0.15)
    """
    return {symbol: number ** max(0.0, 1 - FEW / n) for symbol, number in WORTH.items()}


def _kept(cold: Floats, facts: Facts | None, n: int) -> Floats:
    """(16, p) from counts: the probability of each state with an edge, given that there is an edge."""
    usual = _allowed(USUAL, facts, n)
    usual = usual / np.maximum(_summed(usual), 1e-300)
    return np.asarray(KEPT * _given_edge(cold, usual) + (1 - KEPT) * usual, np.float64)


def _weighed(every: Floats, facts: Facts | None, n: int) -> Floats:
    """(16, p) from correlations: the probability of each state with an edge, given that there is an edge."""
    sampled = _given_edge(every, np.zeros_like(every))
    found = _allowed(worth_of(n), None, n) * sampled + _allowed(worth_of(n), facts, n) * RARE
    return np.asarray(found / np.maximum(_summed(found), 1e-300), np.float64)


def _summed(found: Floats) -> Floats:
    """(p,) the sums of columns. Small numbers are added first, so that swapping the ends of a pair changes no bit."""
    return np.asarray(np.sort(found, axis=0).sum(axis=0))


def _given_edge(shares: Floats, otherwise: Floats) -> Floats:
    """The shares of states among the graphs in which the pair has an edge; `otherwise` if no graph has it."""
    joined = 1 - shares[NO_EDGE]
    return np.asarray(np.where(joined > 1e-9, shares / np.maximum(joined, 1e-9), otherwise), np.float64)


def _allowed(often: dict[str, float], facts: Facts | None, n: int) -> Floats:
    """(16, p) the value in `often` for each state with an edge; 0 where knowledge does not allow the state."""
    found = np.zeros((16, n, n))
    said = np.full((n, n), Mark.CIRCLE) if facts is None else facts.seeds(np.ones((n, n), np.uint8), final=True)
    for symbol, share in often.items():
        at_i, at_j = EDGE_SYMBOLS[symbol]
        fits = np.isin(said.T, (Mark.CIRCLE, at_i)) & np.isin(said, (Mark.CIRCLE, at_j))
        if facts is not None and symbol == "<->":
            fits &= ~facts.unconfounded
        found[NUMBERS[symbol]] = share * fits
    return found[(slice(None), *np.triu_indices(n, 1))]


def mark_probabilities(states: Floats, n: int) -> Floats:
    """(4, n, n) the probability of no edge, a circle, an arrowhead and a tail at j on i–j, from state probabilities."""
    i, j = np.triu_indices(n, 1)
    found = np.zeros((4, n, n))
    for state in STATES:
        found[state % 4, i, j] += states[state]
        found[state // 4, j, i] += states[state]
    found[0, range(n), range(n)] = 1
    return found
