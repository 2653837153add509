"""Every equivalence class of MAGs without selection on a few nodes, and the causal systems behind each member."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from certify.members import decoded
from certify.mixed_graphs import maximal_ancestral_graphs

from anypag import DAG, latent_projection
from naive import ARROW, TAIL, Frozen, ancestors, canonical_dag, common_marks, project

Values = npt.NDArray[np.float64]


class Class(NamedTuple):
    """A PAG and the MAGs that it stands for."""

    pag: Frozen
    members: tuple[Frozen, ...]


@cache
def classes(n: int) -> tuple[Class, ...]:
    """All of them, without selection: 2 on two nodes, 11 on three, 248 on four, 24,259 on five."""
    codes, signatures = maximal_ancestral_graphs(n)
    marks = decoded(codes, n)
    undirected = ((marks == TAIL) & (marks.swapaxes(1, 2) == TAIL)).any(axis=(1, 2))
    groups: dict[bytes, list[Frozen]] = {}
    for table, signature in zip(marks[~undirected].tolist(), signatures[~undirected], strict=True):
        groups.setdefault(signature.tobytes(), []).append(tuple(map(tuple, table)))
    return tuple(Class(common_marks(group), tuple(group)) for group in groups.values())


def sample(n: int, size: int, seed: int = 0) -> tuple[Class, ...]:
    """Some of the classes, without order."""
    chosen = np.random.default_rng(seed).permutation(len(classes(n)))[:size]
    return tuple(classes(n)[k] for k in chosen)


def marks_of(table: Frozen) -> npt.NDArray[np.uint8]:
    return np.array(table, np.uint8)


# --- the systems behind a MAG ----------------------------------------------------------------------------------------


class System(NamedTuple):
    """A causal DAG over observed nodes, 0 to n - 1, and hidden ones that each cause two of them."""

    n: int
    arrows: tuple[tuple[int, int], ...]
    hidden: tuple[tuple[int, int], ...]


def is_invisible_by_definition(mag: Frozen, a: int, b: int) -> bool:
    """Does the MAG stay the same when a and b get a common cause? No path is looked at."""
    dag, latent, _ = canonical_dag(mag)
    wider = [[*row, 0] for row in dag] + [[0] * (len(dag) + 1)]
    for child in (a, b):
        wider[-1][child], wider[child][-1] = ARROW, TAIL
    return project(wider, [*latent, len(dag)], []) == mag


@cache
def invisible_edges(mag: Frozen) -> tuple[tuple[int, int], ...]:
    """The arrows of a MAG that may hide a common cause of their ends."""
    n = len(mag)
    arrows = [(a, b) for a in range(n) for b in range(n) if mag[a][b] == ARROW and mag[b][a] == TAIL]
    return tuple(arrow for arrow in arrows if is_invisible_by_definition(mag, *arrow))


@cache
def systems(mag: Frozen) -> tuple[System, ...]:
    """The systems of a MAG that hide most: a hidden cause behind every <-> and behind as many arrows as may have one.

    Arrows that may each hide a common cause cannot always do so together: in X <-- Y --> Z one may, both would open
    X <-> Y <-> Z. So there can be several widest systems; those that hide less are special cases of one of them (a
    hidden cause without influence), and an equation between polynomials that holds for it holds for them.
    """
    n = len(mag)
    pairs = [(a, b) for a in range(n) for b in range(n)]
    arrows = tuple((a, b) for a, b in pairs if mag[a][b] == ARROW and mag[b][a] == TAIL)
    spouses = tuple((a, b) for a, b in pairs if a < b and mag[a][b] == ARROW and mag[b][a] == ARROW)
    found: list[set[tuple[int, int]]] = []
    for chosen in sorted(subsets_of_pairs(invisible_edges(mag)), key=len, reverse=True):
        system = System(n, arrows, spouses + chosen)
        if not any(set(chosen) <= other for other in found) and is_system_of(system, mag):
            found.append(set(chosen))
    return tuple(System(n, arrows, spouses + tuple(sorted(chosen))) for chosen in found)


def is_system_of(system: System, mag: Frozen) -> bool:
    """Does the system look like this MAG when its hidden causes are not seen?"""
    dag, latent = dag_of(system)
    seen = latent_projection(DAG((marks_of(dag) == ARROW).astype(np.uint8)), latent)
    return bool((seen.marks == marks_of(mag)).all())


def dag_of(system: System) -> tuple[Frozen, list[int]]:
    """The marks of the DAG behind a system, and its latent nodes."""
    size = system.n + len(system.hidden)
    marks = [[0] * size for _ in range(size)]
    latent = list(range(system.n, size))
    arrows = [*system.arrows, *((k, end) for k, pair in zip(latent, system.hidden, strict=True) for end in pair)]
    for a, b in arrows:
        marks[a][b], marks[b][a] = ARROW, TAIL
    return tuple(map(tuple, marks)), latent


def causal_order(system: System) -> list[int]:
    """The observed nodes, causes first."""
    dag, _ = dag_of(system)
    return sorted(range(system.n), key=lambda v: len(ancestors(dag, [v]) & set(range(system.n))))


# --- random models of a system -------------------------------------------------------------------------------------


class Linear(NamedTuple):
    """A linear-Gaussian model: direct effects weights[i, j] of i on j, and the covariance of the observed nodes."""

    weights: Values
    covariance: Values


def linear_model(system: System, rng: np.random.Generator) -> Linear:
    """Random weights, the covariance exact."""
    n = system.n
    weights = np.zeros((n, n))
    for a, b in system.arrows:
        weights[a, b] = rng.uniform(0.4, 1.2) * rng.choice([-1, 1])
    noise = np.diag(rng.uniform(0.5, 1.5, n))
    for a, b in system.hidden:
        load = np.zeros(n)
        load[[a, b]] = rng.uniform(0.4, 1.2, 2) * rng.choice([-1, 1], 2)
        noise += np.outer(load, load)
    total = np.linalg.inv(np.eye(n) - weights)
    return Linear(weights, total.T @ noise @ total)


def linear_effect(model: Linear, x: list[int], y: list[int]) -> Values:
    """(x, y) the change of the mean of y per unit of x when all of x are set."""
    cut = model.weights.copy()
    cut[:, x] = 0
    return np.asarray(np.linalg.inv(np.eye(len(cut)) - cut)[np.ix_(x, y)])


def regression(model: Linear, x: list[int], y: list[int], z: list[int]) -> Values:
    """(x, y) the coefficients of x in the regression of y on x and z."""
    given = [*x, *z]
    return np.asarray(
        np.linalg.solve(model.covariance[np.ix_(given, given)], model.covariance[np.ix_(given, y)])[: len(x)]
    )


class Binary(NamedTuple):
    """A model with two values a variable: for each node P(node = 1 | parents, hidden parents)."""

    system: System
    parents: tuple[tuple[int, ...], ...]  # in the DAG with the hidden nodes after the observed ones
    tables: tuple[Values, ...]


def binary_model(system: System, rng: np.random.Generator) -> Binary:
    """Random tables."""
    dag, _ = dag_of(system)
    parents = tuple(tuple(u for u in range(len(dag)) if dag[u][v] == ARROW) for v in range(len(dag)))
    return Binary(system, parents, tuple(rng.uniform(0.1, 0.9, (2,) * len(above)) for above in parents))


def distribution(model: Binary, do: tuple[int, ...] = ()) -> Values:
    """(2, ..., 2) the exact table of the observed nodes when those in `do` are set: indexed by their values too."""
    size, n = len(model.parents), model.system.n
    letters = "abcdefghijklmnopqrstuvwxyz"[:size]
    terms, factors = [], []
    for v, (above, table) in enumerate(zip(model.parents, model.tables, strict=True)):
        if v not in do:
            factors.append(np.stack([1 - table, table], axis=-1))
            terms.append("".join(letters[u] for u in above) + letters[v])
        else:
            factors.append(np.ones(2))
            terms.append(letters[v])
    return np.asarray(np.einsum(",".join(terms) + "->" + letters[:n], *factors, optimize=True))


def subsets_of_pairs(pairs: tuple[tuple[int, int], ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    for choice in range(1 << len(pairs)):
        yield tuple(pair for k, pair in enumerate(pairs) if choice >> k & 1)
