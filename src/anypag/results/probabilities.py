"""How probable the edges of a result are, as people read it and files keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from anypag.graphs.marks import EDGE_SYMBOLS, edge_symbol
from anypag.search.posterior import Posterior

MOST_GRAPHS = 3
"""How many of the most probable graphs are kept."""

Shares = tuple[tuple[str, float], ...]
"""Ways in which a pair may be joined (`"o->"`, `""` for no edge), each with its share, the largest first."""


@dataclass(frozen=True)
class Probabilities:
    """What sampled graphs say about pairs.

    `pairs` holds every pair that some sampled graph joins, from the first to the second name; `ancestors` how often the
    first is a cause of the second, directly or not; `graphs` the most probable graphs with their edges. Where `hidden`
    is False only graphs without hidden causes were sampled, and all of this holds if there are none.
    """

    n_samples: int
    expected_errors: float
    best_score: float
    pairs: Mapping[tuple[str, str], Shares] = field(repr=False)
    ancestors: Mapping[tuple[str, str], float] = field(repr=False)
    graphs: tuple[tuple[float, tuple[tuple[str, str, str], ...]], ...] = field(repr=False)
    hidden: bool = True

    @classmethod
    def of(cls, posterior: Posterior, *, hidden: bool) -> Probabilities:
        """Those of a posterior, over graphs with hidden causes or without."""
        names, above = posterior.names, posterior.ancestor_probability
        joined = np.argwhere(np.triu(posterior.edge_probability > 0))
        pairs = [(names[i], names[j]) for i, j in joined]
        graphs = [
            (share, tuple((edge.a, edge.b, edge.symbol) for edge in pag.edges()))
            for pag, share in posterior.classes()[:MOST_GRAPHS]
        ]
        return cls(
            posterior.n_samples,
            posterior.expected_errors,
            posterior.best_score,
            {pair: tuple(posterior.states(*pair)) for pair in pairs},
            {(names[i], names[j]): float(above[i, j]) for i, j in np.argwhere(above > 0)},
            tuple(graphs),
            hidden,
        )

    @property
    def condition(self) -> str:
        """What the probabilities rest on, to be said with them; empty where it need not be."""
        return "" if self.hidden else " if nothing is hidden"

    def states(self, a: str, b: str) -> Shares:
        """How a and b are joined in the sampled graphs, written from a to b."""
        if (a, b) in self.pairs:
            return self.pairs[a, b]
        if (b, a) in self.pairs:
            return tuple((reversed_symbol(symbol), share) for symbol, share in self.pairs[b, a])
        return (("", 1.0),)

    def of_edge(self, a: str, b: str, symbol: str) -> float:
        """How probable it is that a and b are joined in this way."""
        return dict(self.states(a, b)).get(symbol, 0.0)


def reversed_symbol(symbol: str) -> str:
    """The same edge written from its other end: `reversed_symbol("o->") == "<-o"`."""
    if not symbol:
        return symbol
    left, right = EDGE_SYMBOLS[symbol]
    return edge_symbol(right, left)
