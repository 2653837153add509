"""The errors a user of anypag can meet.

Every message says what was wanted, what came, and where it helps what to do. All of them are `AnypagError`s, and also
the built-in exception a Python user would expect (`ValueError`, `RuntimeError`), so that `except ValueError` keeps
working.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anypag.run.result import Result


class AnypagError(Exception):
    """Something anypag was asked to do cannot be done; the message says why.

    When it happens during a search, `result` holds what had been learned up to the last finished step.
    """

    result: Result | None = None


class GraphError(AnypagError, ValueError):
    """A graph, or a text or matrix that should be one, is not what it has to be."""


class NotMaximalOrAncestralError(GraphError):
    """A mixed graph is not a maximal ancestral graph; `path` holds the names along the offending path."""

    def __init__(self, message: str, path: tuple[str, ...]) -> None:
        super().__init__(message)
        self.path = path


class CycleError(GraphError):
    """A directed graph has a cycle; `path` holds its names, the first one again at the end."""

    def __init__(self, message: str, path: tuple[str, ...]) -> None:
        super().__init__(message)
        self.path = path


class FormatError(GraphError):
    """A text or file does not hold a graph in the format it was read as."""


class ParameterError(AnypagError, ValueError):
    """An option has a value it cannot have."""


class DataError(AnypagError, ValueError):
    """The data cannot be used as they are; the message names the columns and the remedy."""


class CITestError(AnypagError, ValueError):
    """A conditional-independence test failed, answered what is no p-value, or was asked what it cannot answer.

    Where the test raised an exception of its own, that is the cause of this one (`__cause__`).
    """


class CheckpointError(AnypagError, ValueError):
    """A checkpoint cannot be written, read, or used for this run; the message says why."""


class MissingExtraError(AnypagError, ImportError):
    """A library that comes with an extra of anypag is not installed."""


def listed(names: Sequence[str], most: int = 12) -> str:
    """The names in quotes, as messages show them: the first of them if they are many."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


def absent(kind: str, unknown: Sequence[str], names: Sequence[str]) -> str:
    """The sentence for names that are not there: those that are nearly the same, else all there are.

    >>> absent("node", ["smokin"], ["smoking", "tar"])
    "There is no node 'smokin'; did you mean 'smoking'?"
    """
    there = {str(name).casefold(): name for name in names}
    near = [there[name] for name in get_close_matches(str(unknown[0]).casefold(), there, n=3, cutoff=0.7)]
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the {kind}s are {listed(names)}."
    return f"There is no {kind} {listed(unknown)}; {hint}"
