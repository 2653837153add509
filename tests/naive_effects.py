"""Slow, obvious twins of what effects are read from: definitions over all simple paths, sharing no code with the
package.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

import numpy as np

from naive import (
    ARROW,
    CIRCLE,
    TAIL,
    Path,
    Table,
    ancestors,
    is_collider,
    is_parent,
    is_possibly_directed,
    neighbours,
    simple_paths,
)


def inner(path: Path) -> Iterator[tuple[int, int, int]]:
    """The inner nodes of a path, each between its neighbours."""
    return zip(path, path[1:], path[2:], strict=False)


def is_visible(marks: Table, a: int, b: int) -> bool:
    """Zhang 2008, Definition 8, path by path."""
    if not is_parent(marks, a, b):
        return False
    for c in range(len(marks)):
        if c in (a, b) or marks[c][b]:
            continue
        for path in simple_paths(marks, c, a):
            into_a = marks[path[-2]][a] == ARROW
            if into_a and all(is_collider(marks, *three) and is_parent(marks, three[1], b) for three in inner(path)):
                return True
    return False


def part(marks: Table, nodes: Collection[int]) -> list[list[int]]:
    """The graph with all edges taken out that leave these nodes."""
    everyone = range(len(marks))
    return [[marks[v][w] if v in nodes and w in nodes else 0 for w in everyone] for v in everyone]


def bucket(marks: Table, v: int) -> set[int]:
    found = {v}
    while fresh := {w for u in found for w in neighbours(marks, u) if marks[u][w] == marks[w][u] == CIRCLE} - found:
        found |= fresh
    return found


def pc_component(marks: Table, sources: Collection[int], inside: Collection[int]) -> set[int]:
    """Paths of inner colliders without a visible edge; visible in the whole graph."""
    here = part(marks, inside)
    found = set(sources)
    for a in sources:
        for b in inside:
            if b != a and any(_is_hidden_path(marks, path) for path in simple_paths(here, a, b)):
                found.add(b)
    return found


def _is_hidden_path(marks: Table, path: Path) -> bool:
    return all(is_collider(marks, *three) for three in inner(path)) and not any(
        is_visible(marks, v, w) or is_visible(marks, w, v) for v, w in pairwise(path)
    )


def region(marks: Table, sources: Collection[int], inside: Collection[int]) -> set[int]:
    here = part(marks, inside)
    return set().union(*(bucket(here, v) for v in pc_component(marks, sources, inside)))


def is_definite_status(marks: Table, path: Path) -> bool:
    """Is every inner node a collider, or certainly none?"""
    return all(is_collider(marks, a, b, c) or is_definite_noncollider(marks, a, b, c) for a, b, c in inner(path))


def is_definite_noncollider(marks: Table, a: int, b: int, c: int) -> bool:
    ends = (marks[a][b], marks[c][b])
    return TAIL in ends or (ends == (CIRCLE, CIRCLE) and not marks[a][c])


def is_definitely_connected(marks: Table, x: int, y: int, z: Collection[int]) -> bool:
    """Is there a path of definite status on which colliders are above z, and no other inner node is in z?"""
    above = ancestors(marks, z)
    return any(
        is_definite_status(marks, path)
        and all(b in above if is_collider(marks, a, b, c) else b not in z for a, b, c in inner(path))
        for path in simple_paths(marks, x, y)
    )


def is_adjustment_set(marks: Table, x: Collection[int], y: Collection[int], z: Collection[int]) -> bool:
    """The generalised adjustment criterion, condition by condition, over all proper paths."""
    paths = [path for a in x for b in y for path in simple_paths(marks, a, b) if not set(path[1:]) & set(x)]
    causal = [path for path in paths if is_possibly_directed(marks, path)]
    if not all(is_visible(marks, path[0], path[1]) for path in causal):
        return False
    after = {w for path in causal for w in path[1:]}
    if set(z) & possible_descendants(marks, after):
        return False
    above = ancestors(marks, z)
    return not any(
        is_definite_status(marks, path)
        and all(b in above if is_collider(marks, a, b, c) else b not in z for a, b, c in inner(path))
        for path in paths
        if path not in causal
    )


def possible_descendants(marks: Table, sources: Collection[int]) -> set[int]:
    """The sources and all nodes with a possibly directed path from one of them, path by path."""
    return set(sources) | {
        w
        for v in sources
        for w in range(len(marks))
        if v != w and any(is_possibly_directed(marks, path) for path in simple_paths(marks, v, w))
    }


def clustered_error(design: list[list[float]], y: list[float], cluster: list[int]) -> list[float]:
    """Standard errors of least squares by cluster, from the definition: the sandwich of sums over clusters, times
    G / (G - 1).
    """
    x, target = np.array(design), np.array(y)
    bread = np.linalg.inv(x.T @ x)
    left = target - x @ (bread @ (x.T @ target))
    groups = sorted(set(cluster))
    meat = np.zeros_like(bread)
    for group in groups:
        total = sum(x[i] * left[i] for i in range(len(y)) if cluster[i] == group)
        meat += np.outer(total, total)
    variance = bread @ meat @ bread * len(groups) / (len(groups) - 1)
    return [float(value) ** 0.5 for value in np.diag(variance)]


def cross_fitted_slope(y: list[float], x: list[float], z: list[list[float]], folds: list[int]) -> float:
    """The partially linear estimate with least squares, row by row."""
    top = bottom = 0.0
    for i in range(len(y)):
        others = [j for j in range(len(y)) if folds[j] != folds[i]]
        design = np.array([[1.0, *z[j]] for j in others])
        here = np.array([1.0, *z[i]])
        left = []
        for column in (y, x):
            weights = np.linalg.lstsq(design, np.array([column[j] for j in others]), rcond=None)[0]
            left.append(column[i] - float(here @ weights))
        top, bottom = top + left[0] * left[1], bottom + left[1] ** 2
    return top / bottom


def doubly_robust_mean(
    y: list[float], is_set: list[bool], chance: list[float], if_set: list[float], if_not: list[float]
) -> float:
    """The mean of AIPW scores, term by term."""
    total = 0.0
    for i in range(len(y)):
        total += if_set[i] - if_not[i]
        total += (y[i] - if_set[i]) / chance[i] if is_set[i] else -(y[i] - if_not[i]) / (1 - chance[i])
    return total / len(y)
