"""Knowledge from other tools (Tetrad's files, causal-learn's objects), turned from direct edges into causes.

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

import re
from collections.abc import Iterator
from typing import Any, Literal

from anypag.errors import KnowledgeError, ParameterError
from anypag.knowledge.statements import PairStatement, Statement, Tiers

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
