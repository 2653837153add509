"""One effect over several graphs: those of resamples, of several methods, of several alphas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anypag.effects.asking import Nodes
from anypag.effects.effect import effect
from anypag.errors import ContradictionError, ParameterError
from anypag.graphs.base import MixedGraph
from anypag.results.base import BaseResult


@dataclass(frozen=True)
class EffectOver:
    """What several graphs say about one effect.

    Args:
        n: how many graphs.
        statuses: how many of them say "zero", "adjustment", "formula" or "unidentified"; "refused" counts those that
            contradict themselves where the effect is read.
        estimates: the estimates of those in which the effect is identified (zero included), in their order; empty
            without data.
    """

    n: int
    statuses: dict[str, int]
    estimates: tuple[float, ...]

    @property
    def n_identified(self) -> int:
        """In how many graphs the effect is identified."""
        return sum(self.statuses.get(status, 0) for status in ("zero", "adjustment", "formula"))

    def __str__(self) -> str:
        text = f"Identified in {self.n_identified} of {self.n} graphs ({self.statuses.get('zero', 0)} say zero)"
        if not self.estimates:
            return f"{text}."
        low, middle, high = np.quantile(self.estimates, [0, 0.5, 1])
        return f"{text}; median {middle:.4g}, from {low:.4g} to {high:.4g}."


def effect_over(
    sources: Iterable[MixedGraph | BaseResult],
    cause: Nodes,
    outcome: Nodes,
    given: Nodes = (),
    *,
    selection_bias: bool | None = None,
    data: Any = None,
) -> EffectOver:
    """One effect in several graphs over the same variables.

    Args:
        sources: graphs or results, of resamples say.
        cause: the variable that is set.
        outcome: the variable looked at.
        given: variables conditioned on.
        selection_bias: False says that selection into the sample does not act here.
        data: a table to estimate from, continuous; one cause and one outcome then.

    >>> from anypag import PAG
    >>> graphs = [PAG.from_string("A o-> X; B o-> X; X --> Y"), PAG.from_string("A o-> X; B o-> X; X <-> Y; C o-> Y")]
    >>> print(effect_over(graphs, "X", "Y", selection_bias=False))
    Identified in 2 of 2 graphs (1 say zero).
    """
    statuses: Counter[str] = Counter()
    estimates: list[float] = []
    for source in sources:
        try:
            found = effect(source, cause, outcome, given, selection_bias=selection_bias)
        except ContradictionError:
            statuses["refused"] += 1
            continue
        statuses[found.status] += 1
        if data is not None and found.is_identified:
            value = found.estimated(data, resamples=0).estimate
            if not isinstance(value, float):
                raise ParameterError("Over several graphs one number each is compared: one cause, one outcome, linear.")
            estimates.append(value)
    return EffectOver(statuses.total(), dict(statuses), tuple(estimates))
