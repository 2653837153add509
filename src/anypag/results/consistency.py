"""Contradictions in a result, and claims that were withdrawn during the search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from anypag.arrays import Counts
from anypag.catalogue import AtTheEnd
from anypag.graphs.base import Marks
from anypag.graphs.contradictions import Chains, Contradiction, of_graph, statements_of
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.pag import PAG
from anypag.graphs.projection import of_data_alone
from anypag.results.stability import causes, not_causes

if TYPE_CHECKING:
    from anypag.results.result import Result

MOST_VARIABLES = 2000  # larger graphs are searched only for contradictions between marks
WHAT_TO_DO = (
    "What to do: ask why the graph makes each of these claims (explain), and doubt the claim whose p-value is closest "
    "to alpha. Try another alpha or a test that fits the columns better, or leave out a column that you do not need."
)


@dataclass(frozen=True)
class Consistency:
    """Whether all claims of a graph can be true."""

    valid: bool | None  # None if this is undecided (marks from knowledge can be the reason)
    contradictions: tuple[Contradiction, ...] = ()
    note: str | None = None  # why it is undecided, or that the list of contradictions is incomplete
    behind: str = "tests"  # what the graph rests on (tests, scores, knowledge), for the sentence about a contradiction

    def lines(self, most: int = 3) -> list[str]:
        """The contradictions, the note and advice, a sentence a line; empty if there is no contradiction or note."""
        found = self.contradictions
        if not found:
            return [self.note] if self.note else []
        many = "There is 1 contradiction" if len(found) == 1 else f"There are {len(found):,} contradictions"
        first = f"{many} in this graph: at least one of the {self.behind} behind it must be wrong."
        rest = [f"... and {len(found) - most:,} more."] if len(found) > most else []
        listed = [f"- {item}" for item in found[:most]]
        return [first, *listed, *rest, *([self.note] if self.note else []), WHAT_TO_DO]


def consistency_of(result: Result) -> Consistency:
    """Whether all claims of a result can be true, as far as bounded work can decide."""
    is_large = len(result.pag) > MOST_VARIABLES
    selection = result.choices.selection_bias
    said = Chains.of(statements_of(result.pag), selection)
    marginal = [] if is_large else result.independent_pairs(said.in_chains())
    found, is_all = replace(said, independent=dict.fromkeys(marginal)).contradictions()
    has_known_marks = any(outcome.marks for outcome in result.knowledge)
    behind = f"{'scores' if result.from_scores else 'tests'}{' or statements' if has_known_marks else ''}"
    if found:
        more = None if is_all else "There may be more: the search for them was cut short."
        return Consistency(False, found, more, behind)
    if is_large:
        unchecked = "The marks do not contradict each other; whether some system has exactly this graph was not checked"
        return Consistency(None, (), f"{unchecked}, as it has more than {MOST_VARIABLES:,} variables.")
    verdict = result.pag.validate()
    if verdict.valid:
        return Consistency(True)
    if has_known_marks:  # knowledge adds marks that the equivalence class does not have
        alone = verdict if selection else of_data_alone(result.pag).validate()
        why_not = "No system has the edges and colliders of this graph, so no effect can be read from it:"
        return Consistency(None, (), None if selection or alone.valid else f"{why_not} {alone.reason}")
    why = _why_not_final(result)
    if why is None:
        return Consistency(False, (of_graph(result.pag, verdict.reason, verdict.path),), None, behind)
    return Consistency(None, (), f"Whether some system has exactly this graph is not known: {why}.")


def _why_not_final(result: Result) -> str | None:
    """Why the graph may be invalid even if all tests were right; None if right tests give a valid graph."""
    if not result.complete:
        return "the search was stopped"
    at_the_end = result.facts.promises.at_the_end
    if at_the_end is AtTheEnd.COMPLETE:
        return None
    if at_the_end is AtTheEnd.SOUND:
        return f"{result.method} may leave edges that other methods remove"
    return f"{result.method} is right only in the limit of many rows"


@dataclass(frozen=True)
class Withdrawn:
    """A withdrawn claim: the mark at `at` on the edge `then` after iteration r. `now`: the final edge, or None."""

    r: int
    at: str
    then: Edge
    now: Edge | None

    def __str__(self) -> str:
        return f"r = {self.r}: {self.then} (now {'no edge' if self.now is None else self.now})"


def withdrawn_from(result: Result) -> Iterator[Withdrawn]:
    """The arrowheads and tails that a later iteration withdrew, each with the last iteration that had it."""
    seen: set[tuple[str, str, Mark]] = set()
    final = result.pag
    for item, gone in zip(reversed(result.history), reversed(withdrawn_marks(result)), strict=True):
        for i, j, at_j, at_i in gone.tolist():
            b, a, mark = final.names[i], final.names[j], Mark(at_j)
            if (a, b, mark) not in seen:
                seen.add((a, b, mark))
                yield Withdrawn(item.r, a, Edge(a, b, mark, Mark(at_i)), final.edge(a, b))


def withdrawn_marks(result: Result) -> list[Counts]:
    """For each iteration, (k, 4) rows (i, j, mark at j, mark at i): the mark at j on i–j was withdrawn later.

    If the final graph has the edge, a mark is withdrawn if it changed. If it lacks the edge A–B, an arrowhead at A is
    withdrawn if the final graph has a possibly directed path from A to B; a tail at A, if it has no directed path from
    A to B. Removing an edge withdraws nothing by itself: the edge only meant that no test had separated the pair yet.
    """
    final = result.pag.marks
    still = cache(lambda: [np.packbits(about(final), axis=1) for about in (causes, not_causes)])
    names = result.pag.names
    earlier = (item.pag if item.pag.names == names else item.pag.subgraph(names) for item in result.history)
    return [_withdrawn(pag, final, still) for pag in earlier]


def _withdrawn(earlier: PAG, final: Marks, still: Callable[[], list[Marks]]) -> Counts:
    """The rows for one iteration. `still` gives two tables of the final graph: i is a cause of j; i is no cause of j.
    A table of all pairs of a large graph may take gigabytes. So these tables are packed bits, and the earlier graph is
    read as a list of its marks.
    """
    row, column, mark = earlier.entries
    is_said, other = mark > Mark.CIRCLE, mark[np.lexsort((row, column))]
    i, j, then, back = (part[is_said] for part in (row, column, mark, other))
    now = final[i, j]
    gone = (now != Mark.NONE) & (then != now)
    lost = np.flatnonzero(now == Mark.NONE)
    if len(lost):
        said = [about[j[lost], i[lost] >> 3] >> (7 - (i[lost] & 7)) & 1 != 0 for about in still()]
        gone[lost] = ~np.where(then[lost] == Mark.TAIL, *said)
    return np.stack([part[gone] for part in (i, j, then, back)], axis=1)
