"""Slow, obvious twins of what `anypag.series` computes."""

from __future__ import annotations

import math

from anypag.graphs.marks import Mark

Row = tuple[object, float, tuple[float, ...]]
"""Whose row it is, its time, and its values."""


def windows_by_hand(rows: list[Row], max_lag: int, step: float) -> list[tuple[float, ...]]:
    """Every window: for each row look for the rows of the same unit exactly 1, 2, ... steps before it."""
    found = []
    units = list(dict.fromkeys(unit for unit, _, _ in rows))
    for unit, time, values in sorted(rows, key=lambda row: (units.index(row[0]), row[1])):
        window = list(values)
        for lag in range(1, max_lag + 1):
            before = [other for whose, when, other in rows if whose == unit and math.isclose(when, time - lag * step)]
            window += before[0] if before else [math.nan] * len(values)
        if not any(math.isnan(value) for value in window):
            found.append(tuple(window))
    return found


def copies_by_hand(k: int, max_lag: int, a: int, b: int) -> set[tuple[int, int]]:
    """All pairs of nodes with the same processes and the same distance in time as a and b."""
    n = k * (max_lag + 1)
    apart = a // k - b // k
    return {
        (i, j)
        for i in range(n)
        for j in range(n)
        if i % k == a % k and j % k == b % k and i // k - j // k == apart and i != j
    }


def spread_by_hand(k: int, max_lag: int, marks: list[list[int]]) -> list[list[int]]:
    """The marks of latest copies at all copies."""
    n = k * (max_lag + 1)
    found = [[0] * n for _ in range(n)]
    for a in range(n):
        for b in range(n):
            if a != b and min(a // k, b // k) == 0:
                for i, j in copies_by_hand(k, max_lag, a, b):
                    found[i][j] = marks[a][b]
    return found


def same_by_hand(k: int, max_lag: int, marks: list[list[int]]) -> tuple[list[list[int]], set[tuple[int, int]]]:
    """The marks, each at all copies of its pair; and the pairs whose copies disagree."""
    n = k * (max_lag + 1)
    found, disputed = [[0] * n for _ in range(n)], set()
    for a in range(n):
        for b in range(n):
            copies = copies_by_hand(k, max_lag, a, b) if a != b else set()
            said = {marks[i][j] for i, j in copies} - {int(Mark.NONE), int(Mark.CIRCLE)}
            if a != b and marks[a][b]:
                found[a][b] = int(Mark.ARROW) if Mark.ARROW in said else int(Mark.TAIL) if said else int(Mark.CIRCLE)
            if len(said) > 1:
                disputed.add((a, b))
    return found, disputed
