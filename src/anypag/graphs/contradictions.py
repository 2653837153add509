"""Contradictions: statements of a graph that cannot all be true.

Marks and marginal independences are statements about which variable is a cause (an ancestor) of which. A tail at A on
A–B says that A is a cause of B or of selection into the sample. An arrowhead at A says that A is neither. Two variables
that are marginally independent have no common cause, and neither causes the other. Causes of causes are causes, and
nothing is a cause of itself. `cannot_all_be_true` decides by these rules.

A variable at which an edge has an arrowhead does not cause selection, nor do the variables that it causes. For these
*unselected* variables a tail means "cause of" and nothing else. Any other variable may cause selection; if it does, all
its tails are true. So the statements contradict each other exactly if a chain of tails at unselected variables

1. leads from A to B, with an arrowhead at A on A–B,
2. returns to its start, or
3. leads from one of two independent variables to the other, or if two such chains lead from one variable to two
   independent variables.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, combinations, pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np

from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG

AssertionKind = Literal["cause", "not", "independent"]
Links = Mapping[str, Collection[str]]
MOST_LISTED = 1000  # the search ends after this number of contradictions
MOST_COMPARED = 1_000_000  # or when the squared sizes of the candidates add up to more than this (a few seconds)


class Assertion(NamedTuple):
    """One statement: `a` is a cause of `b` or of selection ("cause"), of neither ("not"), or independent of `b`."""

    kind: AssertionKind
    a: str
    b: str

    def words(self, *, selection: bool = False) -> str:
        """The statement in words; with `selection`, also what the mark says about selection."""
        sample = " or of being in the sample" if selection else ""
        if self.kind == "cause":
            return f"{self.a} is a cause of {self.b}{sample}"
        if self.kind == "not":
            return f"{self.a} is not a cause of {self.b}{sample}"
        return f"{self.a} and {self.b} are independent"

    def __str__(self) -> str:
        return self.words()


@dataclass(frozen=True)
class Contradiction:
    """A minimal set of statements that cannot all be true; if `statements` is empty, a graph that no system has.

    `pairs` are the pairs of variables that are involved. `sentence` and `str()` are the contradiction in words.
    """

    statements: tuple[Assertion, ...]
    pairs: tuple[tuple[str, str], ...]
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def is_about(self, a: str, b: str) -> bool:
        """Does the contradiction involve this pair of variables?"""
        return (a, b) in self.pairs or (b, a) in self.pairs


def doubted_pairs(found: Iterable[Contradiction]) -> set[frozenset[str]]:
    """The pairs of variables that the contradictions involve."""
    return {frozenset(pair) for item in found for pair in item.pairs}


def contradictions(
    pag: PAG, independent: Iterable[tuple[str, str]] = (), *, selection: bool = True, most_compared: int = MOST_COMPARED
) -> tuple[tuple[Contradiction, ...], bool]:
    """The contradictions in a graph, each as a minimal set of statements, and whether the list is complete. The
    pairs in `independent` are marginally independent. `most_compared` ends the search early (see `MOST_COMPARED`).

    >>> found, _ = contradictions(PAG.from_string("A --> B; B --> C; A <-> C"))
    >>> print(found[0])
    A is a cause of B, B is a cause of C, and A is not a cause of C: these cannot all be true.
    """
    chains = replace(Chains.of(statements_of(pag), selection), independent=dict.fromkeys(independent))
    return chains.contradictions(most_compared)


def statements_of(pag: PAG) -> Iterator[Assertion]:
    """The statements that the marks of a graph make."""
    kinds: tuple[tuple[Mark, AssertionKind], ...] = ((Mark.TAIL, "cause"), (Mark.ARROW, "not"))
    names = pag.names
    for mark, kind in kinds:
        for a, b in np.argwhere(pag.marks.transpose() == mark.value).tolist():
            yield Assertion(kind, names[a], names[b])


def cannot_all_be_true(statements: Iterable[Assertion], *, selection: bool = True) -> bool:
    """Do the statements contradict each other?"""
    return next(Chains.of(statements, selection).candidates(), None) is not None


def smallest(statements: Sequence[Assertion], *, selection: bool = True) -> tuple[Assertion, ...]:
    """A minimal subset of the statements that is still contradictory, found by leaving out each in turn."""
    kept = list(dict.fromkeys(statements))
    for statement in tuple(kept):
        fewer = [other for other in kept if other != statement]
        if cannot_all_be_true(fewer, selection=selection):
            kept = fewer
    return tuple(kept)


def _needs_all(candidate: Sequence[Assertion]) -> bool:
    """True if a contradiction is surely minimal: its "cause" statements form a tree, and no `b` of a "not" is in it."""
    tails = [statement for statement in candidate if statement.kind == "cause"]
    names = {name for tail in tails for name in (tail.a, tail.b)}
    return len(tails) == len(names) - 1 and not any(one.kind == "not" and one.b in names for one in candidate)


@dataclass(frozen=True)
class Chains:
    """Statements sorted so that chains of causes can be followed."""

    leads: Links  # for each variable a, all b with a tail at a on a–b: a is a cause of b or of selection
    comes: Links  # the reverse: for each variable b, all a with a tail at a on a–b
    denied: Links  # for each variable a, all b with an arrowhead at a on a–b: a causes neither b nor selection
    independent: Collection[tuple[str, str]]
    selection: bool  # may the sample be selected?

    @classmethod
    def of(cls, statements: Iterable[Assertion], selection: bool) -> Chains:
        leads, comes, denied = (defaultdict[str, dict[str, None]](dict) for _ in range(3))
        independent: dict[tuple[str, str], None] = {}
        for kind, a, b in statements:
            if kind == "independent":
                independent[a, b] = None
            elif kind == "not":
                denied[a][b] = None
            else:
                leads[a][b] = comes[b][a] = None
        return cls(leads, comes, denied, independent, selection)

    def contradictions(self, most_compared: int = MOST_COMPARED) -> tuple[tuple[Contradiction, ...], bool]:
        """The contradictions, each as a minimal set of statements, and whether the list is complete."""
        n_compared = 0
        found: dict[tuple[Assertion, ...], Contradiction] = {}
        for candidate in self.candidates():
            kept = tuple(dict.fromkeys(candidate))
            if not self.selection or not _needs_all(kept):
                kept = smallest(kept, selection=self.selection)
            found.setdefault(kept, _told(kept, selection=self.selection))
            n_compared += len(candidate) ** 2
            if len(found) >= MOST_LISTED or n_compared > most_compared:
                return tuple(found.values()), False
        return tuple(found.values()), True

    def candidates(self) -> Iterator[list[Assertion]]:
        """Sets of contradictory statements, which may include superfluous ones."""
        for a, others in self.denied.items():
            if a in self.leads:
                tree = _tree(self.leads, a)
                yield from ([*_chain(tree, b), Assertion("not", a, b)] for b in others if b in tree)
        yield from self._circles()
        yield from self._independent_chains()

    def _circles(self) -> Iterator[list[Assertion]]:
        told: set[Assertion] = set()
        tree_of = cache(partial(_tree, self.leads))
        for link in (Assertion("cause", a, b) for a in self.leads if a in self._unselected for b in self.leads[a]):
            tree = tree_of(link.b)
            if link not in told and link.a in tree:
                circle = [link, *_chain(tree, link.a)]
                told.update(circle)
                yield [*self._why_unselected(link.a), *circle]

    def _independent_chains(self) -> Iterator[list[Assertion]]:
        trees = {a: _tree(self.leads, a) for a in self.leads if a in self._unselected} if self.independent else {}
        own_end = ((cause, (cause, effect)) for cause, tree in trees.items() for effect in tree)
        both_ends = ((cause, pair) for cause, tree in trees.items() for pair in combinations([*tree][1:], 2))
        seen: set[tuple[str, str]] = set()
        for cause, (a, b) in chain(own_end, both_ends):
            apart = (a, b) if (a, b) in self.independent else (b, a)
            if apart in self.independent and apart not in seen:
                seen.update([apart, apart[::-1]])
                chains = [*_chain(trees[cause], a), *_chain(trees[cause], b)]
                yield [*self._why_unselected(cause), *chains, Assertion("independent", *apart)]

    def in_chains(self) -> set[str]:
        """The variables on chains of causes from an unselected variable; only independences among these matter."""
        return {*_tree(self.leads, *(a for a in self.leads if a in self._unselected))}

    @cached_property
    def _unselected(self) -> set[str]:
        return {*_tree(self.leads, *self.denied)} if self.selection else {*self.leads, *self.comes}

    def _why_unselected(self, name: str) -> list[Assertion]:
        """The statements that make a variable unselected: an arrowhead at some variable, and the chain from there."""
        if not self.selection:
            return []
        tree = _tree(self.comes, name)
        start = next(node for node in tree if node in self.denied)
        backwards = [Assertion("cause", there.b, there.a) for there in _chain(tree, start)]
        return [Assertion("not", start, next(iter(self.denied[start]))), *backwards[::-1]]


def _tree(links: Links, *starts: str) -> dict[str, str]:
    """Every variable that is reached from the starts, the nearest first, with its predecessor on a shortest path."""
    before = {start: start for start in starts}
    waiting = deque(before)
    while waiting:
        here = waiting.popleft()
        for there in links.get(here, ()):
            if there not in before:
                before[there] = here
                waiting.append(there)
    return before


def _chain(tree: Mapping[str, str], end: str) -> list[Assertion]:
    """The statements "is a cause of" along the path from the start of the tree to `end`."""
    steps: list[Assertion] = []
    while tree[end] != end:
        steps.append(Assertion("cause", tree[end], end))
        end = tree[end]
    return steps[::-1]


def _told(statements: tuple[Assertion, ...], *, selection: bool) -> Contradiction:
    in_order = sorted(statements, key=lambda statement: get_args(AssertionKind).index(statement.kind))
    causes = [statement for statement in statements if statement.kind == "cause"]
    is_ring = in_order[-1].kind != "independent" and cannot_all_be_true(causes, selection=False)
    words = [statement.words(selection=selection and is_ring) for statement in in_order]
    pairs = tuple(dict.fromkeys((statement.a, statement.b) for statement in in_order))
    joined = f"{', '.join(words[:-1])}, and " if len(words) > 1 else ""
    return Contradiction(tuple(in_order), pairs, f"{joined}{words[-1]}: these cannot all be true.")


def of_graph(pag: PAG, reason: str, path: Sequence[str]) -> Contradiction:
    """The contradiction in a graph that is not the PAG of any system, with the reason that `validate` gives."""
    about = pag.path_text(path)
    sentence = f"No system of variables, hidden ones included, has exactly this graph; see {about}. Why: {reason}"
    return Contradiction((), tuple(pairwise(path)), sentence)
