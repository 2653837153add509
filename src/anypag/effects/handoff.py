"""Exports an identified effect to other estimation tools: names of columns, and a causal graph they accept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anypag.errors import GraphError
from anypag.graphs.formats.dot_and_dagitty import quoted


class Handoff(NamedTuple):
    """The inputs of tools such as dowhy and DoubleML.

    Args:
        treatment: the causes (`treatment` of dowhy, `d_cols` of DoubleML).
        outcome: the outcomes (`outcome`, `y_col`).
        adjustment: the columns to adjust for (`common_causes`, `x_cols`).
        modifiers: the conditions (`effect_modifiers`).
        graph: a causal graph in DOT in which adjusting for these columns is right. It says nothing about the relations
            within the adjustment set, which are not known and not needed.
    """

    treatment: tuple[str, ...]
    outcome: tuple[str, ...]
    adjustment: tuple[str, ...]
    modifiers: tuple[str, ...]
    graph: str


def handoff(
    cause: Sequence[str], outcome: Sequence[str], given: Sequence[str], adjustment: Sequence[str] | None
) -> Handoff:
    """The inputs for another tool. Raises an error if there is no adjustment set.

    >>> print(handoff(["X"], ["Y"], [], ["Z"]).graph)
    digraph {
      "Z" -> "X";
      "Z" -> "Y";
      "X" -> "Y";
    }
    """
    if adjustment is None:
        raise GraphError("Other tools need an adjustment set, and this effect has none.")
    before = [*adjustment, *given]
    arrows = [(a, b) for a in before for b in (*cause, *outcome)] + [(a, b) for a in cause for b in outcome]
    lines = [f"  {quoted(a, 'DOT')} -> {quoted(b, 'DOT')};" for a, b in arrows]
    return Handoff(tuple(cause), tuple(outcome), tuple(adjustment), tuple(given), "\n".join(["digraph {", *lines, "}"]))
