"""The program `anypag`, the list of its commands, and `anypag studio`, which serves the studio to a browser."""

from __future__ import annotations

import atexit
import gc
import shlex
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Annotated

import click

from anypag import __version__
from anypag.cli.commands import ExitCode, command
from anypag.cli.terminal import Terminal, guarded_streams
from anypag.errors import ParameterError

HELP = "Learn what causes what from data when some causes were never measured: anytime causal discovery."
EPILOG = (
    "Exit codes: 0 complete; 1 the data or a file cannot be used, or another error; 2 an option or argument is wrong; "
    "3 stopped early with a valid result; 130 interrupted before there was any result."
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
    "studio": "main",
    "warm": "data",
}
"""For each command, the file that defines it. The file is loaded when the command is used."""
OBJECTS = 100_000
"""Garbage is collected after this many new objects. Python's default of 700 takes 5% of a short command's time."""


class Program(click.Group):
    """The program: a group of commands."""

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        home = import_module(f"anypag.cli.{COMMANDS[cmd_name]}")
        found: click.Command = getattr(home, cmd_name.replace("-", "_"))
        return found


@command()
def studio(
    file: Path | None = None, *, no_browser: bool = False, port: Annotated[int, click.IntRange(0, 65535)] = 0
) -> ExitCode:
    """Open the studio: a page in your browser that learns a graph from a table while you watch.

    The page is served to this machine alone, under an address with a random token. Ctrl-C ends the studio. Settings and
    steps are kept, and the same command continues from them.

    Args:
        file FILE: The table. A table can also be dropped on the page.
        no_browser: Only print the address, do not open a browser.
        port N: The port of the page; 0 for any free port.
    """
    import webbrowser

    from anypag.studio.folder import home
    from anypag.studio.server import StudioServer
    from anypag.studio.session import Session

    terminal = Terminal()
    with closing(Session()) as session:
        try:
            server = StudioServer(session, port)
        except OSError as error:
            told = f"The page cannot be served on port {port}: {error.strerror}. Leave --port out to use a free port."
            raise ParameterError(told) from None
        try:
            if file is not None:
                server.open(file)
            terminal.line(f"The studio is at {server.address}", "bold")
            terminal.line("Ctrl-C ends it; nothing is lost.")
            if not no_browser:
                # a browser in the terminal would wait for a page that is not served yet
                threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            again = shlex.join(["anypag", "studio", *([] if file is None else [str(file)])])
            terminal.line(f"Ended. Your settings and results are kept in {home()}; `{again}` continues from them.")
        finally:
            server.server_close()
    return ExitCode.COMPLETE


app: Program = click.version_option(__version__, message="%(prog)s %(version)s", help="Show the version and end.")(
    Program(
        commands=dict.fromkeys(COMMANDS, click.Command(None)),  # so that click can suggest names after a typo
        help=HELP,
        epilog=EPILOG,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command line. `arguments`: the words after `anypag`; by default `sys.argv[1:]`."""
    if arguments is None:  # the process runs this command only
        gc.set_threshold(OBJECTS)
        atexit.register(gc.freeze)  # without this, garbage collection at exit takes a quarter of a second
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    with guarded_streams():
        try:
            app(args=arguments, prog_name="anypag", obj=arguments)
        except SystemExit as end:
            return int(end.code or 0)
    return 0
