"""Statements as JSON holds them, in results, checkpoints and files: `{"statements": [{"kind": "causes", ...}]}`; and
knowledge of other tools (Tetrad's files, causal-learn's objects), turned from direct edges into causes.

A required edge A --> B says that A is a direct cause of B. It becomes two statements: A is a cause of B, and the two
are joined in the PAG. A forbidden edge says that A is no *direct* cause of B. Nothing follows from that in a PAG, where
A may be a cause through unmeasured variables. Most people who forbid an edge mean that A is no cause of B at all, but
they must say so: forbidden edges are read only on request.

A file of Tetrad:

    /knowledge
    addtemporal
    1 age sex
    2 smoking
    forbiddirect
    smoking age
    requiredirect
    smoking cough

After a tier's number, `*` forbids edges within the tier, and `-` edges to any but the next; both mean direct edges.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from anypag.errors import KnowledgeError, ParameterError
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
    """The statements of a file: JSON if its name ends so, Tetrad's format if it begins so, else text."""
    text = _read(path)
    try:
        if path.suffix.casefold() == ".json":
            return from_plain(json.loads(text))
        return parse_tetrad(text) if text.lstrip().startswith("/knowledge") else parse_text(text)
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


Forbidden = Literal["refuse", "no cause"]  # how a forbidden edge is read


def required(a: str, b: str, place: str) -> list[Statement]:
    """The statements of a required edge a --> b."""
    return [PairStatement("causes", (a,), (b,), place), PairStatement("joined", (a,), (b,), place)]


def forbidden(a: str, b: str, place: str, reading: Forbidden) -> Statement:
    """The statement of a forbidden edge a --> b, read as "no cause". Raises an error unless that reading was chosen."""
    statement = PairStatement("not_causes", (a,), (b,), place)
    if reading == "no cause":
        return statement
    raise KnowledgeError(
        f"{place}: a forbidden edge {a} --> {b} says that {a} is no direct cause of {b}, and nothing follows from that "
        f"in a PAG. If {a} is no cause of {b} at all, not even through others, say `{statement}`; if that is meant by "
        "all forbidden edges here, read them in Python with forbidden='no cause'."
    )


def check_reading(reading: str) -> None:
    """Raise an error for a value other than "refuse" and "no cause"."""
    if reading not in {"refuse", "no cause"}:
        raise ParameterError(f"'forbidden' must be 'refuse' or 'no cause'; got {reading!r}.")


_SECTIONS = ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup")


def parse_tetrad(text: str, forbidden_edges: Forbidden = "refuse") -> tuple[Statement, ...]:
    """The statements of a knowledge file of Tetrad. KnowledgeError, with the line, if a PAG cannot express it."""
    check_reading(forbidden_edges)
    tiers: dict[int, tuple[str, ...]] = {}
    found: list[Statement] = []
    for section, words, place in _lines(text):
        if section == "addtemporal":
            number, mark = _tier_number(words[0], place)
            if number in tiers:
                raise KnowledgeError(f"In {place} tier {number} is given again.")
            tiers[number] = tuple(words[1:])
            if mark:
                found += _marked_tier(mark, tiers[number], place, forbidden_edges)
        else:
            names = [word for word in words if word not in {"==>", "-->"}]
            if len(names) != 2:
                raise KnowledgeError(f"In {place} ({section}) two names were wanted; got {' '.join(words)!r}.")
            a, b = names[0], names[1]
            found += required(a, b, place) if section == "requiredirect" else [forbidden(a, b, place, forbidden_edges)]
    return (*_as_tiers(tiers), *found)


def _lines(text: str) -> Iterator[tuple[str, list[str], str]]:
    """Section, words and place of every line that says something."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines or lines[0][1] != ["/knowledge"]:
        came = " ".join(lines[0][1]) if lines else "nothing"
        raise KnowledgeError(f"A knowledge file of Tetrad begins with '/knowledge'; this begins with {came!r}.")
    section = None
    for number, words in lines[1:]:
        if len(words) == 1 and words[0].casefold() in _SECTIONS:
            section = words[0].casefold()
        elif section is None:
            raise KnowledgeError(f"In line {number} one of {', '.join(_SECTIONS)} was wanted; got {' '.join(words)!r}.")
        elif section.endswith("group"):
            raise KnowledgeError(
                f"In line {number}: groups of edges ({section}) are not read; write single statements."
            )
        else:
            yield section, words, f"line {number}"


def _tier_number(word: str, place: str) -> tuple[int, str]:
    match = re.fullmatch(r"([0-9]+)([*-]*)", word)
    if match is None:
        raise KnowledgeError(f"In {place} a tier's number was wanted, as in '1 age sex'; got {word!r}.")
    return int(match[1]), match[2]


def _marked_tier(mark: str, names: tuple[str, ...], place: str, reading: Forbidden) -> list[Statement]:
    if "-" in mark:
        raise KnowledgeError(f"In {place}: '-' (direct effects on the next tier only) has no meaning in a PAG.")
    if reading == "refuse":
        raise KnowledgeError(
            f"In {place}: a '*' forbids direct edges within a tier, and nothing follows from that in a PAG. If none of "
            f"its variables causes another, say `{PairStatement('not_causes', names, names)}`, or read forbidden edges "
            "with forbidden='no cause'."
        )
    return [PairStatement("not_causes", names, names, place)] if len(names) > 1 else []


def _as_tiers(tiers: dict[int, tuple[str, ...]]) -> list[Statement]:
    filled = [tiers[number] for number in sorted(tiers) if tiers[number]]
    names = [name for tier in filled for name in tier]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise KnowledgeError(f"A variable is in one tier at most; {twice[0]!r} is in several.")
    return [Tiers(tuple(filled), "addtemporal")] if len(filled) > 1 else []


def parse_causal_learn(background: Any, forbidden_edges: Forbidden = "refuse") -> tuple[Statement, ...]:
    """The statements of a `BackgroundKnowledge`. KnowledgeError if it is no such object, or a PAG cannot express it."""
    check_reading(forbidden_edges)
    parts = ("tier_map", "required_rules_specs", "forbidden_rules_specs")
    if not all(hasattr(background, part) for part in parts):
        raise KnowledgeError(f"A BackgroundKnowledge of causal-learn was wanted; got a {type(background).__name__}.")
    for part in ("forbidden_pattern_rules_specs", "required_pattern_rules_specs"):
        if getattr(background, part, None):
            raise KnowledgeError(f"Patterns of names ({part}) are not read; name the variables.")
    found: list[Statement] = []
    for a, b in _named_pairs(background.required_rules_specs):
        found += required(a, b, "required_rules_specs")
    for a, b in _named_pairs(background.forbidden_rules_specs):
        found.append(forbidden(a, b, "forbidden_rules_specs", forbidden_edges))
    return (*_causal_learn_tiers(background, forbidden_edges), *found)


def _causal_learn_tiers(background: Any, forbidden_edges: Forbidden) -> list[Statement]:
    groups = {tier: tuple(sorted(map(_name, nodes))) for tier, nodes in background.tier_map.items() if nodes}
    filled = tuple(groups[tier] for tier in sorted(groups))
    found: list[Statement] = [Tiers(filled, "tier_map")] if len(filled) > 1 else []
    for tier in sorted(getattr(background, "forbidden_within_tiers", ())):
        if forbidden_edges == "refuse":
            raise KnowledgeError(
                f"Edges within tier {tier} are forbidden, and nothing follows from that in a PAG. If none of its "
                "variables is a cause of another, say so, or read forbidden edges with forbidden='no cause'."
            )
        if len(groups.get(tier, ())) > 1:
            found.append(PairStatement("not_causes", groups[tier], groups[tier], "forbidden_within_tiers"))
    return found


def _named_pairs(pairs: Any) -> list[tuple[str, str]]:
    return sorted((_name(a), _name(b)) for a, b in pairs)


def _name(node: Any) -> str:
    return str(node.get_name()) if hasattr(node, "get_name") else str(node)
