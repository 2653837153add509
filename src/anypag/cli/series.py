"""`anypag learn-series`: learns what causes what in time series, at which lag."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from anypag.cli import options
from anypag.cli.exits import ExitCode, command
from anypag.cli.options import Typed, data_sets_in, spelled, with_choices
from anypag.cli.outputs import called, check_files, chosen_columns, data_of, file_of, reading_of
from anypag.cli.parameters import option
from anypag.cli.running import Interrupts, compiling_told, shown_on
from anypag.cli.tell import misfit_told, say_where_it_goes_on
from anypag.cli.terminal import Terminal, panics_held
from anypag.saving import check_ending

if TYPE_CHECKING:
    from anypag.series.learn import SeriesSearch
    from anypag.series.series_result import SeriesResult

CHOICES = (
    *("method", "alpha", "test", "max_r", "time_budget", "max_tests", "checkpoint", "resume"),
    *("effort", "knowledge", "kinds", "transform"),
)
"""The choices of `learn` that a time series has too."""


@command
@with_choices(*CHOICES)
def learn_series(
    data: options.DataFiles,
    typed: Typed,
    max_lag: Annotated[int, option(metavar="P", help="How many steps back causes are looked for.")] = 1,
    time: Annotated[
        str | None,
        option(
            metavar="COLUMN",
            help="The column of times: numbers, or dates such as 2020-01-31, 2020-01, 2020Q1. Without it the rows are "
            "in the order of time.",
        ),
    ] = None,
    unit: Annotated[
        str | None, option(metavar="COLUMN", help="The column that says whose row it is, in a panel.")
    ] = None,
    selection_bias: Annotated[
        bool,
        option(
            "--selection-bias", help="Which times or units are in the table may depend on the processes themselves."
        ),
    ] = False,
    columns: options.Columns = None,
    drop: options.Drop = None,
    context: options.ContextColumn = None,
    observed: options.ObservedSet = None,
    assumptions: options.Assumptions = "123",
    contexts_test: options.TestOfContexts = options.HowToTest.ALL,
    bootstrap: Annotated[
        int | None,
        option(
            metavar="N",
            type=click.IntRange(2),
            help="Search again in N resamples of units, or of blocks of neighbouring windows, and say how often each "
            "edge is found.",
        ),
    ] = None,
    seed: Annotated[
        int, option(metavar="N", type=click.IntRange(0), help="Of --bootstrap: the seed of all random numbers.")
    ] = 0,
    out: Annotated[
        list[Path] | None,
        option(
            metavar="FILE",
            help="Write the result; may be given again. The ending picks the format: .json, .csv (edges), .html "
            "(report), .svg, .png, .pdf (summary), .txt, .dot, ... (graph of the window).",
        ),
    ] = None,
    encoding: options.Encoding = None,
    gaps: options.Gaps = None,
    no_header: options.NoHeader = False,
    sheet: options.Sheet = None,
    quiet: Annotated[bool, option("--quiet", "-q", help="Print nothing but errors.")] = False,
    as_json: options.Json = False,
) -> ExitCode:
    """Learn from a time series or a panel what causes what, and after how many steps.

    Processes that were never measured are allowed for. Rows are in the order of time, or --time names the column that
    says it. An edge such as x(t-1) --> y holds at all times: x is a cause of y one step later. Several data sets
    (name=file for each, or --context) are searched together: drug --> x says that this experiment acts on x.
    """
    terminal, outputs = Terminal(as_json=as_json, quiet=quiet), out or []
    files = {name: file_of(file) for name, file in data_sets_in(data).items()}
    of_sets = {"observed": observed, "assumptions": assumptions, "contexts_test": contexts_test.value}
    for path in outputs:
        check_ending(path)
    check_files(outputs, typed, list(files.values()))
    with Interrupts() as interrupts, compiling_told(terminal):
        from anypag.choices import Choices
        from anypag.run.clock import Clock
        from anypag.run.watcher import Listeners
        from anypag.series.lagged import lagged
        from anypag.series.learn import SeriesSearch

        clock = Clock()
        with panics_held(next(iter(files.values()))):
            reading = reading_of(encoding, gaps, no_header, sheet)
            chosen = chosen_columns(files, columns, drop, reading, also=[time, unit, context])
            table, names = data_of(files, reading, chosen, context, of_sets)
            names = None if names is None else [name for name in names if name not in (time, unit)]
            windows = lagged(table, max_lag, time=time, unit=unit, names=names, kinds=typed["kinds"])
            choices = Choices(**{**typed, "kinds": None}, selection_bias=selection_bias)
            search = SeriesSearch(windows, choices, called(files))
        _say_what(terminal, called(files), search)
        with interrupts.held():
            with shown_on(terminal) as (tick, show_step):
                told = partial(say_where_it_goes_on, terminal, choices)
                result = search.run(Listeners(tick, show_step, told, interrupts, clock))
            result = result if bootstrap is None else result.bootstrap(bootstrap, seed=seed)
            for path in outputs:
                result.save(path)
        _tell(terminal, result, outputs)
    return ExitCode.COMPLETE if result.complete or result.result.stopped == "max_r" else ExitCode.STOPPED


def _say_what(terminal: Terminal, name: str, search: SeriesSearch) -> None:
    problem, window = search.search.problem, search.windows.window
    told = f"test {problem.test_name}, alpha {problem.choices.alpha:g}, method {search.search.algorithm.name}"
    terminal.line(f"{name}: {window.k:,} processes, lags 0 to {window.max_lag}; {told}", "bold")
    terminal.line(search.windows.told)
    for finding in problem.audit.warnings if problem.audit else ():
        terminal.line(f"warning: {finding.sentence.spelled(spelled)}", "yellow")


def _tell(terminal: Terminal, result: SeriesResult, written: list[Path]) -> None:
    from anypag.explain.summary import how_far
    from anypag.series.edges import edge_line

    terminal.line()
    for line in misfit_told(result.result):
        terminal.line(line, "bold red")
    for pair in result.summary:
        terminal.line(pair.a if pair.a == pair.b else f"{pair.a} and {pair.b}", "cyan")
        for edge in pair.edges:
            terminal.line(f"  {edge_line(edge)}")
    for line in (*result.contexts_told, *result.unlikely_told):
        terminal.line(line)
    if not result.edges:
        terminal.line("No edge was found: nothing shows that a process depends on another one, or on its own past.")
    terminal.line()
    ended = how_far(result.result, spelled, result.expected_errors)
    terminal.line(ended, "bold green" if result.complete else "bold yellow")
    terminal.line(result.assumed.replace("selection_bias=True", "--selection-bias"))
    for path in written:
        terminal.line(f"Wrote {path}")
    if terminal.as_json:
        terminal.json(_document(result, written))


def _document(result: SeriesResult, written: list[Path]) -> dict[str, Any]:
    return {
        "complete": result.complete,
        "stopped": result.result.stopped,
        "windows": result.told,
        "edges": [{**edge._asdict(), "text": str(edge), "symbol": edge.edge.symbol} for edge in result.edges],
        "targets": result.targets(),
        "warnings": [str(finding) for finding in result.audit.warnings] if result.audit else [],
        "written": [str(path) for path in written],
    }
