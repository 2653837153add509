"""Knowledge as text, one statement a line.

    tiers: age sex | smoking "body mass" | cough
    within tiers: no causes
    selection before tier 2
    smoking ~> cough               a cause, directly or through others
    {age, sex} !~> smoking         no cause
    * !~> age                      nothing is a cause of age
    smoking *-* cough              joined in the PAG; !*-* for not joined
    smoking !<-> cough             no hidden common cause
    cough !~> selection            no cause of being in the sample
    contexts 123: drug dose        columns of the design, by which assumptions (1, 12 or 123)

Everything after a `#` is a comment. A name that could be misread stands in double quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from anypag.errors import KnowledgeError
from anypag.knowledge.statements import (
    ASSUMPTIONS,
    SELECTION,
    SIGNS,
    Contexts,
    NoCausesWithinTiers,
    NotSelecting,
    PairStatement,
    SelectionBefore,
    Side,
    Statement,
    Tiers,
    is_sign,
)

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{},|#]|[^\s{},|#"]+|"')
_LINE_END = re.compile(r"\r\n|\r|\n")
_KINDS = {sign: kind for kind, sign in SIGNS.items()}
_SHAPES = (
    "`tiers: a b | c`, `a ~> b`, `a !~> b`, `a *-* b`, `a !*-* b`, `a !<-> b`, `a !~> selection` or `contexts: a b`"
)

_ABOUT_EDGES = {
    "-->": "`{a} ~> {b}` if {a} is a cause of {b}, directly or through others, and `{a} *-* {b}` if they are joined",
    "<--": "`{b} ~> {a}` if {b} is a cause of {a}, directly or through others, and `{a} *-* {b}` if they are joined",
    "!-->": "`{a} !~> {b}` if {a} is no cause of {b} at all, not even through others",
    "!<--": "`{b} !~> {a}` if {b} is no cause of {a} at all, not even through others",
    "<->": "`{a} *-* {b}`, `{a} !~> {b}` and `{b} !~> {a}` if they are joined and neither is a cause of the other",
    "---": "`{a} *-* {b}` if they are joined",
    "!---": "`{a} !*-* {b}` if they are not joined",
}
_SHORT = {"->": "-->", "<-": "<--", "!->": "!-->", "!<-": "!<--", "--": "---", "!--": "!---", "-/->": "!-->"}


def parse_text(text: str) -> tuple[Statement, ...]:
    """The statements of a text. Raises an error with the number of the first line that is not a statement."""
    return tuple(
        _statement(tokens, f"line {number}")
        for number, line in enumerate(_LINE_END.split(text), 1)
        if (tokens := list(_tokens(line, number)))
    )


def _tokens(line: str, number: int) -> Iterator[str]:
    for token in _TOKEN.findall(line):
        if token == "#":
            return
        if token == '"':
            raise KnowledgeError(f"In line {number} a quoted name does not end: {line.strip()!r}.")
        yield token


def _statement(tokens: list[str], place: str) -> Statement:
    words = " ".join(tokens).casefold()
    if tokens[0].casefold() == "tiers:":
        return Tiers(parse_tiers(tokens[1:], place), place)
    if tokens[0].casefold() == "contexts:" or (
        tokens[0].casefold() == "contexts" and tokens[1:] and tokens[1][-1] == ":"
    ):
        return _contexts(tokens, place)
    if words in {"within tiers: no causes", "within tier: no causes"}:
        return NoCausesWithinTiers(place)
    if words.startswith("selection before tier"):
        return SelectionBefore(_tier(tokens, place), place)
    signs = [k for k, token in enumerate(tokens) if is_sign(token)]
    if len(signs) != 1:
        raise KnowledgeError(_no_statement(tokens, place, f"it has {len(signs) or 'none'} of the signs"))
    (k,) = signs
    return _pairs(tokens[:k], tokens[k], tokens[k + 1 :], place)


def _pairs(left: list[str], sign: str, right: list[str], place: str) -> Statement:
    if _SHORT.get(sign, sign) in _ABOUT_EDGES:
        raise KnowledgeError(_about_edges(left, _SHORT.get(sign, sign), right, place))
    if sign not in _KINDS:
        raise KnowledgeError(_no_statement([*left, sign, *right], place, f"{sign!r} is no sign"))
    kind = _KINDS[sign]
    if right == [SELECTION]:
        if kind != "not_causes":
            raise KnowledgeError(
                f"In {place}: {' '.join([*left, sign, *right])!r} cannot be used; the only statement about selection "
                "is `a !~> selection`, no cause of it. A column of that name stands in double quotes."
            )
        return NotSelecting(_side(left, place), place)
    return PairStatement(kind, _side(left, place), _side(right, place), place)


def _side(tokens: list[str], place: str) -> Side:
    """One name, `*`, or names in braces."""
    if tokens == ["*"]:
        return None
    inner = tokens[1:-1] if len(tokens) > 1 and tokens[0] == "{" and tokens[-1] == "}" else None
    names = tokens if inner is None else [token for token in inner if token != ","]
    if inner is None and len(tokens) > 1:
        raise KnowledgeError(
            f"In {place} one side is {' '.join(tokens)!r}: several variables stand in braces, {{a, b}}, and a name "
            "with blanks in double quotes."
        )
    if not names:
        raise KnowledgeError(f"In {place} one side is empty: a variable was wanted, {{a, b}} for several, * for all.")
    return _different([_name(token, place) for token in names], place)


def parse_tiers(tokens: list[str], place: str) -> tuple[tuple[str, ...], ...]:
    """The tiers between the `|`, the earliest first."""
    tiers: list[list[str]] = [[]]
    for token in tokens:
        if token == "|":
            tiers.append([])
        elif token != ",":
            tiers[-1].append(_name(token, place))
    if len(tiers) < 2 or not all(tiers):
        raise KnowledgeError(
            f"In {place}: tiers are written `a b | c d`, the earliest first, at least two of them and none empty; "
            f"got {' '.join(tokens)!r}."
        )
    _different([name for tier in tiers for name in tier], place)
    return tuple(tuple(tier) for tier in tiers)


def _contexts(tokens: list[str], place: str) -> Contexts:
    """`contexts: a b`, or with the assumptions, `contexts 12: a b`."""
    said, names = ("123", tokens[1:]) if tokens[0].endswith(":") else (tokens[1][:-1], tokens[2:])
    if said not in ASSUMPTIONS or not names:
        raise KnowledgeError(
            f"In {place}: contexts are written `contexts 123: a b`, with the assumptions 1, 12 or 123; got "
            f"{' '.join(tokens)!r}."
        )
    return Contexts(_different([_name(token, place) for token in names if token != ","], place), said, place)


def tiers_of(text: str, place: str) -> Tiers:
    """Tiers written as `a b | c d`, without the word before them."""
    return Tiers(parse_tiers([token for line in _LINE_END.split(text) for token in _tokens(line, 1)], place), place)


def _tier(tokens: list[str], place: str) -> int:
    if len(tokens) == 4 and tokens[3].isdecimal() and tokens[3].isascii():
        return int(tokens[3])
    raise KnowledgeError(f"In {place}: `selection before tier 2` was wanted, with a number; got {' '.join(tokens)!r}.")


def _name(token: str, place: str) -> str:
    if token in {"{", "}", "|", "*", ",", SELECTION}:
        raise KnowledgeError(
            f"In {place} a name was wanted; got {token!r}. Put a name that looks like this in double quotes."
        )
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token))
    except ValueError:
        raise KnowledgeError(f"In {place} the quoted name {token} holds an escape that JSON does not know.") from None


def _different(names: list[str], place: str) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise KnowledgeError(f"In {place} {twice[0]!r} stands twice; once is enough.")
    return tuple(names)


def _no_statement(tokens: list[str], place: str, why: str) -> str:
    return f"In {place}: {' '.join(tokens)!r} is no statement, {why}. A statement is {_SHAPES}."


def _about_edges(left: list[str], sign: str, right: list[str], place: str) -> str:
    a, b = " ".join(left) or "a", " ".join(right) or "b"
    meant = _ABOUT_EDGES[sign].format(a=a, b=b)
    return (
        f"In {place}: {' '.join([*left, sign, *right])!r} speaks of a direct effect or an edge with its marks. An edge "
        f"of a PAG is no direct effect, so nothing follows from it. Say {meant}."
    )
