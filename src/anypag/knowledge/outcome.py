"""What became of a statement, as results tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
