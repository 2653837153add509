"""From the signature of a function to a command of click: its arguments and options are declared in the annotations."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin

import click


class Declared(NamedTuple):
    """What stands in an annotation beside the type of a parameter."""

    is_argument: bool
    help: str
    metavar: str | None
    spellings: tuple[str, ...] = ()
    type: Any = None


def argument(*, metavar: str, help: str) -> Declared:
    """Declares a word that is recognised by its place."""
    return Declared(True, help, metavar)


def option(*spellings: str, help: str, metavar: str | None = None, type: Any = None) -> Declared:
    """Declares an option; it is spelled as its parameter unless spellings are given.

    Args:
        spellings: with their dashes.
        help: what it is for.
        metavar: stands for the value in the help.
        type: of click, or a function of the text, where the type of the parameter does not say enough.
    """
    return Declared(False, help, metavar, spellings, type)


def command_of(name: str, function: Callable[..., None]) -> click.Command:
    """A command that calls the function with what was typed."""
    parts = inspect.signature(function, eval_str=True).parameters.values()
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)  # the terminal wraps it
    return click.Command(
        name, params=[*map(_parameter, parts)], callback=function, help=text, short_help=text.split("\n")[0]
    )


def _parameter(part: inspect.Parameter) -> click.Parameter:
    kind, declared = get_args(part.annotation)
    kind = get_args(kind)[0] if isinstance(kind, UnionType) else kind  # the other is None
    is_list = get_origin(kind) is list
    single = get_args(kind)[0] if is_list else kind
    shared: dict[str, Any] = {"metavar": declared.metavar, "type": declared.type or _type(single)}
    shared["help"] = declared.help
    default = part.default.value if isinstance(part.default, StrEnum) else part.default
    shared |= {"required": True} if default is part.empty else {"default": default}
    shared |= {"callback": lambda ctx, param, value: list(value or ()) or None} if is_list else {}
    if declared.is_argument:
        shared |= {} if part.default is part.empty else {"metavar": f"[{declared.metavar}]"}
        return click.Argument([part.name], nargs=-1 if is_list else 1, **shared)
    spellings = declared.spellings or (f"--{part.name.replace('_', '-')}",)
    return click.Option([part.name, *spellings], is_flag=single is bool, multiple=is_list, show_default=True, **shared)


def _type(kind: Any) -> Any:
    if kind is Path:
        return click.Path(path_type=Path)
    return _Member(kind) if issubclass(kind, StrEnum) else kind


class _Member(click.Choice):  # type: ignore[type-arg]
    """A member of an enumeration, typed as its value."""

    def __init__(self, members: type[StrEnum]) -> None:
        super().__init__([str(member.value) for member in members])
        self._members = members

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self._members(super().convert(str(value), param, ctx))
