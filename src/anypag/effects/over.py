"""One effect over several graphs: those of resamples, of several methods, of several alphas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from anypag.effects.answer import Effect
from anypag.effects.asking import Nodes
from anypag.effects.effect import effect
from anypag.effects.numbers import Model
from anypag.effects.summary import EffectOver
from anypag.errors import ContradictionError
from anypag.graphs.base import MixedGraph
from anypag.results.base import BaseResult


def effect_over(
    sources: Iterable[MixedGraph | BaseResult],
    cause: Nodes,
    outcome: Nodes,
    given: Nodes = (),
    *,
    selection_bias: bool | None = None,
    data: Any = None,
    model: Model | None = None,
) -> EffectOver:
    """One effect in several graphs over the same variables.

    Args:
        sources: graphs or results, of resamples say.
        cause: the variable that is set.
        outcome: the variable looked at.
        given: variables conditioned on.
        selection_bias: False says that selection into the sample does not act here.
        data: a table to estimate from, the same for all graphs.
        model: how its columns are taken; see `anypag.effect`.

    >>> from anypag import PAG
    >>> graphs = [PAG.from_string("A o-> X; B o-> X; X --> Y"), PAG.from_string("A o-> X; B o-> X; X <-> Y; C o-> Y")]
    >>> print(effect_over(graphs, "X", "Y", selection_bias=False))
    Identified in 2 of 2 graphs, 1 of which says that there is no effect.
    """

    def answers() -> Iterator[Effect | None]:
        for source in sources:
            try:
                yield effect(source, cause, outcome, given, selection_bias=selection_bias)
            except ContradictionError:
                yield None

    found = EffectOver.of(answers(), "graphs")
    return found if data is None else found.estimated(data, model)
