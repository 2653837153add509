"""Knowledge as text, one statement per line; and as JSON: `{"statements": [{"kind": "causes", ...}]}`.

    tiers: age sex | smoking "body mass" | cough
    within tiers: no causes        no variable causes another one in its tier
    selection before tier 2        the sample was selected before anything in tier 2 or later happened
    smoking ~> cough               a cause, directly or through others
    {age, sex} !~> smoking         no cause
    * !~> age                      nothing is a cause of age
    smoking *-* cough              joined in the PAG; !*-* if not joined
    smoking !<-> cough             no hidden common cause
    cough !~> selection            no cause of being in the sample
    contexts 123: drug dose        columns of the design, with assumptions 1, 12 or 123

Everything after a `#` is a comment. A name that could be misread must be in double quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from anypag.errors import KnowledgeError
from anypag.knowledge import statements as stated
from anypag.knowledge.statements import ASSUMPTIONS, SELECTION, SIGNS, Side, Statement, is_sign
from anypag.stored import As, Form, ListOf, Object, RefusedError, Text, Variables, Whole, object_of, refuse_unless

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{},|#]|[^\s{},|#"]+|"')
_LINE_END = re.compile(r"\r\n|\r|\n")
_KINDS = {sign: kind for kind, sign in SIGNS.items()}
_SHAPES = (
    "`tiers: a b | c`, `within tiers: no causes`, `selection before tier 2`, `contexts: a b`, `a !~> selection`, "
    "`a ~> b`, `a !~> b`, `a *-* b`, `a !*-* b`, or `a !<-> b`"
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
    first, words = tokens[0].casefold(), " ".join(tokens).casefold()
    if first == "tiers:":
        return stated.Tiers(parse_tiers(tokens[1:], place), place)
    if first == "contexts:" or (first == "contexts" and tokens[1:] and tokens[1][-1] == ":"):
        return _contexts(tokens, place)
    if words in {"within tiers: no causes", "within tier: no causes"}:
        return stated.NoCausesWithinTiers(place)
    if words.startswith("selection before tier"):
        if len(tokens) != 4 or not (tokens[3].isdecimal() and tokens[3].isascii()):
            wanted = "`selection before tier 2` was wanted, with a number"
            raise KnowledgeError(f"In {place}: {wanted}; got {' '.join(tokens)!r}.")
        return stated.SelectionBefore(int(tokens[3]), place)
    signs = [k for k, token in enumerate(tokens) if is_sign(token)]
    if len(signs) != 1:
        raise KnowledgeError(_no_statement(tokens, place, f"one sign such as ~> is needed; got {len(signs) or 'none'}"))
    (k,) = signs
    return _pairs(tokens[:k], tokens[k], tokens[k + 1 :], place)


def _pairs(left: list[str], sign: str, right: list[str], place: str) -> Statement:
    edge = _SHORT.get(sign, sign)
    if edge in _ABOUT_EDGES:
        meant = _ABOUT_EDGES[edge].format(a=" ".join(left) or "a", b=" ".join(right) or "b")
        raise KnowledgeError(
            f"In {place}: {' '.join([*left, edge, *right])!r} may mean a direct effect, or an edge of the "
            f"PAG, which is no direct effect; so this statement cannot be used. Say {meant}."
        )
    if sign not in _KINDS:
        raise KnowledgeError(_no_statement([*left, sign, *right], place, f"{sign!r} is no sign"))
    kind = _KINDS[sign]
    if right == [SELECTION]:
        if kind != "not_causes":
            raise KnowledgeError(
                f"In {place}: {' '.join([*left, sign, *right])!r} cannot be used; only !~> may precede selection: "
                "`a !~> selection` says that a does not affect it. Write a column named 'selection' in double quotes."
            )
        return stated.NotSelecting(_side(left, place), place)
    return stated.PairStatement(kind, _side(left, place), _side(right, place), place)


def _side(tokens: list[str], place: str) -> Side:
    """One name, `*`, or names in braces."""
    if tokens == ["*"]:
        return None
    inner = tokens[1:-1] if len(tokens) > 1 and tokens[0] == "{" and tokens[-1] == "}" else None
    names = tokens if inner is None else [token for token in inner if token != ","]
    if inner is None and len(tokens) > 1:
        raise KnowledgeError(
            f"In {place} one side is {' '.join(tokens)!r}: several variables must be in braces, {{a, b}}, and a "
            "name with blanks in double quotes."
        )
    if not names:
        raise KnowledgeError(f"In {place} one side is empty: a variable was wanted, {{a, b}} for several, * for all.")
    return _different([_name(token, place) for token in names], place)


def parse_tiers(tokens: list[str], place: str) -> tuple[tuple[str, ...], ...]:
    """The tiers, which `|` separates, the earliest first."""
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


def _contexts(tokens: list[str], place: str) -> stated.Contexts:
    """`contexts: a b`, or with the assumptions, `contexts 12: a b`."""
    said, names = ("123", tokens[1:]) if tokens[0].endswith(":") else (tokens[1][:-1], tokens[2:])
    if said not in ASSUMPTIONS or not names:
        raise KnowledgeError(
            f"In {place}: contexts are written `contexts 123: a b`, with the assumptions 1, 12 or 123; got "
            f"{' '.join(tokens)!r}."
        )
    return stated.Contexts(_different([_name(token, place) for token in names if token != ","], place), said, place)


def tiers_of(text: str, place: str) -> stated.Tiers:
    """Tiers written as `a b | c d`, without the word `tiers:` before them."""
    tokens = [token for line in _LINE_END.split(text) for token in _tokens(line, 1)]
    return stated.Tiers(parse_tiers(tokens, place), place)


def _name(token: str, place: str) -> str:
    if token in {"{", "}", "|", "*", ",", SELECTION}:
        raise KnowledgeError(f"In {place} a name was wanted; got {token!r}. Put such a name in double quotes.")
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token))
    except ValueError:
        raise KnowledgeError(f"In {place} the quoted name {token} holds an escape that JSON does not know.") from None


def _different(names: list[str], place: str) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise KnowledgeError(f"In {place} {twice[0]!r} is there twice; once is enough.")
    return tuple(names)


def _no_statement(tokens: list[str], place: str, why: str) -> str:
    return f"In {place}: {' '.join(tokens)!r} is no statement: {why}. A statement is {_SHAPES}."


def _side_of(plain: Any, variables: Variables) -> Side:
    is_list = isinstance(plain, list) and bool(plain) and all(isinstance(name, str) for name in plain)
    refuse_unless(is_list or plain == "*", 'a list of names, or "*"', plain)
    return tuple(plain) if is_list else None


SIDE = As(Form(), lambda side, _: "*" if side is None else list(side), _side_of)
"""One side of a statement: a list of names, or "*" for all variables (None in memory)."""
FORMS: dict[str, Object] = {  # the form of each statement, by its kind
    "tiers": object_of(stated.Tiers, "place", tiers=ListOf(ListOf(Text(), 1), 2)),
    "no_causes_within_tiers": object_of(stated.NoCausesWithinTiers, "place"),
    "selection_before_tier": object_of(stated.SelectionBefore, "place", tier=Whole(-(2**31), 2**31)),
    "not_selecting": object_of(stated.NotSelecting, "place", names=SIDE),
    "contexts": object_of(stated.Contexts, "place", names=ListOf(Text(), 1), assumptions=Text(ASSUMPTIONS)),
    **{
        kind: object_of(stated.PairStatement, "place", kind=Text((kind,)), left=SIDE, right=SIDE)
        for kind in get_args(stated.PairKind)
    },
}
_KIND_OF = {form.make: kind for kind, form in FORMS.items()}
_NOBODY = Variables(())


def to_plain(statements: Iterable[Statement]) -> dict[str, Any]:
    """The statements, one object each; `"*"` means all variables."""
    kinds = ((one, one.kind if isinstance(one, stated.PairStatement) else _KIND_OF[type(one)]) for one in statements)
    return {"statements": [{"kind": kind, **FORMS[kind].write(one, _NOBODY)} for one, kind in kinds]}


def from_plain(plain: Any) -> tuple[Statement, ...]:
    """The statements that `to_plain` wrote. KnowledgeError if `plain` is something else."""
    if not isinstance(plain, dict) or not isinstance(plain.get("statements"), list):
        raise KnowledgeError(f'Knowledge as JSON is {{"statements": [...]}}; got {plain!s:.80}.')
    found = []
    for k, item in enumerate(plain["statements"], 1):
        try:
            found.append(replace(_of_object(item), place=f"statement {k}"))
        except RefusedError as error:
            raise KnowledgeError(f"In statement {k}: {error}.") from None
    return tuple(found)


def _of_object(plain: Any) -> Statement:
    kind: Any = plain.get("kind") if isinstance(plain, dict) else None
    wanted = f"an object whose 'kind' is one of {', '.join(FORMS)}"
    refuse_unless(isinstance(kind, str) and kind in FORMS, wanted, plain)
    said = plain if "kind" in FORMS[kind].forms else {name: item for name, item in plain.items() if name != "kind"}
    statement: Statement = FORMS[kind].read(said, _NOBODY)
    if isinstance(statement, stated.Tiers):
        names = [name for tier in statement.tiers for name in tier]
        refuse_unless(len(set(names)) == len(names), "every variable in one tier only", plain["tiers"])
    return statement


def read_statements(path: Path) -> tuple[Statement, ...]:
    """The statements of a file: JSON if its name ends in .json, else text."""
    file = f"The knowledge file {str(path)!r}"
    try:
        text = path.read_text(encoding="utf-8-sig")
        return from_plain(json.loads(text)) if path.suffix.casefold() == ".json" else parse_text(text)
    except KnowledgeError as error:
        raise KnowledgeError(f"{path}: {error}") from None
    except OSError as error:
        raise KnowledgeError(f"{file} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise KnowledgeError(f"{file} is no UTF-8 text (byte {error.start} cannot be read).") from None
    except ValueError as error:
        raise KnowledgeError(f"{path}: This is no JSON: {error}.") from None
    except RecursionError:
        raise KnowledgeError(f"{path}: This is no JSON that can be read: it is nested too deeply.") from None
