"""`anypag learn-series`: learns from time series what causes what, and at which lag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from anypag.choices import Choices
from anypag.cli.commands import ExitCode, command
from anypag.cli.options import TYPED, ColumnOptions, FileOptions, SetOptions, Typed, spelled
from anypag.cli.outputs import Inputs, check_files, files_in
from anypag.cli.running import Interrupts, compiling_told, shown_on
from anypag.cli.terminal import Terminal, panics_held
from anypag.run.clock import Clock

if TYPE_CHECKING:
    from anypag.series.learn import SeriesSearch
    from anypag.series.series_result import SeriesResult

NOT_OF_SERIES = {"max_sets", "sepset", "possible_dsep", "dsep_max_r", "missing", "singular", "device", "n_jobs"}
CHOICES = tuple(name for name in TYPED if name not in NOT_OF_SERIES | {"selection_bias", "threads"})
"""The choices of `learn` that `learn-series` has too."""


@command(*CHOICES)
def learn_series(
    data: list[str],
    *,
    typed: Typed,
    max_lag: int = 1,
    time: str | None = None,
    unit: str | None = None,
    selection_bias: bool = False,
    columns: ColumnOptions,
    sets: SetOptions,
    bootstrap: Annotated[int, click.IntRange(2)] | None = None,
    seed: Annotated[int, click.IntRange(0)] = 0,
    out: list[Path] | None = None,
    reading: FileOptions,
    quiet: bool = False,
    terminal: Terminal,
) -> ExitCode:
    """Learn from a time series or a panel what causes what, and after how many steps.

    Processes that were never measured are allowed for. Rows must be in the order of time, or --time names the column of
    times. An edge such as x(t-1) --> y holds at all times: x is a cause of y one step later. Several data sets
    (name=file for each, or --context) are searched together: drug --> x says that the experiment drug acts on x.

    Args:
        data DATA: The table: .csv, .tsv, .txt (or .gz of these), .parquet, .arrow, .feather, .xlsx, .dta, .sav; - is
            standard input. Several data sets are given by name, first the one recorded without an experiment:
            observed=a.csv drug=b.csv.
        max_lag P: The largest lag of a cause that is looked for, in steps.
        time COLUMN: The column of times: numbers, or dates such as 2020-01-31, 2020-01, 2020Q1. Without it,
            the rows must be in the order of time.
        unit COLUMN: In a panel: the column that says which unit (a person, a country) a row is from.
        selection_bias: Allow for processes that affect which times or units are in the table.
        bootstrap N: Also search N resamples, and report how often each edge is found. In a panel, units are resampled,
            else blocks of consecutive times.
        seed N: For --bootstrap: the seed of all random numbers.
        out FILE: Write the result; may be repeated. The ending picks the format: .json, .csv (edges), .html
            (report), .svg, .png, .pdf (summary), .txt, .dot, ... (graph with a node for each process at each lag).
        quiet: Print only errors.
    """
    terminal.quiet, outputs = quiet, out or []
    inputs = Inputs(files_in(data), columns, reading, sets)
    check_files(outputs, typed, list(inputs.files.values()))
    with Interrupts() as interrupts, compiling_told(terminal):
        from anypag.series.lagged import lagged
        from anypag.series.learn import SeriesSearch

        clock = Clock()
        with panics_held(inputs.first):
            table, names = inputs.table(inputs.chosen(time, unit, sets.context))
            names = None if names is None else [name for name in names if name not in (time, unit)]
            windows = lagged(table, max_lag, time=time, unit=unit, names=names, kinds=typed["kinds"])
            choices = Choices(**{**typed, "kinds": None}, selection_bias=selection_bias)
            search = SeriesSearch(windows, choices, inputs.called)
        _say_what(terminal, inputs.called, search)
        with interrupts.held():
            with shown_on(terminal, choices, interrupts, clock) as listeners:
                result = search.run(listeners)
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
    warnings = problem.audit.warnings if problem.audit else ()
    terminal.lines((f"warning: {finding.sentence.spelled(spelled)}" for finding in warnings), "yellow")


def _tell(terminal: Terminal, result: SeriesResult, written: list[Path]) -> None:
    from anypag.cli.tell import misfit_told
    from anypag.explain.summary import how_far
    from anypag.series.edges import edge_line

    terminal.line()
    terminal.lines(misfit_told(result.result), "bold red")
    for pair in result.summary:
        terminal.line(pair.a if pair.a == pair.b else f"{pair.a} and {pair.b}", "cyan")
        terminal.lines(f"  {edge_line(edge)}" for edge in pair.edges)
    terminal.lines([*result.contexts_told, *result.unlikely_told, *result.result.remarks])
    if not result.edges:
        terminal.line("No edge was found: nothing shows that a process depends on another one, or on its own past.")
    terminal.line()
    ended = how_far(result.result, spelled, result.expected_errors)
    terminal.line(ended, "bold green" if result.complete else "bold yellow")
    terminal.line(result.assumed.replace("selection_bias=True", "--selection-bias"))
    terminal.lines(f"Wrote {path}" for path in written)
    if terminal.as_json:
        terminal.json(_document(result, written))


def _document(result: SeriesResult, written: list[Path]) -> dict[str, Any]:
    edges = [{**edge._asdict(), "text": str(edge), "symbol": edge.edge.symbol} for edge in result.edges]
    warnings = list(map(str, result.audit.warnings)) if result.audit else []
    run = {"complete": result.complete, "stopped": result.result.stopped, "windows": result.told}
    about = {"targets": result.targets(), "warnings": warnings, "written": list(map(str, written))}
    return {**run, "edges": edges, **about}
