"""The choices of a search as options: made from their declarations, so that the command line has them all.

A command with a parameter `typed: Typed` gets one option for every choice that can be typed; what came stands in
`typed` by the names that `learn` uses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from anypag.choices import DECLARED, Choice, default_of
from anypag.cli.outcome import ExitCode
from anypag.cli.spelling import spelled
from anypag.cli.values import kinds_in, knowledge_in, seconds
from anypag.errors import Option

Typed = Mapping[str, Any]

_TYPES: dict[str, Any] = {
    "number": float,
    "count": int | None,
    "duration": str | None,
    "kinds": list[str] | None,
    "flag": bool,
    "off": bool,
    "file": Path | None,
    "knowledge": Path | None,
}


def names_to_choose(name: str) -> type[StrEnum]:
    """The names that a choice may have, for an option of it."""
    members = {value.upper().replace("-", "_"): value for value in DECLARED[name].check.names}
    return cast(type[StrEnum], StrEnum(name, members))


TYPED = tuple(name for name, choice in DECLARED.items() if choice.typed)
"""The choices that can be typed."""


def with_choices(*names: str) -> Callable[[Callable[..., ExitCode]], Callable[..., ExitCode]]:
    """A command with its parameter `typed` replaced by one option for each of these choices."""

    def decorate(function: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
        signature = inspect.signature(function, eval_str=True)
        parameters = [part for part in signature.parameters.values() if part.name != "typed"]
        arguments = [part for part in parameters if part.default is part.empty]
        rest = [part.replace(kind=part.KEYWORD_ONLY) for part in parameters if part.default is not part.empty]

        @wraps(function)
        def command(**arguments: Any) -> ExitCode:
            typed = {name: _value(DECLARED[name], arguments.pop(name)) for name in names}
            return function(**arguments, typed=typed)

        made = signature.replace(parameters=[*arguments, *map(_parameter, names), *rest])
        command.__signature__ = made  # type: ignore[attr-defined]
        return command

    return decorate


def _parameter(name: str) -> inspect.Parameter:
    choice, default = DECLARED[name], default_of(name)
    names = names_to_choose(name)
    kind: Any = _TYPES.get(str(choice.typed), names if default is not None else names | None)
    if choice.typed == "name" and default is not None:
        default = names(default)
    elif choice.typed == "off":
        default = False
    is_number = choice.typed == "number"
    option = typer.Option(
        spelled(Option(name)),
        metavar=choice.metavar or ("VALUE" if is_number else None),
        help=choice.help,
        parser=_number if is_number else None,
    )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _number(text: str | float) -> Any:
    """A number; what is none goes on as it is, to be refused in the same words as in Python."""
    try:
        return float(text)
    except ValueError:
        return text


def _value(choice: Choice, typed: Any) -> Any:
    """What came from the command line, as `learn` takes it."""
    if choice.typed == "off":
        return not typed
    if typed is None:
        return None
    if choice.typed == "name":
        return typed.value
    if choice.typed == "duration":
        return seconds(typed)
    if choice.typed == "knowledge":
        return knowledge_in(typed)
    return (kinds_in(typed) or None) if choice.typed == "kinds" else typed
