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


Node = tuple[int, int | None]
"""A process and its lag; of a context its number and None."""


def nodes_by_hand(k: int, max_lag: int, contexts: int) -> list[Node]:
    """The nodes of a window, contexts last."""
    moving: list[Node] = [(process, lag) for lag in range(max_lag + 1) for process in range(k)]
    return [*moving, *((k + c, None) for c in range(contexts))]


def are_copies(nodes: list[Node], a: int, b: int, i: int, j: int) -> bool:
    """Are the nodes i and j those of a and b, both moved in time by as much? Contexts do not move."""
    if nodes[a][0] != nodes[i][0] or nodes[b][0] != nodes[j][0]:
        return False
    lags = [nodes[node][1] for node in (a, b, i, j)]
    moves = {
        after - before
        for before, after in ((lags[0], lags[2]), (lags[1], lags[3]))
        if before is not None and after is not None
    }
    return len(moves) <= 1


def copies_by_hand(k: int, max_lag: int, a: int, b: int, contexts: int = 0) -> set[tuple[int, int]]:
    """All pairs of nodes with the same processes and the same distance in time as a and b."""
    nodes = nodes_by_hand(k, max_lag, contexts)
    every = range(len(nodes))
    return {(i, j) for i in every for j in every if i != j and are_copies(nodes, a, b, i, j)}


def spread_by_hand(k: int, max_lag: int, marks: list[list[int]], contexts: int = 0) -> list[list[int]]:
    """The marks of latest copies at all copies."""
    nodes = nodes_by_hand(k, max_lag, contexts)
    n = len(nodes)
    found = [[0] * n for _ in range(n)]
    for a in range(n):
        for b in range(n):
            if a != b and min([lag for lag in (nodes[a][1], nodes[b][1]) if lag is not None], default=0) == 0:
                for i, j in copies_by_hand(k, max_lag, a, b, contexts):
                    found[i][j] = marks[a][b]
    return found


def same_by_hand(
    k: int, max_lag: int, marks: list[list[int]], contexts: int = 0
) -> tuple[list[list[int]], set[tuple[int, int]]]:
    """The marks, each at all copies of its pair; and the pairs whose copies disagree."""
    n = len(marks)
    found, disputed = [[0] * n for _ in range(n)], set()
    for a in range(n):
        for b in range(n):
            copies = copies_by_hand(k, max_lag, a, b, contexts) if a != b else set()
            said = {marks[i][j] for i, j in copies} - {int(Mark.NONE), int(Mark.CIRCLE)}
            if a != b and marks[a][b]:
                found[a][b] = int(Mark.ARROW) if Mark.ARROW in said else int(Mark.TAIL) if said else int(Mark.CIRCLE)
            if len(said) > 1:
                disputed.add((a, b))
    return found, disputed
