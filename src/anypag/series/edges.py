"""The edges of a time series, each between two processes at a lag; the response of an outcome to an intervention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark
from anypag.markup import shown_share
from anypag.results.probabilities import Probabilities
from anypag.results.stability import Stability
from anypag.series.window import named

if TYPE_CHECKING:
    from anypag.effects.answer import Effect
    from anypag.effects.sampled_question import Span


class SeriesEdge(NamedTuple):
    """An edge between two processes at a lag; it holds at all times.

    >>> print(SeriesEdge("x", "y", 1, Mark.TAIL, Mark.ARROW))
    x(t-1) --> y
    """

    cause: str  # the process of the earlier node; the first process if both nodes are at one time
    effect: str
    lag: int
    mark_cause: Mark
    mark_effect: Mark
    probability: float | None = None  # the edge's probability, if graphs were sampled; a circle stands for any mark
    again: float | None = None  # the share of resamples with this edge, if there were resamples

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the two nodes."""
        return named(self.cause, self.lag), self.effect

    @property
    def edge(self) -> Edge:
        """The edge between the two nodes."""
        return Edge(*self.pair, self.mark_cause, self.mark_effect)

    def __str__(self) -> str:
        return str(self.edge.forward())


class SummaryEdge(NamedTuple):
    """All edges between two processes, or of a process with its own past.

    >>> edge = SeriesEdge("x", "y", 1, Mark.TAIL, Mark.ARROW)
    >>> print(SummaryEdge("x", "y", (edge, edge._replace(lag=2, mark_cause=Mark.CIRCLE))))
    x and y: x(t-1) --> y, x(t-2) o-> y
    """

    a: str
    b: str
    edges: tuple[SeriesEdge, ...]

    @property
    def lags(self) -> Mapping[tuple[str, str], tuple[int, ...]]:
        """The lags at which two processes are joined, by (earlier process, later process)."""
        pairs = dict.fromkeys((edge.cause, edge.effect) for edge in self.edges)
        return {pair: tuple(edge.lag for edge in self.edges if (edge.cause, edge.effect) == pair) for pair in pairs}

    @property
    def marks(self) -> tuple[Mark, Mark]:
        """Marks at a and b: tail if the process is a cause at some lag, arrowhead if at no lag, else circle."""
        return self._mark(self.a), self._mark(self.b)

    def _mark(self, process: str) -> Mark:
        ends = [edge.mark_cause for edge in self.edges if edge.cause == process]
        ends += [edge.mark_effect for edge in self.edges if edge.effect == process and edge.lag == 0]
        if Mark.TAIL in ends:
            return Mark.TAIL
        return Mark.ARROW if all(mark == Mark.ARROW for mark in ends) else Mark.CIRCLE

    def __str__(self) -> str:
        whose = self.a if self.a == self.b else f"{self.a} and {self.b}"
        return f"{whose}: {', '.join(map(str, self.edges))}"


def probability_of(said: Probabilities, edge: Edge) -> float:
    """The probability that two nodes are joined with these marks; a circle stands for any mark."""
    exact = said.of_edge(edge.a, edge.b, edge.symbol)
    alike = (probability for symbol, probability, _ in said.states(edge.a, edge.b) if allows(edge, symbol))
    return max(exact, sum(alike))


def share_of(again: Stability, edge: Edge) -> float:
    """The share of resamples in which two nodes are joined with these marks; a circle stands for any mark."""
    kinds = again.kinds_of(again.names.index(edge.a), again.names.index(edge.b))
    return sum(count for symbol, count in kinds.items() if allows(edge, symbol)) / again.n


def allows(edge: Edge, symbol: str) -> bool:
    """Does the edge agree with this symbol, if a circle of the edge stands for any mark?"""
    if not symbol:
        return False
    mark_a, mark_b = EDGE_SYMBOLS[symbol]
    return edge.mark_a in (Mark.CIRCLE, mark_a) and edge.mark_b in (Mark.CIRCLE, mark_b)


def edge_line(edge: SeriesEdge) -> str:
    """An edge with its numbers.

    >>> edge_line(SeriesEdge("x", "y", 1, Mark.TAIL, Mark.ARROW, 0.98))
    'x(t-1) --> y   0.98'
    """
    probability = "" if edge.probability is None else f"   {shown_share(edge.probability)}"
    again = "" if edge.again is None else f"   in {shown_share(edge.again)} of the resamples"
    return f"{edge}{probability}{again}"


class Response(NamedTuple):
    """How an outcome changes, step by step, after a process is set one unit higher at one time.

    Lags beyond the window are left out. Later values of the process are not set, so they may change as a consequence.
    A sampled graph without an effect counts as an effect of 0.
    """

    cause: str
    outcome: str
    effects: tuple[tuple[int, Effect], ...]  # (lag, effect); effects of a process on itself begin at lag 1

    @property
    def spans(self) -> dict[int, Span | None]:
        """By lag, the median and interval of the effect over sampled graphs; None if the effect is not one number."""
        lines = {lag: () if effect.sampled is None else effect.sampled.lines for lag, effect in self.effects}
        return {lag: some[0].span if len(some) == 1 else None for lag, some in lines.items()}

    def table(self) -> dict[str, list[float | int | None]]:
        """The response in columns that any dataframe library takes: lag, estimate, low, high."""
        rows = [(lag, *(span or (None, None, None))) for lag, span in self.spans.items()]
        return {name: [row[k] for row in rows] for k, name in enumerate(("lag", "estimate", "low", "high"))}

    def __str__(self) -> str:
        told = (f"  lag {lag}: {span or 'no single number'}" for lag, span in self.spans.items())
        return "\n".join([f"{self.outcome} after {self.cause} is set one unit higher at one time:", *told])
