"""Arguments and options: their declarations, and their conversion to values of the library."""

from __future__ import annotations

import csv
import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import click

from anypag.choices import AMONG_NUMBERS, DECLARED, DEFAULTS, MISSING_WORDS, Choice
from anypag.cli.parameters import argument, option
from anypag.errors import Option
from anypag.graphs.marks import listed

if TYPE_CHECKING:
    from anypag.cli.exits import ExitCode
    from anypag.knowledge.knowledge import Knowledge


Json = Annotated[bool, option("--json", help="Print one JSON document instead of text.")]
_FILES = ".csv, .tsv, .txt (or .gz of these), .parquet, .arrow, .feather, .xlsx, .dta, .sav"
Data = Annotated[Path, argument(metavar="DATA", help=f"The table: {_FILES}; - is standard input.")]
DataFiles = Annotated[
    list[str],
    argument(
        metavar="DATA",
        help=f"The table: {_FILES}; - is standard input. "
        "Several data sets by their names, the observed one first: observed=a.csv drug=b.csv.",
    ),
]
ContextColumn = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        help="The column that says under which conditions (experiments, hospitals) a row was recorded.",
    ),
]
Assumptions = Annotated[
    str,
    option(
        metavar="WHICH",
        help="Of several data sets: which assumptions of Joint Causal Inference hold: 1 (nothing in the table is a "
        "cause of what tells them apart), 12 (and nothing hidden is a cause of both) or 123 (and how the experiments "
        "depend on each other is the design).",
    ),
]
ObservedSet = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="Of several data sets: the one without an intervention, with which others are compared; by default the "
        "first, or with --context that of the first row.",
    ),
]


class HowToTest(StrEnum):
    """How it is tested what experiments act on."""

    ALL = "all"
    PAIRWISE = "pairwise"


TestOfContexts = Annotated[
    HowToTest,
    option(
        metavar="WAY",
        help="Of several data sets: all rows answer what an experiment acts on, or pairwise, each set against the "
        "observed one (where sizes differ a lot).",
    ),
]
Encoding = Annotated[
    str | None, option(metavar="NAME", help="The encoding of a text file that is not UTF-8: latin-1, cp1252, ...")
]
Gaps = Annotated[
    list[str] | None,
    option(
        metavar="WORDS",
        help="Words or numbers (--gaps=-999,NA) that stand for a missing value, with commas between. By default, in "
        f"text files: {listed(MISSING_WORDS[1:])}; in columns of numbers also "
        f"{listed(tuple(word for word in AMONG_NUMBERS if word not in MISSING_WORDS))}. An empty field is always "
        "missing.",
    ),
]
NoHeader = Annotated[
    bool, option("--no-header", help="The text file begins with data, not with names: they are X0, X1, ...")
]
Sheet = Annotated[str | None, option(metavar="NAME", help="The sheet of an .xlsx file; the first by default.")]
CountsColumn = Annotated[
    str | None,
    option(
        "--counts",
        metavar="COLUMN",
        help="Each row stands for as many rows as this column says: whole numbers, as a GROUP BY counts them.",
    ),
]
WeightsColumn = Annotated[
    str | None,
    option(
        "--weights",
        metavar="COLUMN",
        help="How much of the population each row stands for: the sampling weights of a survey.",
    ),
]
Covariance = Annotated[
    int | None,
    option(
        metavar="N",
        help="DATA is the covariance or correlation matrix of N rows: a column and a row for each variable, whose "
        "names may stand in a first column; one triangle may be empty.",
    ),
]
Columns = Annotated[
    list[str] | None,
    option(
        metavar="NAMES",
        help="Use only these columns: names or patterns ('price*') with commas between; may be given again.",
    ),
]
Drop = Annotated[
    list[str] | None,
    option(
        metavar="NAMES",
        help="Leave these columns out: names or patterns ('trend_*') with commas between; may be given again.",
    ),
]


_OTHERWISE = {"selection_bias": "--no-selection-bias", "format": "--from or --to", "names": "--columns or --drop"}
"""Options whose spelling is not the choice's name with dashes."""


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


_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """A duration: 30, 30s, 5m, 2h, 1h30m, 500ms.

    >>> seconds("1h30m"), seconds("0.5")
    (5400.0, 0.5)
    """
    parts = _PART.findall(text.strip().lower())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip().lower():
        raise click.BadParameter(f"A duration is written 30s, 5m, 2h or 1h30m; got {text!r}.")
    total = sum(float(number) * _SECONDS[unit or "s"] for number, unit in parts)
    if not 0 < total < 1e9:
        raise click.BadParameter(f"A duration must be above 0 and below a thousand million seconds; got {text!r}.")
    return total


def names_in(texts: Iterable[str]) -> list[str]:
    """The names in lists such as `age,sex`; a name with a comma stands in double quotes.

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


def data_sets_in(typed: list[str]) -> dict[str, Path]:
    """The data files by the names of their data sets; a single file without a name has "".

    >>> data_sets_in(["observed=a.csv", "drug=b.csv"])["drug"].name
    'b.csv'
    """
    if len(typed) == 1 and ("=" not in typed[0] or Path(typed[0]).exists()):
        return {"": Path(typed[0])}
    pairs = [item.partition("=") for item in typed]
    wrong = [item for item, (name, equals, file) in zip(typed, pairs, strict=True) if not (name and equals and file)]
    names = [name for name, _, _ in pairs]
    if wrong or len(set(names)) < max(2, len(names)):
        got = wrong[0] if wrong else " ".join(typed)
        hint = "Several data sets have names of their own: observed=a.csv drug=b.csv"
        raise click.BadParameter(f"{hint}; got {got!r}.", param_hint="DATA")
    return {name: Path(file) for name, _, file in pairs}


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
    choice, default = DECLARED[name], DEFAULTS[name]
    members = {value.upper().replace("-", "_"): value for value in DECLARED[name].check.names}
    names = cast(type[StrEnum], StrEnum(name, members))
    kind: Any = _TYPES.get(str(choice.typed), names if default is not None else names | None)
    if choice.typed == "name" and default is not None:
        default = names(default)
    elif choice.typed == "off":
        default = False
    is_number = choice.typed == "number"
    declared = option(
        spelled(Option(name)),
        metavar=choice.metavar or ("VALUE" if is_number else None),
        help=choice.help,
        type=_number if is_number else None,
    )
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared]
    )


def _number(text: str | float) -> Any:
    """A number; any other text is passed on, so that the library's check reports it."""
    try:
        return float(text)
    except ValueError:
        return text


def _value(choice: Choice, typed: Any) -> Any:
    """A typed value as `learn` takes it."""
    if choice.typed == "off":
        return not typed
    if typed is None:
        return None
    if choice.typed == "name":
        return typed.value
    if choice.typed == "duration":
        return seconds(typed)
    if choice.typed == "knowledge":
        from anypag.knowledge.knowledge import Knowledge

        return Knowledge.read(typed)
    return (kinds_in(typed) or None) if choice.typed == "kinds" else typed
