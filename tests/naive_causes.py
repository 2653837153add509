"""What can be a cause of what, by definition: every order of a few variables, every set that may affect selection."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from itertools import combinations, permutations, product

from anypag.graphs.contradictions import Assertion

World = tuple[frozenset[tuple[str, str]], frozenset[str]]
"""Which variable is a cause of which, and which affect selection."""


@cache
def worlds(names: tuple[str, ...]) -> tuple[World, ...]:
    """All there are."""
    pairs = list(permutations(names, 2))
    found = []
    for chosen in product((False, True), repeat=len(pairs)):
        causes = frozenset(pair for pair, there in zip(pairs, chosen, strict=True) if there)
        if _is_order(causes):
            found += [(causes, selected) for selected in _closed_sets(names, causes)]
    return tuple(found)


def _is_order(causes: frozenset[tuple[str, str]]) -> bool:
    return all(a != d and (a, d) in causes for a, b in causes for c, d in causes if b == c)


def _closed_sets(names: tuple[str, ...], causes: frozenset[tuple[str, str]]) -> Iterator[frozenset[str]]:
    """With each variable that affects selection, all its causes do."""
    for size in range(len(names) + 1):
        for chosen in combinations(names, size):
            if all(a in chosen for a, b in causes if b in chosen):
                yield frozenset(chosen)


def is_true(statement: Assertion, world: World) -> bool:
    (causes, selected), (kind, a, b) = world, statement
    if kind == "independent":
        shared = {x for x, y in causes if y == a} & {x for x, y in causes if y == b}
        return (a, b) not in causes and (b, a) not in causes and not shared
    is_cause = (a, b) in causes or a in selected
    return is_cause if kind == "cause" else not is_cause


def can_all_be_true(statements: Collection[Assertion], names: tuple[str, ...], *, selection: bool) -> bool:
    return any(
        all(is_true(statement, world) for statement in statements)
        for world in worlds(names)
        if selection or not world[1]
    )
