"""Orders of the variables, and the DAGs that score well in them (BOSS, Andrews et al. 2023).

In a sweep every variable in turn moves to where the order scores best. Sweeps end when no variable moves. The orders
to start from are fixed: the order in which the search numbers the nodes (strongest dependence first), its reverse, and
shuffles of it by a fixed seed. So the same data give the same DAGs. When these starts have settled, more orders follow.
Each begins as the best order so far, changed to reverse a few edges of its DAG (`turned`). All orders respect the
tiers, if there are any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags
from anypag.graphs.base import Marks
from anypag.scores.base import Score
from anypag.stored import Array, stored
from anypag.threads import InCaller, Look, do_nothing, in_turns, map_in_threads

Order = npt.NDArray[np.int64]

TURNED = 3  # how many edges are reversed (`docs/decisions.md`)


@dataclass(frozen=True, eq=False)
class Orders:
    """Orders (k, n) that are being improved. Tiers ascend along each order. No sweep changes a settled order."""

    order: Order = stored(Array("int64", (None, "n"), 0, "n"))
    settled: Flags = stored(Array("bool", (None,)))
    tier: Order = stored(Array("int64", ("n",)))

    @property
    def is_consistent(self) -> bool:
        are_orders = (np.sort(self.order, axis=1) == np.arange(self.order.shape[1])).all()
        return len(self.order) == len(self.settled) and bool(are_orders)

    @property
    def all_settled(self) -> bool:
        return bool(self.settled.all())


class FoundDAG(NamedTuple):
    """A DAG with its score; `parents[i, j] = 1` where i → j."""

    score: float
    parents: Marks


def first_orders(n: int, starts: int, *, tier: npt.ArrayLike | None = None) -> Orders:
    """The orders to start from.

    >>> first_orders(3, 2).order.tolist()
    [[0, 1, 2], [2, 1, 0]]
    """
    random = np.random.default_rng(7)
    given = [np.arange(n), np.arange(n)[::-1], *(random.permutation(n) for _ in range(starts - 2))]
    tiers = np.zeros(n, np.int64) if tier is None else np.asarray(tier, np.int64)
    rows = [row[np.argsort(tiers[row], kind="stable")] for row in given[:starts]]
    return Orders(np.ascontiguousarray(rows, np.int64), np.zeros(len(rows), np.bool_), tiers)


def swept(orders: Orders, score: Score, look: Look = do_nothing) -> Orders:
    """The orders after a sweep of the first order that has not settled. `look` is called often, and may raise."""
    at = int(np.argmin(orders.settled))
    order, settled = orders.order.copy(), orders.settled.copy()
    made = score.made_ahead.get(_key(order[at], orders.tier))
    order[at], settled[at] = _swept(order[at], orders.tier, score, look) if made is None else made
    return replace(orders, order=order, settled=settled)


def _swept(order: Order, tier: Order, score: Score, look: Look) -> tuple[Order, bool]:
    """The order after a sweep, and whether it has settled."""
    from anypag._kernels.orders import sweep

    row, stand, scores = order.copy(), np.zeros(3, np.int64), np.zeros((3, len(order)))
    in_turns(sweep, *_given(score), row, tier, stand, scores, look=look)
    return row, bool(stand[2] == 0)


def settle_ahead(orders: Orders, rows: slice, score: Score, threads: int, look: Look) -> None:
    """Sweep the orders `rows` in threads until they settle. `score` keeps the results; `swept` and `found` use them."""
    todo, listen = orders.order[rows], InCaller(look)
    if threads == 1 or len(todo) < 2 or _key(todo[0], orders.tier) in score.made_ahead:
        return

    def settle(job: tuple[int, Score]) -> None:
        for row in todo[job[0] :: threads]:
            is_settled = False
            while not is_settled:
                key = _key(row, orders.tier)
                row, is_settled = score.made_ahead[key] = _swept(row, orders.tier, job[1], listen)
            score.of_orders[row.tobytes()] = _found_in(row, job[1], listen)

    jobs = [(k, score if k == 0 else replace(score)) for k in range(threads)]  # type: ignore[type-var]
    map_in_threads(settle, jobs, threads, meanwhile=look, on_error=listen.end)


def _key(order: Order, tier: Order) -> bytes:
    return order.tobytes() + tier.tobytes()


def turned(orders: Orders, at: int, score: Score, look: Look = do_nothing) -> Orders:
    """The orders with a new row `at`: the best earlier row, changed to reverse random edges of its DAG (seed `at`)."""
    dags = [_dag_of(row, score, look) for row in orders.order[:at]]
    best = max(range(at), key=lambda k: (round(dags[k].score, 6), -k))
    edges = np.argwhere(dags[best].parents == 1)
    chosen = np.random.default_rng(at).permutation(len(edges))[:TURNED]
    row = orders.order[best]
    for cause, effect in edges[chosen]:
        row = row[row != effect]
        row = np.insert(row, int(np.argmax(row == cause)), effect)
    order = orders.order.copy()
    order[at] = row[np.argsort(orders.tier[row], kind="stable")]
    return replace(orders, order=order)


def found(orders: Orders, score: Score, look: Look = do_nothing) -> list[FoundDAG]:
    """The distinct DAGs of the orders in their present state, the best first; `look` is called often."""
    best: dict[bytes, FoundDAG] = {}
    for row in orders.order:
        dag = _dag_of(row, score, look)
        best.setdefault(dag.parents.tobytes(), dag)
    return sorted(best.values(), key=lambda dag: (-round(dag.score, 6), dag.parents.tobytes()))


def _dag_of(order: Order, score: Score, look: Look) -> FoundDAG:
    known = score.of_orders
    if (key := order.tobytes()) not in known:
        known[key] = _found_in(order, score, look)
    dag: FoundDAG = known[key]
    return dag


def _found_in(order: Order, score: Score, look: Look) -> FoundDAG:
    from anypag._kernels.orders import parents_in

    n = len(order)
    parents, scores = np.zeros((n, n), np.uint8), np.full(n, np.nan)
    in_turns(parents_in, *_given(score), order.copy(), parents, scores, look=look)
    return FoundDAG(sum(scores.tolist()), parents)


def _given(score: Score) -> tuple[Any, Any, tuple[Any, ...], tuple[Any, ...]]:
    return score.adding, score.removing, tuple(score.bound), tuple(score.of_parents)


def of_distinct_classes(dags: list[FoundDAG]) -> list[FoundDAG]:
    first: dict[bytes, FoundDAG] = {}
    for dag in dags:
        first.setdefault(class_key(dag.parents), dag)
    return list(first.values())


def class_key(parents: Marks) -> bytes:
    """A key that two DAGs share if and only if they are Markov equivalent (same edges, same unshielded colliders).

    >>> chain, fork = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]])
    >>> class_key(chain) == class_key(fork) != class_key(fork.T)
    True
    """
    adjacent = (parents | parents.T) != 0
    colliders = []
    for child, of_child in enumerate(parents.T):
        among = np.flatnonzero(of_child)
        apart = np.argwhere(np.triu(~adjacent[np.ix_(among, among)], 1))
        colliders += [(child, *pair) for pair in among[apart].tolist()]
    return np.packbits(adjacent).tobytes() + np.array(colliders, np.int32).tobytes()
