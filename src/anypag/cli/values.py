"""What is typed, as values: durations, lists of names, kinds of columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anypag.data.files.scan import Reading
    from anypag.data.table import Kind
    from anypag.knowledge.knowledge import Knowledge

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """A duration: 30, 30s, 5m, 2h, 1h30m, 500ms.

    >>> seconds("1h30m"), seconds("0.5")
    (5400.0, 0.5)
    """
    parts = _PART.findall(text.strip().lower())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip().lower():
        raise typer.BadParameter(f"A duration is written 30s, 5m, 2h or 1h30m; got {text!r}.")
    total = sum(float(number) * _SECONDS[unit or "s"] for number, unit in parts)
    if not 0 < total < 1e9:
        raise typer.BadParameter(f"A duration must be above 0 and below a thousand million seconds; got {text!r}.")
    return total


def names_in(texts: Iterable[str]) -> list[str]:
    """The names in lists such as `age,sex`; a name with a comma stands in double quotes.

    >>> names_in(["age,sex", '"a, b"'])
    ['age', 'sex', 'a, b']
    """
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name.strip()]


def kinds_in(texts: Iterable[str]) -> dict[str, Kind]:
    """The kinds in lists such as `age=continuous,sex=discrete`."""
    kinds: dict[str, Kind] = {}
    for item in names_in(texts):
        name, equals, kind = item.rpartition("=")
        if not equals or kind not in {"continuous", "discrete"}:
            raise typer.BadParameter(f"Write NAME=continuous or NAME=discrete; got {item!r}.", param_hint="--kinds")
        kinds[name] = kind  # type: ignore[assignment]
    return kinds


def knowledge_in(path: Path) -> Knowledge:
    """What a file says is known."""
    from anypag.knowledge.knowledge import Knowledge

    return Knowledge.read(path)


def with_tiers(known: Knowledge | None, tiers: str | None) -> Knowledge | None:
    """The knowledge of a file together with tiers such as `a b | c d`."""
    if tiers is None:
        return known
    from anypag.knowledge.io.text import tiers_of
    from anypag.knowledge.knowledge import Knowledge

    said = Knowledge.of([tiers_of(tiers, "--tiers")])
    return said if known is None else said + known


def leaves_index_out(data: Path, columns: Sequence[str], drop: Sequence[str], reading: Reading) -> bool:
    """Is a column of row numbers left out beside those that were named?"""
    from anypag.data.files.read_table import INDEX_NAMES
    from anypag.data.files.scan import glance

    first = glance(data, 1, reading).columns[0] if drop and not columns else None
    return first in INDEX_NAMES and first not in drop


def chosen_columns(
    data: Path, columns: Sequence[str], drop: Sequence[str], reading: Reading | None = None, counts: str | None = None
) -> list[str] | None:
    """The columns to use, that of counts left out; None for all of them."""
    if not columns and not drop:
        return None
    from anypag.data.files.read_table import INDEX_NAMES
    from anypag.data.files.scan import AS_USUAL, glance
    from anypag.errors import ParameterError, absent

    there = glance(data, 1, reading or AS_USUAL).columns
    unknown = [name for name in (*columns, *drop) if name not in there]
    if unknown:
        raise ParameterError(absent("column", unknown, there))
    used = there[1:] if there[0] in INDEX_NAMES else there
    chosen = [name for name in columns or used if name not in {*drop, counts}]
    if not chosen:
        raise ParameterError("No column is left: all were dropped.")
    return chosen
