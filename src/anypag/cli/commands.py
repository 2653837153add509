"""Turns functions into commands. A signature declares arguments and options; errors are printed and set the exit code.

Keyword-only parameters become options, the others arguments. The help of a parameter is its entry under "Args:" in the
docstring. In `out FILE: Write the result.`, FILE is the name that the help gives to the value of `--out`.
"""

from __future__ import annotations

import inspect
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import click

from anypag.choices import DECLARED, DEFAULTS
from anypag.cli.options import SPELLINGS, TYPES, spelled, value_of
from anypag.cli.running import StoppedAtOnce, handled_by
from anypag.cli.terminal import Terminal, give_up
from anypag.errors import AnypagError, AnypagWarning, Option, ParameterError

INTERNAL = "An error in anypag itself"  # the beginning of the message of an internal error


class ExitCode(IntEnum):
    """The exit code of a command."""

    COMPLETE = 0  # complete, or complete up to --max-r
    ERROR = 1  # the data or a file cannot be used, or something else went wrong
    USAGE = 2  # an option or argument is wrong
    STOPPED = 3  # stopped early by a budget or a signal, with a valid result
    INTERRUPTED = 130  # interrupted before there was any result


def command(*choices: str) -> Callable[[Callable[..., ExitCode]], click.Command]:
    """A decorator that turns a function into a command of click.

    The command gets an option for each name in `choices` (choices of `learn`); the function gets their values as
    `typed`. A parameter whose type is a dataclass becomes one option for each field.
    """

    def decorate(function: Callable[..., ExitCode]) -> click.Command:
        def run(**given: Any) -> None:
            terminal = Terminal(as_json=given.get("as_json", False))
            terminal.quiet = given.get("quiet", False)
            _guarded(lambda: function(**_arguments(function, choices, given)), terminal)

        name, (text, _) = function.__name__.replace("_", "-"), _described(function)
        parameters = list(_parameters(function, choices))
        return click.Command(name, params=parameters, callback=run, help=text, short_help=text.split("\n")[0])

    return decorate


class _Help(NamedTuple):
    """The help of a parameter, from a docstring."""

    metavar: str | None
    help: str


def _described(documented: Any) -> tuple[str, dict[str, _Help]]:
    """The text of a docstring (each paragraph is one line, which the terminal wraps), and its entries under "Args:"."""
    text, _, listed = (inspect.getdoc(documented) or "").partition("\nArgs:\n")
    found = re.findall(r"^    (\w+)(?: (\S+))?: (.*(?:\n      .*)*)", listed, re.MULTILINE)
    entries = {name: _Help(metavar or None, " ".join(about.split())) for name, metavar, about in found}
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")), entries


def _parameters(documented: Any, choices: tuple[str, ...] = ()) -> Iterator[click.Parameter]:
    """The options and arguments that a function or a dataclass of options declares."""
    kinds, parts = get_type_hints(documented, include_extras=True), getattr(documented, "__mro__", [documented])
    entries = {name: entry for part in parts for name, entry in _described(part)[1].items()}
    for name, part in inspect.signature(documented).parameters.items():
        if name == "typed":
            yield from map(_of_choice, choices)
        elif is_dataclass(kinds[name]):
            yield from _parameters(kinds[name])
        else:
            spellings = SPELLINGS.get(name) or (f"--{name.replace('_', '-')}",)
            spellings = spellings if part.kind is part.KEYWORD_ONLY else ()
            yield _parameter(name, kinds[name], part.default, entries[name], spellings)


def _of_choice(name: str) -> click.Parameter:
    choice, default = DECLARED[name], DEFAULTS[name]
    kind = click.Choice(choice.check.names) if choice.typed == "name" else TYPES[str(choice.typed)]
    metavar = choice.metavar or ("VALUE" if choice.typed == "number" else None)
    default = False if choice.typed == "off" else default
    return _parameter(name, kind, default, _Help(metavar, choice.help), (spelled(Option(name)),))


def _parameter(name: str, kind: Any, default: Any, entry: _Help, spellings: tuple[str, ...]) -> click.Parameter:
    """An option with these spellings; an argument if there are none."""
    kind = get_args(kind)[0] if NoneType in get_args(kind) else kind
    is_list = get_origin(kind) is list
    single = get_args(kind)[0] if is_list else kind
    shared: dict[str, Any] = {"type": _type(single), "help": entry.help}
    shared |= {"required": True} if default is inspect.Parameter.empty else {"default": default}
    shared |= {"callback": lambda ctx, param, value: list(value or ()) or None} if is_list else {}
    if spellings:
        shared |= {"is_flag": single is bool, "multiple": is_list, "show_default": True, "metavar": entry.metavar}
        return click.Option([name, *spellings], **shared)
    shown = entry.metavar if "required" in shared else f"[{entry.metavar}]"
    return click.Argument([name], nargs=-1 if is_list else 1, metavar=shown, **shared)


def _type(kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if get_origin(kind) is Annotated:
        return kind.__metadata__[0]
    return click.Path(path_type=Path) if kind is Path else kind


def _arguments(declared: Any, choices: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for a command's function or for a dataclass of options, from the values of the command line."""
    kinds, values = get_type_hints(declared), dict[str, Any]()
    for name in inspect.signature(declared).parameters:
        if name == "typed":
            values[name] = {choice: value_of(DECLARED[choice], given[choice]) for choice in choices}
        elif is_dataclass(kinds[name]):
            values[name] = kinds[name](**_arguments(kinds[name], (), given))
        else:
            values[name] = given[name]
    return values


def _guarded(function: Callable[[], ExitCode], terminal: Terminal) -> None:
    """Runs the function and exits with the code that it returns. An error is printed and sets the exit code."""
    try:
        with warnings.catch_warnings(), handled_by(signal.default_int_handler):
            warnings.showwarning = partial(_show_warning, terminal, warnings.showwarning)
            code = function()
        terminal.flush()
    except (click.exceptions.Exit, click.Abort, click.BadParameter):
        raise
    except BrokenPipeError:
        give_up(sys.stdout)
        code = ExitCode.ERROR
    except (Exception, KeyboardInterrupt, StoppedAtOnce) as error:
        code, sentence = explained(error)
        terminal.error(sentence)
        try:
            if terminal.as_json:
                terminal.json({"exit_code": int(code), "error": sentence})
            sys.stdout.flush()
        except BrokenPipeError:
            give_up(sys.stdout)
    raise click.exceptions.Exit(int(code))


def _show_warning(
    terminal: Terminal, as_usual: Callable[..., None], message: Warning | str, category: type[Warning], *place: Any
) -> None:
    if issubclass(category, AnypagWarning):
        terminal.line(f"warning: {message}", "yellow")
    else:
        as_usual(message, category, *place)


def explained(error: BaseException) -> tuple[ExitCode, str]:
    """The exit code and the message for an error."""
    match error:
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED, "Interrupted before there was any result."
        case StoppedAtOnce():
            return ExitCode.INTERRUPTED, "Stopped at once; nothing more was written."
        case AnypagError():
            code = ExitCode.USAGE if isinstance(error, ParameterError) else ExitCode.ERROR
            return code, error.sentence.spelled(spelled)
        case FileNotFoundError():
            return ExitCode.ERROR, f"There is no file {error.filename}."
        case OSError():
            about = f"{error.filename}: " if error.filename else ""
            return ExitCode.ERROR, f"{about}{error.strerror or error}."
        case MemoryError():
            return ExitCode.ERROR, "There is not enough memory for this."
    about = f"{type(error).__name__}: {error}"
    return ExitCode.ERROR, f"{INTERNAL} ({about}). Please report it with the command you gave."
