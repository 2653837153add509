"""`anypag learn`: from a file of data to a graph, with the last correct one in hand whatever happens."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anypag.cli import options
from anypag.cli.compiling import compiling_told
from anypag.cli.edges import tell_edges
from anypag.cli.outcome import ExitCode, command, explained
from anypag.cli.outputs import check_outputs
from anypag.cli.signals import Interrupts
from anypag.cli.terminal import Terminal
from anypag.cli.typed import as_typed
from anypag.saving import check_ending, save

if TYPE_CHECKING:
    from anypag.errors import AnypagError
    from anypag.run.budget import Budget
    from anypag.run.checkpoint import Checkpoint
    from anypag.run.engine import Search
    from anypag.run.result import Learned, Result
    from anypag.search.state import Progress


class MethodChoice(StrEnum):
    """The algorithms."""

    ICD = "icd"
    ICD_PAPER = "icd-paper"
    FCI = "fci"
    ANYTIME_FCI = "anytime-fci"
    RFCI = "rfci"


class TestChoice(StrEnum):
    """The tests."""

    AUTO = "auto"
    FISHERZ = "fisherz"
    GSQ = "gsq"
    CHISQ = "chisq"
    MIXED = "mixed"


@command
def learn(
    ctx: typer.Context,
    data: options.Data,
    alpha: Annotated[
        float, typer.Option(help="Two variables count as independent if the p-value is above this.")
    ] = 0.01,
    test: Annotated[
        TestChoice,
        typer.Option(
            metavar="TEST",
            help="fisherz (continuous columns), gsq or chisq (discrete), mixed, or auto: what the columns call for.",
        ),
    ] = TestChoice.AUTO,
    method: Annotated[
        MethodChoice,
        typer.Option(
            metavar="METHOD", help="icd, icd-paper (the published text to the letter), fci, anytime-fci or rfci."
        ),
    ] = MethodChoice.ICD,
    max_r: options.MaxR = None,
    time_budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Stop after 30s, 5m, 2h, ... with the last finished iteration."),
    ] = None,
    max_tests: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop after so many tests with the last finished iteration.")
    ] = None,
    max_sets: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Trust marks to narrow an edge's condition sets only where it would have more than N of them (icd; "
            "1,000 by default). With more, dense graphs come out better and take longer.",
        ),
    ] = None,
    missing: options.Missing = options.MissingChoice.ERROR,
    columns: options.Columns = None,
    drop: options.Drop = None,
    kinds: options.Kinds = None,
    no_selection_bias: Annotated[
        bool, typer.Option("--no-selection-bias", help="The sample is known not to be selected by any variable.")
    ] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write the result; may be given again. The ending picks the format: .json (graph and how it was "
            "learned), .csv (edge table), .svg, .png, .html (report), .txt, .dot, .tetrad, .dagitty.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report: one HTML page that works without a network.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the state of the run in this file, so that it can be resumed."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint if it is there.")] = False,
    threads: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Threads that test edges (icd only); 0: one per core. Same result."),
    ] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    as_json: options.Json = False,
) -> ExitCode:
    """Learn a graph (a PAG) from a table.

    After every iteration the graph is correct as far as it goes; Ctrl-C, SIGTERM and the budgets end the run with the
    last one, written to every output asked for (exit code 3). Ctrl-C twice within a second stops at once.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    limit = None if time_budget is None else options.seconds(time_budget)
    outputs = _checked_outputs(data, out or [], report, checkpoint, resume=resume)
    with Interrupts() as interrupts, compiling_told(terminal):
        from anypag.run.budget import Budget
        from anypag.run.engine import Search

        search = Search(
            data,
            alpha=alpha,
            test=test.value,
            method=method.value,
            max_r=max_r,
            max_sets=max_sets,
            missing=missing.value,
            names=options.chosen_columns(data, options.names_in(columns or ()), options.names_in(drop or ())),
            kinds=options.kinds_in(kinds or ()) or None,
            selection_bias=not no_selection_bias,
            threads=threads,
        )
        _say_what(terminal, data, search)
        run = _Run(search, Budget(seconds=limit, tests=max_tests), interrupts, terminal)
        with interrupts.held():
            result, error = run.finished(checkpoint, resume=resume)
            ending = _Ending(result, error, terminal)
            ending.write(outputs, _report_writer(search, ctx.obj))
            return ending.told()


def _checked_outputs(
    data: Path, out: list[Path], report: Path | None, checkpoint: Path | None, *, resume: bool
) -> list[Path]:
    from anypag.errors import ParameterError

    if report is not None and report.suffix.lower() != ".html":
        raise ParameterError(f"A report is an .html file; got {report.name!r}.")
    outputs = [*out, *([report] if report else [])]
    for path in outputs:
        check_ending(path)
    check_outputs([*outputs, *([checkpoint] if checkpoint else [])], [data])
    if resume and checkpoint is None:
        raise ParameterError("--resume needs --checkpoint FILE: the file to go on from.")
    if checkpoint is not None and checkpoint.exists() and not resume:
        raise ParameterError(
            f"The checkpoint {checkpoint} is there already. Add --resume to go on from it; remove it, or name another "
            "file, to start anew."
        )
    return outputs


def _say_what(terminal: Terminal, data: Path, search: Search) -> None:
    from anypag.run.fingerprint import innermost

    test = innermost(search.test)
    rows, params = getattr(test, "n", None), search.params
    size = f"{rows:,} rows, {len(test.names):,} variables" if rows else f"{len(test.names):,} variables"
    terminal.line(
        f"{data.name}: {size}; test {type(test).__name__.lstrip('_')}, alpha {params.alpha:g}, method {search.method}",
        "bold",
    )
    audit = getattr(test, "audit", None)
    for finding in audit.warnings if audit else ():
        terminal.line(as_typed(f"warning: {finding}"), "yellow")


class _Run:
    """A search under way, with a result in hand from its first iteration on."""

    def __init__(self, search: Search, budget: Budget, interrupts: Interrupts, terminal: Terminal) -> None:
        self._search = search
        self._budget = budget
        self._interrupts = interrupts
        self._terminal = terminal

    def finished(self, path: Path | None, *, resume: bool) -> tuple[Result, AnypagError | None]:
        """The result, and the error that ended the run if one did."""
        if path is None:
            return self._run(None)
        with self._search.checkpoint(path, resume=resume) as kept:
            if kept.history:
                self._terminal.line(f"Going on from {path}, which is complete up to r = {kept.history[-1].r}.")
            elif resume:
                self._terminal.line(f"{path} holds no finished iteration yet; starting at r = 0.")
            return self._run(kept)

    def _run(self, kept: Checkpoint | None) -> tuple[Result, AnypagError | None]:
        from anypag.cli.progress import shown_on
        from anypag.errors import AnypagError
        from anypag.run.budget import Stopped

        with shown_on(self._terminal) as (tick, step):
            latest = self._search.result(kept.state, kept.history) if kept else self._search.result()
            watch = kept.watching(tick) if kept else tick

            def before_tests(progress: Progress) -> None:
                self._interrupts.check()
                with self._interrupts.held():
                    watch(progress)

            def after_iteration(result: Result) -> None:
                nonlocal latest
                with self._interrupts.held():
                    latest = result
                    step(result)
                    if kept:
                        kept.write(result)

            try:
                with self._interrupts.ending_a_run():
                    latest = self._search.run(
                        state=latest.state,
                        history=latest.history,
                        budget=self._budget,
                        tick=before_tests,
                        on_step=after_iteration,
                    )
            except Stopped as stopped:  # came between two steps
                latest = replace(latest, stopped=None if latest.complete else stopped.reason)
            except AnypagError as error:
                return replace(latest, stopped="error"), error
        return latest, None


class _Ending:
    """What is left to do when a run is over: write the outputs, say what came of it."""

    def __init__(self, result: Result, error: AnypagError | None, terminal: Terminal) -> None:
        if not result.history and result.stopped == "interrupt":
            raise KeyboardInterrupt
        if not result.history and error is not None:
            raise error
        self._result = result
        self._terminal = terminal
        self._failures = [] if error is None else [explained(error)[1]]
        self._written: list[Path] = []

    def write(self, outputs: list[Path], report: Callable[[Learned, Path], None]) -> None:
        """Write every output; one that fails does not keep the others from being written."""
        for path in outputs:
            try:
                save(self._result, path, report=report)
                self._written.append(path)
            except Exception as error:
                self._failures.append(f"{path} was not written: {explained(error)[1]}")

    def told(self) -> ExitCode:
        """Say how far the run got and what the graph says."""
        from anypag.cli.words import how_far, what_next

        self._terminal.line()
        tell_edges(self._terminal, self._result)
        self._terminal.line()
        self._terminal.line(how_far(self._result), "bold green" if self._result.complete else "bold yellow")
        if after := what_next(self._result):
            self._terminal.line(after)
        for path in self._written:
            self._terminal.line(f"Wrote {path}")
        for sentence in self._failures:
            self._terminal.error(sentence)
        if self._terminal.as_json:
            self._terminal.json(self._document())
        return self._code

    @property
    def _code(self) -> ExitCode:
        from anypag.cli.words import is_at_limit

        if self._failures:
            return ExitCode.ERROR
        return ExitCode.COMPLETE if self._result.complete or is_at_limit(self._result) else ExitCode.STOPPED

    def _document(self) -> dict[str, Any]:
        from anypag.cli.words import how_far, what_next
        from anypag.run.saved import save_result

        return {
            "exit_code": int(self._code),
            "complete": self._result.complete,
            "stopped": self._result.stopped,
            "r": self._result.r,
            "n_tests": self._result.n_tests,
            "how_far": how_far(self._result),
            "what_next": what_next(self._result),
            "written": [str(path) for path in self._written],
            "errors": self._failures,
            "result": save_result(self._result),
        }


def _report_writer(search: Search, arguments: list[str]) -> Callable[[Learned, Path], None]:
    def write(result: Learned, path: Path) -> None:
        from anypag.report import write_report
        from anypag.run.fingerprint import innermost

        call = shlex.join(["anypag", *arguments])
        write_report(result, path, audit=getattr(innermost(search.test), "audit", None), call=call)

    return write
