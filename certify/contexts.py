"""The certificate for contexts: on every class of a few nodes, what a search finds under Joint Causal Inference.

The truth is the definition: the members of the class in which the assumptions about contexts hold, and the marks that
they share. A search asks an oracle of one of these members, and is told which nodes are contexts. A mark that is not in
the truth is unsound; one that is in it and was not found is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from multiprocessing import get_context

import numpy as np

from anypag.arrays import Flags
from anypag.ci.base import Oracle
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.pag import MAG
from anypag.knowledge.knowledge import Knowledge
from anypag.run.engine import learn
from certify.members import ClassesOfMags, members

SETTINGS = ((1, "1"), (1, "12"), (1, "123"), (2, "1"), (2, "12"), (2, "123"))
"""How many of the nodes are contexts, and by which assumptions."""


@dataclass
class ContextTally:
    """The classes and errors of one setting."""

    contexts: int
    assumptions: str
    n: int
    classes: int = 0
    wrong_skeletons: int = 0
    unsound: int = 0
    incomplete: int = 0
    circles: int = 0
    circles_without: int = 0
    """Circles that are left without a word about contexts, the sample being not selected."""

    @property
    def is_right(self) -> bool:
        """Is every graph the truth?"""
        return not (self.wrong_skeletons or self.unsound or self.incomplete)

    def add(self, other: ContextTally) -> None:
        """Add the counts of other classes."""
        for name in ("classes", "wrong_skeletons", "unsound", "incomplete", "circles", "circles_without"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def certify_contexts(n: int, n_classes: int | None = None, *, seed: int = 0, workers: int = 1) -> list[ContextTally]:
    """One tally per setting; the arguments are those of `certify_knowledge`."""
    there = _members(n).n_classes
    chosen = np.random.default_rng(seed).permutation(there)[: there if n_classes is None else n_classes]
    parts = [part.tolist() for part in np.array_split(chosen, max(1, min(len(chosen), 4 * workers)))]
    if workers == 1:
        return _sums(n, map(partial(_tallies, n, seed), parts))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return _sums(n, pool.map(partial(_tallies, n, seed), parts))


@cache
def _members(n: int) -> ClassesOfMags:
    return members(n)


def _sums(n: int, parts: object) -> list[ContextTally]:
    total = [ContextTally(k, assumptions, n) for k, assumptions in SETTINGS]
    for tallies in parts:  # type: ignore[attr-defined]
        for into, tally in zip(total, tallies, strict=True):
            into.add(tally)
    return total


def _tallies(n: int, seed: int, chosen: Sequence[int]) -> list[ContextTally]:
    tallies = [ContextTally(k, assumptions, n) for k, assumptions in SETTINGS]
    for c, tally in product(chosen, tallies):
        _count(tally, c, seed)
    return tallies


def _count(tally: ContextTally, c: int, seed: int) -> None:
    found = _members(tally.n)
    rows = slice(found.first[c], found.first[c + 1])
    holds = [
        is_design(*one, tally.contexts, tally.assumptions) for one in zip(found.of(c), found.leads[rows], strict=True)
    ]
    fitting = found.of(c)[np.array(holds)]
    if not len(fitting):
        return
    truth = np.where(fitting.min(axis=0) == fitting.max(axis=0), fitting[0], Mark.CIRCLE)
    names = [f"X{i}" for i in range(tally.n)]
    drawn = fitting[np.random.default_rng([seed, c]).integers(len(fitting))]
    known = Knowledge(contexts=names[: tally.contexts], assumptions=tally.assumptions)
    marks = learn(Oracle(MAG(drawn, names)), knowledge=known, method="icd").pag.marks
    without = learn(Oracle(MAG(drawn, names)), selection_bias=False, method="icd").pag.marks
    tally.classes += 1
    tally.circles += int((marks == Mark.CIRCLE).sum())
    tally.circles_without += int((without == Mark.CIRCLE).sum())
    tally.wrong_skeletons += bool(((marks != Mark.NONE) != (truth != Mark.NONE)).any())
    tally.unsound += bool(((marks > Mark.CIRCLE) & (marks != truth)).any())
    tally.incomplete += bool(((marks == Mark.CIRCLE) & (truth > Mark.CIRCLE)).any())


def is_design(mag: Marks, leads: Flags, n_contexts: int, assumptions: str) -> bool:
    """Do the assumptions hold in a MAG without selection whose first nodes are contexts?"""
    arrow, tail = mag == Mark.ARROW, mag == Mark.TAIL
    contexts, others = range(n_contexts), range(n_contexts, len(mag))
    both = arrow & arrow.T
    if (tail & tail.T).any() or leads[np.ix_(others, contexts)].any():
        return False
    if "2" in assumptions and any(both[c, s] for c, s in product(contexts, others)):
        return False
    return "3" not in assumptions or all(both[c, d] for c, d in combinations(contexts, 2))
