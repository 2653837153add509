"""Exit codes, and error messages instead of tracebacks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from typing import ParamSpec

import click

from anypag.cli.options import spelled
from anypag.cli.running import StoppedAtOnce
from anypag.cli.terminal import Terminal, give_up

Parameters = ParamSpec("Parameters")


class ExitCode(IntEnum):
    """The exit code of a command."""

    COMPLETE = 0  # complete, or complete up to --max-r
    ERROR = 1  # the data or a file cannot be used, or something else went wrong
    USAGE = 2  # an option or argument is wrong
    STOPPED = 3  # stopped early by a budget or a signal, with a valid result
    INTERRUPTED = 130  # interrupted before there was any result


def command(function: Callable[Parameters, ExitCode]) -> Callable[Parameters, None]:
    """Turns a function into a command: its return value becomes the exit code, and errors become sentences."""

    @wraps(function)
    def guarded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        terminal = Terminal()
        try:
            code = function(*args, **kwargs)
            terminal.flush()
        except (click.exceptions.Exit, click.Abort, click.BadParameter):
            raise
        except BrokenPipeError:
            give_up(sys.stdout)
            code = ExitCode.ERROR
        except (Exception, KeyboardInterrupt, StoppedAtOnce) as error:
            code, sentence = explained(error)
            terminal.error(sentence)
            document = {"exit_code": int(code), "error": sentence} if kwargs.get("as_json") else None
            _end_output(terminal, document)
        raise click.exceptions.Exit(int(code))

    return guarded


def _end_output(terminal: Terminal, document: dict[str, object] | None) -> None:
    """Flush the output before an error, and write the JSON document; the stream may be closed."""
    try:
        if document is not None:
            terminal.json(document)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up(sys.stdout)


def explained(error: BaseException) -> tuple[ExitCode, str]:
    """The exit code and the sentence for what went wrong."""
    from anypag.errors import AnypagError, ParameterError

    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED, "Interrupted before there was any result."
    if isinstance(error, StoppedAtOnce):
        return ExitCode.INTERRUPTED, "Stopped at once; nothing more was written."
    if isinstance(error, ParameterError):
        return ExitCode.USAGE, error.sentence.spelled(spelled)
    if isinstance(error, AnypagError):
        return ExitCode.ERROR, error.sentence.spelled(spelled)
    if isinstance(error, FileNotFoundError):
        return ExitCode.ERROR, f"There is no file {error.filename}."
    if isinstance(error, OSError):
        about = f"{error.filename}: " if error.filename else ""
        return ExitCode.ERROR, f"{about}{error.strerror or error}."
    if isinstance(error, MemoryError):
        return ExitCode.ERROR, "There is not enough memory for this."
    return ExitCode.ERROR, f"{INTERNAL} ({type(error).__name__}: {error}). Please report it with the command you gave."


INTERNAL = "An error in anypag itself"  # the first words about an internal error
