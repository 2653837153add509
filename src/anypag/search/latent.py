"""Hidden causes of discrete columns, found one by one.

A hidden cause is taken as a column with two or three levels that was never measured. One is proposed for every clique
of the graph so far, in place of the edges within it, and given more children while that pays. The most promising ones
are then refined in turns: draw its levels as they could have been, find the best DAG with that column among the others
(`search.orders`), fit again (structural EM; Friedman 1998). Whatever raises the score of the rows that were measured
(`scores.latent`) is kept, and the search goes on from there until no further cause pays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from anypag.arrays import Flags
from anypag.graphs.dag import DAG
from anypag.graphs.latent_dag import LatentDAG
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import LatentScore, Levels
from anypag.search.orders import Orders, found, swept
from anypag.search.progress import Progress, Tick

CLEARLY = 3.0
"""What a hidden cause must gain: with less, it is not 20 times as probable as none."""

MOST = 5
"""Hidden causes."""

LARGEST_CLIQUE = 4
"""Children that a cause is proposed with; it may get more."""

ROUGH = 12
"""Sweeps of EM where proposals are compared."""

ROUNDS = 4
"""Turns of drawing levels and finding a DAG."""

MOST_LEVELS = 3
"""Levels that are tried for a hidden cause."""


@dataclass(frozen=True, eq=False)
class Found:
    """A graph with hidden causes, its score, and levels they could have had."""

    dag: LatentDAG
    score: float
    columns: Levels


def without_hidden(parents: Flags, discrete: DiscreteScore) -> Found:
    """A DAG of the measured columns."""
    n, rows = discrete.levels.shape
    dag = LatentDAG(parents, np.zeros((0, n), np.bool_), ())
    return Found(dag, LatentScore(discrete).of(dag), np.zeros((0, rows), np.uint8))


def with_another(so_far: Found, discrete: DiscreteScore, tries: int, tick: Tick) -> Found:
    """With one more hidden cause, its levels chosen and causes merged where that pays; as it was if none pays.

    Args:
        so_far: where the search stands.
        discrete: BDeu of the measured columns.
        tries: proposals that are refined.
        tick: called often; may end the search.
    """
    if len(so_far.dag.levels) >= MOST:
        return so_far
    proposals = _proposals(so_far, discrete.with_columns(so_far.columns), tries, tick)
    score = LatentScore(discrete)
    refined = [_refined(dag, score, discrete, tick) for dag in proposals]
    best = max(refined, key=lambda one: one.score, default=so_far)
    if best.score < so_far.score + CLEARLY:
        return so_far
    return _merged(_with_more_levels(best, score, discrete, tick), score, discrete, tick)


def _proposals(so_far: Found, completed: DiscreteScore, tries: int, tick: Tick) -> list[LatentDAG]:
    """The graphs with one cause more that promise most, where the known causes are columns as they were drawn."""
    score, seen = LatentScore(completed), so_far.dag.with_causes_seen()
    cliques = list(_cliques(_adjacent(so_far.dag)))
    scored = list[tuple[float, LatentDAG]]()
    for k, clique in enumerate(cliques):
        tick(Progress(0, "hidden causes", k, len(cliques), 0))
        children = np.zeros((1, seen.n), np.bool_)
        children[0, list(clique)] = True
        if not (so_far.dag.children == children[:, : so_far.dag.n]).all(axis=1).any():
            proposed = _with_children(replace(seen, levels=(2,)), children)
            scored.append((score.of(proposed, sweeps=ROUGH), proposed))
    best = sorted(scored, key=lambda one: -one[0])[:tries]
    return [_grown(dag, rough, so_far.dag.n, score, tick).with_causes_hidden(so_far.dag.levels) for rough, dag in best]


def _adjacent(dag: LatentDAG) -> Flags:
    """The pairs with an edge or a hidden cause of both."""
    both = dag.children.astype(np.int64)
    adjacent: Flags = dag.parents | dag.parents.T | (both.T @ both > 0)
    np.fill_diagonal(adjacent, False)
    return adjacent


def _cliques(adjacent: Flags) -> Iterator[tuple[int, ...]]:
    """The cliques of two to `LARGEST_CLIQUE` nodes, smaller ones first."""
    cliques: list[tuple[int, ...]] = [(node,) for node in range(len(adjacent))]
    for _ in range(LARGEST_CLIQUE - 1):
        cliques = [
            (*clique, node)
            for clique in cliques
            for node in range(clique[-1] + 1, len(adjacent))
            if adjacent[node, list(clique)].all()
        ]
        yield from cliques


def _with_children(dag: LatentDAG, children: Flags) -> LatentDAG:
    """With other children of hidden causes, and without edges between those of the last one."""
    members = np.flatnonzero(children[-1])
    parents = dag.parents.copy()
    parents[np.ix_(members, members)] = False
    return replace(dag, parents=parents, children=children)


def _grown(dag: LatentDAG, rough: float, n: int, score: LatentScore, tick: Tick) -> LatentDAG:
    """The cause with more children among the first n columns, or fewer, as long as the score rises by it."""
    while True:
        changed = [_with_children(dag, children) for children in _one_child_more_or_less(dag, n)]
        scores = list[float]()
        for one in changed:
            tick(Progress(0, "hidden causes", len(scores), len(changed), 0))
            scores.append(score.of(one, sweeps=ROUGH))
        if not scores or max(scores) < rough + 1:
            return dag
        rough, dag = max(scores), changed[int(np.argmax(scores))]


def _one_child_more_or_less(dag: LatentDAG, n: int) -> Iterator[Flags]:
    for node in range(n):
        children = dag.children.copy()
        children[-1, node] = not children[-1, node]
        if children[-1].sum() > 1:
            yield children


def _refined(dag: LatentDAG, score: LatentScore, discrete: DiscreteScore, tick: Tick) -> Found:
    """The best graph met while levels are drawn and the best DAG with them is found, in turns."""
    columns = score.drawn(dag, None, [len(dag.levels)])
    best = Found(dag, score.of(dag), columns)
    for turn in range(ROUNDS):
        tick(Progress(0, "hidden causes", turn, ROUNDS, 0))
        dag, columns = _best_dag(dag, columns, discrete)
        if not len(dag.levels):
            return best
        value = score.of(dag, columns)
        columns = score.drawn(dag, columns, [len(dag.levels), turn + 1])
        if value > best.score:
            best = Found(dag, value, columns)
        elif turn > 0:
            break
    return best


def _best_dag(dag: LatentDAG, columns: Levels, discrete: DiscreteScore) -> tuple[LatentDAG, Levels]:
    """The best DAG with these levels as columns, over orders that begin with hidden causes; idle ones are dropped."""
    completed = discrete.with_columns(columns)
    orders = _orders(dag)
    while not orders.all_settled:
        orders = swept(orders, completed)
    best = found(orders, completed)[0].parents == 1
    after = LatentDAG(best[: dag.n, : dag.n], best[dag.n :, : dag.n], dag.levels)
    busy = after.busy()
    return after.at(busy), columns[busy]


def _orders(dag: LatentDAG) -> Orders:
    """An order of the graph, and the same with the measured ones the other way round."""
    among_measured = DAG(dag.parents)
    measured = [among_measured.index(name) for name in among_measured.topological_order()]
    hidden = range(dag.n, dag.n + len(dag.levels))
    rows = np.array([[*hidden, *measured], [*hidden, *reversed(measured)]], np.int64)
    return Orders(rows, np.zeros(len(rows), np.bool_), np.array([1] * dag.n + [0] * len(hidden), np.int64))


def _with_more_levels(so_far: Found, score: LatentScore, discrete: DiscreteScore, tick: Tick) -> Found:
    """With another level for each hidden cause in turn, where that pays."""
    for h, size in enumerate(so_far.dag.levels):
        if size < MOST_LEVELS and h < len(so_far.dag.levels):
            levels = (*so_far.dag.levels[:h], size + 1, *so_far.dag.levels[h + 1 :])
            wider = _refined(replace(so_far.dag, levels=levels), score, discrete, tick)
            so_far = wider if wider.score > so_far.score + CLEARLY else so_far
    return so_far


def _merged(so_far: Found, score: LatentScore, discrete: DiscreteScore, tick: Tick) -> Found:
    """With one cause in place of two that share children, where that pays."""
    for a, b in combinations(range(len(so_far.dag.levels)), 2):
        dag = so_far.dag
        if b < len(dag.levels) and (dag.children[a] & dag.children[b]).any():
            one = _refined(_one_of_two(dag, a, b), score, discrete, tick)
            so_far = one if one.score > so_far.score else so_far
    return so_far


def _one_of_two(dag: LatentDAG, a: int, b: int) -> LatentDAG:
    kept = [h for h in range(len(dag.levels)) if h not in (a, b)]
    children = np.vstack([dag.children[kept], dag.children[a] | dag.children[b]])
    levels = (*(dag.levels[h] for h in kept), max(dag.levels[a], dag.levels[b]))
    return _with_children(replace(dag, levels=levels), children)
