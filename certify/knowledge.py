"""The certificate for knowledge: on every class of a few nodes, what rules and exact closure find, against the truth.

The truth is the definition (`certify.members`). A mark that is not in it is unsound; one that is in it and
was not found is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import permutations, product
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from anypag.errors import ParameterError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import orient
from anypag.graphs.rules import Rule, rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.knowledge.closure import SeparationsOf, close, known_of, orient_with_knowledge
from anypag.knowledge.facts import Facts
from certify.members import ClassesOfMags, facts, members

MOST_PAIRS, MOST_ON_FIVE = 24, 3
"""How many pieces of each kind are tried on a class, drawn at random: of pairs of statements, and on five nodes."""


@dataclass
class KnowledgeTally:
    """The cases and errors of one kind of knowledge."""

    kind: str
    n: int
    cases: int = 0
    unsound: int = 0
    """Cases with a mark, by rules or closure, that is not in the truth."""
    missed_by_rules: int = 0
    """Cases in which the rules alone leave a circle where the truth has a mark."""
    wrong_closures: int = 0
    """Cases in which the exact closure is not the truth, or in which no member agrees and it did not say so."""

    @property
    def is_right(self) -> bool:
        """No unsound mark, and every closure exact."""
        return not (self.unsound or self.wrong_closures)


class _Case(NamedTuple):
    truth: Marks | None
    by_rules: Marks
    exact: Marks | None


def certify_knowledge(n: int, n_classes: int | None = None, *, seed: int = 0, workers: int = 1) -> list[KnowledgeTally]:
    """One tally per kind of knowledge.

    Args:
        n: the number of nodes, 2 to 5.
        n_classes: how many classes to draw at random; all of them if left out.
        seed: of the draws.
        workers: how many processes share the work; the tallies do not depend on it.
    """
    if n not in range(2, 6):
        raise ParameterError(f"Classes are enumerated for 2 to 5 nodes; got {n}.")
    there = _members(n).n_classes
    size = there if n_classes is None else min(n_classes, there)
    chosen = np.sort(np.random.default_rng(seed).choice(there, size, replace=False))
    if workers == 1:
        return _tallies(n, seed, chosen.tolist())
    parts = [part.tolist() for part in np.array_split(chosen, min(len(chosen), 8 * workers))]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return [_sum(tallies) for tallies in zip(*pool.map(partial(_tallies, n, seed), parts), strict=True)]


@cache
def _members(n: int) -> ClassesOfMags:
    return members(n)


def _tallies(n: int, seed: int, chosen: list[int]) -> list[KnowledgeTally]:
    """The tallies of some classes."""
    found = _members(n)
    tallies = []
    for kind, pieces in _kinds(n).items():
        tally = KnowledgeTally(kind, n)
        most = MOST_ON_FIVE if n == 5 else MOST_PAIRS if " and " in kind else len(pieces)
        for c in chosen:
            drawn = np.random.default_rng([seed, c]).permutation(len(pieces))[:most]
            for k in drawn:
                _count(tally, _case(found, c, pieces[k]))
        tallies.append(tally)
    every = rules_after_0(selection=False, knowledge=True, final=True)
    tallies.append(marks_given(found, chosen, "one mark, no selection, R1–R10 alone", rules_after_0(selection=False)))
    tallies.append(marks_given(found, chosen, "one mark, no selection", every))
    return tallies


def _sum(tallies: Sequence[KnowledgeTally]) -> KnowledgeTally:
    total = KnowledgeTally(tallies[0].kind, tallies[0].n)
    for tally in tallies:
        total.cases += tally.cases
        total.unsound += tally.unsound
        total.missed_by_rules += tally.missed_by_rules
        total.wrong_closures += tally.wrong_closures
    return total


def _kinds(n: int) -> dict[str, list[Facts]]:
    pairs = list(permutations(range(n), 2))
    orders = [[(a, b) for a, b in pairs if tiers[a] > tiers[b]] for tiers in weak_orders(n) if max(tiers)]
    kinds: dict[str, list[Facts]] = {}
    for selection, words in ((False, "no selection"), (True, "selection possible")):
        made = partial(facts, n, selection=selection)
        kinds[f"tiers, {words}"] = [made(not_causes=order) for order in orders]
        kinds[f"a ~> b, {words}"] = [made(causes=[pair]) for pair in pairs]
        kinds[f"a !~> b, {words}"] = [made(not_causes=[pair]) for pair in pairs]
        kinds[f"a ~> b and c !~> d, {words}"] = [
            made(causes=[p], not_causes=[q]) for p, q in product(pairs, pairs) if p != q
        ]
    kinds["tiers, selection before the last"] = [
        facts(n, not_causes=order, not_selecting=sorted({a for a, _ in order})) for order in orders
    ]
    kinds["a !~> b, a !~> selection"] = [facts(n, not_causes=[(a, b)], not_selecting=[a]) for a, b in pairs]
    return kinds


def weak_orders(n: int) -> Iterator[tuple[int, ...]]:
    """All ways to put n nodes into tiers: the tier of each."""
    return (tiers for tiers in product(range(n), repeat=n) if set(tiers) == set(range(max(tiers) + 1)))


def _case(found: ClassesOfMags, c: int, known: Facts) -> _Case:
    mag = found.of(c)[0]
    nothing = facts(found.marks.shape[1])
    pag = found.truth(c, nothing)
    assert pag is not None, "every member agrees with nothing"
    skeleton, circles = Skeleton.of(mag), (mag != Mark.NONE).astype(np.uint8)
    by_rules = orient_with_knowledge(circles, SeparationsOf(mag), known, skeleton, final=True).marks
    closure = close(pag, mag, known)
    exact = closure.marks if closure.agrees else None
    return _Case(found.truth(c, known), by_rules, exact)


def _count(tally: KnowledgeTally, case: _Case) -> None:
    truth, by_rules, exact = case
    if truth is None:
        tally.wrong_closures += exact is not None
        return
    tally.cases += 1
    is_wrong = exact is None or not np.array_equal(exact, truth)
    tally.wrong_closures += is_wrong
    tally.unsound += bool(((by_rules > Mark.CIRCLE) & (by_rules != truth)).any())
    tally.missed_by_rules += bool(((by_rules == Mark.CIRCLE) & (truth > Mark.CIRCLE)).any())


def marks_given(found: ClassesOfMags, chosen: list[int], kind: str, rules: Sequence[Rule]) -> KnowledgeTally:
    """A tally of what rules find from one given mark of any member, without selection and without exact closure."""
    n = found.marks.shape[1]
    tally, nothing = KnowledgeTally(kind, n), known_of(facts(n, selection=False))

    def oriented(start: Marks, mag: Marks) -> Marks:
        return orient(start, SeparationsOf(mag), rules, None, nothing).marks

    for c in chosen:
        _count_marks(tally, found.of(c), oriented)
    return tally


def _count_marks(tally: KnowledgeTally, all_members: Marks, oriented: Callable[[Marks, Marks], Marks]) -> None:
    undirected = (all_members == Mark.TAIL) & (all_members.swapaxes(1, 2) == Mark.TAIL)
    left = all_members[~undirected.any(axis=(1, 2))]
    if not len(left):
        return
    least, most = left.min(axis=0), left.max(axis=0)
    for i, j in np.argwhere(least != most):
        for mark in (Mark.ARROW, Mark.TAIL):
            having = left[left[:, i, j] == mark]
            low, high = having.min(axis=0), having.max(axis=0)
            truth = np.where(low == high, low, Mark.CIRCLE)
            start = (left[0] != Mark.NONE).astype(np.uint8)
            start[i, j] = mark
            if mark == Mark.TAIL:  # without selection there is no undirected edge
                start[j, i] = Mark.ARROW
            got = oriented(start, left[0])
            tally.cases += 1
            tally.unsound += bool(((got > Mark.CIRCLE) & (got != truth)).any())
            tally.missed_by_rules += bool(((got == Mark.CIRCLE) & (truth > Mark.CIRCLE)).any())
