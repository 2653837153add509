"""`anypag effect`: the effect of one variable on another, from a graph and optional data."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anypag.cli.commands import ExitCode, command
from anypag.cli.options import RowOptions, Typed, names_in
from anypag.cli.outputs import files_in
from anypag.cli.terminal import Terminal, panics_held
from anypag.errors import Option, ParameterError

if TYPE_CHECKING:
    from anypag.data.files.scan import Reading
    from anypag.data.table import Table
    from anypag.graphs.base import MixedGraph
    from anypag.results.result import Result

WHY_SMALLER = (
    "In this graph each of these sets is as valid as the one above, which has all allowed columns that may cause CAUSE "
    "or OUTCOME."
)
MOST_SETS = 5  # how many minimal sets are listed


@command("kinds")
def effect(
    graph: Path,
    cause: str,
    outcome: str | None = None,
    *,
    typed: Typed,
    dag: str | None = None,
    assume: list[str] | None = None,
    given: list[str] | None = None,
    within: list[str] | None = None,
    no_selection_bias: bool = False,
    data: list[str] | None = None,
    model: Literal["linear", "tables", "mixed"] | None = None,
    learner: str | None = None,
    by: str | None = None,
    cluster: str | None = None,
    confounding: float | None = None,
    reading: RowOptions,
    terminal: Terminal,
) -> ExitCode:
    """Say whether a variable has an effect on another and how it can be computed. With --data, estimate its size.

    The exit code is 0 for any answer, and 1 if the graph cannot be relied on.

    Args:
        graph GRAPH: A graph: .json, .txt, .tetrad, .dagitty or .csv (an edge table, or a matrix of marks).
        cause CAUSE: The variable that is set by an intervention; several with commas between.
        outcome OUTCOME: The variable on which the effect is asked for; several with commas between.
        dag EDGES: A graph of your own in place of GRAPH: 'treat -> re78; age -> treat; age -> re78', or a file that
            holds such a graph. Every arrow means that the first variable is a cause of the second; no cause is hidden.
        assume STATEMENT: Add this statement to the knowledge, and sample graphs again: 'smoking !<-> cancer' says that
            nothing hidden causes both. Needs --data, and a result with sampled graphs (--method auto).
        given NAMES: Condition the effect on these variables: names with commas between.
        within NAMES: Adjust for these columns only: names with commas between.
        no_selection_bias: Assume that there is no selection bias: no variable affects who is in the sample.
        data FILE: A table to estimate the effect from; - is standard input. It is read as `learn` read its
            table, unless options are given here. Rows with gaps in columns that the effect needs are left out.
            After a search of several data sets, give the file of the set without an experiment, one file with the
            rows of all sets, or a file for each set: --data observed=a.csv --data drug=b.csv.
        model: linear treats columns as numbers, tables treats values as levels, mixed treats each column by its kind.
        learner LEARNER: A cross-fitted learner in place of straight lines: splines, or the import path of a regressor
            (sklearn.ensemble.RandomForestRegressor). Give two, with a comma between, for the outcome and for the cause.
            The effect of a cause with two levels is estimated doubly robustly (AIPW).
        by NAME: Also report the effect for each level of this column, or for four ranges of a numeric column.
        cluster NAME: The column that says which rows belong together: a person, a school.
        confounding STRENGTH: Also report how far the estimate moves if hidden common causes correlate the noise terms
            at the two ends of an arrow by up to STRENGTH, 0.7 say. Needs a result with sampled graphs (--method auto).
    """
    from anypag.effects.effect import effect as asked

    source, cause, outcome = _asked(graph, cause, outcome, dag, typed["kinds"])
    said = reading.said()
    for option in (*said, *(["kinds"] if typed["kinds"] else ())) if not data else ():
        raise ParameterError(f"The option {Option(option)} goes with {Option('data')}: it says how the table is read.")
    table = None if not data else _rows(data, source, said, typed["kinds"] or {}, cluster)
    named = (learner or "").split(",")
    learners = (named[0], named[1]) if len(named) == 2 else learner  # for the outcome and for the cause
    found = asked(
        source,
        names_in([cause]),
        names_in([outcome]),
        names_in(given or ()),
        within=None if within is None else names_in(within),
        selection_bias=False if no_selection_bias else None,
        data=table,
        model=model,
        assume="\n".join(assume) if assume else None,
        learner=learners,
        by=by,
        cluster=cluster,
        confounding=confounding,
    )
    sets = [list(z) for z in islice(found.minimal_sets(), MOST_SETS)] if found.status == "adjustment" else []
    if terminal.as_json:
        terminal.json({**found.to_dict(), "minimal_sets": sets})
    else:
        terminal.lines(str(found).split("\n"))
        if sets:
            terminal.line(f"  Minimal adjustment sets: {'; '.join(', '.join(z) or 'none needed' for z in sets)}.")
        if any(len(z) < len(found.adjustment_set or ()) for z in sets):
            terminal.line(f"  {WHY_SMALLER}")
    return ExitCode.COMPLETE


def _asked(
    graph: Path, cause: str, outcome: str | None, dag: str | None, kinds: dict[str, str] | None
) -> tuple[MixedGraph | Result, str, str]:
    """The graph, the cause and the outcome. With --dag there is no GRAPH: the first two arguments are the variables."""
    from anypag.graphs.pag import DAG
    from anypag.results.files import read_result
    from anypag.results.result import Result

    if dag is None and outcome is None:
        raise ParameterError("An effect needs GRAPH, CAUSE and OUTCOME; with --dag EDGES it needs CAUSE and OUTCOME.")
    if dag is None:
        source = read_result(graph)
        if kinds and isinstance(source, Result):
            source = replace(source, choices=replace(source.choices, kinds={**(source.choices.kinds or {}), **kinds}))
        return source, cause, outcome or ""
    if outcome is not None:
        raise ParameterError("With --dag only CAUSE and OUTCOME are named: the graph is the one that --dag gives.")
    text = Path(dag).read_text(encoding="utf-8") if Path(dag).is_file() else dag
    return DAG.from_string(text), str(graph), cause


def _rows(
    data: list[str], source: MixedGraph | Result, said: dict[str, Any], kinds: dict[str, str], cluster: str | None
) -> Table:
    """The columns of the graph and of --cluster, read from one file or from the files of several data sets."""
    from anypag.data.table import declared
    from anypag.graphs.base import MixedGraph

    graph, learned = (source, None) if isinstance(source, MixedGraph) else (source.pag, source)
    sets, before = (learned.sets, learned.reading) if learned else (None, None)
    names = (*graph.names, *(name for name in (cluster, sets and sets.by) if name is not None))
    tables = {name: declared(_table(file, before, said, names), kinds) for name, file in files_in(data).items()}
    if len(tables) == 1:
        return tables[""]
    if sets is None:
        raise ParameterError("Several files need a GRAPH that was learned from several data sets; this one was not.")
    return sets.of_tables(tables)


def _table(file: Path, before: Reading | None, said: dict[str, Any], names: tuple[str, ...]) -> Table:
    """Some columns of a file, read with the options of the search unless others were typed."""
    from anypag.data.files.read_table import fitting, read_again

    reading = fitting(before, file)
    if {"counts", "weights"} & said.keys():  # a typed --counts or --weights replaces those of the search
        reading = reading._replace(counts=None, weights=None)
    with panics_held(file):
        return read_again(file, reading._replace(**said), names)
