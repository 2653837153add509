"""Best order score search (BOSS, Andrews et al. 2023): DAGs that score well, from many orders of the variables.

An order is improved by sweeps: every variable in turn goes where the order scores best, until none moves. One step is one
sweep of one order. Starts are fixed: the order of the problem (strongest first), its reverse, and shuffles of it by a
fixed seed, so the same data give the same DAGs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.graphs.base import Marks
from anypag.scores.base import Floats, Score

Order = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Orders:
    """Orders on their way.

    Args:
        order: (k, n) one order a row.
        settled: (k,) no sweep moves a variable of this one any more.
        tier: (n,) a variable never stands before one of an earlier tier.
    """

    order: Order
    settled: npt.NDArray[np.bool_]
    tier: Order

    @property
    def done(self) -> bool:
        """All orders have settled."""
        return bool(self.settled.all())


class FoundDAG(NamedTuple):
    """A DAG with its score; `parents[i, j] = 1` where i → j."""

    score: float
    parents: Marks


class Memory(NamedTuple):
    """What scores were found for a 64-bit key: nothing that a search could not find again."""

    known: npt.NDArray[np.uint64]
    score: Floats

    @classmethod
    def of_size(cls, bits: int) -> Memory:
        """An empty one, with 2**bits places."""
        return cls(np.zeros(1 << bits, np.uint64), np.zeros(1 << bits))


def init(n: int, starts: int, *, tier: npt.ArrayLike | None = None, seed: int = 7) -> Orders:
    """The orders to start from.

    >>> init(3, 2).order.tolist()
    [[0, 1, 2], [2, 1, 0]]
    """
    random = np.random.default_rng(seed)
    given = [np.arange(n), np.arange(n)[::-1], *(random.permutation(n) for _ in range(starts - 2))]
    tiers = np.zeros(n, np.int64) if tier is None else np.asarray(tier, np.int64)
    rows = [row[np.argsort(tiers[row], kind="stable")] for row in given[:starts]]
    return Orders(np.ascontiguousarray(rows, np.int64), np.zeros(len(rows), np.bool_), tiers)


def step(orders: Orders, score: Score, memory: Memory) -> Orders:
    """One sweep of the first order that has not settled."""
    from anypag._kernels.orders import sweep

    at = int(np.argmin(orders.settled))
    order, settled = orders.order.copy(), orders.settled.copy()
    row = order[at].copy()
    settled[at] = not sweep(score.best_parents, *score.bound, *memory, row, orders.tier)
    order[at] = row
    return replace(orders, order=order, settled=settled)


def found(orders: Orders, score: Score) -> list[FoundDAG]:
    """The distinct DAGs of the orders as they stand, the best first."""
    from anypag._kernels.orders import parents_in

    best: dict[bytes, FoundDAG] = {}
    for row in orders.order:
        parents = np.zeros((len(row), len(row)), np.uint8)
        total = float(parents_in(score.best_parents, *score.bound, row.copy(), parents))
        best.setdefault(parents.tobytes(), FoundDAG(total, parents))
    return sorted(best.values(), key=lambda dag: (-round(dag.score, 6), dag.parents.tobytes()))


def of_distinct_scores(dags: list[FoundDAG]) -> list[FoundDAG]:
    """The first DAG of each score: members of one equivalence class score the same."""
    seen: dict[float, FoundDAG] = {}
    for dag in dags:
        seen.setdefault(round(dag.score, 3), dag)
    return list(seen.values())
