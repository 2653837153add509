"""`anypag`: the program and its commands."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from anypag import __version__
from anypag.cli.parameters import command_of
from anypag.cli.terminal import guarded_streams

HELP = "Learn what causes what from data when some causes were never measured: anytime causal discovery."
EPILOG = (
    "Exit codes: 0 complete; 1 the data or a file cannot be used, or another error; 2 usage; 3 stopped early with a "
    "valid result; 130 interrupted before there was any result."
)
COMMANDS = {
    "learn": "learn",
    "learn-series": "series",
    "audit": "data",
    "explain": "graphs",
    "effect": "effect",
    "show": "graphs",
    "convert": "graphs",
    "compare": "graphs",
    "simulate": "data",
    "studio": "studio",
    "warm": "warm",
}
"""The names of all commands, with the file of each, which is loaded when the command is asked for."""
OBJECTS = 100_000
"""New objects after which Python looks for garbage: 700, as usual, would cost a twentieth of a short command."""


class Program(click.Group):
    """The program: a group of commands."""

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """The command of this name, if there is one."""
        if cmd_name not in COMMANDS:
            return None
        return command_of(
            cmd_name, getattr(import_module(f"anypag.cli.{COMMANDS[cmd_name]}"), cmd_name.replace("-", "_"))
        )


app: Program = click.version_option(__version__, message="%(prog)s %(version)s", help="Show the version and end.")(
    Program(
        commands=dict.fromkeys(COMMANDS, click.Command(None)),  # for suggestions; `get_command` loads the true ones
        help=HELP,
        epilog=EPILOG,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: the words after `anypag`; by default those of the process.

    Returns:
        The exit code.
    """
    if arguments is None:  # a process of its own
        gc.set_threshold(OBJECTS)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    with guarded_streams():
        try:
            app(args=arguments, prog_name="anypag", obj=arguments)
        except SystemExit as end:
            return int(end.code or 0)
    return 0
