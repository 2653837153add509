"""How long a search by score runs, and at which temperatures, derived from one number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from anypag.scores.discrete import DiscreteScore
from anypag.search.problem import Problem

WARMEST = 1.6
WARMEST_OF_COUNTS = 6.0
"""The highest temperature while sampling, for scores from correlations and from counts. It is higher for counts,
because each drawn hidden column makes the chain too sure of the current graph.
"""


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Args:
        orders: starts of the search over orders.
        turns: further orders, which begin at the best so far with a few edges reversed. Scores from counts have many
            optima.
        dags: how many of the best DAGs are starts of chains.
        cooling: rounds of cooling for each chain; a round is n² steps.
        samples: rounds of sampling; each gives a graph of every chain.
        temperatures: of the chains that swap graphs while sampling. The answer comes from the graphs at 1, which
            make fewer errors. Probabilities are shares of graphs, corrected because scores are too sure of themselves
            (`by_scores.calibrated`). Effects are drawn from the graphs of all temperatures.
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
        """How long a search of n variables is; an effort of 1 is fast, 5 is thorough, and work grows with it."""
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

    A warm chain adds edges by chance, and the more pairs there are, the more edges: so it must be cooler with many
    variables. Chosen on development data, so that as many errors are expected as are made (`docs/accuracy.md`).

    >>> warmth(10), warmth(30)
    (1.6, 1.15)
    """
    return 1 + (warmest - 1) * min(1.0, 15 / max(n, 1)) ** 2
