"""Options that several commands share, and the conversion of typed texts to the values that the library takes."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from anypag.choices import DECLARED, Choice
from anypag.errors import Option, ParameterError

if TYPE_CHECKING:
    from anypag.knowledge.knowledge import Knowledge

Typed = Mapping[str, Any]  # the values of choices, by their names
TYPED = tuple(name for name, choice in DECLARED.items() if choice.typed)
SPELLINGS = {"as_json": ("--json",), "quiet": ("--quiet", "-q"), "read_as": ("--from",), "write_as": ("--to",)}
"""Parameters of commands whose options are not spelled like the parameter."""
_OTHERWISE = {"selection_bias": "--no-selection-bias", "format": "--from or --to", "names": "--columns or --drop"}
"""Arguments in Python whose options have other names."""
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min|m|h|d)?")  # of a duration: a number and its unit
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Which columns are used.

    Args:
        columns NAMES: Use only these columns: names or patterns ('price*') with commas between; may be repeated.
        drop NAMES: Leave these columns out: names or patterns ('trend_*') with commas between; may be repeated.
    """

    columns: list[str] | None = None
    drop: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a file is read.

    Args:
        encoding NAME: The encoding of a text file that is not UTF-8: latin-1, cp1252, ...
        gaps WORDS: Words or numbers (--gaps=-999,NA) that stand for a missing value, with commas between. By default,
            in text files: NA, N/A, NaN, nan, null, NULL and None; in columns of numbers also #N/A, na, Na, n/a, N/a,
            NAN, Nan, Null, none and NONE. An empty field is always missing.
        no_header: The text file begins with data, not with names. The columns are named X0, X1, ...
        sheet NAME: The sheet of an .xlsx file; the first by default.
    """

    encoding: str | None = None
    gaps: list[str] | None = None
    no_header: bool = False
    sheet: str | None = None

    def said(self) -> dict[str, Any]:
        """The options that were given, by the names of the fields of `Reading`."""
        said = {name: value for name, value in vars(self).items() if value is not None}
        if self.gaps is not None:
            said["gaps"] = ("", *names_in(self.gaps))
        if said.pop("no_header"):
            said["header"] = False
        return said


@dataclass(frozen=True, kw_only=True)
class RowOptions(FileOptions):
    """How a file is read, and how many rows each of its rows stands for.

    Args:
        counts COLUMN: The column with the number of rows that each row stands for, as in the result of a GROUP BY.
        weights COLUMN: The column with the sampling weight of each row, as in a survey.
    """

    counts: str | None = None
    weights: str | None = None

    def said(self) -> dict[str, Any]:
        if self.counts is not None and self.weights is not None:
            told = "A row has counts (--counts) or weights (--weights), not both."
            raise ParameterError(f"{told} Leave one of the two out.")
        return super().said()


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """Options for several data sets.

    Args:
        context COLUMN: The column that says under which conditions (experiments, hospitals) a row was recorded.
        observed NAME: For several data sets: the set without an intervention, with which the others are compared. By
            default the first set, or with --context the set of the first row.
        assumptions WHICH: For several data sets: the assumptions of Joint Causal Inference about contexts, the columns
            that tell the sets apart. 1: no variable causes a context. 12: also, nothing hidden causes both a context
            and a variable. 123: also, contexts depend on each other only by design.
        contexts_test WAY: For several data sets: the rows that are used to find out which variables an experiment acts
            on. all: the rows of all sets. pairwise: the rows of the experiment's own set and of the observed set, for
            sets of very different sizes.
    """

    context: str | None = None
    observed: str | None = None
    assumptions: str = "123"
    contexts_test: Literal["all", "pairwise"] = "all"

    def require_none(self) -> None:
        """Raise ParameterError if an option for several data sets was given for a single data set."""
        for name in ("observed", "assumptions", "contexts_test"):
            if getattr(self, name) != getattr(type(self), name):
                raise ParameterError(Option(name), " goes with several data sets: name=file for each, or --context.")


def spelled(choice: Option) -> str:
    """An option as it is typed: `--missing drop` where Python has missing="drop".

    >>> spelled(Option("max_r")), spelled(Option("missing", "drop")), spelled(Option("selection_bias", False))
    ('--max-r', '--missing drop', '--no-selection-bias')
    >>> spelled(Option("gaps", ("-999",))), spelled(Option("gaps", ("?", "not available")))
    ('--gaps=-999', "--gaps='?,not available'")
    """
    name = _OTHERWISE.get(choice.name, f"--{choice.name.replace('_', '-')}")
    if isinstance(choice.value, tuple):
        return f"{name}={shlex.quote(','.join(choice.value))}"
    return f"{name} {choice.value}" if isinstance(choice.value, str) else name


def seconds(text: str) -> float:
    """The seconds in a duration such as 30, 30s, 5m, 2h, 1h30m or 500ms.

    >>> seconds("1h30m"), seconds("0.5")
    (5400.0, 0.5)
    """
    parts = _PART.findall(text.strip().lower())
    if not parts or "".join(map("".join, parts)) != text.strip().lower():
        raise click.BadParameter(f"A duration is written 30s, 5m, 2h or 1h30m; got {text!r}.")
    total = sum(float(number) * _SECONDS[unit or "s"] for number, unit in parts)
    if not 0 < total < 1e9:
        raise click.BadParameter(f"A duration must be above 0 and below 1,000,000,000 seconds; got {text!r}.")
    return total


def names_in(texts: Iterable[str]) -> list[str]:
    """The names in lists such as `age,sex`. A name with a comma must be in double quotes.

    >>> names_in(["age,sex", '"a, b"'])
    ['age', 'sex', 'a, b']
    """
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip()]


def kinds_in(texts: Iterable[str]) -> dict[str, str]:
    """The kinds in lists such as `age=continuous,sex=discrete`."""
    kinds: dict[str, str] = {}
    for item in names_in(texts):
        name, equals, kind = item.rpartition("=")
        if not equals or (kind not in {"continuous", "discrete", "ordinal"} and "<" not in kind):
            wanted = "Write NAME=continuous, NAME=discrete, NAME=ordinal or 'NAME=low < high'"
            raise click.BadParameter(f"{wanted}; got {item!r}.", param_hint="--kinds")
        kinds[name] = kind
    return kinds


def with_tiers(known: Knowledge | None, tiers: str | None) -> Knowledge | None:
    """The knowledge of a file together with tiers such as `a b | c d`."""
    if tiers is None:
        return known
    from anypag.knowledge.knowledge import Knowledge
    from anypag.knowledge.text import tiers_of

    said = Knowledge.of([tiers_of(tiers, "--tiers")])
    return said if known is None else said + known


def _number(text: str | float) -> Any:
    """A number; any other text is passed on, so that the library's check reports it."""
    try:
        return float(text)
    except ValueError:
        return text


TYPES: dict[str, Any] = {"number": _number, "count": int, "duration": str, "kinds": list[str]}
TYPES |= {"flag": bool, "off": bool, "file": Path, "knowledge": Path}
"""The click type of an option, by the field `typed` of its choice."""


def value_of(choice: Choice, typed: Any) -> Any:
    """A typed value, converted to the value that `learn` takes."""
    if choice.typed == "off":
        return not typed
    if typed is None:
        return None
    if choice.typed == "duration":
        return seconds(typed)
    if choice.typed == "knowledge":
        from anypag.knowledge.knowledge import Knowledge

        return Knowledge.read(typed)
    return (kinds_in(typed) or None) if choice.typed == "kinds" else typed
