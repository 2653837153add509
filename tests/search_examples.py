"""Systems to search in, with the truth about them: the counterexamples, and random ones that are hard."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from anypag import DAG, MAG, PAG, Mark, Oracle, Queries, latent_projection
from anypag.graphs.separation import are_separated
from anypag.simulate import System

Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int32]


def _digits(n: int) -> list[str]:
    return [str(i) for i in range(n)]


SEVEN = MAG.from_string(
    "0 --> 3; 0 --> 6; 2 --> 3; 2 <-> 6; 1 <-> 2; 3 --> 4; 3 <-> 5; 4 <-> 5; 5 --> 6; 6 --> 1", _digits(7)
)
"""1 and 4 are separated by {0, 2, 5} and no other set of three, but 0 is reached only through 3 or 6."""

_NINE = (
    "A1 --> X; A2 --> X; Z --> A1; Z --> A2; Z --> B1; Z --> B2; B1 --> Y; B2 --> Y; "
    "W1 --> X; W1 --> Y; W2 --> X; W2 --> Y"
)
NINE = DAG.from_string(_NINE)
"""{Z, W1, W2} separates X and Y, but Z is out of reach of both when sets of three are tried."""

TEN = DAG.from_string(_NINE + "; Z --> C; W1 --> C; W2 --> C; Y --> C")
"""The same, and R0 on the surviving X–Y–C puts a wrong arrowhead at Y, if nobody checks."""

ELEVEN = MAG.from_string(
    "0 <-> 1; 0 --> 4; 0 --> 6; 5 --> 1; 1 --> 6; 7 --> 1; 1 <-> 10; 3 --> 2; 2 --> 4; 3 --> 5; 3 --> 6; 3 --> 7; "
    "3 <-> 9; 9 --> 4; 10 --> 4; 5 --> 6; 7 <-> 8; 8 <-> 10",
    _digits(11),
)
"""Wrong marks, where they prune candidates, keep the edge 6–7 for good."""


def canonical_system(mag: MAG) -> System:
    """A DAG whose projection a MAG is: a latent cause for every <->, a selection effect for every ---."""
    arrows, names = [], list(mag.names)
    latent, selection = [], []
    for edge in mag.edges():
        if (edge.mark_a, edge.mark_b) == (Mark.ARROW, Mark.ARROW):
            latent.append(f"L_{edge.a}_{edge.b}")
            arrows += [(latent[-1], edge.a), (latent[-1], edge.b)]
        elif (edge.mark_a, edge.mark_b) == (Mark.TAIL, Mark.TAIL):
            selection.append(f"S_{edge.a}_{edge.b}")
            arrows += [(edge.a, selection[-1]), (edge.b, selection[-1])]
        else:
            arrows.append((edge.a, edge.b) if edge.mark_b == Mark.ARROW else (edge.b, edge.a))
    names += latent + selection
    adjacency = np.zeros((len(names), len(names)), np.uint8)
    for a, b in arrows:
        adjacency[names.index(a), names.index(b)] = 1
    return System(DAG(adjacency, names), tuple(latent), tuple(selection))


def random_system(rng: np.random.Generator, n: int, core: tuple[str, ...] = ()) -> System:
    """n observed nodes in random order; latent causes of pairs and of threes; often a selection node or two.

    The core is a list of edges between the first nodes ("0 --> 1", "1 <-> 2") that are there in any case.
    """
    density = 1.0 if not core else 0.5
    arrows, confounded = density * rng.uniform(0.8, 2.2) / n, density * rng.uniform(0.2, 1.8) / n
    pairs = [pair for pair in combinations(range(n), 2) if rng.random() < confounded]
    threes = [tuple(rng.choice(n, 3, replace=False).tolist())] if rng.random() < 0.3 else []
    planted = [(int(edge[0]), int(edge[-1])) for edge in core if "<->" in edge]
    latent: list[tuple[int, ...]] = [*pairs, *threes, *planted]
    n_selection = int(rng.choice([0, 0, 1, 2]))
    names = [f"V{i}" for i in range(n)] + [f"L{i}" for i in range(len(latent))] + [f"S{i}" for i in range(n_selection)]
    adjacency = np.zeros((len(names), len(names)), np.uint8)
    adjacency[:n, :n] = np.triu(rng.random((n, n)) < arrows, 1)
    for edge in core:
        if "-->" in edge:
            adjacency[int(edge[0]), int(edge[-1])] = 1
    for k, children in enumerate(latent, n):
        adjacency[k, list(children)] = 1
    for k in range(n + len(latent), len(names)):
        adjacency[rng.choice(n, 2, replace=False), k] = 1
    order = np.concatenate([rng.permutation(n), np.arange(n, len(names))])
    hidden = names[n:]
    return System(
        DAG(adjacency[np.ix_(order, order)], names), tuple(hidden[: len(latent)]), tuple(hidden[len(latent) :])
    )


CORE = ("0 --> 1", "0 --> 2", "1 --> 3", "2 --> 4", "1 <-> 4", "2 <-> 3")
"""The smallest graph in which neighbours do not suffice: 3 and 4 are separated by {0, 1, 2} only."""


def hard_system(rng: np.random.Generator, n: int) -> System:
    """A random system in which neighbours do not suffice to separate some pair."""
    while True:
        system = random_system(rng, n, CORE)
        if not neighbours_suffice(latent_projection(system.dag, system.latent, system.selection)):
            return system


def neighbours_suffice(mag: MAG) -> bool:
    """Is every pair without an edge separated by neighbours of the one or neighbours of the other?"""
    joined = mag.marks != Mark.NONE
    return all(
        joined[x, y] or any(_some_subset_separates(mag, x, y, np.flatnonzero(joined[end]).tolist()) for end in (x, y))
        for x, y in combinations(range(len(mag)), 2)
    )


def _some_subset_separates(graph: MAG, x: int, y: int, nodes: list[int]) -> bool:
    return any(are_separated(graph, *_questions(x, y, nodes, size)).any() for size in range(len(nodes) + 1))


def _questions(x: int, y: int, nodes: list[int], size: int) -> tuple[Indices, Indices, Indices]:
    sets = list(combinations(nodes, size))
    ends = (np.full(len(sets), end, np.int32) for end in (x, y))
    return (*ends, np.array(sets, np.int32).reshape(len(sets), size))  # type: ignore[return-value]


def skeleton_by_all_subsets(system: System) -> Flags:
    """(n, n) the pairs of observed nodes that no set of observed nodes separates: every set is asked for."""
    oracle, n = system.oracle(), len(system.observed)
    joined = ~np.eye(n, dtype=np.bool_)
    for x, y in combinations(range(n), 2):
        rest = [v for v in range(n) if v not in (x, y)]
        joined[x, y] = joined[y, x] = not _oracle_separates(oracle, x, y, rest)
    return joined


def _oracle_separates(oracle: Oracle, x: int, y: int, rest: list[int]) -> bool:
    return any(oracle.pvalues(Queries(*_questions(x, y, rest, size))).any() for size in range(len(rest) + 1))


def wrong_claims(pag: PAG, system: System) -> list[str]:
    """Missing edges, arrowheads and tails that are not right: an arrowhead at B on A *-> B says that B causes neither A
    nor selection, a tail that it does.
    """
    true_edges = {
        frozenset((edge.a, edge.b)) for edge in latent_projection(system.dag, system.latent, system.selection).edges()
    }
    wrong = [f"no edge {sorted(pair)}" for pair in true_edges - {frozenset((e.a, e.b)) for e in pag.edges()}]
    for edge in (*pag.edges(), *(e.reversed() for e in pag.edges())):
        causes = edge.b in system.dag.ancestors(edge.a, *system.selection)
        if edge.mark_b == (Mark.ARROW if causes else Mark.TAIL):
            wrong.append(f"the mark at {edge.b} on {edge}")
    return wrong
