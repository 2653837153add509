"""What became of a statement, as results tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from anypag.errors import KnowledgeError
from anypag.graphs.marks import Mark

Became = Literal["used", "implied", "contradicted", "not usable"]

_IN_WORDS = {
    "used": "used",
    "implied": "implied by the data anyway",
    "contradicted": "contradicted",
    "not usable": "not usable",
}


@dataclass(frozen=True)
class KnownMark:
    """A mark that follows from what was said: `mark` at `at` on the edge between `at` and `other`."""

    at: str
    other: str
    mark: Mark

    def __str__(self) -> str:
        kind = "a tail" if self.mark == Mark.TAIL else "an arrowhead"
        return f"{kind} at {self.at} towards {self.other}"


@dataclass(frozen=True)
class Outcome:
    """One statement, and what became of it.

    `became` is "used" (`marks` then hang on it, or `why` says what else it did), "implied" (the data alone show it),
    "contradicted" (by the data; the marks stand as was said) or "not usable"; `why` says more in a sentence.
    """

    statement: str
    place: str
    became: Became
    marks: tuple[KnownMark, ...] = ()
    why: str = ""

    @property
    def in_words(self) -> str:
        """What became of it: "used", "implied by the data anyway", "contradicted" or "not usable"."""
        return _IN_WORDS[self.became]

    def __str__(self) -> str:
        said = f"{self.statement}" + (f" ({self.place})" if self.place else "")
        told = [", ".join(map(str, self.marks))] if self.marks else []
        told += [self.why] if self.why else []
        return f"{said}: {self.in_words}" + (f": {'; '.join(told)}" if told else "")

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        marks = [[mark.at, mark.other, mark.mark.name.lower()] for mark in self.marks]
        return {
            "statement": self.statement,
            "place": self.place,
            "became": self.became,
            "marks": marks,
            "why": self.why,
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Outcome:
        """What `to_dict` wrote.

        Raises:
            KnowledgeError: it is something else.
        """
        texts = ("statement", "place", "became", "why")
        if not isinstance(plain, dict) or not all(isinstance(plain.get(key), str) for key in texts):
            raise KnowledgeError(
                f"what became of a statement must be an object with {', '.join(texts)}; got {plain!r}."
            )
        if plain["became"] not in get_args(Became) or not isinstance(plain.get("marks"), list):
            raise KnowledgeError(f'"became" must be one of {", ".join(get_args(Became))}; got {plain["became"]!r}.')
        marks = tuple(_mark(row) for row in plain["marks"])
        return cls(plain["statement"], plain["place"], plain["became"], marks, plain["why"])


def _mark(row: Any) -> KnownMark:
    names = {mark.name.lower(): mark for mark in (Mark.ARROW, Mark.TAIL)}
    if not isinstance(row, list) or len(row) != 3 or not all(isinstance(part, str) for part in row):
        raise KnowledgeError(f'a mark must be ["at", "other", "arrow" or "tail"]; got {row!r}.')
    if row[2] not in names:
        raise KnowledgeError(f'a mark must be "arrow" or "tail"; got {row[2]!r}.')
    return KnownMark(row[0], row[1], names[row[2]])
