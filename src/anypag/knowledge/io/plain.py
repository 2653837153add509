"""Statements as JSON holds them, in results, checkpoints and files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from anypag.errors import KnowledgeError
from anypag.knowledge.statements import (
    Kind,
    NoCausesWithinTiers,
    NotSelecting,
    Pairs,
    SelectionBefore,
    Side,
    Statement,
    Tiers,
)


def to_plain(statements: Iterable[Statement]) -> dict[str, Any]:
    """The statements, one object each; `"*"` stands for all variables."""
    return {"statements": [_plain(statement) for statement in statements]}


def _plain(statement: Statement) -> dict[str, Any]:
    match statement:
        case Tiers(tiers):
            return {"kind": "tiers", "tiers": [list(tier) for tier in tiers]}
        case NoCausesWithinTiers():
            return {"kind": "no_causes_within_tiers"}
        case SelectionBefore(tier):
            return {"kind": "selection_before_tier", "tier": tier}
        case NotSelecting(names):
            return {"kind": "not_selecting", "names": _plain_side(names)}
        case Pairs(kind, left, right):
            return {"kind": kind, "left": _plain_side(left), "right": _plain_side(right)}


def _plain_side(side: Side) -> list[str] | str:
    return "*" if side is None else list(side)


def from_plain(plain: Any) -> tuple[Statement, ...]:
    """The statements that `to_plain` wrote; anything else is refused in a sentence."""
    if not isinstance(plain, dict) or not isinstance(plain.get("statements"), list):
        raise KnowledgeError(f'Knowledge as JSON is {{"statements": [...]}}; got {_shown(plain)}.')
    return tuple(_statement(item, f"statement {k}") for k, item in enumerate(plain["statements"], 1))


def _statement(item: Any, place: str) -> Statement:
    kind: Any = item.get("kind") if isinstance(item, dict) else None
    if kind in get_args(Kind):
        return Pairs(kind, _side(item, "left", place), _side(item, "right", place), place)
    if kind == "not_selecting":
        return NotSelecting(_side(item, "names", place), place)
    if kind == "tiers":
        return _tiers(item, place)
    if kind == "no_causes_within_tiers":
        return NoCausesWithinTiers(place)
    if kind == "selection_before_tier":
        tier = item.get("tier")
        if isinstance(tier, bool) or not isinstance(tier, int):
            raise KnowledgeError(f"In {place} 'tier' must be a number; got {_shown(tier)}.")
        return SelectionBefore(tier, place)
    kinds = ["tiers", "no_causes_within_tiers", "selection_before_tier", "not_selecting", *get_args(Kind)]
    raise KnowledgeError(f"In {place} 'kind' must be one of {', '.join(kinds)}; got {_shown(item)}.")


def _tiers(item: dict[str, Any], place: str) -> Tiers:
    tiers = item.get("tiers")
    if not isinstance(tiers, list) or len(tiers) < 2 or not all(_are_names(tier) for tier in tiers):
        raise KnowledgeError(f"In {place} 'tiers' must be two or more lists of names; got {_shown(tiers)}.")
    names = [name for tier in tiers for name in tier]
    if len(set(names)) < len(names):
        raise KnowledgeError(f"In {place} a variable is in more than one tier; got {_shown(tiers)}.")
    return Tiers(tuple(tuple(tier) for tier in tiers), place)


def _side(item: dict[str, Any], key: str, place: str) -> Side:
    names: Any = item.get(key)
    if names == "*":
        return None
    if not _are_names(names):
        raise KnowledgeError(f'In {place} {key!r} must be a list of names or "*"; got {_shown(names)}.')
    return tuple(names)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
