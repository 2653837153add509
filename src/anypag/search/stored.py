"""How the fields of a state are kept in a checkpoint: declared with each field, read by `anypag.checkpoint.schema`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Size = int | Literal["n"] | None
"""A length or a bound: a number, "n" for the number of variables, None for any."""


@dataclass(frozen=True)
class Array:
    """An array of this type and shape, with numbers from `low` to below `end`."""

    dtype: str
    shape: tuple[Size, ...]
    low: int | None = None
    end: Size = None


@dataclass(frozen=True)
class MarksMatrix:
    """(n, n) marks: an edge has two, and no node has one with itself."""


@dataclass(frozen=True)
class RuleRows:
    """Marks that rules set or wanted (`anypag.graphs.orientation.Rows`)."""


@dataclass(frozen=True)
class Paths:
    """A set of paths, each a tuple of nodes."""


@dataclass(frozen=True)
class Fact:
    """A whole number, a truth value or a text; `low` is the least a number may be."""

    kind: type[int] | type[bool] | type[str]
    low: int = 0


@dataclass(frozen=True)
class Nested:
    """Another dataclass with stored fields."""

    kind: type[Any]


Stored = Array | MarksMatrix | RuleRows | Paths | Fact | Nested

SQUARE: tuple[Size, ...] = ("n", "n")


def stored(how: Stored, **options: Any) -> Any:
    """A field of a dataclass that is kept in checkpoints; without a value (None) it is left out there.

    Args:
        how: the type, shape and range that are checked when it is read.
        options: as for `dataclasses.field`.
    """
    return field(metadata={"stored": how}, **options)
