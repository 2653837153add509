"""`anypag studio`: serves the studio to the user's own browser until Ctrl-C."""

from __future__ import annotations

import shlex
import signal
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from anypag.cli.exits import ExitCode, command
from anypag.cli.parameters import argument, option
from anypag.cli.terminal import Terminal

if TYPE_CHECKING:
    from anypag.studio.server import StudioServer
    from anypag.studio.session import Session


@command
def studio(
    file: Annotated[Path | None, argument(metavar="FILE", help="The table; it can be dropped on the page too.")] = None,
    no_browser: Annotated[bool, option("--no-browser", help="Only print the address, do not open a browser.")] = False,
    port: Annotated[
        int, option(metavar="N", type=click.IntRange(0, 65535), help="The port of the page; 0 for any that is free.")
    ] = 0,
) -> ExitCode:
    """Open the studio: a page in your browser where a table becomes a graph that sharpens as you watch.

    The page is served to this machine alone, under an address with a random token. Ctrl-C ends it; settings and
    steps are kept, and the same command goes on from them.
    """
    from anypag.studio.folder import home
    from anypag.studio.session import Session

    terminal, session = Terminal(), Session()
    try:
        with _server(session, port) as server:
            if file is not None:
                server.open(file)
            terminal.line(f"The studio is at {server.address}", "bold")
            terminal.line("Ctrl-C ends it; nothing is lost.")
            if not no_browser:
                # a browser of the terminal would not return before the page is served
                threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
            for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background jobs begin with SIGINT ignored
                signal.signal(number, _interrupted)
            server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        again = "anypag studio" if file is None else shlex.join(["anypag", "studio", str(file)])
        terminal.line(f"Ended. What was chosen and found is kept in {home()}; `{again}` goes on from it.")
    finally:
        session.close()
    return ExitCode.COMPLETE


def _server(session: Session, port: int) -> StudioServer:
    from anypag.errors import ParameterError
    from anypag.studio.server import StudioServer

    try:
        return StudioServer(session, port)
    except OSError as error:
        told = f"The page cannot be served on port {port}: {error.strerror}. Leave --port out for one that is free."
        raise ParameterError(told) from None


def _interrupted(number: int, frame: Any) -> None:
    raise KeyboardInterrupt
