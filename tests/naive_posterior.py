"""Slow, obvious twins of what is said of sampled graphs: one graph and one pair after the other.

A graph is a list of numbers, one for each pair of variables, that say how the pair is joined; 0 is not at all.
"""

from __future__ import annotations

from collections.abc import Sequence

Graph = Sequence[int]
Sampled = list[tuple[Graph, int]]
"""Graphs, and how often each was sampled."""


def share(graphs: Sampled, pair: int, state: int) -> float:
    """Of these graphs, the share in which a pair is joined in this way."""
    n = sum(count for _, count in graphs)
    return sum(count for graph, count in graphs if graph[pair] == state) / n if n else 0.0


def weighed(graphs: Sampled, pair: int, worth: dict[int, float], rare: float) -> dict[int, float]:
    """How probable each way to join a pair is, given that it is joined: by how often graphs do so, and by worth."""
    joined = [(graph, count) for graph, count in graphs if graph[pair] != 0]
    each = {state: worth[state] * (share(joined, pair, state) + rare) for state in worth}
    return {state: number / sum(each.values()) for state, number in each.items()}


def changes_with(graphs: Sampled, answers: Sequence[Graph], pair: int, state: int) -> list[tuple[int, int, float]]:
    """The at most two other pairs that mostly are joined otherwise where one is, and seldom where it is not."""
    with_it = [(graph, count) for graph, count in graphs if graph[pair] == state]
    without = [(graph, count) for graph, count in graphs if graph[pair] in {answer[pair] for answer in answers}]
    found = []
    for other in range(len(answers[0])):
        told = []
        for new in {graph[other] for graph, _ in with_it} - {answer[other] for answer in answers}:
            often = share(with_it, other, new)
            gain = often - share(without, other, new)
            if other != pair and often >= 0.5 and gain >= 0.25:
                told.append((-gain, other, new, often))
        found += sorted(told)[:1]
    return [(other, new, often) for _, other, new, often in sorted(found)][:2]
