"""Estimates of an effect: numbers with their intervals, and their text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from anypag.data.table import Table
from anypag.errors import Option
from anypag.graphs.text import quote

Model = Literal["linear", "tables", "mixed"]
Level = str | float
EstimateModel = Model | Literal["partially linear", "doubly robust"]  # the last two are estimates by a learner

NOT_WEIGHTED = (
    f"Rows are weighted here. {Option('learner')}, {Option('by')} and {Option('cluster')} cannot use weights: leave "
    f"these options out. Draws from tables of levels cannot either: search by tests ({Option('method', 'icd')})."
)


@dataclass(frozen=True)
class Probability:
    """One line of an estimated table: P(outcome | do, given), with its interval; NaN if no row has these levels."""

    do: dict[str, Level]
    given: dict[str, Level]
    outcome: dict[str, Level]
    value: float
    low: float
    high: float

    @property
    def label(self) -> str:
        outcome, cause, given = (levels_told(part.items()) for part in (self.outcome, self.do, self.given))
        behind = ", ".join(([f"do({cause})"] if cause else []) + ([given] if given else []))
        return f"P({outcome} | {behind})"


@dataclass(frozen=True)
class MeanChange:
    """The change of the outcome's mean if the cause is set one unit higher or to another level, with its interval."""

    cause: str
    outcome: str
    value: float
    low: float
    high: float
    level: Level | None = None  # a discrete cause is set to this level
    against: Level | None = None  # in place of this one
    where: str = ""  # the group of rows that the change is about, in words; empty for all rows

    @property
    def label(self) -> str:
        cause, outcome = quote(self.cause), quote(self.outcome)
        of = f"{outcome} per unit of {cause}"
        if self.level is not None and self.against is not None:
            of = f"{outcome}, {cause} = {shown(self.level)} against {shown(self.against)}"
        return f"{of}, {self.where}" if self.where else of


Entries = tuple[MeanChange | Probability, ...]


@dataclass(frozen=True)
class Estimate:
    """Numbers for an effect."""

    model: EstimateModel
    entries: Entries  # one line per cause and outcome, or per combination of levels
    n: int  # the number of rows behind the numbers
    level: float  # the confidence level: the share of intervals that cover the truth (0.95, say)
    notes: tuple[str, ...]  # sentences about limits of the numbers

    @property
    def is_single(self) -> bool:
        return self.model != "tables" and len(self.entries) == 1

    def lines(self) -> list[str]:
        """A line for each estimate; if there are several, a last line with the number of rows."""
        rows, lines, is_one = f"n = {self.n:,}", list[str](), len(self.entries) == 1
        for entry in self.entries:
            interval = f"{self.level:.0%} interval {number(entry.low, 4)} to {number(entry.high, 4)}"
            told = ", ".join(([] if math.isnan(entry.low) else [interval]) + ([rows] if is_one else []))
            lines.append(f"{entry.label}: {number(entry.value, 4)}{told and f' ({told})'}")
        return lines if is_one else [*lines, rows]


def number(value: float, digits: int = 3) -> str:
    """A number for people: few digits, commas between thousands, no exponent between 0.0001 and ten million.

    >>> number(1694.2), number(-0.00312), number(0.5), number(12_345.6, 4), number(3e-9), number(0)
    ('1,690', '-0.00312', '0.5', '12,350', '3e-09', '0')
    """
    rounded = float(f"{value:.{digits}g}")
    if not 1e-4 <= abs(rounded) < 1e7:
        return f"{rounded:g}"
    is_large = abs(rounded) >= 10 ** (digits - 1)
    return f"{rounded:,.0f}" if is_large else f"{rounded:.{digits + 3}f}".rstrip("0").rstrip(".")


def shown(level: Level | tuple[Level, ...]) -> str:
    """A level, or several levels, as text."""
    if isinstance(level, tuple):
        return ", ".join(map(shown, level))
    return level if isinstance(level, str) else f"{level:g}"


def levels_told(levels: Iterable[tuple[str, Level]]) -> str:
    """Variables, each with a level, in words."""
    return ", ".join(f"{quote(name)} = {shown(level)}" for name, level in levels)


def levels_of(part: Table, name: str) -> list[Level]:
    """The levels of a column, in the order of their codes."""
    place = part.names.index(name)
    values, labels = np.unique(part.values[:, place]), part.labels[place]
    return [labels[int(value)] if labels else float(value) for value in values]
