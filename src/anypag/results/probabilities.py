"""Probabilities of edges, as results and files hold them; a warning if a table does not fit what they assume."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from anypag.errors import Option, Sentence
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark
from anypag.graphs.pag import PAG

if TYPE_CHECKING:
    from anypag.arrays import Flags, Floats
    from anypag.search.by_scores.bayes import BayesState
    from anypag.search.by_scores.posterior import Posterior
    from anypag.search.by_scores.sampled_graphs import PairStates
    from anypag.search.problem import Problem

MOST_GRAPHS = 3  # how many of the most probable graphs are kept
LEAST_ALTERNATIVE = 0.05  # an `Alternative` with a smaller share is reported without its changes
LEAST_ROWS_PER_NUMBER = 1.0  # with fewer rows per parameter of the best graph, the probabilities are not reliable
MOST_OFF = 0.05  # the model does not fit if a larger share of pairs differs from tables simulated from the best graph
LEAST_PAIRS = 2  # a misfit needs this many pairs that differ (or all pairs), because one may differ by chance
MOST_PAIRS = 3  # how many of the worst pairs are named
DOES_NOT_FIT = "This table does not fit what the probabilities assume"
LESS_THAN_HALF = 0.5  # if curved functions of the causes leave less than this share of a misfit, they explain it
Remedy = Literal["normal scores", "curves", "some curves", "interactions", "levels", "pooling"]
REMEDIES: Mapping[Remedy, str] = {
    "normal scores": Sentence(f"Columns seem to be distorted: choose {Option('transform', 'normal-scores')}."),
    "curves": 'Effects seem to be curved: choose the test "additive".',
    "some curves": 'Some effects seem to be curved: try the test "additive", and keep it only if fewer pairs differ.',
    "interactions": 'Interactions between causes are not in the model: method "icd" with the test "kci" sees them.',
    "levels": "Merge levels, or leave out columns with many levels.",
}
"""What to do about a misfit. "pooling" is not here: Python and the command line word it differently (`how_to_pool`)."""

States = tuple[tuple[str, float, float], ...]
"""The ways to join a pair, the most probable first: symbol (`""` for no edge), probability, share of sampled graphs."""
Edges = tuple[tuple[str, str, str], ...]  # edges as `(a, b, "o->")`


class Change(NamedTuple):
    """Of the graphs in which another pair has its `Alternative`, this `share` joins a and b by `symbol`."""

    a: str
    b: str
    symbol: str
    share: float


class Alternative(NamedTuple):
    """Another way to join two variables: its probability, its share of sampled graphs, the changes that go with it."""

    symbol: str
    probability: float
    share: float
    then: tuple[Change, ...]


@dataclass(frozen=True)
class Probabilities:
    """What sampled graphs say about pairs.

    `causes` has two shares of sampled graphs for (a, b): graphs whose class says that a causes b (directly or not), and
    graphs whose class excludes this. All other pairs have the shares 0 and 1. `changes` lists, for a pair, the changes
    of other pairs that go with its alternative. `as_sampled` has, for each edge of the answer whose marks were changed
    later (by knowledge, or to circles in time series), the symbol before the change.
    """

    n_samples: int
    expected_errors: float
    best_score: float
    pairs: Mapping[tuple[str, str], States] = field(repr=False)  # states of pairs (symbols read from the first name)
    causes: Mapping[tuple[str, str], tuple[float, float]] = field(repr=False)
    graphs: tuple[tuple[float, Edges], ...] = field(repr=False)  # the most probable classes: share, edges
    hidden: bool = True  # False: only graphs without hidden causes were sampled; probabilities assume this
    n_classes: int = 0  # how many classes were sampled
    changes: Mapping[tuple[str, str], tuple[Change, ...]] = field(default_factory=dict, repr=False)
    as_sampled: Mapping[tuple[str, str], str] = field(default_factory=dict, repr=False)
    elsewhere: States = field(default=(("", 1.0, 1.0),), repr=False)  # the states of all other pairs

    @property
    def errors_told(self) -> str:
        """The end of a sentence: the expected number of errors in the answer."""
        unless = "" if self.hidden else " if nothing is hidden"
        return f"about {self.expected_errors:.1f} of its edges and marks are expected to be wrong{unless}"

    def states(self, a: str, b: str) -> States:
        """How a and b may be joined, written from a to b."""
        if (a, b) in self.pairs:
            return self.pairs[a, b]
        if (b, a) in self.pairs:
            return tuple((reversed_symbol(symbol), *numbers) for symbol, *numbers in self.pairs[b, a])  # type: ignore[misc]
        return self.elsewhere

    def is_cause(self, a: str, b: str) -> tuple[float, float, float]:
        """Is a a cause of b? The shares of sampled graphs that say yes, no, or neither."""
        yes, no = self.causes.get((a, b), (0.0, 1.0))
        return yes, no, max(0.0, 1 - yes - no)

    def sampled(self, a: str, b: str, symbol: str) -> str:
        """The symbol of an edge of the answer as sampled, before its marks were changed (see `as_sampled`)."""
        if (b, a) in self.as_sampled:
            return reversed_symbol(self.as_sampled[b, a])
        return self.as_sampled.get((a, b), symbol)

    def of_edge(self, a: str, b: str, symbol: str) -> float:
        """The probability that a and b are joined as in the answer, by `symbol` (`""` for no edge)."""
        alike = self._alike(a, b, symbol)
        return sum(probability for other, probability, _ in self.states(a, b) if other in alike)

    def share_of(self, a: str, b: str, *symbols: str) -> float:
        """The share of sampled graphs in which a and b are joined by one of these symbols."""
        return sum(share for other, _, share in self.states(a, b) if other in symbols)

    def share_of_edge(self, a: str, b: str, symbol: str) -> float:
        """The share of sampled graphs in which a and b are joined as in the answer."""
        return self.share_of(a, b, *self._alike(a, b, symbol))

    def of_any_edge(self, a: str, b: str) -> float:
        """The probability that a and b are joined at all."""
        return sum(probability for other, probability, _ in self.states(a, b) if other)

    def of_mark(self, a: str, b: str, symbol: str) -> float:
        """The probability of the mark at a on the edge of the answer."""
        marks = {_at_first(other) for other in self._alike(a, b, symbol)}
        return sum(probability for other, probability, _ in self.states(a, b) if _at_first(other) in marks)

    def alternative(self, a: str, b: str, symbol: str) -> Alternative | None:
        """The most probable other way in which sampled graphs join a and b, or None."""
        other = _first_other(self.states(a, b), self._alike(a, b, symbol))
        if other is None:
            return None
        return Alternative(*other, self.changes.get((a, b)) or self.changes.get((b, a)) or ())

    def _alike(self, a: str, b: str, symbol: str) -> set[str]:
        """The symbols that count as the edge of the answer: with and without the marks from knowledge."""
        return {symbol, self.sampled(a, b, symbol)}


def probabilities_of(posterior: Posterior, pag: PAG, *, hidden: bool, selection: bool = False) -> Probabilities:
    """The probabilities by a posterior. `pag`: the answer with marks from knowledge. `hidden`: may causes be hidden?"""
    from anypag.search.by_scores.sampled_graphs import STATES, states_of

    names, (yes, no) = posterior.names, posterior.causes(selection=selection)
    causes = {(names[i], names[j]): (float(yes[i, j]), float(no[i, j])) for i, j in np.argwhere(no < 1) if i != j}
    pairs, elsewhere = _states_of_pairs(posterior)
    graphs = tuple((share, edges_of(found)) for found, share in posterior.classes()[:MOST_GRAPHS])
    answers = states_of(np.stack([posterior.with_facts(posterior.marks), pag.marks]))  # as sampled, as shown
    n_classes, changes = int((posterior.sample.cold > 0).sum()), _changes(posterior, answers, pairs)
    errors = posterior.expected_errors
    assert errors is not None, "graphs were sampled"
    about = (posterior.n_samples, errors, posterior.best_score)
    ends, (was, now) = _pairs_of(names), answers
    sampled = {ends[k]: STATES[int(was[k])] for k in np.flatnonzero(was != now)}
    return Probabilities(*about, pairs, causes, graphs, hidden, n_classes, changes, sampled, elsewhere)


def _states_of_pairs(posterior: Posterior) -> tuple[dict[tuple[str, str], States], States]:
    """`pairs`: the states of each pair with unusual states; `elsewhere`: the usual states, which all others have."""
    from anypag.search.by_scores.calibrated import calibrated
    from anypag.search.by_scores.sampled_graphs import STATES

    def told(probabilities: Floats, shares: Floats) -> States:
        most_first = sorted(STATES, key=lambda state: (-probabilities[state], -shares[state], state))
        rows = ((STATES[state], float(probabilities[state]), float(shares[state])) for state in most_first)
        return tuple(row for row in rows if row[1] or row[2])

    nothing = np.array([[1.0]] + 15 * [[0.0]])
    n = max(len(posterior.names), 2)
    nowhere = np.repeat(nothing, n * (n - 1) // 2, axis=1)
    how = (nowhere, nowhere, np.zeros((n, n), np.uint8))
    usual = calibrated(*how, from_counts=posterior.from_counts, n_samples=posterior.n_samples)[:, :1]
    found, shares = posterior.state_probabilities, posterior.state_shares
    differ = np.flatnonzero((found != usual).any(axis=0) | (shares != nothing).any(axis=0)).tolist()
    ends = _pairs_of(posterior.names)
    return {ends[k]: told(found[:, k], shares[:, k]) for k in differ}, told(usual[:, 0], nothing[:, 0])


def edges_of(pag: PAG) -> Edges:
    return tuple((edge.a, edge.b, edge.symbol) for edge in pag.edges())


def graph_of(edges: Iterable[tuple[str, str, str]], names: Sequence[str]) -> PAG:
    return PAG.from_edges([Edge(a, b, *EDGE_SYMBOLS[symbol]) for a, b, symbol in edges], names)


def _pairs_of(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """All pairs, in the order of `states_of`."""
    return [(names[i], names[j]) for i, j in zip(*np.triu_indices(len(names), 1), strict=True)]


def _changes(
    posterior: Posterior, answers: PairStates, pairs: Mapping[tuple[str, str], States]
) -> dict[tuple[str, str], tuple[Change, ...]]:
    """For every pair with an alternative that is not rare: the changes of other pairs that go with it."""
    from anypag.search.by_scores.sampled_graphs import NUMBERS, STATES, changes_with, states_of

    states = states_of(posterior.pags)
    differ = np.flatnonzero((np.concatenate([states, answers]) != states[0]).any(axis=0))  # other pairs never change
    states, answers, every = states[:, differ], answers[:, differ], _pairs_of(posterior.names)
    ends = [every[k] for k in differ]
    found = {}
    for k, pair in enumerate(ends):
        other = _first_other(pairs.get(pair, ()), {STATES[int(state)] for state in answers[:, k]})
        if other is not None and other[2] >= LEAST_ALTERNATIVE:
            changes = changes_with(states, posterior.sample.cold, answers, k, NUMBERS[other[0]])
            found[pair] = tuple(Change(*ends[n], STATES[state], often) for n, state, often in changes)
    return {pair: changes for pair, changes in found.items() if changes}


def _first_other(ways: States, alike: set[str]) -> tuple[str, float, float] | None:
    """The most probable state of a pair besides the symbols `alike`; None if no sampled graph has another state."""
    return next((way for way in ways if way[0] not in alike and way[2] > 0), None)


def _at_first(symbol: str) -> Mark:
    return EDGE_SYMBOLS[symbol][0] if symbol else Mark.NONE


def reversed_symbol(symbol: str) -> str:
    """The edge written from its other end: `reversed_symbol("o->") == "<-o"`."""
    return symbol[::-1].translate({ord("<"): ">", ord(">"): "<"})


@dataclass(frozen=True)
class Misfit:
    """How well a table fits what the probabilities assume.

    A table may mislead without a reported misfit, for example if hidden causes leave no trace in it.
    """

    rows_per_number: float | None  # the rows for each parameter of the best graph; None for a table without levels
    share: float | None  # of pairs unlike those in tables simulated from the best graph; None if rows are too few
    worst: tuple[tuple[str, str], ...] = ()  # the pairs that differ most
    remedy: Remedy = "pooling"  # what may mend a misfit in `share`

    @property
    def fits(self) -> Literal["yes", "no", "not checked"]:
        """Does the table fit? It is not checked without rows, with ordinal columns, or with very few rows."""
        return "no" if self.lines() else "yes" if self.share is not None else "not checked"

    def lines(
        self, how_to_pool: str = "ap.pooled", doubted: str = "the probabilities", first: str = ""
    ) -> tuple[Sentence, ...]:
        """The warning, or nothing. `how_to_pool`: how to pool data sets, "" if they are. `first`: advice put first."""
        per_number, share = self.rows_per_number, self.share
        why, remedies = list[str](), [first]
        if per_number is not None and per_number < LEAST_ROWS_PER_NUMBER:
            why.append(f"there are {per_number:.2f} rows for each parameter of the best graph")
            remedies.append(REMEDIES["levels"])
        if share is not None and share > MOST_OFF and (len(self.worst) >= LEAST_PAIRS or share == 1):
            pairs = ", ".join(f"{a} and {b}" for a, b in self.worst)
            unlike = "of the pairs differ from those in tables simulated from the best graph"
            why.append(f"{share:.0%} {unlike} (worst: {pairs})")
            pool = f"If the rows come from several experiments, places or times, say so ({how_to_pool})."
            remedies.append(REMEDIES.get(self.remedy) or (pool if how_to_pool else ""))
        told = f"{DOES_NOT_FIT}: {'; '.join(why)}. Do not rely on {doubted}."
        advice = (part for remedy in dict.fromkeys(remedies) if remedy for part in (" ", remedy))
        return (Sentence(told, *advice),) if why else ()


def misfit_of(state: BayesState, problem: Problem) -> Misfit:
    """Whether the table fits the best DAG, or the best graph with hidden columns; takes a fraction of a second."""
    from anypag.scores.discrete import DiscreteScore
    from anypag.scores.latent import LatentScore
    from anypag.search.by_scores import predictive
    from anypag.search.by_scores.bayes import latent_dag
    from anypag.search.by_scores.orders import found

    score = problem.score_in_order
    parents = found(state.orders, score)[0].parents == 1
    names, known = score.names, problem.choices.knowledge
    is_design = np.isin(names, known.contexts if known else ())  # nothing is assumed of the distribution of contexts
    if isinstance(score, DiscreteScore):
        n = len(names)
        if len(state.n_levels):  # levels are drawn anew, because the state has those of another graph of the chain
            dag = latent_dag(state.best, state.n_levels)
            score = score.with_hidden(LatentScore(score).drawn(dag, state.hidden, [state.rounds]), dag.n_levels)
            parents = dag.causes
        per_number = predictive.rows_per_number(score.n, score.n_levels, parents)
        told = _misfit(predictive.off_in_levels(score.levels, parents)[:n, :n], names, is_design, per_number)
        return told if score.has_few_levels.all() else replace(told, remedy="levels")
    test, order = problem.bound_test, problem.nodes.order
    rows = getattr(test, "some_rows", None)
    rows = None if rows is None else rows[~np.isnan(rows).any(axis=1)][:, order]
    if rows is None or len(rows) < 2 * len(names):
        return Misfit(None, None)
    is_discrete = np.array([kind == "discrete" for kind in getattr(test, "kinds", ["continuous"] * len(names))])[order]
    has_functions = problem.test_name == "Additive"
    off = predictive.off_in_columns(rows, is_discrete, parents, is_design, functions=has_functions)
    told = _misfit(off, names, is_design)
    if has_functions or not told.lines():
        return replace(told, remedy="interactions") if has_functions else told
    bent = _misfit(predictive.off_in_columns(rows, is_discrete, parents, is_design, functions=True), names, is_design)
    is_mended = (bent.share or 0.0) < LESS_THAN_HALF * (told.share or 0.0)
    noticed = {finding.problem for finding in problem.audit.findings}
    curved: Remedy = "curves" if is_mended else "some curves" if "curve" in noticed else "pooling"
    return replace(told, remedy="normal scores" if "distorted" in noticed else curved)


def _misfit(off: Floats, names: tuple[str, ...], is_design: Flags, per_number: float | None = None) -> Misfit:
    from anypag.search.by_scores.predictive import FAR, FAR_IN_LEVELS, share_off

    kept, far = np.flatnonzero(~is_design), FAR if per_number is None else FAR_IN_LEVELS
    off, names = off[np.ix_(kept, kept)], tuple(names[k] for k in kept)
    i, j = np.triu_indices(len(off), 1)
    worst = [k for k in np.argsort(-off[i, j], kind="stable")[:MOST_PAIRS] if off[i[k], j[k]] > far]
    return Misfit(per_number, share_off(off, far), tuple((names[i[k]], names[j[k]]) for k in worst))
