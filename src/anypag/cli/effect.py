"""`anypag effect`: from a graph, and data where there are any, to the effect of one variable on another."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anypag.cli.graphs import Graph, read_graph_or_result
from anypag.cli.options import Json
from anypag.cli.outcome import ExitCode, command
from anypag.cli.terminal import Terminal
from anypag.cli.values import names_in

if TYPE_CHECKING:
    from anypag.effects.answer import Effect


class ModelChoice(StrEnum):
    """How columns are taken."""

    LINEAR = "linear"
    TABLES = "tables"
    MIXED = "mixed"


MOST_SETS = 5
"""How many minimal sets are listed."""


@command
def effect(
    graph: Graph,
    cause: Annotated[str, typer.Argument(metavar="CAUSE", help="The variable that is set; several with commas.")],
    outcome: Annotated[str, typer.Argument(metavar="OUTCOME", help="The variable looked at; several with commas.")],
    given: Annotated[
        list[str] | None, typer.Option(metavar="NAMES", help="The effect given these variables: names with commas.")
    ] = None,
    within: Annotated[
        list[str] | None, typer.Option(metavar="NAMES", help="Adjust for these columns only: names with commas.")
    ] = None,
    no_selection_bias: Annotated[
        bool, typer.Option("--no-selection-bias", help="The sample is known not to be selected by any variable.")
    ] = False,
    data: Annotated[Path | None, typer.Option(metavar="FILE", help="A table to estimate the effect from.")] = None,
    split: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Search anew in this share of the rows, estimate in the others: 0.5, say."),
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Search anew in N resamples of the rows: in how many is the effect identified, and how does it vary? "
            "A result of `learn --bootstrap` has them already.",
        ),
    ] = None,
    model: Annotated[
        ModelChoice | None,
        typer.Option(help="Take columns as numbers, every value as a level, or each as its kind says."),
    ] = None,
    as_json: Json = False,
) -> ExitCode:
    """Say whether a variable has an effect on another, how it can be computed, and with --data how large it is.

    Exit code 0 whatever the answer; 1 if the graph cannot be relied on.
    """
    from anypag.effects.effect import MODEL_NEEDS_ROWS, told_apart
    from anypag.effects.effect import effect as asked
    from anypag.effects.split import searched_apart, searched_in_resamples
    from anypag.errors import ParameterError

    terminal = Terminal(as_json=as_json)
    source = read_graph_or_result(graph)
    if split is not None and bootstrap is not None:
        raise ParameterError("Give --split or --bootstrap, not both: a half is too small to be searched many times.")
    if model is not None and data is None:
        raise ParameterError(*MODEL_NEEDS_ROWS)
    apart = None if split is None else searched_apart(source, data, split)
    again = None if bootstrap is None else searched_in_resamples(source, data, bootstrap)
    found = asked(
        apart[0] if apart is not None else source if again is None else again,
        names_in([cause]),
        names_in([outcome]),
        names_in(given or ()),
        within=None if within is None else names_in(within),
        selection_bias=False if no_selection_bias else None,
    )
    if data is not None:
        rows = data if apart is None else apart[1]
        found = found.estimated(rows, model=None if model is None else model.value)
    if apart is not None:
        found = told_apart(found, *apart)
    sets = _first_sets(found)
    if as_json:
        terminal.json({**found.to_dict(), "minimal_sets": sets})
    else:
        terminal.lines(str(found))
        if sets:
            terminal.line(f"  Minimal adjustment sets: {'; '.join(', '.join(z) or 'none needed' for z in sets)}.")
    return ExitCode.COMPLETE


def _first_sets(found: Effect) -> list[list[str]]:
    """The first minimal adjustment sets, where the effect is one by adjustment."""
    return [list(z) for z in islice(found.minimal_sets(), MOST_SETS)] if found.status == "adjustment" else []
