"""The end of `anypag learn`: writes the outputs and prints the result. This file is loaded when a search has ended."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from anypag.cli.commands import ExitCode, explained
from anypag.cli.options import spelled
from anypag.cli.outputs import Drawing, DrawingStopped
from anypag.cli.tell import misfit_told, tell_result, what_next
from anypag.cli.terminal import Terminal
from anypag.explain.summary import how_far, is_at_limit
from anypag.results.result import Result
from anypag.saving import is_drawn, save


@dataclass
class Ending:
    """The end of a run. `data`: the rows from which reports estimate effects; None for a matrix, counts or weights."""

    terminal: Terminal
    result: Result
    data: Any
    failures: list[str]
    left_out: list[str] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)

    def write(self, outputs: list[Path], drawing: Drawing) -> None:
        """Write every output, pictures and reports last. If an output fails, the others are still written."""
        for path in sorted(outputs, key=is_drawn):
            try:
                with drawing.limited() if is_drawn(path) else nullcontext():
                    save(self.result, path, report=self._report)
                self.written.append(path)
            except DrawingStopped as stopped:
                self.left_out.append(f"{path} was left out: {stopped}.")
            except Exception as error:
                self.failures.append(f"{path} was not written: {explained(error)[1]}")

    def _report(self, result: Result, path: Path) -> None:
        from anypag.report import write_report

        call = shlex.join(["anypag", *click.get_current_context().obj])
        write_report(result, path, call=call, spell=spelled, data=self.data)

    def told(self) -> ExitCode:
        """The exit code. Prints the result, the files written and the errors."""
        tell_result(self.terminal, self.result, next((path for path in self.written if not is_drawn(path)), None))
        self.terminal.lines(f"Wrote {path}" for path in self.written)
        self.terminal.lines(self.left_out, "bold yellow")
        for sentence in self.failures:
            self.terminal.error(sentence)
        if self.terminal.as_json:
            self.terminal.json(self._document())
        return self._code

    @property
    def _code(self) -> ExitCode:
        stability = self.result.stability
        if self.failures:
            return ExitCode.ERROR
        is_complete = self.result.complete and self.result.stopped is None
        is_whole = (is_complete or is_at_limit(self.result)) and not (stability and stability.stopped)
        return ExitCode.COMPLETE if is_whole and not self.left_out else ExitCode.STOPPED

    def _document(self) -> dict[str, Any]:
        from anypag.results.files import save_result

        result, written = self.result, list(map(str, self.written))
        run = {"exit_code": int(self._code), "complete": result.complete, "stopped": result.stopped, "r": result.r}
        told = {"n_tests": result.n_tests, "how_far": how_far(result, spelled), "what_next": what_next(result)}
        cautions = [*misfit_told(result), *result.cautions]
        doubts = {name: list(map(str, getattr(result, name))) for name in ("contradictions", "withdrawn")}
        fits = None if result.misfit is None else result.misfit.fits
        graph = {"fits": fits, "compared": result.compared, "cautions": cautions, "valid": result.valid, **doubts}
        files = {"written": written, "left_out": self.left_out, "errors": self.failures}
        return {**run, **told, **graph, **files, "result": save_result(result)}
