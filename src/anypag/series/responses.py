"""The path of an outcome after an intervention: effects over lags."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from anypag.effects.answer import Effect
from anypag.effects.drawn_effect import Span
from anypag.errors import ParameterError

if TYPE_CHECKING:
    from anypag.series.series_result import SeriesResult


class Response(NamedTuple):
    """How an outcome changes, step by step, after a process is set one unit higher at one time.

    Nothing is said about lags beyond the window, and later values of the process that was set follow from it.
    """

    cause: str
    outcome: str
    effects: tuple[tuple[int, Effect], ...]
    """Lags in steps of time, each with the effect; of a process on itself from lag 1 on."""

    @property
    def spans(self) -> dict[int, Span | None]:
        """By lag, the median and the 95 % interval over sampled graphs, zeros of graphs without an effect included;
        None where there is no single number.
        """
        return {lag: _span(effect) for lag, effect in self.effects}

    def table(self) -> dict[str, list[float | int | None]]:
        """The path in columns that any dataframe library takes: lag, estimate, low, high."""
        rows = [(lag, *(span or (None, None, None))) for lag, span in self.spans.items()]
        return {name: [row[k] for row in rows] for k, name in enumerate(("lag", "estimate", "low", "high"))}

    def __str__(self) -> str:
        told = (f"  lag {lag}: {span or 'no single number'}" for lag, span in self.spans.items())
        return "\n".join([f"{self.outcome} after {self.cause} is set one higher at one time:", *told])


def response_of(result: SeriesResult, cause: str, outcome: str) -> Response:
    """The effects of a process on another one at every lag of the window."""
    if cause in result.window.contexts:
        raise ParameterError(f"{cause!r} acts at all times: ask for its effect, `effect({cause!r}, {outcome!r})`.")
    first = 1 if cause == outcome else 0
    lags = range(first, result.window.max_lag + 1)
    return Response(cause, outcome, tuple((lag, result.effect(cause, outcome, lag)) for lag in lags))


def _span(effect: Effect) -> Span | None:
    lines = () if effect.sampled is None else effect.sampled.lines
    return lines[0].span if len(lines) == 1 else None
