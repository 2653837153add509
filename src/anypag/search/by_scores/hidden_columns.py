"""Hidden causes of discrete columns, found one by one.

A hidden cause is modelled as a column with two or three levels that was never measured. A cause is proposed for every
clique of the graph so far, in place of the edges within the clique. It gets or loses children while the score rises.
The most promising causes are refined in rounds: draw plausible levels of the cause, find the best DAG with this column
among the others (`by_scores.orders`), and fit again (structural EM; Friedman 1998). EM starts from levels drawn before,
because from random levels it needs many sweeps if there are several causes. A change is kept if it raises the score of
the measured rows (`scores.latent`). The search ends when no further cause raises this score. Every graph kept agrees
with knowledge, and columns with more than 6 levels are never children of a hidden cause (`scores.discrete`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from anypag.arrays import Counts, Flags
from anypag.graphs.pag import DAG
from anypag.graphs.projection import LatentDAG
from anypag.knowledge.facts import Facts
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import HiddenLevels, LatentScore
from anypag.search.by_scores.chain import Known, graph_of
from anypag.search.by_scores.orders import Orders, found, swept
from anypag.search.by_scores.starting_graphs import agreeing, tiers_of
from anypag.search.progress import Progress, Tick
from anypag.threads import Look

CLEARLY = 3.0
"""A further hidden cause or level must raise the log score by this, which makes the graph 20 times as probable."""

SOMEWHAT = 1.0
"""One child more or fewer must raise the score by this, because scores after few sweeps of EM are not exact."""

MOST_CAUSES = 5  # the most hidden causes that are looked for
LARGEST_CLIQUE = 4  # the most children that a cause is proposed with; it may get more
SCREENED = 6  # how many proposals are scored for each proposal that is refined; see `_shortlist`
ROUGH = 12  # the most sweeps of EM when proposals are compared
ROUNDS = 4  # the most rounds of drawing levels and finding a DAG
MOST_LEVELS = 3  # the most levels that are tried for a hidden cause

Moves = Callable[[LatentDAG], Iterator[tuple[LatentDAG, list[int]]]]
"""Yields changed graphs, in which the last hidden cause is new, and the old indices of the other causes."""


@dataclass(frozen=True, eq=False)
class CompletedDAG:
    """A DAG with hidden causes, its score, and (k, rows) levels drawn for these causes."""

    dag: LatentDAG
    score: float
    hidden: HiddenLevels


def without_hidden(parents: Flags, discrete: DiscreteScore) -> CompletedDAG:
    """A DAG of the measured columns without hidden causes, with its score."""
    n, rows = discrete.levels.shape
    dag = LatentDAG(parents, np.zeros((0, n), np.bool_), ())
    return CompletedDAG(dag, LatentScore(discrete).of(dag), np.zeros((0, rows), np.uint8))


def keeps_to(dag: LatentDAG, facts: Facts) -> bool:
    """Does a graph agree with the facts about causes, known and missing edges, and pairs without a hidden cause?"""
    from anypag._kernels.mag_chain import keeps_apart

    adjacent, by_design = dag.parents | dag.parents.T, np.logical_and.outer(facts.design, facts.design)
    if (facts.joined & ~(adjacent | by_design) | facts.not_joined & adjacent).any():
        return False
    wider = facts.with_hidden(len(dag.n_levels))
    apart = Known.of(wider).apart
    if apart.size and not keeps_apart(graph_of(dag.marks), apart):
        return False
    return not facts.says_marks or wider.disagreement(dag.marks) is None


def with_another(so_far: CompletedDAG, discrete: DiscreteScore, tries: int, facts: Facts, tick: Tick) -> CompletedDAG:
    """The DAG with one more hidden cause; `so_far` if none raises the score enough, or if it has `MOST_CAUSES`. After
    a new cause, levels are added and causes merged while the score rises. `tries` proposals are refined. `so_far` must
    agree with `facts`.
    """
    if len(so_far.dag.n_levels) >= MOST_CAUSES:
        return so_far
    score = LatentScore(discrete, _look(len(so_far.hidden), tick))
    shortlist = _shortlist(so_far, discrete, SCREENED * tries, facts, tick)
    scored = []
    for k, (dag, hidden) in enumerate(shortlist):
        tick(Progress(-1, "hidden causes", k, len(shortlist), 0))
        scored.append(CompletedDAG(dag, score.of(dag, hidden, ROUGH), hidden))
    proposals = sorted(scored, key=lambda one: -one.score)[:tries]
    grown = _distinct([_grown(one, score, discrete, facts, tick) for one in proposals])
    refined = [_refined(one, score, discrete, facts, tick) for one in grown]
    best = max(refined, key=lambda one: one.score, default=so_far)
    if best.score < so_far.score + CLEARLY:
        return so_far
    best = _climbed(best, _one_level_more, CLEARLY, score, discrete, facts, tick)
    return _climbed(best, partial(_one_cause_less, facts=facts), 0.0, score, discrete, facts, tick)


def _look(n_causes: int, tick: Tick) -> Look:
    """The callback of long kernels: it reports how many hidden causes there are, and raises to end the run."""
    return partial(tick, Progress(-1, "hidden causes", n_causes, MOST_CAUSES, 0))


def _shortlist(
    so_far: CompletedDAG, discrete: DiscreteScore, most: int, facts: Facts, tick: Tick
) -> list[tuple[LatentDAG, HiddenLevels]]:
    """The most promising graphs with a new cause in place of the edges of a clique; each with levels to start EM from.

    For this comparison earlier causes count as measured columns, with their drawn levels. So only one cause is hidden,
    and EM weighs two levels in each row. Otherwise it would weigh every combination of levels of the causes.
    """
    score = LatentScore(discrete.with_hidden(so_far.hidden, so_far.dag.n_levels), _look(len(so_far.hidden), tick))
    proposals = list(_proposals(so_far.dag, discrete, facts))
    scores = np.zeros(len(proposals))
    for k, dag in enumerate(proposals):
        tick(Progress(-1, "hidden causes", k, len(proposals), 0))
        scores[k] = score.of(dag.with_last_hidden(), sweeps=ROUGH)
    best = [proposals[k] for k in np.argsort(-scores, kind="stable")[:most]]
    return [(dag, _begun(dag, so_far.hidden, score)) for dag in best]


def _proposals(dag: LatentDAG, discrete: DiscreteScore, facts: Facts) -> Iterator[LatentDAG]:
    few = discrete.has_few_levels
    for clique in _cliques(_adjacent(dag) & few & few[:, None]):
        children = np.zeros(dag.n, np.bool_)
        children[list(clique)] = True
        if (dag.children == children).all(axis=1).any():
            continue
        equivalent = [dag, *([away_from(children, dag)] if len(clique) > 2 else [])]
        for one in {each.parents.tobytes(): each for each in equivalent}.values():
            wider = replace(one, n_levels=(*dag.n_levels, 2))
            proposed = _with_children(wider, np.vstack([dag.children, children]), facts)
            if keeps_to(proposed, facts):
                yield proposed


def away_from(nodes: Flags, dag: LatentDAG) -> LatentDAG:
    """An equivalent DAG: edges that lead towards `nodes` are reversed one by one, until no such edge can be reversed.

    An edge into a child of a new hidden cause makes this child a collider. Often the data do not tell how the edge
    points; if the best DAG has it the wrong way, the right hidden cause scores badly. An edge a --> b can be reversed
    if the other parents of b are exactly the parents of a (Chickering 1995).
    """
    causes, steps = dag.causes, _steps_from(nodes, dag.parents | dag.parents.T)
    towards = np.argwhere(dag.parents & (steps[:, None] > steps))
    while len(towards):
        same = [(causes[:, a] == causes[:, b]).sum() == len(causes) - 1 for a, b in towards]
        if not any(same):
            break
        a, b = towards[same.index(True)]
        causes[a, b], causes[b, a] = False, True
        towards = np.delete(towards, same.index(True), axis=0)
    return replace(dag, parents=causes[: dag.n, : dag.n])


def _steps_from(nodes: Flags, adjacent: Flags) -> Counts:
    """The number of edges on the shortest path from `nodes`; the number of variables if there is no path."""
    steps, reached = np.where(nodes, 0, len(nodes)), nodes
    for step in range(1, len(nodes)):
        reached = reached | adjacent[reached].any(axis=0)
        steps[reached] = np.minimum(steps[reached], step)
    return steps


def _begun(dag: LatentDAG, others: HiddenLevels, completed: LatentScore) -> HiddenLevels:
    """Levels from which EM starts: those of the `others`, and levels of the last cause, which `completed` draws."""
    return np.vstack([others, completed.drawn(dag.with_last_hidden(), None, [len(dag.n_levels)])])


def _adjacent(dag: LatentDAG) -> Flags:
    """The pairs with an edge or a common hidden cause."""
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


def _with_children(dag: LatentDAG, children: Flags, facts: Facts) -> LatentDAG:
    """The DAG with these children of hidden causes. It keeps only known edges between children of the last cause."""
    members = np.flatnonzero(children[-1])
    parents = dag.parents.copy()
    parents[np.ix_(members, members)] &= (facts.causes | facts.joined)[np.ix_(members, members)]
    return replace(dag, parents=parents, children=children)


def _grown(so_far: CompletedDAG, score: LatentScore, discrete: DiscreteScore, facts: Facts, tick: Tick) -> CompletedDAG:
    """The DAG after adding or removing children of the last cause as long as the score rises enough."""
    possible = np.flatnonzero(discrete.has_few_levels).tolist()
    while True:
        sets = _one_child_more_or_less(so_far.dag, possible)
        changed = [_with_children(so_far.dag, children, facts) for children in sets]
        changed = [one for one in changed if keeps_to(one, facts)]
        scores = list[float]()
        for one in changed:
            tick(Progress(-1, "hidden causes", len(scores), len(changed), 0))
            scores.append(score.of(one, so_far.hidden, ROUGH))
        if not scores or max(scores) < so_far.score + SOMEWHAT:
            return so_far
        dag = changed[int(np.argmax(scores))]
        hidden = score.drawn(dag, so_far.hidden, [int(dag.children[-1].sum())])
        so_far = CompletedDAG(dag, max(scores), hidden)


def _distinct(grown: list[CompletedDAG]) -> list[CompletedDAG]:
    """The graphs without duplicates, because several cliques may have grown into the same graph."""
    return list({one.dag.causes.tobytes(): one for one in reversed(grown)}.values())[::-1]


def _one_child_more_or_less(dag: LatentDAG, possible: list[int]) -> Iterator[Flags]:
    for node in possible:
        children = dag.children.copy()
        children[-1, node] = not children[-1, node]
        if children[-1].sum() > 1:
            yield children


def _refined(
    begun: CompletedDAG, score: LatentScore, discrete: DiscreteScore, facts: Facts, tick: Tick
) -> CompletedDAG:
    """The best graph found by alternating: draw levels, then find the best DAG with them."""
    dag, value = begun.dag, score.of(begun.dag, begun.hidden)
    hidden = score.drawn(dag, begun.hidden, [len(dag.n_levels)])
    best = CompletedDAG(dag, value, hidden)
    for turn in range(ROUNDS):
        dag, hidden = _best_dag(dag, hidden, discrete, facts, tick)
        if not len(dag.n_levels) or not keeps_to(dag, facts):
            return best
        value = score.of(dag, hidden)
        hidden = score.drawn(dag, hidden, [len(dag.n_levels), turn + 1])
        if value > best.score:
            best = CompletedDAG(dag, value, hidden)
        elif turn > 0:
            break
    return best


def _best_dag(
    dag: LatentDAG, hidden: HiddenLevels, discrete: DiscreteScore, facts: Facts, tick: Tick
) -> tuple[LatentDAG, HiddenLevels]:
    """The best DAG with these levels as columns. Its order begins with the hidden causes and respects tiers. If the DAG
    contradicts known causes, a DAG near it is used. Hidden causes with fewer than two children are dropped.
    """
    completed = discrete.with_hidden(hidden, dag.n_levels)
    orders = _orders(dag, facts)
    while not orders.all_settled:
        look = partial(tick, Progress(-1, "hidden causes", int(orders.settled.sum()), len(orders.settled), 0))
        look()
        orders = swept(orders, completed, look)
    best = found(orders, completed, look)[0].parents == 1
    after = LatentDAG(best[: dag.n, : dag.n], best[dag.n :, : dag.n], dag.n_levels)
    if not keeps_to(after, facts):
        near = agreeing(after.marks, facts.with_hidden(len(dag.n_levels)), hidden=False)
        after = after if near is None else LatentDAG.of_marks(near, dag.n_levels)
    busy = after.busy()
    return after.with_only(busy), hidden[busy]


def _orders(dag: LatentDAG, facts: Facts) -> Orders:
    """A topological order of the graph: the hidden causes, then the measured columns tier by tier."""
    among_measured = DAG(dag.parents)
    measured = [among_measured.index(name) for name in among_measured.topological_order()]
    hidden = range(dag.n, dag.n + len(dag.n_levels))
    tier = np.array([*(1 + tiers_of(facts)), *(0 for _ in hidden)], np.int64)
    row = np.array([*hidden, *measured], np.int64)
    return Orders(row[np.argsort(tier[row], kind="stable")][None], np.zeros(1, np.bool_), tier)


def _climbed(
    best: CompletedDAG, moves: Moves, gain: float, score: LatentScore, discrete: DiscreteScore, facts: Facts, tick: Tick
) -> CompletedDAG:
    """The DAG after changes of hidden causes, one at a time, each of which raises the score by more than `gain`."""
    for dag, others in moves(best.dag):
        changed = _refined(_completed(dag, best.hidden[others], discrete, tick), score, discrete, facts, tick)
        if changed.score > best.score + gain:
            return _climbed(changed, moves, gain, score, discrete, facts, tick)
    return best


def _one_level_more(dag: LatentDAG) -> Iterator[tuple[LatentDAG, list[int]]]:
    """Graphs in which one cause has one more level and comes last, each with the old indices of the other causes."""
    for h, size in enumerate(dag.n_levels):
        if size < MOST_LEVELS:
            others = [other for other in range(len(dag.n_levels)) if other != h]
            wider = dag.with_only([*others, h])
            yield replace(wider, n_levels=(*wider.n_levels[:-1], size + 1)), others


def _one_cause_less(dag: LatentDAG, facts: Facts) -> Iterator[tuple[LatentDAG, list[int]]]:
    """Graphs in which two causes that share children are merged into the last cause; and old indices of the others."""
    for a, b in combinations(range(len(dag.n_levels)), 2):
        if (dag.children[a] & dag.children[b]).any():
            others = [h for h in range(len(dag.n_levels)) if h not in (a, b)]
            fewer = dag.with_only([*others, a if dag.n_levels[a] > dag.n_levels[b] else b])
            children = np.vstack([fewer.children[:-1], dag.children[a] | dag.children[b]])
            merged = _with_children(fewer, children, facts)
            if keeps_to(merged, facts):
                yield merged, others


def _completed(dag: LatentDAG, others: HiddenLevels, discrete: DiscreteScore, tick: Tick) -> CompletedDAG:
    """The DAG, not scored yet, with levels to start from. `others`: the levels of all hidden causes before the last."""
    score = LatentScore(discrete.with_hidden(others, dag.n_levels[:-1]), _look(len(others), tick))
    return CompletedDAG(dag, -np.inf, _begun(dag, others, score))
