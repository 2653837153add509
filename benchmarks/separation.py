"""How long one d-separation question takes: 1,000 random ones on a DAG of 1,000 nodes, after warm-up.

    python benchmarks/separation.py

Three ways to ask: one by one (`is_separated`), all at once (`are_separated`), and through an `Oracle` with latent and
selection nodes, as a search does. Each line is the median of several rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from anypag import DAG, Oracle, Queries, is_separated
from anypag.graphs.separation import are_separated
from anypag.simulate import random_dag

NODES, DEGREE, QUESTIONS, CONDITION_SIZE, ROUNDS = 1000, 4.0, 1000, 3, 7


def questions(n: int, rng: np.random.Generator) -> Queries:
    """Random x, y and z, all different within a question."""
    nodes = np.array([rng.choice(n, 2 + CONDITION_SIZE, replace=False) for _ in range(QUESTIONS)])
    return Queries(nodes[:, 0], nodes[:, 1], nodes[:, 2:])


def microseconds_each(ask: Callable[[], object]) -> float:
    """The median time per question, the first round left out."""
    ask()
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        ask()
        seconds.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(seconds) / QUESTIONS


def ways_to_ask(dag: DAG, rng: np.random.Generator) -> dict[str, Callable[[], object]]:
    q = questions(len(dag), rng)
    rows = list(zip(q.x.tolist(), q.y.tolist(), q.z.tolist(), strict=True))
    named = [(dag.names[x], dag.names[y], [dag.names[v] for v in z]) for x, y, z in rows]
    hidden = rng.choice(len(dag), 60, replace=False)
    oracle = Oracle(dag, latent=hidden[:50], selection=hidden[50:])
    asked = questions(len(oracle.names), rng)
    return {
        "is_separated, indices": lambda: [is_separated(dag, x, y, z) for x, y, z in rows],
        "is_separated, names": lambda: [is_separated(dag, x, y, z) for x, y, z in named],
        "are_separated, one batch": lambda: are_separated(dag, q.x, q.y, q.z),
        "Oracle, 50 latent, 10 selection": lambda: oracle.pvalues(asked),
    }


def main() -> None:
    rng = np.random.default_rng(0)
    dag = random_dag(NODES, DEGREE, seed=0)
    print(f"{QUESTIONS:,} questions, {len(dag):,} nodes, {len(dag.edges()):,} edges, |z| = {CONDITION_SIZE}\n")
    for way, ask in ways_to_ask(dag, rng).items():
        print(f"{way:34}{microseconds_each(ask):8.1f} µs per question")


if __name__ == "__main__":
    main()
