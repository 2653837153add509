"""Notes for the answer "no effect". It follows from the graph, not from the rows, so it has no interval. The rows show
the association of the two, and simulations with known truth show how often such answers are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from anypag.data.table import Table
from anypag.effects.estimate.estimates import Entries, Estimate, Model, Probability
from anypag.effects.estimate.fitting import Sampling, estimated
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import P

FALSE_ZEROS = {500: (92, 150), 32_000: (32, 145)}
"""By number of rows: false zeros, and identified effects, in the simulations of `docs/effects.md`
(`benchmarks/intervals.py`).
"""

BY_GRAPH = (
    "That there is no effect follows from the graph, whatever the rows say of the two: one wrong arrowhead or missing "
    "edge is enough to deny an effect that is there."
)
ASK_OTHERS = (
    'Sampled graphs (method="auto") say how probable that is. Resamples (bootstrap) show what depends on which rows '
    "were drawn, but no error that all of them repeat: a test that does not fit the columns, a wrong assumption, "
    "rows that are not independent."
)


def _how_often_false() -> str:
    (few, (false_few, n_few)), (many, (false_many, n_many)) = FALSE_ZEROS.items()
    return (
        f"Such answers are often false: of simulated effects that were there, {false_few} of {n_few} that came out "
        f"identified with {few:,} rows were denied, and {false_many} of {n_many} with {many:,}."
    )


HOW_OFTEN_FALSE = _how_often_false()
ZERO_NOTES = (BY_GRAPH, HOW_OFTEN_FALSE, ASK_OTHERS)
"""The notes for the answer "no effect"."""


def association(causal: CausalGraph, way: Between, table: Table, model: Model | None, sampling: Sampling) -> Estimate:
    """The association of outcomes and causes in the rows, adjusted only for the conditions."""
    found = estimated(causal, P(way.y, way.x | way.given), way, table, model, sampling, by_adjustment=True)
    return found if found.model != "tables" else replace(found, entries=tuple(_seen(found.entries)))


def _seen(entries: Entries) -> Iterator[Probability]:
    """Probabilities given the observed cause, not the cause set to a value."""
    for entry in entries:
        assert isinstance(entry, Probability), "tables have nothing else"
        yield replace(entry, do={}, given={**entry.do, **entry.given})
