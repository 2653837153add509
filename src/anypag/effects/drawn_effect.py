"""Draws of one number, with its median and interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from anypag.arrays import Floats
from anypag.effects.estimate.draws import DrawnColumn
from anypag.effects.estimate.estimates import number

QUANTILES = (0.025, 0.5, 0.975)
LEAST_DRAWS = 20  # fewer draws give no interval: the ends of one that holds 95 % of them would be single draws


class Span(NamedTuple):
    """A median and the range that holds 95 % of the draws."""

    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, draws: Floats) -> Self | None:
        """The median and interval of some draws; None if too few of them are known."""
        known = draws[np.isfinite(draws)]
        if len(known) < LEAST_DRAWS:
            return None
        low, middle, high = np.quantile(known, QUANTILES).tolist()
        return cls(middle, low, high)

    def __str__(self) -> str:
        return f"{number(self.estimate)} ({number(self.low)} to {number(self.high)})"


@dataclass(frozen=True, eq=False)
class DrawnEffect:
    """Draws of one number: how much an outcome changes with a cause.

    Args:
        cause: the column that is set: a variable, or one level of it in place of the first.
        outcome: the column whose change is measured: a variable, or one level of it.
        draws: (m,) one for each sampled graph, zeros included; NaN if a graph gives none.
        if_causal_draws: draws of the classes that allow an effect; those that leave it open assume that no arrow hides
            a common cause.
        hidden_draws: the same draws if arrows hide common causes (`confounding`).
        group: in tables, the levels of the conditions, in words.
    """

    cause: DrawnColumn
    outcome: DrawnColumn
    draws: Floats = field(repr=False)
    if_causal_draws: Floats = field(repr=False)
    hidden_draws: Floats | None = field(default=None, repr=False)
    group: str = ""

    @property
    def label(self) -> str:
        """What the number is, in words."""
        return f"{self.outcome.as_outcome} {self.cause.as_cause}{self.group and f', given {self.group}'}"

    @cached_property
    def span(self) -> Span | None:
        """Median and interval of the draws, zeros included."""
        return Span.of(self.draws)

    @cached_property
    def if_causal(self) -> Span | None:
        """Median and interval over the classes that allow an effect; None where too few do."""
        return Span.of(self.if_causal_draws)

    @cached_property
    def if_hidden(self) -> Span | None:
        """Median and interval over the classes that allow an effect, if arrows hide common causes."""
        return None if self.hidden_draws is None else Span.of(self.hidden_draws)

    @property
    def value(self) -> float:
        """The median of the draws, so that it has a value like other estimates; NaN without draws."""
        return float("nan") if self.span is None else self.span.estimate

    @property
    def p_positive(self) -> float:
        """The share of draws above 0."""
        return float((self._known > 0).mean()) if len(self._known) else float("nan")

    @property
    def mean(self) -> float:
        """Of the draws."""
        return float(self._known.mean()) if len(self._known) else float("nan")

    @property
    def _known(self) -> Floats:
        return self.draws[np.isfinite(self.draws)]

    def to_dict(self) -> dict[str, Any]:
        """The numbers for machines, without the draws."""
        return {
            "cause": self.cause.variable,
            "outcome": self.outcome.variable,
            "label": self.label,
            "estimate": None if self.span is None else self.span.estimate,
            "interval": None if self.span is None else [self.span.low, self.span.high],
            "mean": self.mean,
            "p_positive": self.p_positive,
            "if_causal": None if self.if_causal is None else list(self.if_causal),
            "if_hidden": None if self.if_hidden is None else list(self.if_hidden),
        }
