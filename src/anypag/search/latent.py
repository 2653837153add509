"""Hidden causes of discrete columns, found one by one.

A hidden cause is taken as a column with two or three levels that was never measured. One is proposed for every clique
of the graph so far, in place of the edges within it, and given more children while that pays. The most promising ones
are then refined in turns: draw its levels as they could have been, find the best DAG with that column among the others
(`search.orders`), fit again (structural EM; Friedman 1998). Whatever raises the score of the rows that were measured
(`scores.latent`) is kept, and the search goes on from there until no further cause pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
"""A further hidden cause, or a further level of one, must raise the score by this: it is 20 times as probable then."""

MOST_CAUSES = 5
"""How many hidden causes are looked for."""

LARGEST_CLIQUE = 4
"""The most children that a cause is proposed with; it may get more."""

SCREENED = 6
"""How many proposals are compared by their own score, for each that is refined; see `_shortlist`."""

ROUGH = 12
"""The most sweeps of EM where proposals are compared."""

ROUNDS = 4
"""The most turns of drawing levels and finding a DAG."""

MOST_LEVELS = 3
"""The most levels that are tried for a hidden cause."""


@dataclass(frozen=True, eq=False)
class CompletedDAG:
    """A DAG with hidden causes, its score, and (k, rows) levels that they could have had."""

    dag: LatentDAG
    score: float
    hidden: Levels


def without_hidden(parents: Flags, discrete: DiscreteScore) -> CompletedDAG:
    """A DAG of the measured columns."""
    n, rows = discrete.levels.shape
    dag = LatentDAG(parents, np.zeros((0, n), np.bool_), ())
    return CompletedDAG(dag, LatentScore(discrete).of(dag), np.zeros((0, rows), np.uint8))


def with_another(so_far: CompletedDAG, discrete: DiscreteScore, tries: int, tick: Tick) -> CompletedDAG:
    """With one more hidden cause, its levels chosen and causes merged where that pays; as it was if none pays.

    Args:
        so_far: where the search stands.
        discrete: BDeu of the measured columns.
        tries: proposals that are refined.
        tick: called often; may end the search.
    """
    if len(so_far.dag.n_levels) >= MOST_CAUSES:
        return so_far
    score = LatentScore(discrete)
    shortlist = _shortlist(so_far, discrete, SCREENED * tries, tick)
    proposals = _best((score.of(dag, sweeps=ROUGH), dag) for dag in shortlist)
    refined = [_refined(_grown(dag, rough, score, tick), score, discrete, tick) for rough, dag in proposals[:tries]]
    best = max(refined, key=lambda one: one.score, default=so_far)
    if best.score < so_far.score + CLEARLY:
        return so_far
    return _merged(_with_more_levels(best, score, discrete, tick), score, discrete, tick)


def _shortlist(so_far: CompletedDAG, discrete: DiscreteScore, most: int, tick: Tick) -> list[LatentDAG]:
    """The most promising graphs with a new cause in place of the edges of a clique.

    While they are compared the causes found before are columns, as they were drawn: then only one is hidden, and EM
    has two states to go through instead of one for every combination of their levels.
    """
    cliques = list(_cliques(_adjacent(so_far.dag)))
    score, seen = LatentScore(discrete.with_hidden(so_far.hidden, so_far.dag.n_levels)), so_far.dag.with_causes_seen()
    scored = list[tuple[float, LatentDAG]]()
    for k, clique in enumerate(cliques):
        tick(Progress(0, "hidden causes", k, len(cliques), 0))
        children = np.zeros((1, seen.n), np.bool_)
        children[0, list(clique)] = True
        if not (so_far.dag.children == children[:, : so_far.dag.n]).all(axis=1).any():
            proposed = _with_children(replace(seen, n_levels=(2,)), children)
            scored.append((score.of(proposed, sweeps=ROUGH), proposed))
    return [dag.with_causes_hidden(so_far.dag.n_levels) for _, dag in _best(scored)[:most]]


def _best(scored: Iterable[tuple[float, LatentDAG]]) -> list[tuple[float, LatentDAG]]:
    return sorted(scored, key=lambda one: -one[0])


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


def _grown(dag: LatentDAG, rough: float, score: LatentScore, tick: Tick) -> LatentDAG:
    """The last cause with more children, or fewer, as long as the score rises by it."""
    while True:
        changed = [_with_children(dag, children) for children in _one_child_more_or_less(dag)]
        scores = list[float]()
        for one in changed:
            tick(Progress(0, "hidden causes", len(scores), len(changed), 0))
            scores.append(score.of(one, sweeps=ROUGH))
        if not scores or max(scores) < rough + 1:
            return dag
        rough, dag = max(scores), changed[int(np.argmax(scores))]


def _one_child_more_or_less(dag: LatentDAG) -> Iterator[Flags]:
    for node in range(dag.n):
        children = dag.children.copy()
        children[-1, node] = not children[-1, node]
        if children[-1].sum() > 1:
            yield children


def _refined(dag: LatentDAG, score: LatentScore, discrete: DiscreteScore, tick: Tick) -> CompletedDAG:
    """The best graph met while levels are drawn and the best DAG with them is found, in turns."""
    hidden = score.drawn(dag, None, [len(dag.n_levels)])
    best = CompletedDAG(dag, score.of(dag), hidden)
    for turn in range(ROUNDS):
        dag, hidden = _best_dag(dag, hidden, discrete, tick)
        if not len(dag.n_levels):
            return best
        value = score.of(dag, hidden)
        hidden = score.drawn(dag, hidden, [len(dag.n_levels), turn + 1])
        if value > best.score:
            best = CompletedDAG(dag, value, hidden)
        elif turn > 0:
            break
    return best


def _best_dag(dag: LatentDAG, hidden: Levels, discrete: DiscreteScore, tick: Tick) -> tuple[LatentDAG, Levels]:
    """The best DAG with these levels as columns, over orders that begin with hidden causes; idle ones are dropped."""
    completed = discrete.with_hidden(hidden, dag.n_levels)
    orders = _orders(dag)
    while not orders.all_settled:
        tick(Progress(0, "hidden causes", int(orders.settled.sum()), len(orders.settled), 0))
        orders = swept(orders, completed)
    best = found(orders, completed)[0].parents == 1
    after = LatentDAG(best[: dag.n, : dag.n], best[dag.n :, : dag.n], dag.n_levels)
    busy = after.busy()
    return after.with_only(busy), hidden[busy]


def _orders(dag: LatentDAG) -> Orders:
    """An order of the graph, and the same with the measured ones the other way round."""
    among_measured = DAG(dag.parents)
    measured = [among_measured.index(name) for name in among_measured.topological_order()]
    hidden = range(dag.n, dag.n + len(dag.n_levels))
    rows = np.array([[*hidden, *measured], [*hidden, *reversed(measured)]], np.int64)
    return Orders(rows, np.zeros(len(rows), np.bool_), np.array([1] * dag.n + [0] * len(hidden), np.int64))


def _with_more_levels(so_far: CompletedDAG, score: LatentScore, discrete: DiscreteScore, tick: Tick) -> CompletedDAG:
    """With another level for one hidden cause after the other, as long as that pays."""
    for dag in _one_level_more(so_far.dag):
        wider = _refined(dag, score, discrete, tick)
        if wider.score > so_far.score + CLEARLY:
            return _with_more_levels(wider, score, discrete, tick)
    return so_far


def _one_level_more(dag: LatentDAG) -> Iterator[LatentDAG]:
    for h, size in enumerate(dag.n_levels):
        if size < MOST_LEVELS:
            yield replace(dag, n_levels=(*dag.n_levels[:h], size + 1, *dag.n_levels[h + 1 :]))


def _merged(so_far: CompletedDAG, score: LatentScore, discrete: DiscreteScore, tick: Tick) -> CompletedDAG:
    """With one cause in place of two that share children, as long as that pays."""
    for dag in _one_cause_less(so_far.dag):
        fewer = _refined(dag, score, discrete, tick)
        if fewer.score > so_far.score:
            return _merged(fewer, score, discrete, tick)
    return so_far


def _one_cause_less(dag: LatentDAG) -> Iterator[LatentDAG]:
    for a, b in combinations(range(len(dag.n_levels)), 2):
        if (dag.children[a] & dag.children[b]).any():
            others = dag.with_only([h for h in range(len(dag.n_levels)) if h not in (a, b)])
            n_levels = (*others.n_levels, max(dag.n_levels[a], dag.n_levels[b]))
            children = np.vstack([others.children, dag.children[a] | dag.children[b]])
            yield _with_children(replace(others, n_levels=n_levels), children)
