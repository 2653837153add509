"""`anypag`: the program and its commands."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from anypag.cli import data, effect, graphs, learn, series, studio
from anypag.cli.exits import ExitCode
from anypag.cli.terminal import guarded_streams

HELP = "Learn what causes what from data when some causes were never measured: anytime causal discovery."
EPILOG = (
    "Exit codes: 0 complete; 1 the data or a file cannot be used, or another error; 2 usage; 3 stopped early with a "
    "valid result; 130 interrupted before there was any result."
)

app = typer.Typer(
    name="anypag",
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _paragraphs(function: Callable[..., None]) -> str:
    """The docstring with each paragraph on one line; the terminal wraps it."""
    text = inspect.getdoc(function) or ""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


for function, name in (
    (learn.learn, "learn"),
    (series.learn_series, "learn-series"),
    (data.audit, "audit"),
    (graphs.explain, "explain"),
    (effect.effect, "effect"),
    (graphs.show, "show"),
    (graphs.convert, "convert"),
    (graphs.compare, "compare"),
    (data.simulate, "simulate"),
    (studio.studio, "studio"),
):
    app.command(name, help=_paragraphs(function))(function)


def _version(wanted: bool) -> None:
    if wanted:
        from anypag import __version__

        typer.echo(f"anypag {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Options before any command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: the words after `anypag`; by default those of the process.

    Returns:
        The exit code.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    with guarded_streams():
        try:
            app(args=arguments, prog_name="anypag", obj=arguments)
        except SystemExit as end:
            return int(end.code or 0)
    return int(ExitCode.COMPLETE)
