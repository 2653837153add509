"""Tetrad's knowledge files: tiers and required edges are taken over, forbidden ones only on request.

    /knowledge
    addtemporal
    1 age sex
    2 smoking
    forbiddirect
    smoking age
    requiredirect
    smoking cough

A `*` behind a tier's number forbids edges within it, a `-` edges to any but the next tier; both speak of direct edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anypag.errors import KnowledgeError
from anypag.knowledge.edges import Forbidden, check_reading, forbidden, required
from anypag.knowledge.statements import Pairs, Statement, Tiers

_SECTIONS = ("addtemporal", "forbiddirect", "requiredirect", "forbiddengroup", "requiredgroup")


def parse_tetrad(text: str, forbidden_edges: Forbidden = "refuse") -> tuple[Statement, ...]:
    """The statements of a file.

    Raises:
        KnowledgeError: with the number of a line that cannot be read, or that says what a PAG cannot hold.
    """
    check_reading(forbidden_edges)
    tiers: dict[int, tuple[str, ...]] = {}
    found: list[Statement] = []
    for section, words, place in _lines(text):
        if section == "addtemporal":
            number, mark = _tier_number(words[0], place)
            if number in tiers:
                raise KnowledgeError(f"In {place} tier {number} stands a second time.")
            tiers[number] = tuple(words[1:])
            if mark:
                found += _marked_tier(mark, tiers[number], place, forbidden_edges)
        else:
            a, b = _two(words, section, place)
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
        raise KnowledgeError(f"In {place}: that a tier has direct effects only on the next one says nothing in a PAG.")
    if reading == "refuse":
        raise KnowledgeError(
            f"In {place}: a '*' forbids direct edges within a tier, and nothing follows from that in a PAG. If none of "
            f"these is a cause of another, say `{Pairs('not_causes', names, names)}`, or read forbidden edges with "
            "forbidden='no cause'."
        )
    return [Pairs("not_causes", names, names, place)] if len(names) > 1 else []


def _two(words: list[str], section: str, place: str) -> tuple[str, str]:
    names = [word for word in words if word not in {"==>", "-->"}]
    if len(names) != 2:
        raise KnowledgeError(f"In {place} ({section}) two names were wanted; got {' '.join(words)!r}.")
    return names[0], names[1]


def _as_tiers(tiers: dict[int, tuple[str, ...]]) -> list[Statement]:
    filled = [tiers[number] for number in sorted(tiers) if tiers[number]]
    names = [name for tier in filled for name in tier]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise KnowledgeError(f"A variable is in one tier at most; {twice[0]!r} is in several.")
    return [Tiers(tuple(filled), "addtemporal")] if len(filled) > 1 else []
