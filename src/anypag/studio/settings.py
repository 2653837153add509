"""What the user chose on the page: columns, kinds, how the file is read, choices of the search, and knowledge."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, get_args

from anypag.choices import DECLARED, DEFAULTS, MISSING_WORDS, Choices, is_default
from anypag.data.table import KINDS, Kind
from anypag.errors import KnowledgeError, ParameterError, abbreviated
from anypag.knowledge import statements as stated
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.text import parse_text

Changes = dict[str, Any]  # the fields that a change replaces, with their new values

OFFERED = ("method", "test", "alpha", "selection_bias", "missing", "singular", "transform", "max_r", "effort")
"""The choices of a search that the page offers."""
WORDS: dict[str, str] = {
    "not_causes": "is no cause of",
    "causes": "is a cause of",
    "unconfounded": "has no hidden common cause with",
    "joined": "is joined to",
    "not_joined": "is not joined to",
    "not_selecting": "is no cause of being in the sample",
}
"""The statements that the page offers besides tiers, in words."""
_READING: dict[str, type] = {"encoding": str, "gaps": list, "header": bool, "sheet": str}
"""The options for reading a file that the page offers, and the types of their values in JSON."""


@dataclass(frozen=True)
class Settings:
    """All choices that the user made. Every change gives new settings; equal settings give equal graphs."""

    off: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)  # arguments of `read_table` that differ from the default
    choices: Mapping[str, Any] = field(default_factory=dict)  # choices of the search that differ from the default
    tiers: tuple[tuple[str, ...], ...] = ()  # columns in the order of time; empty tiers are places to drop a column on
    statements: tuple[str, ...] = ()  # as text, one statement each

    @classmethod
    def of(cls, plain: Any) -> Self:
        """The settings from a dict that `asdict` made; an error says what does not fit."""
        if not isinstance(plain, dict):
            raise ParameterError("Settings are a JSON object.")
        made = cls()
        for change in _changes_in(plain):
            made = made.changed(*change)
        return made

    def changed(self, what: str, *values: Any) -> Self:
        """The settings after one change, as the page sends it: ["off", "age", true], say."""
        change = _CHANGES.get(what)
        if change is None:
            raise ParameterError(f"The page can change {', '.join(_CHANGES)}; got {abbreviated(what)}.")
        try:
            return replace(self, **change(self, *values))
        except TypeError:
            raise ParameterError(f"The change {what!r} does not take {abbreviated(values)}.") from None

    def columns(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name not in self.off]

    def statements_on(self, names: Collection[str]) -> list[stated.Statement]:
        """The statements that name only these columns, tiers first."""
        tiers = tuple(tier for some in self.tiers if (tier := tuple(name for name in some if name in names)))
        said: list[stated.Statement] = [stated.Tiers(tiers)] if len(tiers) > 1 else []
        for text in self.statements:
            (one,) = parse_text(text)
            speaks_of_tiers = isinstance(one, stated.AboutTiers)
            is_on = set(stated.names_in(one)) <= set(names) and (len(tiers) > 1 or not speaks_of_tiers)
            said += [replace(one, place="")] if is_on else []
        return said

    def of_search(self, names: Sequence[str]) -> Choices:
        """The choices of a search over these columns. With them, `anypag.learn` gives the graph that the page shows."""
        on = self.columns(names)
        known = self.statements_on(on)
        kinds = {name: kind for name, kind in self.kinds.items() if name in on} or None
        used, knowledge = on if len(on) < len(names) else None, Knowledge.of(known) if known else None
        return Choices(names=used, kinds=kinds, knowledge=knowledge, **self.choices)

    def contradiction(self, names: Sequence[str]) -> str | None:
        """The contradiction in the knowledge, as a sentence; None if there is none."""
        on = self.columns(names)
        try:
            is_selected = bool(self.choices.get("selection_bias", True))
            Knowledge.of(self.statements_on(on)).facts(on, selection=is_selected)
        except KnowledgeError as error:
            return str(error)
        return None


def in_words(text: str) -> str:
    """A statement in plain words: `a ~> b` becomes "a is a cause of b"."""
    (one,) = parse_text(text)
    if isinstance(one, stated.PairStatement):
        return f"{_listed(one.left)} {WORDS[one.kind]} {_listed(one.right)}"
    if isinstance(one, stated.NotSelecting):
        return f"{_listed(one.names)} {WORDS['not_selecting']}"
    if isinstance(one, stated.NoCausesWithinTiers):
        return "Within one tier nothing is a cause of another"
    return str(one)


def _listed(side: tuple[str, ...] | None) -> str:
    return "Any variable" if side is None else ", ".join(side)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ParameterError(f"A name or a word is needed; got {abbreviated(value)}.")
    return value


def _off(now: Settings, names: Any, is_off: Any) -> Changes:
    some = dict.fromkeys(_text(name) for name in (names if isinstance(names, list) else [names]))
    others = tuple(other for other in now.off if other not in some)
    return {"off": (*others, *some) if is_off is True else others}


def _kind(now: Settings, name: Any, kind: Any) -> Changes:
    if kind is not None and kind not in KINDS:
        raise ParameterError(f"A kind is 'continuous', 'discrete' or 'ordinal'; got {abbreviated(kind)}.")
    others = {other: given for other, given in now.kinds.items() if other != _text(name)}
    return {"kinds": others if kind is None else {**others, name: kind}}


def _reading(now: Settings, name: Any, value: Any) -> Changes:
    wanted = _READING.get(_text(name))
    if wanted is None or not (value is None or isinstance(value, wanted)):
        offered = ", ".join(f"{one} ({kind.__name__})" for one, kind in _READING.items())
        raise ParameterError(f"The page can set {offered}; got {abbreviated((name, value))}.")
    others = {other: given for other, given in now.reading.items() if other != name}
    if isinstance(value, list):
        words = list(dict.fromkeys(["", *(_text(word) for word in value if word != "")]))
        value = None if words == list(MISSING_WORDS) else words
    return {"reading": others if value is None or value is True or value == "" else {**others, name: value}}


def _gap(now: Settings, word: Any) -> Changes:
    return _reading(now, "gaps", [*now.reading.get("gaps", MISSING_WORDS), _text(word)])


def _choice(now: Settings, name: Any, value: Any) -> Changes:
    if name not in OFFERED:
        raise ParameterError(f"The page offers {', '.join(OFFERED)}; got {abbreviated(name)}.")
    value = DEFAULTS[name] if value is None else value
    Choices(**{name: value})  # raises an error if the value is not allowed
    others = {other: given for other, given in now.choices.items() if other != name}
    return {"choices": others if is_default(name, value) else {**others, name: value}}


def _tiers(now: Settings, tiers: Any) -> Changes:
    if not isinstance(tiers, list) or not all(isinstance(tier, list) for tier in tiers):
        raise ParameterError("Tiers are lists of names, the earliest first.")
    names = [_text(name) for tier in tiers for name in tier]
    if len(set(names)) < len(names):
        raise ParameterError("A column can be in one tier only.")
    return {"tiers": tuple(map(tuple, tiers))}


def _say(now: Settings, kind: Any, left: Any = None, right: Any = None) -> Changes:
    one: stated.Statement
    if kind == "within_tiers":
        one = stated.NoCausesWithinTiers()
    elif kind == "not_selecting":
        one = stated.NotSelecting((_text(left),))
    elif kind in get_args(stated.PairKind):
        one = stated.PairStatement(kind, (_text(left),), (_text(right),))
        if left == right:
            raise ParameterError("A statement is about two different columns.")
    else:
        raise ParameterError(f"A statement is within_tiers or one of {', '.join(WORDS)}; got {abbreviated(kind)}.")
    return _stated(now, str(one))


def _stated(now: Settings, text: Any) -> Changes:
    """The change for one more statement. Its text comes from the page, or from settings that were kept."""
    (one,) = parse_text(_text(text))
    return {"statements": tuple(dict.fromkeys([*now.statements, str(one)]))}


def _unsay(now: Settings, k: Any) -> Changes:
    if type(k) is not int or not 0 <= k < len(now.statements):
        raise ParameterError(f"There is no statement {abbreviated(k)}.")
    return {"statements": (*now.statements[:k], *now.statements[k + 1 :])}


_KINDS_OF_CHANGES = (_off, _kind, _reading, _gap, _choice, _tiers, _say, _stated, _unsay)
_CHANGES: dict[str, Callable[..., Changes]] = {change.__name__[1:]: change for change in _KINDS_OF_CHANGES}


def _changes_in(kept: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The changes that restore kept settings."""
    yield from (("off", name, True) for name in kept.get("off") or ())
    for name, change in (("kinds", "kind"), ("reading", "reading"), ("choices", "choice")):
        pairs = kept.get(name)
        yield from ((change, *pair) for pair in (pairs.items() if isinstance(pairs, dict) else ()))
    yield from [("tiers", kept["tiers"])] if kept.get("tiers") else []
    yield from (("stated", text) for text in kept.get("statements") or ())


def offered(settings: Settings) -> list[dict[str, Any]]:
    """The choices that the page shows: what each is for, its value, and the values to choose from."""
    shown = list[dict[str, Any]]()
    for name in OFFERED:
        choice, default = DECLARED[name], DEFAULTS[name]
        value = {"value": settings.choices.get(name, default), "default": default, "values": list(choice.check.names)}
        shown.append({"name": name, "help": choice.help, **value})
    return shown
