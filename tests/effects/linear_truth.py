"""Linear systems behind a MAG, with hidden causes and with variables that select the sample: in all of them a claim
about an effect must hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.errors import AnypagError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.pag import DAG
from anypag.graphs.projection import latent_projection

Floats = npt.NDArray[np.float64]


class System(NamedTuple):
    """A DAG over n measured nodes and others: who causes whom, who selects."""

    causes: npt.NDArray[np.uint8]
    selecting: list[int]


def systems(mag: Marks, rng: np.random.Generator, *, selection: bool, tries: int = 4) -> Iterator[System]:
    """Random DAGs whose MAG this is: `<->` is a hidden cause, `---` a common effect that selects. An arrow may have a
    hidden cause besides; with `selection` a node without arrowheads may be a cause of that and not of its neighbour.
    """
    n = len(mag)
    has_arrowhead = (mag == Mark.ARROW).any(axis=0)
    for turn in range(tries):
        edges, hidden, selecting, size = list[tuple[int, int]](), list[int](), list[int](), n
        for a, b in combinations(range(n), 2):
            at_a, at_b = mag[b, a], mag[a, b]
            if at_a == Mark.ARROW and at_b == Mark.ARROW:
                edges += [(size, a), (size, b)]
                hidden.append(size)
                size += 1
            elif at_a == Mark.TAIL and at_b == Mark.TAIL:
                edges += [(a, size), (b, size)]
                selecting.append(size)
                size += 1
            elif at_a:
                x, y = (a, b) if at_b == Mark.ARROW else (b, a)
                if turn and not has_arrowhead[x] and selection and rng.random() < 0.6:
                    edges += [(x, size), (size + 1, size), (size + 1, y)]
                    selecting.append(size)
                    hidden.append(size + 1)
                    size += 2
                    continue
                edges.append((x, y))
                if turn > 1 and rng.random() < 0.5:
                    edges += [(size, x), (size, y)]
                    hidden.append(size)
                    size += 1
        causes = np.zeros((size, size), np.uint8)
        causes[tuple(np.array(edges, np.intp).reshape(-1, 2).T)] = 1
        names = [f"X{i}" for i in range(size)]
        try:
            projected = latent_projection(DAG(causes, names), [names[v] for v in hidden], [names[v] for v in selecting])
        except AnypagError:
            continue
        if (projected.marks == mag).all():
            yield System(causes, selecting)


def slope_and_effect(
    system: System, x: int, y: int, z: tuple[int, ...], rng: np.random.Generator
) -> tuple[float, float]:
    """With random weights: the slope of x in the regression of y on x and z in the sample, and the total effect."""
    size = len(system.causes)
    weights = system.causes * rng.uniform(0.5, 1.5, (size, size)) * rng.choice([-1, 1], (size, size))
    effects = np.linalg.inv(np.eye(size) - weights)
    covariance: Floats = effects.T @ effects
    s = system.selecting
    if s:
        covariance = covariance - covariance[:, s] @ np.linalg.solve(covariance[np.ix_(s, s)], covariance[s])
    columns = [x, *z]
    slopes = np.linalg.solve(covariance[np.ix_(columns, columns)], covariance[columns, y])
    return float(slopes[0]), float(effects[x, y])
