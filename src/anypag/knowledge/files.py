"""Statements as JSON holds them, in results, checkpoints and files: `{"statements": [{"kind": "causes", ...}]}`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from anypag.errors import KnowledgeError
from anypag.knowledge.statements import (
    ASSUMPTIONS,
    Contexts,
    NoCausesWithinTiers,
    NotSelecting,
    PairKind,
    PairStatement,
    SelectionBefore,
    Side,
    Statement,
    Tiers,
)
from anypag.knowledge.text import parse_text
from anypag.stored import Form, ListOf, Object, RefusedError, Text, Variables, Whole, object_of, refuse_unless


@dataclass(frozen=True)
class Names(Form):
    """One side of a statement: a list of names, or "*" for all variables (None in memory)."""

    def write(self, value: Side, variables: Variables) -> list[str] | str:
        return "*" if value is None else list(value)

    def read(self, plain: Any, variables: Variables) -> Side:
        if plain == "*":
            return None
        is_list = isinstance(plain, list) and bool(plain) and all(isinstance(name, str) for name in plain)
        refuse_unless(is_list, 'a list of names, or "*"', plain)
        return tuple(plain)


FORMS: dict[str, Object] = {
    "tiers": object_of(Tiers, "place", tiers=ListOf(ListOf(Text(), 1), 2)),
    "no_causes_within_tiers": object_of(NoCausesWithinTiers, "place"),
    "selection_before_tier": object_of(SelectionBefore, "place", tier=Whole(-(2**31), 2**31)),
    "not_selecting": object_of(NotSelecting, "place", names=Names()),
    "contexts": object_of(Contexts, "place", names=ListOf(Text(), 1), assumptions=Text(ASSUMPTIONS)),
    **{
        kind: object_of(PairStatement, "place", kind=Text((kind,)), left=Names(), right=Names())
        for kind in get_args(PairKind)
    },
}
"""The form of each statement, by its kind."""
_KINDS = {
    Tiers: "tiers",
    NoCausesWithinTiers: "no_causes_within_tiers",
    SelectionBefore: "selection_before_tier",
    Contexts: "contexts",
}
_NOBODY = Variables(())


@dataclass(frozen=True)
class StatementForm(Form):
    """A statement: an object whose "kind" says which of the forms it has."""

    def write(self, value: Statement, variables: Variables) -> dict[str, Any]:
        kind = value.kind if isinstance(value, PairStatement) else _KINDS.get(type(value), "not_selecting")
        return {"kind": kind, **FORMS[kind].write(value, variables)}

    def read(self, plain: Any, variables: Variables) -> Statement:
        kind: Any = plain.get("kind") if isinstance(plain, dict) else None
        wanted = f"an object whose 'kind' is one of {', '.join(FORMS)}"
        refuse_unless(isinstance(kind, str) and kind in FORMS, wanted, plain)
        said = plain if "kind" in FORMS[kind].forms else {name: item for name, item in plain.items() if name != "kind"}
        statement: Statement = FORMS[kind].read(said, variables)
        if isinstance(statement, Tiers):
            names = [name for tier in statement.tiers for name in tier]
            refuse_unless(len(set(names)) == len(names), "every variable in one tier only", plain["tiers"])
        return statement


def to_plain(statements: Iterable[Statement]) -> dict[str, Any]:
    """The statements, one object each; `"*"` means all variables."""
    return {"statements": ListOf(StatementForm()).write(statements, _NOBODY)}


def from_plain(plain: Any) -> tuple[Statement, ...]:
    """The statements that `to_plain` wrote. KnowledgeError if it is something else."""
    if not isinstance(plain, dict) or not isinstance(plain.get("statements"), list):
        raise KnowledgeError(f'Knowledge as JSON is {{"statements": [...]}}; got {plain!s:.80}.')
    return tuple(_statement(item, f"statement {k}") for k, item in enumerate(plain["statements"], 1))


def _statement(item: Any, place: str) -> Statement:
    try:
        statement: Statement = StatementForm().read(item, _NOBODY)
    except RefusedError as error:
        raise KnowledgeError(f"In {place}: {error}.") from None
    return replace(statement, place=place)


def read_statements(path: Path) -> tuple[Statement, ...]:
    """The statements of a file: JSON if its name ends so, else text."""
    text = _read(path)
    try:
        if path.suffix.casefold() == ".json":
            return from_plain(json.loads(text))
        return parse_text(text)
    except KnowledgeError as error:
        raise KnowledgeError(f"{path}: {error}") from None
    except ValueError as error:
        raise KnowledgeError(f"{path}: This is no JSON: {error}.") from None
    except RecursionError:
        raise KnowledgeError(f"{path}: This is no JSON that can be read: it is nested too deeply.") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise KnowledgeError(f"The knowledge file {str(path)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise KnowledgeError(
            f"The knowledge file {str(path)!r} is no UTF-8 text (byte {error.start} cannot be read)."
        ) from None
