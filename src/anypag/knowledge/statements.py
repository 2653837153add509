"""The statements of knowledge, as the user wrote them (by names), and the outcome of each.

`place` says where a statement was written, for messages: "line 2", or "causes[0]" for an argument of `Knowledge`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from anypag.graphs.marks import Mark
from anypag.graphs.text import quote

Side = tuple[str, ...] | None  # the variables on one side of a statement; None means all (`*`)
PairKind = Literal["causes", "not_causes", "joined", "not_joined", "unconfounded"]
SIGNS: dict[PairKind, str] = {  # how the statements about two variables are written
    "causes": "~>",
    "not_causes": "!~>",
    "joined": "*-*",
    "not_joined": "!*-*",
    "unconfounded": "!<->",
}
SYMMETRIC = frozenset({"joined", "not_joined", "unconfounded"})
SELECTION = "selection"  # the word that stands for being in the sample
_RESERVED = frozenset({SELECTION, "|", "*", "tiers:", "within", *SIGNS.values()})


@dataclass(frozen=True)
class Tiers:
    """`tiers: a b | c d`: no variable is a cause of a variable in an earlier tier."""

    tiers: tuple[tuple[str, ...], ...]
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return "tiers: " + " | ".join(" ".join(map(written, tier)) for tier in self.tiers)


@dataclass(frozen=True)
class NoCausesWithinTiers:
    """`within tiers: no causes`: no variable is a cause of another variable in its tier."""

    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return "within tiers: no causes"


@dataclass(frozen=True)
class SelectionBefore:
    """`selection before tier 2`: the sample was selected before anything in that tier or a later one happened."""

    tier: int
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"selection before tier {self.tier}"


@dataclass(frozen=True)
class NotSelecting:
    """`a !~> selection`: a is no cause of being in the sample."""

    names: Side
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{_side(self.names)} !~> {SELECTION}"


@dataclass(frozen=True)
class PairStatement:
    """`{a, b} ~> c` and the like: a statement about every pair of a left and a right variable."""

    kind: PairKind
    left: Side
    right: Side
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{_side(self.left)} {SIGNS[self.kind]} {_side(self.right)}"


@dataclass(frozen=True)
class Contexts:
    """`contexts 123: drug dose`: columns that say under which conditions a row was recorded. `assumptions` has a digit
    for each assumption of Joint Causal Inference (Mooij, Magliacane & Claassen 2020) that holds. 1: only contexts can
    be causes of a context. 2: no context has a hidden cause in common with a variable that is no context. 3: contexts
    are joined by the design, and no context is a cause of another.
    """

    names: tuple[str, ...]
    assumptions: str = "123"
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"contexts {self.assumptions}: {' '.join(map(written, self.names))}"


AboutTiers = NoCausesWithinTiers | SelectionBefore  # statements that need tiers
ASSUMPTIONS = ("1", "12", "123")  # which assumptions may be made about contexts

Statement = Tiers | NoCausesWithinTiers | SelectionBefore | NotSelecting | PairStatement | Contexts


def with_names(statement: Statement, change: Callable[[Iterable[str]], tuple[str, ...]]) -> Statement:
    """The statement with each list of its names changed; `*` stays."""
    match statement:
        case Tiers(tiers):
            return replace(statement, tiers=tuple(map(change, tiers)))
        case NotSelecting(names) | Contexts(names):
            return statement if names is None else replace(statement, names=change(names))
        case PairStatement():
            left, right = (None if side is None else change(side) for side in (statement.left, statement.right))
            return replace(statement, left=left, right=right)
    return statement


def names_in(statement: Statement) -> tuple[str, ...]:
    """The variables that a statement names; () for `Tiers` and for statements that need tiers."""
    match statement:
        case PairStatement(_, left, right):
            return (*(left or ()), *(right or ()))
        case NotSelecting(names) | Contexts(names):
            return names or ()
    return ()


def is_sign(token: str) -> bool:
    """Does a word look like a sign of a statement, or like an edge?"""
    return re.fullmatch(r"[!<>~*/o-]*[~>-][!<>~*/o-]*", token) is not None


def written(name: str) -> str:
    """The name as written in a statement: bare if it can be read back, else in double quotes."""
    is_plain = quote(name) == name and not set(name) & set("{},#|") and name not in _RESERVED and not is_sign(name)
    return name if is_plain and not name.endswith(":") else json.dumps(name, ensure_ascii=False)


def named(statement: Statement) -> str:
    """The statement in backquotes, and where it was written; for messages."""
    return _placed(f"`{statement}`", statement.place)


def _placed(said: str, place: str) -> str:
    return f"{said} ({place})" if place else said


def _side(names: Side) -> str:
    if names is None:
        return "*"
    return written(names[0]) if len(names) == 1 else "{" + ", ".join(map(written, names)) + "}"


@dataclass(frozen=True)
class KnownMark:
    """A mark that follows from statements: `mark` at `at` on the edge between `at` and `other`."""

    at: str
    other: str
    mark: Mark

    def __str__(self) -> str:
        kind = "a tail" if self.mark == Mark.TAIL else "an arrowhead"
        return f"{kind} at {self.at} towards {self.other}"


@dataclass(frozen=True)
class Outcome:
    """A statement and its outcome.

    `became` is "used" (`marks` depend on it, or `why` says what else it did), "implied" (the data alone show it),
    "contradicted" (by the data; the graph obeys the statement) or "not usable". `why` gives the reason in a sentence.
    """

    statement: str
    place: str
    became: Literal["used", "implied", "contradicted", "not usable"]
    marks: tuple[KnownMark, ...] = ()
    why: str = ""

    @property
    def in_words(self) -> str:
        """The outcome in words: "used", "implied by the data anyway", "contradicted" or "not usable"."""
        return "implied by the data anyway" if self.became == "implied" else self.became

    def __str__(self) -> str:
        told = "; ".join(filter(None, [", ".join(map(str, self.marks)), self.why]))
        return f"{_placed(self.statement, self.place)}: {self.in_words}" + (f": {told}" if told else "")
