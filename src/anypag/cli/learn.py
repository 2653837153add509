"""`anypag learn`: learns a graph from a data file and writes it, even if the run is stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from anypag.catalogue import TESTS
from anypag.choices import Choices, is_default
from anypag.cli.commands import ExitCode, command, explained
from anypag.cli.options import TYPED, ColumnOptions, RowOptions, SetOptions, Typed, spelled, with_tiers
from anypag.cli.outputs import Drawing, Inputs, check_files, files_in
from anypag.cli.running import Interrupts, compiling_told, shown_on
from anypag.cli.terminal import Terminal, panics_held
from anypag.errors import AnypagError, Option, ParameterError
from anypag.run.clock import Clock

if TYPE_CHECKING:
    from anypag.cli.ending import Ending
    from anypag.results.result import Result
    from anypag.results.stability import Resample
    from anypag.run.bootstrap import Resampling
    from anypag.run.engine import Search
    from anypag.search.problem import Problem
    from anypag.search.progress import Progress

NO_DRAWS = "Interrupted: the graphs for estimating effects are not sampled."


@command(*TYPED)
def learn(
    data: list[str],
    *,
    typed: Typed,
    columns: ColumnOptions,
    covariance: int | None = None,
    tiers: str | None = None,
    out: list[Path] | None = None,
    report: Path | None = None,
    bootstrap: Annotated[int, click.IntRange(2)] | None = None,
    resample: Literal["bootstrap", "half"] | None = None,
    seed: Annotated[int, click.IntRange(0)] | None = None,
    cluster: str | None = None,
    sets: SetOptions,
    reading: RowOptions,
    quiet: bool = False,
    terminal: Terminal,
) -> ExitCode:
    """Learn a graph (a PAG) from a table, or from several data sets.

    Methods auto and icd test in iterations, with larger condition sets in each. If all tests are right, what the graph
    claims is true after each iteration, so the graph of a stopped run can be used too.
    If Ctrl-C, SIGTERM or a budget ends the run, the last graph is written to every output asked for (exit code 3).
    Ctrl-C twice within a second stops at once. Pictures and reports are drawn last, after all other outputs; a signal
    ends the drawing too.

    Args:
        data DATA: The table: .csv, .tsv, .txt (or .gz of these), .parquet, .arrow, .feather, .xlsx, .dta, .sav; - is
            standard input. Several data sets are given by name, first the one recorded without an experiment:
            observed=a.csv drug=b.csv.
        covariance N: DATA is a covariance or correlation matrix computed from N rows of data.
            A first column may repeat the names; one triangle may be empty.
        tiers TIERS: The order of time, 'age sex | smoking | "lung age"': no variable causes variables in an earlier
            tier. Put a name with blanks in double quotes. Later variables may still be causes of being in the
            sample; --no-selection-bias rules that out.
        out FILE: Write the result; may be repeated. The ending picks the format: .json (graph and how it was
            learned), .csv (edge table), .svg, .png, .pdf, .html (report), .txt, .dot, .tetrad, .dagitty.
        report FILE: Write the report to this file: one HTML page that works without a network.
        bootstrap N: Also search N resamples of the rows, and report how often each edge is found.
        resample WAY: For --bootstrap: bootstrap (rows with replacement) or half (half of the rows; resamples come
            in pairs that share no row).
        seed N: For --bootstrap: the seed of all random numbers; default 0.
        cluster NAME: For --bootstrap: a column that says which rows are drawn together (a person, a school).
            This column is left out of the search.
        quiet: Print only errors.
    """
    terminal.quiet = quiet
    inputs = Inputs(files_in(data), columns, reading, sets)
    known_in = click.get_current_context().params["knowledge"]
    if report is not None and report.suffix.lower() != ".html":
        raise ParameterError(f"A report is an .html file; got {report.name!r}.")
    outputs = [*(out or []), *([report] if report else [])]
    check_files(outputs, typed, [*inputs.files.values(), *([known_in] if known_in else [])])
    with Interrupts() as interrupts, compiling_told(terminal):
        from anypag.data.files.read_table import INDEX_LEFT_OUT
        from anypag.run.engine import Search

        clock = Clock()
        with panics_held(inputs.first):
            chosen = inputs.chosen(sets.context, cluster)
            if covariance is None:
                table, names = inputs.table(chosen)
            else:
                _require_matrix(typed, inputs, bootstrap)
                table, typed = inputs.matrix(chosen[""], covariance, typed)
                names = None
            known = with_tiers(typed["knowledge"], tiers)
            choices = Choices(names=names, **{**typed, "knowledge": known})
            resampling = _resampling(table, choices, bootstrap, resample, seed, cluster)
            search = Search(table, choices, inputs.called) if resampling is None else resampling.search
        _say_what(terminal, inputs.called, search)
        if inputs.leaves_index_out:
            terminal.line(f"warning: {INDEX_LEFT_OUT.sentence.spelled(spelled)}", "yellow")
        with interrupts.held():
            of_search = choices if resampling is None else resampling.of_search
            is_kept = terminal.as_json or any(path.suffix in {".json", ".html"} for path in outputs)
            run = partial(_run_search, search, of_search, interrupts, terminal, clock, is_kept)
            if resampling is not None:
                run = partial(_resampled, resampling, run, interrupts, terminal)
            has_rows = not (reading.counts or reading.weights or covariance)
            ending = _ended(run, terminal, (table if inputs.has_sets else inputs.first) if has_rows else None)
            ending.write(outputs, Drawing(interrupts, clock, choices.time_budget))
            return ending.told()


def _require_matrix(typed: Typed, inputs: Inputs, bootstrap: int | None) -> None:
    """Raise ParameterError for options that do not apply to a covariance matrix."""
    if inputs.has_sets:
        raise ParameterError("--covariance does not go with several data sets. Leave one of the two out.")
    of_matrix = [name for name, found in TESTS.items() if found.of_matrix]
    if typed["test"] not in {"auto", *of_matrix}:
        raise ParameterError(f"--covariance goes with --test {' or '.join(of_matrix)}, which needs only correlations.")
    told = {"--counts": inputs.reading.counts, "--weights": inputs.reading.weights, "--bootstrap": bootstrap}
    for given in (name for name, value in told.items() if value is not None):
        raise ParameterError(f"{given} needs rows, and a covariance matrix has none. Leave one of the two out.")
    for name in ("kinds", "missing", "transform", "device"):
        if not is_default(name, typed[name]):
            raise ParameterError(Option(name), " does not apply to a covariance matrix. Leave it out.")
    inputs.sets.require_none()


def _resampling(
    data: Any, choices: Choices, n: int | None, resample: Resample | None, seed: int | None, cluster: str | None
) -> Resampling | None:
    """The bootstrap, ready to run; None if it was not asked for."""
    if n is None:
        told = {"--resample": resample, "--seed": seed, "--cluster": cluster}
        for given in (name for name, value in told.items() if value is not None):
            raise ParameterError(f"{given} goes with --bootstrap N.")
        return None
    from anypag.run.bootstrap import Resampling
    from anypag.run.replicates import Plan

    return Resampling(data, choices, Plan(n, resample or "bootstrap", seed or 0), cluster)


def _say_what(terminal: Terminal, source: str, search: Search) -> None:
    from anypag.run.bind import wait_told

    problem, method = search.problem, search.algorithm.name
    variables = f"{problem.n:,} variables"
    size = f"{_rows(problem)}, {variables}" if problem.n_rows else variables
    told = f"test {problem.test_name}, alpha {problem.choices.alpha:g}, method {method}"
    terminal.line(f"{source}: {size}; {told}", "bold")
    if search.sets is not None:
        terminal.line(search.sets.told)
    if problem.chosen is not None and not search.algorithm.facts.tests_by:
        terminal.line(f"note: {problem.chosen.sentence.spelled(spelled)}.")
    found, notes = (problem.audit.warnings, problem.audit.all_notes) if problem.audit else ((), ())
    terminal.lines((f"warning: {finding.brief}" for finding in found), "yellow")
    terminal.lines(f"note: {note}" for note in notes)
    wait = wait_told(problem, search.algorithm)
    if wait is not None:
        terminal.line(f"note: {wait.spelled(spelled)}")
    if found:
        terminal.line("`anypag audit` says more about each warning, and what to do.")


def _rows(problem: Problem) -> str:
    """The number of rows used and, if some have gaps, of all rows: `1,000 rows of 1,200 (200 have gaps)`."""
    used, left_out = problem.n_rows or 0, problem.audit.rows_left_out if problem.audit else 0
    have = "has" if left_out == 1 else "have"
    return f"{used:,} rows of {used + left_out:,} ({left_out:,} {have} gaps)" if left_out else f"{used:,} rows"


def _ended(run: Callable[[], Result], terminal: Terminal, data: Any) -> Ending:
    """Runs the search and returns its `Ending`. An error before the first step is raised."""
    failures: list[str] = []
    try:
        result = run()
    except AnypagError as error:
        if error.result is None or not (error.result.history or error.result.stopped == "interrupt"):
            raise
        result, failures = error.result, [explained(error)[1]]
    if not result.history and result.stopped == "interrupt":
        raise KeyboardInterrupt
    from anypag.cli.ending import Ending

    return Ending(terminal, result, data, failures)


def _run_search(
    search: Search, choices: Choices, interrupts: Interrupts, terminal: Terminal, clock: Clock, is_kept: bool
) -> Result:
    """The result of a search, whose steps are printed. `is_kept`: does an output (.json, .html, JSON on the terminal)
    store the sampled graphs from which effects are estimated? If so, these graphs are sampled now.
    """
    from anypag.run.engine import learned, may_draw, with_draws

    with shown_on(terminal, choices, interrupts, clock) as listeners:
        result = learned(search, choices, listeners)
        ended = result.stopped
        result = with_draws(result, listeners) if is_kept else result
    if is_kept and ended == "interrupt" and may_draw(result):
        terminal.line(NO_DRAWS)
    return result


def _resampled(
    resampling: Resampling, whole: Callable[[], Result], interrupts: Interrupts, terminal: Terminal
) -> Result:
    from anypag.run.watcher import showing

    with showing(terminal.is_interactive) as show:

        def tick(progress: Progress) -> None:
            interrupts.check()
            show(progress)

        return resampling.run(whole, tick, interrupts.ending_a_run).result
