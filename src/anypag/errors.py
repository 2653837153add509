"""The errors that a user of anypag can meet.

A message says what was expected, what was given, and what to do. Every error is an `AnypagError`, and also the built-in
exception that a Python user expects (`ValueError`, `KeyError`, `ImportError`), so that `except ValueError` works.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from anypag.results.result import Result

_MARKED = re.compile("\0(\\[.*?\\])\0")  # an option inside a text


class Option(NamedTuple):
    """A choice that a sentence mentions: `max_r` in Python, `--max-r` on the command line."""

    name: str
    value: str | bool | tuple[str, ...] | None = None

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return f"{self.name}={self.value}"
        if isinstance(self.value, tuple):
            return f"{self.name}={json.dumps(self.value, ensure_ascii=False)}"
        return repr(self.name) if self.value is None else f'{self.name}="{self.value}"'

    def __format__(self, _: str) -> str:
        """The option inside a text, marked so that `Sentence` finds it."""
        return f"\0{json.dumps(self)}\0"


class Sentence(str):
    """A text that mentions options, written as in Python. `spelled` writes the options in another way."""

    parts: tuple[str | Option, ...]

    def __new__(cls, *parts: object) -> Self:
        pieces = [piece for part in parts for piece in ([part] if isinstance(part, Option) else _pieces(part))]
        made = super().__new__(cls, "".join(map(str, pieces)))
        made.parts = tuple(pieces)
        return made

    def spelled(self, spell: Callable[[Option], str]) -> str:
        """The text, with each option written by `spell`."""
        return "".join(spell(part) if isinstance(part, Option) else part for part in self.parts)


def _pieces(part: object) -> Iterator[str | Option]:
    """A part of a sentence, split into the options in it and the texts between them."""
    if isinstance(part, Sentence):
        yield from part.parts
        return
    for k, piece in enumerate(_MARKED.split(str(part))):
        if k % 2:
            name, value = json.loads(piece)
            yield Option(name, tuple(value) if isinstance(value, list) else value)
        elif piece:
            yield piece


class AnypagError(Exception):
    """anypag cannot do what it was asked to do; the message says why. If the error occurs during a search, `result` is
    the result after the last finished step. `sentence` is the message with its options marked: the command line writes
    `--max-r` for `max_r`.
    """

    result: Result | None = None

    @property
    def sentence(self) -> Sentence:
        return Sentence(*self.args)

    def __str__(self) -> str:
        return str(self.sentence)


class AnypagWarning(UserWarning):
    """The data or the options make the result weaker than it could be; the message says how, and what to do. Python
    shows each message once for each line of code; `warnings.simplefilter("ignore", AnypagWarning)` hides them.
    """


class GraphError(AnypagError, ValueError):
    """A graph, or a text or matrix that should be one, is not valid."""


class PathError(GraphError):
    """A graph is not valid because of a path in it; `path` holds the names along it."""

    def __init__(self, message: str, path: tuple[str, ...]) -> None:
        super().__init__(message)
        self.path = path

    def __reduce__(self) -> tuple[type[PathError], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.path)


class NotMaximalOrAncestralError(PathError):
    """A mixed graph is not a maximal ancestral graph; `path` holds the names along the offending path."""


class CycleError(PathError):
    """A directed graph has a cycle; `path` holds the names along it, with the first name repeated at the end."""


class ContradictionError(GraphError):
    """A graph, or the evidence behind it, contradicts itself, so that no effect can be computed."""


class FormatError(GraphError):
    """A text or file does not hold a graph in the format it was read as."""


class UnknownNameError(GraphError, KeyError):
    """There is no variable of this name; the message suggests a similar one."""


class ParameterError(AnypagError, ValueError):
    """An option has a value that is not allowed."""


class DataError(AnypagError, ValueError):
    """The data cannot be used as they are; the message names the columns and the remedy."""

    audit: object = None  # the `Audit` that refused the data; None if no audit did


class KnowledgeError(AnypagError, ValueError):
    """Knowledge cannot be read, contradicts itself, or mentions columns that do not exist."""


class CITestError(AnypagError, ValueError):
    """A conditional-independence test failed (`__cause__` says how), gave no p-value, or cannot answer a question."""


class CheckpointError(AnypagError, ValueError):
    """A checkpoint cannot be written, read, or used for this run; the message says why."""


class MissingExtraError(AnypagError, ImportError):
    """A library of one of anypag's extras is not installed."""


def shortened(text: str, longest: int = 80) -> str:
    """The text for messages, with its middle cut out if it is long."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def listed(names: Sequence[str], most: int = 12) -> str:
    """The names in quotes, for messages; only the first `most` of them if there are more."""
    shown = ", ".join(repr(shortened(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


def abbreviated(value: object, most: int = 60) -> str:
    """The `repr` of the value, cut after `most` characters. (`repr` fails for numbers with thousands of digits.)"""
    try:
        text = repr(value)
    except ValueError:
        text = "a very large number"
    return text if len(text) <= most else text[:most] + "…"


def matching(asked: Iterable[str], names: Sequence[str], kind: str = "column") -> list[str]:
    """The names that were asked for by name or pattern, each once. ParameterError if a name or pattern matches none."""
    there, found = frozenset(names), list[str]()
    for one in asked:
        some = [one] if one in there else [name for name in names if is_pattern(one) and fnmatchcase(name, one)]
        if not some:
            raise ParameterError(absent(kind, [one], names))
        found += some
    return list(dict.fromkeys(found))


def is_pattern(name: object) -> bool:
    """Is a name a pattern, with `*`, `?` or `[`?"""
    return isinstance(name, str) and any(sign in name for sign in "*?[")


def absent(kind: str, unknown: Sequence[str], names: Sequence[str]) -> str:
    """The message about names that do not exist. It suggests names similar to the first one, or lists known names."""
    there = {str(name).casefold(): name for name in names}
    first = str(unknown[0]).casefold()
    first, cutoff = (first.strip("*?"), 0.5) if is_pattern(first) else (first, 0.7)
    near = [there[name] for name in get_close_matches(first, there, n=3, cutoff=cutoff)]
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the {kind}s are {listed(names)}."
    return f"There is no {kind} {listed(unknown)}; {hint}"
