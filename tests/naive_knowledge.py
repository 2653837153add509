"""What knowledge licenses, by definition: the members of a class that agree with what was said, and what they share.

A MAG stands for many causal graphs, and knowledge speaks of these. `stories(marks)` gives all that can be true behind
a MAG: which observed nodes are causes of which, and which are causes of selection. (`tests/knowledge/test_naive.py`
builds the causal graphs.) Nothing here shares code with the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import naive
from naive import ARROW, TAIL, Frozen, Table

Pair = tuple[int, int]


@dataclass(frozen=True)
class Said:
    """Statements about nodes: pairs (a, b) for "a is a cause of b", "a is no cause of b", and so on."""

    causes: frozenset[Pair] = frozenset()
    not_causes: frozenset[Pair] = frozenset()
    not_selecting: frozenset[int] = frozenset()
    unconfounded: frozenset[Pair] = frozenset()
    selection: bool = True


class Story(NamedTuple):
    """What can be true behind a MAG."""

    causes: frozenset[Pair]
    selecting: frozenset[int]


def truth(members: Sequence[Table], said: Said) -> Frozen | None:
    """The marks that all members share which agree with what was said; None if none agrees."""
    left = [member for member in members if agrees(freeze(member), said)]
    return naive.common_marks(left) if left else None


def agrees(member: Frozen, said: Said) -> bool:
    """Is there a story behind the member in which all that was said is true?"""
    if not said.selection and any(member[a][b] == ARROW == member[b][a] for a, b in said.unconfounded):
        return False
    return any(
        said.causes <= story.causes
        and not said.not_causes & story.causes
        and not said.not_selecting & story.selecting
        and (said.selection or not story.selecting)
        for story in stories(member)
    )


@cache
def stories(marks: Frozen) -> frozenset[Story]:
    """All that can be true behind a MAG.

    Ends of `---` are causes of selection; a node with an arrowhead is none; any other may be one or not. Whoever is
    none is a cause of its descendants in the MAG and of no other node. Whoever is one may be a cause of any node,
    joined or not, or of none: being selected can have effects itself, and among the selected they cannot be seen.
    """
    nodes = range(len(marks))
    must = {a for a, b in product(nodes, nodes) if marks[a][b] == TAIL == marks[b][a]}
    may = {a for a in nodes if all(marks[b][a] != ARROW for b in nodes)}
    found = set()
    for extra in naive.subsets(sorted(may - must)):
        selecting = must | set(extra)
        sure = {(a, b) for a, b in product(nodes, nodes) if naive.is_parent(marks, a, b) and a not in selecting}
        arcs = [(a, b) for a, b in product(selecting, nodes) if a != b]
        chosen = (frozenset(arcs[k] for k in places) for places in naive.subsets(range(len(arcs))))
        ways = {_closure(sure | some) for some in chosen}
        found |= {Story(causes, frozenset(selecting)) for causes in ways if all(a != b for a, b in causes)}
    return frozenset(found)


def _closure(arcs: set[Pair]) -> frozenset[Pair]:
    reach = set(arcs)
    while fresh := {(a, d) for a, b in reach for c, d in reach if b == c} - reach:
        reach |= fresh
    return frozenset(reach)


def causal_graph(marks: Table, story: Story) -> tuple[Frozen, list[int], list[int]]:
    """A DAG in which the story is true and whose MAG is `marks`, with its latent and its selection nodes.

    Causes of selection act through it: A --> S --> B for whatever they are causes of. Their edges in the MAG are
    X --> S <-- L --> Y and X --> S <-- Y.
    """
    n = len(marks)
    arrows: list[Pair] = []
    latent: list[int] = []
    selection: list[int] = []

    def new(kind: list[int]) -> int:
        kind.append(n + len(latent) + len(selection))
        return kind[-1]

    for a in sorted(story.selecting):
        arrows += [(a, new(selection))]
        for b in (b for b in range(n) if (a, b) in story.causes):
            chosen = new(selection)
            arrows += [(a, chosen), (chosen, b)]
    for a, b in combinations(range(n), 2):
        if not marks[a][b]:
            continue
        cause, effect = (a, b) if marks[a][b] == ARROW else (b, a)
        if marks[a][b] == ARROW == marks[b][a]:
            hidden = new(latent)
            arrows += [(hidden, a), (hidden, b)]
        elif marks[a][b] == TAIL == marks[b][a]:
            chosen = new(selection)
            arrows += [(a, chosen), (b, chosen)]
        elif cause in story.selecting:
            chosen, hidden = new(selection), new(latent)
            arrows += [(cause, chosen), (hidden, chosen), (hidden, effect)]
        else:
            arrows += [(cause, effect)]
    ends = {(min(a, b), max(a, b)): (TAIL, ARROW) if a < b else (ARROW, TAIL) for a, b in arrows}
    return naive.table(n + len(latent) + len(selection), ends), latent, selection


def freeze(marks: Table) -> Frozen:
    return tuple(tuple(int(mark) for mark in row) for row in marks)


def weak_orders(n: int) -> Iterator[tuple[int, ...]]:
    """All ways to put n nodes into tiers: the tier of each."""
    for tiers in product(range(n), repeat=n):
        if set(tiers) == set(range(max(tiers) + 1)):
            yield tiers


def said_by_tiers(tiers: Sequence[int]) -> frozenset[Pair]:
    """What tiers say: no node is a cause of one in an earlier tier."""
    return frozenset((a, b) for a, b in product(range(len(tiers)), repeat=2) if tiers[a] > tiers[b])
