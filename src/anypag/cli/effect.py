"""`anypag effect`: the effect of one variable on another, from a graph and optional data."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from anypag.cli import options
from anypag.cli.exits import ExitCode, command
from anypag.cli.graphs import Graph, read_graph_or_result
from anypag.cli.options import Json, Typed, data_sets_in, names_in, with_choices
from anypag.cli.outputs import file_of, said_of_reading
from anypag.cli.parameters import argument, option
from anypag.cli.terminal import Terminal, panics_held

if TYPE_CHECKING:
    from anypag.data.table import Table
    from anypag.effects.estimate.learners import Learner
    from anypag.graphs.base import MixedGraph
    from anypag.results.result import Result


class ModelChoice(StrEnum):
    """How columns are treated."""

    LINEAR = "linear"
    TABLES = "tables"
    MIXED = "mixed"


WHY_SMALLER = (
    "By this graph they do as well as the set above, which is the largest: all possible causes that may be adjusted "
    "for."
)
MOST_SETS = 5  # how many minimal sets are listed


@command
@with_choices("kinds")
def effect(
    graph: Graph,
    cause: Annotated[str, argument(metavar="CAUSE", help="The variable that is set; several with commas.")],
    typed: Typed,
    outcome: Annotated[
        str | None, argument(metavar="OUTCOME", help="The variable looked at; several with commas.")
    ] = None,
    dag: Annotated[
        str | None,
        option(
            metavar="EDGES",
            help="A graph of your own in place of GRAPH, all arrows causes and nothing hidden: "
            "'treat -> re78; age -> treat; age -> re78', or a file.",
        ),
    ] = None,
    assume: Annotated[
        list[str] | None,
        option(
            metavar="STATEMENT",
            help="Assume this besides what was known, and sample graphs anew: 'smoking !<-> cancer' says that nothing "
            "hidden causes both. For results with sampled graphs (--method auto), with --data.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None, option(metavar="NAMES", help="The effect given these variables: names with commas.")
    ] = None,
    within: Annotated[
        list[str] | None, option(metavar="NAMES", help="Adjust for these columns only: names with commas.")
    ] = None,
    no_selection_bias: Annotated[
        bool, option("--no-selection-bias", help="The sample is known not to be selected by any variable.")
    ] = False,
    data: Annotated[
        list[str] | None,
        option(
            metavar="FILE",
            help="A table to estimate the effect from; - is standard input. It is read with the options of `learn` in "
            "the result, unless others are given. Rows with gaps in columns that the effect needs are left out. Of "
            "several data sets the file of the observed one, the file with all of them, or one file each: "
            "--data observed=a.csv --data drug=b.csv.",
        ),
    ] = None,
    model: Annotated[
        ModelChoice | None, option(help="Take columns as numbers, every value as a level, or each as its kind says.")
    ] = None,
    learner: Annotated[
        str | None,
        option(
            metavar="LEARNER",
            help="In place of straight lines, cross-fitted: splines, or where to import a regressor from, such as "
            "sklearn.ensemble.RandomForestRegressor; two with a comma for outcome and cause. For a cause with two "
            "levels doubly robust (AIPW).",
        ),
    ] = None,
    by: Annotated[
        str | None, option(metavar="NAME", help="Tell the effect along this column too, by level or in bands.")
    ] = None,
    cluster: Annotated[
        str | None, option(metavar="NAME", help="The column that says which rows belong together: a person, a school.")
    ] = None,
    confounding: Annotated[
        float | None,
        option(
            metavar="STRENGTH",
            help="How far the number moves if arrows hide common causes that correlate the noises of their ends by up "
            "to this: 0.7, say. For results with sampled graphs (--method auto).",
        ),
    ] = None,
    counts: options.CountsColumn = None,
    weights: options.WeightsColumn = None,
    encoding: options.Encoding = None,
    gaps: options.Gaps = None,
    no_header: options.NoHeader = False,
    sheet: options.Sheet = None,
    as_json: Json = False,
) -> ExitCode:
    """Say whether a variable has an effect on another, how it can be computed, and with --data how large it is.

    Exit code 0 whatever the answer; 1 if the graph cannot be relied on.
    """
    from anypag.effects.effect import effect as asked

    terminal = Terminal(as_json=as_json)
    source, cause, outcome = _asked(graph, cause, outcome, dag)
    said = said_of_reading(encoding, gaps, no_header, sheet, counts, weights)
    _require_data(data, [*said, *(["kinds"] if typed["kinds"] else [])])
    source = _of_kinds(source, typed["kinds"])
    table = None if not data else _rows(data, source, said, typed["kinds"], cluster)
    found = asked(
        source,
        names_in([cause]),
        names_in([outcome]),
        names_in(given or ()),
        within=None if within is None else names_in(within),
        selection_bias=False if no_selection_bias else None,
        data=table,
        model=None if model is None else model.value,
        assume="\n".join(assume) if assume else None,
        learner=_learner(learner),
        by=by,
        cluster=cluster,
        confounding=confounding,
    )
    sets = [list(z) for z in islice(found.minimal_sets(), MOST_SETS)] if found.status == "adjustment" else []
    if as_json:
        terminal.json({**found.to_dict(), "minimal_sets": sets})
    else:
        terminal.lines(str(found))
        if sets:
            terminal.line(f"  Minimal adjustment sets: {'; '.join(', '.join(z) or 'none needed' for z in sets)}.")
        if any(len(z) < len(found.adjustment_set or ()) for z in sets):
            terminal.line(f"  {WHY_SMALLER}")
    return ExitCode.COMPLETE


def _asked(graph: Path, cause: str, outcome: str | None, dag: str | None) -> tuple[MixedGraph | Result, str, str]:
    """The graph, the cause and the outcome. With --dag the graph is not among the arguments."""
    from anypag.errors import ParameterError
    from anypag.graphs.pag import DAG

    if dag is None and outcome is None:
        raise ParameterError("An effect needs GRAPH, CAUSE and OUTCOME; with --dag EDGES it needs CAUSE and OUTCOME.")
    if dag is None:
        return read_graph_or_result(graph), cause, outcome or ""
    if outcome is not None:
        raise ParameterError("With --dag only CAUSE and OUTCOME are named: the graph is the one that --dag gives.")
    text = Path(dag).read_text(encoding="utf-8") if Path(dag).is_file() else dag
    return DAG.from_string(text), str(graph), cause


def _learner(text: str | None) -> Learner | None:
    """One learner, or those of outcome and cause; whether they can be imported is checked where they are used."""
    found = (text or "").split(",")
    return (found[0], found[1]) if len(found) == 2 else text


def _require_data(data: list[str] | None, given: list[str]) -> None:
    from anypag.errors import Option, ParameterError

    if not data and given:
        raise ParameterError(f"The option {Option(given[0])} goes with {Option('data')}: it says how it is read.")


def _of_kinds(source: MixedGraph | Result, kinds: dict[str, str] | None) -> MixedGraph | Result:
    """The result, with the kinds of columns that were typed."""
    from anypag.graphs.base import MixedGraph

    if not kinds or isinstance(source, MixedGraph):
        return source
    return replace(source, choices=replace(source.choices, kinds={**(source.choices.kinds or {}), **kinds}))


def _rows(
    data: list[str],
    source: MixedGraph | Result,
    said: dict[str, Any],
    kinds: dict[str, str] | None,
    cluster: str | None,
) -> Table:
    """The table of the file, or of the files of several data sets."""
    from anypag.errors import ParameterError
    from anypag.graphs.base import MixedGraph

    tables = {name: _table(file_of(file), source, said, kinds, cluster) for name, file in data_sets_in(data).items()}
    if len(tables) == 1:
        return tables[""]
    sets = None if isinstance(source, MixedGraph) else source.sets
    if sets is None:
        raise ParameterError("Several files are for results of several data sets; this result is of one.")
    return sets.of_tables(tables)


def _table(
    data: Path, source: MixedGraph | Result, said: dict[str, Any], kinds: dict[str, str] | None, cluster: str | None
) -> Table:
    """The columns of the graph and that of clusters, read with the options of the search unless others were typed."""
    from anypag.data.files.read_table import fitting, read_again
    from anypag.data.table import declared
    from anypag.graphs.base import MixedGraph

    graph, learned = (source, None) if isinstance(source, MixedGraph) else (source.pag, source)
    with panics_held(data):
        more = [cluster, learned.sets.by if learned is not None and learned.sets is not None else None]
        names = (*graph.names, *(name for name in more if name is not None))
        reading = fitting(learned.reading if learned else None, data)
        if {"counts", "weights"} & said.keys():  # a row has one of the two
            reading = reading._replace(counts=None, weights=None)
        table = read_again(data, reading._replace(**said), names)
    return declared(table, kinds or {})
