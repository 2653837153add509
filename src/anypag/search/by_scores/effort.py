"""The length of a search by scores, and its temperatures, derived from one number (`effort`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from anypag.scores.discrete import DiscreteScore
from anypag.search.problem import Problem

WARMEST = 1.6
WARMEST_OF_COUNTS = 6.0
"""The highest temperature while sampling, for scores from correlations and from counts. It is higher for counts,
as levels of hidden columns are drawn given the current graph: at a low temperature, chains hardly leave that graph.
"""


@dataclass(frozen=True)
class Effort:
    """The length of each part of a search by scores.

    Args:
        orders: how many orders the search over orders starts from.
        turns: how many further orders follow. Each begins as the best order so far, changed to reverse a few edges
            of its DAG. Only scores from counts need them, because these scores have many optima.
        dags: how many of the best DAGs are starts of chains.
        cooling: rounds of cooling for each chain; a round is n² steps.
        samples: rounds of sampling; each gives a graph of every chain.
        temperatures: one for each chain; chains swap graphs while sampling. The answer comes from the graphs at
            temperature 1, which have fewer errors. Shares of graphs are too near to 0 and 1, so probabilities are
            corrected shares (`by_scores.calibrated`). Effects are drawn from the graphs of all temperatures.
        tries: how many of the most promising hidden causes of discrete columns are refined.

    >>> Effort.scaled(1, n=15).samples
    200
    """

    orders: int
    dags: int
    cooling: int
    samples: int
    temperatures: tuple[float, ...]
    turns: int = 0
    tries: int = 4

    @classmethod
    def scaled(cls, effort: float, n: int, warmest: float = WARMEST) -> Self:
        """The lengths for a search of n variables. An effort of 1 is fast, 5 is thorough; the work grows with it."""
        return cls(
            orders=max(2, round(2.5 + 7.5 * effort)),
            dags=max(1, round(1 + effort)),
            cooling=max(6, round(60 * effort)),
            samples=max(10, round(125 + 75 * effort)),
            temperatures=(1.0, warmth(n, warmest)),
            tries=max(1, round(4 * effort)),
        )

    @classmethod
    def of(cls, problem: Problem) -> Self:
        effort, n = problem.choices.effort, problem.n
        if not isinstance(problem.score, DiscreteScore):
            return cls.scaled(effort, n)
        scaled = cls.scaled(effort, n, WARMEST_OF_COUNTS)
        return replace(scaled, orders=max(2, round(4 * effort)), turns=max(1, round(30 * effort)))


def warmth(n: int, warmest: float = WARMEST) -> float:
    """The higher of the two temperatures: `warmest` for up to 15 variables, and nearer to 1 for more.

    A warm chain adds edges by chance, and more of them if there are more pairs. So with many variables it must be
    cooler. The rule was chosen on development tables, so that shares predicted the number of errors best.

    >>> warmth(10), warmth(30)
    (1.6, 1.15)
    """
    return 1 + (warmest - 1) * min(1.0, 15 / max(n, 1)) ** 2
