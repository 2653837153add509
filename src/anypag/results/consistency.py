"""Can all that a result says be true? And what of it was said once and taken back?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anypag.catalogue import FROM_SCORES, METHODS
from anypag.graphs.contradictions import Contradiction, contradictions, of_graph
from anypag.graphs.marks import Edge, Mark
from anypag.search.algorithm import AtTheEnd, algorithm

if TYPE_CHECKING:
    from anypag.results.base import BaseResult

SECONDS = 10.0
"""How long contradictions are looked for."""
MOST_VARIABLES = 2000
"""With more only the marks are compared with each other."""


@dataclass(frozen=True)
class Consistency:
    """Whether a graph can be true as it stands.

    `valid` is None where that was not found out; `note` then says why, or that the list of contradictions is not
    complete. Where marks rest on what was known beforehand, only contradictions are looked for, without a note.
    """

    valid: bool | None
    contradictions: tuple[Contradiction, ...] = ()
    note: str | None = None
    behind: str = "tests"
    """What the graph rests on, of which something must be wrong if it contradicts itself."""

    def lines(self, most: int = 3) -> list[str]:
        """What there is to say, a sentence a line; nothing where all is well."""
        found = self.contradictions
        if not found:
            return [self.note] if self.note else []
        many = "There is 1 contradiction" if len(found) == 1 else f"There are {len(found):,} contradictions"
        first = f"{many} in this graph: at least one of the {self.behind} behind it must be wrong."
        rest = [f"... and {len(found) - most:,} more."] if len(found) > most else []
        return [first, *(f"- {item}" for item in found[:most]), *rest, *([self.note] if self.note else [])]


def consistency_of(result: BaseResult) -> Consistency:
    """What can be found out about a result in a few seconds."""
    is_large = len(result.pag) > MOST_VARIABLES
    marginal = [] if is_large else [pair for pair, why in result.sepsets.items() if not why.given]
    found, is_all = contradictions(result.pag, marginal, selection=result.choices.selection_bias, seconds=SECONDS)
    behind = _behind(result)
    if found:
        more = None if is_all else "There may be more: looking for them was cut short."
        return Consistency(False, found, more, behind)
    if is_large:
        unchecked = "Its marks do not contradict each other; whether some system has exactly this graph was not checked"
        return Consistency(None, (), f"{unchecked}, as it has more than {MOST_VARIABLES:,} variables.")
    verdict = result.pag.validate()
    if verdict.valid:
        return Consistency(True)
    if _rests_on_knowledge(result):  # it says more than any equivalence class, as it should
        return Consistency(None)
    why = _why_not_final(result)
    if why is None:
        return Consistency(False, (of_graph(result.pag, verdict.reason, verdict.path),), None, behind)
    return Consistency(None, (), f"Whether some system has exactly this graph is not known: {why}.")


def _behind(result: BaseResult) -> str:
    """What the graph rests on."""
    asked = "scores" if result.method in FROM_SCORES else "tests"
    return f"{asked} or statements" if _rests_on_knowledge(result) else asked


def _rests_on_knowledge(result: BaseResult) -> bool:
    """Do marks rest on what was known beforehand?"""
    return any(outcome.marks for outcome in result.knowledge)


def _why_not_final(result: BaseResult) -> str | None:
    """Why the graph need not be that of a system, were all tests right; None if it must be."""
    if not result.complete:
        return "the search was stopped"
    at_the_end = algorithm(result.method).promises.at_the_end if result.method in METHODS else AtTheEnd.SOUND
    if at_the_end is AtTheEnd.COMPLETE:
        return None
    if at_the_end is AtTheEnd.SOUND:
        return f"{result.method} may leave edges that others remove"
    return f"{result.method} is right only in the limit of many rows"


@dataclass(frozen=True)
class Withdrawn:
    """A mark that stood after iteration r and does not in the end, though the edge stayed."""

    r: int
    at: str
    then: Edge
    now: Edge

    def __str__(self) -> str:
        return f"r = {self.r}: {self.then} (now {self.now})"


def withdrawn_from(result: BaseResult) -> Iterator[Withdrawn]:
    """The arrowheads and tails that earlier iterations said and later ones took back, each by its last iteration."""
    seen: set[tuple[int, int, int]] = set()
    final = result.pag
    for item in reversed(result.history):
        earlier = item.pag if item.pag.names == final.names else item.pag.subgraph(final.names)
        gone = (earlier.marks > Mark.CIRCLE) & (final.marks != Mark.NONE) & (earlier.marks != final.marks)
        for i, j in np.argwhere(gone).tolist():
            if (i, j, int(earlier.marks[i, j])) in seen:
                continue
            seen.add((i, j, int(earlier.marks[i, j])))
            then, now = earlier.edge(j, i), final.edge(j, i)
            assert then is not None
            assert now is not None
            yield Withdrawn(item.r, final.names[j], then, now)
