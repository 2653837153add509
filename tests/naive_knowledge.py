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


# --- rules ---------------------------------------------------------------------------------------------------------

CIRCLE, NONE = naive.CIRCLE, naive.NONE


def rule_3_with_tails(marks: Table) -> naive.Wanted:
    """A *-> B <-* C, A *-* D *-* C with no arrowhead at D, A and C not adjacent, D *-o B: D *-> B."""
    return {
        (d, b, ARROW)
        for a, b, c in naive.triples(marks)
        for d in naive.neighbours(marks, b)
        if not marks[a][c] and naive.is_collider(marks, a, b, c) and marks[d][b] == CIRCLE
        if marks[a][d] in (CIRCLE, TAIL) and marks[c][d] in (CIRCLE, TAIL)
    }


def rule_11(marks: Table) -> naive.Wanted:
    """B *-> C --> D, B and D not adjacent, A joined to all three, A o-* D: A --> D."""
    nodes = range(len(marks))
    found = [
        (a, d)
        for a, b, c, d in product(nodes, repeat=4)
        if b != d and marks[b][c] == ARROW and naive.is_parent(marks, c, d) and not marks[b][d]
        if marks[a][b] and marks[a][c] and marks[d][a] == CIRCLE
    ]
    return {mark for a, d in found for mark in ((d, a, TAIL), (a, d, ARROW))}


def rule_12(marks: Table) -> naive.Wanted:
    """X o-* V, an uncovered possibly directed walk X, V, ..., D, and from D a way back to X: X <-* V.

    The way back is directed but for one edge at most, of which only the arrowhead counts.
    """
    wanted: naive.Wanted = set()
    for x in range(len(marks)):
        near = naive.ancestors(marks, [x])
        pointing = [u for u in range(len(marks)) if any(marks[u][w] == ARROW for w in near)]
        back = naive.ancestors(marks, pointing) - {x}
        for v in naive.neighbours(marks, x):
            ends = {end for _, end in naive.possibly_directed_walk(marks, x, v, -1)}
            if marks[v][x] == CIRCLE and ends & back:
                wanted.add((v, x, ARROW))
    return wanted


def knowledge_1(marks: Table, not_causes: Table) -> naive.Wanted:
    """C *-> A, A no cause of B, A o-* B: A <-* B."""
    return {
        (b, a, ARROW)
        for a, b in product(range(len(marks)), repeat=2)
        if marks[b][a] == CIRCLE and not_causes[a][b] and any(row[a] == ARROW for row in marks)
    }


def knowledge_2(marks: Table, not_causes: Table) -> naive.Wanted:
    """B *-o A *-* C without an arrowhead at A, B and C not adjacent, A no cause of C: A --* B."""
    return {
        (b, a, TAIL)
        for b, a, c in naive.triples(marks)
        if marks[b][a] == CIRCLE and marks[c][a] != ARROW and not marks[b][c] and not_causes[a][c]
    }


def knowledge_3(marks: Table, not_causes: Table) -> naive.Wanted:
    """A --* B, A no cause of B: every circle at A is a tail."""
    nodes = range(len(marks))
    selecting = {a for a, b in product(nodes, nodes) if marks[b][a] == TAIL and not_causes[a][b]}
    return {(c, a, TAIL) for a, c in product(selecting, nodes) if marks[c][a] == CIRCLE}


def knowledge_4(marks: Table) -> naive.Wanted:
    """C *-> A: A --o B is A --> B, and A o-- B is A <-- B."""
    nodes = range(len(marks))
    pairs = [(a, b) for a, b in product(nodes, nodes) if any(row[a] == ARROW for row in marks)]
    out = {(a, b, ARROW) for a, b in pairs if marks[b][a] == TAIL and marks[a][b] == CIRCLE}
    return out | {(b, a, ARROW) for a, b in pairs if marks[b][a] == CIRCLE and marks[a][b] == TAIL}


def not_confounded(marks: Table, unconfounded: Table) -> naive.Wanted:
    """A <-* B without a hidden common cause: A <-- B."""
    return {
        (a, b, TAIL)
        for a, b in product(range(len(marks)), repeat=2)
        if marks[b][a] == ARROW and marks[a][b] == CIRCLE and unconfounded[a][b]
    }
